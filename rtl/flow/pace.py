# SPDX-License-Identifier: MIT OR Apache-2.0
"""Simulates back-to-back packets of equal length, and measures cycles per packet: the table in docs/CORES.md."""

from . import sim
from .cores import Core
from .tools import BUILD

# Bytes of text, bytes of associated data, and the number of slots that packets use in turn.
ROWS = [(64, 0, 1), (64, 28, 4), (256, 0, 1), (256, 28, 4), (1500, 0, 1), (1500, 28, 4), (9000, 0, 1)]
# The reduced regression has already built these models. Registers inside a round affect only the latency.
CORES = [Core("gcm", "aes128", 4), Core("ocb", "serpent", 2, cut=1)]
ETHERNET = 8 + 4 + 12  # bytes on the wire beside packet and tag: preamble, check sequence, gap


def steady(program, core, generator, text, ad=0, slots=1, way="seal"):
    """Cycles per packet once the pipelines are full: from the difference of two runs, so that latency does not count."""
    few = max(20, 40_000 // (text + ad + 64))
    total = []
    for packets in (few, 3 * few):
        total.append(sim.pace(program, core, generator, text, ad, slots, way, packets=packets)["moving"])
    return (total[1] - total[0]) / (2 * few)


def latencies(program, core, generator):
    """Cycles from a command to its packet's text, and from the last beat of text to the verdict, with nothing in the way: those of packets
    of one beat, of which the first has a nonce that OCB has to encrypt."""
    counts = sim.pace(program, core, generator, 16 * core.lanes, packets=20)
    return {name: counts[name] for name in ("from_command", "to_verdict")}


def table(generator):
    """Prints a row for each shape, and the clock at which such packets fill 100 Gbit/s of the wire."""
    BUILD.mkdir(exist_ok=True)
    for core in CORES:
        program = sim.model(core)
        found = latencies(program, core, generator)
        print(f"{core.name}, {128 * core.lanes} bits a cycle, text {found['from_command']} cycles after the command, verdict "
              f"{found['to_verdict']} after the text")
        for text, ad, slots in ROWS:
            seal, opened = (steady(program, core, generator, text, ad, slots, way) for way in ("seal", "open"))
            clock = 100e9 / (8 * (text + ad + core.tag + ETHERNET)) * max(seal, opened) / 1e6
            print(f"{text:5} bytes, {ad:2} of associated data, {slots} slots: sealed {seal:6.2f} cycles, opened {opened:6.2f}; "
                  f"{8 * text / seal:5.1f} bits a cycle; 100 Gbit/s at {clock:.1f} MHz", flush=True)
