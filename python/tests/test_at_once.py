"""Stores whose files have no `commit`: an old file is not touched until the new one is whole."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor

import pyarrow.fs
import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.local import LocalFileSystem
from fsspec.spec import AbstractFileSystem
from sealwright import distributed
from sealwright.filesystem import SealedFileSystem
from stores import KEY, TEXT, put, whole


class AtOnce(LocalFileSystem):
    """Its files have no `commit`: they exist as soon as they are opened, and an old one is empty then. It can rename."""

    cachable = False

    def _open(self, path, mode="rb", **kwargs):
        return open(path, mode)


class Copying(AtOnce):
    """Copies what it is to rename, as stores of objects do."""

    mv = AbstractFileSystem.mv


class Fixed(AtOnce):
    """Can neither rename nor copy."""

    mv, cp_file = AbstractFileSystem.mv, AbstractFileSystem.cp_file


AT_ONCE = {"Arrow's": lambda: ArrowFSWrapper(pyarrow.fs.LocalFileSystem()), "at once": AtOnce, "copying": Copying}


@pytest.mark.parametrize("kind", [*AT_ONCE, "fixed"])
def test_a_store_without_commit(tmp_path, kind):
    fs = SealedFileSystem(key=KEY, fs=AT_ONCE.get(kind, Fixed)())
    path = str(tmp_path / "x[1]")
    with pytest.raises(ZeroDivisionError), fs.open(path, "wb") as file:
        file.write(TEXT)
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []
    put(fs, path)
    assert os.listdir(tmp_path) == ["x[1]"] and fs.cat_file(path) == TEXT
    assert [info["size"] for info in fs.ls(str(tmp_path))] == [len(TEXT)]
    if kind == "fixed":
        with pytest.raises(NotImplementedError, match=r"x\[1\]: Fixed cannot replace a file.*hint: remove it first"):
            fs.open(path, "wb")
        assert os.listdir(tmp_path) == ["x[1]"] and fs.cat_file(path) == TEXT
        return
    # The old one is there until the new one is whole.
    with pytest.raises(ZeroDivisionError), fs.open(path, "wb") as file:
        file.write(bytes(1_000_000))
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == ["x[1]"] and fs.cat_file(path) == TEXT
    os.chmod(path, 0o600)
    put(fs, path, b"new")
    assert os.listdir(tmp_path) == ["x[1]"] and fs.cat_file(path) == b"new"
    assert kind == "Arrow's" or os.stat(path).st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError), fs.open(path, "xb") as file:
        file.write(TEXT)
    (tmp_path / "folder").mkdir()
    if kind != "Arrow's":
        with pytest.raises(IsADirectoryError):
            fs.open(f"{tmp_path}/folder", "wb")
    assert sorted(os.listdir(tmp_path)) == ["folder", "x[1]"] and os.listdir(tmp_path / "folder") == []


@pytest.mark.parametrize("kind", [*AT_ONCE, "fixed"])
def test_stores_without_commit_lose_nothing_when_they_are_rekeyed(tmp_path, monkeypatch, kind):
    below, new, path = AT_ONCE.get(kind, Fixed)(), KEY[::-1], str(tmp_path / "a.seal")
    put(SealedFileSystem(key=KEY, fs=below), path)
    monkeypatch.setattr(distributed, "_place", lambda url, options: (below, url))
    with ThreadPoolExecutor(1) as executor:

        def rekey():
            return distributed.rekey_store(str(tmp_path), executor=executor, key=KEY, new={"key": new})

        if kind == "fixed":
            assert "Fixed cannot replace a file" in rekey().failed["a.seal"]
            assert os.listdir(tmp_path) == ["a.seal"] and whole(path)
            return
        # Half of it is written when reading or writing fails.
        copy = distributed.copy_whole
        monkeypatch.setattr(distributed, "copy_whole", lambda reader, writer: copy(Half(reader), writer))
        assert rekey().failed == {"a.seal": "OSError: [Errno 5] failed"}
        assert os.listdir(tmp_path) == ["a.seal"] and whole(path)
        monkeypatch.setattr(distributed, "copy_whole", copy)
        report = rekey()
    assert (report.done, report.failed) == (1, {}) and os.listdir(tmp_path) == ["a.seal"] and whole(path, key=new)


class Half:
    """A file of which only the first half can be read."""

    def __init__(self, file):
        self._file, self._parts = file, [len(TEXT) // 2]

    def read(self, _):
        if not self._parts:
            raise OSError(errno.EIO, "failed")
        return self._file.read(self._parts.pop())


def test_what_a_store_could_not_copy_is_kept(tmp_path, monkeypatch):
    fs, path = SealedFileSystem(key=KEY, fs=Copying()), str(tmp_path / "x")
    put(fs, path, b"old")

    def cut(self, old, new, **kwargs):
        open(new, "wb").close()
        raise OSError(errno.EIO, "failed")

    monkeypatch.setattr(Copying, "cp_file", cut)
    with pytest.raises(OSError, match=r"x could not be replaced.*hint: the new file, which is whole, is .*/\.x\."):
        put(fs, path)
    # The old one is cut: whoever removed the new one too would lose both.
    (hidden,) = (name for name in os.listdir(tmp_path) if name != "x")
    assert whole(tmp_path / hidden)
