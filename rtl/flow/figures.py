# SPDX-License-Identifier: MIT OR Apache-2.0
"""The figures of a result of synthesis: from the cells of a netlist, from reports of nextpnr, and over seeds."""

import json
import math

from .tools import RTL


def lut4(cells):
    """The lookup tables of an ECP5 that nextpnr uses for these cells: two for a carry of two bits, and six for a memory of 16 words of
    four bits, of which two are its write port."""
    return cells.get("LUT4", 0) + 2 * cells.get("CCU2C", 0) + 6 * cells.get("TRELLIS_DPR16X4", 0)


def routed():
    """The stored results of place and route, by their paths."""
    return {path: json.loads(path.read_text()) for path in sorted((RTL / "results").glob("ecp5*.json"))}


def recount():
    """Computes the lookup tables of every stored result again from its cells."""
    for path, found in routed().items():
        if found["lut4"] != lut4(found["cells"]):
            print(f"{path.name}: lut4 {found['lut4']}, now {lut4(found['cells'])}", flush=True)
            path.write_text(json.dumps({**found, "lut4": lut4(found["cells"])}, indent=1) + "\n")


def clock(report):
    """The clock in a report of nextpnr, in MHz."""
    return round(min(clock["achieved"] for clock in report["fmax"].values()), 1)


def slowest(report):
    """The path that limits that clock: its first and last cell, the number of lookup tables and carries, and each wire."""
    name = min(report["fmax"], key=lambda one: report["fmax"][one]["achieved"])
    # Paths from one clock to another have entries of their own
    found = [one["path"] for one in report["critical_paths"] if {one["from"].split(" ", 1)[-1], one["to"].split(" ", 1)[-1]} == {name}]
    if not found:
        return None
    steps = max(found, key=lambda path: sum(step["delay"] for step in path))
    return {
        "ns": round(sum(step["delay"] for step in steps), 2),
        "from": steps[0]["from"]["cell"],
        "to": steps[-1]["to"]["cell"],
        "logic": sum(step["type"] == "logic" for step in steps),
        "wires": [[step["net"], round(step["delay"], 2)] for step in steps if step["type"] == "routing"],
    }


def check():
    """Fails unless `clock` and `slowest` extract the slowest clock and its path, with every wire, from a report, and unless every stored
    number of lookup tables is that of the stored cells."""
    def step(kind, delay, cells, **more):
        return {"type": kind, "delay": delay, "from": {"cell": cells[0]}, "to": {"cell": cells[1]}, **more}

    path = [step("clk-to-q", 0.5, "aa"), step("routing", 3.1, "ab", net="ready"), step("logic", 0.2, "bb"),
            step("routing", 0.7, "bc", net="enable"), step("setup", 0.0, "cc")]
    fast = [step("clk-to-q", 0.5, "xx"), step("setup", 0.0, "xx")]
    report = {"fmax": {"fast": {"achieved": 500.0}, "slow": {"achieved": 222.24}},
              "critical_paths": [{"from": f"posedge {name}", "to": f"posedge {end}", "path": steps}
                                 for name, end, steps in (("fast", "fast", fast), ("fast", "slow", 9 * path), ("slow", "slow", path))]}
    wanted = {"ns": 4.5, "from": "a", "to": "c", "logic": 1, "wires": [["ready", 3.1], ["enable", 0.7]]}
    if (clock(report), slowest(report)) != (222.2, wanted):
        raise SystemExit(f"wrong figures from a report of nextpnr: {clock(report)} MHz, {slowest(report)}")
    wrong = [path.name for path, found in routed().items() if found["lut4"] != lut4(found["cells"])]
    if wrong:
        raise SystemExit(f"lut4 is not that of the cells: {', '.join(wrong)}\nhint: run python -m flow results --recount")


def interval(values):
    """The narrowest pair of order statistics that contains the median with a confidence of 95 % or more, for any distribution.
    Fewer than six values have none."""
    ordered, n = sorted(values), len(values)
    outside = [2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n for k in range(n // 2)]
    within = [k for k, share in enumerate(outside) if share <= 0.05]
    return (ordered[within[-1]], ordered[n - 1 - within[-1]]) if within else (None, None)
