#!/usr/bin/env python3
"""Compares fatscan with NVIDIA's cuobjdump, image by image: multisets of (kind, architecture with suffix).

    tests/oracle.py                 every fixture
    tests/oracle.py --wheels        also the native libraries of the small wheels of corpus.json (about 35 MB)
    tests/oracle.py FILE...         these files instead
    tests/oracle.py --self-test     checks this script, without network, cuobjdump and fatscan

cuobjdump is installed from PyPI into .cache/oracle if it is not there (Linux; no GPU is needed). Labels are those of the plain dump
(`cuobjdump -all FILE`, lines `arch = sm_100f`), because `-lelf` drops the `f`. A difference passes only if it is one of the known
failures of cuobjdump, each with the rule that recognises it (CAUSES); every other difference fails.
Where cuobjdump or a wheel cannot be had, that is skipped; with --strict it is a failure, and so it is where the environment
variable CI is set to anything but nothing. A cuobjdump that was named by --cuobjdump must be there.
Exit code: 0 none failed, 1 a difference or a wheel that could not be had with --strict, 2 could not run.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections import Counter, namedtuple

sys.dont_write_bytecode = True
import corpus  # noqa: E402  (beside this file)

ROOT = corpus.ROOT
PACKAGE, VERSION = "nvidia-cuda-cuobjdump", "13.5.37"

# What both sides say of one file.
#   theirs: Counter of images by `cuobjdump -all`; code, message: how it ended
#   ours:   Counter of images that fatscan found in fatbins; nv: those in the sections that cuobjdump looks at
#   bare:   Counter of images outside fatbins (bare cubins, PTX texts, other vendors); first: leading bytes; truth: of a fixture
Case = namedtuple("Case", "name theirs code message ours nv bare first truth diagnostics")


# ---- cuobjdump


def install(cache):
    """The path of cuobjdump in a virtual environment of our own."""
    home = cache / f"cuobjdump-{VERSION}"
    pattern = "lib*/python*/site-packages/nvidia/*/bin/cuobjdump"
    if not list(home.glob(pattern)):
        print(f"installing {PACKAGE} {VERSION} into {home}", flush=True)
        venv.create(home, with_pip=True, clear=True)
        command = [home / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{PACKAGE}=={VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"pip: {done.stderr.strip()[-300:]}")
    found = list(home.glob(pattern))
    if not found:
        raise OSError(f"{PACKAGE} has no cuobjdump for this platform")
    return str(found[0])


KINDS = {"elf": "sass", "ptx": "ptx", "relocatable ptx": "ptx", "nvvm": "lto-ir", "tile ir": "tile-ir"}


def parse(dump):
    """The plain dump as a Counter of images; a concatenated entry counts as its members only."""
    entries = []
    for line in dump.splitlines():
        header = re.match(r"\t?Fatbin (.*) code:$", line)
        arch = re.match(r"\s*arch = sm_(\S+)", line)
        if header:
            entries.append([header.group(1), None])
        elif arch and entries:
            entries[-1][1] = arch.group(1)
    known = [(KINDS[name], arch) if name in KINDS else ("other", None) for name, arch in entries if name != "concatenated entry"]
    return Counter(known)


def dump(cuobjdump, path, *arguments):
    done = subprocess.run([cuobjdump, *arguments, str(path)], capture_output=True, text=True, errors="replace", timeout=600)
    return parse(done.stdout), done.returncode, done.stderr.strip()


# ---- fatscan


def bare_arch(arch):
    return re.sub(r"^(sm|compute|lto)_", "", arch) if arch else None


def image(entry):
    return ("other", None) if entry["kind"] == "other" else (entry["kind"], bare_arch(entry["arch"]))


def ours_of(report):
    """Images in fatbins, those of them in nv sections or in no section at all, those in loadable sections, and those outside fatbins."""
    everywhere, nv, linked, bare = Counter(), Counter(), Counter(), Counter()
    for member in corpus.members(report).values():
        for module in member.get("modules_detail") or []:
            section = module.get("section") or ""
            for entry in module["images"]:
                if entry["source"] != "fatbin":
                    bare[image(entry)] += 1
                    continue
                everywhere[image(entry)] += 1
                if not section or section.startswith(".nv_fatbin") or section == "__nv_relfatbin":
                    nv[image(entry)] += 1
                    linked[image(entry)] += section != "__nv_relfatbin"
    return everywhere, nv, +linked, bare


# ---- the known failures of cuobjdump: name, what it is, rule


def within(part, whole):
    return not part - whole


def no_device_code(case):
    return not case.theirs and "does not contain device code" in case.message


def hostile(case):
    """Damaged on purpose: what the maker of the file expects counts, not what cuobjdump prints."""
    if not case.name.startswith("bad_"):
        return False
    expect = case.truth.get("expect", {})
    if "images" in expect:
        return True  # judge() has compared them
    if "n" in expect:
        return sum((case.ours + case.bare).values()) == expect["n"]
    return "error" in expect and case.diagnostics > 0


def pe_or_coff(case):
    return (case.first[:2] == b"MZ" or case.first[:2] in (b"\x64\x86", b"\x4c\x01", b"\x64\xaa")) and no_device_code(case)


def outside_nv_sections(case):
    """It looks at the nv sections of an ELF only: so it must agree with us on those."""
    return case.first[:4] == b"\x7fELF" and case.nv != case.ours and case.theirs == case.nv


def removed_architecture(case):
    """It stops at the first cubin of an architecture that was removed, so we must have found one of that number."""
    removed = re.search(r"Support for 'sm_(\d+)' has been removed", case.message)
    if not removed or int(removed.group(1)) >= 50:
        return False
    # it names the first that it meets, or the lowest of its table: any removed one of ours will do
    return within(case.theirs, case.ours) and any(k == "sass" and int(re.match(r"\d+", a).group()) < 50 for k, a in case.ours)


def invalid_elf(case):
    """It refuses some cubins of CUDA 12.0 to 12.2 in an otherwise good library, and ends: its list is a part of ours."""
    return "Invalid ELF" in case.message and case.code == 1 and case.first[:4] == b"\x7fELF" and within(case.theirs, case.nv) and case.theirs != case.nv


def archive(case):
    trouble = ("unterminated longname" in case.message or "elfLink" in case.message) and case.code == 1
    return case.first[:8] in (b"!<arch>\n", b"!<thin>\n") and (trouble or no_device_code(case)) and within(case.theirs, case.ours)


def empty_entry(case):
    """It ends with an error at an entry without a payload; the maker of the file says how many entries there are."""
    return case.name.startswith("craft_entry_size_0") and sum(case.ours.values()) == case.truth.get("expect", {}).get("n")


CAUSES = [
    ("hostile", "damaged on purpose; compared with what the maker expects", hostile),
    ("pe-coff", "PE and COFF are not read", pe_or_coff),
    ("outside-nv-sections", "code outside .nv_fatbin and __nv_relfatbin is not looked for", outside_nv_sections),
    ("removed-architecture", "sm_20 to sm_37 make it stop", removed_architecture),
    ("invalid-elf", "some cubins of CUDA 12.0 to 12.2 make it stop", invalid_elf),
    ("archive", "some archives are not read", archive),
    ("empty-entry", "an entry without payload makes it stop", empty_entry),
]


def show(images):
    return " ".join(f"{kind}:{arch or '-'}x{n}" for (kind, arch), n in sorted(images.items(), key=str)) or "nothing"


def by_construction(case):
    """What is in a fixture that cuobjdump does not list: said by its maker, or by its name or target. None: not said."""
    expect = case.truth.get("expect", {})
    if "images" in expect:
        pairs = [text.split(" ", 1) for text in expect["images"]]
        return Counter(image({"kind": kind, "arch": arch}) for kind, arch in pairs)
    if "cubin" in case.truth:
        return Counter({("sass", re.search(r"sm_(\w+)\.cubin$", case.name).group(1)): 1})
    if "ptx" in case.truth:
        return Counter({("ptx", re.match(r"sm_(\w+)", case.truth["ptx"]["target"]).group(1)): 1})
    return None


def judge(case):
    """(cause, None) if the file passes, (None, text) if it fails."""
    made = by_construction(case)
    if made is not None and case.ours + case.bare != made:
        return None, f"by construction: {show(made)}; fatscan: {show(case.ours + case.bare)}"
    if case.theirs == case.ours and not case.name.startswith("bad_"):
        if case.bare:
            # cubins, PTX and other code outside fatbins: it never shows them
            return "bare-code", None
        return ("same" if case.ours else "nothing on both sides"), None
    for name, _, rule in CAUSES:
        if rule(case):
            return name, None
    missing, surplus = case.theirs - case.ours, case.ours - case.theirs
    said = f", it said: {case.message.splitlines()[0][:120]}" if case.message else ""
    return None, f"only cuobjdump: {show(missing)}; only fatscan: {show(surplus)}; exit {case.code}{said}"


def judge_without_all(theirs, case, linked):
    """Without -all it hides relocatable fatbins if there are others: it must show all, or all but those."""
    if theirs == case.theirs:
        return None, None
    if theirs == linked:
        return "relocatable-without-all", None
    return None, f"without -all: cuobjdump {show(theirs)}, fatscan without relocatable code {show(linked)}"


# ---- running


def truth_of(path):
    file = path.with_name(path.name + ".truth.json")
    if not file.exists():
        return {}
    truth = json.loads(file.read_text())
    _, _, expect = truth["command"].rpartition("; expect ")
    if _:
        truth["expect"] = json.loads(expect)
    return truth


class Run:
    def __init__(self, fatscan, cuobjdump):
        self.fatscan, self.cuobjdump = fatscan, cuobjdump
        self.causes, self.passed, self.failed, self.skipped, self.images = Counter(), 0, 0, 0, 0

    def file(self, path, label):
        try:
            theirs, code, message = dump(self.cuobjdump, path, "-all")
            default = dump(self.cuobjdump, path)[0]
            report = corpus.scan(self.fatscan, path)
            ours, nv, linked, bare = ours_of(report)
        except corpus.NoReport as error:
            if error.code == 2 and path.name.startswith("bad_") and "error" in truth_of(path).get("expect", {}):
                # nothing readable in it, and that was said
                self.causes["hostile"] += 1
                self.passed += 1
                return
            return self.fail(label, str(error))
        except (ValueError, KeyError, TypeError, OSError, subprocess.TimeoutExpired) as error:
            return self.fail(label, f"{type(error).__name__}: {error}")
        with open(path, "rb") as file:
            first = file.read(64)
        diagnostics = len(report.get("diagnostics", []))
        case = Case(path.name, theirs, code, message, ours, nv, bare, first, truth_of(path), diagnostics)
        cause, why = judge(case)
        if why:
            return self.fail(label, why)
        self.causes[cause] += 1
        if cause == "same":
            self.images += sum(ours.values())
            extra, why = judge_without_all(default, case, linked)
            if why:
                return self.fail(label, why)
            if extra:
                self.causes[extra] += 1
        self.passed += 1

    def fail(self, label, why):
        self.failed += 1
        print(f"FAILED  {label}: {why}", flush=True)


def native(head):
    return head[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe") or head[:2] == b"MZ" or head[:8] == b"!<arch>\n"


def wheel_libraries(run, options):
    """Native members of the small wheels, each unpacked, handed out with its name, removed."""
    for entry in corpus.truth():
        if entry["size"] >= corpus.SMALL and not options.all_wheels:
            continue
        wheel, why = corpus.fetch(entry, options.wheel_cache)
        if wheel is None:
            print(f"skipped: {entry['wheel']}: {why}", flush=True)
            run.skipped += 1
            continue
        with zipfile.ZipFile(wheel) as archive_file, tempfile.TemporaryDirectory() as folder:
            for member in archive_file.infolist():
                with archive_file.open(member) as file:
                    if not native(file.read(8)):
                        continue
                path = pathlib.Path(folder) / pathlib.PurePosixPath(member.filename).name
                path.write_bytes(archive_file.read(member))
                yield path, f"{entry['wheel'].split('-')[0]}!{member.filename}"
                path.unlink()


def self_test():
    text = "\nFatbin elf code:\n================\narch = sm_100f\ncode version = [1,8]\n\nFatbin ptx code:\n================\narch = sm_90a\n"
    assert parse(text) == Counter({("sass", "100f"): 1, ("ptx", "90a"): 1})
    text = "Fatbin concatenated entry code:\ncode version = [0,1]\n\n\tFatbin ptx code:\n\tarch = sm_75\n\tFatbin ptx code:\n\tarch = sm_90a\n"
    assert parse(text) == Counter({("ptx", "75"): 1, ("ptx", "90a"): 1})
    assert parse("Fatbin <unknown kind> code:\narch = sm_90\nFatbin index code:\n") == Counter({("other", None): 2})
    assert parse("") == Counter()

    def module(section, *images):
        return {"section": section, "images": [{"kind": k, "arch": a, "source": s} for k, a, s in images]}

    def case(theirs, report, code=0, message="", first=b"\x7fELF", name="x.so", truth=None):
        ours, nv, _, bare = ours_of({"artefacts": [{"members": [{"path": "x", "modules_detail": report}]}]})
        return judge(Case(name, Counter(theirs), code, message, ours, nv, bare, first, truth or {}, 0))

    linked, rel, data = module(".nv_fatbin", ("sass", "sm_90a", "fatbin")), module("__nv_relfatbin", ("ptx", "compute_90", "fatbin")), module(".data", ("sass", "sm_30", "fatbin"))
    cubin = module(".rodata", ("sass", "sm_80", "cubin"))
    a, p, old = ("sass", "90a"), ("ptx", "90"), ("sass", "30")
    assert case([a, p], [linked, rel]) == ("same", None)
    assert case([a], [linked, cubin]) == ("bare-code", None)
    assert case([a], [linked, data]) == ("outside-nv-sections", None)
    assert case([], [module(".nv_fatb", ("sass", "sm_90a", "fatbin"))], 255, "x does not contain device code", b"MZ")[0] == "pe-coff"
    assert case([], [module(".nv_fatbin", ("sass", "sm_30", "fatbin"))], 1, "Support for 'sm_30' has been removed.")[0] == "removed-architecture"
    assert case([a], [linked, rel], 1, "cuobjdump fatal   : Invalid ELF in 'x.so'")[0] == "invalid-elf"
    assert case([], [linked], 1, "cuobjdump fatal   : unterminated longname in archive", b"!<arch>\n")[0] == "archive"
    # what must fail: a wrong suffix, a missing image, an invented one, a failure without its evidence
    assert case([("sass", "90")], [linked])[1] and case([a, p], [linked])[1] and case([a], [linked, rel])[1]
    assert case([], [linked], 255, "x does not contain device code")[1]
    assert case([], [linked], 1, "Support for 'sm_30' has been removed.")[1]
    # hostile files follow their maker
    assert case([], [linked], 1, "Uncompress failed", name="bad_x.fatbin", truth={"expect": {"n": 1}})[0] == "hostile"
    assert case([], [], 1, "Invalid fatbin header", name="bad_x.fatbin", truth={"expect": {"n": 1}})[1]
    assert case([], [cubin], name="cubin_sm_80.cubin", truth={"cubin": {}}) == ("bare-code", None)
    assert case([], [cubin], name="cubin_sm_80f.cubin", truth={"cubin": {}})[1]
    assert case([], [cubin], 255, name="x.so", truth={"expect": {"images": ["sass sm_80", "ptx compute_80"]}})[1]
    default = Case("x", Counter([a, p]), 0, "", Counter([a, p]), Counter(), Counter(), b"", {}, 0)
    assert judge_without_all(Counter([a]), default, Counter([a])) == ("relocatable-without-all", None)
    assert judge_without_all(Counter([p]), default, Counter([a]))[1]
    assert old not in default.ours
    print("self-test passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="compare these files instead of the fixtures")
    parser.add_argument("--fatscan", default=str(ROOT / "target/release/fatscan"), help="the binary (default: %(default)s)")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / ".cache/oracle", help="where cuobjdump is installed (default: %(default)s)")
    parser.add_argument("--wheel-cache", type=pathlib.Path, default=ROOT / ".cache/corpus", help="where the wheels are kept (default: %(default)s)")
    parser.add_argument("--cuobjdump", help="use this one instead")
    parser.add_argument("--wheels", action="store_true", help="also the native libraries of the small corpus wheels")
    parser.add_argument("--all-wheels", action="store_true", help="with --wheels: of all corpus wheels")
    corpus.strict_argument(parser)
    parser.add_argument("--self-test", action="store_true", help="check this script and stop")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    if not pathlib.Path(options.fatscan).exists():
        print(f"no fatscan at {options.fatscan}: build it with `cargo build --release`, or say --fatscan PATH", file=sys.stderr)
        return 2
    try:
        cuobjdump = options.cuobjdump or install(options.cache)
        said = subprocess.run([cuobjdump, "--version"], capture_output=True, text=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        if options.strict or options.cuobjdump:
            print(f"no cuobjdump: {error}", file=sys.stderr)
            return 2
        print(f"skipped: no cuobjdump: {error}")
        return 0
    version = re.search(r"V([\d.]+)", said)
    print(f"cuobjdump {version.group(1) if version else 'of unknown version'}")
    run = Run(options.fatscan, cuobjdump)
    files = options.files or sorted(p for p in (ROOT / "fixtures").iterdir() if p.with_name(p.name + ".truth.json").exists())
    for path in files:
        run.file(path, path.name)
    compared = len(files)
    if options.wheels or options.all_wheels:
        for path, label in wheel_libraries(run, options):
            run.file(path, label)
    meaning = {name: text for name, text, _ in CAUSES}
    meaning |= {"same": f"the same images on both sides ({run.images} images)", "bare-code": "the same fatbins; cubins, PTX and other code outside fatbins are never shown by cuobjdump",
                "relocatable-without-all": "of the same: hides relocatable code unless -all", "nothing on both sides": "no fatbin on either side"}
    print(f"compared {run.passed + run.failed} files ({compared} named or fixtures, {run.passed + run.failed - compared} from wheels):")
    for cause, number in run.causes.most_common():
        print(f"  {number:4} {cause}: {meaning.get(cause, '')}")
    fails = options.strict and run.skipped
    print(f"{run.passed} passed, {run.failed} failed, {run.skipped} skipped{', which is a failure: --strict or CI' if fails else ''}")
    return 1 if run.failed or fails else 0


if __name__ == "__main__":
    sys.exit(main())
