"""Opens and writes padded and signed files, manifests, and slots of SSH keys from docs/FORMAT.md alone, with pyca/cryptography.

    python layouts.py PATH_TO_SEALWRIGHT

Needs cryptography 50 or newer. Prints what was checked; exits 1 at the first disagreement.
"""

import base64
import hashlib
import hmac
import os
import sys
import tempfile
from pathlib import Path

from chunked_encryption import MAGIC, Sealwright
from cryptography.cobblestone import Cobblestone256Decryptor, Cobblestone256Encryptor
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PrivateKey, MLDSA65PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from recipients import expand, from_text, read_slots, slot_context

PADDED, SIGNED, LIST = 128, 64, 2
P25519 = 2**255 - 19
OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), b"SEALWRIGHT ssh-rsa v1")


def padme(length: int) -> int:
    whole = max(length + 8, 1024)
    exponent = whole.bit_length() - 1
    low = exponent - exponent.bit_length()
    return -(-whole >> low) << low if low > 0 else whole


def pad(text: bytes) -> bytes:
    return text.ljust(padme(len(text)) - 8, b"\0") + len(text).to_bytes(8, "big")


def unpad(whole: bytes) -> bytes:
    length = int.from_bytes(whole[-8:], "big")
    assert length <= len(whole) - 8 and not any(whole[length:-8]), "padding"
    return whole[:length]


class Keys:
    """A signing key, from its text, and what it signs."""

    def __init__(self, seed: bytes) -> None:
        self.classic = Ed25519PrivateKey.from_private_bytes(expand(seed, b"SEALWRIGHT signing key ed25519 v1", 32))
        self.lattice = MLDSA65PrivateKey.from_seed_bytes(expand(seed, b"SEALWRIGHT signing key ML-DSA-65 v1", 32))

    def public(self) -> bytes:
        return self.classic.public_key().public_bytes_raw() + self.lattice.public_key().public_bytes_raw()

    def sign(self, kind: int, content: bytes, context: bytes) -> bytes:
        message = signed_message(self.public(), kind, content, context)
        return self.classic.sign(message) + self.lattice.sign(message)


def signed_message(public: bytes, kind: int, content: bytes, context: bytes) -> bytes:
    hashed = hashlib.sha512(public).digest() + hashlib.sha512(content).digest()
    return b"SEALWRIGHT signature v1" + bytes([kind]) + hashed + context


def key_id(public: bytes) -> bytes:
    return hashlib.sha512(public).digest()[:16]


def check_signature(public: bytes, signature: bytes, kind: int, content: bytes, context: bytes) -> None:
    message = signed_message(public, kind, content, context)
    try:
        Ed25519PublicKey.from_public_bytes(public[:32]).verify(signature[:64], message)
        MLDSA65PublicKey.from_public_bytes(public[32:]).verify(signature[64:], message)
    except InvalidSignature as error:
        raise AssertionError("signature") from error


def open_raw(key: bytes, sealed: bytes, public: bytes | None = None) -> tuple[int, bytes]:
    """The content of a file under a raw key, and its text."""
    assert sealed[:11] == MAGIC + bytes([1, 2, 0]) and sealed[12:16] == bytes(4)
    layout, body = sealed[11], Cobblestone256Decryptor(key, context=sealed[:16])
    text = body.update(sealed[16:]) + body.finalize()
    if layout & PADDED:
        text = unpad(text)
    if layout & SIGNED:
        text, name, signature = text[:-3389], text[-3389:-3373], text[-3373:]
        if public:
            assert name == key_id(public), "key id"
            check_signature(public, signature, 1, text, sealed[:12] + sealed[16 + 24 : 16 + 56])
    return layout & 63, text


def seal_raw(key: bytes, text: bytes, padded: bool) -> bytes:
    preamble = MAGIC + bytes([1, 2, 0, PADDED if padded else 0]) + bytes(4)
    body = Cobblestone256Encryptor(key, context=preamble)
    return preamble + body.update(pad(text) if padded else text) + body.finalize()


def paddings(ours: Sealwright, key: bytes, key_file: Path) -> int:
    for length in (0, 1, 1016, 1017, 16_376, 16_377, 100_000, 1_000_000):
        for text in (os.urandom(length), bytes(length)):
            plain, sealed, out = ours.file("plain", text), ours.home / "sealed", ours.home / "out"
            ours.must("seal", "--key-file", key_file, "--pad", plain, "-f", "-o", sealed)
            assert sealed.stat().st_size == 16 + 56 + padme(length) + 16 * (padme(length) // 16_384 + 1), "length"
            assert open_raw(key, sealed.read_bytes()) == (0, text), f"padded {length}"
            ours.must("open", "--key-file", key_file, ours.file("theirs", seal_raw(key, text, True)), "-f", "-o", out)
            assert out.read_bytes() == text
    return 32


def signatures(ours: Sealwright, key: bytes, key_file: Path) -> int:
    secret, verify = ours.home / "my.sign", ours.home / "my.verify"
    verify.write_bytes(ours.must("key", "new", "--signing", "-o", secret))
    keys = Keys(from_text("seal-signing-key-", secret.read_text().splitlines()[1]))
    assert from_text("seal-verify", verify.read_text()) == keys.public(), "verification key"
    for length in (0, 3389, 100_000):
        for more in ([], ["--pad"]):
            text = os.urandom(length)
            plain, sealed = ours.file("plain", text), ours.home / "sealed"
            ours.must("seal", "--key-file", key_file, "--sign", secret, *more, plain, "-f", "-o", sealed)
            assert open_raw(key, sealed.read_bytes(), keys.public()) == (0, text), f"signed {length} {more}"
        # A detached signature, both ways.
        ours.must("sign", "-s", secret, "--comment", "päper", plain, "-f", "-o", ours.home / "sig")
        lines = (ours.home / "sig").read_text().splitlines()
        assert [lines[0], lines[-1]] == [f"-----{end} SEALWRIGHT SIGNATURE-----" for end in ("BEGIN", "END")]
        parts = base64.b64decode("".join(lines[1:-1]))
        comment = "päper".encode()
        assert parts[:-3373] == b"\1" + key_id(keys.public()) + len(comment).to_bytes(2, "big") + comment
        check_signature(keys.public(), parts[-3373:], 2, text, comment)
        theirs = b"\1" + key_id(keys.public()) + b"\0\2hi" + keys.sign(2, text, b"hi")
        coded = base64.b64encode(theirs).decode()
        lines = [lines[0], *(coded[i : i + 64] for i in range(0, len(coded), 64)), lines[-1]]
        path = ours.file("theirs", "\n".join(lines).encode() + b"\n")
        assert b"comment: hi" in ours.must("verify", "--signer", verify, "--signature", path, plain)
    return 15


def manifests(ours: Sealwright, key: bytes, key_file: Path) -> int:
    folder = ours.home / "d"
    for name in ("a", "sub/b", "sub/c"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
    ours.must("seal", "--key-file", key_file, "--each", folder, "-C", ours.home / "each")
    content, text = open_raw(key, (ours.home / "each/d/.seal-manifest").read_bytes())
    wanted = b"SEALLIST"
    for name in ("a.seal", "sub/b.seal", "sub/c.seal"):
        commitment = (ours.home / "each/d" / name).read_bytes()[16 + 24 : 16 + 56]
        wanted += len(name).to_bytes(2, "big") + name.encode() + commitment
    assert (content, text) == (LIST, wanted), "manifest"
    return 1


def montgomery(public: bytes) -> bytes:
    y = int.from_bytes(public, "little") & (2**255 - 1)
    return ((1 + y) * pow(1 - y, -1, P25519) % P25519).to_bytes(32, "little")


def ssh_blob(public) -> bytes:
    form = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    return base64.b64decode(public.public_bytes(*form).split()[1])


def ed25519_slot_key(shared: bytes, share: bytes, blob: bytes) -> bytes:
    return hmac.digest(b"SEALWRIGHT ssh-ed25519 v1", shared + share + blob, "sha512")[:32]


def ssh_slot_key(secret, kind: int, parameters: bytes) -> bytes:
    if kind == 5:
        return secret.decrypt(parameters[16:], OAEP)
    scalar = X25519PrivateKey.from_private_bytes(hashlib.sha512(secret.private_bytes_raw()).digest()[:32])
    shared = scalar.exchange(X25519PublicKey.from_public_bytes(parameters[16:]))
    return ed25519_slot_key(shared, parameters[16:], ssh_blob(secret.public_key()))


def ssh_slot(public, mark: bytes) -> tuple[int, bytes, bytes]:
    if isinstance(public, rsa.RSAPublicKey):
        slot_key = os.urandom(32)
        return 5, mark + public.encrypt(slot_key, OAEP), slot_key
    ephemeral = X25519PrivateKey.generate()
    share = ephemeral.public_key().public_bytes_raw()
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(montgomery(public.public_bytes_raw())))
    return 4, mark + share, ed25519_slot_key(shared, share, ssh_blob(public))


def ssh_keys(ours: Sealwright) -> int:
    checks, text = 0, os.urandom(50_000)
    form = serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    for secret in (Ed25519PrivateKey.generate(), rsa.generate_private_key(65537, 2048), rsa.generate_private_key(65537, 3072)):
        public, blob = secret.public_key(), ssh_blob(secret.public_key())
        identity = ours.file("id", secret.private_bytes(*form))
        line = public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        ours.must("seal", "-R", ours.file("id.pub", line + b" me\n"), ours.file("plain", text), "-f", "-o", ours.home / "s")
        sealed = (ours.home / "s").read_bytes()
        [(kind, parameters, wrapped)], mac, start = read_slots(sealed)
        opening = Cobblestone256Decryptor(
            ssh_slot_key(secret, kind, parameters), context=slot_context(sealed[:12], kind, parameters)
        )
        file_key = opening.update(wrapped) + opening.finalize()
        assert hmac.digest(expand(file_key, b"SEALWRIGHT header MAC v1", 64), sealed[: start - 32], "sha512")[:32] == mac
        assert expand(file_key, b"SEALWRIGHT recipient v1" + blob, 16) == parameters[:16], "mark"
        body = Cobblestone256Decryptor(expand(file_key, b"SEALWRIGHT input key v1", 32), context=sealed[:12])
        assert body.update(sealed[start:]) + body.finalize() == text, "text"
        # And the other way.
        fixed, file_key = MAGIC + bytes([1, 2, 2, 0]), os.urandom(32)
        kind, parameters, slot_key = ssh_slot(public, expand(file_key, b"SEALWRIGHT recipient v1" + blob, 16))
        wrapping = Cobblestone256Encryptor(slot_key, context=slot_context(fixed, kind, parameters))
        slot = parameters + wrapping.update(file_key) + wrapping.finalize()
        slot = bytes([kind, 0]) + len(slot).to_bytes(2, "big") + slot
        header = fixed + (len(slot) + 32).to_bytes(4, "big") + slot
        header += hmac.digest(expand(file_key, b"SEALWRIGHT header MAC v1", 64), header, "sha512")[:32]
        body = Cobblestone256Encryptor(expand(file_key, b"SEALWRIGHT input key v1", 32), context=fixed)
        theirs = ours.file("theirs", header + body.update(text) + body.finalize())
        ours.must("open", "-i", identity, theirs, "-f", "-o", ours.home / "out")
        assert (ours.home / "out").read_bytes() == text, "ours opens theirs"
        checks += 5
    return checks


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as home:
        ours = Sealwright(str(Path(sys.argv[1]).resolve()), Path(home))
        key = os.urandom(32)
        key_file = ours.file("key", key)
        checks = paddings(ours, key, key_file) + signatures(ours, key, key_file) + manifests(ours, key, key_file)
        checks += ssh_keys(ours)
    print(f"padding, signatures, manifests and SSH keys: {checks} checks agree with pyca")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (AssertionError, InvalidTag, ValueError) as error:
        print(f"layouts: DISAGREE: {error!r}", file=sys.stderr)
        sys.exit(1)
