"""How little of a store is read, what is fetched from it, and what its lists show."""

import io
import os
import tarfile

import fsspec
import pytest
import sealwright
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem
from sealwright import _reading
from sealwright.filesystem import SealedFileSystem

KEY = bytes(range(32))
MIB = 1024 * 1024
TEXT = os.urandom(64 * MIB)


class Requests(AbstractFileSystem):
    """One object, whose files count what is asked for. They read ahead as those of S3 do."""

    cachable = False

    def __init__(self, sealed):
        super().__init__()
        self.sealed, self.opened, self.asked, self.options = sealed, 0, [], []

    def _open(self, path, mode="rb", block_size=None, cache_type="readahead", cache_options=None, **kwargs):
        self.opened += 1
        self.options.append((block_size, cache_type, cache_options, kwargs.get("version_id")))
        fs = self

        class File(AbstractBufferedFile):
            def _fetch_range(self, start, end):
                fs.asked.append(end - start)
                return fs.sealed[start:end]

        return File(fs, path, mode, block_size or 50 * MIB, cache_type=cache_type, cache_options=cache_options, size=len(fs.sealed))

    def info(self, path, **kwargs):
        return {"name": path, "size": len(self.sealed), "type": "file"}


@pytest.fixture(scope="module")
def sealed():
    file = io.BytesIO()
    sealwright.seal(io.BytesIO(TEXT), file, key=KEY)
    return file.getvalue()


@pytest.fixture
def store(sealed):
    below = Requests(sealed)
    return below, SealedFileSystem(key=KEY, fs=below)


def test_ten_bytes_of_a_large_object(store):
    below, fs = store
    with fs.open("x") as file:
        file.seek(5 * MIB)
        assert file.read(10) == TEXT[5 * MIB : 5 * MIB + 10]
    assert sum(below.asked) < 256 * 1024 and len(below.asked) <= 3


def test_an_object_that_is_read_from_its_start_takes_few_requests(store):
    below, fs = store
    with fs.open("x") as file:
        parts = list(iter(lambda: file.read(MIB), b""))
    assert b"".join(parts) == TEXT
    assert sum(below.asked) < len(below.sealed) + MIB and len(below.asked) < 20 and max(below.asked) <= 17 * MIB


def test_files_that_are_read_at_two_places_in_turn_take_few_requests(store):
    below, fs = store
    places = [0, 32 * MIB]
    with fs.open("x") as file:
        for _ in range(160):
            for stream, at in enumerate(places):
                file.seek(at)
                assert file.read(100_000) == TEXT[at : at + 100_000]
                places[stream] += 100_000
    assert len(below.asked) < 20 and sum(below.asked) < len(below.sealed) + MIB


def test_ranges_of_many_files_take_no_time_for_each_pair_of_them():
    class File(io.BytesIO):
        size = 3

    compared = []

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            compared.append(other)
            return str.__eq__(self, other)

    names = [Name(number) for number in range(1000)] * 2
    assert _reading.ranges(lambda name: File(b"abc"), names, 0, 2, "raise") == [b"ab"] * 2000
    assert len(compared) < 10_000


def test_reading_from_anywhere(store):
    below, fs = store
    with fs.open("x") as file:
        at = 1
        for length in (1, 70_000, 3 * MIB, 10, 5 * MIB, 16 * 1024):
            for place in (at, at + length, max(at - length, 0), len(TEXT) - length, 0):
                file.seek(place)
                assert file.read(length) == TEXT[place : place + length]
            at = at * 7919 % len(TEXT)


def test_who_opens_a_file_may_say_how_it_is_read(store):
    below, fs = store
    fs.open("x", block_size=MIB, cache_options={}).close()
    fs.open("x", cache_type="bytes", version_id="1").close()
    # These parts are some of the text, and so is this length.
    with fs.open("x", cache_type="parts", cache_options={"data": {(0, 5): TEXT[:5]}}, size=len(TEXT)) as file:
        assert file.read(5) == TEXT[:5]
    assert below.options == [(MIB, "readahead", {}, None), (None, "bytes", None, "1"), (None, "none", None, None)]


def test_ranges_of_one_file_open_it_once(store):
    below, fs = store
    starts, ends = [0, MIB, 40 * MIB, -5, None], [10, MIB + 10, 40 * MIB + 10, None, 3]
    assert fs.cat_ranges(["x"] * 5, starts, ends) == [TEXT[start:end] for start, end in zip(starts, ends)]
    assert below.opened == 1 and sum(below.asked) < MIB
    assert fs.cat_ranges(["x", "y"], 5, 7) == [TEXT[5:7]] * 2
    damaged = bytearray(below.sealed)
    damaged[MIB] ^= 1
    below.sealed = bytes(damaged)
    first, second = fs.cat_ranges(["x", "x"], [MIB - 4096, 3 * MIB], [MIB, 3 * MIB + 1])
    assert isinstance(first, sealwright.InvalidTag) and second == TEXT[3 * MIB : 3 * MIB + 1]
    with pytest.raises(sealwright.InvalidTag):
        fs.cat_ranges(["x"], [MIB - 4096], [MIB], on_error="raise")
    below.sealed = b"no sealed file"
    assert all(isinstance(each, sealwright.Error) for each in fs.cat_ranges(["x", "x"], [0, 1], [1, 2]))
    with pytest.raises(ValueError, match="a start and an end for each path"):
        fs.cat_ranges(["x"], [0, 1], [1])


def test_a_damaged_file_leaves_no_part_where_it_is_fetched_to(tmp_path, sealed):
    damaged = bytearray(sealed)
    damaged[40 * MIB] ^= 1
    (tmp_path / "bad").write_bytes(damaged)
    (tmp_path / "good").write_bytes(sealed)
    (tmp_path / "old").write_bytes(b"old")
    os.symlink("old", tmp_path / "link")
    fs = SealedFileSystem(key=KEY)
    for target in ("old", "new", "link"):
        with pytest.raises(sealwright.InvalidTag):
            fs.get(f"{tmp_path}/bad", f"{tmp_path}/{target}")
    assert (tmp_path / "old").read_bytes() == b"old" and sorted(os.listdir(tmp_path)) == ["bad", "good", "link", "old"]
    seen = fsspec.callbacks.Callback()
    fs.get_file(f"{tmp_path}/good", f"{tmp_path}/sub/new", callback=seen)
    fs.get(f"{tmp_path}/good", f"{tmp_path}/link")
    assert (tmp_path / "sub/new").read_bytes() == (tmp_path / "old").read_bytes() == TEXT and (tmp_path / "link").is_symlink()
    assert (seen.size, seen.value) == (len(TEXT), len(TEXT))
    # What is no file is written to.
    fs.get(f"{tmp_path}/good", os.devnull)
    target = io.BytesIO()
    fs.get_file(f"{tmp_path}/good", target)
    assert target.getvalue() == TEXT and not os.path.isfile(os.devnull)


def test_links_have_the_length_of_the_text(tmp_path):
    fs = SealedFileSystem(key=KEY)
    fs.pipe_file(f"{tmp_path}/a", b"0123456789")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, goal in {"link": "a", "to-pipe": "pipe", "to-folder": "folder", "dangling": "none"}.items():
        os.symlink(goal, tmp_path / name)
    listed = {os.path.basename(info["name"]): info for info in fs.ls(str(tmp_path))}
    for name in ("a", "link"):
        assert (listed[name]["size"], listed[name]["sealed_size"]) == (10, os.path.getsize(tmp_path / "a"))
        assert fs.info(f"{tmp_path}/{name}")["size"] == 10
    assert listed.keys() == {"a", "link", "pipe", "to-pipe", "to-folder", "dangling", "folder"}
    assert all("sealed_size" not in info for name, info in listed.items() if name not in ("a", "link"))
    assert fs.find(str(tmp_path), detail=True)[f"{tmp_path}/link"]["size"] == 10


def test_a_tree_with_files_that_are_not_sealed(memory):
    fs = SealedFileSystem(key=KEY, fs=memory)
    fs.pipe_file("/folder/sealed", b"0123456789")
    memory.pipe_file("/folder/plain", b"not sealed")
    memory.pipe_file("/folder/sub/x", b"")
    tree = fs.tree("/folder", display_size=True)
    assert "sealed (10B)" in tree and "plain (10B)" in tree and "sub (1 file)" in tree and "x (0B)" in tree


@pytest.mark.parametrize("compression", [None, "gzip", "bz2", "xz"])
def test_an_archive_is_compressed(tmp_path, compression):
    (tmp_path / "a").write_bytes(TEXT[:100_000])
    fs = SealedFileSystem(key=KEY)
    with fs.open(f"{tmp_path}/t", "wb", compression=compression) as file, tarfile.open(fileobj=file, mode="w") as archive:
        archive.add(tmp_path / "a", "a")
        assert file.tell() > 0
    if compression:
        with pytest.raises(ValueError, match="closed"):
            file.tell()
    with fs.open(f"{tmp_path}/t", compression=compression) as file, tarfile.open(fileobj=file) as archive:
        assert archive.extractfile("a").read() == TEXT[:100_000]
