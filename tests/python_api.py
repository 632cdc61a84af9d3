#!/usr/bin/env python3
"""Builds the wheel, installs it in an empty environment beside pytest and mypy, and runs crates/python/tests there.

    tests/python_api.py [--wheel FILE] [--frames]

Without --wheel it is built with the profile of the tests (`dev`), which shares its dependencies with `cargo test`. With --frames
pandas, polars and pyarrow are installed, too. What cannot be had is said as `skipped: why`; where the environment variable CI is
set it is a failure.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(*words: object, **more: object) -> None:
    print("+", *words, flush=True)
    subprocess.run([str(word) for word in words], check=True, **more)


def skip(why: str) -> int:
    print(f"skipped: {why}")
    return 1 if os.environ.get("CI") else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--frames", action="store_true")
    args = parser.parse_args()
    if sys.version_info < (3, 9):
        return skip("the module is for Python 3.9 and newer")
    with tempfile.TemporaryDirectory() as folder:
        tools, empty = Path(folder) / "tools", Path(folder) / "empty"
        for place in (tools, empty):
            try:
                venv.create(place, with_pip=True)
            except subprocess.CalledProcessError:
                return skip(f"{sys.executable} makes no environments: install python3-venv")
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        try:
            wanted = [] if args.wheel else ["maturin>=1.9,<2"]
            if wanted:
                run(tools / "bin/python", *pip, *wanted)
            # first alone: it needs nothing
            wheel = args.wheel
            if wheel is None:
                run(tools / "bin/maturin", "build", "--profile", "dev", "--out", folder, "-i", sys.executable, cwd=ROOT)
                (wheel,) = Path(folder).glob("*.whl")
            run(empty / "bin/python", *pip, "--no-index", wheel.resolve())
            run(empty / "bin/fatscan", wheel.resolve())
            frames = ["pandas", "polars", "pyarrow"] if args.frames else []
            run(empty / "bin/python", *pip, "pytest", "mypy", *frames)
        except subprocess.CalledProcessError as error:
            if error.cmd[0].endswith("maturin") or "--no-index" in error.cmd:
                raise
            return skip(f"`{' '.join(error.cmd)}` failed")
        run(empty / "bin/python", "-m", "pytest", "-rs", ROOT / "crates/python/tests", cwd=ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
