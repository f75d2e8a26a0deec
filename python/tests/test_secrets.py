"""Nothing secret in exceptions, in `repr`, or in what is written without passwords."""

import io
import json
import pickle
import traceback

import fsspec
import pytest
import sealwright
from fsspec.spec import AbstractFileSystem
from sealwright import Key, PublicKey, SecretKey, distributed
from sealwright.filesystem import SealedFileSystem

KEY = bytes(range(32))
# What `os.fsdecode` and `surrogateescape` make of a byte that is not UTF-8.
ODD = "hunter2 \udcff"


def holds(error, secret):
    """Whether an exception, or one before it, has it: in its text, its arguments, or anything else of its own."""
    seen = []
    while error is not None:
        own = [getattr(error, name, None) for name in ("object", "args", "filename", "__notes__")]
        seen += [repr(error), repr(own), "".join(traceback.format_exception_only(type(error), error))]
        error = error.__cause__ or error.__context__
    return any(secret in each for each in seen)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda text: Key.passphrase(text), "the passphrase is not text; pass the bytes that were typed"),
        (lambda text: SecretKey(text), "the key is not text"),
        (lambda text: PublicKey(text), "the key is not text"),
        (lambda text: sealwright.seal(b"", "out", recipients=[text]), "the key is not text"),
    ],
)
def test_text_that_is_none_is_not_shown(call, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=says) as raised:
        call(ODD)
    assert type(raised.value) is ValueError
    assert raised.value.__cause__ is None and raised.value.__context__ is None
    assert not holds(raised.value, "hunter2")


def test_a_passphrase_is_what_was_typed():
    with pytest.raises(TypeError):
        SecretKey(b"SEAL-SECRET-KEY-1")
    assert repr(Key.passphrase(ODD.encode(errors="surrogateescape"))) == "<Key: a passphrase>"


def test_the_passphrase_of_an_identity_file_is_text_or_bytes(tmp_path):
    secret, path = SecretKey.generate(), tmp_path / "id.seal"
    word = Key.passphrase("größte Kunst")
    sealwright.seal(io.BytesIO(secret.to_text().encode()), path, key=word, costs=(8, 1, 1))
    path.chmod(0o600)
    for given in ("größte Kunst", "größte Kunst".encode(), bytearray("größte Kunst".encode())):
        assert repr(Key.read(path, passphrase=given)) == "<Key: the secret key of a pair>"
    with pytest.raises(sealwright.WrongKey):
        Key.read(path, passphrase="another")
    for none in ("", b"", None):
        with pytest.raises(ValueError, match="the passphrase is empty"):
            Key.read(path, passphrase=none)
    with pytest.raises(ValueError, match="the passphrase is not text") as raised:
        Key.read(path, passphrase=ODD)
    assert not holds(raised.value, "hunter2")


def test_a_key_in_place_of_its_file_is_not_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    secret = SecretKey.generate()
    text = secret.to_text()
    for given in (text, text.lower(), f"# mine\n{text}\n", KEY.hex(), KEY[:16].hex().upper()):
        for read in (Key.read, PublicKey.read):
            with pytest.raises(ValueError, match=r"a key was given, which is not shown.*hint: SecretKey") as raised:
                read(given)
            assert not holds(raised.value, given.strip()[-20:])
    secret.write("seal-secret-key-1.id")
    assert repr(Key.read("seal-secret-key-1.id")) == "<Key: the secret key of a pair>"


def test_a_task_does_not_show_its_keys():
    store = distributed._Store(dict, ("hunter2",), {"token": "hunter2"})
    task = distributed._Task("/a", "/b", store, store, {"key": KEY}, {"key": KEY})
    shown = "_Store(kind=<class 'dict'>)"
    assert repr(task) == f"_Task(source='/a', target='/b', source_store={shown}, target_store={shown})"
    assert pickle.loads(pickle.dumps(task)) == task


@pytest.mark.parametrize("key", [KEY, Key.raw(KEY)], ids=["bytes", "Key"])
def test_a_filesystem_is_told_without_its_keys(key):
    below = fsspec.filesystem("memory")
    for fs in (SealedFileSystem(key, fs=below), SealedFileSystem(key=key, suite="aes-256-ocb", fs=below)):
        told = fs.to_dict(include_password=False)
        assert "key" not in told and not told["args"] and told["fs"]["protocol"] == "memory"
        assert told.get("suite") == fs.storage_options.get("suite")
        text = fs.to_json(include_password=False)
        assert json.loads(text) == json.loads(json.dumps(told))
    # The filesystem below keeps its own to itself.
    below = fsspec.filesystem("memory", password="hunter2", skip_instance_cache=True)
    fs = SealedFileSystem(key=key, fs=below)
    assert "hunter2" not in repr(fs.to_dict(include_password=False))
    fs = SealedFileSystem(key=key, target_protocol="memory", target_options={"password": "hunter2"})
    assert "hunter2" not in repr(fs.to_dict(include_password=False))


def test_a_key_of_a_filesystem_below_is_not_told():
    inner, memory = b"INNERKEYINNERKEYINNERKEYINNERKEY", fsspec.filesystem("memory")
    nested = {"key": inner, "target_protocol": "memory"}
    for given in (inner, Key.raw(inner)):
        options = {**nested, "key": given}
        fs = SealedFileSystem(KEY, target_protocol="seal", target_options=options)
        deep = SealedFileSystem(KEY, target_protocol="simplecache", target_options={"target_protocol": "seal", "target_options": options})
        for each in (fs, deep):
            told = each.to_json(include_password=False)
            assert "memory" in told and str(list(inner))[1:20] not in told and "INNER" not in told
    # Stores that keep the one below as an object, or a key without its name.
    for below in (fsspec.filesystem("dir", path="/a", fs=SealedFileSystem(inner, fs=memory)), SealedFileSystem(inner, fs=memory)):
        told = SealedFileSystem(KEY, fs=below).to_json(include_password=False)
        assert "memory" in told and str(list(inner))[1:20] not in told


def test_a_filesystem_with_its_keys_can_be_sent():
    fsspec.filesystem("memory").store.clear()
    fs = SealedFileSystem(key=KEY, associated_data=b"ad", target_protocol="memory")
    fs.pipe_file("/a", b"text")
    for sent in (pickle.loads(pickle.dumps(fs)), AbstractFileSystem.from_json(fs.to_json()), AbstractFileSystem.from_dict(fs.to_dict())):
        assert isinstance(sent, SealedFileSystem) and sent.cat_file("/a") == b"text"
