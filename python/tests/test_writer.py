"""A writer whose target fails; what is written, and to and from what."""

import io
import mmap

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
