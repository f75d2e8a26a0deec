# SPDX-License-Identifier: MIT OR Apache-2.0
"""A cycle model of a design for 400 and 800 Gbit/s: four-lane engines on a segmented bus. This hardware does not exist.

A bus beat has one 64-byte segment per engine. A packet can begin in any segment, so that a beat can contain several. A whole
packet goes to the engine with the shortest queue, or to the one that has its key; each engine takes one segment a cycle, as the
four-lane cores do. A collector restores the order of the packets, and sends as many segments a cycle as the bus has.
"""

import random
from collections import deque
from itertools import accumulate

LATENCY = 80  # cycles of an engine, from a segment to its text
QUEUE = 160  # capacity of the queue before each engine, in segments: a jumbo frame
ORDER = 4096  # most segments in the engines, their queues and the collector
KEY = 1408 + 3200  # bits of a key of AES-128 in an engine: its round keys, and 25 powers of H
WIRE = 16 + 8 + 4 + 12  # bytes that a packet has on the wire besides its data: tag, preamble, check sequence, gap


def steady(engines, lengths, ad, packets=4_000, keys=None):
    """Segments and wire bits per cycle once the pipelines are full: from the difference of two runs, so that latency does not
    count."""
    few, many = (run(engines, lengths, ad, n, keys and keys()) for n in (packets, 3 * packets))
    segments, wire, cycles = (more - less for more, less in zip(many, few, strict=True))
    return segments / cycles, wire / cycles


def run(engines, lengths, ad, packets, keys=None):
    """Packets of the `lengths` in turn, each with `ad` bytes of associated data: segments, bits on the wire, and cycles. `keys`
    draws a packet's key, whose engine takes the packet; without it every engine has every key."""
    sizes = [max(1, -(-(-(-ad // 16) - (-length // 16)) // 4)) for length in lengths]
    waiting = [deque() for _ in range(engines)]
    sent = done = cycle = held = 0
    left, target = sizes[0], 0
    ends = {}
    out_left, out = sizes[0], 0
    while done < packets:
        # In: as many segments as the bus has, as long as the queue and the order have room.
        for _ in range(engines):
            if sent == packets or held >= ORDER:
                break
            if left == sizes[sent % len(sizes)]:
                target = keys() % engines if keys else min(range(engines), key=lambda engine: len(waiting[engine]))
            if len(waiting[target]) >= QUEUE:
                break
            left -= 1
            held += 1
            waiting[target].append(sent if left == 0 else None)
            if left == 0:
                sent += 1
                left = sizes[sent % len(sizes)]
        for queue in waiting:
            if queue:
                last = queue.popleft()
                if last is not None:
                    ends[last] = cycle + LATENCY
        # Out: in order, whole packets that have come out of their engine.
        for _ in range(engines):
            if out == packets or ends.get(out, cycle) >= cycle or out not in ends:
                break
            out_left -= 1
            held -= 1
            if out_left == 0:
                del ends[out]
                out += 1
                done += 1
                out_left = sizes[out % len(sizes)]
        cycle += 1
    segments = sum(sizes[number % len(sizes)] for number in range(packets))
    wire = sum(8 * (lengths[number % len(lengths)] + ad + WIRE) for number in range(packets))
    return segments, wire, cycle


KINDS = (("64 bytes", [64]), ("128 bytes", [128]), ("512 bytes", [512]), ("1500 bytes", [1500]), ("9000 bytes", [9000]),
         ("7 of 64, 4 of 594, 1 of 1518", [64] * 7 + [594] * 4 + [1518]))


def drawn(count, skewed):
    """A function that starts a sequence of random keys 0 to `count` - 1: with equal probability or, if `skewed`, with that of
    key n proportional to 1 / (n + 1). The sequence is the same each time."""
    numbers = range(count)
    shares = list(accumulate(1 / (n + 1) for n in numbers)) if skewed else None

    def begin():
        draw = random.Random(1)
        return lambda: draw.choices(numbers, cum_weights=shares)[0]

    return begin


def table():
    """Prints the clock that is needed for each rate, by kind of packets; and with each key in only one engine."""
    print(f"{'packets':>28} {'4 engines: segments a cycle':>28} {'MHz for 400 Gbit/s':>19} {'8: segments':>12} {'MHz for 800':>12}")
    for name, lengths in KINDS:
        (four, wire4), (eight, wire8) = steady(4, lengths, 28), steady(8, lengths, 28)
        print(f"{name:>28} {four:>28.2f} {400e3 / wire4:>19.0f} {eight:>12.2f} {800e3 / wire8:>12.0f}")
    print(f"\n{'keys, each in one engine':>28} {'4 engines: segments a cycle':>28} {'MHz for 400 Gbit/s':>19} {'MB of keys':>12}")
    for count in (64, 4096, 65536):
        for skewed in (False, True):
            segments, wire = steady(4, KINDS[-1][1], 28, packets=20_000, keys=drawn(count, skewed))
            name = f"{count}, key n by 1 / n" if skewed else f"{count}, all alike"
            print(f"{name:>28} {segments:>28.2f} {400e3 / wire:>19.0f} {count * KEY / 8e6:>12.2f}")
