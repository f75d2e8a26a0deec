"""Hash_DRBG with SHA-256, written from NIST SP 800-90A revision 1 with hashlib alone; slow and simple.

    python hash_drbg.py PATH_TO_SEALWRIGHT

Checks vectors/hash_drbg.json, and sequences of requests that the CAVP vectors do not contain: up to eight calls of Generate,
odd sizes, and reseeds in between.
"""

import hashlib
import json
import random
import sys
from pathlib import Path

from support import agree

SEED_BITS = 440
VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "hash_drbg.json"


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def hash_df(data: bytes, bits: int = SEED_BITS) -> bytes:
    """Section 10.3.1."""
    out, counter = b"", 1
    while 8 * len(out) < bits:
        out += sha256(counter.to_bytes(1, "big") + bits.to_bytes(4, "big") + data)
        counter += 1
    return out[: bits // 8]


class HashDrbg:
    """Section 10.1.1; V and C are integers."""

    def __init__(self, v: bytes) -> None:
        self.v = int.from_bytes(v, "big")
        self.c = int.from_bytes(hash_df(b"\x00" + v), "big")
        self.reseed_counter = 1

    @classmethod
    def instantiate(cls, entropy: bytes, nonce: bytes, personalization: bytes) -> "HashDrbg":
        return cls(hash_df(entropy + nonce + personalization))

    def v_bytes(self) -> bytes:
        return self.v.to_bytes(SEED_BITS // 8, "big")

    def add(self, number: bytes) -> None:
        self.v = (self.v + int.from_bytes(number, "big")) % 2**SEED_BITS

    def reseed(self, entropy: bytes, additional: bytes = b"") -> None:
        self.__init__(hash_df(b"\x01" + self.v_bytes() + entropy + additional))

    def generate(self, count: int, additional: bytes = b"") -> bytes:
        assert 8 * count <= 2**19 and self.reseed_counter <= 2**48
        if additional:
            self.add(sha256(b"\x02" + self.v_bytes() + additional))
        out = b""
        for i in range(-(-count // 32)):
            out += sha256(((self.v + i) % 2**SEED_BITS).to_bytes(SEED_BITS // 8, "big"))
        update = sha256(b"\x03" + self.v_bytes())
        self.add(update)
        self.v = (self.v + self.c + self.reseed_counter) % 2**SEED_BITS
        self.reseed_counter += 1
        return out[:count]


def replay(case: dict) -> bytes:
    """The output of the last Generate of a case."""
    drbg = HashDrbg.instantiate(*(bytes.fromhex(case[name]) for name in ("entropy", "nonce", "pers")))
    out = b""
    for op in case["ops"]:
        additional, entropy = bytes.fromhex(op["add"]), bytes.fromhex(op.get("entropy", ""))
        if op["op"] == "reseed":
            drbg.reseed(entropy, additional)
        elif entropy:
            # With prediction resistance, only the reseed takes the additional input.
            drbg.reseed(entropy, additional)
            out = drbg.generate(op["bytes"])
        else:
            out = drbg.generate(op["bytes"], additional)
    return out


SIZES = [1, 7, 31, 32, 33, 63, 64, 65, 100, 255, 256, 257, 1000, 4097, 65535, 65536]


def random_case(rng: random.Random, resistant: bool) -> dict:
    def some(length: int) -> str:
        return rng.randbytes(length).hex()

    ops = []
    generates = rng.randrange(3, 9)
    for i in range(generates):
        additional = some(rng.choice([0, 0, 1, 32, 55, 200]))
        if not resistant and i > 0 and rng.random() < 0.25:
            ops.append({"op": "reseed", "entropy": some(rng.randrange(32, 65)), "add": some(rng.randrange(40))})
        op = {"op": "generate", "bytes": rng.choice(SIZES), "add": additional}
        if resistant:
            op["entropy"] = some(32)
        ops.append(op)
    case = {"alg": "HashDRBG-SHA256", "entropy": some(rng.randrange(32, 65)), "nonce": some(rng.randrange(16, 33))}
    case |= {"pers": some(rng.choice([0, 3, 64, 300])), "pr": resistant, "ops": ops}
    out = replay(case)
    if len(out) <= 300:
        case["out"] = out.hex()
    else:
        case |= {"out": None, "out_sha256": sha256(out).hex()}
    return case | {"result": "valid", "comment": f"{generates} Generates by the referee"}


def refused() -> list[dict]:
    """Cases that must be refused: too little entropy, a short nonce, a request that is too long."""
    one = {"alg": "HashDRBG-SHA256", "entropy": "00" * 32, "nonce": "00" * 16, "pers": "", "pr": False, "out": "00"}
    one |= {"ops": [{"op": "generate", "bytes": 32, "add": ""}], "result": "invalid"}
    long = {"op": "generate", "bytes": 65537, "add": ""}
    weak = {"op": "reseed", "entropy": "00" * 31, "add": ""}
    return [
        one | {"entropy": "00" * 31, "comment": "31 bytes of entropy"},
        one | {"nonce": "00" * 15, "comment": "a nonce of 15 bytes"},
        one | {"ops": [long], "comment": "more than 2^19 bits"},
        one | {"ops": [weak, *one["ops"]], "comment": "a reseed of 31 bytes"},
    ]


def check_vectors() -> int:
    tests = [test for group in json.loads(VECTORS.read_text())["testGroups"] for test in group["tests"]]
    for test in tests:
        out = replay(test)
        assert out.hex() == test["out"], f"{VECTORS.name}, tcId {test['tcId']}"
    return len(tests)


def main() -> None:
    print(f"hash_drbg: {check_vectors()} cases of {VECTORS.name} agree")
    rng = random.Random(20261121)
    cases = [random_case(rng, resistant) for resistant in (False, True) for _ in range(150)] + refused()
    agree(sys.argv[1], cases, "hash_drbg", levels=False)


if __name__ == "__main__":
    main()
