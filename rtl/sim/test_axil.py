# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests AXI4-Lite at the registers, alone and in front of a core: what every manager may do on its five channels, what they read
after a reset, and what they say of PARAMETERS, a JSON object of the module's parameters."""

import json
import os
import random

import cocotb
from axil import AT, REGISTERS, fields, pause, processor
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotbext.axi import AxiResp

# As the sources have them when nobody sets them.
BUILT = {"Mode": 0, "Cipher": 0, "Lanes": 4, "Slots": 4, "Tag": 16, "Opens": 1, "Keep": 0, "Hold": 0, "Number": 16,
         **json.loads(os.environ["PARAMETERS"])}
KEY_BYTES = 32 if BUILT["Cipher"] else 16
INPUTS = {"awvalid": 1, "awaddr": 7, "wvalid": 1, "wdata": 32, "wstrb": 4, "bready": 1, "arvalid": 1, "araddr": 7, "rready": 1}
OUTPUTS = ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rresp", "rdata")
CORE = ("m_axis_key_tready", "s_axis_key_tvalid", "s_axis_key_tuser", "slot_valid", "slot_busy", "verdict_taken", "verdict_status",
        "s_axis_command_tvalid", "s_axis_tvalid", "m_axis_tready", "m_axis_verdict_tready")


def port(dut, name):
    """A signal of AXI4-Lite."""
    return getattr(dut, f"s_axil_{name}")


async def reset(dut):
    """A reset of four cycles."""
    dut.rst_n.value = 0
    for _ in range(4):
        await RisingEdge(dut.clk)
    dut.rst_n.value = 1
    await RisingEdge(dut.clk)


async def begin(dut):
    """Clock and reset, with every input zero."""
    cocotb.start_soon(Clock(dut.clk, 5, "ns").start())
    for name in CORE:
        if hasattr(dut, name) and not (name.startswith("slot_") and hasattr(dut, "s_axis_tvalid")):
            getattr(dut, name).value = 0
    for name in INPUTS:
        port(dut, name).value = 0
    await reset(dut)
    await FallingEdge(dut.clk)


async def hand_over(dut, channel, limit=8, **payload):
    """Offers a beat on a channel from a falling edge until it is taken. Ends at a falling edge."""
    for name, word in payload.items():
        port(dut, name).value = word
    port(dut, f"{channel}valid").value = 1
    for _ in range(limit):
        taken = port(dut, f"{channel}ready").value == 1
        await FallingEdge(dut.clk)
        if taken:
            port(dut, f"{channel}valid").value = 0
            return
    raise AssertionError(f"{channel} was not taken in {limit} cycles")


async def answer(dut, channel, waits, limit=8):
    """Takes an answer after it has waited for some cycles, in which it must stay."""
    for _ in range(limit):
        if port(dut, f"{channel}valid").value == 1:
            break
        await FallingEdge(dut.clk)
    else:
        raise AssertionError(f"no answer on {channel} in {limit} cycles")
    names = (f"{channel}resp", "rdata")[: 1 + (channel == "r")]
    offered = [int(port(dut, name).value) for name in names]
    for _ in range(waits):
        await FallingEdge(dut.clk)
        assert port(dut, f"{channel}valid").value == 1 and [int(port(dut, name).value) for name in names] == offered
    port(dut, f"{channel}ready").value = 1
    await FallingEdge(dut.clk)
    port(dut, f"{channel}ready").value = 0
    assert port(dut, f"{channel}valid").value == 0, "an answer that was taken is still there"
    return offered


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def no_path_from_input_to_output(dut):
    """No output moves with an input within a cycle (IHI 0022, A3.1)."""
    await begin(dut)
    draw = random.Random(1)
    for _ in range(500):
        before = None
        for _ in range(4):
            for name, bits in INPUTS.items():
                port(dut, name).value = draw.getrandbits(bits)
            await Timer(200, "ps")
            now = {name: int(port(dut, name).value) for name in OUTPUTS} | {"irq": int(dut.irq.value)}
            assert before in (None, now), f"moves with an input: {[name for name in now if before[name] != now[name]]}"
            before = now
        await FallingEdge(dut.clk)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def ready_before_valid(dut):
    """Ready does not wait for valid."""
    await begin(dut)
    for channel in ("aw", "w", "ar"):
        assert port(dut, f"{channel}ready").value == 1, f"{channel}ready waits"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def address_and_data_apart(dut):
    """The address of a write comes long before its data, the data long before the address, and both at once."""
    await begin(dut)
    parts = ("aw", {"awaddr": AT["SELECT"]}), ("w", {"wstrb": 15})
    for word, (first, second, apart) in enumerate(((0, 1, 30), (1, 0, 30), (0, 1, 1), (1, 0, 1), (0, 1, 0)), 1):
        payload = [parts[0], ("w", {"wdata": word, "wstrb": 15})]
        if apart:
            await hand_over(dut, payload[first][0], **payload[first][1])
            for _ in range(apart - 1):
                assert port(dut, "bvalid").value == 0, "an answer to half of a write"
                await FallingEdge(dut.clk)
            await hand_over(dut, payload[second][0], **payload[second][1])
        else:
            both = [cocotb.start_soon(hand_over(dut, channel, **more)) for channel, more in payload]
            for one in both:
                await one
        assert await answer(dut, "b", word) == [AxiResp.OKAY]
        await hand_over(dut, "ar", araddr=AT["SELECT"])
        assert await answer(dut, "r", word) == [AxiResp.OKAY, word]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def answers_that_wait(dut):
    """While an answer waits, one more access waits behind it and none is lost; address and data of the next write come first."""
    await begin(dut)
    writes = [cocotb.start_soon(queue(dut, "aw", [{"awaddr": AT["SELECT"]}, {"awaddr": AT["ID"]}, {"awaddr": AT["INTERRUPT"]}])),
              cocotb.start_soon(queue(dut, "w", [{"wdata": word, "wstrb": 15} for word in (3, 1, 1)]))]
    assert [await answer(dut, "b", 20) for _ in range(3)] == [[AxiResp.OKAY], [AxiResp.SLVERR], [AxiResp.OKAY]]
    for one in writes:
        await one
    reads = cocotb.start_soon(queue(dut, "ar", [{"araddr": AT[name]} for name in ("SELECT", "INTERRUPT", "KEY", "ID")]))
    found = [await answer(dut, "r", 20) for _ in range(4)]
    await reads
    assert found == [[AxiResp.OKAY, 3], [AxiResp.OKAY, 1], [AxiResp.SLVERR, 0], [AxiResp.OKAY, 0x5EA10003]]


async def queue(dut, channel, beats):
    """Offers beats one behind the other."""
    for beat in beats:
        await hand_over(dut, channel, limit=100, **beat)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def back_to_back(dut):
    """Answers that are taken at once: a write in every two cycles, and a read."""
    await begin(dut)
    port(dut, "bready").value = port(dut, "rready").value = 1
    answers = {"b": 0, "r": 0}

    async def watch(channel):
        while True:
            await RisingEdge(dut.clk)
            answers[channel] += port(dut, f"{channel}valid").value == 1

    watching = [cocotb.start_soon(watch(channel)) for channel in answers]
    await FallingEdge(dut.clk)
    for name in ("awvalid", "wvalid", "arvalid"):
        port(dut, name).value = 1
    port(dut, "awaddr").value = port(dut, "araddr").value = AT["SELECT"]
    for word in range(40):
        port(dut, "wdata").value = word
        await FallingEdge(dut.clk)
    for name in ("awvalid", "wvalid", "arvalid"):
        port(dut, name).value = 0
    for _ in range(5):
        await FallingEdge(dut.clk)
    for one in watching:
        one.cancel()
    assert answers["b"] >= 20 and answers["r"] >= 20, f"slower: {answers}"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def random_accesses(dut):
    """Reads and writes at once while every channel pauses."""
    await begin(dut)
    bus = processor(dut)
    pause(bus, 0.5)
    draw = random.Random(2)
    for _ in range(60):
        slot = draw.randrange(256)
        wanted = slot << REGISTERS["SELECT"]["fields"][0]["low"]
        assert (await bus.write(AT["SELECT"], wanted.to_bytes(4, "little"))).resp == AxiResp.OKAY
        write = cocotb.start_soon(bus.write(AT["INTERRUPT"], bytes([slot & 1, 0, 0, 0])))
        assert await bus.read_dword(AT["SELECT"]) == wanted
        await write
        assert await bus.read_dword(AT["INTERRUPT"]) == slot & 1


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def after_a_reset(dut):
    """Every register that can be read has the reset value that the map says, also if it had another before."""
    await begin(dut)
    bus = processor(dut)
    for name, word in (("SELECT", 77), ("INTERRUPT", 1)):
        await bus.write_dword(AT[name], word)
    await reset(dut)
    for name, register in REGISTERS.items():
        for number in range(register.get("count", 1)):
            found = await bus.read(AT[name] + 4 * number, 4)
            if register["access"] == "wo":
                assert found.resp == AxiResp.SLVERR and not any(found.data), f"{name} can be read"
                continue
            word = int.from_bytes(found.data, "little")
            for field in register["fields"]:
                wanted = field.get("value", field.get("reset"))
                got = word >> field["low"] & (1 << field["bits"]) - 1
                assert wanted in (None, got), f"{name}.{field['name']}: {got}, not {wanted}"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def parameters(dut):
    """What the core was built with. A GCM core always opens packets."""
    await begin(dut)
    bus = processor(dut)
    opens = BUILT["Opens"] if BUILT["Mode"] else 1
    assert await bus.read_dword(AT["PARAMETERS"]) == fields(
        "PARAMETERS", MODE=BUILT["Mode"], CIPHER=BUILT["Cipher"], LANES=BUILT["Lanes"], OPENS=opens, SLOTS=BUILT["Slots"])
    assert await bus.read_dword(AT["LIMITS"]) == fields(
        "LIMITS", TAG=BUILT["Tag"], KEEP=BUILT["Keep"], NUMBER=BUILT["Number"], HOLD=BUILT["Hold"])
