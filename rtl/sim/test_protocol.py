# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests the AXI4-Streams of a core with cocotb and cocotbext-axi: pauses on every channel, packets of many keys, corner lengths.

The library (rtl_cases) generates the cases and the expected results. CASES names their file, LANES the lanes of the core, HOLD
and KEEP its parameters. A monitor checks that valid and data stay stable until they are accepted.
"""

import logging
import os
import random
import struct

import cocotb
from axil import Keys
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

# The longest test takes a tenth of the time after which it counts as hung.
LANES = int(os.environ["LANES"])
BEAT = 16 * LANES
HOLD = int(os.environ["HOLD"])  # text waits until its packet is found to be in order
KEPT = int(os.environ["KEEP"])  # keys live through a reset


def cases():
    """Keys ("key", (slot, bytes)) and packets ("packet", fields), in order."""
    with open(os.environ["CASES"], "rb") as file:
        while kind := file.read(1):
            if kind == b"\1":
                yield "key", (file.read(1)[0], file.read(32))
                continue
            slot, opens, authentic, check = file.read(4)
            nonce, claim, tag = file.read(12), file.read(16), file.read(16)
            ad_len, text_len = struct.unpack("<HH", file.read(4))
            ad, given, wanted = file.read(ad_len), file.read(text_len), file.read(text_len)
            yield "packet", (slot, opens, authentic, check, nonce, claim, tag, ad, given, wanted)


def pauses(seed, share):
    """For each cycle, whether a channel pauses."""
    draw = random.Random(seed)
    while True:
        yield draw.random() < share


def after(cycles):
    """A channel pauses for so many cycles, and then no more."""
    for _ in range(cycles):
        yield True
    while True:
        yield False


async def steady(dut, prefix):
    """Checks that valid stays, and all that goes with it, until ready."""
    valid, ready = (getattr(dut, f"{prefix}_{name}") for name in ("tvalid", "tready"))
    with_it = [getattr(dut, f"{prefix}_{name}") for name in ("tdata", "tkeep", "tlast", "tuser") if hasattr(dut, f"{prefix}_{name}")]
    offered = None
    while True:
        await RisingEdge(dut.clk)
        await ReadOnly()
        now = [int(one.value) for one in with_it] if valid.value == 1 else None
        # After the edge, an offer that was not accepted must still be there.
        if offered is not None:
            assert now == offered, f"{prefix}: an offer was withdrawn, or has changed"
        offered = now if ready.value == 0 else None


def frame(ad, text, draw):
    """A packet's frame: associated data and text in whole blocks, with random bytes where there are none. A packet without
    data has one beat without a byte."""
    data, keep = b"", []
    for part in (ad, text):
        gap = -len(part) % 16
        data += part + draw.randbytes(gap)
        keep += [1] * len(part) + [0] * gap
    gap = -len(data) % BEAT if data else BEAT
    return AxiStreamFrame(data + draw.randbytes(gap), tkeep=keep + [0] * gap)


OK, FORGED, SHORT, LONG, KEEP, SLOT, SIZE, SEALS = range(8)  # what a verdict may say (sealwright_pkg)


def flags(status, opens, text):
    """The flags of a verdict."""
    text = text and not (HOLD and status != OK)
    return 32 * bool(text) + 4 * status + 2 * opens + (opens and status == OK)


async def command(ends, slot, opens, nonce, ad, text, claim=bytes(16)):
    """Sends a packet's command, which has the lengths of its associated data and of its text."""
    await ends["command"].send(AxiStreamFrame(nonce + struct.pack("<HH", ad, text) + claim, tuser=2 * slot + opens))


LOADED, ERASED, BUSY = range(3)  # how a command for a key ends


class KeyStream:
    """The port of the keys: a stream of commands, and the cycle in which one ends."""

    def __init__(self, dut):
        self.dut = dut
        self.width = len(dut.m_axis_key_tuser) - 2  # of a slot's number
        self.source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis_key"), dut.clk, dut.rst_n, reset_active_level=False)
        self.source.log.setLevel(logging.WARNING)
        self.ended = None

    def pause(self, share, seed):
        """Pauses in this share of the cycles."""
        self.source.set_pause_generator(pauses(seed, share))

    async def begin(self, slot, key, erase=0):
        """Gives a command to load a key, or to erase one."""
        self.ended = cocotb.start_soon(self.event())
        await self.source.send(AxiStreamFrame(key, tuser=erase << self.width | slot))
        await self.source.wait()

    async def taken(self):
        """Waits until the core has taken the command."""
        while self.dut.s_axis_key_tready.value == 1:
            await RisingEdge(self.dut.clk)

    async def refuses(self, slot, key, erase):
        """Whether a command for a slot that is not there ends like one for a busy slot."""
        await self.begin(slot, key, erase)
        return await self.end() == (BUSY, slot)

    async def event(self):
        """Waits for the cycle in which a command ends."""
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.m_axis_key_tvalid.value == 1:
                return divmod(int(self.dut.m_axis_key_tuser.value), 1 << self.width)

    async def end(self):
        """Waits for the end of the command: its status and its slot."""
        return await self.ended


class Numbered(AxiStreamSource):
    """A source of frames, or of commands, that gives the n-th one the number n if the core has numbers."""

    def __init__(self, dut, prefix):
        super().__init__(AxiStreamBus.from_prefix(dut, prefix), dut.clk, dut.rst_n, reset_active_level=False)
        width = len(dut.s_axis_command_tuser) - slot_bits(dut) - 1
        self.low = slot_bits(dut) + 1 if prefix == "s_axis_command" else 0  # where the number begins in tuser
        self.numbers = 1 << width if width else 0  # how many there are; 0: the core has none
        self.number = -3  # of the next one: they pass the end of their range early

    async def send_as_is(self, frame):
        """Sends a frame with the numbers that it has."""
        await super().send(frame)

    async def send(self, frame):
        """Sends a frame with its number, beside what else is in tuser."""
        if self.numbers:
            frame.tuser = (frame.tuser or 0) | self.number % self.numbers << self.low
        self.number += 1
        await self.send_as_is(frame)


def slot_bits(dut):
    """Bits of a slot's number."""
    return max(1, (len(dut.slot_valid) - 1).bit_length())


async def start(dut):
    """Clock, reset, and the five channels; keys go through registers if the core has them."""
    cocotb.start_soon(Clock(dut.clk, 5, "ns").start())
    dut.rst_n.value = 0
    names = {"command": "s_axis_command", "data": "s_axis"}
    ends = {}
    for name, prefix in names.items():
        ends[name] = Numbered(dut, prefix)
    for name, prefix in {"text": "m_axis", "verdict": "m_axis_verdict"}.items():
        ends[name] = AxiStreamSink(AxiStreamBus.from_prefix(dut, prefix), dut.clk, dut.rst_n, reset_active_level=False)
    for end in ends.values():
        end.log.setLevel(logging.WARNING)
    ends["key"] = Keys(dut) if hasattr(dut, "s_axil_awvalid") else KeyStream(dut)
    for _ in range(5):
        await RisingEdge(dut.clk)
    dut.rst_n.value = 1
    await RisingEdge(dut.clk)
    return ends


async def load(ends, slot, key):
    """Loads a key."""
    await ends["key"].begin(slot, key)
    assert await ends["key"].end() == (0, slot), "a key was not loaded"


async def drive(dut, share, limit=None, blocked=0):
    """Sends the cases and compares all results. Nobody takes text and verdicts in the first `blocked` cycles."""
    ends = await start(dut)
    if share:
        ends["key"].pause(share, 0)
        for number, name in enumerate(("command", "data", "text", "verdict"), 1):
            ends[name].set_pause_generator(pauses(number, share))
    if blocked:
        for name in ("text", "verdict"):
            ends[name].set_pause_generator(after(blocked))
    monitors = [cocotb.start_soon(steady(dut, prefix)) for prefix in ("m_axis", "m_axis_verdict")]
    draw = random.Random(5)
    sent = []

    async def settle():
        while sent:
            slot, opens, authentic, check, nonce, claim, tag, ad, given, wanted = sent.pop(0)
            if wanted and not (HOLD and opens and not authentic):
                text = await ends["text"].recv()
                if check:
                    assert bytes(text.tdata) == wanted, f"wrong text of {len(wanted)} bytes"
                assert len(text.tdata) == len(wanted)
            verdict = await ends["verdict"].recv()
            user = verdict.tuser
            assert user == flags(FORGED if opens and not authentic else OK, opens, wanted), f"wrong verdict {user}"
            assert bytes(verdict.tdata) == (bytes(16) if opens else tag), "wrong tag"

    for number, (kind, case) in enumerate(cases()):
        if limit and number > limit:
            break
        if kind == "key":
            await settle()
            slot, key = case
            await load(ends, slot, key)
            continue
        slot, opens, authentic, check, nonce, claim, tag, ad, given, wanted = case
        await command(ends, slot, opens, nonce, len(ad), len(given), claim)
        await ends["data"].send(frame(ad, given, draw))
        sent.append(case)
    await settle()
    for monitor in monitors:
        monitor.cancel()
    assert ends["text"].empty() and ends["verdict"].empty(), "more came out than went in"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def without_pauses(dut):
    """No channel pauses."""
    await drive(dut, 0, limit=150)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def with_pauses(dut):
    """Every channel pauses half of the time, each at different times."""
    await drive(dut, 0.5, limit=110)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def behind_a_stop(dut):
    """Nobody takes text and verdicts for long, so that they fill the queues as far as there is room."""
    await drive(dut, 0, limit=110, blocked=5000)
