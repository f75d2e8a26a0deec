# SPDX-License-Identifier: MIT OR Apache-2.0
"""A core whose packets are numbered: no frame reaches another packet than its own, whatever is missing or too much. The tests apply to
designs with such numbers (parameter `Number`)."""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.axi import AxiStreamFrame
from test_faults import WITHIN, key_command, packets, ready, reset, verdict
from test_protocol import BEAT, FORGED, HOLD, LOADED, LONG, OK, SHORT, cases, command, flags, frame, load, start


def numbers(ends):
    """How many numbers there are; skips the test if the core has none."""
    if not ends["data"].numbers:
        pytest.skip("packets have no numbers")
    return ends["data"].numbers


def numbered(ends, made, number):
    """The bytes of a frame, each with its number, as `send_all` takes them."""
    made.normalize()
    return list(zip(made.tdata, made.tkeep, [number % ends["data"].numbers] * len(made.tdata), strict=True))


async def send_all(ends, found):
    """Sends bytes with their numbers as one frame: as the core sees it if all ends but the last are missing."""
    data, keep, user = zip(*found, strict=True)
    await ends["data"].send_as_is(AxiStreamFrame(bytes(data), tkeep=list(keep), tuser=list(user)))


async def announce(ends, case):
    """Sends a case's command, which gets the next number."""
    slot, opens, _, _, nonce, claim, _, ad, given, _ = case
    await command(ends, slot, opens, nonce, len(ad), len(given), claim)


async def settled(ends, case, status=OK, real=None):
    """Waits for a packet's verdict, and its text: as the library has it, with zeros behind the first `real` beats."""
    _, opens, authentic, check, _, _, tag, ad, _, wanted = case
    if status == OK and opens and not authentic:
        status = FORGED
    found = await verdict(ends)
    assert found[1] == flags(status, opens, wanted), f"verdict {found[1]}, not {flags(status, opens, wanted)}"
    assert found[0] == (tag if status == OK and not opens else bytes(16)), "wrong tag"
    if not wanted or (HOLD and status != OK):
        return
    text = bytes((await with_timeout(ends["text"].recv(), *WITHIN)).tdata)
    assert len(text) == len(wanted)
    there = len(wanted) if real is None else max(0, min(len(wanted), real * BEAT - (len(ad) + 15) // 16 * 16))
    if check:
        assert text[:there] == wanted[:there], "wrong text"
    assert text[there:] == bytes(len(wanted) - there), "the text of beats that are missing is not zeros"


async def silence(dut, ends):
    """Nothing more comes."""
    await ClockCycles(dut.clk, 600)
    assert ends["verdict"].empty() and ends["text"].empty(), "more came out than went in"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def frame_without_its_end(dut):
    """A whole frame without `tlast` ends as `long`; the packet behind it has its own frame."""
    ends = await ready(dut)
    numbers(ends)
    bad, good = [case for case in packets(lambda case: not case[1])][:2]
    for case in (bad, good):
        await announce(ends, case)
    await send_all(ends, [byte for number, case in enumerate((bad, good), ends["data"].number)
                          for byte in numbered(ends, frame(case[7], case[8], random.Random(1)), number)])
    await settled(ends, bad, LONG)
    await settled(ends, good)
    await silence(dut, ends)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def command_without_its_frame(dut):
    """Frames that are not sent, one less than half of the smallest range of numbers, which is more than the core takes commands: each
    packet ends as `short`, and the one behind them has its own frame."""
    ends = await ready(dut)
    numbers(ends)
    most = 255
    bad, good = [case for case in packets(lambda case: not case[1])][:2]
    for case in [bad] * most + [good]:
        await announce(ends, case)
    await send_all(ends, numbered(ends, frame(good[7], good[8], random.Random(2)), ends["data"].number + most))
    for _ in range(most):
        await settled(ends, bad, SHORT, 0)
    await settled(ends, good)
    await silence(dut, ends)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def frame_without_its_command(dut):
    """Frames that have no command, or have had theirs, are dropped."""
    ends = await ready(dut)
    most = min(numbers(ends) // 2, 300)
    draw = random.Random(3)
    case = next(packets(lambda case: not case[1]))
    for before in range(most, 0, -1):
        await send_all(ends, numbered(ends, frame(b"", draw.randbytes(2 * BEAT), draw), ends["data"].number - before))
    await announce(ends, case)
    await send_all(ends, numbered(ends, frame(case[7], case[8], draw), ends["data"].number))
    await settled(ends, case)
    await silence(dut, ends)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def rest_of_a_frame_behind_a_reset(dut):
    """A reset meets a frame whose number comes before the next one: what is left of it is dropped."""
    ends = await ready(dut)
    numbers(ends)
    draw = random.Random(5)
    case = next(packets(lambda case: not case[1]))
    await announce(ends, case)
    rest = numbered(ends, frame(case[7], case[8], draw), ends["data"].number)[BEAT:]
    ends["data"].number += 1
    await ClockCycles(dut.clk, 50)
    await reset(dut)
    found = await key_command(ends, *next(case for kind, case in cases() if kind == "key"))
    assert found == (LOADED, 0), f"a key after the reset: {found}"
    await send_all(ends, rest)
    for _ in range(2):
        await announce(ends, case)
        await send_all(ends, numbered(ends, frame(case[7], case[8], draw), ends["data"].number))
        ends["data"].number += 1
    for _ in range(2):
        await settled(ends, case)
    await silence(dut, ends)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def every_fault_in_turn(dut):
    """Packets of many keys and lengths whose frames break in every way, with pauses: each of them says so, and all others are the
    library's."""
    ends = await start(dut)
    many = numbers(ends)
    draw = random.Random(4)
    ends["data"].set_pause_generator(iter(lambda: draw.random() < 0.2, None))
    every = list(cases())[:140]
    behind, owed, seen = [], [], set()  # bytes of frames without an end; packets without their verdict
    open_frame = False  # of the packet before
    for (kind, case), (then, _) in zip(every, [*every[1:], ("key", None)], strict=True):
        if kind == "key":
            for one in owed:
                await settled(ends, *one)
            owed.clear()
            await load(ends, *case)
            continue
        number = ends["command"].number
        await announce(ends, case)
        made = numbered(ends, frame(case[7], case[8], draw), number)
        beats = len(made) // BEAT
        # Behind the last packet before a key nothing comes that could end a frame.
        fault = draw.choice(["none", "none", "endless", "cut", "absent", "surplus", "stray"]) if then == "packet" else "none"
        if (fault == "cut" and beats == 1) or (fault == "stray" and open_frame):
            fault = "none"
        status, real, closes = OK, None, True
        if fault == "endless":
            status, closes = LONG, False
        elif fault == "surplus":
            status, closes = LONG, draw.random() < 0.5 or then == "key"
            made += [(byte, 1, number % many) for byte in draw.randbytes(draw.randint(1, 3) * BEAT)]
        elif fault == "absent":
            made, status, real, closes = [], SHORT, 0, False
        elif fault == "cut":
            real, status, closes = draw.randint(1, beats - 1), SHORT, draw.random() < 0.5
            made = made[:real * BEAT]
        elif fault == "stray":
            await send_all(ends, [(byte, 1, (number - 1) % many) for byte in draw.randbytes(2 * BEAT)])
        open_frame = not closes
        seen.add(fault)
        behind += made
        if closes:
            await send_all(ends, behind)
            behind = []
        owed.append((case, status, real))
        ends["data"].number += 1
    for one in owed:
        await settled(ends, *one)
    assert seen == {"none", "endless", "cut", "absent", "surplus", "stray"}, f"only {seen}"
    await silence(dut, ends)
