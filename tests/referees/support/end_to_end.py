"""Streams that are sealed end to end, from docs/RELAY_PROTOCOL.md, RFC 9180, draft-ietf-hpke-hpke-02 (KDFs of one stage)
and X-Wing.
"""

import hashlib
import os
import struct

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from recipients import XWing, from_text, polymod

ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
MAGIC, PUBLIC, ENCAPSULATED = b"SEALE2E2", 1216, 1120
FIRST = len(MAGIC) + PUBLIC + ENCAPSULATED
PSK_ID, EXPORT = b"sealwright end-to-end: both encapsulations", b"sealwright end-to-end: psk"
SUITE = b"HPKE" + struct.pack(">HHH", 0x647A, 0x0011, 0x0003)
DATA, END, REKEY, RECEIPT = 0, 1, 2, 3


def sized(part: bytes) -> bytes:
    return struct.pack(">H", len(part)) + part


def derive(secret: bytes, label: bytes, context: bytes, length: int) -> bytes:
    text = secret + b"HPKE-v1" + SUITE + sized(label) + struct.pack(">H", length) + context
    return hashlib.shake_256(text).digest(length)


class Context:
    """Keys of HPKE: mode 0 without a PSK, 1 with one."""

    def __init__(self, shared: bytes, info: bytes, psk: bytes = b"") -> None:
        mode, psk_id = (b"\x01", PSK_ID) if psk else (b"\x00", b"")
        secret = derive(sized(psk) + sized(shared), b"secret", mode + sized(psk_id) + sized(info), 32 + 12 + 64)
        self.cipher, self.base, self.exporter = ChaCha20Poly1305(secret[:32]), secret[32:44], secret[44:]
        self.number = 0

    def nonce(self) -> bytes:
        number = self.number.to_bytes(12, "big")
        self.number += 1
        return bytes(a ^ b for a, b in zip(self.base, number, strict=True))

    def export(self, length: int) -> bytes:
        return derive(self.exporter, b"sec", EXPORT, length)


def info(label: str, *parts: bytes) -> bytes:
    return label.encode() + b"".join(struct.pack(">I", len(part)) + part for part in parts)


def pair() -> tuple[bytes, str]:
    """A secret key, and its public key as text (Bech32m)."""
    seed = os.urandom(32)
    bits = "".join(f"{byte:08b}" for byte in XWing(seed).public())
    bits += "0" * (-len(bits) % 5)
    values = [int(bits[at : at + 5], 2) for at in range(0, len(bits), 5)]
    head = [ord(c) >> 5 for c in "seal"] + [0] + [ord(c) & 31 for c in "seal"]
    check = polymod(head + values + [0] * 6) ^ 0x2BC830A3
    values += [check >> 5 * (5 - at) & 31 for at in range(6)]
    return seed, "seal1" + "".join(ALPHABET[value] for value in values)


class Plain:
    """A stream as it is."""

    def __init__(self, text: bytes) -> None:
        self.out, self.ended, self.text = text, True, bytearray()

    def take(self, part: bytes) -> None:
        self.text += part


class EndToEnd:
    """Both directions of a sealed stream: `out` is to be sent, `text` is what was opened."""

    def __init__(self, seed: bytes, peer: str, names: tuple[str, str], text: bytes) -> None:
        self.me, self.peer = (names[0].encode(), XWing(seed).public()), (names[1].encode(), from_text("seal", peer))
        self.own, self.to_send = XWing(seed), text
        self.fresh = XWing(os.urandom(32))
        encapsulated, shared = XWing.encapsulate(self.peer[1])
        own = info("sealwright end-to-end: own keys", self.me[0], self.peer[0], self.me[1], self.peer[1], self.fresh.public())
        self.ours = Context(shared, own).export(32)
        self.first = MAGIC + self.fresh.public() + encapsulated
        self.out, self.ended, self.text, self.rekeyed = bytearray(self.first), False, bytearray(), False
        self.waiting, self.context, self.theirs, self.psk, self.over = b"", None, b"", b"", False
        self.sender, self.confirmed = None, False

    def fresh_info(self, sending: bool) -> bytes:
        one, other = (self.me, self.first), (self.peer, self.theirs)
        (a, first), (b, second) = (one, other) if sending else (other, one)
        return info("sealwright end-to-end: fresh keys", a[0], b[0], a[1], b[1], first, second)

    def greeted(self) -> None:
        """The other side's first message is here: everything that we send can be made."""
        assert self.theirs[:8] == MAGIC
        fresh, encapsulated = self.theirs[8 : 8 + PUBLIC], self.theirs[8 + PUBLIC :]
        own = info("sealwright end-to-end: own keys", self.peer[0], self.me[0], self.peer[1], self.me[1], fresh)
        peers = Context(self.own.decapsulate(encapsulated), own).export(32)
        self.psk = self.ours + peers if self.me[0] < self.peer[0] else peers + self.ours
        encapsulated, shared = XWing.encapsulate(fresh)
        self.sender = Context(shared, self.fresh_info(True), self.psk)
        self.out += encapsulated
        pieces = [self.to_send[at : at + 16384] for at in range(0, len(self.to_send), 16384)]
        for kind, piece in [(DATA, b""), *((DATA, piece) for piece in pieces), (END, b"")]:
            self.record(kind, piece)

    def record(self, kind: int, data: bytes) -> None:
        length = struct.pack(">H", len(data) + 17)
        self.out += length + self.sender.cipher.encrypt(self.sender.nonce(), bytes([kind]) + data, length)

    def receiver(self, encapsulated: bytes, psk: bytes) -> Context:
        return Context(self.fresh.decapsulate(encapsulated), self.fresh_info(False), psk)

    def take(self, part: bytes) -> None:
        self.waiting += part
        while True:
            length = int.from_bytes(self.waiting[:2], "big") if len(self.waiting) >= 2 else 1 << 17
            needed = 2 + length if self.context else ENCAPSULATED if self.theirs else FIRST
            if len(self.waiting) < needed:
                return
            message, self.waiting = self.waiting[:needed], self.waiting[needed:]
            if not self.theirs:
                self.theirs = message
                self.greeted()
            elif self.context is None:
                self.context = self.receiver(message, self.psk)
            else:
                text = self.context.cipher.decrypt(self.context.nonce(), message[2:], message[:2])
                assert not self.confirmed, "a record after the receipt"
                assert self.over == (text[0] == RECEIPT), "the receipt, and nothing else, behind the end"
                if text[0] == RECEIPT:
                    assert text[1:] == struct.pack(">Q", len(self.to_send)), "another number of bytes"
                    self.confirmed = True
                elif text[0] == DATA:
                    self.text += text[1:]
                elif text[0] == REKEY:
                    self.context = self.receiver(text[1:], self.context.export(64))
                    self.rekeyed = True
                else:
                    assert text == bytes([END])
                    self.over = self.ended = True
                    self.record(RECEIPT, struct.pack(">Q", len(self.text)))
