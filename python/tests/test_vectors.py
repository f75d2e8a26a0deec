"""The repository's test vectors through the Python calls, at every level."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sealwright import vectors

VECTORS = Path(__file__).parents[2] / "vectors"


@pytest.mark.parametrize("name, least", [("aes_gcm", 10), ("aes_ocb", 15), ("aes_gcm_siv", 5), ("xaes_256_gcm", 2)])
def test_every_file(name, least):
    report = vectors.check(VECTORS / f"{name}.json")
    assert report.failed == [] and report.passed >= least


@pytest.mark.parametrize("level", ["portable", "sse", "avx2"])
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
    assert f"level {level}" in run.stdout or level not in Path("/proc/cpuinfo").read_text()


def test_a_wrong_vector_is_found(tmp_path, capsys):
    document = json.loads((VECTORS / "aes_gcm.json").read_text())
    document["testGroups"][0]["tests"][3]["ct"] = "00" + document["testGroups"][0]["tests"][3]["ct"][2:]
    (tmp_path / "wrong.json").write_text(json.dumps(document))
    assert vectors.main([str(tmp_path / "wrong.json")]) == 3
    assert "tcId 4: sealing gives another message" in capsys.readouterr().out
    (tmp_path / "other.json").write_text("[]")
    assert vectors.main([str(tmp_path / "other.json")]) == 1
    assert vectors.main([]) == 2
