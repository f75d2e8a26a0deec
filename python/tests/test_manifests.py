"""What a manifest is taken for, what it keeps, and how a run knows that a source has changed."""

import functools
import http.server
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from sealwright import SealedFile, distributed

KEY = bytes(range(32))


@pytest.fixture
def executor():
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture
def web(tmp_path):
    """A folder, and the address where a server has its files."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    folder = tmp_path / "web"
    folder.mkdir()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def places(tmp_path):
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/a").write_bytes(b"text")
    return f"file://{tmp_path}/plain", f"file://{tmp_path}/sealed"


KEPT = [b"\x01" * 32, b"no line ends here", b'{"name": "other"', b'{"run": {"call": "open_store"', b"{}"]


@pytest.mark.parametrize("kept", KEPT)
def test_what_is_no_manifest_is_left_as_it_is(tmp_path, executor, places, kept):
    (tmp_path / "file").write_bytes(kept)
    with pytest.raises(ValueError, match="file: no line of a manifest, .*hint: name another file"):
        distributed.seal_store(*places, executor=executor, key=KEY, manifest=tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == kept
    if not kept.startswith(b'{"name": '):
        with pytest.raises(ValueError, match="no line of a manifest"):
            distributed.sweep([], executor=executor, manifest=tmp_path / "file")
        assert (tmp_path / "file").read_bytes() == kept


def test_what_a_crash_cut_off_is_taken_away_when_there_is_more_to_write(tmp_path, executor, places):
    manifest = tmp_path / "manifest"
    run = lambda source=places[0]: distributed.seal_store(source, places[1], executor=executor, key=KEY, manifest=manifest)  # noqa: E731
    assert run().done == 1
    whole = manifest.read_bytes()
    for torn in (b'{"na', whole[: len(whole.splitlines(True)[0]) - 2]):
        manifest.write_bytes(torn if torn.startswith(b'{"run') else whole + torn)
        before = manifest.read_bytes()
        with pytest.raises(FileNotFoundError):
            distributed.seal_store(f"{places[0]}/none", places[1], executor=executor, key=KEY, manifest=tmp_path / "another")
        assert manifest.read_bytes() == before
        (tmp_path / "plain/b").write_bytes(torn)
        assert run().done == (1 if before.startswith(whole) else 2)
        assert all(json.loads(line) for line in manifest.read_bytes().splitlines())
    assert run().skipped == 2


def test_a_line_that_could_not_be_written_leaves_nothing(tmp_path, monkeypatch):
    kept = distributed.Manifest(tmp_path / "manifest", {"name": str})
    kept.append({"name": "first"})
    before, sync = (tmp_path / "manifest").read_bytes(), os.fsync

    def full(file):
        raise OSError(28, "no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        kept.append({"name": "second"})
    assert (tmp_path / "manifest").read_bytes() == before
    monkeypatch.setattr(os, "fsync", sync)
    kept.append({"name": "third"})
    assert [line["name"] for line in distributed.Manifest(tmp_path / "manifest", {"name": str}).lines] == ["first", "third"]


def test_a_changed_file_on_a_web_server_is_sealed_again(tmp_path, executor, web):
    folder, address = web
    run = lambda: distributed.seal_store(  # noqa: E731
        f"http://{address}/", f"file://{tmp_path}/sealed", executor=executor, key=KEY, manifest=tmp_path / "manifest"
    )
    for at, (text, done) in enumerate(((b"old", 1), (b"old", 0), (b"new", 1), (b"new", 0))):
        (folder / "a").write_bytes(text)
        os.utime(folder / "a", (1_000_000 + at - at % 2, 1_000_000 + at - at % 2))
        report = run()
        assert (report.done, report.skipped, report.failed) == (done, 1 - done, {})
        with SealedFile(tmp_path / "sealed/a.seal", key=KEY) as file:
            assert file.read() == text


@pytest.mark.parametrize("told", [None, "modify", "modificationTime", "Content-MD5", "last_modified", "mtime"])
def test_a_store_that_tells_the_length_alone_is_sealed_again(tmp_path, executor, memory, told):
    state = {"mark": 1}

    class Tells(MemoryFileSystem):
        protocol = "tells"
        cachable = False

        @classmethod
        def _strip_protocol(cls, path):
            return super()._strip_protocol(path.removeprefix("tells://"))

        def ls(self, path, detail=True, **kwargs):
            found = super().ls(path, detail=True, **kwargs)
            for info in found:
                info.pop("created", None)
                if told is not None and info["type"] == "file":
                    info[told] = state["mark"]
            return found if detail else [info["name"] for info in found]

        def info(self, path, **kwargs):
            found = {name: value for name, value in super().info(path, **kwargs).items() if name != "created"}
            return found if told is None else {**found, told: state["mark"]}

        def modified(self, path):
            raise NotImplementedError

    fsspec.register_implementation("tells", Tells, clobber=True)
    memory.pipe_file("/plain/a", b"old")
    run = lambda: distributed.seal_store(  # noqa: E731
        "tells://plain", f"file://{tmp_path}/sealed", executor=executor, key=KEY, manifest=tmp_path / "manifest"
    )
    assert run().done == 1
    assert run().skipped == (0 if told is None else 1)
    memory.pipe_file("/plain/a", b"new")
    state["mark"] = 2
    assert run().done == 1
    with SealedFile(tmp_path / "sealed/a.seal", key=KEY) as file:
        assert file.read() == b"new"


def test_a_file_in_memory_that_was_rewritten_is_sealed_again(executor, memory, tmp_path):
    memory.pipe_file("/plain/a", b"old")
    run = lambda: distributed.seal_store(  # noqa: E731
        "memory://plain", f"file://{tmp_path}/sealed", executor=executor, key=KEY, manifest=tmp_path / "manifest"
    )
    assert (run().done, run().skipped) == (1, 1)
    memory.pipe_file("/plain/a", b"new")
    assert run().done == 1


def test_a_manifest_has_no_passwords(tmp_path, executor, web):
    folder, address = web
    (folder / "a.txt").write_bytes(b"text")
    for number, url in enumerate((f"http://user:hunter2@{address}/a.txt", f"http://{address}/a.txt?Signature=TOPSECRET")):
        manifest = tmp_path / f"manifest {number}"
        run = functools.partial(
            distributed.seal_store, url, f"file://{tmp_path}/{number}", executor=executor, key=KEY, manifest=manifest
        )
        assert (run().done, run().skipped) == (1, 1)
        text = manifest.read_text()
        assert "hunter2" not in text and "TOPSECRET" not in text and f"http://{address}/a.txt" in text
        assert manifest.stat().st_mode & 0o777 == 0o600
        assert os.listdir(tmp_path / f"{number}") == ["a.txt.seal"]
        # A manifest as they were written before is one of this run.
        manifest.write_text(text.replace(f"http://{address}/a.txt", url))
        assert run().skipped == 1
        manifest.write_text(text.replace(address, "127.0.0.2"))
        with pytest.raises(ValueError, match="the manifest of another run") as refused:
            run()
        assert "hunter2" not in str(refused.value) and "TOPSECRET" not in str(refused.value)
