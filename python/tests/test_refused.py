"""Arguments that no call takes: what is wrong with them, and what to do."""

import builtins
import io

import pytest
import sealwright
from sealwright import Key, SealedFile

KEY = bytes(range(32))
WANTED = "key must be a Key, a SecretKey or bytes of 16 or 32"


@pytest.fixture
def sealed():
    out = io.BytesIO()
    sealwright.seal(io.BytesIO(b"text"), out, key=KEY)
    out.seek(0)
    return out


@pytest.mark.parametrize(
    "call",
    [
        lambda file: SealedFile(file),
        lambda file: SealedFile(file, key=None),
        lambda file: SealedFile(file, "wb"),
        lambda file: SealedFile(file, "xb", key=5),
        lambda file: SealedFile(file, key="swordfish".split()),
        lambda file: sealwright.open(file, io.BytesIO(), key=None),
        lambda file: sealwright.open(file, io.BytesIO(), key=5),
        lambda file: sealwright.verify(file, key=None),
        lambda file: sealwright.seal(file, io.BytesIO()),
        lambda file: sealwright.seal(file, io.BytesIO(), key=object()),
    ],
)
def test_a_key_that_is_missing_or_none(sealed, call):
    with pytest.raises(TypeError, match=WANTED) as raised:
        call(sealed)
    assert "hint: " in str(raised.value) and "swordfish" not in str(raised.value)


def test_a_key_of_another_length_or_kind(sealed, tmp_path):
    with pytest.raises(ValueError, match="the key has 5 bytes; it must have 16 or 32"):
        SealedFile(sealed, key=bytes(5))
    with pytest.raises(BufferError):
        SealedFile(sealed, key=memoryview(bytes(64))[::2])
    with pytest.raises(TypeError, match=r"not PosixPath \(hint: Key.read\(path\)"):
        SealedFile(sealed, key=tmp_path)
    with pytest.raises(TypeError, match="either key or recipients, not both"):
        SealedFile(io.BytesIO(), "wb", key=KEY, recipients=[sealwright.SecretKey.generate().public_key])


def test_an_argument_that_is_misspelled_or_has_no_effect(sealed):
    with pytest.raises(TypeError, match="SealedFile.*'suit'"):
        SealedFile(io.BytesIO(), "wb", key=KEY, suit="aes-256-ocb")
    nothing = {"suite": "aes-256-ocb", "armor": True, "costs": (8, 1, 1), "force": False, "recipients": []}
    for name, value in nothing.items():
        with pytest.raises(TypeError, match=f"SealedFile takes no {name} in mode 'rb'.*hint: leave it out"):
            SealedFile(sealed, key=KEY, **{name: value})
    with pytest.raises(TypeError, match="SealedFile takes no max_memory_kib in mode 'wb'"):
        SealedFile(io.BytesIO(), "wb", key=KEY, max_memory_kib=5)
    with SealedFile(sealed, key=KEY, max_memory_kib=1 << 20) as file:
        assert file.read() == b"text"


def test_each_argument_has_its_effect(tmp_path):
    out = io.BytesIO()
    with SealedFile(out, "wb", key=KEY, suite="aes-256-ocb", armor=True, associated_data=b"ad") as file:
        file.write(b"text")
    assert out.getvalue().startswith(b"-----BEGIN") and sealwright.inspect(io.BytesIO(out.getvalue()))["suite"] == "aes-256-ocb"
    with SealedFile(tmp_path / "a", "wb", key=Key.passphrase("swordfish"), costs=(8, 1, 1)) as file:
        file.write(b"text")
    with pytest.raises(FileExistsError):
        SealedFile(tmp_path / "a", "wb", key=KEY, force=False).close()
    SealedFile(tmp_path / "a", "xb", key=KEY, force=True).close()
    with SealedFile(tmp_path / "a", key=KEY) as file:
        assert file.read() == b""


def test_all_names_replace_no_built_in_ones():
    names = {}
    exec("from sealwright import *", names)
    del names["__builtins__"]
    assert not [name for name in names if hasattr(builtins, name) and not name.startswith("__")]
    assert "seal" in names and callable(sealwright.open)


# The places in a header, and what is unknown there; 29 is the number of chacha20-poly1305, and 0x40 in the last says "signed".
UNKNOWN = [(8, 99, "version 99"), (9, 29, "chacha20"), (9, 200, "suite number 200"), (10, 99, "key source 99")]
UNKNOWN += [(11, 63, "content"), (11, 0x40, "it is signed")]


@pytest.mark.parametrize(("at", "byte", "text"), UNKNOWN)
def test_a_file_of_a_kind_that_is_not_read_may_be_genuine(sealed, at, byte, text):
    other = bytearray(sealed.getvalue())
    other[at] = byte
    calls = [
        sealwright.inspect,
        lambda file: sealwright.open(file, io.BytesIO(), key=KEY),
        lambda file: sealwright.verify(file, key=KEY),
        lambda file: SealedFile(file, key=KEY),
    ]
    for call in calls:
        with pytest.raises(sealwright.Unsupported, match=text) as raised:
            call(io.BytesIO(other))
        assert "nothing was authenticated yet" in str(raised.value)
        assert "not authentic" not in str(raised.value) and not isinstance(raised.value, sealwright.InvalidTag)
        assert isinstance(raised.value, sealwright.Error)


def test_armor_has_no_random_access():
    out = io.BytesIO()
    sealwright.seal(io.BytesIO(b"text"), out, key=KEY, armor=True)
    with pytest.raises(sealwright.Unsupported, match="it is armored"):
        SealedFile(out, key=KEY)
