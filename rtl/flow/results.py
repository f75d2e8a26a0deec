# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks that the stored results are of the present sources. If not, synthesis or the regression must run again."""

from . import closure, netlist, regression, synth
from .tools import RTL


def check():
    """Fails if a result is of other sources, or if a hash of the sources does not detect a change."""
    netlist.check()
    synth.check()
    closure.check([core for core in (*synth.cores(), synth.BUS)
                   if core.lanes == 1 and (core.cipher == "aes128" or core.mode == "gcm")])
    stale = [path.name for path in synth.stale()] + ["regression.json"] * regression.stale()
    if stale:
        raise SystemExit(f"void, since the sources have changed: {', '.join(stale)}\nhint: run python -m flow synth, or full")
    count = len(list((RTL / "results").glob("*.json")))
    if not count:
        print("results: skipped, there are none; python -m flow synth, or full, makes them")
        return
    print(f"results: {count}, all belong to these sources")
    if lacks := regression.lacks():
        print(f"regression.json is not complete: {lacks}; python -m flow full continues it")
