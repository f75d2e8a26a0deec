"""Random cases of AES-GCM-SIV and XAES-256-GCM, which `sealwright vectors check` must pass at every level.

    python gcm_variants.py PATH_TO_SEALWRIGHT

AES-GCM-SIV is pyca/cryptography's. XAES-256-GCM is written here from its specification (https://c2sp.org/XAES-256-GCM) over pyca's CMAC
and AES-GCM, and compared with the accumulated vector of the specification first.
"""

import hashlib
import random
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESGCMSIV
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.cmac import CMAC
from support import agree

ACCUMULATED = "e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939"


def xaes(key, nonce, ad, text):
    """XAES-256-GCM: the message key by CMAC in counter mode (SP 800-108r1), then AES-256-GCM."""
    message_key = b""
    for counter in (1, 2):
        mac = CMAC(AES256(key))
        mac.update(bytes([0, counter]) + b"X\0" + nonce[:12])
        message_key += mac.finalize()
    return AESGCM(message_key).encrypt(nonce[12:], text, ad)


def check_xaes(messages):
    """The accumulated vector: a SHAKE128 stream makes messages, another hashes what they become."""
    stream, at, hashed = hashlib.shake_128().digest(messages * 700), 0, hashlib.shake_128()

    def take(size):
        nonlocal at
        at += size
        return stream[at - size : at]

    for _ in range(messages):
        key, nonce = take(32), take(24)
        text = take(take(1)[0])
        ad = take(take(1)[0])
        hashed.update(xaes(key, nonce, ad, text))
    assert hashed.hexdigest(32) == ACCUMULATED, "the XAES-256-GCM written here is wrong"


def case(rng, alg, size):
    """One case. In one of four, a bit of the tag is flipped, and the case must be refused."""
    ad, msg = rng.randbytes(rng.randrange(80)), rng.randbytes(size)
    if alg == "AES-GCM-SIV":
        key, nonce = rng.randbytes(rng.choice([16, 32])), rng.randbytes(12)
        sealed = AESGCMSIV(key).encrypt(nonce, msg, ad)
    else:
        key, nonce = rng.randbytes(32), rng.randbytes(24)
        sealed = xaes(key, nonce, ad, msg)
    ct, tag = sealed[:size], bytearray(sealed[size:])
    forged = rng.random() < 0.25
    if forged:
        tag[rng.randrange(16)] ^= 1 << rng.randrange(8)
    names = {"key": key, "nonce": nonce, "aad": ad, "msg": msg, "ct": ct, "tag": bytes(tag)}
    fields = {name: value.hex() for name, value in names.items()}
    return {"alg": alg, **fields, "taglen": 128, "result": "invalid" if forged else "valid"}


def main():
    check_xaes(10_000)
    rng = random.Random(8452)
    sizes = list(range(0, 400)) + [rng.randrange(400, 6000) for _ in range(60)]
    cases = [case(rng, alg, size) for alg in ("AES-GCM-SIV", "XAES-256-GCM") for size in sizes]
    agree(sys.argv[1], cases, "gcm_variants")


if __name__ == "__main__":
    main()
