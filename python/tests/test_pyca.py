"""pyca/cryptography's own tests of AES-GCM, AES-OCB3 and AES-GCM-SIV, run against our classes.

The tests are in the source distribution of `cryptography`, which pip fetches once into the virtual environment's folder.
"""

import subprocess
import sys
import tarfile
from pathlib import Path

import cryptography
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
        with tarfile.open(KEPT / f"{name}.tar.gz") as archive:
            archive.extractall(KEPT, filter="data")
    return KEPT / name


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
