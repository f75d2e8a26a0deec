"""Many messages in one call, against one call for each."""

import os
import threading

import numpy
import pytest
import sealwright

NONCE = {"AESGCM": 12, "AESOCB3": 12, "AESGCMSIV": 12, "XAES256GCM": 24}
each = pytest.mark.parametrize("name", NONCE)


def make(name):
    return getattr(sealwright, name)(bytes(range(32)))


@each
def test_a_batch_is_every_message(name):
    aead = make(name)
    nonces = [os.urandom(NONCE[name]) for _ in range(50)]
    data = [os.urandom(29 * i) for i in range(50)]
    ads = [None if i % 3 == 0 else os.urandom(i) for i in range(50)]
    for given, one in [(None, [None] * 50), (b"the same", [b"the same"] * 50), (ads, ads)]:
        sealed = aead.encrypt_batch(nonces, data, given)
        assert sealed == [aead.encrypt(*each) for each in zip(nonces, data, one)]
        assert aead.decrypt_batch(nonces, sealed, given) == data
    # Any sequence, and any bytes-like object.
    again = aead.encrypt_batch(tuple(map(bytearray, nonces)), [memoryview(text) for text in data], bytearray(b"the same"))
    assert again == aead.encrypt_batch(nonces, data, b"the same")


@each
def test_a_forged_message_is_none_and_the_others_open(name):
    aead, nonces = make(name), [os.urandom(NONCE[name]) for _ in range(5)]
    sealed = aead.encrypt_batch(nonces, [b"text"] * 5)
    sealed[1], sealed[3] = sealed[1][:-1] + bytes([sealed[1][-1] ^ 1]), b"short"
    assert aead.decrypt_batch(nonces, sealed) == [b"text", None, b"text", None, b"text"]


def test_one_buffer_is_not_taken_for_many():
    aead, nonces, apart = make("AESGCM"), [bytes(12), bytes(11) + b"1"], numpy.frombuffer(b"0a1b", numpy.uint8)[::2]
    sealed = aead.encrypt_batch(nonces, [b"", b""], b"01")
    # Its bytes do not lie together: what would be authenticated are single bytes.
    for call, data in ((aead.encrypt_batch, [b"", b""]), (aead.decrypt_batch, sealed)):
        for ad in (apart, memoryview(b"0a1b")[::2]):
            with pytest.raises((BufferError, ValueError), match="contiguous"):
                call(nonces, data, ad)
        for one in (apart, numpy.frombuffer(b"01", numpy.uint8), memoryview(b"01"), bytearray(b"01")):
            with pytest.raises(TypeError, match="data must be a sequence of bytes-like objects, not one"):
                call(nonces, one, None)
    assert aead.decrypt_batch(nonces, sealed, numpy.frombuffer(b"01", numpy.uint8)) == [b"", b""]
    # An array of rows, or of objects, is a sequence.
    rows = numpy.frombuffer(b"".join(nonces), numpy.uint8).reshape(2, 12)
    assert aead.encrypt_batch(rows, numpy.array([b"", b""], object), numpy.array([b"01", b"01"], object)) == sealed


def test_wrong_batches():
    aead = make("AESGCM")
    with pytest.raises(ValueError, match="nonces and data must have the same length, not 1 and 2"):
        aead.encrypt_batch([bytes(12)], [b"", b""])
    with pytest.raises(ValueError, match="associated_data and data must have the same length, not 1 and 2"):
        aead.encrypt_batch([bytes(12)] * 2, [b"", b""], [b""])
    with pytest.raises(TypeError, match="sequence of bytes-like objects"):
        aead.encrypt_batch(bytes(24), [b"", b""])
    with pytest.raises(ValueError, match="the nonce has 3 bytes"):
        aead.encrypt_batch([bytes(3)], [b""])
    assert aead.encrypt_batch([], []) == aead.decrypt_batch([], []) == []


def test_a_sequence_that_never_ends():
    class Endless:
        def __len__(self):
            return 3

        def __getitem__(self, at):
            return bytes([at % 256]) * 12

    aead = make("AESGCM")
    with pytest.raises(ValueError, match="nonces has more items than its length, 3"):
        aead.encrypt_batch(Endless(), [b""] * 3)
    with pytest.raises(ValueError, match="data has more items"):
        aead.encrypt_batch([bytes(12)] * 3, Endless())
    with pytest.raises(ValueError, match="associated_data has more items"):
        aead.encrypt_batch([bytes(12)] * 3, [b""] * 3, Endless())


@each
def test_a_nonce_that_comes_twice_is_refused_before_anything_is_encrypted(name):
    aead, length = make(name), NONCE[name]
    nonces = [number.to_bytes(length, "big") for number in range(30)]
    nonces[21] = bytearray(nonces[4])
    data, rows, out = [b"text"] * 30, b"".join(map(bytes, nonces)), bytearray(30 * 20)
    if name == "AESGCMSIV":
        # It allows that: equal messages look equal, and nothing else shows.
        sealed = aead.encrypt_batch(nonces, data)
        assert sealed[21] == sealed[4] and aead.encrypt_rows(rows, b"text" * 30, None, out) == 30
        return
    with pytest.raises(ValueError, match="messages 4 and 21 have the same nonce"):
        aead.encrypt_batch(nonces, data)
    with pytest.raises(ValueError, match="messages 4 and 21 have the same nonce"):
        aead.encrypt_rows(rows, b"text" * 30, None, out)
    assert out == bytes(30 * 20)
    # To open one twice is harmless.
    sealed = aead.encrypt(nonces[4], b"text", None)
    assert aead.decrypt_batch([nonces[4]] * 2, [sealed] * 2) == [b"text"] * 2
    assert aead.decrypt_rows(nonces[4] * 2, sealed * 2, None, bytearray(8)) == []


def test_no_thread_can_make_two_nonces_one_after_they_were_compared():
    aead, rows = make("AESGCM"), bytearray(24)
    nonces, texts, stop = [memoryview(rows)[:12], memoryview(rows)[12:]], [bytes(1 << 20)] * 2, threading.Event()

    def writes():
        while not stop.is_set():
            rows[23] ^= 1

    def twice(sealed):
        # One nonce for two equal texts gives the same ciphertext.
        return sealed[0] == sealed[1]

    thread, out = threading.Thread(target=writes), bytearray(2 * ((1 << 20) + 16))
    thread.start()
    try:
        compared = 0
        while compared < 50:
            try:
                assert not twice(aead.encrypt_batch(nonces, texts))
                aead.encrypt_rows(rows, bytes(2 << 20), None, out)
                assert not twice([out[: len(out) // 2], out[len(out) // 2 :]])
                compared += 1
            except ValueError as refused:
                assert "have the same nonce" in str(refused)
    finally:
        stop.set()
        thread.join()


@each
@pytest.mark.parametrize("rows, length", [(1, 0), (1, 40), (7, 1), (100, 1500), (3, 20000)])
def test_rows_are_every_message(name, rows, length):
    aead = make(name)
    nonces = numpy.frombuffer(os.urandom(rows * NONCE[name]), numpy.uint8).reshape(rows, -1)
    data = numpy.frombuffer(os.urandom(rows * length), numpy.uint8).reshape(rows, length)
    sealed = numpy.zeros((rows, length + 16), numpy.uint8)
    assert aead.encrypt_rows(nonces, data, b"ad", sealed) == rows
    for nonce, text, message in zip(nonces, data, sealed):
        assert message.tobytes() == aead.encrypt(nonce, text, b"ad")
    text = numpy.ones((rows, length), numpy.uint8)
    assert aead.decrypt_rows(nonces, sealed, b"ad", text) == []
    assert (text == data).all()
    sealed[rows // 2, -1] ^= 1
    assert aead.decrypt_rows(nonces, sealed, b"ad", text) == [rows // 2]
    assert not text[rows // 2].any()
    rest = numpy.arange(rows) != rows // 2
    assert (text[rest] == data[rest]).all()


def test_wrong_rows():
    aead, out = make("AESGCM"), bytearray(64)
    with pytest.raises(ValueError, match="are not rows"):
        aead.encrypt_rows(bytes(24), bytes(33), None, out)
    with pytest.raises(ValueError, match="are not rows"):
        aead.encrypt_rows(bytes(23), bytes(32), None, out)
    with pytest.raises(ValueError, match="the buffer must be 64 bytes long"):
        aead.encrypt_rows(bytes(24), bytes(32), None, bytearray(63))
    with pytest.raises(ValueError, match="shorter than a tag"):
        aead.decrypt_rows(bytes(24), bytes(30), None, bytearray())
    # In place rows would be overwritten before they are read.
    with pytest.raises(ValueError, match="must not overlap the data"):
        aead.encrypt_rows(bytes(24), memoryview(out)[:32], None, out)
    with pytest.raises(ValueError, match="must not overlap the nonces"):
        aead.encrypt_rows(memoryview(out)[:24], bytes(32), None, out)
    with pytest.raises(ValueError, match="must not overlap the associated data"):
        aead.decrypt_rows(bytes(24), bytes(96), memoryview(out)[:9], out)
    # A view that skips bytes is refused, not misread.
    with pytest.raises(ValueError, match="contiguous"):
        aead.encrypt_rows(bytes(24), numpy.zeros((2, 64), numpy.uint8)[:, :16], None, out)
    assert aead.encrypt_rows(b"", b"", None, bytearray()) == 0
