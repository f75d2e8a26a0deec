"""Sealed files: whole, in part, written bit by bit, with every kind of key."""

import errno
import io
import os
import signal
import threading
import time

import pytest
import sealwright
from hypothesis import given, settings
from hypothesis import strategies as st
from sealwright import Key, SealedFile, SecretKey

KEY = bytes(range(32))
CHEAP = (8, 1, 1)  # Argon2id for tests: 8 KiB, one pass, one lane
CHUNK = 16 * 1024


def sealed_bytes(text, **options):
    out = io.BytesIO()
    options.setdefault("key", KEY)
    sealwright.seal(io.BytesIO(text), out, **options)
    return out.getvalue()


def opened_bytes(sealed, **options):
    out = io.BytesIO()
    options.setdefault("key", KEY)
    sealwright.open(io.BytesIO(sealed), out, **options)
    return out.getvalue()


@pytest.mark.parametrize("suite", sealwright.suites())
@pytest.mark.parametrize("length", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 2_000_000])
def test_there_and_back(tmp_path, suite, length):
    text, key = os.urandom(length), KEY[:16] if "128" in suite else KEY
    (tmp_path / "text").write_bytes(text)
    lengths = sealwright.seal(tmp_path / "text", str(tmp_path / "sealed"), key=key, suite=suite, associated_data=b"ad")
    assert lengths == (length, (tmp_path / "sealed").stat().st_size)
    assert sealwright.verify(tmp_path / "sealed", key=key, associated_data=b"ad") == lengths
    sealwright.open(tmp_path / "sealed", tmp_path / "copy", key=key, associated_data=b"ad")
    assert (tmp_path / "copy").read_bytes() == text
    seen = sealwright.inspect(tmp_path / "sealed")
    assert (seen["suite"], seen["text_bytes"], seen["sealed_bytes"], seen["chunks"]) == (suite, *lengths, length // CHUNK + 1)
    with SealedFile(tmp_path / "sealed", key=key, associated_data=b"ad") as file:
        assert file.size == length and file.read() == text


def test_files_appear_whole_or_not_at_all(tmp_path):
    sealed = bytearray(sealed_bytes(os.urandom(100_000)))
    sealed[50_000] ^= 1
    (tmp_path / "sealed").write_bytes(sealed)
    with pytest.raises(sealwright.InvalidTag, match="was changed or moved"):
        sealwright.open(tmp_path / "sealed", tmp_path / "copy", key=KEY)
    assert os.listdir(tmp_path) == ["sealed"]
    with pytest.raises(FileExistsError, match="force=True replaces it"):
        sealwright.seal(io.BytesIO(b""), tmp_path / "sealed", key=KEY)
    assert (tmp_path / "sealed").read_bytes() == sealed
    sealwright.seal(io.BytesIO(b"text"), tmp_path / "sealed", key=KEY, force=True)
    assert opened_bytes((tmp_path / "sealed").read_bytes()) == b"text"


def test_every_kind_of_key(tmp_path):
    secret, other = SecretKey.generate(), SecretKey.generate()
    recipients = [secret.public_key, str(other.public_key)]
    sealed = sealed_bytes(b"text", key=None, recipients=recipients)
    for key in (secret, other, Key.pair(secret), SecretKey(secret.to_text())):
        assert opened_bytes(sealed, key=key) == b"text"
    with pytest.raises(sealwright.WrongKey, match="none of the given keys"):
        opened_bytes(sealed, key=SecretKey.generate())

    secret.write(tmp_path / "my.id")
    assert opened_bytes(sealed, key=Key.read(tmp_path / "my.id")) == b"text"
    (tmp_path / "friends").write_text(f"# two\n{secret.public_key}\n{other.public_key}\n")
    friends = sealwright.PublicKey.read(tmp_path / "friends")
    assert friends == [secret.public_key, other.public_key] and len({*friends, friends[0]}) == 2
    assert sealwright.inspect(io.BytesIO(sealed))["key_source"] == "recipients"

    word = Key.passphrase("correct horse")
    sealed = sealed_bytes(b"text", key=word, costs=CHEAP)
    assert opened_bytes(sealed, key=Key.passphrase(b"correct horse")) == b"text"
    with pytest.raises(sealwright.WrongKey, match="wrong passphrase"):
        opened_bytes(sealed, key=Key.passphrase("wrong"))
    with pytest.raises(sealwright.WrongKey, match="Key.passphrase"):
        opened_bytes(sealed, key=KEY)
    with pytest.raises(sealwright.Error, match="max_memory_kib"):
        opened_bytes(sealed, key=word, max_memory_kib=7)

    fresh = Key.generate()
    fresh.write(tmp_path / "raw.key")
    assert opened_bytes(sealed_bytes(b"text", key=fresh), key=Key.read(tmp_path / "raw.key")) == b"text"
    for other in (word, Key.pair(SecretKey.generate())):
        with pytest.raises(ValueError, match="only a raw key can be written"):
            other.write(tmp_path / "other.key")
    assert not (tmp_path / "other.key").exists()
    for twice in (fresh, secret):  # `write` has no `force`, so nothing may advise it
        with pytest.raises(FileExistsError, match="raw.key exists already .hint: a key is never replaced"):
            twice.write(tmp_path / "raw.key")
    os.chmod(tmp_path / "raw.key", 0o644)
    with pytest.raises(sealwright.Error, match="others may read it .hint: chmod 600 it"):
        Key.read(tmp_path / "raw.key")


def test_nothing_secret_is_shown():
    secret = SecretKey.generate()
    shown = repr([Key.raw(KEY), Key.passphrase("hunter2"), secret, Key.pair(secret)])
    assert "hunter2" not in shown and KEY.hex() not in shown and secret.to_text()[18:30] not in shown.upper()


def test_wrong_arguments(tmp_path):
    sealed = sealed_bytes(b"text", associated_data=b"ad")
    with pytest.raises(sealwright.WrongKey, match="associated data must be the same"):
        opened_bytes(sealed)
    with pytest.raises(sealwright.WrongKey):
        opened_bytes(sealed, key=KEY[::-1], associated_data=b"ad")
    with pytest.raises(TypeError, match="a str is no key"):
        sealed_bytes(b"", key="passphrase")
    with pytest.raises(TypeError, match="either key or recipients"):
        sealed_bytes(b"", key=None)
    with pytest.raises(TypeError, match="not one"):
        sealed_bytes(b"", key=None, recipients=SecretKey.generate().public_key)
    with pytest.raises(ValueError, match="no key that could open the file"):
        sealed_bytes(b"", key=None, recipients=[])
    with pytest.raises(ValueError, match="not a public key of Sealwright"):
        sealed_bytes(b"", key=None, recipients=["age1xyz"])
    with pytest.raises(ValueError, match="32"):
        sealed_bytes(b"", key=bytes(33))
    with pytest.raises(FileNotFoundError) as missing:
        sealwright.seal(tmp_path / "nothing", tmp_path / "sealed", key=KEY)
    assert str(missing.value) == f"[Errno 2] cannot open {tmp_path}/nothing: No such file or directory"
    with pytest.raises(IsADirectoryError):
        sealwright.seal(tmp_path, tmp_path / "sealed", key=KEY)
    with pytest.raises(TypeError, match="a path, or a binary file object"):
        sealwright.seal(5, tmp_path / "sealed", key=KEY)
    with pytest.raises(sealwright.InvalidTag, match="not a sealed file"):
        opened_bytes(b"plain text, long enough to have a header")
    with pytest.raises(ValueError, match="the passphrase is empty"):
        Key.passphrase("")


class Broken(io.RawIOBase):
    """Raises an exception of its own in the middle."""

    def __init__(self, good):
        super().__init__()
        self.good = good

    def readable(self):
        return True

    def writable(self):
        return True

    def read(self, size=-1):
        self.good -= 1
        if self.good < 0:
            raise ZeroDivisionError("mine")
        return bytes(max(size, 0))

    def write(self, data):
        self.read()
        return len(data)


@pytest.mark.parametrize("good", [0, 1, 3])
def test_exceptions_of_file_objects_come_through(tmp_path, good):
    with pytest.raises(ZeroDivisionError, match="mine"):
        sealwright.seal(Broken(good), tmp_path / "sealed", key=KEY)
    assert os.listdir(tmp_path) == []
    with pytest.raises(ZeroDivisionError, match="mine"):
        sealwright.seal(io.BytesIO(bytes(5_000_000)), Broken(good), key=KEY)
    with pytest.raises(ZeroDivisionError, match="mine"):
        file = SealedFile(Broken(good), "wb", key=KEY)
        for _ in range(100):
            file.write(bytes(1_000_000))
        file.close()


class Full(io.RawIOBase):
    """Does not block: after some calls it takes nothing, and says so with None."""

    def __init__(self, good=2):
        super().__init__()
        self.good = good

    def writable(self):
        return True

    def write(self, data):
        self.good -= 1
        return len(data) if self.good >= 0 else None


class Silent:
    """No file of `io`: its `write` takes all and returns nothing."""

    def __init__(self):
        self.got = b""

    def write(self, data):
        self.got += data


def test_a_file_that_takes_nothing_loses_nothing_silently():
    with pytest.raises(BlockingIOError, match="took nothing") as raised:
        sealwright.seal(io.BytesIO(bytes(5_000_000)), Full(), key=KEY)
    assert raised.value.errno == errno.EAGAIN
    with pytest.raises(BlockingIOError):
        sealwright.open(io.BytesIO(sealed_bytes(bytes(5_000_000))), Full(), key=KEY)
    with pytest.raises(BlockingIOError):
        file = SealedFile(Full(), "wb", key=KEY)
        for _ in range(100):
            file.write(bytes(1_000_000))
        file.close()
    # Only at the end: `close` says so.
    file = SealedFile(Full(0), "wb", key=KEY)
    file.write(b"text")
    with pytest.raises(BlockingIOError):
        file.close()
    silent = Silent()
    sealwright.seal(io.BytesIO(b"text"), silent, key=KEY)
    assert opened_bytes(silent.got) == b"text"


def test_a_pipe_that_is_full_or_empty_raises():
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    with os.fdopen(reader, "rb", buffering=0) as empty, os.fdopen(writer, "wb", buffering=0) as full:
        with pytest.raises(BlockingIOError, match="nothing yet"):
            sealwright.seal(empty, io.BytesIO(), key=KEY)
        with pytest.raises(BlockingIOError):
            sealwright.seal(io.BytesIO(bytes(5_000_000)), full, key=KEY)


TEXT = os.urandom(5 * CHUNK + 123)


def test_threads_that_read_one_file_get_every_byte_once(tmp_path):
    text = b"".join(number.to_bytes(4, "big") for number in range(1, 200_001))
    (tmp_path / "sealed").write_bytes(sealed_bytes(text))
    file, parts = SealedFile(tmp_path / "sealed", key=KEY), []

    def work():
        while part := file.read(1000):
            parts.append(part)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert b"".join(sorted(parts)) == text


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(-10, len(TEXT) + 10), st.integers(0, 2), st.integers(0, 3 * CHUNK)), max_size=20))
def test_reads_as_a_file_of_bytes_reads(steps):
    ours, theirs = SealedFile(io.BytesIO(sealed_bytes(TEXT)), key=KEY), io.BytesIO(TEXT)
    for offset, whence, length in steps:
        if whence == io.SEEK_END:
            offset -= len(TEXT)
        places = []
        for file in (ours, theirs):
            try:
                places.append(file.seek(offset, whence))
            except ValueError:
                places.append(None)
        # BytesIO sets a place before the start to 0.
        if places[0] is None:
            theirs.seek(ours.tell())
        assert ours.tell() == theirs.tell()
        assert ours.read(length) == theirs.read(length)
    assert ours.read() == theirs.read() and ours.read(5) == b""


def test_a_sealed_file_is_a_file(tmp_path):
    with SealedFile(tmp_path / "sealed", "wb", key=KEY) as file:
        assert file.write(b"line 0\n") == file.tell() == 7
        file.writelines(b"line %d\n" % i for i in range(1, 1000))
        assert not (tmp_path / "sealed").exists()
    with io.TextIOWrapper(SealedFile(tmp_path / "sealed", key=KEY)) as lines:
        assert list(lines) == [f"line {i}\n" for i in range(1000)]
    file = SealedFile(tmp_path / "sealed", key=KEY)
    assert file.readable() and file.seekable() and not file.writable()
    assert file.readline() == file.peek(7)[:0] + b"line 0\n" and file.peek(1).startswith(b"line 1\n") and file.tell() == 7
    with pytest.raises(io.UnsupportedOperation):
        file.write(b"")
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.read()
    with pytest.raises(FileExistsError):
        SealedFile(tmp_path / "sealed", "xb", key=KEY)
    with pytest.raises(ValueError, match="mode must be"):
        SealedFile(tmp_path / "sealed", "ab", key=KEY)


def test_a_file_that_was_not_finished_does_not_appear(tmp_path):
    with pytest.raises(ZeroDivisionError), SealedFile(tmp_path / "sealed", "wb", key=KEY) as file:
        file.write(bytes(1_000_000))
        raise ZeroDivisionError
    file = SealedFile(tmp_path / "sealed", "wb", key=KEY)
    file.write(bytes(1_000_000))
    with pytest.warns(ResourceWarning, match="sealed: no file was made, as nobody closed it"):
        del file
    for _ in range(1200):
        if not os.listdir(tmp_path):
            break
        time.sleep(0.05)
    assert os.listdir(tmp_path) == []


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")  # CPython 3.12, of every fork
def test_a_forked_child_neither_holds_up_the_file_nor_ends_it(tmp_path):
    file = SealedFile(tmp_path / "sealed", "wb", key=KEY)
    file.write(TEXT)
    sleeper = os.fork()
    if sleeper == 0:
        time.sleep(30)
        os._exit(0)
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (lambda: file._writer.write(b"more"), file._writer.finish, file._writer.abandon):
            try:
                call()
            except RuntimeError:
                refused += 1
        del call
        file.discard()
        os._exit(refused)
    begun = time.monotonic()
    try:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        file.write(b"more")
        file.close()
        assert time.monotonic() - begun < 25
    finally:
        os.kill(sleeper, signal.SIGKILL)
        os.waitpid(sleeper, 0)
    with SealedFile(tmp_path / "sealed", key=KEY) as file:
        assert file.read() == TEXT + b"more"


def test_small_writes_and_large_ones(tmp_path):
    text = os.urandom(1_000_000)
    with SealedFile(tmp_path / "sealed", "wb", key=KEY) as file:
        at = 0
        for length in [0, 1, 7, 65_535, 1, 65_536, 65_537, 300_000, 0, 3]:
            assert file.write(text[at : at + length]) == length
            at += length
    with SealedFile(tmp_path / "sealed", key=KEY) as file:
        assert file.read() == text[:at]


def test_a_cut_file_is_refused_when_it_is_opened():
    sealed = sealed_bytes(TEXT)
    for end in (0, 10, 100, 3 * CHUNK, len(sealed) - 1):
        with pytest.raises(sealwright.InvalidTag):
            SealedFile(io.BytesIO(sealed[:end]), key=KEY)
    changed = bytearray(sealed)
    changed[2 * CHUNK] ^= 1
    file = SealedFile(io.BytesIO(changed), key=KEY)
    assert file.read(100) == TEXT[:100]
    file.seek(2 * CHUNK - 200)
    with pytest.raises(sealwright.InvalidTag):
        file.read(1000)


def test_ctrl_c_stops_a_job_and_leaves_nothing(tmp_path):
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return bytes(size)

    # Who starts tests in the background may have switched Ctrl-C off.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            sealwright.seal(Endless(), tmp_path / "sealed", key=KEY)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert os.listdir(tmp_path) == []


def test_armor():
    sealed = sealed_bytes(b"text", armor=True)
    assert sealed.startswith(b"-----BEGIN") and sealed.isascii()
    assert opened_bytes(sealed) == b"text"
