# SPDX-License-Identifier: MIT OR Apache-2.0
"""Orders for keys that meet something else: a command for the same slot a few cycles behind, and a reset while another slot keeps
its key."""

import random

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge, with_timeout
from test_faults import WITHIN, accepted, forget, key_command, packets, ready, refused, reset, send, verdict
from test_protocol import BUSY, ERASED, KEPT, LOADED, OK, SLOT, cases, command, flags, frame


def key_port(dut):
    """Valid and ready of orders for keys, and valid of their ends: at the port, or behind the registers."""
    if hasattr(dut, "s_axis_key_tvalid"):
        return dut.s_axis_key_tvalid, dut.s_axis_key_tready, dut.m_axis_key_tvalid
    return dut.key_valid, dut.key_ready, dut.event_valid


def first_key():
    """The first key, which `packets` are for."""
    return next(case for kind, case in cases() if kind == "key")[1]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def command_behind_an_order(dut):
    """A command that is accepted in the two cycles behind an order for its slot counts as before it: the order is answered as busy,
    and the packet has the key that was there. From the third cycle on the order is carried out, and the command refused."""
    ends = await ready(dut)
    key, sealed = first_key(), next(packets(lambda case: not case[1] and case[2]))
    valid, free, _ = key_port(dut)
    cycle, at = 0, {}

    async def watch():
        nonlocal cycle
        ports = {"order": (valid, free), "command": (dut.s_axis_command_tvalid, dut.s_axis_command_tready)}
        while True:
            await RisingEdge(dut.clk)
            await ReadOnly()
            cycle += 1
            at.update({name: cycle for name, port in ports.items() if all(one.value == 1 for one in port)})

    async def later(cycles):
        for _ in range(cycles):
            await RisingEdge(dut.clk)
        await send(ends, sealed)

    watching, gaps = cocotb.start_soon(watch()), set()
    for wait in range(14):
        command = cocotb.start_soon(later(wait))
        await ends["key"].begin(0, bytes(32), erase=1)
        await command
        end, found = await with_timeout(ends["key"].end(), *WITHIN), await verdict(ends)
        gap = at["command"] - at["order"]
        gaps.add(gap)
        if gap <= 2:
            assert end == (BUSY, 0), f"a command {gap} cycles behind an order, which ended as {end}"
            assert found == (sealed[6], flags(OK, 0, True)), f"a command {gap} cycles behind an order that was refused"
            assert bytes((await with_timeout(ends["text"].recv(), *WITHIN)).tdata) == sealed[9]
        else:
            assert end == (ERASED, 0), f"a command {gap} cycles behind an order, which ended as {end}"
            assert found == (bytes(16), flags(SLOT, 0, False)), f"a command {gap} cycles behind an order had a key"
            assert await key_command(ends, 0, key) == (LOADED, 0)
    watching.cancel()
    assert {1, 2, 3, 4} <= gaps, f"only {gaps} were tried"


async def swept(dut, limit=4000):
    """The cycles until orders for keys are taken, in which none ends."""
    _, free, end = key_port(dut)
    for cycle in range(limit):
        if free.value == 1:
            return cycle
        assert end.value == 0, "the end of an order that nobody gave"
        await RisingEdge(dut.clk)
    raise AssertionError(f"no order for a key is taken within {limit} cycles")


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def reset_while_another_slot_is_loaded(dut):
    """Of keys that live through a reset: the slot whose key was being changed is erased, and the other keeps its key, with which
    packets go on meanwhile."""
    if not KEPT or len(dut.slot_valid) < 2:
        pytest.skip("not with these parameters")
    ends = await ready(dut)
    key, sealed = first_key(), next(packets(lambda case: not case[1] and case[2]))
    other = (1, *sealed[1:])
    assert await key_command(ends, 1, key) == (LOADED, 1)
    await reset(dut)
    assert int(dut.slot_valid.value) == 3
    assert await swept(dut) < 10, "slots that hold a key are erased"
    for erase in (0, 1):
        for cycles in (5, 40, 300):
            await ends["key"].begin(1, bytes(32), erase)
            await with_timeout(ends["key"].taken(), *WITHIN)
            for _ in range(cycles):
                await RisingEdge(dut.clk)
            await reset(dut)
            assert int(dut.slot_valid.value) == 1, "the reset took the key of another slot, or kept half of one"
            sweep = cocotb.start_soon(swept(dut))
            await accepted(ends, sealed)
            assert await sweep > 300, "what the reset cut short is not erased"
            assert int(dut.slot_valid.value) == 1
            await accepted(ends, sealed)
            await refused(ends, other)
            assert await key_command(ends, 1, key) == (LOADED, 1)
            await accepted(ends, other)
    # The other way round.
    assert await key_command(ends, 0, bytes(32), erase=1) == (ERASED, 0)
    await reset(dut)
    assert int(dut.slot_valid.value) == 2
    assert await swept(dut) > 300
    await accepted(ends, other)
    await refused(ends, sealed)
    await forget(dut, ends)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def sweep_waits_for_packets(dut):
    """A slot that a reset left without a key and that has packets under way when its turn comes is erased behind them."""
    if not KEPT or len(dut.slot_valid) < 2:
        pytest.skip("not with these parameters")
    ends = await ready(dut)
    sealed = next(packets(lambda case: not case[1] and case[2]))
    await forget(dut, ends)
    await reset(dut)
    both = await swept(dut)
    await reset(dut)
    for _ in range(8):  # in which inputs are idle
        await RisingEdge(dut.clk)
    await command(ends, 1, 0, sealed[4], 0, len(sealed[8]))
    _, free, end = key_port(dut)
    for _ in range(2 * both):  # longer than the other slot takes
        await RisingEdge(dut.clk)
        assert free.value == 0 and end.value == 0, "a slot with packets under way counts as erased"
    await ends["data"].send(frame(b"", sealed[8], random.Random(7)))
    assert await verdict(ends) == (bytes(16), flags(SLOT, 0, False))
    await swept(dut)
    assert await key_command(ends, 1, first_key()) == (LOADED, 1)
    await accepted(ends, (1, *sealed[1:]))
    await forget(dut, ends)
