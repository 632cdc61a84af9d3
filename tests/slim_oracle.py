#!/usr/bin/env python3
"""Holds what `fatscan slim` writes to NVIDIA's cuobjdump, to readelf and to nm.

    tests/slim_oracle.py                 the shared libraries, programs and large fatbins among the fixtures
    tests/slim_oracle.py --wheels        also the native libraries of the small wheels of corpus.json
    tests/slim_oracle.py FILE...         these libraries instead
    tests/slim_oracle.py --self-test     checks this script, without network, cuobjdump and fatscan

Each library is slimmed for 8.0, for 9.0, for 12.0, and for 7.5 and 8.9 together. Then
- cuobjdump lists what it listed before, less exactly what slim's report says it left out;
- what is gone is of no use to these GPUs, or an image of the same kind that serves each of them better is still there; so is the
  newest PTX that is for no exact target and no family;
- the cubins and PTX texts that cuobjdump extracts are among those that it extracted before, byte by byte;
- `readelf -lSW` and `nm -D` print the same;
- slimming again changes no byte, and what stays for two GPUs is no more than what stays for either.
Libraries that cuobjdump cannot read before are counted and left out. Skipped and strict as tests/oracle.py.
"""
import argparse
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

sys.dont_write_bytecode = True
import corpus  # noqa: E402  (beside this file)
import oracle  # noqa: E402

ROOT = corpus.ROOT
SETS = ["8.0"], ["9.0"], ["12.0"], ["7.5", "8.9"]
# fixtures that are no libraries and hold many architectures
MORE = "exe_dyn", "comp_default.fatbin", "nvfb12.4_all.fatbin", "nvfb12.8_all.fatbin", "nvfb12.9_all.fatbin"
# families of architectures with the suffix f, by NVIDIA's documentation of nvcc: the least number is served by all behind it
FAMILIES = {100: (100, 103), 103: (103,), 110: (110,), 120: (120, 121), 121: (121,)}


def serves(image, gpu):
    """How well an image serves a GPU, larger is better; None where it does not."""
    kind, label = image
    match = re.fullmatch(r"(\d+)([af]?)", label or "")
    if not match:
        return None
    number, suffix = int(match[1]), match[2]
    own = int(gpu.replace(".", ""))
    if suffix == "a":
        fits = number == own
    elif suffix == "f":
        fits = own in FAMILIES.get(number, (number,))
    elif kind == "sass":
        fits = number // 10 == own // 10 and number <= own
    else:
        fits = number <= own
    # of the same number code for the exact target comes first, then that for its family
    return (number, suffix == "a", suffix == "f") if fits else None


def worse(before, after, gpus):
    """Why what is gone was needed, by labels alone; nothing where it was not."""
    for image in before - after:
        for gpu in gpus:
            rank = serves(image, gpu)
            if rank is None or image[0] not in ("sass", "ptx"):
                continue
            left = [serves(other, gpu) for other in after if other[0] == image[0]]
            if image[0] == "ptx":
                # machine code that fits is taken before any PTX
                left += [rank] if any(other[0] == "sass" and serves(other, gpu) for other in after) else []
            if not any(other is not None and other >= rank for other in left):
                return f"{image} serves {gpu} and is gone, and nothing as good is left"
    return None


def newest(images):
    """The architecture of the newest PTX that later GPUs compile: without a suffix."""
    return max((int(label) for kind, label in images if kind == "ptx" and label.isdigit()), default=0)


def told(document):
    """What the report says was left out, as cuobjdump would count it."""
    gone = Counter()
    for own in document["files"]:
        for member in own["members"]:
            for name, tally in member["dropped"].items():
                prefix, _, arch = name.partition("_")
                gone[({"sm": "sass", "compute": "ptx"}.get(prefix, prefix), arch)] += tally["images"]
    return gone


def payloads(cuobjdump, path):
    """Hashes of what cuobjdump extracts."""
    with tempfile.TemporaryDirectory() as folder:
        for flag in ("-xelf", "-xptx"):
            subprocess.run([cuobjdump, flag, "all", str(path)], cwd=folder, capture_output=True, timeout=900)
        return Counter(hashlib.sha256(file.read_bytes()).digest() for file in pathlib.Path(folder).iterdir())


def tables(path):
    """What readelf and nm say, without the name of the file."""
    words = [["readelf", "-lSW", str(path)], ["nm", "-D", str(path)]]
    said = [subprocess.run(word, capture_output=True, text=True, errors="replace") for word in words]
    return [(own.returncode, own.stdout.replace(str(path), "")) for own in said]


class Run:
    def __init__(self, fatscan, cuobjdump, folder):
        self.fatscan, self.cuobjdump, self.folder = fatscan, cuobjdump, folder
        self.held = self.failed = self.changed = self.unread = self.skipped = self.saved = 0

    def slim(self, path, gpus, out):
        words = [self.fatscan, "slim", str(path), "--for", ",".join(gpus), "--to", str(out), "--force", "--json"]
        done = subprocess.run(words, capture_output=True, text=True)
        return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr.strip()

    def fail(self, label, why):
        self.failed += 1
        print(f"FAILED  {label}: {why}", flush=True)

    def file(self, path, label):
        before, code, message = oracle.dump(self.cuobjdump, path, "-all")
        if code or not before:
            self.unread += 1
            return
        extracted, said = payloads(self.cuobjdump, path), tables(path)
        alone = {}
        for gpus in SETS:
            name = f"{label} for {','.join(gpus)}"
            out, again = self.folder / "out.so", self.folder / "again.so"
            out.unlink(missing_ok=True)
            document, error = self.slim(path, gpus, out)
            if document is None:
                self.fail(name, error or "no output")
                continue
            after, code, message = oracle.dump(self.cuobjdump, out, "-all")
            gone = told(document)
            why = None
            if code:
                why = f"cuobjdump cannot read it any more: {message}"
            elif after - before:
                why = f"there is more than before: {dict(after - before)}"
            elif before - after != gone:
                why = f"cuobjdump misses {dict(before - after)}, the report says {dict(gone)}"
            elif newest(before) != newest(after):
                why = f"the newest PTX was compute_{newest(before)} and is compute_{newest(after)}"
            else:
                why = worse(before, after, gpus)
            if why is None and payloads(self.cuobjdump, out) - extracted:
                why = "an image has other bytes"
            if why is None and tables(out) != said:
                why = "readelf or nm print something else"
            sizes = out.stat().st_size, path.stat().st_size
            # a bare fatbin ends behind its last entry; readelf and nm have nothing to say of it
            if why is None and (sizes[0] > sizes[1] if path.suffix == ".fatbin" else sizes[0] != sizes[1]):
                why = "its size changed"
            if why is None:
                second, error = self.slim(out, gpus, again)
                if second is None or again.read_bytes() != out.read_bytes():
                    why = f"slimming it again changes it: {error}"
            alone[tuple(gpus)] = after
            if why:
                self.fail(name, why)
                continue
            self.held += 1
            self.changed += bool(gone)
            self.saved += sum(own["zeroed_bytes"] for file in document["files"] for own in file["members"])
        both = ("8.0",), ("9.0",)
        if all(own in alone for own in both):
            document, error = self.slim(path, ["8.0", "9.0"], self.folder / "out.so")
            after, _, _ = oracle.dump(self.cuobjdump, self.folder / "out.so", "-all")
            most = alone[both[0]] | alone[both[1]]
            sums = alone[both[0]] + alone[both[1]]
            if document is None or after - sums or not after and most:
                self.fail(f"{label} for 8.0,9.0", f"{error} it keeps {dict(after)}, alone they keep {dict(sums)}")
            else:
                self.held += 1


def self_test():
    assert serves(("sass", "80"), "8.6") and not serves(("sass", "86"), "8.0") and not serves(("sass", "80"), "9.0")
    assert serves(("sass", "90a"), "9.0") and not serves(("ptx", "90a"), "12.0") and serves(("ptx", "80"), "12.0")
    assert serves(("sass", "100f"), "10.3") and not serves(("sass", "100f"), "12.0") and serves(("sass", "120f"), "12.1")
    a, b, p = ("sass", "80"), ("sass", "86"), ("ptx", "80")
    assert worse(Counter([a, b]), Counter([a]), ["8.0"]) is None
    assert worse(Counter([a, b]), Counter([b]), ["8.0"]) and worse(Counter([a, b]), Counter([a]), ["8.6"])
    assert worse(Counter([a, p]), Counter([a]), ["8.0"]) is None and worse(Counter([a, p]), Counter([a]), ["9.0"])
    assert newest(Counter([p, ("ptx", "120f"), ("sass", "100")])) == 80 and newest(Counter([a])) == 0
    document = {"files": [{"members": [{"dropped": {"sm_90a": {"images": 2}, "compute_90": {"images": 1}}}]}]}
    assert told(document) == Counter({("sass", "90a"): 2, ("ptx", "90"): 1})
    print("self-test passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="these libraries instead of the fixtures")
    parser.add_argument("--fatscan", default=str(ROOT / "target/release/fatscan"), help="the binary (default: %(default)s)")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / ".cache/oracle", help="where cuobjdump is installed (default: %(default)s)")
    parser.add_argument("--wheel-cache", type=pathlib.Path, default=ROOT / ".cache/corpus", help="where the wheels are kept (default: %(default)s)")
    parser.add_argument("--wheels", action="store_true", help="also the native libraries of the small corpus wheels")
    parser.add_argument("--all-wheels", action="store_true", help="of all corpus wheels")
    corpus.strict_argument(parser)
    parser.add_argument("--self-test", action="store_true", help="check this script and stop")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    missing = [name for name in ("readelf", "nm") if not shutil.which(name)]
    try:
        cuobjdump = oracle.install(options.cache)
    except (OSError, subprocess.SubprocessError) as error:
        missing.append(f"cuobjdump ({error})")
    if missing:
        print(f"{'cannot run' if options.strict else 'skipped'}: no {', no '.join(missing)}")
        return 2 if options.strict else 0
    with tempfile.TemporaryDirectory() as folder:
        run = Run(options.fatscan, cuobjdump, pathlib.Path(folder))
        for path in options.files or sorted(path for path in (ROOT / "fixtures").iterdir() if path.suffix == ".so" or path.name in MORE):
            run.file(path, path.name)
        if options.wheels or options.all_wheels:
            for path, label in oracle.wheel_libraries(run, options):
                run.file(path, label)
    print(f"{run.held} held ({run.changed} changed, {run.saved / 1e6:.1f} MB of device code zeroed), {run.failed} failed, "
          f"{run.unread} libraries that cuobjdump does not read, {run.skipped} skipped")
    return 1 if run.failed or not run.held or (options.strict and run.skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
