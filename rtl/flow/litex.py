# SPDX-License-Identifier: MIT OR Apache-2.0
"""Simulates the LiteX module: a design that contains it is written as Verilog, and the tests of the stream protocol run on it."""

import re
import sys

from . import protocol
from .cores import Core
from .sim import cases
from .tools import BUILD, RTL, sources

CORE = Core("gcm", "aes128", 1, number=16)


def design(path):
    """Writes a LiteX design as Verilog, with the ports that the tests drive."""
    sys.path.insert(0, str(RTL / "litex"))
    from litex.gen import ClockDomain, LiteXModule, Signal
    from migen.fhdl import verilog
    from sealwright_core import Sealwright

    ports = set()

    def port(name, bits=1):
        signal = Signal(bits, name=name)
        ports.add(signal)
        return signal

    class Design(LiteXModule):
        """The module, with its streams connected to ports."""

        def __init__(self):
            clk, rst_n = port("clk"), port("rst_n")
            self.cd_packets = ClockDomain()
            self.comb += [self.cd_packets.clk.eq(clk), self.cd_packets.rst.eq(~rst_n)]
            self.seal = seal = Sealwright(None, CORE.mode, CORE.cipher, CORE.lanes, CORE.slots, CORE.number, clock_domain="packets")
            for prefix, ends, way, fields in (
                ("s_axis_key", seal.key, "in", ("data", "user")), ("s_axis_command", seal.command, "in", ("data", "user")),
                ("s_axis", seal.data, "in", ("data", "keep", "last", "user")), ("m_axis", seal.text, "out", ("data", "keep", "last")),
                ("m_axis_verdict", seal.verdict, "out", ("data", "user")),
            ):
                for field in ("valid", "ready", *fields):
                    inner = getattr(ends, field)
                    outer = port(f"{prefix}_t{field}", len(inner))
                    inward = (way == "in") != (field == "ready")
                    self.comb += inner.eq(outer) if inward else outer.eq(inner)
            for name, inner in (("m_axis_key_tvalid", seal.key_done), ("m_axis_key_tuser", seal.key_answer),
                                ("slot_valid", seal.slot_valid), ("slot_busy", seal.slot_busy)):
                self.comb += port(name, len(inner)).eq(inner)

    made = Design()
    path.write_text(str(verilog.convert(made, ports, name="litex_design")))
    return path


def resets_with_the_clock(text):
    """Whether the core's reset comes from a register that itself has no reset, in a design as Verilog."""
    wire = re.search(r"\.rst_n\s*\((\w+)\)", text)
    clocked = re.findall(r"always @\(posedge \w+\) begin(.*?)\nend\n", text, re.DOTALL)
    # A register with a reset would have a second assignment
    return bool(wire) and sum(len(re.findall(rf"^\s*{wire[1]} <=", body, re.MULTILINE)) for body in clocked) == 1


def check(generator):
    """Fails if a test fails on the design."""
    folder = BUILD / "litex"
    folder.mkdir(parents=True, exist_ok=True)
    path = cases(generator, [CORE.suite, 11, 8000], "litex")
    made = design(folder / "litex_design.v")
    if not resets_with_the_clock(made.read_text()):
        raise SystemExit("the core's reset may begin between two edges of the clock")
    files = [*sources(), made]
    env = {"CASES": str(path), "LANES": str(CORE.lanes), "HOLD": "0", "KEEP": "0", "WEAK": "0"}
    modules = ["test_protocol", "test_faults", "test_numbers", "test_litex"]
    if not protocol.tested("litex_design", "LiteX", modules, folder, None, files, env):
        raise SystemExit("a test failed on the design of LiteX")
