# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests a core together with its registers (sealwright_axi): what they say of keys and packets is what the core does."""

import cocotb
from axil import AT, field, fields, refused, value
from cocotb.triggers import RisingEdge, with_timeout
from cocotbext.axi import AxiStreamFrame
from test_axil import KEY_BYTES, reset
from test_faults import WITHIN, accepted, forget, packets, ready, send, verdict
from test_faults import refused as refused_packet
from test_protocol import BEAT, FORGED, KEEP, KEPT, LONG, OK, SHORT, SLOT, cases, command, load, start

LOADED, ERASED, BUSY = (value("KEY_EVENT", "STATUS", name) for name in ("LOADED", "ERASED", "BUSY"))


def first():
    """The first key of slot 0, and a packet that is sealed with it."""
    key = next(case for kind, case in cases() if kind == "key")[1]
    return key, next(packets(lambda case: not case[1] and case[2]))


async def event(bus):
    """KEY_EVENT's DONE, STATUS and READY."""
    word = await bus.read_dword(AT["KEY_EVENT"])
    return tuple(field("KEY_EVENT", word, name) for name in ("DONE", "STATUS", "READY"))


async def state(bus, slot):
    """Whether a slot is valid, and busy."""
    await bus.write_dword(AT["SELECT"], fields("SELECT", SLOT=slot))
    word = await bus.read_dword(AT["STATE"])
    return field("STATE", word, "VALID"), field("STATE", word, "BUSY")


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def key_by_interrupt(dut):
    """A key is loaded and erased as the steps of the map say, with the interrupt."""
    ends = await start(dut)
    bus, (key, packet) = ends["key"].bus, first()
    await bus.write_dword(AT["INTERRUPT"], fields("INTERRUPT", ENABLE=1))
    assert await event(bus) == (0, 0, 1) and dut.irq.value == 0
    for erase, status in ((0, LOADED), (1, ERASED)):
        if not erase:
            await bus.write(AT["KEY"], key[:KEY_BYTES])
        await bus.write_dword(AT["KEY_COMMAND"], fields("KEY_COMMAND", SLOT=0, ERASE=erase))
        assert (await event(bus))[::2] == (0, 0), "a command is under way, and READY or DONE says that it is not"
        assert await refused(bus, "KEY_COMMAND", fields("KEY_COMMAND", SLOT=1, ERASE=1)), "two commands at once"
        if dut.irq.value == 0:
            await with_timeout(RisingEdge(dut.irq), *WITHIN)
        assert await event(bus) == (1, status, 1)
        assert await state(bus, 0) == (status == LOADED, 0)
        await bus.write_dword(AT["KEY_EVENT"], fields("KEY_EVENT", DONE=1))
        assert await event(bus) == (0, status, 1) and dut.irq.value == 0
        await (refused_packet if erase else accepted)(ends, packet)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def busy_slot(dut):
    """A slot with a packet under way keeps its key, and the words of the new one are gone."""
    ends = await ready(dut)
    bus, packet = ends["key"].bus, first()[1]
    await command(ends, 0, 0, packet[4], 0, len(packet[8]))
    while await state(bus, 0) != (1, 1):
        await RisingEdge(dut.clk)
    await ends["key"].begin(0, bytes(KEY_BYTES))
    assert await with_timeout(ends["key"].end(), *WITHIN) == (BUSY, 0)
    assert await refused(bus, "KEY_COMMAND", fields("KEY_COMMAND", SLOT=0)), "words of a key that was refused are still there"
    await ends["data"].send(AxiStreamFrame(packet[8]))
    await verdict(ends)
    await ends["text"].recv()
    while await state(bus, 0) != (1, 0):
        await RisingEdge(dut.clk)
    await accepted(ends, packet)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def command_right_after_a_reset(dut):
    """It waits until the core has erased its slots, which is no event; words of the next key are refused until
    then. A reset ends a command."""
    ends = await start(dut)
    bus, (key, packet) = ends["key"].bus, first()
    await ends["key"].begin(0, key[:KEY_BYTES])
    assert KEPT or await refused(bus, "KEY", 7), "a word was taken while the key before waits"
    assert await with_timeout(ends["key"].end(), *WITHIN) == (LOADED, 0)
    await accepted(ends, packet)
    last = len(dut.slot_valid) - 1
    await ends["key"].begin(last, key[:KEY_BYTES])
    if KEPT:
        await with_timeout(ends["key"].taken(), *WITHIN)
        await with_timeout(bus.read_dword(AT["STATE"]), *WITHIN)  # some cycles, in which the core begins
    await reset(dut)
    kept = int(KEPT and last > 0)  # slot 0
    for _ in range(4000):  # longer than the core needs to erase its slots, and to load a key
        assert dut.irq.value == 0 and int(dut.slot_valid.value) == kept
        await RisingEdge(dut.clk)
    assert await event(bus) == (0, 0, 1), "a reset leaves an event, or a command under way"
    assert await refused(bus, "KEY_COMMAND", fields("KEY_COMMAND", SLOT=0)), "words of a key live through a reset"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def counts_of_verdicts(dut):
    """Every verdict is counted once, under its status."""
    ends = await start(dut)
    bus = ends["key"].bus
    await forget(dut, ends)  # slot 1 has none
    await load(ends, 0, first()[0])
    ends["verdict"].set_pause_generator(number % 3 > 0 for number in range(10**6))
    sealed, opened = (next(packets(lambda case, opens=opens: case[1] == opens and case[2])) for opens in (0, 1))
    whole = sealed[8] + bytes(-len(sealed[8]) % BEAT)
    sent = [
        (OK, sealed, {}), (OK, sealed, {}), (OK, opened, {}), (FORGED, opened, {"claim": bytes(16)}),
        (SHORT, sealed, {"data": whole[:-BEAT]}), (LONG, sealed, {"data": whole + bytes(BEAT)}),
        (KEEP, sealed, {"data": AxiStreamFrame(whole, tkeep=[0] + [1] * (len(whole) - 1))}), (SLOT, (1, *sealed[1:]), {}),
    ]
    for status, case, more in sent:
        await send(ends, case, **more)
        assert (await verdict(ends))[1] >> 2 & 7 == status
        if status != SLOT:
            await with_timeout(ends["text"].recv(), *WITHIN)
    found = [await bus.read_dword(AT["VERDICTS"] + 4 * status) for status in range(8)]
    assert found == [sum(one[0] == status for one in sent) for status in range(8)]
