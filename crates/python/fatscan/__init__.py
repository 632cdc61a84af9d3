"""Lists, judges and gates the CUDA device code inside wheels, libraries and environments.

>>> import fatscan
>>> report = fatscan.scan("torch.whl")                        # doctest: +SKIP
>>> fatscan.judge(report, "8.9", driver="535.183.01")         # doctest: +SKIP
>>> fatscan.check("torch.whl", require=["T4", "H100"]).passed # doctest: +SKIP

`scan`, `scan_iter`, `judge`, `check`, `environment` and `devices` release the GIL, hear Ctrl-C within a second, and raise
`Error` or one of its family. What they give is frozen and typed; `to_dict()` is the JSON of the command.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 12):
    # newer ones refuse by themselves
    try:
        import _xxsubinterpreters as _interpreters  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        pass
    else:
        if _interpreters.get_current() != _interpreters.get_main():
            raise ImportError("module fatscan does not support loading in subinterpreters")

from . import _native
from ._errors import (
    ArgumentError,
    Cancelled,
    Error,
    InternalError,
    NoDeviceError,
    NoEnvironmentError,
    NotDeepEnoughError,
    UnreadableError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._api import Report, Scan, check, devices, environment, judge, scan, scan_iter
    from ._model import (
        Alternatives,
        Artefact,
        Assumption,
        Code,
        Coverage,
        Covered,
        CoveredArch,
        CoveredSet,
        Device,
        Diagnostic,
        Distribution,
        DistributionVerdict,
        Document,
        Environment,
        EnvironmentReport,
        EnvironmentVerdict,
        Finding,
        Image,
        Judgement,
        Limit,
        Link,
        Load,
        Machine,
        MachineFinding,
        Member,
        MemberCoverage,
        Module,
        Nobody,
        NotCounted,
        Outcome,
        Place,
        Probe,
        Probed,
        Reason,
        Remedy,
        Site,
        Step,
        Summary,
        Tool,
        Unread,
        Verdict,
    )

__version__: str = _native.VERSION

_FUNCTIONS = ("Report", "Scan", "check", "devices", "environment", "judge", "scan", "scan_iter")

__all__ = [
    "Alternatives",
    "ArgumentError",
    "Artefact",
    "Assumption",
    "Cancelled",
    "Code",
    "Coverage",
    "Covered",
    "CoveredArch",
    "CoveredSet",
    "Device",
    "Diagnostic",
    "Distribution",
    "DistributionVerdict",
    "Document",
    "Environment",
    "EnvironmentReport",
    "EnvironmentVerdict",
    "Error",
    "Finding",
    "Image",
    "InternalError",
    "Judgement",
    "Limit",
    "Link",
    "Load",
    "Machine",
    "MachineFinding",
    "Member",
    "MemberCoverage",
    "Module",
    "NoDeviceError",
    "NoEnvironmentError",
    "Nobody",
    "NotCounted",
    "NotDeepEnoughError",
    "Outcome",
    "Place",
    "Probe",
    "Probed",
    "Reason",
    "Remedy",
    "Report",
    "Scan",
    "Site",
    "Step",
    "Summary",
    "Tool",
    "Unread",
    "UnreadableError",
    "Verdict",
    "check",
    "devices",
    "environment",
    "judge",
    "scan",
    "scan_iter",
]


# the command starts without what only the library needs
def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'fatscan' has no attribute {name!r}")
    from . import _api, _model

    value: object = getattr(_api if name in _FUNCTIONS else _model, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
