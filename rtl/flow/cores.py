"""The cores: their names and parameters."""

from dataclasses import dataclass

CIPHERS = {"aes128": 0, "aes256": 1, "serpent": 2}
SBOXES = {"table": 0, "rom": 1, "composite": 2}
MODES = {"gcm": 0, "ocb": 1, "cipher": 2}


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

    @property
    def name(self):
        """`gcm-aes128-4` with the kind of S-box, if there is a choice, and the number of registers inside a round."""
        sbox = f"-{'cut' if self.cipher == 'serpent' else self.sbox}{self.cut}"
        return f"{self.mode}-{self.cipher}-{self.lanes}{sbox}"

    @property
    def suite(self):
        """The name of the suite in the library."""
        cipher = {"aes128": "aes-128", "aes256": "aes-256", "serpent": "serpent-256"}[self.cipher]
        return f"{cipher}-{self.mode}"

    @property
    def parameters(self):
        """The parameters of the top module, as numbers."""
        return {
            "Mode": MODES[self.mode],
            "Cipher": CIPHERS[self.cipher],
            "Sbox": SBOXES[self.sbox],
            "Cut": self.cut,
            "Lanes": self.lanes,
            "Depth": self.depth,
            "Slots": self.slots,
        }
