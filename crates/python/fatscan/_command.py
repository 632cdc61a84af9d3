"""The command `fatscan`."""

from __future__ import annotations

import signal
import sys

from . import _native
from ._child import prepare


def main() -> int:
    """Runs the command with the words of `sys.argv`; returns its exit code."""
    # as in the program: an interrupt ends it at once
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    prepare()
    return _native.command(["fatscan", *sys.argv[1:]])
