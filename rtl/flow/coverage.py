# SPDX-License-Identifier: MIT OR Apache-2.0
"""Coverage of a simulation: lines, branches and toggles that occurred."""

import re

from . import sim
from .cores import Core
from .tools import BUILD

CORES = [Core("gcm", "aes128", 1), Core("ocb", "aes128", 1)]

FIELD = re.compile(r"\x01(\w+)\x02([^\x01]*)")


def table(generator, blocks):
    """Runs a core of each mode with `blocks` random blocks and prints what they covered."""
    BUILD.mkdir(exist_ok=True)
    for core in CORES:
        sim.check(core, generator, blocks, coverage=True)
        found = of(core)
        missing = found.pop("missing")
        print(f"{core.name}: " + ", ".join(f"{kind} {points}" for kind, points in found.items()))
        for point in missing:
            print(f"  never: {point}")


def of(core):
    """For each kind, how many points of how many were covered, from the coverage file that the harness wrote. A point of a module
    counts once, however many instances there are. Lines and branches that never occurred are named."""
    hits = {}
    for line in (BUILD / f"{core.name}.dat").read_text(errors="replace").splitlines():
        match = re.match(r"C '(.*)' (\d+)$", line)
        if not match:
            continue
        fields = dict(FIELD.findall(match[1]))
        kind = fields.get("page", "").split("/")[0].removeprefix("v_")
        place = (kind, fields.get("f", "").split("/")[-1], fields.get("l", ""), fields.get("o", ""))
        hits[place] = hits.get(place, 0) + int(match[2])
    kinds = sorted({place[0] for place in hits})
    return {
        **{kind: f"{sum(n > 0 for p, n in hits.items() if p[0] == kind)} of {sum(p[0] == kind for p in hits)}" for kind in kinds},
        "missing": sorted(f"{name}:{line} {kind} {what}".strip() for (kind, name, line, what), count in hits.items()
                          if not count and kind != "toggle"),
    }
