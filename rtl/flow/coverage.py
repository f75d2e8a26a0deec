"""FSM coverage of a simulation: the states and transitions that occurred."""

import re

from .tools import BUILD


def of(core):
    """States and arcs, covered and in total, from the coverage file that the harness wrote."""
    path = BUILD / f"{core.name}.dat"
    counts = {"states": [0, 0], "arcs": [0, 0]}
    missing = []
    seen = {}
    for line in path.read_text(errors="replace").splitlines():
        match = re.match(r"C '(.*)' (\d+)$", line)
        if match and "fsm" in match[1]:
            seen[match[1]] = seen.get(match[1], 0) + int(match[2])
    for point, hits in seen.items():
        kind = "arcs" if "arc" in point else "states"
        counts[kind][1] += 1
        counts[kind][0] += hits > 0
        if not hits:
            missing.append(re.sub(r"[\x01\x02]", " ", point))
    return {**{kind: f"{hit} of {all_}" for kind, (hit, all_) in counts.items() if all_}, "missing": missing}
