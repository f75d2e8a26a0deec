"""Files that are closed because an exception came, or because nobody has them any more, by what wraps them: none appears."""

import asyncio
import codecs
import contextlib
import copy
import gc
import io
import os
import pickle
import time

import fsspec
import pyarrow.parquet
import pytest
import sealwright
from sealwright import SealedFile
from sealwright.filesystem import SealedFileSystem

KEY = bytes(range(32))
OPTIONS = {"seal": {"key": KEY}}


def empty(folder):
    # What is forgotten is removed by the thread that seals.
    for _ in range(1200):
        if not os.listdir(folder):
            return True
        time.sleep(0.05)
    return False


def opened(kind, url, fs, path):
    if kind == "binary":
        return fsspec.open(url, "wb", **OPTIONS)
    if kind == "text":
        return fsspec.open(url, "w", **OPTIONS)
    if kind == "compressed":
        return fsspec.open(url, "wb", compression="gzip", **OPTIONS)
    if kind == "text of the filesystem":
        return fs.open(path, "w")
    if kind == "closed by a library":
        return contextlib.closing(fsspec.open(url, "wb", **OPTIONS).open())
    if kind == "closed":
        return contextlib.closing(SealedFile(path, "wb", key=KEY))
    if kind == "a stack":
        stack = contextlib.ExitStack()
        stack.write = stack.enter_context(io.TextIOWrapper(SealedFile(path, "wb", key=KEY))).write
        return stack
    if kind == "a codec":
        return codecs.getwriter("utf-8")(SealedFile(path, "wb", key=KEY))
    return io.TextIOWrapper(SealedFile(path, "wb", key=KEY))


OF_STORES = ["binary", "text", "compressed", "text of the filesystem", "closed by a library"]
KINDS = [*OF_STORES, "closed", "a stack", "a codec", "a wrapper"]


@pytest.mark.filterwarnings("default:.*no file was made:RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_the_body_of_a_with_statement_raises(tmp_path, kind):
    url = f"seal::file://{tmp_path}/a"
    fs, path = fsspec.url_to_fs(url, **OPTIONS)
    text = b"half" if kind in ("binary", "compressed", "closed by a library", "closed") else "half"
    if kind not in OF_STORES:
        path = str(tmp_path / "a")
    with pytest.raises(ZeroDivisionError), pytest.warns(RuntimeWarning, match="no file was made"):
        with opened(kind, url, fs, path) as file:
            file.write(text)
            raise ZeroDivisionError
    assert empty(tmp_path)
    with opened(kind, url, fs, path) as file:
        file.write(text)
    assert os.listdir(tmp_path) == ["a"] and sealwright.verify(tmp_path / "a", key=KEY)


@pytest.mark.filterwarnings("default:.*no file was made:RuntimeWarning")
def test_a_table_that_is_half_written_has_no_footer(tmp_path):
    fs, path = fsspec.url_to_fs(f"seal::file://{tmp_path}/t", **OPTIONS)
    rows = pyarrow.table({"number": range(1000)})
    with pytest.raises(ZeroDivisionError), pyarrow.parquet.ParquetWriter(path, rows.schema, filesystem=fs) as writer:
        writer.write_table(rows)
        raise ZeroDivisionError
    assert empty(tmp_path)


@pytest.mark.parametrize("store", [False, True])
def test_an_exception_of_something_else_does_not_matter(tmp_path, store):
    fs = SealedFileSystem(key=KEY)
    write = (lambda name: fs.open(tmp_path / name, "wb")) if store else (lambda name: SealedFile(tmp_path / name, "wb", key=KEY))

    class Cleaning:
        """Writes a file while it is left by an exception."""

        def __enter__(self):
            pass

        def __exit__(self, *raised):
            with write("d") as file:
                file.write(b"text")
            try:
                file = write("e")
                file.write(b"text")
                raise KeyError
            except KeyError:
                file.close()

    # One that is handled, though it came after the file was opened.
    file = write("a")
    try:
        file.write(b"text")
        raise ZeroDivisionError
    except ZeroDivisionError:
        file.close()
    # One that was there before, and one in between.
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        with write("b") as file:
            file.write(b"text")
        file = write("c")
        with contextlib.suppress(KeyError):
            raise KeyError
        file.write(b"text")
        file.close()
    with pytest.raises(ZeroDivisionError), Cleaning():
        raise ZeroDivisionError
    for name in "abcde":
        assert sealwright.verify(tmp_path / name, key=KEY)[0] == 4


@pytest.mark.parametrize("store", [False, True])
def test_a_clause_that_closes_for_its_own_sake_makes_the_file(tmp_path, store):
    fs = SealedFileSystem(key=KEY)
    write = (lambda name: fs.open(tmp_path / name, "wb")) if store else (lambda name: SealedFile(tmp_path / name, "wb", key=KEY))

    @contextlib.contextmanager
    def closing(name):
        file = write(name)
        try:
            yield file
        finally:
            file.close()

    async def task():
        file = write("b")
        file.write(b"text")
        try:
            await asyncio.sleep(60)
        finally:
            file.close()

    async def main():
        _running = asyncio.ensure_future(task())
        await asyncio.sleep(0.01)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), closing("a") as file:
        file.write(b"text")
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        asyncio.run(main())
    for name in "ab":
        assert sealwright.verify(tmp_path / name, key=KEY)[0] == 4


@pytest.mark.parametrize("wrap", [io.TextIOWrapper, io.BufferedWriter])
def test_a_wrapper_that_is_forgotten_makes_no_file(tmp_path, wrap):
    wrapper = wrap(SealedFile(tmp_path / "sealed", "wb", key=KEY))
    wrapper.write("half" if wrap is io.TextIOWrapper else b"half")
    with pytest.warns(ResourceWarning, match="sealed: no file was made, as nobody closed it"):
        del wrapper
        gc.collect()
    assert empty(tmp_path)
    # Who has the file still is told.
    file = SealedFile(tmp_path / "sealed", "wb", key=KEY)
    with pytest.warns(ResourceWarning, match="sealed: no file was made, as nobody closed it"):
        wrap(file).write("half" if wrap is io.TextIOWrapper else b"half")
        gc.collect()
    with pytest.raises(sealwright.Error, match="no file was made.*forgotten"):
        file.close()
    file.close()
    assert empty(tmp_path)


def test_no_file_is_copied(tmp_path):
    file = SealedFile(tmp_path / "sealed", "wb", key=KEY)
    file.write(b"te")
    for call in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot copy or pickle a SealedFile"):
            call(file)
    file.write(b"xt")
    file.close()
    with SealedFile(tmp_path / "sealed", key=KEY) as file:
        assert file.read() == b"text"


def test_what_was_abandoned_is_not_finished(tmp_path):
    file = SealedFile(tmp_path / "sealed", "wb", key=KEY)
    file.write(b"text")
    file._writer.abandon()
    with pytest.raises(sealwright.Error, match="no file was made: it was abandoned"):
        file.close()
    assert empty(tmp_path)


def through(kind, path):
    """What hands on to a sealed file, and closes it."""
    file = SealedFile(path, "wb", key=KEY)
    return {"closing": contextlib.closing, "wrapper": io.TextIOWrapper, "codec": codecs.getwriter("utf-8")}[kind](file)


@pytest.mark.filterwarnings("default:.*no file was made:RuntimeWarning")
@pytest.mark.parametrize("where", ["the clause", "a call", "an exit"])
@pytest.mark.parametrize("kind", ["closing", "wrapper", "codec"])
@pytest.mark.parametrize("bare", [True, False])
def test_the_body_raises_the_exception_that_is_being_handled(tmp_path, kind, where, bare):
    def write(error):
        with through(kind, tmp_path / "a") as file:
            file.write(b"half" if kind == "closing" else "half")
            if bare:
                raise  # noqa: PLE0704
            raise error

    class Leaving:
        def __enter__(self):
            pass

        def __exit__(self, kind, error, traceback):
            write(error)

    with pytest.raises(ZeroDivisionError), pytest.warns(RuntimeWarning, match="no file was made"):
        if where == "an exit":
            with Leaving():
                raise ZeroDivisionError
        try:
            raise ZeroDivisionError
        except ZeroDivisionError as error:
            if where == "a call":
                write(error)
            with through(kind, tmp_path / "a") as file:
                file.write(b"half" if kind == "closing" else "half")
                if bare:
                    raise
                raise error
    assert empty(tmp_path)


def test_the_exception_that_is_being_handled_may_come_and_go(tmp_path):
    try:
        raise ZeroDivisionError
    except ZeroDivisionError as error:
        for name, bare in (("a", True), ("b", False)):
            file = SealedFile(tmp_path / name, "wb", key=KEY)
            file.write(b"text")
            with contextlib.suppress(ZeroDivisionError):
                if bare:
                    raise
                raise error
            file.close()
    assert sealwright.verify(tmp_path / "a", key=KEY)[0] == sealwright.verify(tmp_path / "b", key=KEY)[0] == 4


WAYS = ["path", "store", "compressed"]


def begun(way, folder):
    if way == "path":
        return SealedFile(folder / "a", "wb", key=KEY)
    return SealedFileSystem(key=KEY).open(folder / "a", "wb", compression="gzip" if way == "compressed" else None)


class Report:
    """Is left by an exception, of which it writes."""

    def __init__(self, file, ends):
        self.file, self.ends = file, ends

    def __enter__(self):
        return self.file

    def __exit__(self, *raised):
        self.file.write(b"text")
        self.ends(self.file)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("way", WAYS)
def test_finish_makes_the_file_whatever_exception_is_under_way(tmp_path, way):
    with pytest.raises(ZeroDivisionError), Report(begun(way, tmp_path), lambda file: file.finish()) as file:
        raise ZeroDivisionError
    assert sealwright.verify(tmp_path / "a", key=KEY)[0] >= 4 and file.closed
    file.finish()
    file.close()
    fs = SealedFileSystem(key=KEY)
    with fs.open(tmp_path / "a", "rb", compression="gzip" if way == "compressed" else None) as file:
        assert file.read() == b"text"


@pytest.mark.parametrize("way", WAYS)
def test_the_warning_names_finish_which_makes_no_file_afterwards(tmp_path, way):
    with pytest.warns(RuntimeWarning, match=r"no file was made, as an exception leaves .*\(hint: finish\(\) makes it all the same\)"):
        with pytest.raises(ZeroDivisionError), Report(begun(way, tmp_path), lambda file: file.close()) as file:
            raise ZeroDivisionError
    with pytest.raises(sealwright.Error, match="no file was made"):
        file.finish()
    assert empty(tmp_path)


def test_what_is_read_is_not_finished(tmp_path):
    with SealedFile(tmp_path / "a", "wb", key=KEY):
        pass
    with SealedFile(tmp_path / "a", key=KEY) as file:
        with pytest.raises(io.UnsupportedOperation, match="not writable"):
            file.finish()
