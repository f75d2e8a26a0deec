"""What a sealed file reveals without a key, in the words of `sealwright inspect --json`."""

import io

import sealwright
from sealwright import Key, SecretKey

KEY = bytes(range(32))
COSTS = {"memory_kib": 8, "passes": 1, "lanes": 1}
PLAIN = {
    "version": 1,
    "suite": "aes-256-gcm",
    "content": "bytes",
    "armored": False,
    "key_source": "raw",
    "argon2id": None,
    "slots": None,
    "sealed_bytes": None,
    "signed": False,
    "padded": False,
    "text_bytes": None,
    "chunks": None,
    "flaw": None,
}


def seen(**options):
    out = io.BytesIO()
    sealwright.seal(io.BytesIO(b"text"), out, **options)
    out.seek(0)
    return sealwright.inspect(out)


def test_every_kind_of_key_is_described():
    assert seen(key=KEY) == PLAIN
    assert seen(key=KEY, armor=True) == {**PLAIN, "armored": True}
    assert seen(key=Key.passphrase("pass"), costs=(8, 1, 1)) == {**PLAIN, "key_source": "passphrase", "argon2id": COSTS}
    public = SecretKey.generate().public_key
    slots = [{"kind": "public"}, {"kind": "public"}]
    assert seen(recipients=[public, str(SecretKey.generate().public_key)]) == {**PLAIN, "key_source": "recipients", "slots": slots}


def test_lengths_are_those_of_a_path(tmp_path):
    path = tmp_path / "sealed"
    sealwright.seal(io.BytesIO(bytes(40_000)), path, key=KEY)
    whole = {**PLAIN, "sealed_bytes": 40_120, "text_bytes": 40_000, "chunks": 3}
    assert sealwright.inspect(path) == whole
    with path.open("r+b") as file:
        file.truncate(80)
    cut = sealwright.inspect(path)
    assert "truncated" in cut.pop("flaw") and cut == {
        name: 80 if name == "sealed_bytes" else None if name in ("text_bytes", "chunks") else value
        for name, value in whole.items()
        if name != "flaw"
    }


def test_other_kinds_of_files_are_described():
    sealed = io.BytesIO()
    sealwright.seal(io.BytesIO(b"text"), sealed, key=KEY)
    for layout, told in ((0x81, {"content": "tree", "padded": True}), (2, {"content": "list"})):
        bytes_of = bytearray(sealed.getvalue())
        bytes_of[11] = layout
        assert sealwright.inspect(io.BytesIO(bytes_of)) == {**PLAIN, **told}
