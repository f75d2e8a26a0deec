"""Files that nobody has any more: their destructors wait for nothing that the collecting thread may hold."""

import gc
import io
import random
import subprocess
import sys
import threading
import time

import fsspec
import pytest
import sealwright
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem
from sealwright import SealedFile
from sealwright.filesystem import SealedFileSystem

KEY = bytes(range(32))
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


class Locked:
    """A target whose `write` takes a lock."""

    name = "locked"

    def __init__(self):
        self.lock, self.inside, self.written = threading.Lock(), threading.Event(), 0

    def write(self, data):
        self.inside.set()
        with self.lock:
            self.written += len(data)
            return len(data)


def within(seconds, work):
    """Runs `work` in a thread, which must end."""
    failed = []

    def run():
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "it waits for ever"
    if failed:
        raise failed[0]


@pytest.mark.parametrize("wrapped", [None, io.BufferedWriter, io.TextIOWrapper])
@pytest.mark.parametrize("how", ["last reference", "cycle"])
def test_a_target_whose_lock_is_held(wrapped, how):
    target = Locked()

    def work():
        target.lock.acquire()
        file = SealedFile(target, "wb", key=KEY)
        file.write(bytes(100_000))
        assert target.inside.wait(10)
        # The thread that seals is in a write now, and no more than this can wait for it.
        file.write(bytes(3 * 64 * 1024))
        if wrapped is not None:
            file = io.TextIOWrapper(file) if wrapped is io.TextIOWrapper else wrapped(file, 1_000_000)
            file.write("text" if wrapped is io.TextIOWrapper else bytes(500_000))
        if how == "cycle":
            cycle = [file]
            cycle.append(cycle)
            del cycle
        del file
        gc.collect()
        target.lock.release()

    within(30, work)


class LockedStore(MemoryFileSystem):
    """A store whose files take a lock, as those that are written to."""

    protocol, cachable = "lockedstore", False
    lock, inside, forgotten = threading.Lock(), threading.Event(), 0

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("lockedstore://"))

    def _open(self, path, mode="rb", **kwargs):
        class File(MemoryFile):
            def write(self, data):
                LockedStore.inside.set()
                with LockedStore.lock:
                    return super().write(data)

            def discard(self):
                LockedStore.forgotten += 1

        return File(self, path) if mode == "wb" else super()._open(path, mode, **kwargs)


@pytest.mark.parametrize("compression", [None, "gzip", "bz2", "xz"])
def test_a_store_whose_lock_is_held(memory, compression):
    LockedStore.inside.clear()
    fs = SealedFileSystem(key=KEY, fs=LockedStore())

    def work():
        LockedStore.lock.acquire()
        file = fs.open("lockedstore://a", "wb", compression=compression)
        # Another file showed what files of the store are like.
        LockedStore.forgotten = 0
        sealed = file if compression is None else file._sealed
        sealed.write(bytes(100_000))
        assert LockedStore.inside.wait(10)
        sealed.write(bytes(3 * 64 * 1024))
        if compression is not None:
            file.write(random.Random(1).randbytes(10_000))
        del sealed, file
        gc.collect()
        # What is being written to is forgotten by who writes.
        assert LockedStore.forgotten == 0
        LockedStore.lock.release()

    within(30, work)
    until = time.monotonic() + 20
    while not LockedStore.forgotten and time.monotonic() < until:
        time.sleep(0.01)
    assert LockedStore.forgotten == 1 and memory.store == {}


def test_a_wrapper_that_is_forgotten_still_tells_who_has_the_file():
    target = io.BytesIO()
    file = SealedFile(target, "wb", key=KEY)
    wrapper = io.TextIOWrapper(file)
    wrapper.write("text")
    del wrapper
    assert file.closed
    with pytest.raises(sealwright.Error, match="what wrapped it was forgotten"):
        file.close()


def test_a_store_file_that_is_forgotten_leaves_nothing(tmp_path):
    fs = fsspec.filesystem("seal", key=KEY)
    for _ in range(5):
        file = fs.open(f"{tmp_path}/a", "wb")
        file.write(bytes(1_000_000))
        del file
    until = time.monotonic() + 20
    while list(tmp_path.iterdir()) and time.monotonic() < until:
        time.sleep(0.01)
    assert list(tmp_path.iterdir()) == []


def test_the_threads_end():
    code = """
import io, sealwright, sys, time, warnings
warnings.simplefilter("ignore")
for number in range(20):
    file = sealwright.SealedFile(io.BytesIO(), "wb", key=bytes(32))
    file.write(bytes(200_000))
    del file
for _ in range(1000):
    if "Threads:\\t1\\n" in open("/proc/self/status").read():
        break
    time.sleep(0.01)
else:
    sys.exit("threads are left")
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
