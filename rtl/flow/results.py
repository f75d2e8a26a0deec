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
    with_bus = sources_sha256(bus=True)

    def belongs(result):
        """The regression's log has the bus unit's run too, of the bus unit's sources."""
        return result["sources_sha256"] == ours and (
            "shu" not in result or (result["shu"] or {}).get("sources_sha256") == with_bus
        )

    stale = [path.name for path in paths if not belongs(json.loads(path.read_text()))]
    if stale:
        raise SystemExit(f"of other sources than these: {', '.join(stale)}; python -m flow synth, or full, makes them anew")
    print(f"results: {len(paths)}, all of these sources")
