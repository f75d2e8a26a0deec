# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests the reset of the LiteX module, which is longer in the core than in its clock domain (litex/sealwright_core.py). The pins are
driven here: a source of cocotbext-axi offers nothing in the first cycles behind a reset."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from test_protocol import OK, SLOT, flags

INPUTS = ("s_axis_key", "s_axis_command", "s_axis")
LIMIT = 4000


async def offer(dut, channel, **fields):
    """Offers a beat on a channel until it is taken. Begins and ends at a falling edge."""
    for name, value in fields.items():
        getattr(dut, f"{channel}_t{name}").value = value
    valid = getattr(dut, f"{channel}_tvalid")
    valid.value = 1
    for _ in range(LIMIT):
        await FallingEdge(dut.clk)
        if taken.pop(channel, False):
            valid.value = 0
            return
    raise AssertionError(f"{channel} is not ready in {LIMIT} cycles")


taken = {}  # by channel: whether its beat was taken at the last edge
verdicts = []  # their flags


async def watch(dut):
    """What moves at each edge, while the clock domain is not in reset."""
    while True:
        await RisingEdge(dut.clk)
        if dut.rst_n.value != 1:
            continue
        for channel in INPUTS:
            taken[channel] = getattr(dut, f"{channel}_tvalid").value == 1 and getattr(dut, f"{channel}_tready").value == 1
        if dut.m_axis_verdict_tvalid.value == 1:
            verdicts.append(int(dut.m_axis_verdict_tuser.value))


async def packet(dut):
    """A packet of slot 0 without data: its command, and at the same time its frame. All have number 0."""
    frame = cocotb.start_soon(offer(dut, "s_axis", keep=0, last=1, data=0, user=0))
    await offer(dut, "s_axis_command", data=0, user=0)
    await frame


async def next_verdict(dut):
    """Waits for a verdict."""
    for _ in range(LIMIT):
        if verdicts:
            return verdicts.pop(0)
        await FallingEdge(dut.clk)
    raise AssertionError("no verdict")


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def nothing_is_lost_at_a_reset(dut):
    """What is offered from the first cycle behind a reset, of one cycle and of more, is taken once the core is ready, and nothing from
    before the reset comes out behind it."""
    cocotb.start_soon(Clock(dut.clk, 5, "ns").start())
    for channel in INPUTS:
        getattr(dut, f"{channel}_tvalid").value = 0
    dut.m_axis_tready.value = dut.m_axis_verdict_tready.value = 1
    dut.rst_n.value = 0
    await ClockCycles(dut.clk, 5, rising=False)
    watching = cocotb.start_soon(watch(dut))
    for cycles in (1, 1, 2, 3, 8, 20):
        taken.clear()
        verdicts.clear()
        dut.rst_n.value = 1
        await packet(dut)
        assert await next_verdict(dut) == flags(SLOT, 0, False), "another verdict than that of the packet behind the reset"
        await offer(dut, "s_axis_key", data=1, user=0)
        while dut.m_axis_key_tvalid.value != 1:
            await FallingEdge(dut.clk)
        for _ in range(30):  # of which the reset cuts some off
            await packet(dut)
        assert await next_verdict(dut) == flags(OK, 0, False)
        dut.rst_n.value = 0
        await ClockCycles(dut.clk, cycles, rising=False)
    watching.cancel()
