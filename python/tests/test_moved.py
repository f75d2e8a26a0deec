"""Names that look like patterns, of files that are moved, copied and fetched: they are taken for themselves, and nothing is lost."""

import os
import shutil

import fsspec
import pyarrow.fs
import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.dirfs import DirFileSystem
from sealwright.filesystem import SealedFileSystem

KEY = bytes(range(32))


@pytest.fixture(params=["local", "memory", "Arrow's", "a folder"])
def place(request, tmp_path, memory):
    """A sealed filesystem, and a folder of it."""
    below = {
        "local": fsspec.filesystem("file"),
        "memory": memory,
        "Arrow's": ArrowFSWrapper(pyarrow.fs.LocalFileSystem()),
        "a folder": DirFileSystem("/base", fs=memory),
    }[request.param]
    top = str(tmp_path / "top") if request.param in ("local", "Arrow's") else "/top"
    fs = SealedFileSystem(key=KEY, fs=below)
    fs.makedirs(top, exist_ok=True)
    return fs, top


def left(fs, top):
    """What is below `top`: names, and the texts."""
    return {name.partition("top/")[2]: fs.cat_file(name) for name in fs.find(top)}


def test_a_file_that_looks_like_a_pattern_is_moved_alone(place):
    fs, top = place
    fs.makedirs(f"{top}/archive")
    for name in ("a[1]", "a1", "b[1]"):
        fs.pipe_file(f"{top}/{name}", name.encode())
    fs.mv(f"{top}/a[1]", f"{top}/moved")
    assert left(fs, top) == {"moved": b"a[1]", "a1": b"a1", "b[1]": b"b[1]"}
    # Alone, into a folder, and back over another one.
    fs.mv(f"{top}/b[1]", f"{top}/archive")
    fs.mv(f"{top}/a1", f"{top}/archive/")
    fs.mv(f"{top}/moved", f"{top}/archive/a1")
    assert left(fs, top) == {"archive/a1": b"a[1]", "archive/b[1]": b"b[1]"}
    # To itself, however it is written.
    fs.mv(f"{top}/archive/b[1]", f"{top}/archive/b[1]")
    fs.mv(f"seal://{top}/archive/b[1]", f"{top}/archive")
    assert left(fs, top) == {"archive/a1": b"a[1]", "archive/b[1]": b"b[1]"}
    with pytest.raises(FileNotFoundError):
        fs.mv(f"{top}/none", f"{top}/x")
    with pytest.raises(FileNotFoundError):
        fs.mv(f"{top}/none*", f"{top}/x")
    with pytest.raises(FileExistsError):
        fs.makedirs(f"{top}/archive/x/a1")
        fs.mv(f"{top}/archive/a1", f"{top}/archive/x")
    assert left(fs, top) == {"archive/a1": b"a[1]", "archive/b[1]": b"b[1]"}


def test_patterns_and_lists_are_moved(place):
    fs, top = place
    for folder in ("one", "two", "goal", "goal/one", "goal/two"):
        fs.makedirs(f"{top}/{folder}")
    for name in ("a1", "a2", "a[3]", "b", "one/x", "two/x"):
        fs.pipe_file(f"{top}/{name}", name.encode())
    fs.mv(f"{top}/a[12]", f"{top}/goal")
    assert left(fs, f"{top}/goal").keys() == {"goal/a1", "goal/a2"} and fs.exists(f"{top}/a[3]")
    # Those of two folders have one name, and are two files.
    fs.mv(f"{top}/*/x", f"{top}/goal")
    with pytest.raises(ValueError, match="two files would have one name"):
        fs.mv([f"{top}/goal/one/x", f"{top}/goal/two/x"], f"{top}/goal")
    fs.mv([f"{top}/a[3]", f"{top}/b"], [f"{top}/b2", f"{top}/a[3]"])
    with pytest.raises(ValueError, match="as many goals as sources are needed, not 1 for 2"):
        fs.mv([f"{top}/a[3]", f"{top}/b2"], [f"{top}/c"])
    # None replaces one that is to be moved after it, or that stays.
    for sources, goals in (("b2", "a[3]"), ("a[3]", "c")), (("b2", "a[3]"), ("a[3]", "a[3]")):
        with pytest.raises(ValueError, match="to be moved after it|two files would have one name"):
            fs.mv([f"{top}/{name}" for name in sources], [f"{top}/{name}" for name in goals])
    fs.mv([f"{top}/b2"], f"{top}/goal")
    expected = {"goal/a1": b"a1", "goal/a2": b"a2", "goal/one/x": b"one/x", "goal/two/x": b"two/x", "goal/b2": b"a[3]", "a[3]": b"b"}
    assert left(fs, top) == expected


def test_each_name_of_a_list_may_be_a_pattern(place):
    fs, top = place
    for name in ("a1", "a2", "b1", "c[1]", "c1", "d"):
        fs.pipe_file(f"{top}/{name}", name.encode())
    fs.makedirs(f"{top}/goal")
    fs.mv([f"{top}/a*", f"{top}/[ab]1", f"{top}/c[1]", f"{top}/d"], f"{top}/goal")
    assert left(fs, top) == {"c1": b"c1", **{f"goal/{name}": name.encode() for name in ("a1", "a2", "b1", "c[1]", "d")}}
    with pytest.raises(FileNotFoundError):
        fs.mv([f"{top}/c1", f"{top}/none*"], f"{top}/goal")
    assert fs.exists(f"{top}/c1")


def test_folders_are_moved_as_far_as_they_are_copied(place):
    fs, top = place
    for name in ("d[1]/a", "d[1]/e/b", "d1/a"):
        fs.makedirs(f"{top}/{name}".rpartition("/")[0], exist_ok=True)
        fs.pipe_file(f"{top}/{name}", name.encode())
    with pytest.raises(IsADirectoryError, match="recursive=True"):
        fs.mv(f"{top}/d[1]", f"{top}/m")
    with pytest.raises(ValueError, match="lies in"):
        fs.mv(f"{top}/d[1]", f"{top}/d[1]/e/f", recursive=True)
    fs.mv(f"{top}/d[1]", f"{top}/m", recursive=True)
    assert left(fs, top) == {"m/a": b"d[1]/a", "m/e/b": b"d[1]/e/b", "d1/a": b"d1/a"}
    # What is too deep stays where it is.
    fs.mv(f"{top}/m", f"{top}/n", recursive=True, maxdepth=1)
    assert left(fs, top) == {"n/a": b"d[1]/a", "m/e/b": b"d[1]/e/b", "d1/a": b"d1/a"}
    fs.makedirs(f"{top}/all")
    fs.mv(f"{top}/[mn]", f"{top}/all", recursive=True)
    assert left(fs, top) == {"all/n/a": b"d[1]/a", "all/m/e/b": b"d[1]/e/b", "d1/a": b"d1/a"}


def test_what_cannot_be_copied_stays(memory):
    class Full(type(memory)):
        cachable = False

        def cp_file(self, path1, path2, **kwargs):
            raise OSError("no space")

    fs = SealedFileSystem(key=KEY, fs=Full())
    fs.pipe_file("/a", b"text")
    with pytest.raises(OSError, match="no space"):
        fs.mv("/a", "/b")
    assert fs.cat_file("/a") == b"text" and list(memory.store) == ["/a"]


def test_links_are_moved_as_links(tmp_path):
    fs = SealedFileSystem(key=KEY)
    (tmp_path / "folder").mkdir()
    os.symlink("folder", tmp_path / "link")
    fs.mv(f"{tmp_path}/link", f"{tmp_path}/other")
    assert os.readlink(tmp_path / "other") == "folder" and sorted(os.listdir(tmp_path)) == ["folder", "other"]


@pytest.mark.parametrize("arrow", [False, True])
def test_a_link_does_not_replace_what_it_leads_to(tmp_path, arrow):
    fs = SealedFileSystem(key=KEY, fs=ArrowFSWrapper(pyarrow.fs.LocalFileSystem()) if arrow else None)
    for name in ("file", "other"):
        fs.pipe_file(f"{tmp_path}/{name}", b"text")
    os.symlink("file", tmp_path / "link")
    os.symlink("link", tmp_path / "link2")
    for source, goal in (("link", "file"), ("link2", "link"), ("link2", "file")):
        with pytest.raises(shutil.SameFileError, match="would replace it"):
            fs.mv(f"{tmp_path}/{source}", f"{tmp_path}/{goal}")
    assert fs.cat_file(f"{tmp_path}/file") == fs.cat_file(f"{tmp_path}/link2") == b"text"
    # Another one's place it takes, and a file that of a link to it.
    fs.mv(f"{tmp_path}/link2", f"{tmp_path}/other")
    fs.mv(f"{tmp_path}/file", f"{tmp_path}/link")
    assert sorted(os.listdir(tmp_path)) == ["link", "other"] and os.readlink(tmp_path / "other") == "link"
    assert fs.cat_file(f"{tmp_path}/other") == b"text"


def test_names_that_look_like_patterns_are_copied_and_fetched(place, tmp_path):
    fs, top = place
    out = tmp_path / "out"
    out.mkdir()
    fs.makedirs(f"{top}/d[1]")
    for name in ("a[1]", "a1", "d[1]/x"):
        fs.pipe_file(f"{top}/{name}", name.encode())
    assert fs.cat(f"{top}/a[1]") == b"a[1]" and list(fs.cat([f"{top}/a[1]", f"{top}/a?"])) == [f"{top}/a1", f"{top}/a[1]"]
    fs.copy(f"{top}/a[1]", f"{top}/b")
    fs.copy(f"{top}/a[1]", f"{top}/d[1]")
    fs.get(f"{top}/a[1]", f"{out}/a")
    fs.get(f"{top}/a[1]", str(out))
    fs.get(f"{top}/d[1]", f"{out}/d", recursive=True)
    with pytest.raises(FileNotFoundError):
        fs.cat(f"{top}/none[1]")
    assert left(fs, top) == {"a[1]": b"a[1]", "a1": b"a1", "b": b"a[1]", "d[1]/x": b"d[1]/x", "d[1]/a[1]": b"a[1]"}
    fetched = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert fetched == {"a": b"a[1]", "a[1]": b"a[1]", "d/x": b"d[1]/x", "d/a[1]": b"a[1]"}
