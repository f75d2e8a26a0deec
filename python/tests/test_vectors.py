"""The repository's test vectors through the Python calls, at every level."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sealwright import vectors

VECTORS = Path(__file__).parents[2] / "vectors"
# What a processor must say that it has; every one has the level without instructions of its own.
FLAGS = {"portable": set(), "sse": {"aes", "pclmulqdq"}, "avx2": {"avx2", "vaes", "vpclmulqdq"}}


@pytest.mark.parametrize("name, least", [("aes_gcm", 10), ("aes_ocb", 15), ("aes_gcm_siv", 5), ("xaes_256_gcm", 2)])
def test_every_file(name, least):
    report = vectors.check(VECTORS / f"{name}.json")
    assert report.failed == [] and report.passed >= least


@pytest.mark.parametrize("level", FLAGS)
def test_every_level(level):
    paths = [str(VECTORS / f"{name}.json") for name in ("aes_gcm", "aes_ocb", "aes_gcm_siv", "xaes_256_gcm")]
    run = subprocess.run(
        [sys.executable, "-m", "sealwright.vectors", *paths],
        env={**os.environ, "SEALWRIGHT_ISA": level},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("0 failed") == 4
    # A level that this machine lacks is lowered to one that it has.
    if FLAGS[level] <= set(Path("/proc/cpuinfo").read_text().split()):
        assert f"level {level}" in run.stdout


def test_a_wrong_vector_is_found(tmp_path, capsys):
    document = json.loads((VECTORS / "aes_gcm.json").read_text())
    document["testGroups"][0]["tests"][3]["ct"] = "00" + document["testGroups"][0]["tests"][3]["ct"][2:]
    (tmp_path / "wrong.json").write_text(json.dumps(document))
    assert vectors.main([str(tmp_path / "wrong.json")]) == 3
    assert "tcId 4: sealing gives another message" in capsys.readouterr().out
    (tmp_path / "other.json").write_text("[]")
    assert vectors.main([str(tmp_path / "other.json")]) == 1
    assert vectors.main([]) == 2


def changed(tmp_path, change):
    """What comes of our document of AES-GCM with a change."""
    document = json.loads((VECTORS / "aes_gcm.json").read_text())
    change(document, document["testGroups"][0], document["testGroups"][0]["tests"][0])
    (tmp_path / "changed.json").write_text(json.dumps(document))
    return vectors.check(tmp_path / "changed.json")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"key": "00"}, "tcId 1: refused: the key has 1 bytes"),
        ({"iv": ""}, "tcId 1: refused: the nonce has 0 bytes"),
        ({"tag": "00" * 15}, "tcId 1: sealing gives another message"),
        ({"result": "invalid"}, "tcId 1: a message that is not authentic was opened"),
    ],
)
def test_what_is_valid_and_refused_has_failed(tmp_path, change, why):
    report = changed(tmp_path, lambda document, group, test: test.update(change))
    assert [why in failure for failure in report.failed] == [True] and report.skipped == 0


@pytest.mark.parametrize(
    ("change", "skipped"),
    [
        ({"key": "00", "result": "invalid"}, 0),
        ({"key": "00", "result": "acceptable"}, 0),
        ({"tag": "", "result": "invalid"}, 0),
        ({"iv": "00" * 7}, 1),
        ({"iv": "00" * 129}, 1),
        ({"taglen": 96}, 1),
    ],
)
def test_what_no_class_takes_is_skipped(tmp_path, change, skipped):
    report = changed(tmp_path, lambda document, group, test: test.update(change))
    assert report.failed == [] and report.skipped == skipped


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda document, group, test: group.update(tests=None), "changed.json, group 1: no tests"),
        (lambda document, group, test: document.update(testGroups=[3]), "changed.json, group 1: no tests"),
        (lambda document, group, test: group.update(tests=[3]), "changed.json, group 1: a test is not an object"),
        (lambda document, group, test: document.update(testGroups=None), "changed.json: no testGroups"),
        (lambda document, group, test: document.update(numberOfTests=99), "changed.json: numberOfTests is 99, but there are"),
        (lambda document, group, test: test.update(key=None), "changed.json, tcId 1: no key"),
        (lambda document, group, test: test.pop("ct"), "changed.json, tcId 1: no ct"),
        (lambda document, group, test: test.update(tag="0g"), "changed.json, tcId 1: tag is not an even number"),
        (lambda document, group, test: test.update(result="good"), "changed.json, tcId 1: result is 'good'"),
    ],
)
def test_a_broken_document_says_where(tmp_path, capsys, change, why):
    with pytest.raises(ValueError, match=why):
        changed(tmp_path, change)
    assert vectors.main([str(tmp_path / "changed.json")]) == 1
    assert why in capsys.readouterr().err


DEEP = pytest.param("[" * 100_000, id="deep")
TWICE = ['{"testGroups": [], "testGroups": []}', '{"testGroups": [], "a": {"key": 1, "key": 2}}']


@pytest.mark.parametrize("text", ["", "{", DEEP, *TWICE])
def test_what_is_not_json_or_says_a_thing_twice_is_refused(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(ValueError, match="bad.json: cannot be read"):
        vectors.check(tmp_path / "bad.json")
