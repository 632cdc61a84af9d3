"""The functions."""

from __future__ import annotations

import json
import os
import sys

from . import _native
from ._child import prepare
from ._errors import KINDS, Error
from ._model import Document, EnvironmentReport, Judgement, Machine, Member, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, Protocol, Union

    class Flag(Protocol):
        """A `threading.Event`, or what is like one."""

        def is_set(self) -> bool: ...

    class BinaryFile(Protocol):
        """A file that was opened for reading bytes."""

        def read(self, size: int = -1, /) -> bytes: ...

    Scannable = Union[str, os.PathLike[str], bytes, bytearray, memoryview, BinaryFile]
    Gpus = Union[str, Iterable[str], Machine, None]
    Tick = Callable[[int, int], object]

# how long nobody hears of a signal or of another thread
_TICK = 0.05
# how long is waited for the end of what was stopped; what takes longer ends by itself
_PATIENCE = 0.5


class Report(Document):
    """What a scan found. `judge` and `check` take it; iterates over its artefacts."""

    _handle: _native.Report | None = None

    @classmethod
    def _of(cls, native: _native.Report, modules: bool = False) -> Report:
        own = cls(json.loads(native.document(modules)))
        object.__setattr__(own, "_handle", native)
        return own

    def with_modules(self) -> Report:
        """The same with `Member.modules_detail`: each module with its images, as `--by module` lists them."""
        return self._of(self._at_hand(), modules=True)

    def _at_hand(self) -> _native.Report:
        if self._handle is None:
            raise Error("a report that was pickled can be looked at and not judged", "scan again")
        return self._handle


class Scan:
    """A scan that goes on. Iterates over members as they finish, in the order of places; `report` waits for the end.

    Whoever leaves it early closes it: `with fatscan.scan_iter(path) as scan: ...`.
    """

    def __init__(self, job: _native.Job, cancel: Flag | None, progress: Tick | None) -> None:
        self._job = job
        self._cancel = cancel
        self._progress = progress
        self._report: Report | None = None
        self._artefact = ""

    @property
    def artefact(self) -> str:
        """The path of the artefact that the last member is of."""
        return self._artefact

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes looked at, and those known so far that have to be."""
        return self._job.progress()

    @property
    def report(self) -> Report:
        """What the scan found; members that nobody asked for yet are skipped."""
        for _ in self:
            pass
        assert self._report is not None
        return self._report

    def cancel(self) -> None:
        """Stops the scan, from any thread: who waits for it gets `fatscan.Cancelled`."""
        self._job.stop(0)

    def close(self) -> None:
        """Stops the scan."""
        self._job.stop(_PATIENCE)

    def __iter__(self) -> Iterator[Member]:
        return self

    def __next__(self) -> Member:
        if self._report is not None:
            raise StopIteration
        kind, value, text = _wait(self._job, self._cancel, self._progress)
        if kind == "member":
            self._artefact = text
            return Member(json.loads(value))
        self._report = Report._of(value)
        raise StopIteration

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def scan_iter(
    what: Scannable,
    *more: Scannable,
    name: str | None = None,
    depth: str = "judge",
    exclude: Iterable[str] = (),
    follow_links: bool = False,
    mmap: str = "auto",
    threads: int = 0,
    progress: Tick | None = None,
    cancel: Flag | None = None,
) -> Scan:
    """Starts a scan and gives its members as they finish. The arguments are those of `scan`."""
    given = _given((what, *more), name)
    settings = _settings(threads, mmap, follow_links, exclude)
    return Scan(_native.scan(given, settings, depth, True), cancel, progress)


def scan(
    what: Scannable,
    *more: Scannable,
    name: str | None = None,
    depth: str = "judge",
    exclude: Iterable[str] = (),
    follow_links: bool = False,
    mmap: str = "auto",
    threads: int = 0,
    progress: Tick | None = None,
    cancel: Flag | None = None,
) -> Report:
    """Finds the device code in files, archives and directories.

    `what` is a path, the bytes of a file, or a binary file object; several are scanned together. `name` is what bytes and
    file objects are called (`x.whl`): a wheel is known by its name. A file object that cannot seek is read into memory.

    `depth` is how deep payloads are looked into: `"headers"` (what `fatscan list` does), `"judge"` (as a judgement needs),
    `"check"` (hashes of a wheel's `RECORD` too) or `"verify"` (every payload decoded). `threads` 0 is one for each core;
    `exclude` leaves out files by patterns; `mmap` is `"auto"`, `"never"` or `"always"`.

    `progress(done, total)` is called about every 50 ms with bytes, on the calling thread; what it raises ends the scan.
    `cancel` is a `threading.Event`: once it is set, `fatscan.Cancelled` is raised.

    Damage is no exception: it is in `Report.diagnostics`. Where nothing at all can be read, `fatscan.UnreadableError` is raised.
    """
    given = _given((what, *more), name)
    settings = _settings(threads, mmap, follow_links, exclude)
    _, native, _ = _wait(_native.scan(given, settings, depth, False), cancel, progress)
    return Report._of(native)


def judge(
    what: Report | Scannable,
    gpus: Gpus = None,
    driver: str | None = None,
    *,
    driver_cuda: str | None = None,
    alternatives: bool = True,
    threads: int = 0,
    cancel: Flag | None = None,
) -> Judgement:
    """Says whether GPUs with their driver can run it, and why: `fatscan explain`.

    `what` is a report, or what `scan` takes. `gpus` are names or compute capabilities (`"8.9"`, `["T4", "RTX 4090"]`), what
    `devices()` gave, or nothing: the GPUs of this machine. Without `driver` a new enough one is assumed.
    """
    settings = _settings(threads, "auto", False, ())
    job = _native.judge(_target(what), settings, _gpus(gpus, driver, driver_cuda), alternatives)
    return Judgement(json.loads(_wait(job, cancel)[1]))


def check(
    what: Report | Scannable,
    require: Gpus = (),
    *,
    contains: str | Iterable[str] | None = None,
    strict: bool = False,
    allow_jit: bool | int = False,
    allow_partial: int | None = None,
    allow_unknown: bool = False,
    host: str | None = None,
    max_size: int | None = None,
    levels: Mapping[str, str] | None = None,
    driver: str | None = None,
    driver_cuda: str | None = None,
    alternatives: bool = True,
    threads: int = 0,
    cancel: Flag | None = None,
) -> Outcome:
    """Lets something pass or fail: `fatscan check`. `bool(outcome)` is whether it passed.

    `require` are GPUs that it must run on (`None`: those of this machine), `contains` is code that it must hold
    (`"8.0;9.0+PTX"`). `allow_jit` is `True` or how many modules in a hundred may be compiled from PTX. `levels` are
    `deny`, `warn` or `allow` by the id of a rule. `what` is a path (then hashes are compared, too) or a report.
    """
    runs = require is None or not (isinstance(require, (str, list, tuple, set, frozenset)) and not require)
    wanted = {
        "contains": contains if contains is None or isinstance(contains, str) else ";".join(contains),
        "strict": strict,
        "allow_jit": 100 if allow_jit is True else None if allow_jit is False else allow_jit,
        "allow_partial": allow_partial,
        "allow_unknown": allow_unknown,
        "host": host,
        "max_size": max_size,
        "levels": dict(levels or {}),
        "runs": runs,
    }
    settings = _settings(threads, "auto", False, ())
    job = _native.check(_target(what), settings, _gpus(require, driver, driver_cuda), wanted, alternatives)
    return Outcome(json.loads(_wait(job, cancel)[1]))


def environment(
    path: str | os.PathLike[str] | None = None,
    gpus: Gpus = None,
    driver: str | None = None,
    *,
    driver_cuda: str | None = None,
    threads: int = 0,
    cancel: Flag | None = None,
) -> EnvironmentReport:
    """Says which packages of an environment run on GPUs: `fatscan env`. Without a path it is that of this interpreter.

    `path` is the root of a venv, a conda prefix or a site-packages directory.
    """
    import site

    place = {
        "path": None if path is None else os.fspath(path),
        "program": sys.executable or "python",
        "prefix": sys.prefix,
        "version": "%d.%d.%d" % sys.version_info[:3],
        "sites": site.getsitepackages(),
        "user": [site.getusersitepackages()] if site.ENABLE_USER_SITE else [],
    }
    job = _native.environment(place, _settings(threads, "auto", False, ()), _gpus(gpus, driver, driver_cuda))
    return EnvironmentReport(json.loads(_wait(job, cancel)[1]))


def devices(*, cancel: Flag | None = None) -> Machine:
    """The GPUs and the driver of this machine: `fatscan device`. There may be none.

    The driver is asked in a child process with a time limit of 30 seconds: it may hang or crash.
    """
    prepare()
    return Machine(json.loads(_wait(_native.devices(), cancel)[1]))


def _wait(job: _native.Job, cancel: Flag | None, progress: Tick | None = None) -> tuple[str, Any, str]:
    """The next event of a job. Whatever ends the wait ends the job."""
    try:
        while True:
            event = job.next(_TICK)
            if cancel is not None and cancel.is_set():
                raise KINDS["stopped"]("the scan was cancelled")
            if progress is not None and (event is None or event[0] != "member"):
                progress(*job.progress())
            if event is not None:
                break
    except BaseException:
        job.stop(_PATIENCE)
        raise
    kind, value, text = event
    error = KINDS.get(kind)
    if error is not None:
        raise error(text or "the scan was cancelled", value)
    return event


def _given(all_: tuple[Scannable, ...], name: str | None) -> list[tuple[str | None, Any]]:
    return [_one(own, name) for own in all_]


def _one(what: Scannable, name: str | None) -> tuple[str | None, Any]:
    if isinstance(what, (str, os.PathLike)):
        return None, os.fspath(what)
    if isinstance(what, (bytes, bytearray, memoryview)):
        return name or "bytes", what if isinstance(what, bytes) else bytes(what)
    if not hasattr(what, "read"):
        raise TypeError(f"a path, bytes or a binary file is scanned, not {type(what).__name__}")
    own = getattr(what, "name", None)
    name = name or (own if isinstance(own, str) else "file")
    seekable = getattr(what, "seekable", None)
    if seekable is not None and seekable():
        if isinstance(what.read(0), str):
            raise TypeError("the file is open as text: open it with mode 'rb'")
        return name, what
    data = what.read()
    if isinstance(data, str):
        raise TypeError("the file is open as text: open it with mode 'rb'")
    return name, bytes(data)


def _target(what: Report | Scannable) -> _native.Report | list[tuple[str | None, Any]]:
    return what._at_hand() if isinstance(what, Report) else [_one(what, None)]


def _settings(threads: int, mmap: str, follow_links: bool, exclude: Iterable[str]) -> dict[str, Any]:
    patterns = [exclude] if isinstance(exclude, str) else list(exclude)
    return {"threads": threads, "mmap": mmap, "follow_links": follow_links, "exclude": patterns}


def _gpus(gpus: Gpus, driver: str | None, driver_cuda: str | None) -> dict[str, Any]:
    names, recording = None, None
    if isinstance(gpus, Machine):
        recording = json.dumps(gpus.to_dict())
    elif isinstance(gpus, str):
        names = [own.strip() for own in gpus.split(",")]
    elif gpus is not None:
        names = list(gpus)
    else:
        prepare()
    return {"names": names, "recording": recording, "driver": driver, "driver_cuda": driver_cuda}
