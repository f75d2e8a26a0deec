"""AES2S, GSCM and GSCM-H, written from docs/GSCM.md, FIPS 197 and SP 800-38D alone: slow, simple, without lookup tables.

First it checks itself against published results of AES and GCM, of which these are variants. Then it checks that
vectors/aes2s_ecb.json and vectors/gscm.json are what it computes. Last, it lets `sealwright vectors check` run cases of every
length. With `--write` instead of a binary, it writes the two files.
"""

import json
import random
import sys
from pathlib import Path

from support import agree

VECTORS = Path(__file__).parents[2] / "vectors"
ORIGIN = "Origin: tests/referees/gscm_by_hand.py, an implementation of its own; no official vectors exist."


# FIPS 197

def times(a, b):
    """The product in GF(2^8)."""
    product = 0
    for bit in range(8):
        if b >> bit & 1:
            product ^= a
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
    return product


def sub(byte):
    """SubBytes of one byte: the inverse (the 254th power), then the affine map."""
    inverse = 1
    for _ in range(254):
        inverse = times(inverse, byte)
    mapped = 0x63
    for turn in range(5):
        mapped ^= inverse << turn & 0xFF | inverse >> (8 - turn)
    return mapped


SUB = [sub(byte) for byte in range(256)]


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def expand(key):
    """The round keys."""
    words = [key[at : at + 4] for at in range(0, len(key), 4)]
    length, constant = len(words), 1
    while len(words) < 4 * (length + 7):
        word = words[-1]
        if len(words) % length == 0:
            word = bytes(SUB[byte] for byte in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = times(constant, 2)
        elif length > 6 and len(words) % length == 4:
            word = bytes(SUB[byte] for byte in word)
        words.append(xor(words[-length], word))
    return [b"".join(words[at : at + 4]) for at in range(0, len(words), 4)]


def encrypt(round_keys, block):
    """One block; byte 4c + r is row r of column c."""
    state = xor(block, round_keys[0])
    for number, key in enumerate(round_keys[1:], 1):
        state = [SUB[byte] for byte in state]
        state = [state[(at + 4 * (at % 4)) % 16] for at in range(16)]
        if number < len(round_keys) - 1:
            doubled = [byte << 1 ^ (0x11B if byte & 0x80 else 0) for byte in state]
            mixed = []
            for at in range(16):
                below = [at // 4 * 4 + (at + step) % 4 for step in range(4)]
                mixed.append(doubled[at] ^ doubled[below[1]] ^ state[below[1]] ^ state[below[2]] ^ state[below[3]])
            state = mixed
        state = xor(state, key)
    return bytes(state)


# docs/GSCM.md

def substituted(key, k1, k2, hardened):
    """The round keys of AES2S."""
    round_keys = expand(key)
    last = len(round_keys) - 1
    printed = 5 if last == 10 else 9
    round_keys[0], round_keys[last if hardened else printed] = k1, k2
    return round_keys


def ghash(h, ad, text):
    """GHASH (SP 800-38D, 6.4) of associated data, ciphertext and their lengths."""
    padded = b"".join(part + bytes(-len(part) % 16) for part in (ad, text))
    padded += (8 * len(ad)).to_bytes(8, "big") + (8 * len(text)).to_bytes(8, "big")
    h, state = int.from_bytes(h, "big"), 0
    for at in range(0, len(padded), 16):
        x = state ^ int.from_bytes(padded[at : at + 16], "big")
        state, power = 0, h
        for bit in range(127, -1, -1):
            if x >> bit & 1:
                state ^= power
            power = power >> 1 ^ (0xE1 << 120 if power & 1 else 0)
    return state.to_bytes(16, "big")


def seal(round_keys, hash_keys, nonce, ad, msg):
    """Ciphertext and tag. The GHASH key is the zero block encrypted under the round keys `hash_keys`."""
    def pad(counter):
        return encrypt(round_keys, nonce + counter.to_bytes(4, "big"))

    ct = b""
    for at in range(0, len(msg), 16):
        part = msg[at : at + 16]
        ct += xor(part, pad(2 + at // 16)[: len(part)])
    return ct, xor(ghash(encrypt(hash_keys, bytes(16)), ad, ct), pad(1))


def gscm(key, k1, k2, nonce, ad, msg, hardened):
    client = substituted(key, k1, k2, hardened)
    return seal(client, client if hardened else expand(key), nonce, ad, msg)


# Published results

GCM_KEY = bytes.fromhex("feffe9928665731c6d6a8f9467308308" * 2)
GCM_NONCE = bytes.fromhex("cafebabefacedbaddecaf888")
GCM_AD = bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
GCM_MSG = bytes.fromhex(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
)
FIPS_MSG = bytes.fromhex("00112233445566778899aabbccddeeff")
# By key length in bytes: FIPS 197, appendices C.1 to C.3; tags of cases 4, 10 and 16 of the GCM specification
PUBLISHED = {
    16: ("69c4e0d86a7b0430d8cdb78070b4c55a", "5bc94fbc3221a5db94fae95ae7121a47"),
    24: ("dda97ca4864cdfe06eaf70a0ec0d7191", "2519498e80f1478f37ba55bd6d27618c"),
    32: ("8ea2b7ca516745bfeafc49904b496089", "76fc6ece0f4e1768cddf8853bb2d551b"),
}


def hold_to_standards():
    for size, (ct, tag) in PUBLISHED.items():
        if encrypt(expand(bytes(range(size))), FIPS_MSG).hex() != ct:
            sys.exit(f"not AES with {size} bytes of key")
        keys = expand(GCM_KEY[:size])
        if seal(keys, keys, GCM_NONCE, GCM_AD, GCM_MSG)[1].hex() != tag:
            sys.exit(f"not GCM with {size} bytes of key")


# Cases

def hexed(fields):
    return {name: value.hex() if isinstance(value, bytes) else value for name, value in fields.items()}


def ecb_case(key, k1, k2, msg, hardened, comment):
    round_keys = substituted(key, k1, k2, hardened)
    ct = b"".join(encrypt(round_keys, msg[at : at + 16]) for at in range(0, len(msg), 16))
    alg = "AES2S-H-ECB" if hardened else "AES2S-ECB"
    fields = {"alg": alg, "comment": comment, "key": key, "k1": k1, "k2": k2, "msg": msg, "ct": ct, "result": "valid"}
    return hexed(fields)


def gscm_case(key, k1, k2, nonce, ad, msg, hardened, comment):
    ct, tag = gscm(key, k1, k2, nonce, ad, msg, hardened)
    fields = {"alg": "GSCM-H" if hardened else "GSCM", "comment": comment, "key": key, "k1": k1, "k2": k2}
    return hexed(fields | {"nonce": nonce, "aad": ad, "msg": msg, "ct": ct, "tag": tag, "result": "valid"})


def unsubstituted(key, hardened):
    """The round keys of the schedule that K1 and K2 replace: with them, AES2S is AES."""
    round_keys = expand(key)
    last = len(round_keys) - 1
    return round_keys[0], round_keys[last if hardened else (5 if last == 10 else 9)]


def ecb_cases():
    rng = random.Random(1)
    for hardened in (False, True):
        for size in (16, 24, 32):
            key = bytes(range(size))
            own = unsubstituted(key, hardened)
            yield ecb_case(key, *own, FIPS_MSG, hardened, "the schedule's own round keys: FIPS 197, appendix C")
            yield ecb_case(key, bytes(16), own[1], FIPS_MSG, hardened, "k1 zero")
            yield ecb_case(key, own[0], bytes(16), FIPS_MSG, hardened, "k2 zero")
            k1, k2 = rng.randbytes(16), rng.randbytes(16)
            yield ecb_case(rng.randbytes(size), k1, k2, rng.randbytes(16), hardened, "random keys")
            yield ecb_case(rng.randbytes(size), k2, k1, rng.randbytes(80), hardened, "five blocks")


def gscm_cases():
    rng = random.Random(2)
    for hardened in (False, True):
        for size in (16, 24, 32):
            key = GCM_KEY[:size]
            comment = "the schedule's own round keys: case 4, 10 or 16 of the GCM specification"
            yield gscm_case(key, *unsubstituted(key, hardened), GCM_NONCE, GCM_AD, GCM_MSG, hardened, comment)
            for ad_len, length in [(0, 0), (20, 0), (0, 1), (16, 16), (16, 40), (13, 65), (40, 272)]:
                k1, k2, nonce, ad = (rng.randbytes(n) for n in (16, 16, 12, ad_len))
                msg = rng.randbytes(length)
                comment = f"{ad_len} bytes of associated data, {length} of text"
                case = gscm_case(key, k1, k2, nonce, ad, msg, hardened, comment)
                yield case
            yield from forgeries(case, key, k1, k2, nonce, ad, msg, hardened)


def forgeries(case, key, k1, k2, nonce, ad, msg, hardened):
    """Results of other readings of the scheme, which must be refused."""
    def forgery(comment, **changes):
        return {**case, **hexed(changes), "comment": comment, "result": "invalid"}

    client, cluster = substituted(key, k1, k2, hardened), expand(key)
    tag = bytes.fromhex(case["tag"])
    zero, one = nonce + bytes(4), nonce + bytes([0, 0, 0, 1])
    if hardened:
        yield forgery("the cluster's GHASH key", tag=seal(client, cluster, nonce, ad, msg)[1])
    else:
        yield forgery("the client's own GHASH key", tag=seal(client, client, nonce, ad, msg)[1])
    masks = xor(encrypt(client, one), encrypt(cluster, one)), xor(encrypt(client, one), encrypt(client, zero))
    yield forgery("the tag masked under the cluster key", tag=xor(tag, masks[0]))
    yield forgery("the tag masked by counter 0", tag=xor(tag, masks[1]))
    yield forgery("k1 and k2 exchanged", k1=k2, k2=k1)
    yield forgery("a bit of the tag", tag=xor(tag, bytes(15) + bytes([1])))


def document(algorithm, kind, cases):
    tests = [{"tcId": number, **case} for number, case in enumerate(cases, 1)]
    group = {"type": kind, "tests": tests}
    return {"algorithm": algorithm, "numberOfTests": len(tests), "header": [ORIGIN], "testGroups": [group]}


def published():
    documents = {
        "aes2s_ecb.json": document("AES2S-ECB", "IndCpaTest", ecb_cases()),
        "gscm.json": document("GSCM", "AeadTest", gscm_cases()),
    }
    return {name: json.dumps(document, indent=1) + "\n" for name, document in documents.items()}


def random_case(rng, size):
    """A random case. In one of four, a bit is changed, and the case must be refused."""
    k1, k2, nonce, ad = (rng.randbytes(n) for n in (16, 16, 12, rng.randrange(50)))
    key, hardened = rng.randbytes(rng.choice([16, 24, 32])), rng.random() < 0.5
    case = gscm_case(key, k1, k2, nonce, ad, rng.randbytes(size), hardened, f"{size} bytes")
    if rng.random() < 0.25:
        field = rng.choice([name for name in ("key", "k1", "k2", "nonce", "aad", "ct", "tag") if case[name]])
        changed = bytearray.fromhex(case[field])
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        case |= {field: changed.hex(), "result": "invalid"}
    return case


def main():
    hold_to_standards()
    if sys.argv[1] == "--write":
        for name, text in published().items():
            (VECTORS / name).write_text(text)
        return
    for name, text in published().items():
        if (VECTORS / name).read_text() != text:
            sys.exit(f"vectors/{name} is not what the referee computes")
    rng = random.Random(20261121)
    sizes = list(range(0, 300)) + [rng.randrange(300, 3000) for _ in range(30)]
    agree(sys.argv[1], (random_case(rng, size) for size in sizes), "gscm_by_hand")


if __name__ == "__main__":
    main()
