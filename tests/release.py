#!/usr/bin/env python3
"""Builds all that a release uploads, below `dist/`: wheels for manylinux2014, a static binary, checksums, the licences of what is in
them. Installs the targets, maturin and zig (from PyPI) by itself. It uploads nothing.

    tests/release.py [--only x86_64|aarch64] [--out dist]
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MACHINES = ("x86_64", "aarch64")


def run(*words, **more):
    print("+", *words, flush=True)
    return subprocess.run([str(word) for word in words], check=True, cwd=ROOT, **more)


def metadata(*words):
    command = ["cargo", "metadata", "--format-version", "1", "--locked", *words]
    return json.loads(subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE).stdout)


def licences(out, target):
    """What is linked in, with its licence, a line each."""
    own = metadata("--filter-platform", target, "--features", "fatscan-python/module")
    nodes = {node["id"]: node for node in own["resolve"]["nodes"]}
    packages = {package["id"]: package for package in own["packages"]}
    todo = [key for key, package in packages.items() if package["name"] in ("fatscan", "fatscan-python")]
    seen = set()
    while todo:
        key = todo.pop()
        if key not in seen:
            seen.add(key)
            linked = [dep for dep in nodes[key]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
            todo.extend(dep["pkg"] for dep in linked)
    rows = sorted((packages[key]["name"], packages[key]["version"], packages[key]["license"] or "?") for key in seen)
    foreign = [row for row in rows if not re.search(r"MIT|Apache-2.0|BSD|Zlib|Unicode-3.0|Unlicense|ISC|0BSD|bzip2-1.0.6", row[2])]
    if foreign:
        sys.exit(f"licences that nobody has looked at: {foreign}")
    out.write_text("".join(f"{name} {version}: {licence}\n" for name, version, licence in rows))
    print(f"{len(rows)} packages, all under permissive licences")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=MACHINES)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    args = parser.parse_args()
    out = args.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    tools = out / ".tools"
    venv.create(tools, with_pip=True)
    run(tools / "bin/pip", "install", "--quiet", "maturin>=1.9,<2", "ziglang", "auditwheel", "cargo-zigbuild")
    path = f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    version = next(own["version"] for own in metadata("--no-deps")["packages"] if own["name"] == "fatscan")
    target = Path(metadata("--no-deps")["target_directory"])
    for machine in [args.only] if args.only else MACHINES:
        gnu, musl = f"{machine}-unknown-linux-gnu", f"{machine}-unknown-linux-musl"
        run("rustup", "target", "add", gnu, musl)
        run(
            tools / "bin/maturin",
            "build",
            "--zig",
            "--compatibility",
            "manylinux2014",
            "--target",
            gnu,
            "--locked",
            "--out",
            out,
            "-i",
            sys.executable,
            env=environment,
        )
        run("cargo", "zigbuild", "--release", "--locked", "--bin", "fatscan", "--target", musl, env=environment)
        name = f"fatscan-{version}-{musl}"
        with tarfile.open(out / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(target / musl / "release/fatscan", f"{name}/fatscan")
            for file in ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"):
                archive.add(ROOT / file, f"{name}/{file}")
    for wheel in sorted(out.glob("*.whl")):
        shown = subprocess.run([tools / "bin/auditwheel", "show", wheel], check=True, stdout=subprocess.PIPE, text=True)
        if "manylinux_2_17" not in shown.stdout:
            sys.exit(f"{wheel.name}: {shown.stdout}")
    licences(out / f"fatscan-{version}-licences.txt", "x86_64-unknown-linux-gnu")
    shutil.rmtree(tools)
    files = sorted(path for path in out.iterdir() if path.is_file())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(sums))
    print("".join(f"{path.stat().st_size:>12,} {path.name}\n" for path in files), end="")
    print(f"version {version}; to upload: what is in {out}")


if __name__ == "__main__":
    main()
