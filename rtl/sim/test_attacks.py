# SPDX-License-Identifier: MIT OR Apache-2.0
"""Attacks on a GCM core through its ports. WEAK says whether it has the faults that they use (flow/attack.py): they must
succeed if it has, and fail if not.

What follows them is what no core can prevent that pairs commands and frames by their order alone (`Number` is 0), and what the arbiter
in front of it must: a frame without an end, and a command without a frame. test_numbers.py has the same for a core with numbers.
"""

import os
import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiStreamFrame
from test_protocol import BEAT, LONG, OK, command, flags, load, start

WEAK = os.environ["WEAK"] == "1"
WITHIN = (200, "us")
MINE, VICTIM = 0, 1  # slots


async def answer(ends, stream):
    """The next frame of a stream."""
    return await with_timeout(ends[stream].recv(), *WITHIN)


def outcome(dut, succeeded, sentence):
    """Ends a test."""
    dut._log.info("%s: %s", "succeeded" if succeeded else "failed", sentence)
    assert succeeded == WEAK, f"the attack {'succeeded' if succeeded else 'failed'}: {sentence}"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def forge(dut):
    """Has a packet of one's own making accepted: opened with any tag, its verdict tells the right one."""
    draw = random.Random(21)
    ends = await start(dut)
    await load(ends, VICTIM, draw.randbytes(32))
    nonce, text, claim = draw.randbytes(12), draw.randbytes(3 * BEAT), bytes(16)
    for _ in range(2):
        await command(ends, VICTIM, 1, nonce, 0, len(text), claim)
        await ends["data"].send(AxiStreamFrame(text))
        found = await answer(ends, "verdict")
        await answer(ends, "text")
        claim = bytes(found.tdata)
    outcome(dut, bool(found.tuser & 1), f"{len(text)} bytes of the attacker's choice, two questions")


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def read_another_slot(dut):
    """Reads the text of another slot's packet: a frame that is a beat short makes the core take the beat from the packet behind
    it, and seal it with the attacker's key and nonce."""
    draw = random.Random(22)
    ends = await start(dut)
    for slot in (MINE, VICTIM):
        await load(ends, slot, draw.randbytes(32))
    nonce, secret = draw.randbytes(12), draw.randbytes(2 * BEAT)
    # The keystream of a nonce of one's own is what zeros are sealed to.
    await command(ends, MINE, 0, nonce, 0, 2 * BEAT)
    await ends["data"].send(AxiStreamFrame(bytes(2 * BEAT)))
    keystream = bytes((await answer(ends, "text")).tdata)
    await answer(ends, "verdict")
    # The packet that is a beat short, and the victim's.
    await command(ends, MINE, 0, nonce, 0, 2 * BEAT)
    await ends["data"].send(AxiStreamFrame(bytes(BEAT)))
    await command(ends, VICTIM, 0, draw.randbytes(12), 0, len(secret))
    await ends["data"].send(AxiStreamFrame(secret))
    sealed = bytes((await answer(ends, "text")).tdata)
    read = bytes(a ^ b for a, b in zip(sealed[BEAT:], keystream[BEAT:], strict=True))
    outcome(dut, read == secret[:BEAT], f"the first {BEAT} bytes of the victim's packet, two packets of the attacker's own")


async def commands_ahead(dut, seed):
    """Two packets of the attacker's and two of the victim's, two beats each, whose commands are sent. Returns the ends of the core, the
    attacker's keystream for its second packet, which it has from an earlier one, and the frames."""
    if WEAK:
        pytest.skip("the first design counts beats alone")
    draw = random.Random(seed)
    ends = await start(dut)
    if ends["data"].numbers:
        pytest.skip("numbers keep commands and frames together")
    for slot in (MINE, VICTIM):
        await load(ends, slot, draw.randbytes(32))
    nonces, frames = [draw.randbytes(12) for _ in range(4)], [draw.randbytes(2 * BEAT) for _ in range(4)]
    await command(ends, MINE, 0, nonces[1], 0, 2 * BEAT)
    await ends["data"].send(AxiStreamFrame(bytes(2 * BEAT)))
    keystream = bytes((await answer(ends, "text")).tdata)
    await answer(ends, "verdict")
    for slot, nonce in zip((MINE, MINE, VICTIM, VICTIM), nonces, strict=True):
        await command(ends, slot, 0, nonce, 0, 2 * BEAT)
    return ends, keystream, frames


async def out_of_step(dut, ends, keystream, frames, first, reads):
    """The attacker's second packet takes the frame of the victim's first one, under the attacker's key; both are said to be in order, and
    the last verdict does not come. Resetting the core and all who use it ends this."""
    texts, verdicts = [], []
    for _ in range(3):
        texts.append(bytes((await answer(ends, "text")).tdata))
        verdicts.append((await answer(ends, "verdict")).tuser)
    assert verdicts == [flags(first, 0, True), flags(OK, 0, True), flags(OK, 0, True)]
    assert bytes(a ^ b for a, b in zip(texts[1], keystream, strict=True)) == reads, "the second packet has its own text"
    await ClockCycles(dut.clk, 3000)
    assert ends["verdict"].empty() and int(dut.slot_busy.value) >> VICTIM & 1, "a verdict without a frame"
    dut.rst_n.value = 0
    for end in ("command", "data", "text", "verdict"):
        ends[end].clear()
    await ClockCycles(dut.clk, 4)
    dut.rst_n.value = 1
    await RisingEdge(dut.clk)
    for slot in (MINE, VICTIM):
        await load(ends, slot, bytes(32))
    sealed = []
    for slot in (MINE, VICTIM):
        await command(ends, slot, 0, bytes(12), 0, len(frames[slot]))
        await ends["data"].send(AxiStreamFrame(frames[slot]))
        sealed.append(bytes((await answer(ends, "text")).tdata))
        assert (await answer(ends, "verdict")).tuser == flags(OK, 0, True)
    right = bytes(a ^ b for a, b in zip(*frames[:2], strict=True))
    assert bytes(a ^ b for a, b in zip(*sealed, strict=True)) == right, "out of step still, after a reset"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def frame_without_an_end(dut):
    """A frame without `tlast` goes on: the frame behind it is its excess, and every later packet has the frame of the next one."""
    ends, keystream, frames = await commands_ahead(dut, 23)
    await ends["data"].send(AxiStreamFrame(b"".join(frames[:2])))  # as the core sees two frames of which the first has no end
    for frame in frames[2:]:
        await ends["data"].send(AxiStreamFrame(frame))
    await out_of_step(dut, ends, keystream, frames, LONG, frames[2])


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def command_without_a_frame(dut):
    """A command whose frame is not sent takes the frame of the next one, and so do all behind it. No verdict says so."""
    ends, keystream, frames = await commands_ahead(dut, 24)
    for number in (0, 2, 3):
        await ends["data"].send(AxiStreamFrame(frames[number]))
    await out_of_step(dut, ends, keystream, frames, OK, frames[2])
