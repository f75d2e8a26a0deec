"""What stores below `seal::` are like: those that wrap others, that fail; and what is asked of them."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import fsspec
import pytest
import sealwright
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractFileSystem
from sealwright import distributed
from sealwright.filesystem import SealedFileSystem
from stores import KEY, OPTIONS, TEXT, put, whole


def test_a_folder_as_a_store(tmp_path, memory):
    memory.mkdir("/base")
    with fsspec.open("seal::dir://x::memory://base", "wb", **OPTIONS) as file:
        file.write(TEXT)
    assert list(memory.store) == ["/base/x"]
    with fsspec.open("seal::dir://x::memory://base", "rb", **OPTIONS) as file:
        assert file.read() == TEXT
    # One in another, over local files, of which an abandoned one leaves nothing.
    inner = DirFileSystem(str(tmp_path), fs=fsspec.filesystem("file"))
    (tmp_path / "a").mkdir()
    fs = SealedFileSystem(key=KEY, fs=DirFileSystem("a", fs=inner))
    put(fs, "x")
    with pytest.raises(ZeroDivisionError), fs.open("y", "wb") as file:
        file.write(TEXT)
        raise ZeroDivisionError
    assert os.listdir(tmp_path / "a") == ["x"] and whole(tmp_path / "a/x") and fs.cat_file("x") == TEXT
    with ThreadPoolExecutor(1) as executor:
        run = {"executor": executor, "key": KEY, "target_options": {"path": "/other", "target_protocol": "memory"}}
        report = distributed.seal_store("memory://base", "dir://sealed", **run)
        assert (report.done, report.failed) == (1, {}) and "/other/sealed/x.seal" in memory.store
        report = distributed.open_store("memory://other/sealed", "dir://out", **run)
    assert (report.done, report.failed) == (1, {}) and memory.cat_file("/other/out/x") == memory.cat_file("/base/x")


def test_a_store_that_keeps_nothing_is_refused(memory):
    class Nothing(AbstractFileSystem):
        pass

    with pytest.raises(NotImplementedError, match="Nothing keeps nothing that is written to it"):
        SealedFileSystem(key=KEY, fs=Nothing()).open("x", "wb")


@pytest.mark.parametrize("cache", ["simplecache", "filecache"])
def test_an_abandoned_file_is_not_uploaded_by_a_cache(tmp_path, cache):
    url = f"seal::{cache}::file://{tmp_path}/store/x"
    options = {**OPTIONS, cache: {"cache_storage": str(tmp_path / "cache")}}
    (tmp_path / "store").mkdir()
    fs, path = fsspec.url_to_fs(url, **options)
    with pytest.raises(ZeroDivisionError), fs.open(path, "wb") as file:
        file.write(TEXT)
        raise ZeroDivisionError
    assert os.listdir(tmp_path / "store") == []
    put(fs, path)
    assert whole(tmp_path / "store/x")
    shutil.rmtree(tmp_path / "cache")
    os.mkdir(tmp_path / "cache")
    # To list files does not fetch them.
    assert fs.ls(os.path.dirname(path))[0]["size"] == len(TEXT) and os.listdir(tmp_path / "cache") == []


def test_what_was_not_closed_is_no_part_of_a_transaction(tmp_path):
    fs = SealedFileSystem(key=KEY, fs=fsspec.filesystem("file"))
    with pytest.raises(sealwright.Error, match="x: no file was made, as the transaction ended before it was closed"), fs.transaction:
        fs.open(f"{tmp_path}/x", "wb").write(TEXT)
    assert os.listdir(tmp_path) == []
    # One that was given up takes no other with it.
    with fs.transaction:
        with pytest.raises(ZeroDivisionError), fs.open(f"{tmp_path}/x", "wb") as file:
            file.write(TEXT)
            raise ZeroDivisionError
        put(fs, f"{tmp_path}/y")
    assert os.listdir(tmp_path) == ["y"]


def test_what_was_closed_stays(tmp_path):
    fs = SealedFileSystem(key=KEY, fs=fsspec.filesystem("file"))
    for mode in ("wb", "rb"):
        with pytest.raises(ZeroDivisionError), fs.open(f"{tmp_path}/x", mode) as file:
            file.write(TEXT) if mode == "wb" else file.read()
            file.close()
            raise ZeroDivisionError
        assert whole(tmp_path / "x")


@pytest.fixture
def other_device(tmp_path, monkeypatch):
    """Folders for a store, and one for temporary files, which nobody shall use: it is as if on another device, and copies fail."""

    def rename(old, new, *args, **kwargs):
        if os.path.dirname(old) != os.path.dirname(new):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return replace(old, new, *args, **kwargs)

    def copy(*args, **kwargs):
        with open(args[1], "wb"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    replace = os.replace
    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, rename)
    for name in ("copyfile", "copy2"):
        monkeypatch.setattr(shutil, name, copy)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "store").mkdir()
    return tmp_path


@pytest.mark.parametrize("named", [False, True])
def test_a_local_file_is_replaced_in_one_step(other_device, monkeypatch, named):
    if named:
        # As where a file system makes no files without names.
        monkeypatch.delattr(os, "O_TMPFILE")
    store, temporary = other_device / "store", other_device / "temporary"
    with sealwright.SealedFile(store / "a.seal", "wb", key=KEY) as file:
        file.write(TEXT)
    os.chmod(store / "a.seal", 0o640)
    new = KEY[::-1]
    with ThreadPoolExecutor(1) as executor:
        report = distributed.rekey_store(f"file://{store}", executor=executor, key=KEY, new={"key": new})
        assert (report.done, report.failed) == (1, {})
        assert whole(store / "a.seal", key=new) and (store / "a.seal").stat().st_mode & 0o777 == 0o640
        report = distributed.open_store(f"file://{store}", f"file://{other_device}/out", executor=executor, key=new)
        assert (report.done, report.failed) == (1, {}) and (other_device / "out/a").read_bytes() == TEXT
        # Where that step fails, the old one is there, and nothing else is: neither the text nor the new file.
        monkeypatch.setattr(os, "replace", lambda *names: (_ for _ in ()).throw(OSError(errno.EIO, "failed")))
        report = distributed.rekey_store(f"file://{store}", executor=executor, key=new, new={"key": KEY})
        assert report.failed == {"a.seal": "OSError: [Errno 5] failed"}
        (other_device / "out/a").write_bytes(b"before")
        report = distributed.open_store(f"file://{store}", f"file://{other_device}/out", executor=executor, key=new)
        assert report.failed == {"a.seal": "OSError: [Errno 5] failed"}
    with pytest.raises(OSError, match="failed"), SealedFileSystem(key=KEY).open(store / "a.seal", "wb") as file:
        file.write(b"text")
    assert whole(store / "a.seal", key=new) and (other_device / "out/a").read_bytes() == b"before"
    assert os.listdir(store) == ["a.seal"] and os.listdir(other_device / "out") == ["a"] and os.listdir(temporary) == []


def test_a_full_disk_leaves_nothing(other_device, monkeypatch):
    store, temporary = other_device / "store", other_device / "temporary"
    fs = SealedFileSystem(key=KEY, fs=fsspec.filesystem("file"))
    put(fs, f"{store}/a.seal")

    def fsync(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="No space left"):
        put(fs, f"{store}/a.seal", b"text")
    with ThreadPoolExecutor(1) as executor:
        report = distributed.open_store(f"file://{store}", f"file://{store}/out", executor=executor, key=KEY)
    assert report.failed == {"a.seal": "OSError: [Errno 28] No space left on device"}
    assert sorted(os.listdir(store)) == ["a.seal", "out"] and os.listdir(store / "out") == [] and os.listdir(temporary) == []
    assert whole(store / "a.seal")


def test_only_regular_files_are_replaced(tmp_path):
    fs = SealedFileSystem(key=KEY, fs=fsspec.filesystem("file"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        fs.open(tmp_path / "pipe", "wb")
    with pytest.raises(IsADirectoryError):
        fs.open(tmp_path, "wb")
    with pytest.raises(FileNotFoundError):
        fs.open(tmp_path / "none/x", "wb")
    # Who can write to the folder could have put a link there.
    (tmp_path / "other").write_bytes(b"other")
    os.symlink("other", tmp_path / "link")
    put(fs, tmp_path / "link")
    assert (tmp_path / "other").read_bytes() == b"other" and whole(tmp_path / "link") and not (tmp_path / "link").is_symlink()
    auto = SealedFileSystem(key=KEY, fs=fsspec.filesystem("file", auto_mkdir=True, skip_instance_cache=True))
    put(auto, tmp_path / "made/there/x")
    put(auto, tmp_path / ("n" * 255))
    assert whole(tmp_path / "made/there/x") and whole(tmp_path / ("n" * 255))


def test_what_a_killed_process_wrote_is_gone(tmp_path):
    if not hasattr(os, "O_TMPFILE"):
        pytest.skip("the system has no files without names")
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_WRONLY, 0o600))
    except OSError as error:
        pytest.skip(f"the file system has no files without names: {error}")
    program = (
        "import fsspec, os, sys, time\n"
        "file = fsspec.open(sys.argv[1], 'wb', seal={'key': bytes(32)}).open()\n"
        "file.write(bytes(1_000_000)); print('written', flush=True); time.sleep(60)\n"
    )
    words = [sys.executable, "-c", program, f"seal::file://{tmp_path}/x"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}) as process:
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("local", [True, False])
def test_folders_are_moved_and_removed(tmp_path, memory, local):
    fs = SealedFileSystem(key=KEY, fs=fsspec.filesystem("file") if local else memory)
    top = str(tmp_path) if local else "/top"
    fs.makedirs(f"{top}/a/b")
    put(fs, f"{top}/a/x")
    put(fs, f"{top}/a/b/y")
    fs.mv(f"{top}/a", f"{top}/c", recursive=True)
    assert sorted(fs.find(top)) == [f"{top}/c/b/y", f"{top}/c/x"] and not fs.exists(f"{top}/a")
    assert fs.cat_file(f"{top}/c/b/y") == TEXT
    put(fs, f"{top}/c/x2")
    fs.rm(f"{top}/c/x*")
    assert fs.find(top) == [f"{top}/c/b/y"]
    with pytest.raises(FileNotFoundError):
        fs.rm(f"{top}/c/x*")
    for name in ("1", "2"):
        put(fs, f"{top}/{name}")
    fs.rm([f"{top}/1", f"{top}/2"])
    fs.rm(f"{top}/c", recursive=True)
    assert fs.find(top) == [] and not fs.exists(f"{top}/c")


class Counting(MemoryFileSystem):
    """Counts what is read, and forgets what it is told to."""

    cachable = False

    def __init__(self, **options):
        super().__init__(**options)
        self.calls, self.bytes, self.forgotten = 0, 0, []

    def cat_ranges(self, paths, starts, ends, **kwargs):
        self.calls += 1
        return super().cat_ranges(paths, starts, ends, **kwargs)

    def cat_file(self, *args, **kwargs):
        got = super().cat_file(*args, **kwargs)
        self.bytes += len(got)
        return got

    def invalidate_cache(self, path=None):
        self.forgotten.append(path)


def test_what_is_asked_of_a_store(memory):
    below = Counting()
    fs = SealedFileSystem(key=KEY, fs=below)
    for number in range(50):
        put(fs, f"/d/{number}")
    asked = {
        "ls": lambda: fs.ls("/d"),
        "find": lambda: fs.find("/d", detail=True),
        "glob": lambda: fs.glob("/d/*", detail=True),
        "walk": lambda: list(fs.walk("/d", detail=True)),
        "du": lambda: fs.du("/d"),
    }
    for name, call in asked.items():
        below.calls = below.bytes = 0
        call()
        assert (below.calls, below.bytes) == (1, 50 * 64), name
    below.calls = below.bytes = 0
    assert fs.exists("/d/1") and fs.isfile("/d/1") and fs.isdir("/d") and not fs.exists("/d/none") and fs.lexists("/d/1")
    assert len(fs.find("/d")) == len(fs.glob("/d/*")) == len(fs.ls("/d", detail=False)) == 50
    assert [len(files) for _, _, files in fs.walk("/d")] == [50]
    fs.rm("/d/2")
    assert (below.calls, below.bytes) == (0, 0)
    sizes = {info["size"] for info in fs.find("/d", detail=True).values()}
    assert sizes == {len(TEXT)} and fs.du("/d") == 49 * len(TEXT)
    # Of one for recipients, as much as it says, and no more.
    secret = sealwright.SecretKey.generate()
    many = SealedFileSystem(recipients=[secret.public_key] * 3, key=secret, fs=below)
    put(many, "/r")
    below.calls = below.bytes = 0
    assert many.info("/r")["size"] == len(TEXT)
    length = 16 + int.from_bytes(memory.cat_file("/r", start=12, end=16), "big")
    assert (below.calls, below.bytes) == (2, 64 + length) and 3000 < length < 4000
    fs.invalidate_cache("/d/1")
    fs.invalidate_cache()
    assert below.forgotten[-2:] == ["/d/1", None]


def test_what_a_folder_takes(memory):
    fs = SealedFileSystem(key=KEY, fs=memory)
    put(fs, "/d/a")
    memory.pipe_file("/d/plain", b"not sealed")
    memory.pipe_file("/d/empty", b"")
    assert fs.du("/d") == len(TEXT) + 10
    assert fs.du("/d", total=False, withdirs=True) == {"/d": 0, "/d/a": len(TEXT), "/d/plain": 10, "/d/empty": 0}
