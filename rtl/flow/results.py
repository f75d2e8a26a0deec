# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks that the stored results belong to these sources. If not, synthesis or the regression must run again."""

from . import closure, netlist, regression, synth
from .tools import RTL


def check():
    """Fails if a result belongs to other sources, or if a hash of sources misses a change."""
    netlist.check()
    synth.check()
    closure.check([core for core in (*synth.cores(), synth.BUS)
                   if core.lanes == 1 and (core.cipher == "aes128" or core.mode == "gcm")])
    stale = [path.name for path in synth.stale()] + ["regression.json"] * regression.stale()
    if stale:
        raise SystemExit(f"results of other sources: {', '.join(stale)}; python -m flow synth, or full, makes them again")
    count = len(list((RTL / "results").glob("*.json")))
    if not count:
        print("results: skipped, there are none yet; python -m flow synth, or full, makes them")
        return
    print(f"results: {count}, all belong to these sources")
    if lacks := regression.lacks():
        print(f"regression.json is not whole: {lacks}; python -m flow full goes on")
