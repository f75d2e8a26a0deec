"""The simulations: a reduced set for the test command, and the full set, which writes results/regression.json."""

import json
import time

from . import coverage, sim
from .cores import Core
from .synth import sources_sha256
from .tools import BUILD, RTL

REDUCED = [
    (Core("gcm", "aes128", 4), 40_000),
    (Core("ocb", "serpent", 2, cut=1), 20_000),
    (Core("gcm", "aes256", 1, "composite", 2, depth=3), 4_000),
]

FULL = [
    (Core("gcm", "aes128", 4, "rom", 3), 300_000),
    (Core("ocb", "aes128", 4, "rom", 3), 300_000),
    (Core("gcm", "serpent", 4, cut=1), 150_000),
    (Core("ocb", "serpent", 4, cut=1), 150_000),
    (Core("ocb", "aes256", 2, "rom", 2), 40_000),
    (Core("gcm", "aes256", 2, "rom", 1), 40_000),
    (Core("gcm", "aes128", 1, "composite", 3), 20_000),
    (Core("ocb", "aes128", 1), 40_000),
    (Core("gcm", "aes128", 2), 40_000),
    (Core("ocb", "serpent", 1), 20_000),
    *[(Core("gcm", "aes128", 1, "table", 1, depth=depth), 20_000) for depth in (1, 2, 4, 5)],
]

SIZES = [64, 128, 256, 512, 1024, 1500, 4096, 9000]


def run(generator, full=False):
    """Simulates every core of the set with vectors and random packets. The harness checks every byte, tag and verdict."""
    BUILD.mkdir(exist_ok=True)
    (RTL / "results").mkdir(exist_ok=True)
    rows = []
    for core, blocks in FULL if full else REDUCED:
        start = time.time()
        covered = full and core.lanes == 4
        program, known, counts = sim.check(core, generator, blocks, coverage=covered)
        row = {"core": core.name, "ghash_depth": core.depth, "vectors": known and known["packets"], **counts}
        if full and core.lanes == 4:
            paces = {size: sim.pace(program, core, generator, size) for size in SIZES}
            row["bits_per_cycle"] = {size: round(bits, 1) for size, (bits, _) in paces.items()}
            row["latency_cycles"] = min(latency for _, latency in paces.values())
        if covered:
            row["fsm"] = coverage.of(core)
        rows.append(row)
        print(f"{core.name}: {counts['packets']} packets, {counts['blocks']} blocks, {counts['opened']} opened, "
              f"{counts['forged']} forged, {counts['keys']} keys, {time.time() - start:.0f} s", flush=True)
        if full:
            write(rows)
    lines = sim.bus(generator, 1_000_000 if full else 2_000)
    print(f"shu: {lines}", flush=True)
    if full:
        write(rows, lines)


def write(rows, lines=None):
    """Writes the results so far."""
    result = {"what": "bulk simulation, every byte, tag and verdict checked against the library",
              "sources_sha256": sources_sha256(), "cores": rows,
              "shu": lines and {**lines, "sources_sha256": sources_sha256(bus=True)}}
    (RTL / "results" / "regression.json").write_text(json.dumps(result, indent=1) + "\n")
