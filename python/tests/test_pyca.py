"""pyca/cryptography's own tests of AES-GCM, AES-OCB3 and AES-GCM-SIV, run against our classes.

The tests are in the source distribution of `cryptography`, which pip fetches once into the virtual environment's folder.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import cryptography
import pytest
import sealwright

HERE = Path(__file__).parent
KEPT = Path(sys.prefix) / "pyca"

# Loaded before their tests: puts our classes where they import theirs from, and our exception where theirs is.
PLUGIN = '''
import cryptography.exceptions
import sealwright
from cryptography.hazmat.primitives.ciphers import aead

cryptography.exceptions.InvalidTag = sealwright.InvalidTag
for name in ("AESGCM", "AESOCB3", "AESGCMSIV"):
    setattr(aead, name, getattr(sealwright, name))
'''


def source():
    """The folder of the source distribution."""
    name = f"cryptography-{cryptography.__version__}"
    if not (KEPT / name / "tests").exists():
        KEPT.mkdir(exist_ok=True)
        wanted = f"cryptography=={cryptography.__version__}"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--no-binary", "cryptography", "--dest", str(KEPT), wanted], check=True)
        # Beside its place: an interrupted run must not leave a part of it there.
        with tempfile.TemporaryDirectory(dir=KEPT) as beside, tarfile.open(KEPT / f"{name}.tar.gz") as archive:
            archive.extractall(beside, filter="data")
            shutil.rmtree(KEPT / name, ignore_errors=True)
            (Path(beside) / name).rename(KEPT / name)
    return KEPT / name


def test_an_interrupted_unpacking_begins_again(tmp_path, monkeypatch):
    name = f"cryptography-{cryptography.__version__}"

    def download(*_, **__):
        with tarfile.open(tmp_path / f"{name}.tar.gz", "w:gz") as archive:
            for file in ("a.py", "b.py"):
                archive.addfile(tarfile.TarInfo(f"{name}/tests/{file}"))

    def part(self, path, **options):
        whole(self, path, members=self.getmembers()[:1], **options)
        raise KeyboardInterrupt

    whole = tarfile.TarFile.extractall
    monkeypatch.setitem(globals(), "KEPT", tmp_path)
    monkeypatch.setattr(subprocess, "run", download)
    with monkeypatch.context() as interrupted:
        interrupted.setattr(tarfile.TarFile, "extractall", part)
        with pytest.raises(KeyboardInterrupt):
            source()
    assert sorted(file.name for file in (source() / "tests").iterdir()) == ["a.py", "b.py"]


def test_their_tests_pass_with_our_classes(tmp_path):
    folder = source()
    (tmp_path / "ours.py").write_text(PLUGIN)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "ours", "-p", "no:cacheprovider", "-c", "/dev/null"]
    command += ["--rootdir", str(folder), "tests/hazmat/primitives/test_aead.py"]
    command += ["-k", "TestAESGCM or TestAESOCB3 or TestAESGCMSIV"]
    # These use keys of 192 bits, for which RFC 8452 does not define AES-GCM-SIV.
    for name in ("test_vectors", "test_vectors_invalid"):
        command += ["--deselect", f"tests/hazmat/primitives/test_aead.py::TestAESGCMSIV::{name}"]
    package = str(Path(sealwright.__file__).parent.parent)
    run = subprocess.run(
        command,
        cwd=folder,
        env={"PYTHONPATH": f"{tmp_path}:{package}", "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    passed = next(int(word) for word, what in zip(run.stdout.split(), run.stdout.split()[1:]) if what.startswith("passed"))
    assert passed >= 60, run.stdout
