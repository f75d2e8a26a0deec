# SPDX-License-Identifier: MIT OR Apache-2.0
"""The registers (axi/registers.json) for tests: their places and fields, a processor's end of AXI4-Lite, and keys that go to a
core through them."""

import json
import logging
import random
from itertools import count
from pathlib import Path

from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

MAP = json.loads((Path(__file__).parent.parent / "axi" / "registers.json").read_text())
REGISTERS = {register["name"]: register for register in MAP["registers"]}
AT = {name: register["offset"] for name, register in REGISTERS.items()}


def fields(name, **values):
    """The word of a register whose fields have these values, the others zero."""
    low = {field["name"]: field["low"] for field in REGISTERS[name]["fields"]}
    return sum(value << low[field] for field, value in values.items())


def field(name, word, wanted):
    """A field of a register's word."""
    found = next(field for field in REGISTERS[name]["fields"] if field["name"] == wanted)
    return word >> found["low"] & (1 << found["bits"]) - 1


def value(name, wanted, label):
    """The number that a value of a field has."""
    return next(field for field in REGISTERS[name]["fields"] if field["name"] == wanted)["values"][label]["value"]


def processor(dut):
    """The processor's end."""
    bus = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst_n, reset_active_level=False)
    for end in (bus.write_if, bus.read_if):
        end.log.setLevel(logging.WARNING)
    return bus


def pause(bus, share):
    """Pauses every channel of AXI4-Lite in this share of the cycles, each in others."""
    ends = (bus.write_if.aw_channel, bus.write_if.w_channel, bus.write_if.b_channel, bus.read_if.ar_channel, bus.read_if.r_channel)
    for number, end in enumerate(ends):
        draw = random.Random(number)
        end.set_pause_generator(draw.random() < share for _ in count())


async def refused(bus, name, word):
    """Whether a write is answered with an error."""
    return (await bus.write(AT[name], word.to_bytes(4, "little"))).resp == AxiResp.SLVERR


class Keys:
    """Keys that go to a core through its registers, as `KeyStream` of test_protocol sends them through a stream."""

    def __init__(self, dut):
        self.dut = dut
        self.bus = processor(dut)

    def pause(self, share, _seed):
        """Pauses in this share of the cycles."""
        pause(self.bus, share)

    async def begin(self, slot, key, erase=0):
        """Gives a command to load a key, or to erase one."""
        assert not await self.refuses(slot, key, erase)

    async def refuses(self, slot, key, erase):
        """Whether a command to load a key, or to erase one, is answered with an error."""
        if not erase:
            assert (await self.bus.write(AT["KEY"], key)).resp == AxiResp.OKAY
        return await refused(self.bus, "KEY_COMMAND", fields("KEY_COMMAND", SLOT=slot, ERASE=erase))

    async def taken(self):
        """Waits until the core has taken the command."""
        while self.dut.key_ready.value == 1:
            await RisingEdge(self.dut.clk)

    async def end(self):
        """Waits for the end of the command: its status and its slot."""
        while not field("KEY_EVENT", event := await self.bus.read_dword(AT["KEY_EVENT"]), "DONE"):
            await RisingEdge(self.dut.clk)
        await self.bus.write_dword(AT["KEY_EVENT"], fields("KEY_EVENT", DONE=1))
        return field("KEY_EVENT", event, "STATUS"), field("KEY_EVENT", event, "SLOT")
