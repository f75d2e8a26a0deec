"""What tests skip is told, each by its name and its reason, and nothing else is."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest

@pytest.mark.skipif(True, reason="there is no gcc")
def test_marked(): raise AssertionError

@pytest.mark.parametrize("one", [1, 2])
def test_in_part(one):
    if one == 2:
        pytest.skip("not 2")

def test_needs(): pytest.importorskip("sealwright_nothing")

@pytest.mark.xfail(reason="a known defect")
def test_fails_as_known(): raise AssertionError

def test_passes(): pass
"""
WHOLE = "import pytest\npytest.importorskip('sealwright_nothing')\n\ndef test_never(): raise AssertionError\n"


def run(folder, skips):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(folder), str(folder)]
    return subprocess.run(command, cwd=folder, env={**os.environ, **skips}, capture_output=True, text=True)


def test_what_is_skipped_is_told(tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "test_whole.py").write_text(WHOLE)
    said = run(tmp_path, {"SEALWRIGHT_SKIPPED": str(tmp_path / "skips")})
    assert said.returncode == 0 and "2 passed, 4 skipped, 1 xfailed" in said.stdout, said.stdout + said.stderr
    told = sorted((tmp_path / "skips").read_text().splitlines())
    assert [line.split(": ")[0] for line in told] == [
        "test_some.py::test_in_part[2]",
        "test_some.py::test_marked",
        "test_some.py::test_needs",
        "test_whole.py",
    ]
    assert "not 2" in told[0] and "there is no gcc" in told[1] and all("sealwright_nothing" in line for line in told[2:])


def test_nobody_need_count(tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_some.py").write_text(TESTS)
    assert run(tmp_path, {"SEALWRIGHT_SKIPPED": ""}).returncode == 0
