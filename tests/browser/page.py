"""Tests the report in a real browser: Debian's Chromium, driven by Playwright.

Usage: page.py BINARY FOLDER [--keep]

Runs every study with --quick into FOLDER/results (with --keep it uses the results that are there). Then it opens the page as a
reader would, and checks: no console errors, no network requests, every figure is drawn and its legend has no mark twice, a line for
each paper stands on the first screen, the table of claims sorts and filters, links open what they lead to, the chooser gives the same
answers as `advise`, the page is small and short enough, it does not scroll sideways on a phone, and text has enough contrast in light
and dark mode. Then the verdicts must follow from the stored figures, and must not if one is changed. Screenshots are kept in FOLDER.
"""

import itertools
import json
import os
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

# Figures without a mark, a line or a bar.
EMPTY = """() => [...document.querySelectorAll('figure')]
  .filter((figure) => !figure.querySelector('.drawing .line, .drawing .mark, .drawing .bar, .drawing .open'))
  .map((figure) => figure.id)"""

# Figures of whose legend two entries have the same mark.
ALIKE = """() => [...document.querySelectorAll('figure')]
  .filter((figure) => {
    const all = [...figure.querySelectorAll('.swatch')].map((swatch) => swatch.outerHTML);
    return new Set(all).size < all.length;
  })
  .map((figure) => figure.id)"""

# What the page may be at most: bytes, and screens of 900 pixels before anything is unfolded.
MOST_BYTES, MOST_SCREENS = 2_500_000, 12


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


def first_screen(page: Page) -> None:
    """On the first screen of a desktop stand all papers, each with its claim, what holds here, why, and a picture."""
    papers = page.locator(".paper")
    assert papers.count() == 5, papers.count()
    bottom = papers.last.evaluate("at => at.getBoundingClientRect().bottom + scrollY")
    assert bottom <= page.viewport_size["height"], f"the last paper ends at {bottom} pixels"
    for paper in papers.all():
        words = paper.inner_text()
        assert all(word in words for word in ("Claimed:", "Here:", "Why:")), words
        assert paper.locator(".picture .drawing").count() == 1
    contents = page.locator(".contents")
    page.evaluate("scrollTo(0, 3000)")
    assert contents.bounding_box()["y"] == 0, "the contents stay in sight"
    page.evaluate("scrollTo(0, 0)")


def claims_sort_and_filter(page: Page) -> int:
    """Filters by paper, kind and verdict; sorts by each column both ways; a link to a claim opens it."""
    rows, shown = page.locator("#claims-table tbody tr"), page.locator("#claims-table tbody tr:not([hidden])")
    count = rows.count()
    form = page.locator("#filters")
    form.locator("[name=study]").select_option("bus")
    assert 0 < shown.count() < count and set(shown.evaluate_all("all => all.map((row) => row.dataset.study)")) == {"bus"}
    form.locator("[name=kind]").select_option("untestable")
    assert 0 < shown.count() == page.locator("tr[data-study=bus][data-verdict=untestable]").count()
    assert f"{shown.count()} of {count} claims" in page.locator("#shown").inner_text()
    form.evaluate("form => { form.reset(); form.dispatchEvent(new Event('change')); }")
    assert shown.count() == count
    for head in page.locator("#claims-table thead button").all():
        order = "all => all.map((row) => row.id)"
        head.click()
        up = rows.evaluate_all(order)
        head.click()
        assert rows.evaluate_all(order) != up, f"{head.inner_text()} sorts both ways"
    form.locator("[name=study]").select_option("cores")
    page.locator(".plain").first.click()
    opened = page.locator("tr:target details[open]")
    opened.wait_for()
    assert opened.locator("blockquote").is_visible() and opened.locator(".evidence").count() > 0
    term = opened.locator(".term").first
    if term.count():
        term.click()
        assert page.locator(".terms div:target").is_visible(), "a word leads to what it means"
    return count


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


def verdicts_follow(binary: str, results: Path, changed: Path) -> None:
    """`report --check` agrees with the files, and no longer when a figure was changed."""
    check = [binary, "report", "--check", "--results"]
    print(subprocess.run([*check, results], check=True, capture_output=True, text=True).stdout, end="")
    shutil.copytree(results, changed, dirs_exist_ok=True)
    document = json.loads((changed / "files.json").read_text())
    for quantity in document["result"]["outcome"]["quantities"]:
        if quantity["name"].startswith("GCM : CBC/"):
            quantity["figure"] = {"median": 7.0, "low": 6.9, "high": 7.1}
    (changed / "files.json").write_text(json.dumps(document))
    found = subprocess.run([*check, changed], capture_output=True, text=True)
    assert found.returncode == 1 and "files/" in found.stdout and "hint:" in found.stderr, found


def skipped(why: str) -> None:
    """Says so; `cargo xtask` counts it, as it names a file for it."""
    print(f"skipped: {why}")
    if path := os.environ.get("SEALWRIGHT_SKIPPED"):
        with open(path, "a") as file:
            print(why, file=file)


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
    studies = ("attacks", "bench", "bus", "cores", "files", "messages", "sessions")
    assert [document.stem for document in documents] == list(studies), documents
    for document in documents:
        schema.validate(json.loads(document.read_text()))
    for line in (results / "journal.jsonl").read_text().splitlines():
        schema.validate(json.loads(line))
    print(f"{len(documents)} documents of results are as docs/results.schema.json says")

    chromium = shutil.which("chromium")
    if chromium is None:
        skipped("the page in a browser: chromium is not installed (Debian: apt install chromium)")
        return 0
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for (width, size), scheme in itertools.product(WIDTHS.items(), ("light", "dark")):
            viewport = {"width": size[0], "height": size[1]}
            context = browser.new_context(viewport=viewport, color_scheme=scheme, has_touch=width == "phone", offline=True)
            page = opened(context, report / "index.html", complaints)
            empty = page.evaluate(EMPTY)
            assert not empty, f"figures without a mark: {empty}"
            alike = page.evaluate(ALIKE)
            assert not alike, f"legends with equal marks: {alike}"
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert over <= 0, f"{width}: {over} pixels too wide"
            faint = page.evaluate(FAINT)
            assert not faint, f"{scheme}: too little contrast: {faint}"
            page.screenshot(path=folder / f"{width}-{scheme}.png", full_page=True)
            page.screenshot(path=folder / f"{width}-{scheme}-first.png")
            if (width, scheme) == ("wide", "light"):
                print(f"{page.locator('figure').count()} figures are drawn")
                size, height = (report / "index.html").stat().st_size, page.evaluate("document.documentElement.scrollHeight")
                print(f"{size} bytes, {height / 900:.1f} screens")
                assert size <= MOST_BYTES and height <= 900 * MOST_SCREENS
                first_screen(page)
                print(f"{claims_sort_and_filter(page)} claims can be sorted and filtered")
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
    verdicts_follow(binary, results, folder / "changed")
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
