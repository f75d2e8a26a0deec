# SPDX-License-Identifier: MIT OR Apache-2.0
"""The cores: their names and parameters."""

from dataclasses import dataclass

CIPHERS = {"aes128": 0, "aes256": 1, "serpent": 2}
SBOXES = {"table": 0, "rom": 1, "composite": 2}
MODES = {"gcm": 0, "ocb": 1, "cipher": 2, "shu": 3}


@dataclass(frozen=True)
class Core:
    """A core and its parameters, which have the names of the SystemVerilog parameters."""

    mode: str
    cipher: str
    lanes: int = 4
    sbox: str = "table"
    cut: int = 0
    depth: int = 6
    slots: int = 4
    opens: int = 1
    hold: int = 0
    tag: int = 16
    keep: int = 0
    number: int = 0  # unlike the module, whose default is 16

    @property
    def name(self):
        """`gcm-aes128-4` with the kind of S-box, if there is a choice, and the number of registers inside a round."""
        sbox = f"-{'cut' if self.cipher == 'serpent' else self.sbox}{self.cut}"
        return f"{self.mode}-{self.cipher}-{self.lanes}{sbox}"

    @property
    def folder(self):
        """A name that tells all parameters apart."""
        return "-".join([self.name, f"d{self.depth}", f"k{self.slots}", f"o{self.opens}", f"h{self.hold}", f"t{self.tag}"]
                        + ["keep"] * self.keep + [f"n{self.number}"] * (self.number > 0))

    @property
    def suite(self):
        """What `rtl_cases` calls the suite: its name in the library, how long its tags are if not 16 bytes, and the slots if not
        four."""
        cipher = {"aes128": "aes-128", "aes256": "aes-256", "serpent": "serpent-256"}[self.cipher]
        return f"{cipher}-{self.mode}" + f":{self.tag}" * (self.tag != 16) + f"@{self.slots}" * (self.slots != 4)

    @property
    def parameters(self):
        """The parameters of a core that is synthesised (syn/core_shim.sv), as numbers."""
        return {
            "Mode": MODES[self.mode],
            "Cipher": CIPHERS[self.cipher],
            "Sbox": SBOXES[self.sbox],
            "Cut": self.cut,
            "Lanes": self.lanes,
            "Depth": self.depth,
            "Slots": self.slots,
            "Opens": self.opens,
            "Hold": self.hold,
            "Tag": self.tag,
        }

    @property
    def of_streams(self):
        """All parameters of the module with the streams (mode/sealwright_axis.sv)."""
        return {**self.parameters, "Keep": self.keep, "Number": self.number}


BUS = Core("shu", "aes128", 1, "rom", 4, slots=1)  # the unit of a bus node (bus/shu.sv), as it is simulated and synthesised
