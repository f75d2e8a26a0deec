"""Random AES-GCM cases from pyca/cryptography, which `sealwright vectors check` must pass at every level."""

import json
import random
import subprocess
import sys
import tempfile

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

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
    binary = sys.argv[1]
    rng = random.Random(20261121)
    sizes = list(range(0, 700)) + [rng.randrange(700, 5000) for _ in range(100)]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for size in sizes:
            print(json.dumps(case(rng, size)), file=file)
        file.flush()
        run = subprocess.run([binary, "vectors", "check", "--isa", "all", file.name], capture_output=True, text=True)
    print(run.stdout[-2000:], run.stderr[-2000:], sep="")
    wanted = f"{len(sizes)} passed, 0 failed, 0 skipped"
    if run.returncode != 0 or wanted not in run.stdout:
        sys.exit(f"expected: {wanted}")
    print(f"gcm_by_pyca: {len(sizes)} cases of pyca/cryptography agree at every level")


if __name__ == "__main__":
    main()
