#!/usr/bin/env python3
"""The page of `fatscan fleet --format html` in headless Chromium.

    python3 tests/html_page.py [--program target/release/fatscan] [--keep FOLDER]

It makes wheels of the fixtures, 200 of them by 20 targets and one with names that mean mischief, and uses the page as people
do: filter, a click, keys, dark, print, 400 pixels. Chromium is not on every machine: without it, or without the package
`playwright`, the answer is `skipped: why` and exit code 0. CHROMIUM names the browser where it is not on the path.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
SAMPLE = FIXTURES / "sample" / "fatscan_sample-1.0-py3-none-manylinux_2_28_x86_64.whl"
GPUS = ["5.0", "6.0", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"]
EVIL = "<script>document.title='evil'<\\script>\u202egpj\x1b[31m\"'&amp;"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(0)


def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        skip("the package playwright is not installed: pip install playwright")
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    path = next((found for name in names if name for found in [shutil.which(name)] if found), None)
    play = sync_playwright().start()
    try:
        # a container has no namespaces of its own for the sandbox
        return play, play.chromium.launch(executable_path=path, args=["--no-sandbox"])
    except Exception as error:  # whatever keeps a browser from starting
        play.stop()
        skip(f"no Chromium starts: {str(error).strip().splitlines()[0]}")


def wheel(path, name, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as out:
        for inner, data in files:
            out.writestr(inner, data)
        out.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        out.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")


def libraries():
    own = sorted(FIXTURES.glob("*.so"), key=lambda path: path.stat().st_size)
    own = [path for path in own if not path.name.startswith("bad_") and path.stat().st_size < 200_000]
    assert len(own) >= 5, "there are fixtures to make wheels of"
    return [(path.name, path.read_bytes()) for path in own]


def many(folder):
    """200 wheels of 1 to 9 libraries, a thousand in all, which differ from wheel to wheel."""
    all_ = libraries()
    for index in range(200):
        own = [all_[(index * 3 + step) % len(all_)] for step in range(1 + index % 9)]
        if index % 9 == 0:
            # code for 9.0 and PTX for others, which is compiled
            own = [("portable.fatbin", (FIXTURES / "nvfb12.4_all.fatbin").read_bytes())]
        name = f"package_{index:03}"
        wheel(folder / f"{name}-1.0-py3-none-any.whl", name, [(f"{name}/{step}_{lib}", data) for step, (lib, data) in enumerate(own)])


def page(program, paths, *flags):
    call = [program, "fleet", *map(str, paths), *flags, "--format", "html"]
    run = subprocess.run(call, capture_output=True)
    assert run.returncode in (0, 1), run.stderr.decode()
    return run.stdout


def visible(own, selector):
    return own.locator(selector).evaluate_all("all => all.filter(one => one.offsetParent !== null).length")


class Checks:
    def __init__(self, chromium, keep):
        self.chromium, self.keep, self.done = chromium, keep, 0

    def open(self, path, width=1280, **more):
        context = self.chromium.new_context(viewport={"width": width, "height": 900}, **more)
        own = context.new_page()
        own.problems, own.requests = [], []
        own.on("pageerror", lambda error: own.problems.append(str(error)))
        own.on("console", lambda line: own.problems.append(line.text) if line.type in ("error", "warning") else None)
        own.on("request", lambda request: own.requests.append(request.url))
        own.goto(path.as_uri())
        return own

    def close(self, own, name):
        if self.keep:
            own.screenshot(path=str(self.keep / f"{name}.png"), full_page=True)
        assert own.problems == [], f"{name}: {own.problems}"
        assert len(own.requests) == 1, f"{name} loads {own.requests}"
        own.context.close()
        self.done += 1
        print(f"ok: {name}")

    def filter(self, path):
        own = self.open(path)
        rows = visible(own, "#heat tbody tr")
        assert rows == 200, rows
        own.fill("#words", "package_017")
        assert visible(own, "#heat tbody tr") == 1
        assert own.locator("#count").inner_text() == "1 of 200 rows"
        assert visible(own, "#libraries tbody") == 1, "libraries are filtered with their artefact"
        own.fill("#words", "no such thing")
        assert visible(own, "#heat tbody tr") == 0 and own.locator("#none").is_visible()
        own.fill("#words", "")
        assert visible(own, "#heat tbody tr") == 200
        # the switches leave rows with a cell of a colour that is on
        for mark in ("b", "f"):
            own.uncheck(f"input[name=grade][value={mark}]")
        want = own.locator("#heat tbody tr").evaluate_all("all => all.filter(row => row.querySelector('button.g')).length")
        assert 0 < want < 200 and visible(own, "#heat tbody tr") == want
        self.close(own, "filter")

    def click(self, path):
        own = self.open(path)
        cell = own.locator("#heat button[data-r]").first
        reason = int(cell.get_attribute("data-r"))
        assert not own.locator("#answer").is_visible()
        cell.click()
        answer = own.locator("#answer").inner_text()
        text = own.locator("#why li").nth(reason - 1).locator("> span").nth(1).inner_text()
        assert text in answer and f"{reason}." in answer, (text, answer)
        column = cell.evaluate("one => one.parentNode.cellIndex - 2")
        head = own.locator("#heat th.t").nth(column).get_attribute("data-n")
        assert head in answer, (head, answer)
        assert cell.get_attribute("aria-expanded") == "true"
        cell.click()
        assert not own.locator("#answer").is_visible()
        self.close(own, "click")

    def keyboard(self, path):
        own = self.open(path)
        at = "[...document.activeElement.closest('tr').children].indexOf(document.activeElement.parentNode)"
        # words, three switches, the region, then one cell for all of them
        for _ in range(20):
            own.keyboard.press("Tab")
            if own.evaluate("document.activeElement.matches('#heat button')"):
                break
        assert own.evaluate("document.activeElement.matches('#heat button')"), "the tab key comes to the table"
        outline = own.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", "one sees where it is"
        first = own.evaluate(at)
        own.keyboard.press("ArrowRight")
        own.keyboard.press("ArrowDown")
        assert own.evaluate(at) == first + 1
        assert own.evaluate("document.activeElement.closest('tr').dataset.a") == "1"
        own.keyboard.press("Enter")
        assert own.locator("#answer").is_visible()
        own.keyboard.press("Escape")
        assert not own.locator("#answer").is_visible()
        assert own.evaluate(at) == first + 1, "it is where it was"
        own.keyboard.press("End")
        assert own.evaluate(at) == 21
        own.keyboard.press("Tab")
        assert not own.evaluate("document.activeElement.matches('#heat button')"), "one stop for the tab key"
        self.close(own, "keyboard")

    def colours(self, path):
        """Contrast of words on their ground, in both schemes: 4.5 at least."""
        script = """(selector) => {
            const parts = (text) => text.match(/[\\d.]+/g).map(Number);
            const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                .reduce((sum, c, index) => sum + c * [0.2126, 0.7152, 0.0722][index], 0);
            const ground = (one) => {
                const own = parts(getComputedStyle(one).backgroundColor), alpha = own.length > 3 ? own[3] : 1;
                if (alpha === 1 || !one.parentElement) return own;
                const below = ground(one.parentElement);
                return below.slice(0, 3).map((c, index) => own[index] * alpha + c * (1 - alpha));
            };
            return [...document.querySelectorAll(selector)].slice(0, 400).map((one) => {
                const [x, y] = [light(parts(getComputedStyle(one).color)), light(ground(one))].sort((a, b) => b - a);
                return (x + 0.05) / (y + 0.05);
            });
        }"""
        grounds = set()
        for scheme in ("light", "dark"):
            own = self.open(path, color_scheme=scheme)
            grounds.add(own.evaluate("getComputedStyle(document.body).backgroundColor"))
            for selector in ("#heat button", "#heat th", "#libraries td", "#libraries th", "p", "li", "small", "fieldset label"):
                all_ = own.evaluate(script, selector)
                assert all_ and min(all_) >= 4.5, f"{scheme} {selector}: {min(all_ or [0]):.2f}"
            self.close(own, f"colours, {scheme}")
        assert len(grounds) == 2, grounds

    def without_colour(self, path):
        own = self.open(path)
        words = own.locator("#heat button").evaluate_all("all => all.map(one => [one.className, one.textContent])")
        signs = {"g": "\u2713", "f": "\u2248", "b": "\u2717"}
        assert len(words) == 4000 and {grade for grade, _ in words} == set(signs), "there are cells of each colour"
        for grade, text in words:
            assert text.startswith(signs[grade]) and re.search("[a-zA-Z]{3}", text), (grade, text)
        scopes = own.locator("th").evaluate_all("all => all.filter(one => !one.scope).length")
        assert scopes == 0 and own.locator("table > caption").count() == own.locator("table").count()
        self.close(own, "without colour")

    def small(self, path):
        for width in (400, 1280):
            own = self.open(path, width)
            for _ in ("shut", "open"):
                wide = own.evaluate("Math.max(document.body.scrollWidth, document.documentElement.scrollWidth)")
                assert wide <= width, f"{width} pixels: {wide}"
                own.locator("#heat button[data-r]").first.click()
            box = own.locator("#heat tbody th").first.bounding_box()
            assert box["width"] >= 90, "names can be read"
            self.close(own, f"{width} pixels")

    def printed(self, path):
        own = self.open(path)
        own.locator("#heat button[data-r]").first.click()
        own.emulate_media(media="print")
        assert not own.locator("#filter").is_visible() and not own.locator("#answer").is_visible()
        assert own.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
        assert own.pdf().startswith(b"%PDF")
        self.close(own, "print")

    def fast(self, path):
        size = path.stat().st_size
        assert size < 2_000_000, f"{size} bytes"
        times = []
        for _ in range(3):
            # what the page asks of a processor, whoever else keeps it busy
            own = self.chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
            meter = own.context.new_cdp_session(own)
            meter.send("Performance.enable", {"timeDomain": "threadTicks"})
            spent = lambda: next(one["value"] for one in meter.send("Performance.getMetrics")["metrics"] if one["name"] == "TaskDuration")
            frame = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
            start, clock = spent(), time.monotonic()
            own.goto(path.as_uri())
            own.evaluate("document.querySelector('#heat button').click(); " + frame)
            assert own.locator("#answer").is_visible()
            loaded, clock = spent() - start, time.monotonic() - clock
            start = spent()
            own.evaluate("words.value = 'package_1'; words.dispatchEvent(new Event('input')); " + frame)
            assert own.locator("#count").inner_text() == "100 of 200 rows"
            times.append((loaded, spent() - start, clock))
            own.context.close()
        loaded, filtered, clock = (min(own) for own in zip(*times))
        print(f"    {size / 1e6:.2f} MB; answers a click after {loaded:.2f} s of work ({clock:.2f} s by the clock), filters in {filtered:.2f} s")
        assert loaded < 1 and filtered < 0.5, times
        self.done += 1
        print("ok: 200 artefacts by 20 targets within a second")

    def evil(self, path):
        text = path.read_text("utf-8")
        assert text.count("<script>") == 1 and "\u202e" not in text and "\x1b" not in text
        own = self.open(path)
        assert own.title() != "evil"
        assert own.locator("main script, main img, main iframe").count() == 0
        cells = own.locator("#heat button")
        for index in reversed(range(cells.count())):
            cells.nth(index).click()
        assert "document.title" in own.locator("#answer").inner_text(), "the name is shown as it is"
        own.fill("#words", "<script>")
        assert visible(own, "#heat tbody tr") == 1
        # neither its own words nor a script that comes by another way may run
        own.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
        own.wait_for_timeout(100)
        assert own.title() != "1"
        own.problems = [line for line in own.problems if "Content Security Policy" not in line]
        own.requests = own.requests[:1]
        self.close(own, "names that mean mischief")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--program", default=str(ROOT / "target" / "release" / "fatscan"))
    words.add_argument("--keep", type=Path, help="a folder for the pages and pictures of them")
    words = words.parse_args()
    if not Path(words.program).exists():
        sys.exit(f"{words.program} is not there: cargo build --release")
    play, chromium = browser()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        keep = words.keep or folder
        (folder / "many").mkdir()
        many(folder / "many")
        targets = [flag for gpu in GPUS for flag in ("--gpu", gpu)]
        big = keep / "many.html"
        paths = sorted((folder / "many").iterdir())
        big.write_bytes(page(words.program, paths, *targets, "--driver", "535.183.01", "--driver", "580.65.06", "--allow-jit"))
        (folder / "evil").mkdir()
        name, data = libraries()[-1]
        mischief = folder / "evil" / f"{EVIL}.whl"
        wheel(mischief, "evil", [(f"{EVIL}/{EVIL}{name}", data)])
        config = folder / "fleet.toml"
        config.write_text('[fleet."<script>document.title=1</script>"]\ngpus = ["5.0", "9.0"]\n[fleet.b]\ngpus = ["8.9"]\n')
        evil = keep / "evil.html"
        evil.write_bytes(page(words.program, [mischief, SAMPLE], "--config", str(config)))
        checks = Checks(chromium, words.keep)
        for check in (checks.filter, checks.click, checks.keyboard, checks.colours, checks.without_colour, checks.small, checks.printed, checks.fast):
            check(big)
        checks.evil(evil)
        print(f"{checks.done} checks of the page hold")
    chromium.close()
    play.stop()


if __name__ == "__main__":
    main()
