"""The examples of docs/PYTHON.md run, and print what stands below them."""

from __future__ import annotations

import contextlib
import io
import re

import pytest
from conftest import ROOT

import fatscan


def test_the_examples_print_what_stands_below_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs/PYTHON.md").read_text()
    blocks = re.findall(r"```(python|text)\n(.*?)```", text, re.DOTALL)
    assert len([kind for kind, _ in blocks if kind == "python"]) >= 5
    space: dict[str, object] = {}
    printed = ""
    for kind, block in blocks:
        if kind == "python":
            assert not printed, f"nothing below tells that it prints {printed!r}"
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block, "docs/PYTHON.md", "exec"), space)
            printed = out.getvalue()
        else:
            assert printed == block
            printed = ""
    assert not printed


def test_the_exceptions_are_documented() -> None:
    text = (ROOT / "docs/PYTHON.md").read_text()
    rows = set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE))
    family = {
        name
        for name in fatscan.__all__
        if isinstance(getattr(fatscan, name), type) and issubclass(getattr(fatscan, name), fatscan.Error)
    } - {"Error"}
    assert rows & {name for name in fatscan.__all__ if name[0].isupper()} == family


def test_all_is_what_there_is() -> None:
    assert sorted(fatscan.__all__) == fatscan.__all__
    for name in fatscan.__all__:
        assert getattr(fatscan, name).__doc__, name
    with pytest.raises(AttributeError):
        fatscan.nothing  # type: ignore[attr-defined]


def test_the_version_is_that_of_the_workspace() -> None:
    manifest = (ROOT / "Cargo.toml").read_text()
    assert f'version = "{fatscan.__version__}"' in manifest
