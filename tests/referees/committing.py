"""Committing suites, written here from the documentation of `sealwright::committing` over pyca/cryptography.

    python committing.py PATH_TO_SEALWRIGHT     random cases, which `sealwright vectors check` must pass at every level
    python committing.py --vectors              writes vectors/committing.json to standard output
"""

import hashlib
import hmac
import json
import random
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESOCB3
from support import agree

LABEL = b"SEALWRIGHT committing AEAD v1+"
SUITES = {
    "aes-128-gcm": (b"AEAD_AES_128_GCM", 16, AESGCM),
    "aes-256-gcm": (b"AEAD_AES_256_GCM", 32, AESGCM),
    "aes-128-ocb": (b"AEAD_AES_128_OCB_TAGLEN128", 16, AESOCB3),
    "aes-256-ocb": (b"AEAD_AES_256_OCB_TAGLEN128", 32, AESOCB3),
}


def hkdf_expand(key, info, length):
    """HKDF-Expand of RFC 5869 with SHA-512, any length."""
    out, block, i = b"", b"", 1
    while len(out) < length:
        block = hmac.new(key, block + info + bytes([i]), hashlib.sha512).digest()
        out, i = out + block, i + 1
    return out[:length]


def seal(suite, key, nonce, ad, text):
    """Ciphertext, and the tag of 48 bytes."""
    name, key_len, aead = SUITES[suite]
    derived = hkdf_expand(key, LABEL + name + b"\0" + nonce + ad, 32 + key_len)
    sealed = aead(derived[32:]).encrypt(nonce[12:], text, None)
    return sealed[: len(text)], derived[:32] + sealed[len(text) :]


def case(rng, size, forge):
    """One case. A forged one has one bit changed in the tag, and must be refused."""
    suite = rng.choice(sorted(SUITES))
    key, nonce = rng.randbytes(SUITES[suite][1]), rng.randbytes(24)
    ad, msg = rng.randbytes(rng.randrange(200)), rng.randbytes(size)
    ct, tag = seal(suite, key, nonce, ad, msg)
    if forge:
        tag = bytearray(tag)
        tag[rng.randrange(len(tag))] ^= 1 << rng.randrange(8)
    names = {"key": key, "iv": nonce, "aad": ad, "msg": msg, "ct": ct, "tag": bytes(tag)}
    return suite, {name: value.hex() for name, value in names.items()} | {"result": "invalid" if forge else "valid"}


def vectors():
    """A few cases of every suite, in the form of Wycheproof, one document."""
    rng, cases = random.Random(13), {suite: [] for suite in SUITES}
    number = 0
    while min(len(tests) for tests in cases.values()) < 12:
        suite, fields = case(rng, rng.choice([0, 1, 15, 16, 17, 33, 64, 200]), number % 4 == 3)
        number += 1
        if len(cases[suite]) < 12:
            comment = "a changed tag" if fields["result"] == "invalid" else ""
            cases[suite].append({"alg": f"COMMITTING-{suite.upper()}", "comment": comment, **fields})
    tests = [test for suite in SUITES for test in cases[suite]]
    origin = "Origin: computed by tests/referees/committing.py over pyca/cryptography, Python's hmac and hashlib."
    return tests, origin


def sealed(rng, sizes):
    """A case for each size."""
    for size in sizes:
        suite, fields = case(rng, size, rng.random() < 0.25)
        fields["nonce"] = fields.pop("iv")
        yield {"alg": f"COMMITTING-{suite.upper()}", **fields, "taglen": 384}


def main():
    if sys.argv[1] == "--vectors":
        tests, origin = vectors()
        tests = [{"tcId": i, **test} for i, test in enumerate(tests, 1)]
        document = {
            "algorithm": "COMMITTING",
            "numberOfTests": len(tests),
            "header": [origin],
            "testGroups": [{"type": "AeadTest", "tests": tests}],
        }
        print(json.dumps(document, indent=1))
        return
    rng = random.Random(20261122)
    sizes = list(range(0, 500)) + [rng.randrange(500, 40000) for _ in range(60)]
    agree(sys.argv[1], sealed(rng, sizes), "committing, written from the documentation")


if __name__ == "__main__":
    main()
