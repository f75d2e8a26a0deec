"""Checks that the stored results belong to these sources. If not, synthesis or the regression must run again."""

import json

from .synth import sources_sha256
from .tools import RTL


def check():
    """Fails if a result belongs to other sources."""
    ours = sources_sha256()
    paths = sorted((RTL / "results").glob("*.json"))
    if not paths:
        print("results: skipped, there are none yet; python -m flow synth, or full, makes them")
        return
    with_bus = sources_sha256(bus=True)

    def belongs(result):
        """The log of the regression also contains the run of the bus unit, with the hash of the bus unit's sources."""
        return result["sources_sha256"] == ours and (
            "shu" not in result or (result["shu"] or {}).get("sources_sha256") == with_bus
        )

    stale = [path.name for path in paths if not belongs(json.loads(path.read_text()))]
    if stale:
        raise SystemExit(f"results of other sources: {', '.join(stale)}; python -m flow synth, or full, makes them again")
    print(f"results: {len(paths)}, all belong to these sources")
