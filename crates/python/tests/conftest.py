"""What the tests share."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "fixtures/sample/fatscan_sample-1.0-py3-none-manylinux_2_28_x86_64.whl"


def command(*words: object) -> subprocess.CompletedProcess[bytes]:
    """The command of the wheel."""
    own = Path(sys.executable).with_name("fatscan")
    return subprocess.run([own, *map(str, words)], capture_output=True, check=False, timeout=120)


def document(*words: object) -> dict[str, object]:
    """The JSON that the command prints."""
    result: dict[str, object] = json.loads(command(*words).stdout)
    return result


@pytest.fixture(scope="session")
def sample() -> Path:
    return SAMPLE


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the sample, as a file of its own."""
    path = tmp_path_factory.mktemp("sample")
    with zipfile.ZipFile(SAMPLE) as wheel:
        return Path(wheel.extract("fatscan_sample/lib/libpartial.so", path))


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that takes seconds: 3 GB of nothing, 3 MB packed, between two libraries of the sample."""
    path = tmp_path_factory.mktemp("large") / "large-1.0-py3-none-any.whl"
    zeros = bytes(1 << 24)
    with zipfile.ZipFile(SAMPLE) as sample, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        wheel.writestr("a/a.so", sample.read("fatscan_sample/lib/libpartial.so"))
        for number in range(3):
            with wheel.open(f"b/b{number}.so", "w", force_zip64=True) as member:
                # a library by its first bytes, so that it is searched
                member.write(b"\x7fELF\x02\x01\x01" + bytes(9))
                for _ in range(64):
                    member.write(zeros)
    return path
