"""Opens and writes sealed files with key slots (key source 2) from docs/FORMAT.md alone, with pyca/cryptography.

    python recipients.py PATH_TO_SEALWRIGHT

Needs cryptography 50 or newer. Prints what was checked; exits 1 at the first disagreement.
"""

import hashlib
import hmac
import os
import sys
import tempfile
from pathlib import Path

from chunked_encryption import MAGIC, SUITES, Sealwright
from cryptography.cobblestone import Cobblestone256Decryptor, Cobblestone256Encryptor
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

RAW, PASSPHRASE, PUBLIC = 1, 2, 3
ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def expand(key: bytes, info: bytes, length: int) -> bytes:
    out, block, counter = b"", b"", 1
    while len(out) < length:
        block = hmac.digest(key, block + info + bytes([counter]), "sha512")
        out, counter = out + block, counter + 1
    return out[:length]


def polymod(values: list[int]) -> int:
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for i, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= generator if top >> i & 1 else 0
    return check


def from_text(prefix: str, text: str) -> bytes:
    """Bech32m (BIP 350) of any length."""
    text = text.strip().lower()
    assert text.startswith(prefix + "1"), text[:20]
    values = [ALPHABET.index(c) for c in text[len(prefix) + 1 :]]
    head = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    assert polymod(head + values) == 0x2BC830A3, "checksum"
    bits = "".join(f"{value:05b}" for value in values[:-6])
    assert len(bits) % 8 < 5 and "1" not in bits[len(bits) // 8 * 8 :], "padding"
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) // 8 * 8, 8))


class XWing:
    """draft-connolly-cfrg-xwing-kem, on pyca's X25519 and ML-KEM-768."""

    @staticmethod
    def combine(ss_m: bytes, ss_x: bytes, ct_x: bytes, pk_x: bytes) -> bytes:
        return hashlib.sha3_256(ss_m + ss_x + ct_x + pk_x + rb"\.//^" + b"\\").digest()

    def __init__(self, seed: bytes) -> None:
        expanded = hashlib.shake_256(seed).digest(96)
        self.m = MLKEM768PrivateKey.from_seed_bytes(expanded[:64])
        self.x = X25519PrivateKey.from_private_bytes(expanded[64:])

    def public(self) -> bytes:
        return self.m.public_key().public_bytes_raw() + self.x.public_key().public_bytes_raw()

    def decapsulate(self, encapsulated: bytes) -> bytes:
        ct_m, ct_x = encapsulated[:1088], encapsulated[1088:]
        ss_x = self.x.exchange(X25519PublicKey.from_public_bytes(ct_x))
        return self.combine(self.m.decapsulate(ct_m), ss_x, ct_x, self.x.public_key().public_bytes_raw())

    @classmethod
    def encapsulate(cls, public: bytes) -> tuple[bytes, bytes]:
        pk_m, pk_x = public[:1184], public[1184:]
        ss_m, ct_m = MLKEM768PublicKey.from_public_bytes(pk_m).encapsulate()
        ephemeral = X25519PrivateKey.generate()
        ct_x = ephemeral.public_key().public_bytes_raw()
        ss_x = ephemeral.exchange(X25519PublicKey.from_public_bytes(pk_x))
        return ct_m + ct_x, cls.combine(ss_m, ss_x, ct_x, pk_x)


def slot_context(fixed: bytes, kind: int, parameters: bytes) -> bytes:
    return b"SEALWRIGHT slot v1" + fixed + bytes([kind]) + parameters


def stretch(passphrase: bytes, parameters: bytes, length: int) -> bytes:
    m, t, p = (int.from_bytes(parameters[at : at + 4], "big") for at in (0, 4, 8))
    return Argon2id(salt=parameters[12:28], length=length, iterations=t, lanes=p, memory_cost=m).derive(passphrase)


def read_slots(sealed: bytes) -> tuple[list[tuple[int, bytes, bytes]], bytes, int]:
    """The slots as (type, parameters, wrapped), the MAC, and where the body begins."""
    assert sealed[:8] == MAGIC and sealed[8] == 1 and sealed[10:12] == b"\x02\0", "preamble"
    end = 16 + int.from_bytes(sealed[12:16], "big")
    slots, at = [], 16
    while at < end - 32:
        kind, length = sealed[at], int.from_bytes(sealed[at + 2 : at + 4], "big")
        assert sealed[at + 1] == 0
        content = sealed[at + 4 : at + 4 + length]
        slots.append((kind, content[:-104], content[-104:]))
        at += 4 + length
    assert at == end - 32, "slots fill the header"
    return slots, sealed[end - 32 : end], end


def open_file(sealed: bytes, ad: bytes, raw=None, passphrase=None, pair=None) -> bytes:
    slots, mac, start = read_slots(sealed)
    fixed = sealed[:12]
    for kind, parameters, wrapped in slots:
        if kind == RAW and raw is not None:
            slot_key = expand(raw, b"SEALWRIGHT slot key v1" + bytes([len(raw)]), 32)
        elif kind == PASSPHRASE and passphrase is not None:
            slot_key = stretch(passphrase, parameters, 32)
        elif kind == PUBLIC and pair is not None:
            slot_key = pair.decapsulate(parameters[16:])
        else:
            continue
        opening = Cobblestone256Decryptor(slot_key, context=slot_context(fixed, kind, parameters))
        try:
            file_key = opening.update(wrapped) + opening.finalize()
        except (InvalidTag, ValueError):
            continue
        wanted = hmac.digest(expand(file_key, b"SEALWRIGHT header MAC v1", 64), sealed[: start - 32], "sha512")[:32]
        assert wanted == mac, "header MAC"
        if kind == PUBLIC:
            assert expand(file_key, b"SEALWRIGHT recipient v1" + pair.public(), 16) == parameters[:16], "mark"
        _, key_len, _, decryptor = next(suite for suite in SUITES.values() if suite[0] == sealed[9])
        body = decryptor(expand(file_key, b"SEALWRIGHT input key v1", key_len), context=fixed + ad)
        return body.update(sealed[start:]) + body.finalize()
    raise AssertionError("no slot opens")


def seal_file(suite: str, ad: bytes, text: bytes, recipients: list[tuple[int, bytes]]) -> bytes:
    suite_id, key_len, encryptor, _ = SUITES[suite]
    fixed = MAGIC + bytes([1, suite_id, 2, 0])
    file_key, content = os.urandom(32), b""
    for kind, secret in recipients:
        if kind == RAW:
            parameters, slot_key = b"", expand(secret, b"SEALWRIGHT slot key v1" + bytes([len(secret)]), 32)
        elif kind == PASSPHRASE:
            parameters = b"".join(n.to_bytes(4, "big") for n in (1000, 2, 3)) + os.urandom(16)
            slot_key = stretch(secret, parameters, 32)
        else:
            encapsulated, slot_key = XWing.encapsulate(secret)
            parameters = expand(file_key, b"SEALWRIGHT recipient v1" + secret, 16) + encapsulated
        wrapping = Cobblestone256Encryptor(slot_key, context=slot_context(fixed, kind, parameters))
        slot = parameters + wrapping.update(file_key) + wrapping.finalize()
        content += bytes([kind, 0]) + len(slot).to_bytes(2, "big") + slot
    header = fixed + (len(content) + 32).to_bytes(4, "big") + content
    header += hmac.digest(expand(file_key, b"SEALWRIGHT header MAC v1", 64), header, "sha512")[:32]
    body = encryptor(expand(file_key, b"SEALWRIGHT input key v1", key_len), context=fixed + ad)
    return header + body.update(text) + body.finalize()


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    checks = 0
    with tempfile.TemporaryDirectory() as home:
        ours = Sealwright(str(Path(sys.argv[1]).resolve()), Path(home))
        identity = ours.home / "me.id"
        public_text = ours.must("key", "new", "--pair", "-o", identity).decode()
        secret_line = [line for line in identity.read_text().splitlines() if line.startswith("SEAL-SECRET-KEY-1")]
        pair = XWing(from_text("seal-secret-key-", secret_line[0]))
        assert from_text("seal", public_text) == pair.public(), "public key"
        raw, passphrase = os.urandom(32), b"correct horse"
        key_file, recipients = ours.file("raw", raw), ours.file("recipients", b"# me\n\n" + public_text.encode())
        phrase = f"echo {passphrase.decode()}"
        for suite in SUITES:
            for length in (0, 1, 16_384, 100_000):
                text, ad = os.urandom(length), b"invoice 7"
                sealed, out = ours.home / "sealed", ours.home / "out"
                ours.must(
                    *("seal", "--suite", suite, "-R", recipients, "--key-file", key_file, "--ad", ad.decode()),
                    *(ours.file("plain", text), "-f", "-o", sealed),
                )
                both = sealed.read_bytes()
                assert open_file(both, ad, raw=raw) == text, "raw slot"
                assert open_file(both, ad, pair=pair) == text, "public-key slot"
                ours.must(
                    *("seal", "--suite", suite, "-r", public_text.strip(), "--passphrase-command", phrase),
                    *("--cost", "1MiB", "--ad", ad.decode(), ours.home / "plain", "-f", "-o", sealed),
                )
                assert open_file(sealed.read_bytes(), ad, passphrase=passphrase) == text, "passphrase slot"
                theirs = seal_file(suite, ad, text, [(RAW, raw), (PASSPHRASE, passphrase), (PUBLIC, pair.public())])
                path = ours.file("theirs.seal", theirs)
                for with_key in (
                    ["--key-file", key_file],
                    ["--passphrase-command", phrase],
                    ["-i", identity],
                ):
                    ours.must("open", *with_key, "--ad", ad.decode(), path, "-f", "-o", out)
                    assert out.read_bytes() == text, f"ours opens theirs with {with_key[0]}"
                changed = bytearray(theirs)
                changed[16 + 108 + 20] ^= 1  # the passphrase's slot; the pair's is behind it
                done = ours.run("open", "-i", identity, "--ad", ad.decode(), ours.file("changed.seal", changed), "-o", "-")
                assert done.returncode == 3, f"a changed slot: exit {done.returncode}"
                checks += 8
    print(f"key slots of three kinds, written and read: {checks} checks agree with pyca")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssertionError as error:
        print(f"key slots: DISAGREE: {error}", file=sys.stderr)
        sys.exit(1)
