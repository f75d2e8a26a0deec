"""What is taken for bytes: no addresses of objects, no buffer that is filled again, no more than there is memory for."""

import array
import ctypes
import io
import subprocess
import sys
import threading
import time

import numpy
import pytest
import sealwright
from sealwright import AESGCM, Key, Opener, RandomNonceKey, SealedFile, Sealer, SessionClient, Sessions

KEY = bytes(range(32))
NONCES = [number.to_bytes(12, "big") for number in range(1, 4)]


def objects(count=4):
    return numpy.array([b"alpha", b"beta", None, "x"][:count], dtype=object)


FIELDS = numpy.zeros(4, dtype=[("On", "i4"), ("b", object)])
TIMES = numpy.zeros(4, dtype=[("t", "M8[s]"), ("b", object)])


@pytest.mark.parametrize("given", [objects(), FIELDS, TIMES, (ctypes.py_object * 4)(), memoryview(objects())])
def test_addresses_are_no_bytes(given):
    aead, sealing = AESGCM(KEY), RandomNonceKey(KEY)
    sealer, opener, sessions = Sealer("aes-256-gcm", KEY), Opener("aes-256-gcm", KEY), Sessions(slots=2)
    client = SessionClient(sessions.admit(0))
    message, room = aead.encrypt(NONCES[0], bytes(16), None), bytearray(100)
    calls = [
        lambda: aead.encrypt(NONCES[0], given, None),
        lambda: aead.encrypt(given, b"", None),
        lambda: aead.encrypt(NONCES[0], b"", given),
        lambda: aead.decrypt(NONCES[0], given, None),
        lambda: aead.encrypt_into(NONCES[0], given, None, room),
        lambda: aead.encrypt_into(NONCES[0], b"", None, given),
        lambda: aead.decrypt_into(NONCES[0], message, None, given),
        lambda: aead.encrypt_rows(given, b"", None, room),
        lambda: aead.encrypt_rows(NONCES[0], given, None, room),
        lambda: aead.decrypt_rows(NONCES[0], message, None, given),
        lambda: sealing.seal(given),
        lambda: sealing.open(given),
        lambda: sealer.seal(given),
        lambda: opener.open(given),
        lambda: AESGCM(given),
        lambda: RandomNonceKey(given),
        lambda: Sealer("aes-256-gcm", given),
        lambda: Key.raw(given),
        lambda: Key.passphrase(given),
        lambda: SealedFile(io.BytesIO(), "wb", key=given),
        lambda: SealedFile(io.BytesIO(), "wb", key=KEY, associated_data=given),
        lambda: client.seal(1, given),
        lambda: sessions.open(0, given),
        lambda: sealwright.seal(io.BytesIO(), io.BytesIO(), key=given),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()
    with SealedFile(io.BytesIO(), "wb", key=KEY) as file:
        # Of times, numpy itself says that it has no format for them.
        with pytest.raises(ValueError if given is TIMES else TypeError, match="array of objects|cannot include"):
            file.write(given)
        assert file.tell() == 0
    with pytest.raises(TypeError):
        file = io.BytesIO()
        sealwright.seal(io.BytesIO(b"text"), file, key=KEY)
        SealedFile(io.BytesIO(file.getvalue()), key=KEY).readinto(given)


def test_other_arrays_are_bytes():
    aead = AESGCM(KEY)
    names = numpy.array([(1, 2.0)], dtype=[("OO", "i4"), ("O", "f8")])
    times = numpy.array(["2020-01-01"], dtype="M8[D]")
    others = [array.array("d", [1.5]), names, times, numpy.float64(1), numpy.arange(6.0).reshape(2, 3), (ctypes.c_int * 3)(1, 2)]
    for given in (*others, bytearray(b"abc"), memoryview(b"abc").cast("B"), numpy.empty((0, 3)), numpy.array(["O"])):
        text = given.tobytes() if hasattr(given, "tobytes") else bytes(given)
        assert aead.decrypt(NONCES[0], aead.encrypt(NONCES[0], given, None), None) == text
        target = io.BytesIO()
        with SealedFile(target, "wb", key=KEY) as file:
            # numpy exports no times with their format.
            if given is not times:
                assert file.write(given) == len(text)


def test_a_refused_argument_is_no_failed_write():
    target = io.BytesIO()
    file = SealedFile(target, "wb", key=KEY)
    file.write(b"head ")
    for given, error in (("text", TypeError), (memoryview(b"abcd")[::2], BufferError), (numpy.zeros((3, 4)).T, BufferError)):
        with pytest.raises(error):
            file.write(given)
    file.write(b"tail")
    file.close()
    assert SealedFile(io.BytesIO(target.getvalue()), key=KEY).read() == b"head tail"


class Numbered:
    """A sequence, as one of anybody's."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, at):
        return self.items[at]


def test_what_is_no_sequence_is_no_batch():
    aead = AESGCM(KEY)
    texts = [b"AAAA", b"BBBB", b"CCCC"]
    sealed = aead.encrypt_batch(NONCES, texts)
    source, buffer = io.BytesIO(b"".join(texts)), bytearray(4)

    def chunks():
        while source.readinto(buffer):
            yield memoryview(buffer)

    for call, right in ((aead.encrypt_batch, texts), (aead.decrypt_batch, sealed)):
        for given in (chunks(), iter(right), set(right), frozenset(right), dict.fromkeys(right), map(bytes, right), zip(right)):
            with pytest.raises(TypeError, match="must be a sequence of bytes-like objects, not"):
                call(NONCES, given)
            with pytest.raises(TypeError, match="must be a sequence"):
                call(NONCES, right, given)
        with pytest.raises(TypeError, match="nonces must be a sequence"):
            call(iter(NONCES), right)
    for given in (tuple(texts), Numbered(texts), numpy.array(texts, dtype=object), numpy.frombuffer(b"".join(texts), "S1").reshape(3, 4)):
        assert aead.encrypt_batch(NONCES, given) == sealed
    client, sessions = Sessions(slots=2), Sessions(slots=2)
    with pytest.raises(TypeError):
        sessions.open_batch(iter([0]), [b""])
    with pytest.raises(TypeError):
        client.open_batch([0], iter([b""]))


def test_a_batch_of_short_messages_lets_other_threads_run():
    aead, ended, longest = AESGCM(KEY), threading.Event(), 0.0
    count = 20_000
    nonces, texts = [number.to_bytes(12, "big") for number in range(count)], [bytes(16_384)] * count

    def ticks():
        nonlocal longest
        last = time.perf_counter()
        while not ended.wait(0.001):
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    thread = threading.Thread(target=ticks)
    thread.start()
    begun = time.perf_counter()
    sealed = aead.encrypt_batch(nonces, texts)
    took = time.perf_counter() - begun
    ended.set()
    thread.join()
    assert len(sealed) == count and longest < max(0.5 * took, 0.05)


@pytest.mark.parametrize(
    "call",
    [
        "RandomNonceKey(bytes(32)).seal(data)",
        "AESGCM(bytes(32)).encrypt(bytes(12), data, None)",
        "SealedFile(io.BytesIO(), 'wb', key=bytes(32), associated_data=data)",
        "sealwright.seal(io.BytesIO(), io.BytesIO(), key=bytes(32), associated_data=data)",
        "Key.passphrase(data)",
        "sealwright._sealwright.text_bytes(data, 5)",
    ],
)
def test_without_memory_there_is_an_error(call):
    code = f"""
import io, resource, sealwright
from sealwright import *
data = bytes(400 << 20)
size = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (size + (200 << 20), resource.RLIM_INFINITY))
try:
    {call}
except MemoryError:
    print("no memory")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.returncode) == ("no memory\n", 0), done.stderr


def test_a_random_nonce_key_makes_one_message():
    code = """
import resource
from sealwright import RandomNonceKey
data = bytes(256 << 20)
size = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (size + (320 << 20), resource.RLIM_INFINITY))
key = RandomNonceKey(bytes(32))
message = key.seal(data, associated_data=b"header")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert key.open(message, associated_data=b"header") == data
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_to_look_at_a_file_leaves_it_where_it_was():
    target = io.BytesIO(b"....")
    target.seek(4)
    sealwright.seal(io.BytesIO(bytes(100_000)), target, key=KEY)
    target.seek(4)
    assert sealwright.inspect(target)["key_source"] == "raw" and target.tell() == 4
    out = io.BytesIO()
    assert sealwright.open(target, out, key=KEY)[0] == 100_000 and out.getvalue() == bytes(100_000)
    other = io.BytesIO(b"no sealed file at all")
    with pytest.raises(sealwright.Error):
        sealwright.inspect(other)
    assert other.tell() == 0

    class Stream:
        """One that cannot seek."""

        read = io.BytesIO(target.getvalue()[4:]).read

    assert sealwright.inspect(Stream())["suite"] == "aes-256-gcm"


@pytest.mark.parametrize("opened", [False, True])
def test_a_passphrase_that_is_stretched_is_interrupted(tmp_path, opened):
    key = Key.passphrase("pass")
    sealwright.seal(io.BytesIO(b"text"), tmp_path / "sealed", key=key, costs=(1 << 18, 8, 1))
    code = f"""
import os, signal, threading, time
from sealwright import Key, SealedFile
key, again = Key.passphrase("pass"), Key.passphrase("pass")  # One stretches once.
begun = time.perf_counter()
path = {str(tmp_path / "sealed")!r}
source = open(path, "rb") if {opened} else path
with SealedFile(source, key=key) as file:
    assert file.read() == b"text"
whole = time.perf_counter() - begun
signal.signal(signal.SIGINT, signal.default_int_handler)  # A process in the background of a shell ignores the signal.
threading.Timer(whole / 10, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begun = time.perf_counter()
try:
    SealedFile(source, key=again)
    print("not interrupted")
except KeyboardInterrupt:
    print(time.perf_counter() - begun < whole * 0.8)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout == "True\n", (done.stdout, done.stderr)
