"""Compares sealed files with pyca/cryptography, which has its own C2SP chunked encryption (Cobblestone).

    python chunked_encryption.py PATH_TO_SEALWRIGHT

Needs cryptography 50 or newer. Prints what was checked, and exits with code 1 at the first disagreement.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cryptography.cobblestone import (
    Cobblestone128Decryptor,
    Cobblestone128Encryptor,
    Cobblestone256Decryptor,
    Cobblestone256Encryptor,
)
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

MAGIC = bytes.fromhex("895345414c0d0a1a")
SUITES = {
    "aes-256-gcm": (2, 32, Cobblestone256Encryptor, Cobblestone256Decryptor),
    "aes-128-gcm": (1, 16, Cobblestone128Encryptor, Cobblestone128Decryptor),
}
LENGTHS = [0, 1, 16, 16_383, 16_384, 16_385, 100_000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_500_000]
FORMAT = Path(__file__).resolve().parents[2] / "docs" / "FORMAT.md"


def raw_preamble(suite_id: int) -> bytes:
    return MAGIC + bytes([1, suite_id, 0, 0, 0, 0, 0, 0])


def passphrase_preamble(suite_id: int, memory_kib: int, passes: int, lanes: int, salt: bytes) -> bytes:
    numbers = b"".join(n.to_bytes(4, "big") for n in (memory_kib, passes, lanes))
    return MAGIC + bytes([1, suite_id, 1, 0, 0, 0, 0, 28]) + numbers + salt


def seal(encryptor, key: bytes, preamble: bytes, ad: bytes, text: bytes) -> bytes:
    body = encryptor(key, context=preamble + ad)
    return preamble + body.update(text) + body.finalize()


def open_body(decryptor, key: bytes, context: bytes, body: bytes) -> bytes:
    opening = decryptor(key, context=context)
    return opening.update(body) + opening.finalize()


def must_refuse(decryptor, key: bytes, context: bytes, body: bytes) -> None:
    try:
        open_body(decryptor, key, context, body)
    except (InvalidTag, ValueError):
        return
    raise AssertionError("pyca opened a damaged body")


class Sealwright:
    """The program under test and its temporary directory."""

    def __init__(self, program: str, home: Path) -> None:
        self.program = program
        self.home = home

    def file(self, name: str, content: bytes, mode: int = 0o600) -> Path:
        path = self.home / name
        path.unlink(missing_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
        return path

    def run(self, *args: str, **options) -> subprocess.CompletedProcess:
        return subprocess.run([self.program, *map(str, args)], capture_output=True, check=False, **options)

    def must(self, *args: str, **options) -> bytes:
        done = self.run(*args, **options)
        assert done.returncode == 0, f"{args}: exit {done.returncode}: {done.stderr.decode(errors='replace')}"
        return done.stdout


def check_raw_keys(ours: Sealwright) -> int:
    checks = 0
    for suite, (suite_id, key_len, encryptor, decryptor) in SUITES.items():
        preamble = raw_preamble(suite_id)
        for length in LENGTHS:
            for ad in (b"", b"invoice 7"):
                key, text = os.urandom(key_len), os.urandom(length)
                with_key = ["--key-file", ours.file("key", key)] + (["--ad", ad.decode()] if ad else [])
                sealed, out = ours.home / "sealed", ours.home / "out"
                plain = ours.file("plain", text)
                ours.must("seal", "--suite", suite, *with_key, plain, "-f", "-o", sealed)
                sealed_bytes = sealed.read_bytes()
                assert sealed_bytes[:16] == preamble, "preamble"
                assert open_body(decryptor, key, preamble + ad, sealed_bytes[16:]) == text, "pyca opens ours"
                # The same through pipes, in both directions.
                piped = ours.must("seal", "--suite", suite, *with_key, input=text)
                assert open_body(decryptor, key, preamble + ad, piped[16:]) == text, "pyca opens our stream"

                theirs = seal(encryptor, key, preamble, ad, text)
                ours.must("open", *with_key, ours.file("theirs.seal", theirs), "-f", "-o", out)
                assert out.read_bytes() == text, "ours opens pyca's"
                assert ours.must("open", *with_key, "-o", "-", input=theirs) == text, "ours opens pyca's stream"
                checks += 4
    return checks


def check_damage(ours: Sealwright) -> int:
    """Both implementations refuse the same damaged files."""
    checks = 0
    for suite, (suite_id, key_len, encryptor, decryptor) in SUITES.items():
        preamble, key = raw_preamble(suite_id), os.urandom(key_len)
        with_key = ["--key-file", ours.file("key", key)]
        whole = seal(encryptor, key, preamble, b"", os.urandom(40_000))
        chunk = 16 + 56 + 16_400
        damaged = {
            "cut by a byte": whole[:-1],
            "cut to full chunks": whole[: chunk + 16_400],
            "cut within the header": whole[:60],
            "a byte added": whole + b"\0",
            "a bit in the last tag": whole[:-1] + bytes([whole[-1] ^ 1]),
            "a bit in the first chunk": whole[:80] + bytes([whole[80] ^ 1]) + whole[81:],
            "chunks swapped": whole[:72] + whole[chunk : chunk + 16_400] + whole[72:chunk] + whole[chunk + 16_400 :],
        }
        for what, content in damaged.items():
            must_refuse(decryptor, key, preamble, content[16:])
            out = ours.home / "out"
            out.unlink(missing_ok=True)
            done = ours.run("open", *with_key, ours.file("damaged.seal", content), "-o", out)
            assert done.returncode == 3, f"{suite}, {what}: exit {done.returncode}: {done.stderr.decode()}"
            assert not out.exists(), f"{suite}, {what}: something was written"
            checks += 2
        must_refuse(decryptor, os.urandom(key_len), preamble, whole[16:])
        other = ["--key-file", ours.file("other", os.urandom(key_len))]
        done = ours.run("open", *other, ours.file("whole.seal", whole), "-o", out)
        assert done.returncode == 4 and not out.exists(), f"{suite}: another key: exit {done.returncode}"
        checks += 2
    return checks


def check_passphrases(ours: Sealwright) -> int:
    """Argon2id is pyca's as well: it finds the key of our file from the preamble alone, and we find the key of its file."""
    checks = 0
    for suite, (suite_id, key_len, encryptor, decryptor) in SUITES.items():
        text, passphrase = os.urandom(50_000), "correct horse"

        def with_passphrase(verb: str, *args) -> None:
            read, write = os.pipe()
            os.write(write, passphrase.encode() + b"\n")
            os.close(write)
            ours.must(verb, "--passphrase-fd", str(read), *args, pass_fds=[read])
            os.close(read)

        sealed, out = ours.home / "sealed", ours.home / "out"
        with_passphrase("seal", "--suite", suite, "--cost", "8MiB", ours.file("plain", text), "-f", "-o", sealed)
        content = sealed.read_bytes()
        preamble = content[:44]
        memory_kib, passes, lanes = (int.from_bytes(preamble[at : at + 4], "big") for at in (16, 20, 24))
        assert preamble == passphrase_preamble(suite_id, memory_kib, passes, lanes, preamble[28:]), "preamble"

        def stretch(salt: bytes, memory_kib: int, passes: int, lanes: int) -> bytes:
            kdf = Argon2id(salt=salt, length=key_len, iterations=passes, lanes=lanes, memory_cost=memory_kib)
            return kdf.derive(passphrase.encode())

        key = stretch(preamble[28:], memory_kib, passes, lanes)
        assert open_body(decryptor, key, preamble, content[44:]) == text, "pyca opens ours"

        salt = os.urandom(16)
        theirs = seal(encryptor, stretch(salt, 1000, 2, 3), passphrase_preamble(suite_id, 1000, 2, 3, salt), b"", text)
        with_passphrase("open", ours.file("theirs.seal", theirs), "-f", "-o", out)
        assert out.read_bytes() == text, "ours opens pyca's"
        checks += 2
    return checks


def check_format_examples() -> int:
    """The worked examples, read from docs/FORMAT.md."""
    blocks = re.findall(r"```\n((?:[0-9a-f]{4}  [0-9a-f ]+\n)+)```", FORMAT.read_text(encoding="utf-8"))
    blocks = [bytes.fromhex("".join(row[6:] for row in block.splitlines())) for block in blocks]
    derived, raw, input_key, by_passphrase, _serpent = blocks  # serpent_and_ocb_by_libgcrypt.py checks the last one
    text, ad = b"A tiny sealed file.\n", b"greeting"
    assert open_body(Cobblestone256Decryptor, bytes(range(32)), raw[:16] + ad, raw[16:]) == text, "raw key"
    assert AESGCM(derived[:32]).decrypt(derived[32:44], raw[72:], None) == text, "derived key and nonce"
    assert derived[44:] == raw[40:72], "commitment"
    argon2 = Argon2id(salt=bytes(range(0x60, 0x70)), length=16, iterations=3, lanes=4, memory_cost=64)
    assert argon2.derive(b"correct horse") == input_key, "Argon2id"
    opened = open_body(Cobblestone128Decryptor, input_key, by_passphrase[:44] + ad, by_passphrase[44:])
    assert opened == text, "passphrase"
    return 5


def check_enc_gcm(ours: Sealwright) -> int:
    """The AES-GCM extension of `enc`: the ciphertext, then the tag."""
    checks = 0
    for length in (0, 1, 16, 1000, 300_000):
        key, iv, text = os.urandom(32), os.urandom(12), os.urandom(length)
        args = ["-aes-256-gcm", "-K", key.hex(), "-iv", iv.hex()]
        encrypted = ours.must("enc", "-e", *args, input=text)
        assert encrypted == AESGCM(key).encrypt(iv, text, None), f"enc -e, {length} bytes"
        assert ours.must("enc", "-d", *args, input=encrypted) == text, f"enc -d, {length} bytes"
        checks += 2
    return checks


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as home:
        ours = Sealwright(str(Path(sys.argv[1]).resolve()), Path(home))
        groups = {
            "raw keys, both suites, files and pipes": lambda: check_raw_keys(ours),
            "damaged files": lambda: check_damage(ours),
            "passphrases": lambda: check_passphrases(ours),
            "examples of docs/FORMAT.md": check_format_examples,
            "enc -aes-256-gcm": lambda: check_enc_gcm(ours),
        }
        for name, check in groups.items():
            try:
                print(f"{name}: {check()} checks agree with pyca")
            except AssertionError as error:
                print(f"{name}: DISAGREE: {error}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
