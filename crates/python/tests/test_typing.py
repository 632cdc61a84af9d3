"""What a type checker says of the module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="skipped: no mypy")

GOOD = """\
import io, os, threading
from pathlib import Path
import fatscan

report: fatscan.Report = fatscan.scan(Path("x.whl"), b"", io.BytesIO(), cancel=threading.Event())
archs: list[str | None] = [code.arch for artefact in report for member in artefact for code in member.code]
verdict: fatscan.Verdict = fatscan.judge(report, ["8.9"], driver="535").artefacts[0].verdicts[0]
names: list[str] = [own.name for own in fatscan.environment().environment]
passed: bool = fatscan.check("x.whl", "9.0", allow_jit=True).passed
for member in fatscan.scan_iter("x.whl"):
    size: int = member.size
"""
BAD = """\
import fatscan
fatscan.scan(3)
fatscan.scan("x.whl").artefacts[0].pth
fatscan.judge("x.whl", gpus=8.9)
size: str = fatscan.scan("x.whl").artefacts[0].size
"""


def check(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "program.py"
    path.write_text(program)
    words = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--python-version", "3.12", str(path)]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, check=False)


def test_right_programs_pass_and_wrong_ones_fail(tmp_path: Path) -> None:
    done = check(GOOD, tmp_path)
    assert done.returncode == 0, done.stdout
    done = check(BAD, tmp_path)
    assert [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line] == ["2", "3", "4", "5"], (
        done.stdout
    )


def test_the_package_is_strict(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--python-version", "3.12", "-p", "fatscan"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout


def test_the_stub_of_the_extension_is_what_it_is(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mypy.stubtest", "fatscan._native", "--ignore-missing-stub", "--concise"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
