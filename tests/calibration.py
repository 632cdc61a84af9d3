#!/usr/bin/env python3
"""Compares the verdicts of `fatscan explain` with what makers document and users report (calibration/rows.tsv).

    tests/calibration.py                all wheels (6 GB, kept in target/calibration)
    tests/calibration.py --small        wheels under 100 MB only (0.8 GB)
    tests/calibration.py xformers       wheels whose name contains a word
    tests/calibration.py --list         names and sizes, no download
    tests/calibration.py --pin          downloads wheels of rows.tsv that wheels.tsv lacks, and adds them to it
    tests/calibration.py --self-test    checks the tables and this script, without network and fatscan

rows.tsv has a line for each wheel, member and GPU: the member by its file name, the GPU as compute capability, the
expected verdict, and who says so. `usable` is `native` or `jit`; `fails` is `partial` or `not-covered`: a user's report of
error 209 does not tell them apart; all other words stand for themselves. wheels.tsv says which file of the package index
is meant: its name, size and SHA-256.
Wheels come through `pip download`. One that cannot be had is skipped; with --strict, or where the variable CI is set,
that is a failure.
Exit code: 0 no wrong row, 1 a wrong row, 2 could not run.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
from collections import Counter, namedtuple

sys.dont_write_bytecode = True
import corpus  # noqa: E402  (beside this file)

TABLES = corpus.HERE / "calibration"
SMALL = 100 * 10**6
VERDICTS = ["native", "jit", "partial", "not-covered", "unknown", "driver-too-old", "no-device-code"]
# what a row may expect, and the verdicts that fit
EXPECTED = {"usable": ["native", "jit"], "fails": ["partial", "not-covered"]} | {word: [word] for word in VERDICTS}
PYTHONS = ["3.12", "3.11", "3.10", "3.9", "3.8", "3.7", "3.6"]

Row = namedtuple("Row", "wheel member gpu expected source")
Pin = namedtuple("Pin", "wheel file size sha256")


def table(name, kind):
    """The lines of a table as named tuples; the first line names the columns."""
    first, *lines = (TABLES / name).read_text().splitlines()
    if tuple(first.split("\t")) != kind._fields:
        raise ValueError(f"{name}: its columns are not {', '.join(kind._fields)}")
    return [kind(*line.split("\t")) for line in lines]


# ---- getting the wheels


def platforms():
    """Tags of pip for any wheel of Linux on x86-64, the newest C library first."""
    names = [f"manylinux_2_{minor}_x86_64" for minor in range(39, 4, -1)]
    names += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"]
    return [text for name in names for text in ("--platform", name)]


def pin(wheel, cache):
    """Downloads `name==version` for the newest Python that it is there for."""
    why = None
    for python in PYTHONS:
        new = cache / f"new-{os.getpid()}"
        arguments = [wheel, "--no-deps", "--only-binary=:all:", "--implementation", "cp", "--python-version", python, *platforms()]
        why = corpus.download(arguments, new)
        found = list(new.glob("*.whl"))
        if found:
            path = found[0].rename(cache / found[0].name)
            new.rmdir()
            return Pin(wheel, path.name, str(path.stat().st_size), corpus.sha256(path)), None
        new.rmdir()
    return None, why


def pin_missing(rows, pins, cache):
    """Adds the wheels that wheels.tsv lacks; the number of those that cannot be had."""
    failed = 0
    for wheel in sorted({row.wheel for row in rows} - {pin.wheel for pin in pins}):
        one, why = pin(wheel, cache)
        if one is None:
            print(f"skipped: {wheel}: {why}", flush=True)
            failed += 1
            continue
        pins = sorted([*pins, one])
        lines = ["\t".join(line) for line in [Pin._fields, *pins]]
        (TABLES / "wheels.tsv").write_text("\n".join(lines) + "\n")
        print(f"added   {wheel}: {one.file}", flush=True)
    return failed


# ---- comparing


def explain(fatscan, path, gpus):
    """The report of one wheel for these GPUs."""
    command = [fatscan, "explain", "--format", "json", "--gpu", ",".join(gpus), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    if not done.stdout.strip():
        raise corpus.NoReport(done.returncode, done.stderr)
    return json.loads(done.stdout)


def verdicts(report):
    """By path of a member: its verdict for each compute capability."""
    capability = {device["id"]: device["cc"] for device in report["devices"]}
    return {
        path: {capability[verdict["device"]]: verdict["verdict"] for verdict in member["verdicts"]}
        for path, member in corpus.members(report).items()
    }


def answer(row, found):
    """The verdict for a row, or a text that says why there is none."""
    paths = [row.member] if row.member in found else [path for path in found if path.endswith("/" + row.member)]
    if len(paths) != 1:
        return f"{len(paths)} members of that name"
    return found[paths[0]].get(row.gpu, "no verdict for that GPU")


def wrong_rows(rows, report):
    """The rows that the report contradicts, each with what it says instead."""
    found = verdicts(report)
    answers = [(row, answer(row, found)) for row in rows]
    return [(row, text) for row, text in answers if text not in EXPECTED[row.expected]]


# ---- self-test


def self_test():
    rows, pins = table("rows.tsv", Row), table("wheels.tsv", Pin)
    assert len(rows) >= 100
    assert [key for key, number in Counter(row[:3] for row in rows).items() if number > 1] == []
    for row in rows:
        assert re.fullmatch(r"[a-z0-9-]+==[0-9a-z.]+", row.wheel), row
        assert re.fullmatch(r"[0-9]+\.[0-9]", row.gpu), row
        assert row.expected in EXPECTED and row.source.strip(), row
    assert {row.wheel for row in rows} == {pin.wheel for pin in pins}
    assert len({pin.wheel for pin in pins}) == len(pins)
    for one in pins:
        name, version = one.wheel.split("==")
        assert one.file.lower().startswith(f"{name.replace('-', '_')}-{version}-"), one
        assert int(one.size) > 0 and re.fullmatch("[0-9a-f]{64}", one.sha256), one
        assert corpus.pip_arguments(one.file)[0].lower().replace("_", "-") == one.wheel, one

    def member(path, *verdicts):
        return {"path": path, "verdicts": [{"device": f"gpu{i}", "verdict": word} for i, word in enumerate(verdicts)]}

    report = {
        "devices": [{"id": "gpu0", "cc": "8.0"}, {"id": "gpu1", "cc": "9.0"}],
        "artefacts": [{"members": [member("a/x.so", "jit", "partial"), member("a/y.so", "native", "native"), member("b/y.so", "jit", "jit")]}],
    }

    def said(name, gpu, expected):
        return [text for _, text in wrong_rows([Row("w==1", name, gpu, expected, "s")], report)]

    assert said("x.so", "8.0", "usable") == said("x.so", "8.0", "jit") == said("x.so", "9.0", "partial") == said("b/y.so", "9.0", "jit") == []
    assert said("x.so", "8.0", "native") == ["jit"]
    assert said("x.so", "9.0", "usable") == ["partial"]
    assert said("x.so", "9.0", "fails") == []
    assert said("x.so", "8.0", "fails") == ["jit"]
    assert said("x.so", "9.0", "not-covered") == ["partial"]
    assert said("x.so", "7.5", "usable") == ["no verdict for that GPU"]
    assert said(".so", "8.0", "usable") == ["0 members of that name"]
    assert said("y.so", "8.0", "usable") == ["2 members of that name"]
    assert said("a/y.so", "8.0", "native") == []
    print("self-test passed")


# ---- main


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only wheels whose name contains one of these")
    parser.add_argument("--fatscan", default=str(corpus.ROOT / "target/release/fatscan"), help="the binary (default: %(default)s)")
    parser.add_argument("--cache", type=pathlib.Path, default=corpus.ROOT / "target/calibration", help="where the wheels are kept (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="only wheels under 100 MB")
    parser.add_argument("--strict", action="store_true", default=bool(os.environ.get("CI")), help="a wheel that cannot be had is a failure")
    parser.add_argument("--list", action="store_true", help="list the wheels and stop")
    parser.add_argument("--pin", action="store_true", help="add missing wheels to wheels.tsv and stop")
    parser.add_argument("--self-test", action="store_true", help="check the tables and this script, and stop")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    rows, pins = table("rows.tsv", Row), table("wheels.tsv", Pin)
    if options.pin:
        return 1 if pin_missing(rows, pins, options.cache) else 0
    chosen = [p for p in pins if not (options.small and int(p.size) >= SMALL) and (not options.words or any(w in p.wheel for w in options.words))]
    of_wheel = {p.wheel: [row for row in rows if row.wheel == p.wheel] for p in chosen}
    if options.list:
        for one in chosen:
            print(f"{int(one.size) / 1e6:6.1f} MB  {len(of_wheel[one.wheel]):3} rows  {one.file}")
        return 0
    if not pathlib.Path(options.fatscan).exists():
        print(f"no fatscan at {options.fatscan}: build it with `cargo build --release`, or say --fatscan PATH", file=sys.stderr)
        return 2
    right = wrong = skipped = 0
    for one in chosen:
        own = of_wheel[one.wheel]
        path, why = corpus.fetch({"wheel": one.file, "sha256": one.sha256}, options.cache)
        if path is None:
            print(f"skipped: {one.wheel}: {why}", flush=True)
            skipped += len(own)
            continue
        try:
            gpus = sorted({row.gpu for row in own}, key=lambda gpu: tuple(map(int, gpu.split("."))))
            found = wrong_rows(own, explain(options.fatscan, path, gpus))
        except (ValueError, KeyError, TypeError, OSError, subprocess.TimeoutExpired) as error:
            found = [(row, f"{type(error).__name__}: {error}") for row in own]
        for row, text in found:
            print(f"WRONG   {row.wheel} {row.member} on {row.gpu}: expected {row.expected}, got {text} ({row.source})", flush=True)
        if not found:
            print(f"ok      {one.wheel}: {len(own)} rows", flush=True)
        wrong += len(found)
        right += len(own) - len(found)
    print(f"{right} right, {wrong} wrong, {skipped} skipped")
    return 1 if wrong or (options.strict and skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
