"""What runs over whole stores find, refuse, and know when they are started again."""

import inspect
import io
import os
import zipfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import fsspec
import pytest
import sealwright
from fsspec.spec import AbstractFileSystem
from sealwright import SealedFile, distributed
from sealwright.filesystem import SealedFileSystem

KEY, NEW = bytes(range(32)), bytes(range(1, 33))


@pytest.fixture
def executor():
    with ThreadPoolExecutor(2) as pool:
        yield pool


def counts(report):
    return report.done, report.skipped, report.failed


def test_a_link_is_sealed_again_when_what_it_leads_to_changes(tmp_path, executor):
    (tmp_path / "source").mkdir()
    (tmp_path / "blob").write_bytes(b"AAAA")
    (tmp_path / "folder").mkdir()
    os.utime(tmp_path / "blob", (1, 1))
    for name, goal in {"link": "../blob", "none": "../none", "folder": "../folder"}.items():
        os.symlink(goal, tmp_path / "source" / name)
    options = {"executor": executor, "key": KEY, "manifest": tmp_path / "manifest"}
    run = lambda: distributed.seal_store(f"file://{tmp_path}/source", f"file://{tmp_path}/sealed", **options)  # noqa: E731
    for done, text in ((1, b"AAAA"), (0, b"AAAA"), (1, b"BBBB"), (0, b"BBBB")):
        (tmp_path / "blob").write_bytes(text)
        os.utime(tmp_path / "blob", (text[0], text[0]))
        report = run()
        assert (report.done, report.skipped) == (done, 1 - done) and report.failed.keys() == {"none", "folder"}
        assert report.failed["none"].startswith("FileNotFoundError") and "a link to a folder" in report.failed["folder"]
        with SealedFile(tmp_path / "sealed/link.seal", key=KEY) as file:
            assert file.read() == text


@pytest.mark.parametrize("store", ["local", "memory"])
def test_rekeying_for_recipients_goes_on_with_its_manifest(tmp_path, memory, executor, store):
    url = f"file://{tmp_path}/sealed" if store == "local" else "memory://sealed"
    secret = sealwright.SecretKey.generate()
    for number in range(20):
        memory.pipe_file(f"/plain/{number}", bytes(number))
    distributed.seal_store("memory://plain", url, executor=executor, key=KEY)
    run = lambda new: distributed.rekey_store(url, executor=executor, key=KEY, new=new, manifest=tmp_path / "manifest")  # noqa: E731
    new = {"recipients": [str(secret.public_key)]}
    assert counts(run(new)) == (20, 0, {})
    assert counts(run(new)) == (0, 20, {})
    # As after a crash between file and manifest: whether it was done is known to who has a key.
    lines = (tmp_path / "manifest").read_text().splitlines(True)
    (tmp_path / "manifest").write_text("".join(lines[:1] + lines[2:]))
    (failed,) = run(new).failed.values()
    assert failed.startswith("WrongKey: ")
    assert counts(run({**new, "key": secret})) == (0, 20, {})
    assert counts(run(new)) == (0, 20, {})


def test_rekeying_keeps_suite_and_associated_data(tmp_path, executor):
    run = lambda **options: distributed.rekey_store(f"file://{tmp_path}", executor=executor, **options)  # noqa: E731
    (tmp_path / "a").write_bytes(b"text")
    sealwright.seal(tmp_path / "a", tmp_path / "a.seal", key=KEY, suite="aes-256-ocb", associated_data=b"context")
    for done in (1, 0):
        assert counts(run(key=KEY, associated_data=b"context", new={"key": NEW})) == (done, 1 - done, {})
    assert sealwright.inspect(tmp_path / "a.seal")["suite"] == "aes-256-ocb"
    with SealedFile(tmp_path / "a.seal", key=NEW, associated_data=b"context") as file:
        assert file.read() == b"text"
    new = {"key": KEY, "suite": "serpent-256-gcm", "associated_data": None}
    assert counts(run(key=NEW, associated_data=b"context", new=new)) == (1, 0, {})
    assert sealwright.inspect(tmp_path / "a.seal")["suite"] == "serpent-256-gcm"
    assert sealwright.verify(tmp_path / "a.seal", key=KEY)[0] == 4


def test_misspelled_options_and_no_key_are_one_error(tmp_path, memory, executor):
    memory.pipe_file("/plain/a", b"text")
    seal = lambda **options: distributed.seal_store("memory://plain", "memory://sealed", executor=executor, **options)  # noqa: E731
    back = lambda **options: distributed.open_store("memory://plain", "memory://out", executor=executor, **options)  # noqa: E731
    anew = lambda **options: distributed.rekey_store("memory://plain", executor=executor, **options)  # noqa: E731
    strange = [
        (seal, {"key": KEY, "manifets": tmp_path / "manifest"}, r"seal_store takes no 'manifets' \(hint: did you mean 'manifest'\?\)"),
        (seal, {"key": KEY, "asociated_data": b"a"}, "did you mean 'associated_data'"),
        (back, {"key": KEY, "inflight": 3}, "open_store takes no 'inflight'.*'in_flight'"),
        (anew, {"key": KEY, "new": {"key": NEW}, "zzz": 1}, "rekey_store takes no 'zzz'.*there are store.*store_options, manifest"),
        (anew, {"key": KEY, "new": {"recipient": []}}, "new takes no 'recipient'.*'recipients'"),
    ]
    # What has no effect in a call is refused as well.
    for call, options, told in (
        (seal, {"key": KEY, "max_memory_kib": 9}, "seal_store takes no 'max_memory_kib'"),
        (back, {"key": KEY, "suite": "zzz"}, "open_store takes no 'suite'.*there are source, target.*max_memory_kib.*target_options"),
        (back, {"key": KEY, "recipients": []}, "open_store takes no 'recipients'"),
        (anew, {"key": KEY, "new": {"key": NEW}, "suite": "zzz"}, r"rekey_store takes no 'suite' \(hint: pass it in new\)"),
        (anew, {"key": KEY, "new": {"key": NEW, "manifest": "a"}}, r"new takes no 'manifest' \(hint: pass it beside new\)"),
    ):
        strange.append((call, options, told))
    for call, options, told in strange:
        with pytest.raises(TypeError, match=told):
            call(**options)
    for call in (distributed.seal_store, distributed.open_store, distributed.rekey_store):
        parameters = inspect.signature(call).parameters
        assert {"key", "manifest", "in_flight"} < set(parameters)
        assert not any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    for call, options in ((seal, {}), (back, {}), (anew, {"key": None, "new": {"key": NEW}}), (anew, {"key": KEY, "new": {}})):
        with pytest.raises(ValueError, match="has no key"):
            call(**options)
    assert list(memory.store) == ["/plain/a"] and os.listdir(tmp_path) == []
    for name in ("asociated_data", "recipient", "pad"):
        with pytest.raises(TypeError, match=f"takes no option '{name}'.*target_options"):
            SealedFileSystem(key=KEY, **{name: b""})
        with pytest.raises(TypeError, match=f"takes no option '{name}'"):
            fsspec.open("seal::memory://a", "wb", seal={"key": KEY, name: b""}).open()
    # What is fsspec's own, and what is another protocol's.
    SealedFileSystem(key=KEY, skip_instance_cache=True, use_listings_cache=False)
    assert fsspec.url_to_fs("seal::memory://a", seal={"key": KEY}, s3={"anon": True})[0].fs == memory


def test_a_source_that_is_not_there_is_no_success(tmp_path, memory, executor):
    (tmp_path / "empty").mkdir()
    run = lambda url: distributed.seal_store(url, "memory://sealed", executor=executor, key=KEY)  # noqa: E731
    for url in ("memory://none", f"file://{tmp_path}/none"):
        with pytest.raises(FileNotFoundError, match="none"):
            run(url)
    assert counts(run(f"file://{tmp_path}/empty")) == (0, 0, {})


def test_a_folder_that_cannot_be_listed_is_told(tmp_path, memory, executor, monkeypatch):
    for name in ("a", "sub/b", "sub/deep/c"):
        (tmp_path / "source" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "source" / name).write_bytes(b"text")
    scandir = os.scandir

    def refuses(path):
        if str(path).endswith("/deep"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuses)
    for url, options in ((f"file://{tmp_path}/source", {}), ("dir://source", {"path": str(tmp_path), "target_protocol": "file"})):
        report = distributed.seal_store(url, "memory://sealed", executor=executor, key=KEY, source_options=options)
        assert report.done == 2 and list(report.failed) == ["sub/deep/"]
        assert report.failed["sub/deep/"].startswith("PermissionError: ")
    assert sorted(memory.store) == ["/sealed/a.seal", "/sealed/sub/b.seal"]


class Web(AbstractFileSystem):
    """As a web server: what is no page cannot be listed, nor can some that are. None of the errors is an OSError."""

    protocol, cachable = "web", False
    files = {"top/a": b"text", "top/sub/b": b"text", "top/locked/c": b"text"}
    lists = True

    @classmethod
    def _strip_protocol(cls, path):
        return path.rpartition("://")[2]

    def ls(self, path, detail=True, **kwargs):
        if path in self.files and not self.lists:
            return []
        if path in self.files or path.endswith("locked"):
            raise LookupError("403")
        below = {name[len(path) + 1 :].partition("/")[0] for name in self.files if name.startswith(f"{path}/")}
        return [self.info(f"{path}/{name}") for name in sorted(below)]

    def info(self, path, **kwargs):
        if path in self.files:
            return {"name": path, "size": 4, "type": "file", "Last-Modified": "now"}
        if any(name.startswith(f"{path}/") for name in self.files):
            return {"name": path, "size": 0, "type": "directory"}
        raise FileNotFoundError(path)

    def _open(self, path, mode="rb", **kwargs):
        return io.BytesIO(self.files[path])


class Silent(Web):
    protocol, lists = "silent", False


@pytest.mark.parametrize("kind", [Web, Silent])
def test_a_source_that_its_store_does_not_list(tmp_path, memory, executor, kind):
    fsspec.register_implementation(kind.protocol, kind, clobber=True)
    run = lambda name: distributed.seal_store(  # noqa: E731
        f"{kind.protocol}://{name}", "memory://sealed", executor=executor, key=KEY, manifest=tmp_path / name.replace("/", "-")
    )
    assert counts(run("top/a")) == (1, 0, {}) and counts(run("top/a")) == (0, 1, {})
    assert counts(run("top")) == (2, 0, {"locked/": "LookupError: 403"})
    assert sorted(memory.store) == ["/sealed/a.seal", "/sealed/sub/b.seal"]
    with pytest.raises(LookupError):
        run("top/locked")
    with pytest.raises(FileNotFoundError):
        run("none")


def test_what_is_no_regular_file_holds_no_worker(tmp_path, memory, executor):
    (tmp_path / "a").write_bytes(b"text")
    os.mkfifo(tmp_path / "pipe")
    os.symlink("pipe", tmp_path / "link")
    report = distributed.seal_store(f"file://{tmp_path}", "memory://sealed", executor=executor, key=KEY)
    no = "ValueError: no regular file"
    assert counts(report) == (1, 0, {"pipe": no, "link": no})


def test_a_target_in_its_source_is_refused(tmp_path, memory, executor):
    (tmp_path / "a").write_bytes(b"text")
    os.symlink(tmp_path, tmp_path.parent / f"{tmp_path.name}-link")
    memory.pipe_file("/plain/a", b"text")
    inside = {"path": "/plain", "target_protocol": "memory"}
    for source, target, options in (
        (f"file://{tmp_path}", f"file://{tmp_path}", {}),
        (f"file://{tmp_path}", f"file://{tmp_path}/sealed", {}),
        (f"file://{tmp_path}", f"file://{tmp_path}-link/sealed", {"auto_mkdir": True}),
        ("memory://plain", "memory://plain/", {}),
        ("memory://plain", "memory://plain/sealed", {}),
        ("memory://plain", "dir://sealed", inside),
    ):
        with pytest.raises(ValueError, match="would be sealed again by the next run"):
            distributed.seal_store(source, target, executor=executor, key=KEY, target_options=options)
    assert os.listdir(tmp_path) == ["a"] and list(memory.store) == ["/plain/a"]
    # One that only begins so.
    assert distributed.seal_store("memory://plain", "memory://plain2", executor=executor, key=KEY).done == 1


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_sources_that_are_chained(tmp_path, pool):
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("a.txt", "text")
        archive.writestr("sub/b.txt", "other")
    (tmp_path / "store").mkdir()
    (tmp_path / "store/c").write_bytes(b"text")
    cache = {"simplecache": {"cache_storage": str(tmp_path / "cache")}}
    texts = {"zip/a.txt": b"text", "zip/sub/b.txt": b"other", "cached/c": b"text"}
    with pool(2) as executor:
        run = {"executor": executor, "key": KEY}
        report = distributed.seal_store(f"zip://::file://{tmp_path}/z.zip", f"file://{tmp_path}/zip", **run)
        assert counts(report) == (2, 0, {})
        url = f"simplecache::file://{tmp_path}/store"
        report = distributed.seal_store(url, f"file://{tmp_path}/cached", source_options=cache, **run)
        assert counts(report) == (1, 0, {})
    for name, text in texts.items():
        with SealedFile(tmp_path / f"{name}.seal", key=KEY) as file:
            assert file.read() == text
