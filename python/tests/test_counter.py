"""Keys that see to their nonces themselves."""

import os
import threading

import pytest
import sealwright
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY = bytes(range(32))


@pytest.mark.parametrize("suite", sealwright.suites())
def test_messages_open_in_their_order(suite):
    key = KEY[:16] if "128" in suite else KEY
    sealer, opener = sealwright.Sealer(suite, key), sealwright.Opener(suite, key)
    texts = [os.urandom(length) for length in (0, 1, 40, 1500, 70000)]
    sealed = [sealer.seal(text, b"header") for text in texts]
    with pytest.raises(sealwright.InvalidTag):
        opener.open(sealed[1], b"header")
    assert [opener.open(message, b"header") for message in sealed] == texts
    assert sealer.count == opener.count == len(texts)


def test_nonces_are_those_of_tls():
    iv, sealer = os.urandom(12), None
    sealer = sealwright.Sealer("aes-256-gcm", KEY, iv, start=700)
    nonce = (int.from_bytes(iv, "big") ^ 700).to_bytes(12, "big")
    assert sealer.seal(b"text", b"ad") == AESGCM(KEY).encrypt(nonce, b"text", b"ad")


def test_the_counter_ends():
    sealer = sealwright.Sealer("aes-256-gcm", KEY, start=2**64 - 1)
    with pytest.raises(sealwright.Error, match="as many messages as it may"):
        sealer.seal(b"one too many")


def test_threads_never_share_a_nonce():
    sealer, sealed = sealwright.Sealer("aes-256-gcm", KEY), []

    def work():
        for length in (0, 50_000) * 200:
            sealed.append(sealer.seal(bytes(length)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # The same text under two nonces never gives the same tag.
    assert len(set(sealed)) == len(sealed) == sealer.count == 1600


def test_random_nonces():
    key = sealwright.RandomNonceKey(KEY)
    one, other = key.seal(b"text", b"ad"), key.seal(b"text", b"ad")
    assert one != other and len(one) == 4 + key.overhead and key.overhead == 40
    assert key.open(one, b"ad") == key.open(other, b"ad") == b"text"
    assert sealwright.XAES256GCM(KEY).decrypt(one[:24], one[24:], b"ad") == b"text"
    for wrong in (one[:-1], one[:20], b"", one[:-1] + bytes([one[-1] ^ 1])):
        with pytest.raises(sealwright.InvalidTag):
            key.open(wrong, b"ad")
    standard = sealwright.RandomNonceKey(KEY, "aes-256-gcm")
    message = standard.seal(b"text")
    assert AESGCM(KEY).decrypt(message[:12], message[12:], None) == b"text"


def test_wrong_arguments():
    with pytest.raises(ValueError, match="unknown suite; known are aes-128-gcm"):
        sealwright.Sealer("aes-512-gcm", KEY)
    with pytest.raises(ValueError, match="the iv has 11 bytes; it must have 12"):
        sealwright.Sealer("aes-256-gcm", KEY, bytes(11))
    with pytest.raises(ValueError, match="the key has 16 bytes; it must have 32"):
        sealwright.Opener("aes-256-gcm", KEY[:16])
    with pytest.raises(ValueError, match="the key has 31 bytes; it must have 32"):
        sealwright.RandomNonceKey(KEY[:31])
