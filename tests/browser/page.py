"""Tests the report in a real browser: Debian's Chromium, driven by Playwright.

Usage: page.py BINARY FOLDER [--keep]

Runs every study with --quick into FOLDER/results (with --keep it uses the results that are there). Then it opens the page as a
reader would, and checks: no console errors, no network requests, every plot is drawn and responds to the mouse, the chooser
gives the same answers as `advise`, the page does not scroll sideways on a phone, and text has enough contrast in light and dark
mode. Screenshots are kept in FOLDER.
"""

import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path

from jsonschema import Draft202012Validator
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
WIDTHS = {"wide": (1280, 900), "phone": (390, 844)}

# Text with less contrast than WCAG requires: 4.5, or 3 for large text.
FAINT = """() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = (c) => ((c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (at) => {
    for (; at; at = at.parentElement) {
      const [r, g, b, a = 1] = rgb(getComputedStyle(at).backgroundColor);
      if (a > 0) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  for (const at of document.querySelectorAll('body *:not(script):not(style):not(svg *):not(option)')) {
    const own = [...at.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || at.closest('svg, .modebar, .skip') || !at.getClientRects().length) continue;
    const style = getComputedStyle(at);
    const [a, b] = [light(rgb(style.color)), light(ground(at))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24;
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) faint.add(`${at.tagName}.${at.className}: ${at.textContent.trim().slice(0, 40)}`);
  }
  return [...faint];
}"""

# Plots without a visible trace.
EMPTY = """() => [...document.querySelectorAll('[data-plot]')]
  .filter((plot) => !plot.querySelector('.main-svg .trace path, .main-svg .point'))
  .map((plot) => plot.getAttribute('aria-label'))"""


def opened(context, path: Path, complaints: list[str]) -> Page:
    """Opens the page. Console errors and network requests are added to `complaints`."""
    page = context.new_page()
    page.on("console", lambda said: said.type in ("error", "warning") and complaints.append(f"console: {said.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))

    def asked(request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")) or request.resource_type == "script":
            complaints.append(f"network: {request.url[:100]}")

    page.on("request", asked)
    page.goto(path.as_uri())
    page.wait_for_selector("html.drawn", state="attached", timeout=60_000)
    return page


def plots_live(page: Page) -> None:
    """One line plot: it shows a label for a point, zooms in, zooms out, and hides a line when its name is clicked."""
    plot = page.locator(".plot:has(.scatterlayer .point):has(.legend .traces)").first
    plot.scroll_into_view_if_needed()
    ranges = "plot => JSON.stringify([plot._fullLayout.xaxis.range, plot._fullLayout.yaxis.range])"
    before = plot.evaluate(ranges)
    plot.locator(".scatterlayer .point").first.hover(force=True)
    plot.locator(".hoverlayer .hovertext").first.wait_for()
    box = plot.locator(".nsewdrag").first.bounding_box()
    x, y, w, h = (box[side] for side in ("x", "y", "width", "height"))
    page.mouse.move(x + w * 0.3, y + h * 0.3)
    page.mouse.down()
    page.mouse.move(x + w * 0.7, y + h * 0.7, steps=5)
    page.mouse.up()
    page.wait_for_timeout(400)
    assert plot.evaluate(ranges) != before, "dragging zooms"
    page.mouse.dblclick(x + w * 0.5, y + h * 0.5)
    page.wait_for_timeout(700)
    assert plot.evaluate(ranges) == before, "a double click goes back"
    shown = "plot => plot._fullData.filter((trace) => trace.visible === true).length"
    lines = plot.evaluate(shown)
    plot.locator(".legendtoggle").first.click()
    page.wait_for_timeout(700)
    assert plot.evaluate(shown) == lines - 1, "a click on a name hides its line"
    plot.locator(".legendtoggle").first.click()
    page.wait_for_timeout(700)
    logs = "plots => plots.filter((plot) => plot._fullLayout.xaxis.type === 'log').length"
    assert page.locator("[data-plot]").evaluate_all(logs) > 0, "sizes that span decades stand on a logarithmic axis"


def chooser_answers(page: Page, binary: str, results: Path) -> int:
    """Tries every combination of options. For some of them it also runs `advise`, whose answer must be the same."""
    form, answer = page.locator("#chooser-form"), page.locator("#chooser-answer")
    options = {name: form.locator(f"[name={name}] option").evaluate_all("all => all.map((o) => o.value)") for name in ("bytes", "sessions", "hardware")}
    needs = ("ad", "misuse", "commit")
    asked = 0
    for bytes_, sessions, hardware, *boxes in itertools.product(*options.values(), *[(False, True)] * 3):
        page.evaluate(
            """([bytes, sessions, hardware, boxes]) => {
              const form = document.getElementById('chooser-form');
              Object.assign(form.elements.bytes, { value: bytes });
              Object.assign(form.elements.sessions, { value: sessions });
              Object.assign(form.elements.hardware, { value: hardware });
              for (const [name, on] of Object.entries(boxes)) form.elements[name].checked = on;
              form.dispatchEvent(new Event('change'));
            }""",
            [bytes_, sessions, hardware, dict(zip(needs, boxes))],
        )
        said = answer.inner_text()
        assert said.startswith("Use ") and "GB/s" in said, said
        asked += 1
        if asked % 23 == 1:
            words = [binary, "advise", "--json", "--results", results, "--bytes", bytes_, "--sessions", sessions]
            words += ["--no-hardware"] * (hardware == "0") + [f"--{need}" for need, on in zip(needs, boxes) if on]
            advice = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
            parts = [advice["suite"], advice["scheme_words"], *advice["why"], *advice["mind"], *itertools.chain(*advice["numbers"])]
            assert all(part in said for part in parts), f"{advice}\n{said}"
    # And once as a user would.
    form.locator("[name=hardware]").select_option("0")
    form.get_by_label("open under one key only").check()
    assert "commit" in answer.inner_text()
    return asked


def main() -> int:
    binary, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    results, report = folder / "results", folder / "report"
    folder.mkdir(parents=True, exist_ok=True)
    where = ["--results", results, "--report", report]
    keep = "--keep" in sys.argv and (results / "bench.json").exists()
    run = ["report"] if keep else ["study", "all", "--quick", "-q"]
    subprocess.run([binary, *run, *where], check=True, stdout=subprocess.DEVNULL)
    schema = Draft202012Validator(json.loads((ROOT / "docs/results.schema.json").read_text()))
    documents = sorted(results.glob("*.json"))
    for document in documents:
        schema.validate(json.loads(document.read_text()))
    for line in (results / "journal.jsonl").read_text().splitlines():
        schema.validate(json.loads(line))
    print(f"{len(documents)} documents of results are as docs/results.schema.json says")

    chromium = shutil.which("chromium")
    if chromium is None:
        print("skipped: the page in a browser: chromium is not installed (Debian: apt install chromium)")
        return 0
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for (width, size), scheme in itertools.product(WIDTHS.items(), ("light", "dark")):
            viewport = {"width": size[0], "height": size[1]}
            context = browser.new_context(viewport=viewport, color_scheme=scheme, has_touch=width == "phone", offline=True)
            page = opened(context, report / "index.html", complaints)
            empty = page.evaluate(EMPTY)
            assert not empty, f"plots without a visible trace: {empty}"
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert over <= 0, f"{width}: {over} pixels too wide"
            faint = page.evaluate(FAINT)
            assert not faint, f"{scheme}: too little contrast: {faint}"
            page.screenshot(path=folder / f"{width}-{scheme}.png", full_page=True)
            page.screenshot(path=folder / f"{width}-{scheme}-first.png")
            if (width, scheme) == ("wide", "light"):
                print(f"{page.locator('[data-plot]').count()} plots are drawn")
                plots_live(page)
                print(f"{chooser_answers(page, binary, results)} questions are answered")
                page.pdf(path=folder / "page.pdf", format="A4")
            context.close()
        subprocess.run([binary, "report", "--compare", results, results, "--report", report], check=True, stdout=subprocess.DEVNULL)
        context = browser.new_context(viewport={"width": 390, "height": 844}, offline=True)
        page = context.new_page()
        page.goto((report / "compare.html").as_uri())
        assert page.locator("table").count() > 2
        page.screenshot(path=folder / "compare.png")
        browser.close()
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
