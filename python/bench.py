"""The speed of this package beside pyca/cryptography, PyCryptodome and PyNaCl, in one process and one thread.

    python -m pip install ./python -r python/bench.requirements.txt
    python python/bench.py

Every candidate seals and opens the same messages with AES-256-GCM (PyNaCl with ChaCha20-Poly1305 where
libsodium has no AES here). Candidates take turns in a random order, and the figure is the median of the rounds, so that a change of the clock's speed meets all
of them, and so does the memory that the one before gave back to the system; samples are short, so that few are interrupted. `empty call` is a Python function of three arguments that does nothing.
"""

import argparse
import os
import random
import statistics
import time

import cryptography
import Crypto
import nacl
import nacl.bindings as sodium
import nacl.exceptions
import sealwright
from Crypto.Cipher import AES
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY, NONCE, AD = os.urandom(32), os.urandom(12), b"associated data"
SIZES = {"40 B": 40, "1500 B": 1500, "16 KiB": 16 << 10, "1 MiB": 1 << 20}


def empty(nonce, data, associated_data):
    pass


def pycryptodome_seal(nonce, data, ad):
    cipher = AES.new(KEY, AES.MODE_GCM, nonce=nonce)
    cipher.update(ad)
    ciphertext, tag = cipher.encrypt_and_digest(data)
    return ciphertext + tag


def pycryptodome_open(nonce, message, ad):
    cipher = AES.new(KEY, AES.MODE_GCM, nonce=nonce)
    cipher.update(ad)
    return cipher.decrypt_and_verify(message[:-16], message[-16:])


def sodium_functions():
    """libsodium's AES-256-GCM, or its ChaCha20-Poly1305 where libsodium or the machine lacks that."""
    try:
        sodium.crypto_aead_aes256gcm_encrypt(b"", AD, NONCE, KEY)
    except (AttributeError, nacl.exceptions.UnavailableError):
        name = "ChaCha20-Poly1305"
        seal = sodium.crypto_aead_chacha20poly1305_ietf_encrypt
        opened = sodium.crypto_aead_chacha20poly1305_ietf_decrypt
    else:
        seal, opened = sodium.crypto_aead_aes256gcm_encrypt, sodium.crypto_aead_aes256gcm_decrypt
        name = "AES-256-GCM"
    return name, lambda n, d, a: seal(d, a, n, KEY), lambda n, d, a: opened(d, a, n, KEY)


def candidates():
    ours, theirs = sealwright.AESGCM(KEY), AESGCM(KEY)
    sodium_name, sodium_seal, sodium_open = sodium_functions()
    return {
        f"sealwright {sealwright.__version__}": (ours.encrypt, ours.decrypt),
        f"cryptography {cryptography.__version__}": (theirs.encrypt, theirs.decrypt),
        f"PyCryptodome {Crypto.__version__}": (pycryptodome_seal, pycryptodome_open),
        f"PyNaCl {nacl.__version__} ({sodium_name})": (sodium_seal, sodium_open),
    }


def sample(function, nonce, data, repeats):
    """Nanoseconds a call."""
    start = time.perf_counter_ns()
    for _ in repeats:
        function(nonce, data, AD)
    return (time.perf_counter_ns() - start) / len(repeats)


def measure(functions, rounds, seconds):
    """The median nanoseconds of each of `functions`: name to (function, data)."""
    repeats = {}
    for name, (function, data) in functions.items():
        once = max(min(sample(function, NONCE, data, range(3)) for _ in range(3)), 20)
        repeats[name] = range(max(int(seconds * 1e9 / once), 1))
    samples = {name: [] for name in functions}
    turns = list(functions.items())
    for _ in range(rounds):
        random.shuffle(turns)
        for name, (function, data) in turns:
            samples[name].append(sample(function, NONCE, data, repeats[name]))
    return {name: statistics.median(taken) for name, taken in samples.items()}


def figure(nanoseconds):
    return f"{nanoseconds:,.0f} ns" if nanoseconds < 1e5 else f"{nanoseconds / 1e3:,.0f} us"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200, help="rounds, each of every candidate (default: 200)")
    parser.add_argument("--seconds", type=float, default=0.0005, help="length of a sample (default: 0.0005)")
    options = parser.parse_args()
    print(f"sealwright at level {sealwright.isa}; {options.rounds} rounds; medians, and how many times our time others take")
    behind = []
    for direction in (0, 1):
        print(f"\n{('seal', 'open')[direction]:<36}" + "".join(f"{size:>20}" for size in SIZES))
        table = {}
        for size, length in SIZES.items():
            text = os.urandom(length)
            functions = {}
            for name, pair in candidates().items():
                data = text if direction == 0 else pair[0](NONCE, text, AD)
                assert pair[1](NONCE, pair[0](NONCE, text, AD), AD) == text
                functions[name] = (pair[direction], data)
            if length == 40:
                functions["empty call"] = (empty, text)
            for name, time_taken in measure(functions, options.rounds, options.seconds).items():
                table.setdefault(name, {})[size] = time_taken
        ours = next(iter(table.values()))
        for name, row in table.items():
            cells = [f"{figure(row[size])} ({row[size] / ours[size]:5.2f})" if size in row else "" for size in SIZES]
            print(f"{name:<36}" + "".join(f"{cell:>20}" for cell in cells))
            behind += [f"{name}, {size}" for size in row if name != "empty call" and row[size] < ours[size]]
        over = ours["40 B"] - table["empty call"]["40 B"]
        print(f"40 B: {over:.0f} ns more than an empty call")
    print("\nahead of all at every size" if not behind else f"\nbehind: {'; '.join(behind)}")


if __name__ == "__main__":
    main()
