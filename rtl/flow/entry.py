# SPDX-License-Identifier: MIT OR Apache-2.0
"""The simulation of one core for the log of the full regression, and what its counts must be."""

import time

from . import closure, coverage, pace, sim

# Bytes of text, bytes of associated data, the number of slots that packets use in turn, and direction.
PACKETS = [(text, ad, slots, way) for text, ad in ((64, 0), (64, 28), (256, 28), (1500, 28)) for slots in (1, 4)
          for way in ("seal", "open")]
SIZES = [64, 128, 256, 512, 1024, 1500, 4096, 9000]


def row(core, generator, blocks, full):
    """Simulates a core; returns its entry in the log."""
    start = time.time()
    covered = full and core.lanes == 1 and core.slots == 4  # the routed cores; toggle coverage of four lanes takes hours
    program, known, counts = sim.check(core, generator, blocks, coverage=covered, wycheproof=full)
    bits = f"{8 * core.tag} of {8 * core.tag}"
    if core.opens and counts["tag_bits"] != bits:
        raise SystemExit(f"{counts['tag_bits']} bits of a tag were wrong alone, not {bits}")
    # One packet a cycle; in OCB 64 packets need one block for their nonces, in the place of one for a tag.
    if not core.hold and (cycles := pace.steady(program, core, generator, 16 * core.lanes)) > 1.1:
        raise SystemExit(f"packets of one beat take {cycles:.2f} cycles")
    found = {"core": core.name, "parameters": core.folder, "ghash_depth": core.depth,
             "vectors": known["packets"], **counts, **pace.latencies(program, core, generator), "tests_sha256": closure.tests()}
    if full and core.lanes == 4:
        cycles = {size: pace.steady(program, core, generator, size) for size in SIZES}
        found["bits_per_cycle"] = {size: round(8 * size / cycles[size], 1) for size in SIZES}
        found["shapes"] = [
            {"text": text, "ad": ad, "slots": slots, "way": way, "bits_per_cycle": round(8 * text / cycles, 1),
             "cycles_per_packet": round(cycles, 2)}
            for text, ad, slots, way in PACKETS
            for cycles in [pace.steady(program, core, generator, text, ad, slots, way)]
        ]
    if covered:
        found["coverage"] = coverage.of(core)
    print(f"{core.name}: {counts['packets']} packets, {counts['blocks']} blocks, {counts['opened']} opened, {counts['forged']} forged, "
          f"{counts['keys']} keys, {counts['keys_in_flight']} of them beside packets in flight, {time.time() - start:.0f} s", flush=True)
    return found
