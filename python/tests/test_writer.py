"""A writer whose target fails; what is written, and to and from what."""

import io
import mmap
import subprocess
import sys

import numpy
import pytest
import sealwright
from sealwright import SealedFile

KEY = bytes(range(32))


class NoSpace(io.RawIOBase):
    """A full disk."""

    def writable(self):
        return True

    def write(self, data):
        raise OSError(28, "No space left on device")


def test_a_write_that_failed_is_not_forgotten():
    file = SealedFile(NoSpace(), "wb", key=KEY)
    with pytest.raises(OSError, match="No space left"):
        for _ in range(100):
            file.write(bytes(65536))
    with pytest.raises(sealwright.Error, match="no file was made.*No space left"):
        file.write(b"more")
    with pytest.raises(sealwright.Error, match="no file was made.*No space left"):
        file.close()
    assert file.closed
    file.close()
    # One that was given up is not missed, but by who asks for it.
    file = SealedFile(NoSpace(), "wb", key=KEY)
    file.discard()
    file.close()
    writer = sealwright._sealwright.SealedWriter(NoSpace(), key=KEY)
    writer.abandon()
    writer.abandon()
    for call in (writer.finish, lambda: writer.write(b"more")):
        with pytest.raises(sealwright.Error, match="no file was made: it was abandoned"):
            call()
    writer = sealwright._sealwright.SealedWriter(NoSpace(), key=KEY)
    with pytest.raises(OSError, match="No space left"):
        writer.finish()
    with pytest.raises(sealwright.Error, match="no file was made"):
        writer.finish()


def test_an_array_without_elements_is_written(tmp_path):
    with SealedFile(tmp_path / "a", "wb", key=KEY) as file:
        assert file.write(numpy.empty((0, 3))) == 0 and file.write(numpy.zeros((2, 3), "u1")) == 6 and file.write(b"") == 0
    assert sealwright.verify(tmp_path / "a", key=KEY)[0] == 6


def test_the_name_of_a_file_is_its_path(tmp_path):
    for file in (tmp_path / "a", str(tmp_path / "a")):
        with SealedFile(file, "wb", key=KEY) as opened:
            assert opened.name == str(tmp_path / "a")
    with open(tmp_path / "a", "rb") as file, SealedFile(file, key=KEY) as opened:
        assert opened.name == file.name


def test_a_file_that_is_mapped_is_read(tmp_path):
    with SealedFile(tmp_path / "a", "wb", key=KEY) as file:
        file.write(bytes(100_000))
    with open(tmp_path / "a", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        with SealedFile(mapped, key=KEY) as opened:
            assert opened.seek(-10, io.SEEK_END) == 99_990 and opened.read() == bytes(10)


@pytest.mark.parametrize("answer", [lambda size: size + 1, lambda size: -1, lambda size: 1 << 40])
def test_a_write_that_returns_what_no_write_can(answer):
    class Odd:
        def write(self, data):
            return answer(len(data))

    with pytest.raises(OSError, match=r"write\(\) of the file object returned -?\d+, .* between 0 and "):
        sealwright.seal(io.BytesIO(b"text"), Odd(), key=KEY)
    file = SealedFile(Odd(), "wb", key=KEY)
    with pytest.raises(OSError, match="returned"):
        file.write(bytes(100))
        file.close()


# In processes of their own, which end if they hang.
OWN = """
import faulthandler, io, sys
import sealwright
from sealwright import SealedFile
from sealwright._sealwright import SealedWriter

faulthandler.dump_traceback_later(30, exit=True)
KEY, raised = bytes(32), []

class Target:
    wrote = 0
    def write(self, data):
        self.wrote += len(data)
        if self.wrote > LIMIT and not raised:
            try:
                CALL
            except RuntimeError as error:
                raised.append(str(error))
                if not KEEPS:
                    raise
        return len(data)

target = Target()
target.file = file = KIND(target, **OPTIONS)
seen = []
for call in (lambda: [file.write(bytes(65536)) for _ in range(16)], file.finish, file.finish):
    try:
        call()
    except (RuntimeError, sealwright.Error) as error:
        seen.append(str(error))
assert len(raised) == 1 and "its own target" in raised[0] and "hint: " in raised[0], raised
assert len(seen) >= 2 and "no file was made" in seen[-1], seen
file.discard() if KIND is SealedFile else file.abandon()
"""


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("limit", [0, 200_000, 16 * 65536])
@pytest.mark.parametrize("call", ["SealedFile.close", "SealedFile.finish", "SealedFile.discard", "SealedWriter.finish", "SealedWriter.abandon"])
def test_a_target_that_ends_what_is_written_to_it(call, limit, keeps):
    kind, name = call.split(".")
    options = {"key": bytes(32), **({"mode": "wb"} if kind == "SealedFile" else {})}
    program = OWN.replace("LIMIT", str(limit)).replace("CALL", f"self.file.{name}()").replace("KEEPS", str(keeps))
    program = program.replace("KIND", kind).replace("OPTIONS", repr(options))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_a_target_that_writes_to_what_writes_to_it():
    class Target:
        def write(self, data):
            self.file.write(b"more")

    target = Target()
    target.file = SealedFile(target, "wb", key=KEY)
    with pytest.raises(RuntimeError, match="its own target"):
        for _ in range(16):
            target.file.write(bytes(65536))
    target.file.discard()
    # One sealed file within another is none of these.
    out = io.BytesIO()
    with SealedFile(out, "wb", key=KEY) as outer, SealedFile(outer, "wb", key=KEY) as inner:
        inner.write(b"text")
    with SealedFile(io.BytesIO(out.getvalue()), key=KEY) as outer, SealedFile(outer, key=KEY) as inner:
        assert inner.read() == b"text"


def test_a_file_that_is_forgotten_within_a_write_of_its_target():
    program = """
import faulthandler, gc, sys, threading, time, warnings
from sealwright import SealedFile

faulthandler.dump_traceback_later(30, exit=True)
gc.disable()
go, ended = threading.Event(), threading.Event()

class Target:
    def write(self, data):
        go.wait()
        gc.collect()
        ended.set()
        return len(data)

file = SealedFile(Target(), "wb", key=bytes(32))
file.itself = file
file.write(bytes(1 << 17))
del file
go.set()
ended.wait()
"""
    done = subprocess.run([sys.executable, "-W", "default", "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and "RuntimeError" not in done.stderr and done.stderr.count("no file was made") == 1, done.stderr
