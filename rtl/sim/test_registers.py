# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests the registers (axi/registers.json) with cocotb and cocotbext-axi, which also plays the core."""

import random

import cocotb
from axil import AT, processor, refused
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiResp
from test_axil import KEY_BYTES, begin

DONE, READY = 1, 8


async def start(dut):
    """Clock, reset, and the processor's end."""
    await begin(dut)
    return processor(dut)


async def taken(dut):
    """Takes a command as the core does: its key, and its flags."""
    dut.m_axis_key_tready.value = 1
    while True:
        await RisingEdge(dut.clk)
        if dut.m_axis_key_tvalid.value == 1:
            found = int(dut.m_axis_key_tdata.value).to_bytes(32, "little"), int(dut.m_axis_key_tuser.value)
            dut.m_axis_key_tready.value = 0
            await RisingEdge(dut.clk)
            return found


async def ends(dut, user):
    """The core's answer."""
    dut.s_axis_key_tvalid.value, dut.s_axis_key_tuser.value = 1, user
    await RisingEdge(dut.clk)
    dut.s_axis_key_tvalid.value = 0
    await RisingEdge(dut.clk)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def keys(dut):
    """A key goes to the core once and is gone; its end shows, interrupts, and is cleared."""
    bus = await start(dut)
    width = len(dut.m_axis_key_tuser) - 1
    draw = random.Random(1)
    await bus.write_dword(AT["INTERRUPT"], 1)
    assert await bus.read_dword(AT["KEY_EVENT"]) == READY
    for slot in (0, 2):
        key = draw.randbytes(32)
        await bus.write(AT["KEY"], key)
        await bus.write_dword(AT["KEY_COMMAND"], slot)
        assert await taken(dut) == (key, slot)
        assert await bus.read_dword(AT["KEY_EVENT"]) & (DONE | READY) == 0
        # Another one meanwhile is refused, and does not touch what is said of this one.
        assert await refused(bus, "KEY_COMMAND", 1 << 8 | 1), "a command was taken while another is under way"
        assert await bus.read_dword(AT["KEY_EVENT"]) & (DONE | READY) == 0
        assert dut.irq.value == 0
        await ends(dut, 2 << width | slot)
        assert dut.irq.value == 1
        for other in ("SELECT", "INTERRUPT"):
            await bus.write_dword(AT[other], DONE)
        assert await bus.read_dword(AT["KEY_EVENT"]) == DONE | 2 << 1 | READY | slot << 8, "cleared by a write to another register"
        await bus.write_dword(AT["KEY_EVENT"], DONE)
        assert dut.irq.value == 0
    await bus.write_dword(AT["KEY_COMMAND"], 1 << 8 | 1)
    assert await taken(dut) == (bytes(32), 1 << width | 1), "words of a key that was taken are still there"
    await ends(dut, 1 << width | 1)
    assert dut.irq.value == 1
    await bus.write_dword(AT["KEY_COMMAND"], 1 << 8 | 1)
    assert dut.irq.value == 0 and await bus.read_dword(AT["KEY_EVENT"]) & (DONE | READY) == 0, "a command leaves DONE of the one before"
    await taken(dut)
    assert (await bus.read(AT["KEY"], 4)).resp == AxiResp.SLVERR, "a key can be read"
    assert await refused(bus, "KEY_COMMAND", 200), "there is no slot 200"
    assert (await bus.write(AT["KEY"], b"x")).resp == AxiResp.SLVERR, "a part of a word was taken"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def whole_keys_only(dut):
    """A key is loaded only if all of its words were written for it."""
    bus = await start(dut)
    words = KEY_BYTES // 4
    assert await refused(bus, "KEY_COMMAND", 0), "a key of which no word was written was loaded"
    for missing in range(words):
        for word in (word for word in range(words) if word != missing):
            await bus.write_dword(AT["KEY"] + 4 * word, 0x01010101)
        assert await refused(bus, "KEY_COMMAND", 0), f"a key without its word {missing} was loaded"
        await bus.write_dword(AT["KEY_COMMAND"], 1 << 8)  # erasing clears the words
        await taken(dut)
        await ends(dut, 1 << len(dut.m_axis_key_tuser) - 1)
    # A command waits for the core: words of the next key are refused, not lost.
    await bus.write(AT["KEY"], bytes(range(KEY_BYTES)))
    await bus.write_dword(AT["KEY_COMMAND"], 1)
    assert await refused(bus, "KEY", 7), "a word was taken while the key before waits"
    assert (await taken(dut))[0] == bytes(range(KEY_BYTES)) + bytes(32 - KEY_BYTES)
    assert await refused(bus, "KEY_COMMAND", 0), "a key was loaded that was refused"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def events_are_not_lost(dut):
    """The end of a command shows even if the event before is cleared, or another command refused, in the same cycle."""
    bus = await start(dut)
    await bus.write_dword(AT["INTERRUPT"], 1)
    for register, value in (("KEY_EVENT", DONE), ("KEY_COMMAND", 1 << 8)):
        await bus.write_dword(AT["KEY_COMMAND"], 1 << 8 | 2)
        await taken(dut)
        write = cocotb.start_soon(bus.write(AT[register], value.to_bytes(4, "little")))
        while dut.s_axil_awready.value == 1 or dut.s_axil_wready.value == 1:
            await FallingEdge(dut.clk)  # until both are there: the write takes place at the next edge
        await ends(dut, 1 << len(dut.m_axis_key_tuser) - 1 | 2)
        await write
        assert await bus.read_dword(AT["KEY_EVENT"]) == DONE | 1 << 1 | READY | 2 << 8, f"lost behind a write to {register}"
        assert dut.irq.value == 1
        await bus.write_dword(AT["KEY_EVENT"], DONE)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def state(dut):
    """Slots and counts."""
    bus = await start(dut)
    assert await bus.read_dword(AT["ID"]) == 0x5EA10003
    dut.slot_valid.value, dut.slot_busy.value = 0b0110, 0b0100
    for slot, wanted in enumerate((0, 1, 3, 0)):
        await bus.write_dword(AT["SELECT"], slot)
        assert await bus.read_dword(AT["STATE"]) == wanted
    for status in (0, 0, 1, 5, 0, 7):
        dut.verdict_taken.value, dut.verdict_status.value = 1, status
        await RisingEdge(dut.clk)
    dut.verdict_taken.value = 0
    counts = [await bus.read_dword(AT["VERDICTS"] + 4 * status) for status in range(8)]
    assert counts == [3, 1, 0, 0, 0, 1, 0, 1]
    behind = await bus.read(AT["VERDICTS"] + 4 * len(counts), 4)
    assert behind.resp == AxiResp.SLVERR and not any(behind.data), "something is behind the last count"
