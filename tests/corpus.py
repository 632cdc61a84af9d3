#!/usr/bin/env python3
"""Runs fatscan over 14 public wheels and compares what it says with what is known of them (corpus.json).

    tests/corpus.py                 all wheels (107 MB, kept in .cache/corpus)
    tests/corpus.py --small         wheels under 8 MB only
    tests/corpus.py torchvision     wheels whose name contains a word
    tests/corpus.py --list          names and sizes, no download
    tests/corpus.py --self-test     checks this script on made-up reports, without network and fatscan

Wheels come through `pip download`, by name and version. One that cannot be had is skipped; with --strict that is a failure,
and so it is where the environment variable CI is set to anything but nothing.
Exit code: 0 no difference, 1 a difference or a wheel that could not be had with --strict, 2 could not run.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
from collections import Counter

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
SMALL = 8 << 20
# kinds of the report and their keys in corpus.json
KINDS = {"sass": "sass", "ptx": "ptx", "lto-ir": "lto_ir"}


def strict_argument(parser):
    """--strict, which is on by itself in continuous integration: a check that could not run there must not pass."""
    parser.add_argument("--strict", action="store_true", default=bool(os.environ.get("CI")),
                        help="what cannot be had is a failure, not skipped (default where the environment variable CI is set; here: %(default)s)")


def truth():
    return json.loads((HERE / "corpus.json").read_text())["wheels"]


# ---- getting the wheels


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def pip_arguments(wheel):
    """`torchao-0.18.0-cp310-abi3-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl` as arguments of pip download."""
    name, version, *build, python, abi, platform = wheel.removesuffix(".whl").split("-")
    interpreter, digits = re.match(r"([a-z]+)(\d+)", python.split(".")[0]).groups()
    arguments = [f"{name}=={version}", "--no-deps", "--only-binary=:all:"]
    if platform != "any":
        for one in platform.split("."):
            arguments += ["--platform", one]
    if interpreter == "cp" and len(digits) > 1:
        # a wheel of the stable ABI says the oldest Python that it is built for, which its metadata may exclude
        newest = "3.12" if abi == "abi3" else f"{digits[0]}.{digits[1:]}"
        arguments += ["--python-version", newest, "--implementation", "cp", "--abi", abi]
    elif platform != "any":
        arguments += ["--python-version", "3.12", "--implementation", "py", "--abi", abi]
    return arguments


def download(arguments, cache):
    """Runs pip download; None, or a text that says why it failed."""
    cache.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    try:
        done = subprocess.run([*command, "--dest", str(cache), *arguments], capture_output=True, text=True, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"pip: {error}"
    lines = [line for line in done.stderr.strip().splitlines() if line.startswith("ERROR")] or ["pip gave no such file"]
    return lines[0][:160] if done.returncode else None


def fetch(entry, cache):
    """The path of the wheel, or a text that says why it is not there."""
    path = cache / entry["wheel"]
    if not path.exists():
        why = download(pip_arguments(entry["wheel"]), cache)
        if not path.exists():
            return None, f"not downloaded: {why or 'pip gave another file'}"
    if sha256(path) != entry["sha256"]:
        path.unlink()
        return None, "other bytes than expected (sha256)"
    return path, None


# ---- reading the report


class NoReport(ValueError):
    """fatscan printed nothing; `code` is its exit code."""

    def __init__(self, code, message):
        super().__init__(f"no report, exit {code}: {message.strip()[:300]}")
        self.code = code


def scan(fatscan, path, timeout=600):
    """The report of one file as JSON. Exit code 1 (damage) still has a report."""
    done = subprocess.run([fatscan, "list", "--format", "json", "--by", "module", str(path)], capture_output=True, text=True, timeout=timeout)
    if not done.stdout.strip():
        raise NoReport(done.returncode, done.stderr)
    report = json.loads(done.stdout)
    if report.get("schema") != 1:
        raise ValueError(f"schema {report.get('schema')!r}, not 1")
    return report


def members(report):
    return {member["path"]: member for artefact in report["artefacts"] for member in artefact["members"]}


def counts(member, kind, source):
    """Entries by architecture, of all rows of one kind and source."""
    total = Counter()
    for row in member["code"]:
        if row["kind"] == kind and row["source"] == source:
            total[row["arch"]] += row["count"]
    return dict(total)


def compressions(member):
    """`SASS:zstd` and its number, over the rows that come from fatbins."""
    names = {"sass": "SASS", "ptx": "PTX", "lto-ir": "LTO"}
    total = Counter()
    for row in member["code"]:
        if row["source"] == "fatbin" and row["kind"] in names:
            for codec, number in (row.get("compression") or {}).items():
                total[f"{names[row['kind']]}:{codec}"] += number
    return {key: number for key, number in total.items() if number}


def modules_of(member, source):
    """Modules whose images come from `source`."""
    return [m for m in member.get("modules_detail") or [] if m["images"] and all(i["source"] == source for i in m["images"])]


def plain(by_arch):
    """Architectures without suffix: the e_flags of a bare cubin do not always have it."""
    total = Counter()
    for arch, number in by_arch.items():
        total[(arch or "?").rstrip("af")] += number
    return dict(total)


# ---- comparing


def show(counter):
    return " ".join(f"{key}x{number}" for key, number in sorted(counter.items(), key=lambda item: str(item[0]))) or "nothing"


def differences_of_member(expected, member):
    found = []

    def compare(what, want, have):
        if want != have:
            if isinstance(want, dict):
                missing = {k: n for k, n in want.items() if have.get(k) != n}
                surplus = {k: n for k, n in have.items() if want.get(k) != n}
                want, have = show(missing), show(surplus)
            found.append(f"{what}: expected {want}, got {have}")

    compare("size", expected["size"], member["size"])
    for kind, key in KINDS.items():
        compare(f"{kind} in fatbins", expected.get(key, {}), counts(member, kind, "fatbin"))
    fatbins = modules_of(member, "fatbin")
    empty = member.get("empty_fatbins", 0)
    compare("fatbins", expected.get("fatbins", 0), len(fatbins) + empty)
    if "compression" in expected:
        compare("compression", expected["compression"], compressions(member))
    # the section of an empty fatbin is not in the report, that of an archive member is spelled otherwise
    sections = expected.get("fatbins_by_section", {})
    if not empty and not any(name.startswith("ar:") for name in sections):
        compare("sections", sections, dict(Counter(m["section"] for m in fatbins)))
    compare("raw cubins", plain(expected.get("raw_cubins", {})), plain(counts(member, "sass", "cubin")))
    compare("PTX texts", expected.get("ptx_texts", {}), counts(member, "ptx", "ptx-text"))
    hip = [row for row in member["code"] if row["source"] == "offload-bundle"]
    if "hip_containers" in expected:
        compare("HIP containers", expected["hip_containers"], len(modules_of(member, "offload-bundle")))
        compare("kinds of HIP code", ["other"], sorted({row["kind"] for row in hip}))
    else:
        compare("HIP containers", 0, len(hip))
    return found


def differences(entry, report):
    """All differences between one wheel and the report of it, each a text."""
    found = []
    have = {path: member for path, member in members(report).items() if member["images"] or member["modules"] or member["code"]}
    for expected in entry["members"]:
        member = have.pop(expected["path"], None)
        if member is None:
            found.append(f"{expected['path']}: not listed")
            continue
        found += [f"{expected['path']}: {text}" for text in differences_of_member(expected, member)]
    for path, member in have.items():
        why = "is known to hold none" if path in entry["native_without_code"] else "is not known to hold any"
        what = Counter((row["kind"], row["arch"], row["source"]) for row in member["code"])
        found.append(f"{path}: device code ({', '.join(' '.join(map(str, key)) for key in what)}) in a member that {why}")
    errors = [d for d in report.get("diagnostics", []) if d.get("level") == "error"]
    found += [f"diagnostic {d.get('code')} at {d.get('place')}: {d.get('message')}" for d in errors]
    return found


# ---- self-test


def report_of(entry):
    """A report that agrees with the truth, made up in the form of the JSON contract."""
    listed = []
    for expected in entry["members"]:
        rows, modules = [], []

        def row(kind, arch, source, count, compression=None):
            return {"kind": kind, "arch": arch, "isa": None, "source": source, "linkage": "loadable", "count": count,
                    "stored_bytes": 0, "unpacked_bytes": 0, "compression": {"none": count} if compression is None else compression}

        for kind, key in KINDS.items():
            for arch, count in expected.get(key, {}).items():
                rows.append(row(kind, arch, "fatbin", count, {}))
            label = {"sass": "SASS", "ptx": "PTX", "lto-ir": "LTO"}[kind]
            for codec, count in expected.get("compression", {}).items():
                if codec.startswith(label + ":"):
                    next(r for r in rows if r["kind"] == kind)["compression"][codec.split(":")[1]] = count
        for arch, count in expected.get("raw_cubins", {}).items():
            rows.append(row("sass", arch, "cubin", count))
        for arch, count in expected.get("ptx_texts", {}).items():
            rows.append(row("ptx", arch, "ptx-text", count))
        if "hip_containers" in expected:
            rows.append(row("other", None, "offload-bundle", expected["hip_containers"]))
        for section, count in expected.get("fatbins_by_section", {}).items():
            modules += [{"place": "", "section": section, "images": [{"source": "fatbin"}]}] * count
        modules += [{"place": "", "section": ".hip_fatbin", "images": [{"source": "offload-bundle"}]}] * expected.get("hip_containers", 0)
        listed.append({"path": expected["path"], "size": expected["size"], "modules": len(modules) or 1, "images": 1, "empty_fatbins": 0,
                       "code": rows, "modules_detail": modules})
    return {"schema": 1, "artefacts": [{"members": listed}], "diagnostics": []}


def self_test():
    wheels = truth()
    assert len(wheels) == 14
    for entry in wheels:
        assert differences(entry, report_of(entry)) == [], (entry["wheel"], differences(entry, report_of(entry)))

    def damaged(change):
        report = report_of(wheels[0])
        change(report["artefacts"][0]["members"], report)
        return differences(wheels[0], report)

    def member_without_code(listed, report):
        listed.append({"path": wheels[0]["native_without_code"][0], "modules": 1, "images": 1, "code": []})

    assert len(damaged(lambda listed, _: listed.pop())) == 1
    assert "known to hold none" in damaged(member_without_code)[0]
    assert "sass in fatbins: expected sm_75x7, got sm_75x6" in damaged(lambda listed, _: listed[0]["code"][0].update(count=6))[0]
    assert "sm_90a" in damaged(lambda listed, _: listed[0]["code"][3].update(arch="sm_90a"))[0]
    assert any("fatbins: expected 7, got 8" in d for d in damaged(lambda listed, _: listed[0].update(empty_fatbins=1)))
    assert "diagnostic" in damaged(lambda _, report: report["diagnostics"].append({"level": "error", "code": "FS1"}))[0]
    assert pip_arguments("torchao-0.18.0-cp310-abi3-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl") == [
        "torchao==0.18.0", "--no-deps", "--only-binary=:all:", "--platform", "manylinux_2_24_x86_64", "--platform", "manylinux_2_28_x86_64",
        "--python-version", "3.12", "--implementation", "cp", "--abi", "abi3"]
    assert pip_arguments("bitsandbytes_cuda102-0.26.0.post2-py3-none-any.whl") == ["bitsandbytes_cuda102==0.26.0.post2", "--no-deps", "--only-binary=:all:"]
    before = os.environ.pop("CI", None)
    for value, arguments, strict in [(None, [], False), ("", [], False), ("true", [], True), (None, ["--strict"], True)]:
        if value is not None:
            os.environ["CI"] = value
        parser = argparse.ArgumentParser()
        strict_argument(parser)
        assert parser.parse_args(arguments).strict is strict, (value, arguments)
        os.environ.pop("CI", None)
    if before is not None:
        os.environ["CI"] = before
    print("self-test passed")


# ---- main


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only wheels whose name contains one of these")
    parser.add_argument("--fatscan", default=str(ROOT / "target/release/fatscan"), help="the binary (default: %(default)s)")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / ".cache/corpus", help="where the wheels are kept (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="only wheels under 8 MB")
    strict_argument(parser)
    parser.add_argument("--list", action="store_true", help="list the wheels and stop")
    parser.add_argument("--download", action="store_true", help="download the wheels and stop")
    parser.add_argument("--self-test", action="store_true", help="check this script and stop")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    chosen = [e for e in truth() if not (options.small and e["size"] >= SMALL) and (not options.words or any(w in e["wheel"] for w in options.words))]
    if options.list:
        for entry in chosen:
            print(f"{entry['size'] / 1e6:6.1f} MB  {entry['wheel']}\n           {entry['why']}")
        return 0
    if not options.download and not pathlib.Path(options.fatscan).exists():
        print(f"no fatscan at {options.fatscan}: build it with `cargo build --release`, or say --fatscan PATH", file=sys.stderr)
        return 2
    passed = failed = skipped = 0
    for entry in chosen:
        path, why = fetch(entry, options.cache)
        if path is None:
            print(f"skipped: {entry['wheel']}: {why}", flush=True)
            skipped += 1
            continue
        if options.download:
            print(f"ok      {entry['wheel']} is in the cache", flush=True)
            passed += 1
            continue
        try:
            found = differences(entry, scan(options.fatscan, path))
        except (ValueError, KeyError, TypeError, OSError, subprocess.TimeoutExpired) as error:
            found = [f"{type(error).__name__}: {error}"]
        if found:
            print(f"DIFFERS {entry['wheel']}: {len(found)} differences", flush=True)
            for text in found[:40]:
                print(f"        {text}")
            failed += 1
        else:
            modules = sum(m.get("fatbins", 0) for m in entry["members"])
            print(f"ok      {entry['wheel']}: {len(entry['members'])} members with code, {modules} fatbins", flush=True)
            passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped{', which is a failure: --strict or CI' if options.strict and skipped else ''}")
    return 1 if failed or (options.strict and skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
