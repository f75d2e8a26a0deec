# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks that the stored results are of the present sources. If not, synthesis or the regression must run again."""

from . import circuit, closure, figures, netlist, regression, synth
from .tools import RTL, skipped


def check():
    """Fails if a result is of other sources, or if a hash of the sources does not detect a change."""
    netlist.check()
    circuit.check()
    figures.check()
    synth.check()
    closure.check([core for core in (*synth.cores(), synth.BUS)
                   if core.lanes == 1 and (core.cipher == "aes128" or core.mode == "gcm")])
    stale = [path.name for path in synth.stale()] + ["regression.json"] * regression.stale()
    if stale:
        raise SystemExit(f"void, since the sources have changed: {', '.join(stale)}\nhint: run python -m flow synth, or full")
    count = len(list((RTL / "results").glob("*.json")))
    if not count:
        return skipped("there are no results of synthesis; python -m flow synth, or full, makes them")
    print(f"results: {count}, all belong to these sources")
    if lacks := regression.lacks():
        skipped(f"regression.json is not complete: {lacks}; python -m flow full continues it")
