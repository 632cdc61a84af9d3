#!/usr/bin/env python3
"""Damaged files of every kind of container, each listed by a process that may hold 256 MB: `tests/damaged_files.py [COUNT] [SEED]`.

Each run ends with 0, 1 or 2, by no signal and in time, with one thread and with 16. Files are fixtures, and zip archives of
them in two depths, changed by a seed.
"""
import io
import random
import resource
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/release/fatscan"
MEMORY = 256 << 20
PATIENCE = 20
LARGEST = 1 << 20
ODD = [0, 1, 7, 0x3F, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, 1 << 63, (1 << 64) - 1]


def seeds():
    files = [path for path in sorted((ROOT / "fixtures").rglob("*")) if path.is_file() and path.stat().st_size <= LARGEST]
    found = [(path.suffix or ".bin", path.read_bytes()) for path in files if path.suffix not in (".json", ".md", ".txt", ".py")]
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        inner = None
        for depth in range(2):
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w", method) as made:
                for number, (suffix, data) in enumerate(found[:40:3]):
                    made.writestr(f"pkg/{number}{suffix}", data[:200_000])
                if inner:
                    made.writestr("inner.zip", inner)
            inner = out.getvalue()
            found += [(".whl", inner)] * 6
    return found


def mutated(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not data:
            break
        at = rng.randrange(len(data) if rng.random() < 0.5 else min(len(data), 512))
        kind = rng.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind in (1, 2):
            width = rng.choice([1, 2, 4, 8])
            at -= at % width
            data[at:at + width] = (rng.choice(ODD) & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            del data[at:at + rng.randrange(64)]
        else:
            start = rng.randrange(len(data))
            data[at:at] = data[start:start + rng.randrange(4096)] * rng.choice([1, 1, 1, 50])
    return bytes(data)


def limited():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def end(path, threads):
    command = [str(PROGRAM), "list", "--format", "json", "--threads", str(threads), str(path)]
    try:
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limited, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return f"no end in {PATIENCE} s"
    return run.returncode if run.returncode in (0, 1, 2) else f"{run.returncode}: {run.stderr[-200:]}"


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    files = seeds()
    codes = {}

    def one(number):
        rng = random.Random(seed << 32 | number)
        suffix, data = rng.choice(files)
        path = Path(folder) / f"{number}{suffix}"
        path.write_bytes(mutated(rng, data))
        ends = [end(path, threads) for threads in (1, 16)]
        if all(isinstance(code, int) for code in ends) and ends[0] == ends[1]:
            path.unlink()
            return ends[0]
        kept = ROOT / "target" / path.name
        path.rename(kept) if kept.parent == path.parent else kept.write_bytes(path.read_bytes())
        print(f"FAILED  {kept}: {ends}", flush=True)
        return "failed"

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        for code in pool.map(one, range(count)):
            codes[code] = codes.get(code, 0) + 1
    print(", ".join(f"{number} ended with {code}" for code, number in sorted(codes.items(), key=str)))
    return 1 if "failed" in codes or 0 not in codes or 1 not in codes else 0


if __name__ == "__main__":
    sys.exit(main())
