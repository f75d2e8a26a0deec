"""RKC as in "Comparative Study of RKC and GCM Mode of Operation", section 2.2, in four readings; slow and simple. AES-256 is
written from FIPS 197, Hash_DRBG comes from hash_drbg.py, SHA-256 from Python's library.

    python rkc_reference.py PATH_TO_SEALWRIGHT     # checks vectors/rkc.json, and random cases at every level
    python rkc_reference.py --write vectors/rkc.json

No other implementation of RKC is known, so this program made vectors/rkc.json.
"""

import hashlib
import json
import random
import sys
from pathlib import Path

from hash_drbg import HashDrbg, hash_df
from support import agree

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "rkc.json"
READINGS = [{"seed": seed, "draw": draw} for seed in ("v", "df") for draw in ("block", "all")]
REQUEST = 2**19 // 8


def times(a: int, b: int) -> int:
    """The product in GF(2^8): FIPS 197, section 4.2."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def sbox_of(x: int) -> int:
    """FIPS 197, section 5.1.1: the inverse, then the affine map."""
    inverse = next((y for y in range(256) if times(x, y) == 1), 0)
    rotated = [inverse << n & 0xFF | inverse >> (8 - n) for n in range(5)]
    return rotated[0] ^ rotated[1] ^ rotated[2] ^ rotated[3] ^ rotated[4] ^ 0x63


SBOX = [sbox_of(x) for x in range(256)]
TWO, THREE = ([times(x, n) for x in range(256)] for n in (2, 3))


def aes256(key: bytes, block: bytes) -> bytes:
    """FIPS 197, sections 5.1 and 5.2."""
    words = [key[i : i + 4] for i in range(0, 32, 4)]
    rcon = 1
    for i in range(8, 60):
        word = words[i - 1]
        if i % 8 == 0:
            word = bytes(SBOX[x] for x in word[1:] + word[:1])
            word = bytes([word[0] ^ rcon]) + word[1:]
            rcon = times(rcon, 2)
        elif i % 8 == 4:
            word = bytes(SBOX[x] for x in word)
        words.append(xor(words[i - 8], word))
    keys = [b"".join(words[i : i + 4]) for i in range(0, 60, 4)]
    state = xor(block, keys[0])
    for round_number in range(1, 15):
        state = bytes(SBOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16))
        if round_number < 14:
            mixed = []
            for column in range(0, 16, 4):
                for row in range(4):
                    a, b, c, d = (state[column + (row + n) % 4] for n in range(4))
                    mixed.append(TWO[a] ^ THREE[b] ^ c ^ d)
            state = bytes(mixed)
        state = xor(state, keys[round_number])
    return state


def xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def rkc(key: bytes, seed: bytes, message: bytes, reading: dict) -> tuple[bytes, bytes]:
    """Ciphertext and tag."""
    assert len(message) % 16 == 0 and len(seed) == 55 and len(key) == 32
    drbg = HashDrbg(seed if reading["seed"] == "v" else hash_df(seed))
    blocks = len(message) // 16
    if reading["draw"] == "block":
        drawn = b"".join(drbg.generate(32) for _ in range(blocks))
    else:
        drawn = b""
        while len(drawn) < 32 * blocks:
            drawn += drbg.generate(min(REQUEST, 32 * blocks - len(drawn)))
    ciphertext, hashed = b"", hashlib.sha256()
    for i in range(blocks):
        key = xor(key, drawn[32 * i : 32 * i + 32])
        plain = message[16 * i : 16 * i + 16]
        cipher = aes256(key, plain)
        ciphertext += cipher
        hashed.update(xor(cipher, plain))
    return ciphertext, hashed.digest()


def case(rng: random.Random, blocks: int, reading: dict, comment: str) -> dict:
    key, seed, message = rng.randbytes(32), rng.randbytes(55), rng.randbytes(16 * blocks)
    ciphertext, tag = rkc(key, seed, message, reading)
    fields = {"key": key.hex(), "seed": seed.hex(), "msg": message.hex(), "ct": ciphertext.hex(), "tag": tag.hex()}
    return {"alg": "RKC", "reading": reading, **fields, "taglen": 256, "result": "valid", "comment": comment}


def spoiled(valid: dict, field: str, byte: int, comment: str) -> dict:
    value = bytearray.fromhex(valid[field])
    value[byte] ^= 1
    return valid | {field: value.hex(), "result": "invalid", "comment": comment}


def long_case(reading: dict, blocks: int) -> dict:
    """A message of zeros that needs more than one request of 2^19 bits. The case has only a hash of the ciphertext."""
    key, seed = bytes(range(32)), bytes(range(100, 155))
    ciphertext, tag = rkc(key, seed, bytes(16 * blocks), reading)
    fields = {"key": key.hex(), "seed": seed.hex(), "msg": "00" * 16 * blocks, "ct": None}
    fields |= {"ct_sha256": hashlib.sha256(ciphertext).hexdigest(), "tag": tag.hex()}
    comment = f"{blocks} blocks of zeros: a second request"
    return {"alg": "RKC", "reading": reading, **fields, "taglen": 256, "result": "valid", "comment": comment}


def write(path: Path) -> None:
    rng, tests = random.Random(696), []
    for reading in READINGS:
        of = f"S {'is V' if reading['seed'] == 'v' else 'through Hash_df'}, {reading['draw']}"
        # With no blocks, the tag does not depend on key and seed, so such a case would show little.
        for blocks in (1, 2, 3, 5, 17, 40):
            tests.append(case(rng, blocks, reading, f"{of}: {blocks} blocks"))
        one = tests[-2]
        tests.append(spoiled(one, "tag", 31, f"{of}: a bit of the tag"))
        tests.append(spoiled(one, "ct", 271, f"{of}: a bit of the ciphertext"))
        tests.append(spoiled(one, "seed", 54, f"{of}: a bit of the seed"))
        tests.append(one | {"tag": one["tag"][:-2], "result": "invalid", "comment": f"{of}: a tag cut short"})
        partial = {"msg": one["msg"][:-2], "ct": one["ct"][:-2], "result": "invalid"}
        tests.append(one | partial | {"comment": f"{of}: a partial block"})
    for number, test in enumerate(tests):
        tests[number] = {"tcId": number + 1, **{name: value for name, value in test.items() if name != "alg"}}
    header = [
        "Origin: tests/referees/rkc_reference.py, an independent slow implementation in Python; no other is known.",
        "reading: seed v = S is V of Hash_DRBG and C = Hash_df(0x00 || V), df = S is the seed material of Instantiate;",
        "draw block = one Generate of 256 bits for each block, all = one Generate split at 2^19 bits. v and block are RKC-R.",
    ]
    document = {"algorithm": "RKC", "numberOfTests": len(tests), "header": header}
    document["testGroups"] = [{"type": "RkcTest", "tests": tests}]
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(f"rkc_reference: {len(tests)} cases written")


def check_vectors() -> int:
    tests = [test for group in json.loads(VECTORS.read_text())["testGroups"] for test in group["tests"]]
    for test in tests:
        message = bytes.fromhex(test["msg"])
        if test["result"] == "valid":
            ciphertext, tag = rkc(bytes.fromhex(test["key"]), bytes.fromhex(test["seed"]), message, test["reading"])
            assert (ciphertext.hex(), tag.hex()) == (test["ct"], test["tag"]), f"tcId {test['tcId']}"
    return len(tests)


def main() -> None:
    assert aes256(bytes(range(32)), bytes.fromhex("00112233445566778899aabbccddeeff")).hex() == (
        "8ea2b7ca516745bfeafc49904b496089"
    ), "FIPS 197, appendix C.3"
    if sys.argv[1] == "--write":
        return write(Path(sys.argv[2]))
    print(f"rkc_reference: {check_vectors()} cases of {VECTORS.name} agree")
    rng = random.Random(20261121)
    sizes = [*range(71), 100, 127, 128, 129, 255, 257]
    cases = [case(rng, blocks, READINGS[i % 4], f"{blocks} blocks") for i, blocks in enumerate(sizes)]
    cases += [case(rng, blocks, READINGS[0], f"{blocks} blocks") for blocks in sizes if blocks % 4]
    cases += [long_case(reading, 2050) for reading in READINGS[1::2]]
    agree(sys.argv[1], cases, "rkc_reference")


if __name__ == "__main__":
    main()
