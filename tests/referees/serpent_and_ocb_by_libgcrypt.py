"""Serpent in every mode, and OCB, from libgcrypt: random cases, which `sealwright vectors check` must pass at every level,
and sealed files of these suites, which are opened as docs/FORMAT.md specifies.

    python serpent_and_ocb_by_libgcrypt.py PATH_TO_SEALWRIGHT
    python serpent_and_ocb_by_libgcrypt.py --write VECTORS     # writes serpent_gcm.json and others into that folder

No other widely used library has Serpent-GCM and Serpent-OCB, and no standard publishes vectors for them. Almost every Debian
system has libgcrypt.so.20. Where it is missing, the program prints "skipped" and stops.
"""

import ctypes
import hmac
import json
import random
import re
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from support import agree, skipped

FORMAT = Path(__file__).parents[2] / "docs" / "FORMAT.md"
CIPHERS = {"AES": {16: 7, 24: 8, 32: 9}, "Serpent": {16: 304, 24: 305, 32: 306}}
MODES = {"ECB": 1, "CBC": 3, "CTR": 6, "GCM": 9, "OCB": 11}
AEADS = ["GCM", "OCB"]
FINALIZE, SET_TAG_LENGTH = 5, 75
# Number, AEAD name, cipher, mode and key length of the suites in docs/FORMAT.md that are not AES-GCM.
SUITES = {
    "aes-256-ocb": (26, b"AEAD_AES_256_OCB_TAGLEN128", "AES", "OCB", 32),
    "serpent-256-gcm": (128, b"SEALWRIGHT_SERPENT_256_GCM", "Serpent", "GCM", 32),
    "serpent-256-ocb": (129, b"SEALWRIGHT_SERPENT_256_OCB_TAGLEN128", "Serpent", "OCB", 32),
    "aes-128-ocb": (20, b"AEAD_AES_128_OCB_TAGLEN128", "AES", "OCB", 16),
}


def load():
    try:
        library = ctypes.CDLL("libgcrypt.so.20")
    except OSError:
        return None
    library.gcry_check_version.restype = ctypes.c_char_p
    return library


def crypt(library, cipher, mode, key, nonce, ad, text, tag_len, decrypt=False):
    """The encrypted or decrypted text, and the tag."""
    handle = ctypes.c_void_p()
    size = ctypes.c_size_t

    def must(error):
        if error:
            raise RuntimeError(f"libgcrypt: error {error}")

    must(library.gcry_cipher_open(ctypes.byref(handle), CIPHERS[cipher][len(key)], MODES[mode], 0))
    must(library.gcry_cipher_setkey(handle, key, size(len(key))))
    if mode == "OCB":
        length = ctypes.c_int(tag_len)
        must(library.gcry_cipher_ctl(handle, SET_TAG_LENGTH, ctypes.byref(length), size(ctypes.sizeof(length))))
    if mode == "CTR":
        must(library.gcry_cipher_setctr(handle, nonce, size(16)))
    elif mode != "ECB":
        must(library.gcry_cipher_setiv(handle, nonce, size(len(nonce))))
    if mode in AEADS:
        must(library.gcry_cipher_authenticate(handle, ad, size(len(ad))))
        must(library.gcry_cipher_ctl(handle, FINALIZE, None, size(0)))
    out = ctypes.create_string_buffer(max(len(text), 1))
    turn = library.gcry_cipher_decrypt if decrypt else library.gcry_cipher_encrypt
    must(turn(handle, out, size(len(text)), text, size(len(text))))
    tag = ctypes.create_string_buffer(16)
    if mode in AEADS:
        must(library.gcry_cipher_gettag(handle, tag, size(16 if mode == "GCM" else tag_len)))
    library.gcry_cipher_close(handle)
    return out.raw[: len(text)], tag.raw[: tag_len if mode in AEADS else 0]


def case(library, rng, cipher, mode, size, forge=True, key_len=None, tag_len=None):
    """One case; with `key_len` and `tag_len` one that a core of rtl/ accepts, with a 12-byte nonce. In one of four AEAD cases,
    a bit of the tag is flipped, and the case must be refused."""
    # libgcrypt does not accept OCB nonces shorter than 8 bytes.
    if key_len:
        nonce_len = {mode: 12}
    else:
        tag_len = {"GCM": rng.choice([16, 15, 14, 13, 12]), "OCB": rng.choice([16, 12, 8])}.get(mode, 0)
        nonce_len = {"GCM": 12 if rng.random() < 0.5 else rng.randrange(1, 65), "OCB": rng.randrange(8, 16), "ECB": 0}
    key, nonce = rng.randbytes(key_len or rng.choice([16, 24, 32])), rng.randbytes(nonce_len.get(mode, 16))
    ad = rng.randbytes(rng.randrange(80)) if mode in AEADS else b""
    msg = rng.randbytes(size if mode not in ["ECB", "CBC"] else size // 16 * 16)
    ct, tag = crypt(library, cipher, mode, key, nonce, ad, msg, tag_len)
    forged = forge and mode in AEADS and rng.random() < 0.25
    if forged:
        place = rng.randrange(tag_len)
        tag = tag[:place] + bytes([tag[place] ^ 1 << rng.randrange(8)]) + tag[place + 1 :]
    names = {"key": key, "nonce": nonce, "aad": ad, "msg": msg, "ct": ct, "tag": tag}
    return {
        "alg": f"{cipher}-{mode}",
        **{name: value.hex() for name, value in names.items()},
        "taglen": 8 * tag_len,
        "result": "invalid" if forged else "valid",
        "comment": f"libgcrypt, {len(msg)} bytes",
    }


def iterated(library, cipher, key_len, tag_len):
    """RFC 7253, appendix A: every length up to 127 as text and as associated data; then all results as associated data."""
    key = bytes(key_len - 1) + bytes([8 * tag_len])

    def seal(number, ad, msg):
        return b"".join(crypt(library, cipher, "OCB", key, number.to_bytes(12, "big"), ad, msg, tag_len))

    sealed = b""
    for n in range(128):
        zeros = bytes(n)
        sealed += seal(3 * n + 1, zeros, zeros) + seal(3 * n + 2, b"", zeros) + seal(3 * n + 3, zeros, b"")
    names = {"key": key, "tag": seal(385, sealed, b"")}
    return {
        "alg": f"{cipher}-OCB-ITER",
        **{name: value.hex() for name, value in names.items()},
        "taglen": 8 * tag_len,
        "result": "valid",
        "comment": "RFC 7253, appendix A",
    }


def chain(library, rng, mode, key_len, decrypt):
    """NIST's Monte Carlo test (AESAVS, section 6.4) with Serpent: 1000 iterations."""
    key, iv, block = rng.randbytes(key_len), rng.randbytes(16 if mode == "CBC" else 0), rng.randbytes(16)
    first, chained, before = block, iv, iv
    for _ in range(1000):
        out, _ = crypt(library, "Serpent", mode, key, chained, b"", block, 0, decrypt)
        if mode == "CBC":
            chained, block, before = block if decrypt else out, before, out
        else:
            block = before = out
    msg, ct = (before, first) if decrypt else (first, before)
    names = {"key": key, "iv": iv, "msg": msg, "ct": ct}
    return {
        "alg": f"Serpent-{mode}-MCT",
        **{name: value.hex() for name, value in names.items()},
        "op": "DECRYPT" if decrypt else "ENCRYPT",
        "result": "valid",
        "comment": "1000 links",
    }


def check(library, binary):
    rng = random.Random(20261121)
    algs = [("AES", "OCB")] + [("Serpent", mode) for mode in MODES]
    cases = [case(library, rng, *alg, size) for alg in algs for size in [*range(300), *rng.choices(range(5000), k=50)]]
    cases += [iterated(library, *alg) for alg in product(CIPHERS, [16, 24, 32], [16, 12, 8])]
    cases += [chain(library, rng, *one) for one in product(["ECB", "CBC"], [16, 24, 32], [False, True])]
    agree(binary, cases, "serpent_and_ocb_by_libgcrypt")


def seal_file(library, suite, key, salt, ad, text):
    """A complete sealed file, as docs/FORMAT.md specifies."""
    number, name, cipher, mode, key_len = SUITES[suite]
    preamble = bytes.fromhex("895345414c0d0a1a") + bytes([1, number, 0, 0, 0, 0, 0, 0])
    info = b"c2sp.org/chunked-encryption@v1+" + name + b"\0" + salt + preamble + ad
    first = hmac.digest(key, info + b"\1", "sha512")
    okm = first + hmac.digest(key, first + info + b"\2", "sha512")
    file_key, base, commitment = okm[:key_len], okm[key_len : key_len + 12], okm[key_len + 12 : key_len + 44]
    sealed = preamble + salt + commitment
    for i in range(len(text) // 16384 + 1):
        nonce = (int.from_bytes(base, "big") ^ i).to_bytes(12, "big")
        sealed += b"".join(crypt(library, cipher, mode, file_key, nonce, b"", text[16384 * i :][:16384], 16))
    return sealed


def check_files(library, binary):
    rng = random.Random(11)
    checks = 0
    with tempfile.TemporaryDirectory() as home:
        plain, sealed, out, key_file = (Path(home) / name for name in ["plain", "sealed", "out", "key"])
        for suite, length in product(SUITES, [0, 1, 16383, 16384, 50_000, 1_100_000]):
            key, text, ad = rng.randbytes(SUITES[suite][4]), rng.randbytes(length), rng.choice([b"", b"invoice 7"])
            key_file.unlink(missing_ok=True)
            key_file.touch(mode=0o600)
            key_file.write_bytes(key)
            plain.write_bytes(text)
            words = ["--key-file", key_file, "-f", *(["--ad", ad.decode()] if ad else [])]
            subprocess.run([binary, "seal", "--suite", suite, *words, plain, "-o", sealed], check=True)
            ours = sealed.read_bytes()
            assert ours == seal_file(library, suite, key, ours[16:40], ad, text), f"{suite}, {length} bytes: seal"
            sealed.write_bytes(seal_file(library, suite, key, rng.randbytes(24), ad, text))
            subprocess.run([binary, "open", *words, sealed, "-o", out], check=True)
            assert out.read_bytes() == text, f"{suite}, {length} bytes: open"
            checks += 2
    print(f"serpent_and_ocb_by_libgcrypt: {checks} sealed files agree")


def check_format_example(library):
    """The sealed file with Serpent in docs/FORMAT.md: the last example, read from the document."""
    rows = re.findall(r"```\n((?:[0-9a-f]{4}  [0-9a-f ]+\n)+)```", FORMAT.read_text(encoding="utf-8"))[-1]
    shown = bytes.fromhex("".join(row[6:] for row in rows.splitlines()))
    salt = bytes(range(0x40, 0x58))
    sealed = seal_file(library, "serpent-256-ocb", bytes(range(32)), salt, b"greeting", b"A tiny sealed file.\n")
    assert sealed == shown, "the Serpent example of docs/FORMAT.md"
    print("the Serpent example of docs/FORMAT.md agrees")


def write(library, folder):
    """Vectors for the repository: every length of key and tag, and texts around the limits of blocks and batches."""
    origin = f"Origin: libgcrypt {library.gcry_check_version(None).decode()}, by tests/referees/{Path(__file__).name}."
    rng = random.Random(7253)
    sizes = {"GCM": [0, 1, 15, 16, 17, 31, 32, 64, 100, 255, 256, 257, 600, 1025, 1500]}
    sizes |= {"OCB": sizes["GCM"], "CBC": [16, 32, 160, 400, 1040], "CTR": [1, 16, 33, 300, 1037]}
    sets = {mode: [case(library, rng, "Serpent", mode, n, forge=False) for n in sizes[mode]] for mode in sizes}
    # What every core of rtl/ takes: a key of 16 or 32 bytes, with Serpent of 32, and every length of OCB's tags.
    core_rng = random.Random(18)
    core_sizes = [0, 1, 15, 16, 17, 31, 33, 63, 64, 65, 255, 1025]
    for mode, tag_len in [("GCM", 16), ("OCB", 16), ("OCB", 12), ("OCB", 8)]:
        sets[mode] += [case(library, core_rng, "Serpent", mode, n, False, 32, tag_len) for n in core_sizes]
    sets["AES-OCB"] = [case(library, core_rng, "AES", "OCB", n, False, key_len, tag_len)
                       for key_len, tag_len in product([16, 32], [16, 12, 8]) for n in core_sizes]
    sets["OCB-ITER"] = [iterated(library, "Serpent", key, tag) for tag, key in product([16, 12, 8], [16, 24, 32])]
    for mode in ["ECB", "CBC"]:
        sets[f"{mode}-MCT"] = [chain(library, rng, mode, *one) for one in product([16, 24, 32], [False, True])]
    for mode, cases in sets.items():
        groups = {}
        for number, one in enumerate(cases, 1):
            bits = one.pop("taglen", 0)
            test = {"tcId": number, "comment": one.pop("comment"), "key": one.pop("key")}
            iv = {"iv": one.pop("nonce", "") or one.pop("iv", "")}
            fields = {name: value for name, value in (iv | one).items() if name != "alg"}
            if mode not in (*AEADS, "AES-OCB"):
                fields = {name: value for name, value in fields.items() if value}
            groups.setdefault(bits, []).append({**test, **fields})
        kind = "AeadTest" if "GCM" in mode or "OCB" in mode else "IndCpaTest"
        groups = [{"type": kind, **({"tagSize": bits} if bits else {}), "tests": tests} for bits, tests in groups.items()]
        named = mode if mode == "AES-OCB" else f"Serpent-{mode}"
        document = {"algorithm": named, "numberOfTests": len(cases), "header": [origin], "testGroups": groups}
        name = "libgcrypt_" * (mode == "AES-OCB") + f"{named.lower()}.json".replace("-", "_").replace("iter", "iterated")
        (Path(folder) / name).write_text(json.dumps(document, indent=1) + "\n")


def main():
    library = load()
    if library is None:
        skipped("libgcrypt.so.20 is not here (Debian: apt install libgcrypt20)")
    elif sys.argv[1] == "--write":
        write(library, sys.argv[2])
    else:
        check(library, sys.argv[1])
        check_files(library, sys.argv[1])
        check_format_example(library)


if __name__ == "__main__":
    main()
