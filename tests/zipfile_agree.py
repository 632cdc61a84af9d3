#!/usr/bin/env python3
"""Ambiguous zip archives, read by fatscan and by Python's zipfile, which pip installs with.

Of every archive both see the same native members with the same bytes, or fatscan says an error. What zipfile refuses, pip does
not install. Archives are made by a seed, the same in every run: `tests/zipfile_agree.py [COUNT] [SEED]`.
"""
import io
import json
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/release/fatscan"
SAMPLE = next((ROOT / "fixtures/sample").glob("*.whl"))
warnings.simplefilter("ignore")
ODD = [0, 1, 2, 7, 22, 30, 46, 0xFF, 0xFFFF, 0xFFFFFFFF, 0x80000000]
MARKS = [b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7", b"PK\7\x08", b"PK\5\5"]


def libraries():
    with zipfile.ZipFile(SAMPLE) as sample:
        return [sample.read(name) for name in sample.namelist() if name.endswith(".so")]


def archive(rng, native):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for number in range(rng.randint(1, 4)):
            method = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
            name = rng.choice(["pkg/a.so", "pkg/b.so", f"pkg/{number}.so", "a.so"])
            if name in made.namelist() and rng.random() < 0.7:
                name = f"pkg/x{number}.so"
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            made.writestr(info, rng.choice(native))
        if rng.random() < 0.2:
            made.comment = rng.choice([b"", b"text", b"PK\5\6" + bytes(18), rng.randbytes(30)])
    return out.getvalue()


def put(data, at, value, width):
    if 0 <= at <= len(data) - width:
        data[at:at + width] = (value & ((1 << (8 * width)) - 1)).to_bytes(width, "little")


def mutated(rng, data, other):
    data = bytearray(data)
    for _ in range(rng.randint(0, 2)):
        kind = rng.randrange(10)
        marks = [(at, mark) for mark in MARKS for at in places(data, mark)]
        if kind == 0:
            data = bytearray(other) + data
        elif kind == 1:
            data += other
        elif kind == 2:
            end = data.rfind(b"PK\5\6")
            put(data, end + 20, len(other), 2)
            data += other
        elif kind == 3:
            data = bytearray(rng.randbytes(rng.randint(1, 60))) + data
        elif kind == 4:
            del data[rng.randrange(len(data)):]
            data = data or bytearray(b"PK")
        elif marks:
            # a field of a record: 0 to 56 bytes behind its mark
            at, mark = rng.choice(marks)
            offset, width = rng.randrange(4, 58), rng.choice([1, 2, 4])
            if kind in (5, 6):
                put(data, at + offset, rng.choice(ODD), width)
            elif kind == 7:
                now = int.from_bytes(data[at + offset:at + offset + width], "little")
                put(data, at + offset, now + rng.randint(-64, 64), width)
            elif kind == 8:
                data[at:at + 4] = rng.choice(MARKS)
            else:
                start = rng.choice(marks)[0]
                data[at:at + 46] = data[start:start + 46]
    return bytes(data)


def places(data, mark):
    at = data.find(mark)
    while at >= 0:
        yield at
        at = data.find(mark, at + 1)


def of_python(path):
    """Native members by name as an installer writes them, the later over the earlier; or why it does not."""
    try:
        with zipfile.ZipFile(path) as opened:
            found = {}
            for info in opened.infolist():
                if not info.is_dir():
                    found[info.filename.lstrip("/")] = opened.read(info)
            return found
    except Exception as error:  # whatever zipfile raises, nothing is installed
        return f"{type(error).__name__}: {error}"


def scan(paths):
    command = [str(PROGRAM), "list", "--format", "json", *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1, 2):
        sys.exit(f"FAILED  exit code {run.returncode}: {run.stderr[-500:]}")
    return json.loads(run.stdout)


def shape(member):
    """What is listed of a member, without where it is."""
    return [member["size"], member["modules"], member["images"], json.dumps(member["code"], sort_keys=True)]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    if not PROGRAM.exists():
        sys.exit("cargo build --release first")
    native = libraries()
    folder = Path(tempfile.mkdtemp())
    known = {}
    try:
        for number, data in enumerate(native):
            path = folder / f"{number}.so"
            path.write_bytes(data)
            members = [member for artefact in scan([path])["artefacts"] for member in artefact["members"]]
            if members:
                known[data] = shape(members[0])
        same = told = refused = failed = 0
        for begin in range(0, count, 200):
            cases = {}
            for number in range(begin, min(begin + 200, count)):
                data = mutated(rng, archive(rng, native), archive(rng, native))
                path = folder / f"c{number}-1.0-py3-none-any.whl"
                path.write_bytes(data)
                cases[str(path)] = path
            document = scan(cases.values())
            errors = {place["place"].split("!")[0].split("@")[0] for place in document["diagnostics"] if place["level"] == "error"}
            listed = {name: [] for name in cases}
            for artefact in document["artefacts"]:
                own = artefact["path"].split("!")[0]
                listed[own] += [(member["path"], shape(member)) for member in artefact["members"]]
            for name, path in cases.items():
                theirs = of_python(path)
                if name in errors:
                    told += 1
                elif isinstance(theirs, str):
                    refused += 1
                else:
                    expected = sorted((of, known[data]) for of, data in theirs.items() if data in known)
                    strange = [of for of, data in theirs.items() if data not in native and data[:4] == b"\x7fELF"]
                    # the same file twice is one
                    ours = [one for at, one in enumerate(sorted(listed[name])) if one not in sorted(listed[name])[:at]]
                    if ours == expected and not strange:
                        same += 1
                    else:
                        failed += 1
                        kept = ROOT / "target" / path.name
                        shutil.copy(path, kept)
                        print(f"FAILED  {kept}: fatscan lists {[of for of, _ in listed[name]]}, zipfile {sorted(theirs)}")
                path.unlink()
        print(f"{same} read the same, {told} told of, {refused} refused by zipfile alone, {failed} failed")
        return 1 if failed or not same or not told else 0
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
