"""The tour: every Python block of docs/PYTHON.md, one after the other, in an empty folder."""

import re
from pathlib import Path

TOUR = Path(__file__).parents[2] / "docs" / "PYTHON.md"


def test_the_tour(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", TOUR.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    names = {}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"{TOUR.name}, block {number}", "exec"), names)
