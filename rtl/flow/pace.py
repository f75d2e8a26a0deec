# SPDX-License-Identifier: MIT OR Apache-2.0
"""Bits of text per cycle and cycles per packet in simulation, of packets of equal length: the table of docs/CORES.md."""

from . import sim
from .cores import Core
from .tools import BUILD

# Text, associated data, and slots in turn.
GCM = [(64, 0, 1), (64, 28, 4), (256, 0, 1), (256, 28, 4), (1500, 0, 1), (1500, 28, 4), (9000, 0, 1)]
OCB = [(64, 0, 1), (64, 28, 4), (1500, 28, 4)]
# The reduced regression has built these models already.
CORES = [(Core("gcm", "aes128", 4), GCM, 1000), (Core("ocb", "serpent", 2, cut=1), OCB, 400)]


def table(generator):
    """Prints a row for each shape. Of GCM's packets of 1500 bytes and more there are a fifth as many."""
    BUILD.mkdir(exist_ok=True)
    for core, shapes, packets in CORES:
        program = sim.model(core)
        print(f"{core.name}, out of {128 * core.lanes} bits a cycle")
        for text, ad, slots in shapes:
            count = packets if text < 1500 or core.mode == "ocb" else packets // 5
            bits, cycles, latency = sim.pace(program, core, generator, text, ad, slots, packets=count)
            print(f"{text:5} bytes, {ad:2} of associated data, {slots} slots: {bits:6.1f} bits a cycle, "
                  f"{cycles:7.2f} cycles a packet, latency {latency}", flush=True)
