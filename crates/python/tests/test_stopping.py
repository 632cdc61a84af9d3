"""Who stops a scan, and when."""

from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import fatscan


class Stopwatch:
    def __enter__(self) -> Stopwatch:
        self.start = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self.start


def test_a_scan_is_cancelled_from_another_thread(large: Path) -> None:
    stop = threading.Event()
    said: list[BaseException] = []

    def work() -> None:
        try:
            fatscan.scan(large, cancel=stop)
        except BaseException as error:
            said.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    assert thread.is_alive(), "the scan is too short for this test"
    with Stopwatch() as watch:
        stop.set()
        thread.join(10)
    assert [type(error) for error in said] == [fatscan.Cancelled]
    assert watch.seconds < 1


def test_an_iteration_is_cancelled_from_another_thread(large: Path) -> None:
    scan = fatscan.scan_iter(large)
    timer = threading.Timer(0.2, scan.cancel)
    timer.start()
    with Stopwatch() as watch, pytest.raises(fatscan.Cancelled):
        list(scan)
    assert watch.seconds < 1.2
    timer.join()
    # and from then on
    with pytest.raises(fatscan.Cancelled):
        next(scan)


def test_what_a_callback_raises_arrives(large: Path) -> None:
    class Own(Exception):
        pass

    def progress(done: int, total: int) -> None:
        if done > 0:
            raise Own(f"{done} of {total}")

    with Stopwatch() as watch, pytest.raises(Own, match="of"):
        fatscan.scan(large, progress=progress)
    assert watch.seconds < 2


def test_progress_goes_to_the_end(sample: Path) -> None:
    seen: list[tuple[int, int]] = []
    fatscan.scan(sample, progress=lambda done, total: seen.append((done, total)))
    assert seen and seen == sorted(seen) and seen[-1][1] > 19_000


def test_what_a_file_object_raises_arrives(sample: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if size and self.tell() > 1000:
                raise ZeroDivisionError("in the middle")
            return super().read(size)

    with pytest.raises(ZeroDivisionError, match="in the middle"):
        fatscan.scan(Broken(sample.read_bytes()), name="x.whl")


@pytest.mark.skipif(sys.platform == "win32", reason="skipped: signals of another kind")
def test_an_interrupt_ends_a_scan_within_a_second(large: Path) -> None:
    program = (
        "import fatscan, sys, time\n"
        "print('go', flush=True)\n"
        "try:\n"
        "    fatscan.scan(sys.argv[1])\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program, large], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "go\n"
    time.sleep(0.3)
    with Stopwatch() as watch:
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=20)
    assert (out, child.returncode) == ("interrupted\n", 0)
    assert watch.seconds < 1.5, "a second, and the end of an interpreter"


def test_other_threads_run_meanwhile(large: Path) -> None:
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(fatscan.Cancelled):
        timer = threading.Timer(0.5, stop.set)
        timer.start()
        fatscan.scan(large, cancel=stop)
    thread.join()
    assert counted > 100


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="skipped: no /proc")
def test_a_thousand_scans_keep_no_memory(sample: Path) -> None:
    def resident() -> int:
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def scans(number: int) -> None:
        data = sample.read_bytes()
        for _ in range(number):
            fatscan.judge(fatscan.scan(data, name="x.whl"), "9.0").columns()

    scans(200)
    before = resident()
    scans(1000)
    grown = resident() - before
    threads = len(os.listdir("/proc/self/task"))
    print(f"1,000 scans: {grown / 1024:.0f} KiB more, {threads} threads")
    assert grown < 8 << 20
    assert threads < 20


def test_a_scan_that_nobody_waits_for_ends(large: Path) -> None:
    scan = fatscan.scan_iter(large)
    next(scan)
    del scan
    gc.collect()
    end = time.monotonic() + 5
    names = lambda: [Path(f"/proc/self/task/{own}/comm").read_text() for own in os.listdir("/proc/self/task")]
    while os.path.exists("/proc/self/task") and any(name == "fatscan\n" for name in names()):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_other_interpreters_are_refused_clearly() -> None:
    program = (
        "try:\n    import _interpreters as own\n"
        "except ImportError:\n    import _xxsubinterpreters as own\n"
        "import fatscan\nid = own.create()\n"
        "try:\n    said = own.run_string(id, 'import fatscan')\n"
        "except Exception as error:\n    said = error\n"
        "print(said)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    assert "ImportError" in done.stdout and "subinterpreters" in done.stdout.replace("-", "")
