"""How files of `seal::` take their places in a store, and that nothing is left of those that do not."""

import errno
import gc
import os
import struct
import tempfile

import fsspec
import pyarrow.fs
import pytest
import sealwright
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.transaction import Transaction
from sealwright.filesystem import SealedFileSystem
from stores import KEY, OPTIONS, TEXT, put


def fail(*args, **kwargs):
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def older(self, commit=True):
    """fsspec's `Transaction.complete` before 2026.7."""
    while self.files:
        file = self.files.popleft()
        file.commit() if commit else file.discard()
    self.fs._intrans, self.fs._transaction, self.fs = False, None, None


@pytest.mark.parametrize("failing", ["open", "renamed"])
def test_a_transaction_ends_where_it_fails(tmp_path, monkeypatch, failing):
    monkeypatch.setattr(Transaction, "complete", older)
    fs = SealedFileSystem(key=KEY)
    replace = os.replace
    with pytest.raises(sealwright.Error if failing == "open" else PermissionError), fs.transaction:
        put(fs, f"{tmp_path}/a")
        if failing == "open":
            file = fs.open(f"{tmp_path}/b", "wb")
            file.write(TEXT)
        else:
            put(fs, f"{tmp_path}/b")
            monkeypatch.setattr(os, "replace", lambda old, new: fail() if new.endswith("/b") else replace(old, new))
        put(fs, f"{tmp_path}/c")
    # The first was in its place.
    assert os.listdir(tmp_path) == ["a"] and not fs._intrans and fs._transaction is None
    put(fs, f"{tmp_path}/d")
    assert fs.cat_file(f"{tmp_path}/d") == TEXT
    with fs.transaction:
        put(fs, f"{tmp_path}/e")
        assert not os.path.exists(tmp_path / "e")
    assert sorted(os.listdir(tmp_path)) == ["a", "d", "e"]


def test_one_that_is_never_committed_leaves_nothing(tmp_path):
    file = SealedFileSystem(key=KEY)._open(f"{tmp_path}/a", "wb", autocommit=False)
    file.write(TEXT)
    file.close()
    assert len(os.listdir(tmp_path)) == 1
    del file
    gc.collect()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("wrap", [lambda fs: fs, lambda fs: DirFileSystem("/", fs=fs), lambda fs: AsyncFileSystemWrapper(fs)])
def test_one_in_memory_is_replaced_in_one_step(memory, wrap):
    fs = SealedFileSystem(key=KEY, fs=wrap(memory))
    put(fs, "/a", b"old")
    with pytest.raises(ZeroDivisionError), fs.open("/a", "wb") as file:
        file.write(TEXT)
        assert fs.cat_file("/a") == b"old"
        raise ZeroDivisionError
    assert fs.cat_file("/a") == b"old"
    put(fs, "/a")
    assert fs.cat_file("/a") == TEXT and list(memory.store) == ["/a"]
    memory.mkdir("/folder")
    with pytest.raises(IsADirectoryError):
        fs.open("/folder", "wb")
    with pytest.raises(FileExistsError):
        fs.open("/a/b", "wb")


def test_what_wraps_a_store_need_not_read_ranges(memory):
    class Older(DirFileSystem):
        """As fsspec's before 2026.7, of a store that is not asynchronous."""

        def cat_ranges(self, *args, **kwargs):
            raise AttributeError("'MemoryFileSystem' object has no attribute '_cat_file'")

    fs = SealedFileSystem(key=KEY, fs=Older("/base", fs=AsyncFileSystemWrapper(memory)))
    put(fs, "a")
    assert [info["size"] for info in fs.ls("")] == [len(TEXT)] and fs.info("a")["size"] == len(TEXT)
    assert list(memory.store) == ["/base/a"]


def test_a_cache_of_blocks(tmp_path):
    (tmp_path / "store").mkdir()
    options = {**OPTIONS, "blockcache": {"cache_storage": str(tmp_path / "cache")}}
    fs, path = fsspec.url_to_fs(f"seal::blockcache::file://{tmp_path}/store/x", **options)
    put(fs, path)
    # In its folder, not among the temporary files: with these, it would be copied over its target.
    temporary = tempfile.tempdir
    tempfile.tempdir = str(tmp_path / "none")
    try:
        put(fs, path)
    finally:
        tempfile.tempdir = temporary
    assert os.listdir(tmp_path / "store") == ["x"] and SealedFileSystem(key=KEY).cat_file(path) == TEXT


@pytest.mark.parametrize("kind", ["local", "memory", "Arrow's", "a folder"])
def test_names_that_look_like_patterns_are_removed_alone(tmp_path, memory, kind):
    below = {
        "local": fsspec.filesystem("file"),
        "memory": memory,
        "Arrow's": ArrowFSWrapper(pyarrow.fs.LocalFileSystem()),
        "a folder": DirFileSystem("/base", fs=memory),
    }[kind]
    top = str(tmp_path) if kind in ("local", "Arrow's") else "/top"
    fs = SealedFileSystem(key=KEY, fs=below)
    fs.makedirs(top, exist_ok=True)

    def left():
        return sorted(name.rsplit("/", 1)[1] for name in fs.ls(top, detail=False))

    for name in ("a1", "a[1]", "b1", "b2", "b[1]", "c"):
        put(fs, f"{top}/{name}")
    fs.rm(f"{top}/a[1]")
    assert left() == ["a1", "b1", "b2", "b[1]", "c"]
    fs.rm(f"{top}/b*")
    assert left() == ["a1", "c"]
    fs.rm([f"{top}/a1", f"{top}/c"])
    assert left() == []
    for name in ("d1", "d[1]"):
        fs.makedirs(f"{top}/{name}")
        put(fs, f"{top}/{name}/x")
    fs.rm(f"{top}/d[1]", recursive=True)
    assert left() == ["d1"]
    put(fs, f"{top}/d2")
    fs.rm([f"{top}/d1", f"{top}/d2"], recursive=True)
    assert left() == []


def test_a_folder_that_cannot_be_listed(tmp_path, monkeypatch):
    def opens(path, flags, *args, **kwargs):
        return fail() if path == str(tmp_path) and flags == os.O_RDONLY else really(path, flags, *args, **kwargs)

    really = os.open
    monkeypatch.setattr(os, "open", opens)
    fs = SealedFileSystem(key=KEY)
    put(fs, f"{tmp_path}/a")
    assert os.listdir(tmp_path) == ["a"] and fs.cat_file(f"{tmp_path}/a") == TEXT


@pytest.mark.parametrize("before, after", [(0o640, 0o600), (0o664, 0o604), (0o604, 0o600), (0o444, 0o404)])
@pytest.mark.parametrize("named", [False, True])
def test_who_could_not_read_the_old_one_cannot_read_the_new_one(tmp_path, monkeypatch, before, after, named):
    if named:
        # As where a file system makes no files without names.
        monkeypatch.delattr(os, "O_TMPFILE")
    fs, path = SealedFileSystem(key=KEY), tmp_path / "a"
    put(fs, path)
    modes, chown = [], os.fchown

    def narrow(file, owner, group):
        modes.append(os.fstat(file).st_mode & 0o777)
        return chown(file, owner, group)

    os.chmod(path, before)
    monkeypatch.setattr(os, "fchown", narrow)
    put(fs, path)
    # Nobody else may open it until it has the group.
    assert path.stat().st_mode & 0o777 == before and modes == [0o600, before]
    monkeypatch.setattr(os, "fchown", fail)
    put(fs, path)
    assert path.stat().st_mode & 0o777 == after


LIST = "system.posix_acl_access"


def entries(*of):
    """An access list (POSIX ACL), of tags and permissions."""
    named = 0x02
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *each, 65_534 if each[0] == named else 2**32 - 1) for each in of)


@pytest.mark.parametrize("group, mask, after", [(0, 6, 0o600), (4, 6, 0o640), (6, 4, 0o640), (7, 6, 0o660)])
@pytest.mark.parametrize("named", [False, True])
def test_the_mask_of_an_access_list_is_not_what_the_group_may(tmp_path, monkeypatch, group, mask, after, named):
    if named:
        monkeypatch.delattr(os, "O_TMPFILE")
    fs, path = SealedFileSystem(key=KEY), tmp_path / "a"
    put(fs, path)
    try:
        os.setxattr(path, LIST, entries((0x01, 6), (0x02, 6), (0x04, group), (0x10, mask), (0x20, 0)))
    except OSError as error:
        pytest.skip(f"no access lists here: {error}")
    # With a list, the group's bits are its mask.
    assert path.stat().st_mode & 0o777 == 0o600 | mask << 3
    put(fs, path)
    assert path.stat().st_mode & 0o777 == after and LIST not in os.listxattr(path)


def test_what_is_no_access_list_gives_the_group_nothing(tmp_path, monkeypatch):
    fs, path = SealedFileSystem(key=KEY), tmp_path / "a"
    put(fs, path)

    def after(read):
        monkeypatch.setattr(os, "getxattr", read, raising=False)
        os.chmod(path, 0o664)
        put(fs, path)
        return path.stat().st_mode & 0o777

    def fails(number):
        def read(*args, **kwargs):
            raise OSError(number, os.strerror(number))

        return read

    for number in (errno.ENODATA, errno.ENOTSUP):
        assert after(fails(number)) == 0o664
    for number in (errno.EACCES, errno.EIO):
        assert after(fails(number)) == 0o604
    whole = entries((0x04, 6), (0x10, 6))
    assert after(lambda *args, **kwargs: whole) == 0o664
    bad = [
        bytes(4) + whole[4:],
        whole + b"\0",
        entries((0x10, 6)),
        entries((0x04, 6), (0x04, 6)),
        entries((0x04, 6), (0x10, 6), (0x10, 6)),
        entries((0x04, 8)),
        entries((0x04, 6), (0x10, 8)),
        *(whole[:cut] for cut in range(len(whole)) if cut != 12),
    ]
    for value in bad:
        assert after(lambda *args, value=value, **kwargs: value) == 0o604, value
    # Other systems have no such attributes.
    monkeypatch.delattr(os, "getxattr")
    os.chmod(path, 0o664)
    put(fs, path)
    assert path.stat().st_mode & 0o777 == 0o664


def test_hidden_names_are_of_whole_characters(tmp_path):
    # 240 bytes end within one of three.
    name = "x" + "€" * 84
    fs = SealedFileSystem(key=KEY, fs=ArrowFSWrapper(pyarrow.fs.LocalFileSystem()))
    with fs.open(f"{tmp_path}/{name}", "wb") as file:
        file.write(TEXT)
        (hidden,) = os.listdir(tmp_path)
        assert hidden.rpartition(".")[0] == ".x" + "€" * 79 and len(os.fsencode(hidden)) <= 255
    assert os.listdir(tmp_path) == [name] and fs.cat_file(f"{tmp_path}/{name}") == TEXT
