"""Mode "xb" of `seal::`: of two that make one name, the second raises `FileExistsError` and leaves nothing."""

import errno
import os
import threading

import pyarrow.fs
import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.memory import MemoryFileSystem
from sealwright.filesystem import SealedFileSystem

KEY = bytes(range(32))


def stores(tmp_path, kind):
    if kind == "memory":
        return SealedFileSystem(key=KEY, fs=MemoryFileSystem()), "/folder/a"
    if kind == "arrow":
        return SealedFileSystem(key=KEY, fs=ArrowFSWrapper(pyarrow.fs.LocalFileSystem())), str(tmp_path / "a")
    return SealedFileSystem(key=KEY), str(tmp_path / "a")


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("kind", ["local", "memory", "arrow"])
def test_the_first_that_is_closed_is_kept(tmp_path, memory, monkeypatch, kind, linked):
    fs, path = stores(tmp_path, kind)
    if not linked:
        link = os.link

        def none(*args, **kwargs):
            # A file without a name is named by its place in /proc.
            if not str(args[0]).startswith("/proc/"):
                raise OSError(errno.EPERM, "no links")
            link(*args, **kwargs)

        monkeypatch.setattr(os, "link", none)
    first, second = fs.open(path, "xb"), fs.open(path, "xb")
    first.write(b"first")
    second.write(b"second")
    first.close()
    with pytest.raises(FileExistsError):
        second.close()
    assert fs.cat_file(path) == b"first" and second.closed
    with pytest.raises(FileExistsError):
        fs.open(path, "xb")
    assert fs.ls(os.path.dirname(path), detail=False) == [path]
    if kind != "memory":
        assert os.listdir(tmp_path) == ["a"]


def test_a_transaction(tmp_path):
    fs, path = stores(tmp_path, "local")
    with pytest.raises(FileExistsError), fs.transaction:
        with fs.open(path, "xb") as file:
            file.write(b"late")
        (tmp_path / "a").write_bytes(b"there")
    assert os.listdir(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"there"


def test_a_link_that_leads_nowhere_is_a_name(tmp_path):
    fs, path = stores(tmp_path, "local")
    file = fs.open(path, "xb")
    os.symlink("nowhere", path)
    with pytest.raises(FileExistsError):
        file.close()
    assert os.readlink(path) == "nowhere"


def test_many_at_once(tmp_path):
    fs, path = stores(tmp_path, "local")
    files = [fs.open(path, "xb") for _ in range(8)]
    made = []

    def close(number):
        files[number].write(bytes([number]))
        try:
            files[number].close()
        except FileExistsError:
            return
        made.append(number)

    threads = [threading.Thread(target=close, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [bytes(made)] == [fs.cat_file(path)] and os.listdir(tmp_path) == ["a"]
