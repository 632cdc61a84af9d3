"""The child process that asks the driver, which may hang or crash: another interpreter, isolated, with the extension module
and nothing else."""

from __future__ import annotations

import os
import sys

from . import _native

_PROGRAM = """\
import sys
from importlib.machinery import ExtensionFileLoader as Loader
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("fatscan._native", sys.argv[1], loader=Loader("fatscan._native", sys.argv[1]))
module = module_from_spec(spec)
spec.loader.exec_module(module)
module.probe_child()
"""


def prepare() -> None:
    """Says how the child is started. Where this program is no interpreter, none is, and the driver is not asked: who knows
    what the program does with the arguments."""
    program = sys.executable or ""
    named = os.path.basename(program).lower().startswith("python")
    if named and not getattr(sys, "frozen", False):
        _native.child_is(program, ["-I", "-S", "-c", _PROGRAM, _native.__file__])
    else:
        _native.child_is("this-program-is-no-python", [])
