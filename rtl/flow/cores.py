"""The cores by name: which parameters make which."""

from dataclasses import dataclass

CIPHERS = {"aes128": 0, "aes256": 1, "serpent": 2}
SBOXES = {"table": 0, "rom": 1, "composite": 2}
MODES = {"gcm": 0, "ocb": 1, "cipher": 2}


@dataclass(frozen=True)
class Core:
    """A core and its parameters, named as the SystemVerilog ones are."""

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
        """`gcm-aes128-4`, with the S-box where there is a choice, and the registers inside a round."""
        sbox = f"-{'cut' if self.cipher == 'serpent' else self.sbox}{self.cut}"
        return f"{self.mode}-{self.cipher}-{self.lanes}{sbox}"

    @property
    def suite(self):
        """What the library calls it."""
        cipher = {"aes128": "aes-128", "aes256": "aes-256", "serpent": "serpent-256"}[self.cipher]
        return f"{cipher}-{self.mode}"

    @property
    def parameters(self):
        """Of the top module, in numbers."""
        return {
            "Mode": MODES[self.mode],
            "Cipher": CIPHERS[self.cipher],
            "Sbox": SBOXES[self.sbox],
            "Cut": self.cut,
            "Lanes": self.lanes,
            "Depth": self.depth,
            "Slots": self.slots,
        }
