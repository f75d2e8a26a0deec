# SPDX-License-Identifier: MIT OR Apache-2.0
"""A Sealwright core as a LiteX module with AXI4-Streams.

Python must find this file: put its folder, `rtl/litex` of this repository, into PYTHONPATH, or write

    import sys
    sys.path.append("…/sealwright/rtl/litex")
    from sealwright_core import Sealwright

    self.seal = Sealwright(platform, mode="gcm", cipher="aes128", lanes=1, clock_domain="sys")
    self.comb += [source.connect(self.seal.data), self.seal.text.connect(sink), ...]

Leave the file in that folder: it adds the sources of the cores to the platform by relative paths. The contents of each stream are
in docs/CORES.md under "Interface", and so are the other parameters, which are given by name: `Tag=12`.

The reset of a LiteX clock domain can begin at any time. It passes two registers, so that the whole core sees it begin in the same
cycle, which keys that survive a reset (`Keep=1`) need. The core remains in reset for eight cycles and its inputs idle for eight more. From
the cycle in which the clock domain's reset begins until then nothing passes the streams in either direction: what is offered waits.
"""

from pathlib import Path

from litex.gen import ClockSignal, If, Instance, LiteXModule, ResetSignal, Signal
from litex.soc.interconnect.axi import AXIStreamInterface

RTL = Path(__file__).resolve().parent.parent
MODES = {"gcm": 0, "ocb": 1}
CIPHERS = {"aes128": 0, "aes256": 1, "serpent": 2}
IDLE = 8  # cycles in which inputs are idle before and after the end of a reset (docs/CORES.md)


class Sealwright(LiteXModule):
    """Inputs are the streams `key`, `command` and `data`, outputs `text` and `verdict`. `key_done` and `key_answer` give the
    results of key requests, `slot_valid` and `slot_busy` the state of the slots. All are in `clock_domain`."""

    def __init__(self, platform=None, mode="gcm", cipher="aes128", lanes=1, slots=4, number=16, clock_domain="sys", **more):
        slot_bits = max(1, (slots - 1).bit_length())
        self.key = AXIStreamInterface(256, user_width=slot_bits + 1, clock_domain=clock_domain)
        self.command = AXIStreamInterface(256, user_width=slot_bits + 1 + number, clock_domain=clock_domain)
        self.data = AXIStreamInterface(128 * lanes, keep_width=16 * lanes, user_width=max(1, number), clock_domain=clock_domain)
        self.text = AXIStreamInterface(128 * lanes, keep_width=16 * lanes, clock_domain=clock_domain)
        self.verdict = AXIStreamInterface(128, user_width=6, clock_domain=clock_domain)
        self.key_done, self.key_answer = Signal(), Signal(slot_bits + 2)
        self.slot_valid, self.slot_busy = Signal(slots), Signal(slots)

        # # #

        # The core's reset, and whether its streams are open: its `s_axis_tready` is high in reset, and what it takes then is lost.
        resets, runs, opens = Signal(reset_less=True), Signal(reset_less=True), Signal()
        count = Signal(max=2 * IDLE + 2, reset_less=True)  # cycles without a reset
        sync = getattr(self.sync, clock_domain)
        sync += [
            resets.eq(ResetSignal(clock_domain)),
            If(resets, count.eq(0)).Elif(count != 2 * IDLE + 1, count.eq(count + 1)),
            runs.eq(~resets & (count >= IDLE)),
        ]
        self.comb += opens.eq(~ResetSignal(clock_domain) & ~resets & (count == 2 * IDLE + 1))

        def stream(prefix, ends, way, fields):
            """The ports of an input stream (`i`) or an output stream (`o`) of the core."""
            back = {"i": "o", "o": "i"}[way]
            valid, ready = Signal(), Signal()  # of the core
            if way == "i":
                self.comb += [valid.eq(ends.valid & opens), ends.ready.eq(ready & opens)]
            else:
                self.comb += [ends.valid.eq(valid & opens), ready.eq(ends.ready & opens)]
            ports = {f"{way}_{prefix}_tvalid": valid, f"{back}_{prefix}_tready": ready}
            ports.update({f"{way}_{prefix}_t{field}": getattr(ends, field) for field in fields})
            return ports

        key_done = Signal()
        self.comb += self.key_done.eq(key_done & opens)
        self.specials += Instance(
            "sealwright_axis", p_Mode=MODES[mode], p_Cipher=CIPHERS[cipher], p_Lanes=lanes, p_Slots=slots, p_Number=number,
            **{f"p_{name}": value for name, value in more.items()},
            i_clk=ClockSignal(clock_domain), i_rst_n=runs,
            **stream("s_axis_key", self.key, "i", ["data", "user"]),
            **stream("s_axis_command", self.command, "i", ["data", "user"]),
            **stream("s_axis", self.data, "i", ["data", "keep", "last", "user"]),
            **stream("m_axis", self.text, "o", ["data", "keep", "last"]),
            **stream("m_axis_verdict", self.verdict, "o", ["data", "user"]),
            o_m_axis_key_tvalid=key_done, o_m_axis_key_tuser=self.key_answer,
            o_slot_valid=self.slot_valid, o_slot_busy=self.slot_busy)
        self.comb += self.verdict.last.eq(1)  # every verdict is one beat
        if platform is not None:
            platform.add_verilog_include_path(str(RTL / "lib"))
            for name in (RTL / "files.f").read_text().split():
                platform.add_source(str(RTL / name))
