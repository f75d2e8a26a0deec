"""Which files `rekey_store` leaves alone when it is started again: those that are as `new` says, and no others."""

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
import sealwright
from sealwright import SealedFile, SecretKey, distributed

RAW, OTHER = bytes(range(32)), bytes(range(1, 33))
ALICE, BOB, CAROL = (SecretKey.generate() for _ in range(3))


def texts(*secrets):
    return [str(secret.public_key) for secret in secrets]


@pytest.fixture
def run(tmp_path):
    def rekey(key, new):
        with ThreadPoolExecutor(1) as executor:
            report = distributed.rekey_store(f"file://{tmp_path}/store", executor=executor, key=key, new=new)
        assert report.failed == {}
        return report.done

    (tmp_path / "store").mkdir()
    return rekey


def seal(tmp_path, **options):
    sealwright.seal(io.BytesIO(b"text"), tmp_path / "store/a.seal", force=True, **options)


def opens(tmp_path, key):
    try:
        with SealedFile(tmp_path / "store/a.seal", key=key) as file:
            return file.read() == b"text"
    except sealwright.WrongKey:
        return False


def test_a_recipient_who_is_taken_off(tmp_path, run):
    seal(tmp_path, recipients=texts(ALICE, BOB))
    new = {"recipients": texts(ALICE), "key": ALICE}
    assert run(ALICE, new) == 1
    assert opens(tmp_path, ALICE) and not opens(tmp_path, BOB)


def test_a_recipient_who_is_put_in_the_place_of_another(tmp_path, run):
    seal(tmp_path, recipients=texts(ALICE, BOB))
    new = {"recipients": lambda: texts(ALICE, CAROL), "key": ALICE}
    assert run(ALICE, new) == 1
    assert opens(tmp_path, ALICE) and opens(tmp_path, CAROL) and not opens(tmp_path, BOB)
    # A key that no longer opens it tells that it was done.
    seal(tmp_path, recipients=texts(ALICE, BOB))
    assert run(BOB, {"recipients": texts(ALICE, CAROL), "key": ALICE}) == 1
    assert run(BOB, {"recipients": texts(ALICE, CAROL), "key": ALICE}) == 0


def test_another_suite_under_the_same_key(tmp_path, run):
    seal(tmp_path, key=RAW)
    assert run(RAW, {"key": RAW}) == 0
    assert run(RAW, {"key": RAW, "suite": "aes-256-ocb"}) == 1
    assert sealwright.inspect(tmp_path / "store/a.seal")["suite"] == "aes-256-ocb"
    assert run(RAW, {"key": RAW, "suite": "aes-256-ocb"}) == 0
    assert run(RAW, {"key": RAW}) == 0


def test_another_key(tmp_path, run):
    seal(tmp_path, key=RAW)
    assert run(RAW, {"key": OTHER}) == 1 and opens(tmp_path, OTHER) and not opens(tmp_path, RAW)
    assert run(RAW, {"key": OTHER}) == 0


def test_from_a_key_to_recipients(tmp_path, run):
    seal(tmp_path, key=RAW)
    new = {"recipients": texts(ALICE, BOB), "key": BOB}
    assert run(RAW, new) == 1 and opens(tmp_path, ALICE)
    assert run(RAW, new) == 0
