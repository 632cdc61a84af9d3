"""What the functions give, against the command and against what is known of the sample."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, command, document

import fatscan


def test_the_sample_is_listed(sample: Path) -> None:
    report = fatscan.scan(sample)
    (wheel,) = report
    assert (wheel.kind, wheel.path, len(wheel)) == ("wheel", str(sample), 2)
    partial, rdc = wheel
    # by cuobjdump, see tests/fixtures.rs
    assert partial.path == "fatscan_sample/lib/libpartial.so"
    assert set(partial.archs) == {
        "sm_75",
        "sm_80",
        "sm_90",
        "sm_90a",
        "sm_100f",
        "compute_90",
        "compute_90a",
        "compute_100f",
    }
    assert (partial.modules, partial.images, rdc.images) == (3, 8, 5)
    assert partial.coverage.loadable.general == 1
    assert report.errors == ()
    assert report.members == (partial, rdc)


@pytest.mark.parametrize(
    "give",
    [
        str,
        Path,
        lambda path: open(path, "rb"),
        lambda path: path.read_bytes(),
        lambda path: bytearray(path.read_bytes()),
        lambda path: io.BytesIO(path.read_bytes()),
    ],
)
def test_paths_bytes_and_files_give_the_same(sample: Path, library: Path, give: object) -> None:
    for path in (sample, library):
        what = give(path)  # type: ignore[operator]
        try:
            assert fatscan.scan(what, name=str(path)) == fatscan.scan(path)
        finally:
            if hasattr(what, "close"):
                what.close()


def test_a_file_that_cannot_seek(sample: Path) -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as pipe, open(writing, "wb") as sink:
        sink.write(sample.read_bytes())
        sink.close()
        assert fatscan.scan(pipe, name=str(sample)) == fatscan.scan(sample)


def test_documents_are_those_of_the_command(sample: Path, library: Path) -> None:
    for path in (sample, library, sample.parent, ROOT / "fixtures"):
        assert fatscan.scan(path, depth="headers").to_dict() == document("list", "--format", "json", path)
        judged = fatscan.judge(path, ["7.5", "RTX 4090"], driver="535.183.01")
        words = ("--gpu", "7.5", "--gpu", "RTX 4090", "--driver", "535.183.01", "--format", "json")
        assert judged.to_dict() == document("explain", path, *words)
        checked = fatscan.check(path, ["7.5", "9.0"], contains="8.0;9.0+PTX", allow_jit=10, levels={"partial": "warn"})
        words = ("--require", "7.5,9.0", "--contains", "8.0;9.0+PTX", "--allow-jit=10", "--warn", "partial")
        assert checked.to_dict() == document("check", path, *words, "--format", "json")
    by_module = document("list", "--format", "json", "--by", "module", library)
    assert fatscan.scan(library, depth="headers").with_modules().to_dict() == by_module


def test_a_report_is_judged_as_its_path_is(sample: Path) -> None:
    for what in (fatscan.scan(sample), fatscan.scan(sample.read_bytes(), name=str(sample))):
        assert fatscan.judge(what, "9.0") == fatscan.judge(sample, "9.0")
        assert fatscan.check(what, "9.0") == fatscan.check(sample, "9.0")


def test_verdicts(sample: Path) -> None:
    judged = fatscan.judge(sample, "9.0", "580.65.06")
    assert [device.cc for device in judged.devices] == ["9.0"]
    (wheel,) = judged
    assert wheel.verdicts[0].device == "9.0"
    old = fatscan.judge(sample, "Tesla P100")
    (verdict,) = old.artefacts[0].verdicts
    assert (verdict.verdict, verdict.runs) == ("not-covered", False)
    assert verdict.reasons[0].error == 209
    assert verdict.remedies and old.columns()["verdict"] == ["not-covered"]


def test_a_check_passes_and_fails(library: Path) -> None:
    assert fatscan.check(library, contains="9.0+PTX")
    failed = fatscan.check(library, "6.1")
    assert not failed and not failed.passed and failed.summary.errors == 1
    assert failed.findings[0].rule == "not-covered" and failed.findings[0].cc == "6.1"
    assert fatscan.check(library, "6.1", levels={"not-covered": "allow"}).passed
    assert command("check", library, "--require", "6.1").returncode == 1


def test_members_come_one_by_one(sample: Path) -> None:
    with fatscan.scan_iter(sample) as scan:
        paths = [(scan.artefact, member.path) for member in scan]
        assert scan.report == fatscan.scan(sample)
    assert paths == [(str(sample), f"fatscan_sample/lib/{name}.so") for name in ("libpartial", "librdc")]
    assert list(scan) == []


def test_objects_are_plain(sample: Path) -> None:
    report = fatscan.scan(sample)
    (wheel,) = report
    with pytest.raises(AttributeError, match="frozen"):
        wheel.path = "other"
    with pytest.raises(AttributeError, match="frozen"):
        del wheel.path
    with pytest.raises(AttributeError, match="no attribute 'pth'"):
        getattr(wheel, "pth")
    assert repr(wheel).startswith(f"Artefact(path={str(sample)!r}, at=<...>, kind='wheel', size=19")
    assert wheel == report.artefacts[0] and wheel != wheel.members[0] and len({wheel, report.artefacts[0]}) == 1
    assert pickle.loads(pickle.dumps(report)) == report
    with pytest.raises(fatscan.Error, match="pickled"):
        fatscan.judge(pickle.loads(pickle.dumps(report)), "9.0")
    changed = report.to_dict()
    changed["artefacts"].clear()
    assert len(report) == 1 and report.to_dict() != changed


def test_every_field_of_the_json_is_an_attribute(sample: Path) -> None:
    seen = set()

    def look(own: object) -> None:
        if isinstance(own, tuple):
            for one in own:
                look(one)
        if isinstance(own, fatscan.Document.__mro__[1]):
            extra = own.to_dict().keys() - type(own)._fields.keys()
            assert not extra, (type(own), extra)
            seen.add(type(own).__name__)
            for name in type(own)._fields:
                look(getattr(own, name))

    look(fatscan.check(sample, ["7.5", "RTX 4090"], contains="8.0"))
    look(fatscan.scan(ROOT / "fixtures"))
    look(fatscan.scan(sample).with_modules())
    look(fatscan.environment(gpus="9.0"))
    assert {"Outcome", "Finding", "Verdict", "Remedy", "Module", "Image", "Diagnostic", "Distribution"} <= seen


def test_the_environment_of_this_interpreter() -> None:
    report = fatscan.environment(gpus=["7.5", "9.0"])
    names = {own.name for own in report.environment}
    assert {"fatscan", "pytest"} <= names
    assert report.environment.python == "%d.%d.%d" % sys.version_info[:3]
    assert [own.device for own in report.environment.verdicts] == ["7.5", "9.0"]
    own = fatscan.environment(sys.prefix, "7.5")
    assert own.to_dict() == document("env", sys.prefix, "--gpu", "7.5", "--format", "json")


def test_the_machine_is_asked_by_a_child() -> None:
    machine = fatscan.devices()
    by_command = document("device", "--json")
    assert machine.to_dict()["probe"] == by_command["probe"]
    ways = {way["way"]: way["status"]["kind"] for way in machine.probe.ways}
    # absent: the child answered that there is no library; unusable or crashed: it did not start
    assert ways["cuda"] in ("absent", "answered") and ways["nvml"] in ("absent", "answered"), ways
    if not machine:
        with pytest.raises(fatscan.NoDeviceError) as caught:
            fatscan.judge(b"", None)
        assert caught.value.hint


def test_what_is_wrong_is_said(sample: Path, tmp_path: Path) -> None:
    with pytest.raises(fatscan.UnreadableError, match="no such file or directory"):
        fatscan.scan(tmp_path / "none.whl")
    with pytest.raises(OSError):
        fatscan.judge(tmp_path / "none.whl", "9.0")
    text = tmp_path / "text.whl"
    text.write_text("this is no wheel")
    report = fatscan.scan(text)
    assert report.members == () and [own.code for own in report.errors] == ["FS0105"]
    assert command("list", text).returncode == 1
    assert not fatscan.check(text, "9.0")
    for wrong in ("H1000", "9.0+PTX", "", "Blackwell"):
        with pytest.raises(fatscan.ArgumentError):
            fatscan.judge(sample, wrong)
    with pytest.raises(ValueError, match="no version of a driver"):
        fatscan.judge(sample, "9.0", "12.4")
    with pytest.raises(fatscan.ArgumentError, match="nothing is demanded"):
        fatscan.check(sample)
    with pytest.raises(fatscan.ArgumentError, match="is no rule"):
        fatscan.check(sample, "9.0", levels={"nonsense": "deny"})
    with pytest.raises(fatscan.ArgumentError, match="depth"):
        fatscan.scan(sample, depth="deep")
    with pytest.raises(fatscan.NotDeepEnoughError):
        fatscan.judge(fatscan.scan(sample, depth="headers"), "9.0")
    with pytest.raises(fatscan.NoEnvironmentError):
        fatscan.environment(tmp_path, "9.0")
    with pytest.raises(TypeError, match="not int"):
        fatscan.scan(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="rb"):
        fatscan.scan(io.StringIO("text"))  # type: ignore[arg-type]
    assert issubclass(fatscan.ArgumentError, fatscan.Error) and issubclass(fatscan.Cancelled, fatscan.Error)


def test_columns_go_into_frames(sample: Path) -> None:
    columns = fatscan.scan(sample).columns()
    assert len({len(column) for column in columns.values()}) == 1
    sass = [arch for kind, arch in zip(columns["kind"], columns["arch"]) if kind == "sass"]
    assert "sm_80" in sass and len(sass) >= 5
    frames = 0
    for name in ("pandas", "polars", "pyarrow"):
        try:
            module = __import__(name)
        except ImportError:
            print(f"skipped: no {name}")
            continue
        frame = module.table(columns) if name == "pyarrow" else module.DataFrame(columns)
        assert frame.shape == (len(sass) + columns["kind"].count("ptx"), 12)
        frames += 1
    print(f"{frames} of 3 libraries of frames")


@pytest.mark.skipif(sys.platform != "linux", reason="skipped: a library of another kind")
def test_a_driver_that_crashes_ends_no_interpreter(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("skipped: no C compiler for a driver that crashes")
    source = tmp_path / "driver.c"
    source.write_text(
        "#include <stdlib.h>\n__attribute__((constructor)) static void crash(void) { abort(); }\n"
    )
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", source], check=True)
    program = (
        "import fatscan\n"
        "ways = {way['way']: way['status'] for way in fatscan.devices().probe.ways}\n"
        "print(ways['cuda']['kind'], ways['nvml']['kind'])\n"
    )
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split()[0] == "crashed", (done.stdout, done.stderr)
    own = Path(sys.executable).with_name("fatscan")
    by_command = subprocess.run([own, "device", "--json"], env=environment, capture_output=True, check=False)
    ways = {way["way"]: way["status"]["kind"] for way in json.loads(by_command.stdout)["probe"]["ways"]}
    assert ways["cuda"] == "crashed"
