"""A writer whose target fails."""

import io

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
