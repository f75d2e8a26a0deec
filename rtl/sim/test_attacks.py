# SPDX-License-Identifier: MIT OR Apache-2.0
"""Attacks on a GCM core through its ports. WEAK says whether it has the faults that they use (flow/attack.py): they must
succeed if it has, and fail if not.
"""

import os
import random
import struct

import cocotb
from cocotb.triggers import with_timeout
from cocotbext.axi import AxiStreamFrame
from test_protocol import BEAT, load, start

WEAK = os.environ["WEAK"] == "1"
WITHIN = (200, "us")
MINE, VICTIM = 0, 1  # slots


async def command(ends, slot, opens, nonce, length, claim=bytes(16)):
    """Sends the command of a packet without associated data."""
    await ends["command"].send(AxiStreamFrame(nonce + struct.pack("<HH", 0, length) + claim, tuser=2 * slot + opens))


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
        await command(ends, VICTIM, 1, nonce, len(text), claim)
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
    await command(ends, MINE, 0, nonce, 2 * BEAT)
    await ends["data"].send(AxiStreamFrame(bytes(2 * BEAT)))
    keystream = bytes((await answer(ends, "text")).tdata)
    await answer(ends, "verdict")
    # The packet that is a beat short, and the victim's.
    await command(ends, MINE, 0, nonce, 2 * BEAT)
    await ends["data"].send(AxiStreamFrame(bytes(BEAT)))
    await command(ends, VICTIM, 0, draw.randbytes(12), len(secret))
    await ends["data"].send(AxiStreamFrame(secret))
    sealed = bytes((await answer(ends, "text")).tdata)
    read = bytes(a ^ b for a, b in zip(sealed[BEAT:], keystream[BEAT:], strict=True))
    outcome(dut, read == secret[:BEAT], f"the first {BEAT} bytes of the victim's packet, two packets of the attacker's own")
