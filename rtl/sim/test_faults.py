# SPDX-License-Identifier: MIT OR Apache-2.0
"""Faults at a core's ports, from wrong tags to broken frames: nothing secret shows, and the next packet is untouched."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge, with_timeout
from cocotbext.axi import AxiStreamFrame
from test_protocol import (BEAT, BUSY, ERASED, HOLD, KEEP, KEPT, LOADED, LONG, OK, SHORT, SLOT, cases, command, flags, frame,
                           load, start)

WITHIN = (200, "us")


def packets(test):
    """Packets without associated data for which `test` holds, all of slot 0 and of its first key."""
    keys = 0
    for kind, case in cases():
        keys += kind == "key" and case[0] == 0
        if keys > 1:
            break
        if kind == "packet" and case[0] == 0 and not case[7] and len(case[8]) > 2 * BEAT and test(case):
            yield case


async def ready(dut):
    """A core whose slot 0 holds its first key."""
    ends = await start(dut)
    slot, key = next(case for kind, case in cases() if kind == "key")
    assert slot == 0
    await load(ends, slot, key)
    return ends


async def send(ends, case, claim=None, data=None):
    """A command with its data: those of the case unless others are given."""
    slot, opens, _, _, nonce, right, _, _, given, _ = case
    await command(ends, slot, opens, nonce, 0, len(given), claim or right)
    await ends["data"].send(AxiStreamFrame(data) if data else frame(b"", given, random.Random(3)))


async def verdict(ends):
    """The next verdict: its tag and its flags."""
    frame = await with_timeout(ends["verdict"].recv(), *WITHIN)
    return bytes(frame.tdata), frame.tuser


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def rejected_open_shows_no_tag(dut):
    """The verdict on a wrong tag says no more than that it is wrong."""
    ends = await ready(dut)
    case = next(packets(lambda case: case[1] and case[2]))
    for bit in (0, 67, 127):
        claim = (int.from_bytes(case[5], "little") ^ 1 << bit).to_bytes(16, "little")
        await send(ends, case, claim)
        tag, flags = await verdict(ends)
        assert flags & 1 == 0, "a wrong tag was accepted"
        assert tag == bytes(16), "the verdict on a wrong tag shows one"


async def broken(dut, status, make):
    """Sends a packet with the data that `make` returns, sealed and opened, and a right one behind each."""
    ends = await ready(dut)
    draw = random.Random(1)
    for opens in (0, 1):
        bad, good = [case for case in packets(lambda case: case[1] == opens and case[2])][:2]
        await send(ends, bad, data=make(bad[8], draw))
        await send(ends, good)
        assert await verdict(ends) == (bytes(16), flags(status, opens, True)), "wrong verdict on a broken frame"
        tag, user = await verdict(ends)
        assert user == flags(OK, opens, True), "the packet behind a broken frame is refused"
        assert tag == (bytes(16) if opens else good[6]), "the packet behind a broken frame has a wrong tag"
        if not HOLD:
            text = await with_timeout(ends["text"].recv(), *WITHIN)
        real = (len(bad[8]) - 1) // BEAT * BEAT if status == SHORT else len(bad[8])
        assert HOLD or bytes(text.tdata) == bad[9][:real] + bytes(len(bad[9]) - real), "wrong text of a broken frame"
        text = await with_timeout(ends["text"].recv(), *WITHIN)
        assert bytes(text.tdata) == good[9], "the packet behind a broken frame has a wrong text"
    assert ends["verdict"].empty() and ends["text"].empty()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def short_frame(dut):
    """A frame that ends a beat early."""
    await broken(dut, SHORT, lambda data, _: data[: (len(data) - 1) // BEAT * BEAT])


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def long_frame(dut):
    """A frame of three beats too many."""
    await broken(dut, LONG, lambda data, draw: data + draw.randbytes(-len(data) % BEAT + 3 * BEAT))


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def wrong_keep(dut):
    """A frame of as many beats as the command says, but not as many bytes."""
    await broken(dut, KEEP, lambda data, _: AxiStreamFrame(data, tkeep=[1] * (len(data) - 1) + [0]))


async def key_command(ends, slot, key, erase=0):
    """Gives a command for a key and waits for its end."""
    await with_timeout(ends["key"].begin(slot, key, erase), *WITHIN)
    return await with_timeout(ends["key"].end(), *WITHIN)


async def forget(dut, ends):
    """Erases every slot, if keys live through a reset: those of the test before."""
    for slot in range(KEPT * len(dut.slot_valid)):
        assert await key_command(ends, slot, bytes(32), erase=1) == (ERASED, slot)


async def refused(ends, case):
    """The case's packet is refused, for its slot has no key."""
    await send(ends, case)
    assert await verdict(ends) == (bytes(16), flags(SLOT, case[1], False)), "a packet without a key was not refused"


async def accepted(ends, case):
    """The case's packet ends well."""
    await send(ends, case)
    assert await verdict(ends) == (bytes(16) if case[1] else case[6], flags(OK, case[1], True)), "wrong verdict"
    text = await with_timeout(ends["text"].recv(), *WITHIN)
    assert bytes(text.tdata) == case[9], "wrong text"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def life_of_a_key(dut):
    """No packet without a key, before it is loaded, while it is loaded, after it is erased and after a reset; no new key
    while packets of its slot are under way."""
    ends = await start(dut)
    key = next(case for kind, case in cases() if kind == "key")[1]
    sealed, opened = (next(packets(lambda case: case[1] == opens and case[2])) for opens in (0, 1))
    await forget(dut, ends)
    await refused(ends, sealed)
    await refused(ends, opened)
    assert await key_command(ends, 0, key) == (LOADED, 0)
    assert int(dut.slot_valid.value) == 1
    await accepted(ends, sealed)
    # Under way: the slot keeps its key, and the packet its keystream.
    data = frame(b"", sealed[8], random.Random(4))
    await command(ends, 0, 0, sealed[4], 0, len(sealed[8]))
    for _ in range(20):
        await RisingEdge(dut.clk)
    assert int(dut.slot_busy.value) == 1
    assert await key_command(ends, 0, bytes(32)) == (BUSY, 0)
    assert await key_command(ends, 0, bytes(32), erase=1) == (BUSY, 0)
    await ends["data"].send(data)
    assert await verdict(ends) == (sealed[6], flags(OK, 0, True))
    assert bytes((await ends["text"].recv()).tdata) == sealed[9]
    # While a key is loaded.
    await ends["key"].begin(0, key)
    for _ in range(10):
        await RisingEdge(dut.clk)
    await refused(ends, sealed)
    assert await with_timeout(ends["key"].end(), *WITHIN) == (LOADED, 0)
    await accepted(ends, opened)
    assert await key_command(ends, 0, bytes(32), erase=1) == (ERASED, 0)
    assert int(dut.slot_valid.value) == 0
    await refused(ends, opened)
    # The next key is taken as if nothing had been.
    assert await key_command(ends, 0, key) == (LOADED, 0)
    await accepted(ends, sealed)
    await accepted(ends, opened)
    await reset(dut)
    if not KEPT:
        assert int(dut.slot_valid.value) == 0
        return await refused(ends, sealed)
    # Its parameter keeps the key: for packets from the first command on, until it is erased.
    assert int(dut.slot_valid.value) == 1
    await accepted(ends, sealed)
    await accepted(ends, opened)
    # Not one that was being loaded or erased: that slot holds none after the reset.
    for erase in (0, 1):
        for cycles in (1, 4, 5, 20):
            await ends["key"].begin(0, key, erase)
            await with_timeout(ends["key"].taken(), *WITHIN)
            for _ in range(cycles):
                await RisingEdge(dut.clk)
            begun = int(dut.slot_valid.value) == 0
            await reset(dut)
            assert int(dut.slot_valid.value) == (not begun), "a reset took a key that nothing had begun to change, or kept half of one"
            if begun:
                await refused(ends, sealed)
            assert await key_command(ends, 0, key) == (LOADED, 0)
            await accepted(ends, sealed)
    assert await key_command(ends, 0, bytes(32), erase=1) == (ERASED, 0)
    await reset(dut)
    assert int(dut.slot_valid.value) == 0
    await refused(ends, sealed)


async def reset(dut):
    """A reset of four cycles."""
    dut.rst_n.value = 0
    for _ in range(4):
        await RisingEdge(dut.clk)
    dut.rst_n.value = 1
    await RisingEdge(dut.clk)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def every_slot_by_its_number(dut):
    """A key goes to the slot that its command names, and the event that ends the command names it too."""
    ends = await start(dut)
    await forget(dut, ends)
    for slot in range(len(dut.slot_valid)):
        for erase, status in ((0, LOADED), (1, ERASED), (0, LOADED)):
            assert await key_command(ends, slot, bytes([slot]) * 32, erase) == (status, slot)
        assert int(dut.slot_valid.value) == (2 << slot) - 1
    await forget(dut, ends)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def slot_that_is_not_there(dut):
    """A core of one slot has a bit for its number all the same: a packet for slot 1 is refused, and so is a key."""
    if len(dut.slot_valid) > 1:
        pytest.skip("every number that its bits can say is a slot")
    ends = await ready(dut)
    for opens in (0, 1):
        case = next(packets(lambda case, opens=opens: case[1] == opens and case[2]))
        await refused(ends, (1, *case[1:]))
        await accepted(ends, case)
    for erase in (0, 1):
        assert await with_timeout(ends["key"].refuses(1, bytes(32), erase), *WITHIN), "a key for a slot that is not there was taken"
    await accepted(ends, case)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def commands_while_another_slot_is_loaded(dut):
    """Packets of a slot go on in every cycle in which the key of another is set up, its block of zeros too, and their tags are those
    of their own key and nonce."""
    if len(dut.slot_valid) < 2:
        pytest.skip("there is no other slot")
    ends = await ready(dut)
    draw = random.Random(6)
    nonces = [bytes(12), bytes([255] * 12)]  # in OCB none follows from the one before

    async def seal(count):
        for number in range(count):
            await command(ends, 0, 0, nonces[number % 2], 0, 0)
            await ends["data"].send(frame(b"", b"", draw))

    await seal(2)
    wanted = [await verdict(ends) for _ in nonces]
    assert wanted[0][0] != wanted[1][0], "two nonces have one tag"
    count, loads = 3000, 4
    await seal(count)
    waiting = [ends["command"].count()]
    for _ in range(loads):
        assert await key_command(ends, 1, draw.randbytes(32)) == (LOADED, 1)
        waiting.append(ends["command"].count())
    assert all(before - after > 20 for before, after in zip(waiting, waiting[1:])), f"commands stopped: {waiting} were left"
    for number in range(count):
        assert await verdict(ends) == wanted[number % 2], f"packet {number} of {count}"
