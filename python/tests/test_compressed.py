"""Compressed files below `seal::`: most of what compresses does not close what it writes to; the sealed file is made in any case."""

import gc
import gzip
import os

import fsspec
import pytest
import sealwright
from fsspec.compression import compr
from sealwright.filesystem import SealedFileSystem

KEY = bytes(range(32))
OPTIONS = {"seal": {"key": KEY}}
TEXT = os.urandom(100_000)


class Closing(gzip.GzipFile):
    """Closes what it writes to, as zstandard's does, also where it could not write."""

    def __init__(self, file, mode="rb", **kwargs):
        super().__init__(fileobj=file, mode=mode, **kwargs)
        self._below = file

    def close(self):
        try:
            super().close()
        finally:
            self._below.close()


compr["closing"] = Closing
COMPRESSORS = [name for name in compr if name]


@pytest.mark.parametrize("name", COMPRESSORS)
def test_a_compressed_file_is_made_when_it_is_closed(tmp_path, name):
    fs = SealedFileSystem(key=KEY, fs=fsspec.filesystem("file"))
    path = str(tmp_path / "x")
    for mode in ("wb", "xb"):
        with fs.open(path, mode, compression=name) as file:
            file.write(TEXT[:50_000])
            file.write(TEXT[50_000:])
        with fs.open(path, "rb", compression=name) as file:
            assert file.read() == TEXT
        os.remove(path)
    file = fs.open(path, "wb", compression=name)
    file.write(TEXT)
    file.close()
    file.close()
    with fs.open(path, "rb", compression=name) as file:
        assert file.read() == TEXT
    os.remove(path)
    # Each way to give it up.
    with pytest.raises(ZeroDivisionError), fs.open(path, "wb", compression=name) as file:
        file.write(TEXT)
        raise ZeroDivisionError
    with pytest.warns(RuntimeWarning, match="no file was made"):
        with pytest.raises(ZeroDivisionError), fs.open(path, "wt", compression=name) as file:
            file.write("text")
            raise ZeroDivisionError
    file = fs.open(path, "wb", compression=name)
    file.write(TEXT)
    file.discard()
    with pytest.warns(ResourceWarning, match="x: no file was made, as nobody closed it"):
        file = fs.open(path, "wb", compression=name)
        file.write(TEXT)
        del file
        gc.collect()
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_compression_by_name_as_text_and_in_a_transaction(tmp_path):
    fs = SealedFileSystem(key=KEY, fs=fsspec.filesystem("file"))
    with fs.open(f"{tmp_path}/x.gz", "wt", compression="infer") as file:
        file.write("text")
    with fs.open(f"{tmp_path}/x.gz", "rt", compression="infer") as file:
        assert file.read() == "text"
    with fs.transaction, fs.open(f"{tmp_path}/y.xz", "wb", compression="infer") as file:
        file.write(TEXT)
    with fs.open(f"{tmp_path}/y.xz", "rb", compression="xz") as file:
        assert file.read() == TEXT
    with fs.open(f"{tmp_path}/z", "wb", compression="infer") as file:
        file.write(TEXT)
    assert fs.cat_file(f"{tmp_path}/z") == TEXT
    with pytest.raises(ValueError, match="rot13"):
        fs.open(f"{tmp_path}/z", "wb", compression="rot13")


def test_a_file_that_nobody_closed_is_told_of(tmp_path):
    # What compresses does not close what it writes to: `open` of fsspec's `OpenFile` hands out the former alone.
    with pytest.warns(ResourceWarning, match="x.gz: no file was made, as nobody closed it"):
        file = fsspec.open(f"seal::file://{tmp_path}/x.gz", "wb", compression="gzip", **OPTIONS).open()
        file.write(TEXT)
        file.close()
        gc.collect()
    with pytest.warns(ResourceWarning, match="y: no file was made, as nobody closed it"):
        file = sealwright.SealedFile(tmp_path / "y", "wb", key=KEY)
        file.write(TEXT)
        del file
        gc.collect()
    # One that was given up, or got nothing, is not missed.
    file = sealwright.SealedFile(tmp_path / "y", "wb", key=KEY)
    file.write(TEXT)
    file.discard()
    del file
    file = sealwright.SealedFile(tmp_path / "y", "wb", key=KEY)
    del file
    gc.collect()
