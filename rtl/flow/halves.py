# SPDX-License-Identifier: MIT OR Apache-2.0
"""Simulates AES with S-boxes in memories in half of its lanes, which is placed and routed with four lanes (syn/cipher_halves.sv)."""

import sys

from .protocol import tested
from .tools import BUILD, RTL, sources


def check():
    """Fails unless both halves encrypt as AES does."""
    sys.path.insert(0, str(RTL / "syn"))  # for the tests
    built = {"Cipher": 0, "Cut": 4, "Lanes": 4, "Slots": 4}
    files = [*sources(), RTL / "syn" / "cipher_halves.sv"]
    if not tested("cipher_halves", "cipher_halves", ["test_halves"], BUILD / "halves", built, files, {"LANES": "4", "SLOTS": "4"}):
        raise SystemExit("cipher_halves: a half does not encrypt as AES does")
