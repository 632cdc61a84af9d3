"""What scans, judgements and checks give. Every class is the object of the same name in the JSON document, whose schema
`fatscan schema` prints."""

from __future__ import annotations

from ._record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Step(Record):
    """One step of a place."""

    kind: str
    name: str
    bytes: str | None
    index: int | None
    offset: int | None
    size: int | None


class Place(Record):
    """Where something is: from the outside in."""

    steps: tuple[Step, ...]
    section: str | None
    offset: int | None
    image: int | None


class Tool(Record):
    """The writer of a report."""

    name: str
    version: str


class Diagnostic(Record):
    """Something that is damaged or odd. `code` is stable; `level` is error, warning or note."""

    place: str
    at: Place
    code: str
    level: str
    message: str
    hint: str | None


class Unread(Record):
    """Something that may hold device code and was not read."""

    place: str
    at: Place
    why: str
    message: str


class Code(Record):
    """Images that are alike: `kind` is sass, ptx, lto-ir, tile-ir or other; `arch` is `sm_90a`, `compute_90`, ..."""

    kind: str
    arch: str | None
    isa: str | None
    source: str
    linkage: str
    count: int
    stored_bytes: int
    unpacked_bytes: int | None
    compression: dict[str, int]


class CoveredArch(Record):
    """Code of one kind for one architecture."""

    kind: str
    arch: str


class CoveredSet(Record):
    """Specialised modules of one set of architectures."""

    archs: tuple[CoveredArch, ...]
    modules: int


class Covered(Record):
    """How often code of one kind for one architecture occurs."""

    kind: str
    arch: str
    images: int
    general: int
    specialised: int


class Coverage(Record):
    """How many modules hold each architecture."""

    general: int
    specialised: tuple[CoveredSet, ...]
    images: tuple[Covered, ...]


class MemberCoverage(Record):
    """The coverage of a member, by what can become of its code."""

    loadable: Coverage
    relocatable: Coverage
    unmapped: Coverage


class NotCounted(Record):
    """Modules that do not count in a verdict, by reason."""

    stub: int
    relocatable: int
    lto: int
    empty: int
    other: int
    unmapped: int


class Load(Record):
    """Images alike that the driver would load."""

    kind: str
    arch: str
    isa: str | None
    count: int


class Limit(Record):
    """Modules that do not load, and what they mean."""

    kind: str
    count: int
    of: int
    text: str


class Reason(Record):
    """One reason of a verdict; `error` is the CUDA error that a program sees."""

    code: str
    error: int | None
    text: str
    needs_driver: str | None


class Remedy(Record):
    """One thing to do, with lines to copy."""

    kind: str
    text: str
    lines: tuple[str, ...]


class Verdict(Record):
    """Whether something runs on a device: native, jit, partial, unknown, driver-too-old, not-covered, no-device-code."""

    device: str
    verdict: str
    modules_ok: int
    modules: int
    modules_fit: int
    specialised_ok: int
    specialised: int
    not_counted: NotCounted
    loads: tuple[Load, ...]
    compiled: int
    limits: tuple[Limit, ...]
    reasons: tuple[Reason, ...]
    needs_driver: str | None
    decided_by: tuple[str, ...]
    optional: tuple[str, ...]
    remedies: tuple[Remedy, ...]

    @property
    def runs(self) -> bool:
        """Whether all of it runs there now: the verdict is native or jit."""
        return self.verdict in ("native", "jit")


class Alternatives(Record):
    """Members of which one must fit; `best` has the best path by device id."""

    name: str
    choices: tuple[str, ...]
    best: dict[str, str]


class Image(Record):
    """One piece of device code for one architecture."""

    kind: str
    arch: str | None
    isa: str | None
    source: str
    linkage: str
    flags: int
    compression: str
    stored_bytes: int
    unpacked_bytes: int | None
    debug: bool
    identifier: str | None
    options: str | None


class Module(Record):
    """What the driver loads at once: a fatbin, a bare cubin, PTX. Iterates over its images."""

    place: str
    at: Place
    section: str | None
    source: str
    wrapped: bool | None
    mapped: bool | None
    damaged: bool
    images: tuple[Image, ...]

    def __iter__(self) -> Iterator[Image]:
        return iter(self.images)


class Member(Record):
    """A file with device code. `modules_detail` is there in `Report.with_modules()` only."""

    path: str
    at: Place
    format: str
    machine: str | None
    size: int
    modules: int
    images: int
    empty_fatbins: int
    code: tuple[Code, ...]
    coverage: MemberCoverage
    modules_detail: tuple[Module, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def archs(self) -> tuple[str, ...]:
        """The architectures of its code, as `sm_90a`, `compute_90`; of some modules or of all."""
        return tuple(dict.fromkeys(own.arch for own in self.code if own.arch is not None))


class Artefact(Record):
    """A wheel, a package, a directory, a file. Iterates over its members: the files with device code."""

    path: str
    at: Place
    kind: str
    size: int
    members_without_code: int
    members: tuple[Member, ...]
    verdicts: tuple[Verdict, ...]
    alternatives: tuple[Alternatives, ...]

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def __bool__(self) -> bool:
        return True


class Device(Record):
    """A device that was judged for; `id` is what verdicts call it, `cc` its compute capability."""

    id: str
    name: str | None
    fleet: str | None
    cc: str
    platform: str
    driver: str | None
    driver_cuda: str | None
    host: str | None


class Finding(Record):
    """One thing that a check found; `level` is error, warning, note or allowed."""

    rule: str
    level: str
    place: str
    at: Place
    code: str | None
    device: str | None
    cc: str | None
    fleet: str | None
    driver: str | None
    subject: str | None
    message: str
    hint: str | None
    ignored_by: str | None


class Summary(Record):
    """How many findings there are of which weight."""

    passed: bool
    errors: int
    warnings: int
    notes: int
    ignored: int
    allowed: int


class Assumption(Record):
    """What a check takes for granted of a driver that is not known."""

    artefact: str
    devices: tuple[str, ...]
    driver: str | None
    texts: tuple[str, ...]


class Document(Record):
    """A whole report. Iterates over its artefacts."""

    schema: int
    tool: Tool
    artefacts: tuple[Artefact, ...]
    diagnostics: tuple[Diagnostic, ...]
    unread: tuple[Unread, ...]

    def __iter__(self) -> Iterator[Artefact]:
        return iter(self.artefacts)

    def __len__(self) -> int:
        return len(self.artefacts)

    def __bool__(self) -> bool:
        return True

    @property
    def members(self) -> tuple[Member, ...]:
        """The members of all artefacts."""
        return tuple(member for artefact in self.artefacts for member in artefact.members)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that are errors: where there are some, something may be missing from the report."""
        return tuple(own for own in self.diagnostics if own.level == "error")

    def columns(self) -> dict[str, list[Any]]:
        """A row for each kind of code of each member, as columns: for pandas, polars, Arrow."""
        rows = []
        for artefact in self.artefacts:
            for member in artefact.members:
                for code in member.code:
                    rows.append((artefact, member, code))
        columns: dict[str, list[Any]] = {
            "artefact": [artefact.path for artefact, _, _ in rows],
            "member": [member.path for _, member, _ in rows],
            "format": [member.format for _, member, _ in rows],
            "machine": [member.machine for _, member, _ in rows],
        }
        for name in ("kind", "arch", "isa", "source", "linkage", "count", "stored_bytes", "unpacked_bytes"):
            columns[name] = [getattr(code, name) for _, _, code in rows]
        return columns


class Judgement(Document):
    """A report with a verdict of each artefact and member for each device."""

    devices: tuple[Device, ...]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each artefact and device, as columns."""
        rows = [(artefact, verdict) for artefact in self.artefacts for verdict in artefact.verdicts]
        return {
            "artefact": [artefact.path for artefact, _ in rows],
            "device": [verdict.device for _, verdict in rows],
            "verdict": [verdict.verdict for _, verdict in rows],
            "modules_ok": [verdict.modules_ok for _, verdict in rows],
            "modules": [verdict.modules for _, verdict in rows],
            "needs_driver": [verdict.needs_driver for _, verdict in rows],
            "reason": [verdict.reasons[0].text if verdict.reasons else None for _, verdict in rows],
        }


class Outcome(Judgement):
    """What a check found. `bool(outcome)` is whether it passed."""

    findings: tuple[Finding, ...]
    summary: Summary
    assumptions: tuple[Assumption, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing fails."""
        return self.summary.passed

    def __bool__(self) -> bool:
        return self.passed

    def columns(self) -> dict[str, list[Any]]:
        """A row for each finding, as columns."""
        names = ("rule", "level", "place", "device", "cc", "subject", "message", "hint", "ignored_by")
        return {name: [getattr(own, name) for own in self.findings] for name in names}


class Site(Record):
    """A directory of an environment."""

    path: str
    kind: str


class Link(Record):
    """How files find the CUDA libraries that they ask for, on this machine."""

    kind: str
    error: bool
    usual: bool
    files: tuple[str, ...]
    text: str


class DistributionVerdict(Record):
    """How a distribution stands on a device."""

    device: str
    verdict: str
    limited: bool
    reason: str | None


class Distribution(Record):
    """What is installed under one name; `artefact` is the index of its artefact where it has device code."""

    name: str
    version: str
    made: str
    info: str
    installer: str | None
    editable: str | None
    files: int | None
    artefact: int | None
    damaged: bool
    verdicts: tuple[DistributionVerdict, ...]
    linkage: tuple[Link, ...]
    notes: tuple[str, ...]


class Nobody(Record):
    """The files with device code that belong to no distribution."""

    artefact: int
    verdicts: tuple[DistributionVerdict, ...]


class EnvironmentVerdict(Record):
    """How an environment stands on a device."""

    device: str
    verdict: str
    distributions: int
    distributions_ok: int


class Environment(Record):
    """Where packages are installed, and which. Iterates over its distributions."""

    kind: str
    root: str
    found: str
    python: str | None
    sites: tuple[Site, ...]
    distributions: tuple[Distribution, ...]
    nobody: Nobody | None
    verdicts: tuple[EnvironmentVerdict, ...]
    linkage: tuple[Link, ...]
    notes: tuple[str, ...]

    def __iter__(self) -> Iterator[Distribution]:
        return iter(self.distributions)


class EnvironmentReport(Judgement):
    """An environment judged; its artefacts are the distributions with device code."""

    environment: Environment


class Probed(Record):
    """A device of this machine. `visible` is visible, hidden or unknown."""

    name: str | None
    capability: str | dict[str, int] | None
    visible: str | None


class MachineFinding(Record):
    """What a person should know about the GPUs of a machine, and what to do."""

    level: str
    code: str
    text: str
    advice: str | None


class Probe(Record):
    """The devices and the driver of a machine."""

    host: dict[str, Any]
    driver: dict[str, Any]
    devices: tuple[Probed, ...]
    ways: tuple[dict[str, Any], ...]
    findings: tuple[MachineFinding, ...]
    environment: dict[str, Any]


class Machine(Record):
    """The GPUs and the driver of a machine, as `fatscan device --record` notes them. Iterates over its devices."""

    schema: int
    taken: str
    probe: Probe

    @property
    def devices(self) -> tuple[Probed, ...]:
        """All devices that are known of."""
        return self.probe.devices

    def __iter__(self) -> Iterator[Probed]:
        return iter(self.probe.devices)

    def __len__(self) -> int:
        return len(self.probe.devices)

    def __bool__(self) -> bool:
        return len(self) > 0
