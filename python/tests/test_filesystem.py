"""The filesystem `seal::` over local files and over memory: by itself, and below pandas and pyarrow."""

import io
import os

import fsspec
import pandas
import pyarrow.dataset
import pyarrow.parquet
import pytest
import sealwright
from sealwright.filesystem import SealedFileSystem

KEY = bytes(range(32))
CHUNK = 16 * 1024
OPTIONS = {"seal": {"key": KEY}}


@pytest.fixture(params=["local", "memory"])
def place(request, tmp_path, memory):
    """A URL to put files below."""
    return f"seal::file://{tmp_path}" if request.param == "local" else "seal::memory://folder"


def table(rows=50_000):
    return pandas.DataFrame({"number": range(rows), "name": [f"name {i % 97}" for i in range(rows)]})


def test_what_is_written_is_sealed_and_read_by_range(place):
    text = os.urandom(5 * CHUNK + 7)
    with fsspec.open(f"{place}/a.bin", "wb", **OPTIONS) as file:
        file.write(text[:100])
        file.write(text[100:])
    fs, path = fsspec.url_to_fs(f"{place}/a.bin", **OPTIONS)
    assert isinstance(fs, SealedFileSystem)
    assert fs.cat_file(path) == text
    assert fs.cat_file(path, start=CHUNK - 5, end=CHUNK + 5) == text[CHUNK - 5 : CHUNK + 5]
    assert fs.info(path)["size"] == fs.size(path) == len(text) and fs.info(path)["sealed_size"] > len(text)
    below = fs.fs.cat_file(path)
    assert text[:50] not in below and sealwright.inspect(io.BytesIO(below))["suite"] == "aes-256-gcm"
    with fsspec.open(f"{place}/a.bin", "rb", **OPTIONS) as file:
        file.seek(-3, io.SEEK_END)
        assert file.read() == text[-3:]
    assert [os.path.basename(name) for name in fs.ls(os.path.dirname(path), detail=False)] == ["a.bin"]
    fs.cp_file(path, path + ".copy")
    assert fs.cat_file(path + ".copy") == text
    fs.rm(path)
    assert not fs.exists(path) and fs.exists(path + ".copy")


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")  # CPython 3.12, of every fork
def test_a_forked_child_takes_nothing_away(tmp_path):
    with fsspec.open(f"seal::file://{tmp_path}/a.bin", "wb", **OPTIONS) as file:
        file.write(b"text")
        child = os.fork()
        if child == 0:
            file.discard()
            os._exit(0)
        os.waitpid(child, 0)
    with fsspec.open(f"seal::file://{tmp_path}/a.bin", "rb", **OPTIONS) as file:
        assert file.read() == b"text"


def test_only_the_chunks_that_are_read_leave_the_store(memory):
    read = []
    with fsspec.open("seal::memory://a.bin", "wb", **OPTIONS) as file:
        file.write(bytes(100 * CHUNK))

    class Counting(io.BytesIO):
        def read(self, size=-1):
            got = super().read(size)
            read.append(len(got))
            return got

    file = sealwright.SealedFile(Counting(memory.cat_file("/a.bin")), key=KEY)
    file.seek(50 * CHUNK)
    assert file.read(100) == bytes(100)
    assert sum(read) < 3 * CHUNK


def test_a_changed_file_is_refused(place):
    fs, path = fsspec.url_to_fs(f"{place}/a.bin", **OPTIONS)
    with fs.open(path, "wb") as file:
        file.write(bytes(3 * CHUNK))
    sealed = bytearray(fs.fs.cat_file(path))
    sealed[CHUNK] ^= 1
    with fs.fs.open(path, "wb") as file:
        file.write(sealed)
    with pytest.raises(sealwright.InvalidTag):
        fs.cat_file(path)
    other = SealedFileSystem(key=KEY[::-1], fs=fs.fs)
    with pytest.raises(sealwright.WrongKey):
        other.cat_file(path)


def test_an_abandoned_file_does_not_appear(tmp_path):
    fs, path = fsspec.url_to_fs(f"seal::file://{tmp_path}/a.bin", **OPTIONS)
    with pytest.raises(ZeroDivisionError), fs.open(path, "wb") as file:
        file.write(bytes(1_000_000))
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []


def test_a_transaction_is_all_or_nothing(tmp_path):
    fs, folder = fsspec.url_to_fs(f"seal::file://{tmp_path}", **OPTIONS)
    with pytest.raises(ZeroDivisionError), fs.transaction:
        with fs.open(f"{folder}/a", "wb") as file:
            file.write(b"a")
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []
    with fs.transaction:
        with fs.open(f"{folder}/a", "wb") as file:
            file.write(b"a")
        # Whole, under a hidden name.
        assert not os.path.exists(tmp_path / "a")
    assert os.listdir(tmp_path) == ["a"]
    assert fs.cat_file(f"{folder}/a") == b"a"


def test_parquet_by_pandas(place):
    frame = table()
    frame.to_parquet(f"{place}/t.parquet", storage_options=OPTIONS)
    assert pandas.read_parquet(f"{place}/t.parquet", storage_options=OPTIONS).equals(frame)
    assert pandas.read_parquet(f"{place}/t.parquet", columns=["name"], storage_options=OPTIONS).equals(frame[["name"]])
    frame.to_csv(f"{place}/t.csv", index=False, storage_options=OPTIONS)
    assert pandas.read_csv(f"{place}/t.csv", storage_options=OPTIONS).equals(frame)


def test_a_dataset_of_pyarrow(place):
    fs, folder = fsspec.url_to_fs(f"{place}/set", **OPTIONS)
    rows = pyarrow.Table.from_pandas(table())
    pyarrow.dataset.write_dataset(rows, folder, filesystem=fs, format="parquet", max_rows_per_file=20_000, max_rows_per_group=20_000)
    assert len(fs.glob(f"{folder}/*.parquet")) == 3
    back = pyarrow.dataset.dataset(folder, filesystem=fs).to_table()
    assert back.sort_by("number").equals(rows.sort_by("number"))
    few = pyarrow.dataset.dataset(folder, filesystem=fs).to_table(filter=pyarrow.dataset.field("number") < 5)
    assert few.num_rows == 5


def test_recipients_write_and_secret_keys_read(memory):
    secret = sealwright.SecretKey.generate()
    with fsspec.open("seal::memory://a", "wb", seal={"recipients": [secret.public_key]}) as file:
        file.write(b"text")
    with fsspec.open("seal::memory://a", "rb", seal={"key": secret}) as file:
        assert file.read() == b"text"
    assert fsspec.filesystem("seal", key=secret, target_protocol="memory").size("/a") == 4
    with pytest.raises(ValueError, match="pass key"):
        fsspec.open("seal::memory://a", "rb").open()


def test_keys_that_are_objects_are_not_equal(memory):
    one, other = (SealedFileSystem(key=sealwright.Key.raw(KEY), fs=memory) for _ in range(2))
    assert one != other and hash(one) != hash(other) and one.__dask_tokenize__() != other.__dask_tokenize__()
    assert one == one and one.__dask_tokenize__() == one.__dask_tokenize__()
    secret = sealwright.SecretKey.generate()
    assert SealedFileSystem(recipients=[secret.public_key], fs=memory) != SealedFileSystem(recipients=[secret.public_key], fs=memory)
    assert SealedFileSystem(recipients=iter([]), fs=memory) != SealedFileSystem(recipients=iter([]), fs=memory)
    # Those of bytes and texts show what they are.
    assert SealedFileSystem(key=KEY, fs=memory) == SealedFileSystem(key=KEY, fs=memory) != SealedFileSystem(key=KEY[::-1], fs=memory)


def test_a_store_that_tells_less(memory):
    with fsspec.open("seal::memory://folder/a", "wb", **OPTIONS) as file:
        file.write(b"text")

    class Less(type(memory)):
        """Knows no lengths, as HTTP, or reads nothing."""

        sizes = True

        def _less(self, info):
            return info if self.sizes else {**info, "size": None}

        def info(self, path, **kwargs):
            return self._less(super().info(path, **kwargs))

        def ls(self, path, detail=True, **kwargs):
            found = super().ls(path, detail=detail, **kwargs)
            return [self._less(each) for each in found] if detail else found

        def cat_file(self, path, start=None, end=None, **kwargs):
            raise PermissionError(path)

    below = Less()
    fs = SealedFileSystem(key=KEY, fs=below)
    assert [(info["size"], info["sealed_size"]) for info in fs.ls("/folder")] == [(None, memory.size("/folder/a"))]
    with pytest.raises(PermissionError):
        fs.info("/folder/a")
    below.sizes = False
    assert fs.info("/folder/a")["size"] is None and fs.ls("/folder")[0]["size"] is None
    assert fs.ls("/folder", detail=False) == ["/folder/a"]


def test_other_files_have_no_size(memory):
    memory.pipe_file("/plain", b"not sealed, and long enough to have a header of its own, had it one")
    memory.pipe_file("/short", b"")
    fs = SealedFileSystem(key=KEY, fs=memory)
    assert {info["name"]: info["size"] for info in fs.ls("/")} == {"/plain": None, "/short": None}
    with pytest.raises(ValueError, match="mode must be"):
        fs.open("/plain", "ab")
