"""Random AES-GCM cases from pyca/cryptography, which `sealwright vectors check` must pass at every level."""

import random
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from support import agree

TAGS = [16, 15, 14, 13, 12, 8, 4]


def case(rng, size):
    """One case. In one of four, a bit of the tag is flipped, and the case must be refused."""
    key, ad, msg = rng.randbytes(rng.choice([16, 24, 32])), rng.randbytes(rng.randrange(80)), rng.randbytes(size)
    nonce = rng.randbytes(12 if rng.random() < 0.5 else rng.randrange(8, 65))
    encryptor = Cipher(algorithms.AES(key), modes.GCM(nonce)).encryptor()
    encryptor.authenticate_additional_data(ad)
    ct = encryptor.update(msg) + encryptor.finalize()
    tag = bytearray(encryptor.tag[: rng.choice(TAGS)])
    forged = rng.random() < 0.25
    if forged:
        tag[rng.randrange(len(tag))] ^= 1 << rng.randrange(8)
    names = {"key": key, "nonce": nonce, "aad": ad, "msg": msg, "ct": ct, "tag": bytes(tag)}
    fields = {name: value.hex() for name, value in names.items()}
    return {
        "alg": "AES-GCM",
        **fields,
        "taglen": 8 * len(tag),
        "result": "invalid" if forged else "valid",
        "comment": f"pyca, {size} bytes",
    }


def main():
    rng = random.Random(20261121)
    sizes = list(range(0, 700)) + [rng.randrange(700, 5000) for _ in range(100)]
    agree(sys.argv[1], (case(rng, size) for size in sizes), "gcm_by_pyca")


if __name__ == "__main__":
    main()
