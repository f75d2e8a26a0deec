"""The AEADs against pyca/cryptography and the system's OpenSSL, and what Python adds: buffers, errors, threads."""

import os
import shutil
import subprocess
import sys
import threading
import time

import openssl
import pytest
import sealwright
from cryptography.hazmat.primitives.ciphers import aead as pyca
from hypothesis import given, settings
from hypothesis import strategies as st

CLASSES = {"AESGCM": (16, 24, 32), "AESOCB3": (16, 24, 32), "AESGCMSIV": (16, 32), "XAES256GCM": (32,)}
NONCE = {"AESGCM": 12, "AESOCB3": 12, "AESGCMSIV": 12, "XAES256GCM": 24}
each = pytest.mark.parametrize("name", CLASSES)


def make(name, size=32):
    return getattr(sealwright, name)(bytes(range(size)))


@st.composite
def messages(draw):
    return draw(st.binary(min_size=32, max_size=32)), draw(st.binary(max_size=2000)), draw(st.binary(max_size=300))


@pytest.mark.parametrize("name", ["AESGCM", "AESOCB3", "AESGCMSIV"])
@settings(deadline=None, max_examples=150)
@given(messages(), st.binary(min_size=12, max_size=15), st.integers(0, 2))
def test_pyca_agrees(name, message, nonce, size):
    key, data, ad = message
    sizes = CLASSES[name]
    key = key[: sizes[size % len(sizes)]]
    nonce = nonce[:12] if name == "AESGCMSIV" else nonce
    ours, theirs = getattr(sealwright, name)(key), getattr(pyca, name)(key)
    sealed = ours.encrypt(nonce, data, ad)
    assert sealed == theirs.encrypt(nonce, data, ad)
    assert ours.decrypt(nonce, sealed, ad) == data


@pytest.mark.skipif(openssl.LIBRARY is None, reason="there is no libcrypto of OpenSSL 3")
@pytest.mark.parametrize("mode", ["GCM", "OCB"])
@settings(deadline=None, max_examples=100)
@given(messages(), st.sampled_from([16, 24, 32]))
def test_openssl_agrees(mode, message, size):
    key, data, ad = message
    ours = {"GCM": sealwright.AESGCM, "OCB": sealwright.AESOCB3}[mode](key[:size])
    nonce = key[-12:]
    assert ours.encrypt(nonce, data, ad) == openssl.seal(f"AES-{8 * size}-{mode}", key[:size], nonce, data, ad)


def test_xaes_vector():
    # https://c2sp.org/XAES-256-GCM, "Test Vectors": key of 0x01 bytes, nonce ABC...X, text "XAES-256-GCM".
    aead = sealwright.XAES256GCM(b"\x01" * 32)
    sealed = aead.encrypt(b"ABCDEFGHIJKLMNOPQRSTUVWX", b"XAES-256-GCM", None)
    assert sealed.hex() == "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"


@each
@settings(deadline=None, max_examples=60)
@given(data=st.binary(max_size=400), ad=st.binary(max_size=40), at=st.integers(0), bit=st.integers(0, 7))
def test_a_flipped_bit_is_found(name, data, ad, at, bit):
    aead, nonce = make(name), bytes(NONCE[name])
    sealed = bytearray(aead.encrypt(nonce, data, ad))
    sealed[at % len(sealed)] ^= 1 << bit
    with pytest.raises(sealwright.InvalidTag):
        aead.decrypt(nonce, sealed, ad)
    out = bytearray(b"\xff" * len(data))
    with pytest.raises(sealwright.InvalidTag):
        aead.decrypt_into(nonce, sealed, ad, out)
    assert out == bytes(len(data)), "nothing that is not authentic stays in the buffer"


@each
def test_every_length_and_every_buffer(name):
    aead, nonce = make(name), bytes(NONCE[name])
    for length in [*range(300), 4096, 65536, 1 << 20]:
        data = os.urandom(length)
        sealed = aead.encrypt(nonce, data, b"ad")
        for kind in (bytearray, memoryview):
            assert aead.encrypt(kind(nonce), kind(data), kind(b"ad")) == sealed
            assert aead.decrypt(kind(nonce), kind(sealed), kind(b"ad")) == data
        out = bytearray(length + 16)
        assert aead.encrypt_into(nonce, data, b"ad", out) == length + 16 and out == sealed
        assert aead.decrypt_into(nonce, out, b"ad", memoryview(out)[:length]) == length and out[:length] == data


@each
@pytest.mark.parametrize("shift", [-20, -16, -1, 0, 1, 16, 20])
def test_the_buffer_may_lie_over_the_data(name, shift):
    aead, nonce, data = make(name), bytes(NONCE[name]), os.urandom(100)
    sealed = aead.encrypt(nonce, data, None)
    room = memoryview(bytearray(200))
    room[40:140] = data
    aead.encrypt_into(nonce, room[40:140], None, room[40 + shift : 156 + shift])
    assert room[40 + shift : 156 + shift] == sealed
    room[40:156] = sealed
    aead.decrypt_into(nonce, room[40:156], None, room[40 + shift : 140 + shift])
    assert room[40 + shift : 140 + shift] == data


FORWARD = """
#include <stddef.h>
/* Allowed by C: it reads what it has written already, where source and target overlap so. */
void *memcpy(void *to, const void *from, size_t len) {
    for (volatile size_t i = 0; i < len; i++) ((char *)to)[i] = ((const char *)from)[i];
    return to;
}
"""
SHIFTED = """
import os, sealwright
for name, length in {"AESGCM": 12, "AESOCB3": 12, "AESGCMSIV": 12, "XAES256GCM": 24}.items():
    aead, nonce = getattr(sealwright, name)(bytes(range(32))), bytes(length)
    for size in (100, 5000, 70_000):
        data = os.urandom(size)
        sealed = aead.encrypt(nonce, data, None)
        for shift in (-16, -1, 1, 16, 33):
            room = memoryview(bytearray(size + 100))
            room[40 : 40 + size] = data
            aead.encrypt_into(nonce, room[40 : 40 + size], None, room[40 + shift : 56 + size + shift])
            assert room[40 + shift : 56 + size + shift] == sealed, (name, size, shift)
            room[40 : 56 + size] = sealed
            aead.decrypt_into(nonce, room[40 : 56 + size], None, room[40 + shift : 40 + size + shift])
            assert room[40 + shift : 40 + size + shift] == data, (name, size, shift)
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_overlapping_bytes_are_not_copied_by_memcpy(tmp_path):
    """That of the C library takes overlapping ranges on many processors, and hides the mistake."""
    (tmp_path / "forward.c").write_text(FORWARD)
    library = tmp_path / "forward.so"
    options = ["-shared", "-fPIC", "-O1", "-fno-builtin", "-fno-tree-loop-distribute-patterns"]
    subprocess.run(["gcc", *options, "-o", library, tmp_path / "forward.c"], check=True)
    run = [sys.executable, "-c", SHIFTED]
    done = subprocess.run(run, env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@each
def test_the_buffer_must_not_lie_over_the_rest(name):
    aead, room = make(name), memoryview(bytearray(100))
    nonce = NONCE[name]
    with pytest.raises(ValueError, match="overlap"):
        aead.encrypt_into(room[:nonce], b"0123", None, room[nonce - 1 : nonce + 19])
    with pytest.raises(ValueError, match="overlap"):
        aead.encrypt_into(bytes(nonce), b"0123", room[60:70], room[50:70])


@each
def test_wrong_arguments(name):
    aead, nonce = make(name), bytes(NONCE[name])
    with pytest.raises(ValueError, match="the key has 31 bytes; it must have"):
        getattr(sealwright, name)(bytes(31))
    with pytest.raises(ValueError, match="the nonce has 7 bytes; it must have"):
        aead.encrypt(bytes(7), b"", None)
    with pytest.raises(TypeError):
        aead.encrypt(nonce, "text", None)
    with pytest.raises(TypeError):
        aead.encrypt(nonce, 5, None)
    with pytest.raises(BufferError):
        aead.encrypt(nonce, memoryview(b"0123")[::2], None)
    with pytest.raises((BufferError, TypeError)):
        aead.encrypt_into(nonce, b"", None, bytes(16))
    with pytest.raises(ValueError, match="the buffer must be 16 bytes long, and it has 15"):
        aead.encrypt_into(nonce, b"", None, bytearray(15))
    with pytest.raises(sealwright.InvalidTag):
        aead.decrypt(nonce, b"short", None)
    with pytest.raises(ValueError, match="bit_length must be"):
        aead.generate_key(100)
    assert bytes(range(32)).hex() not in repr(aead)


@each
def test_keys_are_new_and_of_their_length(name):
    for size in CLASSES[name]:
        cls = getattr(sealwright, name)
        one, other = cls.generate_key(8 * size), cls.generate_key(bit_length=8 * size)
        assert len(one) == size and one != other


def test_other_threads_run_meanwhile():
    """Without switches that the interpreter makes by itself, another thread runs only while a call has let go of the lock."""
    aead, interval, count, stop = make("AESGCM"), sys.getswitchinterval(), 0, False

    def work():
        nonlocal count
        while not stop:
            count += 1
            time.sleep(0)

    thread = threading.Thread(target=work)
    sys.setswitchinterval(1000)
    try:
        thread.start()
        small, large, message = bytes(1000), bytes(64 << 20), aead.encrypt(bytes(12), bytes(64 << 20), None)
        before = count
        for _ in range(100):
            aead.encrypt(bytes(12), small, None)
        assert count == before, "short messages keep the lock"
        for call in (lambda: aead.encrypt(bytes(12), large, None), lambda: aead.decrypt(bytes(12), message, None)):
            before = count
            # On a busy machine the other thread may get no processor while one call lasts.
            for _ in range(50):
                call()
                if count > before:
                    break
            assert count > before
    finally:
        stop = True
        sys.setswitchinterval(interval)
        thread.join()


def test_one_key_in_many_threads():
    aead, wrong = make("AESOCB3"), []

    def work(number):
        for i in range(200):
            nonce, data = number.to_bytes(6, "big") + i.to_bytes(6, "big"), os.urandom(i * 37)
            if aead.decrypt(nonce, aead.encrypt(nonce, data, None), None) != data:
                wrong.append((number, i))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
