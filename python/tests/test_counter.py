"""Keys that see to their nonces themselves."""

import os
import signal
import threading
import time

import pytest
import sealwright
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY = bytes(range(32))


@pytest.mark.parametrize("suite", sealwright.suites())
def test_messages_open_in_their_order(suite):
    key = KEY[:16] if "128" in suite else KEY
    sealer, opener = sealwright.Sealer(suite, key), sealwright.Opener(suite, key)
    texts = [os.urandom(length) for length in (0, 1, 40, 1500, 70000)]
    sealed = [sealer.seal(text, associated_data=b"header") for text in texts]
    with pytest.raises(sealwright.InvalidTag):
        opener.open(sealed[1], associated_data=b"header")
    assert [opener.open(message, associated_data=b"header") for message in sealed] == texts
    assert sealer.count == opener.count == len(texts)


def test_nonces_are_those_of_tls():
    iv, sealer = os.urandom(12), None
    sealer = sealwright.Sealer("aes-256-gcm", KEY, iv, start=700)
    nonce = (int.from_bytes(iv, "big") ^ 700).to_bytes(12, "big")
    assert sealer.seal(b"text", associated_data=b"ad") == AESGCM(KEY).encrypt(nonce, b"text", b"ad")


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


def in_a_child(work):
    """What `work` returns in a forked child, a small number; a child that waits for ever is ended by a signal, and gives a negative one."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        result = 99
        try:
            result = work()
        finally:
            os._exit(result)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def refused(*calls):
    """How many of `calls` raise RuntimeError, as they must in a child."""
    count = 0
    for call in calls:
        try:
            call()
        except RuntimeError as error:
            count += "forked" in str(error)
    return count


forks = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")  # CPython 3.12, of every fork


@forks
def test_a_forked_child_never_shares_a_nonce():
    sealer, opener = sealwright.Sealer("aes-256-gcm", KEY), sealwright.Opener("aes-256-gcm", KEY)
    message = sealer.seal(b"text")
    calls = [lambda: sealer.seal(b"of the child"), lambda: sealer.count, lambda: opener.open(message), lambda: opener.count]
    assert in_a_child(lambda: refused(*calls)) == 4
    assert in_a_child(lambda: "another process" in repr(sealer) + repr(opener)) == 1
    assert opener.open(message) == b"text" and opener.open(sealer.seal(b"more")) == b"more" and sealer.count == 2
    server = sealwright.Sessions(slots=2)
    client = sealwright.SessionClient(server.admit(0))
    frame = client.seal(1, b"text")
    calls = [
        lambda: client.seal(1, b"of the child"),
        lambda: client.open(frame),
        lambda: server.seal(0, 1, b"of the child"),
        lambda: server.open(0, frame),
        lambda: server.open_batch([0], [frame]),
        lambda: server.admit(1),
        lambda: server.remove(1),
        lambda: server.revoke(1),
        lambda: server.live,
        lambda: client.session,
    ]
    assert in_a_child(lambda: refused(*calls)) == len(calls)
    assert in_a_child(lambda: "another process" in repr(server) and "another process" in repr(client)) == 1
    assert server.open(0, frame) == (1, b"text")
    # Random nonces are anybody's.
    key = sealwright.RandomNonceKey(KEY)
    assert in_a_child(lambda: key.open(key.seal(b"text")) == b"text") == 1


@forks
def test_a_child_does_not_wait_for_a_thread_that_it_does_not_have():
    sealer, text, ended = sealwright.Sealer("aes-256-gcm", KEY), bytes(1 << 26), threading.Event()

    def work():
        while not ended.is_set():
            sealer.seal(text)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(5):
            time.sleep(0.02)
            assert in_a_child(lambda: refused(lambda: sealer.seal(b"of the child"), lambda: sealer.count)) == 2
    finally:
        ended.set()
        thread.join()


def test_random_nonces():
    key = sealwright.RandomNonceKey(KEY)
    one, other = key.seal(b"text", associated_data=b"ad"), key.seal(b"text", associated_data=b"ad")
    assert one != other and len(one) == 4 + key.overhead and key.overhead == 40
    assert key.open(one, associated_data=b"ad") == key.open(other, associated_data=b"ad") == b"text"
    assert sealwright.XAES256GCM(KEY).decrypt(one[:24], one[24:], b"ad") == b"text"
    for wrong in (one[:-1], one[:20], b"", one[:-1] + bytes([one[-1] ^ 1])):
        with pytest.raises(sealwright.InvalidTag):
            key.open(wrong, associated_data=b"ad")
    standard = sealwright.RandomNonceKey(KEY, suite="aes-256-gcm")
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


def test_associated_data_and_suite_are_passed_by_name():
    """In Rust and C associated data comes first, and the suite before the key: what was ported in that order is refused."""
    key, sealer, opener = sealwright.RandomNonceKey(KEY), sealwright.Sealer("aes-256-gcm", KEY), sealwright.Opener("aes-256-gcm", KEY)
    for call in (key.seal, key.open, sealer.seal, opener.open):
        with pytest.raises(TypeError):
            call(b"header", b"text")
    with pytest.raises(TypeError):
        sealwright.RandomNonceKey("aes-256-gcm", KEY)
    with pytest.raises(TypeError):
        sealwright.RandomNonceKey(KEY, "aes-256-gcm")
