"""Whole stores by many workers: on threads, on processes, and on Dask's scheduler and worker processes."""

import io
import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import fsspec
import pytest
import sealwright
from sealwright import distributed

KEY = bytes(range(32))


@pytest.fixture
def store(tmp_path):
    """Files of many lengths, some in folders."""
    texts = {f"{'sub/' * (i % 3)}file {i}": os.urandom(i * 5000) for i in range(20)}
    for name, text in texts.items():
        path = tmp_path / "plain" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    return tmp_path, texts


def check(folder, texts, killed=0):
    paths = [path.relative_to(folder / "sealed") for path in (folder / "sealed").rglob("*") if path.is_file()]
    # A process that is killed leaves the file it was writing under its hidden name
    hidden = {path for path in paths if path.name.startswith(".")}
    assert len(hidden) <= killed
    assert {str(path) for path in paths if path not in hidden} == {f"{name}.seal" for name in texts}
    for name, text in texts.items():
        with sealwright.SealedFile(folder / "sealed" / f"{name}.seal", key=KEY) as file:
            assert file.read() == text


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_there_and_back(store, pool):
    folder, texts = store
    seen = []
    with pool(2) as executor:
        options = {"executor": executor, "key": KEY, "manifest": folder / "manifest"}
        report = distributed.seal_store(f"file://{folder}/plain", f"file://{folder}/sealed", progress=seen.append, **options)
        assert (report.done, report.skipped, report.failed, len(seen)) == (20, 0, {}, 20)
        assert report.text_bytes == sum(map(len, texts.values()))
        check(folder, texts)
        # Again: nothing is sealed a second time.
        before = {path: path.stat().st_mtime_ns for path in (folder / "sealed").rglob("*.seal")}
        report = distributed.seal_store(f"file://{folder}/plain", f"file://{folder}/sealed", **options)
        assert (report.done, report.skipped) == (0, 20)
        assert before == {path: path.stat().st_mtime_ns for path in before}
        report = distributed.open_store(f"file://{folder}/sealed", f"file://{folder}/copy", executor=executor, key=KEY)
        assert report.done == 20
    for name, text in texts.items():
        assert (folder / "copy" / name).read_bytes() == text


def test_without_a_manifest_everything_is_done_again(store):
    folder, texts = store
    seal = f"file://{folder}/plain", f"file://{folder}/sealed"
    back = f"file://{folder}/sealed", f"file://{folder}/copy"
    with ThreadPoolExecutor(2) as executor:
        # Under a key that was wrong; then of an earlier state of the source, though of the same length and with a time from before.
        assert distributed.seal_store(*seal, executor=executor, key=bytes(32)).done == 20
        assert distributed.seal_store(*seal, executor=executor, key=KEY).done == 20
        check(folder, texts)
        assert distributed.open_store(*back, executor=executor, key=KEY).done == 20
        for name in texts:
            texts[name] = texts[name][::-1]
            (folder / "plain" / name).write_bytes(texts[name])
            os.utime(folder / "plain" / name, (0, 0))
        report = distributed.seal_store(*seal, executor=executor, key=KEY)
        assert (report.done, report.skipped, report.failed) == (20, 0, {})
        check(folder, texts)
        assert distributed.open_store(*back, executor=executor, key=KEY).done == 20
    for name, text in texts.items():
        assert (folder / "copy" / name).read_bytes() == text


def test_a_manifest_of_less_than_is_there_trusts_no_target(store):
    """Its run was stopped before it could tell of a target, and the source has changed since."""
    folder, texts = store
    with ThreadPoolExecutor(2) as executor:
        run = lambda: distributed.seal_store(  # noqa: E731
            f"file://{folder}/plain", f"file://{folder}/sealed", executor=executor, key=KEY, manifest=folder / "manifest"
        )
        run()
        lines = (folder / "manifest").read_text().splitlines(True)
        (folder / "manifest").write_text("".join(line for line in lines if "file 7" not in line))
        name = next(name for name in texts if name.endswith("file 7"))
        texts[name] = texts[name][::-1]
        (folder / "plain" / name).write_bytes(texts[name])
        report = run()
        assert (report.done, report.skipped) == (1, 19)
    check(folder, texts)


def test_a_source_that_changed_is_sealed_again(store):
    folder, texts = store
    with ThreadPoolExecutor(2) as executor:
        run = lambda: distributed.seal_store(  # noqa: E731
            f"file://{folder}/plain", f"file://{folder}/sealed", executor=executor, key=KEY, manifest=folder / "manifest"
        )
        run()
        with open(folder / "manifest", "a") as manifest:
            manifest.write('{"name": "torn')
        texts["file 0"] = b"longer"
        (folder / "plain/file 0").write_bytes(b"longer")
        report = run()
        assert (report.done, report.skipped, report.failed) == (1, 19, {})
        assert run().skipped == 20
    check(folder, texts)


def test_the_manifest_of_another_run_is_refused(store):
    """All that it names counted as done, and nothing was where it was to be."""
    folder, _ = store
    plain, sealed, other = (f"file://{folder}/{name}" for name in ("plain", "sealed", "other"))
    with ThreadPoolExecutor(2) as executor:
        given = {"executor": executor, "key": KEY, "manifest": folder / "manifest"}
        assert distributed.seal_store(plain, sealed, **given).done == 20
        (folder / "other").mkdir()
        for call, places, named in (
            (distributed.seal_store, (plain, other), f"target {sealed} "),
            (distributed.seal_store, (other, sealed), f"source {plain} "),
            (distributed.open_store, (sealed, other), f"call seal_store, source {plain}, target {sealed} "),
        ):
            with pytest.raises(ValueError, match="the manifest of another run: ") as refused:
                call(*places, **given)
            assert f"another run: {named}(hint: " in str(refused.value)
        # The same by another name, and a manifest of which a crash left the beginning
        assert distributed.seal_store(f"{folder}/plain/", f"{folder}/sealed", **given).skipped == 20
        whole = (folder / "manifest").read_text()
        (folder / "manifest").write_text(whole[:30])
        assert distributed.seal_store(plain, sealed, **given).done == 20
        assert sorted((folder / "manifest").read_text().splitlines()) == sorted(whole.splitlines())


def test_what_fails_stops_nothing_else(store):
    folder, texts = store
    with ThreadPoolExecutor(2) as executor:
        distributed.seal_store(f"file://{folder}/plain", f"file://{folder}/sealed", executor=executor, key=KEY)
        bad = folder / "sealed/file 9.seal"
        sealed = bytearray(bad.read_bytes())
        sealed[20_000] ^= 1
        bad.write_bytes(sealed)
        report = distributed.open_store(f"file://{folder}/sealed", f"file://{folder}/copy", executor=executor, key=KEY)
    assert report.done == 19 and list(report.failed) == ["file 9.seal"]
    assert report.failed["file 9.seal"].startswith("InvalidTag: ")
    assert len([path for path in (folder / "copy").rglob("*") if path.is_file()]) == 19


def test_memory_to_memory():
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    fs.pipe_file("/plain/a", b"text")
    with ThreadPoolExecutor(1) as executor:
        report = distributed.seal_store("memory://plain", "memory://sealed", executor=executor, key=lambda: KEY)
    assert report.done == 1 and not report.failed and b"text" not in fs.cat_file("/sealed/a.seal")
    fs.store.clear()


def test_names_that_lead_out_of_the_target_are_refused(tmp_path):
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    out = tmp_path / "out"
    bad = ["../../x/f", "../f", "a/../../f", "./f", "a//b", "/etc/f", "..\\f", "f::memory://g"]
    for name in [*bad, "good/..f", "a...b"]:
        fs.pipe_file(f"/plain/{name}", b"text")
    sealed = fs.open("/s/fine.seal", "wb")
    sealwright.seal(fs.open("/plain/a...b"), sealed, key=KEY)
    sealed.close()
    # Without their ending these are `..` and nothing.
    for name in [*(f"{name}.seal" for name in bad), "a/...seal", ".seal", "a/.seal"]:
        fs.pipe_file(f"/s/{name}", fs.cat_file("/s/fine.seal"))
    with ThreadPoolExecutor(1) as executor:
        for url in (f"file://{out}", "memory://target"):
            report = distributed.seal_store("memory://plain", url, executor=executor, key=KEY)
            assert report.done == 2 and report.failed.keys() == set(bad)
            assert report.failed["../f"] == "ValueError: '../f' is no name of a file below the target (hint: rename the object)"
            report = distributed.open_store("memory://s", url, executor=executor, key=KEY)
            assert report.done == 1 and len(report.failed) == len(bad) + 3
    made = {"good/..f.seal", "a...b.seal", "fine"}
    assert {str(path.relative_to(out)) for path in tmp_path.rglob("*") if path.is_file()} == made
    assert {name for name in fs.find("/") if not name.startswith(("/plain/", "/s/"))} == {f"/target/{name}" for name in made}
    fs.store.clear()


def test_a_killed_worker_loses_nothing_and_seals_nothing_twice(store):
    dask = pytest.importorskip("distributed")
    folder, texts = store
    killed = []

    with dask.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with dask.Client(cluster) as client:
            pids = list(client.run(os.getpid).values())

            def kill(report):
                if report.done == 5 and not killed:
                    killed.append(pids[0])
                    os.kill(pids[0], signal.SIGKILL)
                time.sleep(0.01)

            executor = client.get_executor(retries=3)
            options = {"executor": executor, "key": KEY, "manifest": folder / "manifest"}
            source, target = f"file://{folder}/plain", f"file://{folder}/sealed"
            report = distributed.seal_store(source, target, progress=kill, **options)
            assert killed and not report.failed and report.done + report.skipped == 20
            before = {path: path.stat().st_mtime_ns for path in (folder / "sealed").rglob("*.seal")}
            again = distributed.seal_store(source, target, **options)
            assert (again.done, again.skipped) == (0, 20)
            assert before == {path: path.stat().st_mtime_ns for path in before}
    check(folder, texts, killed=1)


def test_rekeying_in_place(store):
    folder, texts = store
    new = bytes(range(1, 33))
    with ThreadPoolExecutor(2) as executor:
        distributed.seal_store(f"file://{folder}/plain", f"file://{folder}/sealed", executor=executor, key=KEY)
        run = lambda manifest: distributed.rekey_store(  # noqa: E731
            f"file://{folder}/sealed", executor=executor, key=KEY, new={"key": new}, manifest=manifest
        )
        assert run(folder / "manifest").done == 20
        before = {path: path.stat().st_mtime_ns for path in (folder / "sealed").rglob("*.seal")}
        # With its manifest and without, nothing is sealed a second time.
        for manifest in (folder / "manifest", None, folder / "manifest"):
            report = run(manifest)
            assert (report.done, report.skipped, report.failed) == (0, 20, {})
        assert before == {path: path.stat().st_mtime_ns for path in before}
        # A file that neither key opens is in the report, and is left as it was.
        odd = folder / "sealed/file 3.seal"
        sealwright.seal(folder / "plain/file 3", odd, key=bytes(32), force=True)
        kept = odd.read_bytes()
        report = run(None)
        assert report.failed.keys() == {"file 3.seal"} and odd.read_bytes() == kept
        assert report.failed["file 3.seal"].startswith("WrongKey: ")
    for name, text in texts.items():
        if name != "file 3":
            with sealwright.SealedFile(folder / "sealed" / f"{name}.seal", key=new) as file:
                assert file.read() == text


def test_rekeying_leaves_padded_files_alone(tmp_path):
    # Made by `sealwright seal --pad` under KEY, of four bytes.
    padded = (Path(__file__).parent / "padded.seal").read_bytes()
    for name in ("a.seal", "b.seal"):
        (tmp_path / name).write_bytes(padded)
    sealwright.seal(io.BytesIO(b"text"), tmp_path / "c.seal", key=KEY)
    with ThreadPoolExecutor(2) as executor:
        report = distributed.rekey_store(f"file://{tmp_path}", executor=executor, key=KEY, new={"key": KEY[::-1]})
    assert report.done == 1 and report.failed.keys() == {"a.seal", "b.seal"}
    assert report.failed["a.seal"].startswith("ValueError: it is padded, and would not be then (hint: ")
    assert (tmp_path / "a.seal").read_bytes() == padded
    with sealwright.SealedFile(tmp_path / "a.seal", key=KEY) as file:
        assert file.read() == b"text"


@pytest.fixture
def s3():
    """A server that speaks S3, in this process, and what fsspec needs to find it."""
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = {"endpoint_url": f"http://{host}:{port}", "key": "user", "secret": "secret"}
    yield options
    server.stop()


@pytest.mark.filterwarnings("ignore")  # of the server's and s3fs's own
def test_a_store_that_speaks_s3(store, s3):
    folder, texts = store
    # Longer than one part of an upload, and an empty one.
    texts["large"] = os.urandom(6 << 20)
    (folder / "plain/large").write_bytes(texts["large"])
    fs = fsspec.filesystem("s3", **s3)
    fs.mkdir("bucket")
    with ThreadPoolExecutor(2) as executor:
        run = {"executor": executor, "key": KEY, "manifest": folder / "manifest"}
        report = distributed.seal_store(f"file://{folder}/plain", "s3://bucket/sealed", target_options=s3, **run)
        assert (report.done, report.failed) == (21, {})
        written = {path: info["ETag"] for path, info in fs.find("bucket", detail=True).items()}
        assert len(written) == 21 and texts["large"][:100] not in fs.cat_file("bucket/sealed/large.seal")
        for manifest, done in ((folder / "manifest", 0), (None, 21)):
            run["manifest"] = manifest
            report = distributed.seal_store(f"file://{folder}/plain", "s3://bucket/sealed", target_options=s3, **run)
            assert (report.done, report.skipped) == (done, 21 - done)
        # A damaged object leaves no target; the others are opened.
        sealed = bytearray(fs.cat_file("bucket/sealed/large.seal"))
        sealed[5 << 20] ^= 1
        fs.pipe_file("bucket/sealed/large.seal", bytes(sealed))
        report = distributed.open_store(
            "s3://bucket/sealed", "s3://bucket/copy", source_options=s3, target_options=s3, executor=executor, key=KEY
        )
        assert report.done == 20 and report.failed["large.seal"].startswith("InvalidTag: ")
        fs.invalidate_cache()
        assert len(fs.find("bucket/copy")) == 20 and fs.cat_file("bucket/copy/file 6") == texts["file 6"]
        # A manifest knows the objects that it was rekeyed to, though they cannot be opened here. The damaged one is tried again.
        new = {"recipients": [str(sealwright.SecretKey.generate().public_key)]}
        for done in (20, 0):
            report = distributed.rekey_store(
                "s3://bucket/sealed", store_options=s3, executor=executor, key=KEY, new=new, manifest=folder / "rekeyed"
            )
            assert (report.done, report.skipped, list(report.failed)) == (done, 20 - done, ["large.seal"])
