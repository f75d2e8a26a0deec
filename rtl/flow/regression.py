# SPDX-License-Identifier: MIT OR Apache-2.0
"""The simulations: a reduced set for the test command, and the full set, which writes results/regression.json."""

import json

from . import closure, entry, erase, mutate, prove, sim, whole
from .cores import Core
from .synth import cores as synthesised
from .synth import estimated, names
from .tools import BUILD, RTL

REDUCED = [
    (Core("ocb", "serpent", 2, cut=1), 20_000),
    (Core("gcm", "aes128", 4), 40_000),
    (Core("ocb", "aes128", 1, tag=8), 4_000),
    (Core("gcm", "aes256", 1, "rom", 2, depth=3, hold=1000, tag=12, number=9), 4_000),
]

# The cores with four lanes of the area estimates, those with one lane of place and route, and then other parameters.
FULL = [
    *sorted(((core, 300_000 if core.cipher == "aes128" else 150_000) for core in estimated() if core.mode != "cipher"),
            key=lambda one: (one[0].mode == "ocb" and one[0].cipher == "aes128")),  # the longest to compile comes last
    *[(core, 40_000) for core in synthesised() if core.mode != "cipher" and core.lanes == 1],
    (Core("ocb", "aes256", 2, "rom", 2), 40_000),
    (Core("gcm", "aes256", 2, "rom", 1, hold=4096), 40_000),
    (Core("gcm", "aes128", 1, "composite", 3, slots=1), 20_000),
    (Core("ocb", "aes128", 1, opens=0), 40_000),
    (Core("ocb", "aes128", 4, hold=1024), 40_000),
    (Core("gcm", "aes128", 2), 40_000),
    (Core("ocb", "serpent", 1), 20_000),
    (Core("ocb", "serpent", 1, cut=1, tag=12), 20_000),
    *[(Core("gcm", "aes128", 1, tag=tag), 10_000) for tag in (4, 8, 12, 13, 14, 15)],
    *[(Core("gcm", "aes128", 1, "table", 1, depth=depth), 20_000) for depth in (1, 2, 4, 5)],
    (Core("gcm", "aes128", 1, slots=16), 20_000),
    (Core("ocb", "aes128", 1, slots=32), 20_000),
    (Core("gcm", "aes128", 4, number=9), 40_000),
    (Core("ocb", "aes128", 2, hold=4096, number=12), 20_000),
    (Core("gcm", "serpent", 1, slots=1, number=16), 20_000),
]
# Other nodes and pads of the bus unit than the synthesised ones, and the lines for each.
BUSES = [{"Nodes": 16, "Pads": 2}, {"Nodes": 8, "Pads": 64}, {"Nodes": 32, "Pads": 3}]
FEW = 3_000


def run(generator, full=False, only=(), lines_of_bus=100_000, mutants=0, jobs=1):
    """Simulates the cores of the set whose names contain one of `only`, or all, with vectors and random packets, and the bus unit
    with `lines_of_bus` lines. The harness checks every byte, tag and verdict. The full set ends with `mutants` mutants, `jobs` at a
    time. Results for these sources that the log already contains are kept."""
    BUILD.mkdir(exist_ok=True)
    rows, lines, score = before() if full else ({}, None, None)
    if not lines or lines["lines"] < lines_of_bus:
        lines = {**sim.bus(generator, lines_of_bus if full else 2_000), "tests_sha256": closure.tests(bus=True)}
        if full:
            lines["others"] = [{**more, **sim.bus(generator, FEW, more=more)} for more in BUSES]
        print(f"shu: {lines}", flush=True)
    if full:
        write(rows, lines, score)
    failed = []
    for core, blocks in FULL if full else REDUCED:
        if core.folder in rows or (only and not any(word in core.folder for word in only)):
            continue
        try:
            rows[core.folder] = entry.row(core, generator, blocks, full)
        except SystemExit as error:  # the other cores run nevertheless
            print(f"{core.name}: {error}", flush=True)
            failed.append(core.name)
            continue
        if full:
            write(rows, lines, score)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")
    if not only:
        erase.check([*erase.CORES, *(erase.MORE if full else [])], planted=full)
    if full and not only:
        prove.check(longer=True)
        whole.check(longer=2, conflicts=60_000)  # deeper than `flow prove`
    if full and mutants and not only:
        mutated(generator, mutants, jobs)


def mutated(generator, mutants, jobs):
    """Tests mutants of all files, and writes the score to the log, if the log is of these sources."""
    score = {**mutate.check(generator, mutants, jobs), "sources_sha256": mutate.about()}
    found = json.loads(LOG.read_text()) if LOG.exists() else {}
    if found.get("sources_sha256") == closure.simulated():
        LOG.write_text(json.dumps({**found, "mutants": score}, indent=1) + "\n")


LOG = RTL / "results" / "regression.json"


def stale():
    """Whether the log exists and is of other sources."""
    found = json.loads(LOG.read_text()) if LOG.exists() else None
    return bool(found) and (found["sources_sha256"] != closure.simulated()
                            or (found["shu"] or {}).get("sources_sha256") != closure.simulated("bus"))


def lacks():
    """Describes what the log lacks of the full set, or has from a former version of the tests; empty if it is complete."""
    found = json.loads(LOG.read_text()) if LOG.exists() else {"cores": [], "mutants": None}
    now, rows = closure.tests(), {row["parameters"]: row for row in found["cores"]}
    missing = [core.folder for core, _ in FULL if core.folder not in rows]
    former = [name for name, row in rows.items() if row.get("tests_sha256") != now]
    former += ["shu"] * (found["shu"].get("tests_sha256") != closure.tests(bus=True))
    words = [f"{len(missing)} of {len(FULL)} cores are missing"] * bool(missing)
    words += [f"{len(former)} were simulated with a former version of the tests"] * bool(former)
    score = found["mutants"] or {}
    words += ["the mutants are of former sources or tests"] * bool(score and score.get("sources_sha256") != mutate.about())
    untold = len(score.get("untold", ()))
    words += [f"{untold} mutants have no verdict, as a tool failed or took too long"] * bool(untold)
    return ", ".join([*words, *["no mutants"] * (found["mutants"] is None)])


def before():
    """What the log has for these sources and tests: rows by parameters, the run of the bus unit, the score of mutants."""
    found = json.loads(LOG.read_text()) if LOG.exists() else {}
    if found.get("sources_sha256") != closure.simulated():
        return {}, None, None
    now = closure.tests()
    rows = {row["parameters"]: row for row in found["cores"] if row.get("tests_sha256") == now}
    bus = found["shu"]
    same = bus["sources_sha256"] == closure.simulated("bus")
    score = found.get("mutants") or {}
    kept = score if score.get("sources_sha256") == mutate.about() else None
    return rows, bus if same and bus.get("tests_sha256") == closure.tests(bus=True) else None, kept


def write(rows, lines, score):
    """Writes the log so far, in the order of the set."""
    result = {"what": "bulk simulation, every byte, tag and verdict checked against the library",
              "sources_sha256": closure.simulated(), "cores": [rows[core.folder] for core, _ in FULL if core.folder in rows],
              "shu": {**lines, "sources_sha256": closure.simulated("bus")}, "mutants": score}
    LOG.write_text(json.dumps(result, indent=1) + "\n")
    names()
