"""Committed results belong to the sources that are here, or somebody must run the synthesis again."""

import json

from .synth import sources_sha256
from .tools import ROOM


def check():
    """Fails for a result of other sources."""
    ours = sources_sha256()
    paths = sorted((ROOM / "results").glob("*.json"))
    if not paths:
        print("results: skipped, there are none yet: python -m flow synth, or full, makes them")
        return
    stale = []
    for path in paths:
        result = json.loads(path.read_text())
        bus = result.get("shu")
        if result["sources_sha256"] != ours or (bus and bus["sources_sha256"] != sources_sha256(bus=True)):
            stale.append(path.name)
    if stale:
        raise SystemExit(f"of other sources than these: {', '.join(stale)}; python -m flow synth, or full, makes them anew")
    print(f"results: {len(paths)}, all of these sources")
