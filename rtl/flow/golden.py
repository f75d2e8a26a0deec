# SPDX-License-Identifier: MIT OR Apache-2.0
"""The Python package `sealwright` as golden model: what the cores must answer is computed with it."""

import importlib
import struct
import sys
from pathlib import Path

from .tools import BUILD, RTL

OWN = RTL.parent / "python" / ".venv" / "lib"


def package():
    """The package: installed here, or where `cargo xtask python` installs it. None if it is nowhere."""
    found = sorted(OWN.glob("python*/site-packages/sealwright"))
    if found:
        # The package alone, without what else is installed there.
        link = BUILD / "golden" / "sealwright"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(found[0], target_is_directory=True)
        sys.path.append(str(link.parent))
    try:
        return importlib.import_module("sealwright")
    except ImportError:
        return None


def model(sealwright, suite):
    """The class of a suite of the cores, and the length of its key; None if the package has no such class."""
    cipher, bits, mode = suite.split("@")[0].split("-")
    known = {"gcm": sealwright.AESGCM, "ocb": sealwright.AESOCB3}
    return (known[mode], int(bits) // 8) if cipher == "aes" else None


def answers(path, suite):
    """Computes each answer in a file of cases with the package, and writes it there. Returns how many; 0 without the package.

    A packet that is not authentic must be refused by the package too. Its answer has no text.
    """
    sealwright = package()
    found = model(sealwright, suite) if sealwright else None
    if found is None:
        return 0
    make, key_len = found
    keys, computed, out = {}, 0, bytearray()
    with Path(path).open("rb") as file:
        while kind := file.read(1):
            if kind == b"\1":
                slot, key = file.read(1), file.read(32)
                keys[slot[0]] = make(key[:key_len])
                out += kind + slot + key
                continue
            slot, opens, authentic, _ = head = file.read(4)
            nonce, claim, tag, lengths = file.read(12), file.read(16), file.read(16), file.read(4)
            ad_len, text_len = struct.unpack("<HH", lengths)
            ad, given, wanted = file.read(ad_len), file.read(text_len), file.read(text_len)
            key = keys[slot]
            if not opens:
                message = key.encrypt(nonce, given, ad)
                wanted, tag = message[:-16], message[-16:]
            elif authentic:
                wanted = key.decrypt(nonce, given + claim, ad)
                tag = key.encrypt(nonce, wanted, ad)[-16:]
            else:
                try:
                    key.decrypt(nonce, given + claim, ad)
                except sealwright.InvalidTag:
                    pass
                else:
                    raise SystemExit(f"{path}: the package opens packet {computed}, which the library says is forged")
            out += kind + head + nonce + claim + tag + lengths + ad + given + wanted
            computed += 1
    Path(path).write_bytes(out)
    return computed
