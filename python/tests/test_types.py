"""The stubs say what the module has, and every public thing says what it does."""

import functools
import inspect
import io
import subprocess
import sys
from pathlib import Path

import sealwright
from sealwright import distributed, filesystem, smp, sweeps, vectors

HOME = Path(__file__).parents[1]


def mypy(*words, cwd):
    run = subprocess.run([sys.executable, "-m", *words], cwd=cwd, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_stubs_match_the_module(tmp_path):
    # Below Python 3.12, Buffer exists for the stubs alone; PyO3 makes `__all__`.
    (tmp_path / "allowed").write_text("".join(f"sealwright._sealwright.{name}\n" for name in ("__all__", "Buffer")))
    allow = ["--allowlist", str(tmp_path / "allowed"), "--ignore-unused-allowlist"]
    mypy("mypy.stubtest", "sealwright._sealwright", *allow, cwd=tmp_path)


def test_the_package_is_typed(tmp_path):
    settings = ["--strict", "--config-file", str(HOME / "pyproject.toml"), "--python-version", "3.10"]
    mypy("mypy", *settings, "--cache-dir", str(tmp_path), str(HOME / "package" / "sealwright"), cwd=tmp_path)
    assert (Path(sealwright.__file__).parent / "py.typed").exists()


def test_the_types_say_what_the_calls_take(tmp_path):
    (tmp_path / "right.py").write_text("""
import sealwright
from sealwright import AESGCM, Key, SealedFile

def sealed(key: Key) -> bytes:
    with SealedFile("a", "wb", key=key, suite="aes-256-ocb", armor=True, costs=None, force=True) as file:
        file.write(b"text")
        file.finish()
    sealwright.open("a", "b", key=key)
    AESGCM(bytes(32)).encrypt_batch((bytes(12),), [memoryview(b"text")], [None])
    return AESGCM(AESGCM.generate_key(256)).encrypt(bytes(12), b"text", None)
""")
    mypy("mypy", "--strict", "--cache-dir", str(tmp_path), "right.py", cwd=tmp_path)
    wrong = ["SealedFile('a', suit='x')", "SealedFile('a', suite=5)", "sealwright.Kye"]
    wrong += [f"AESGCM(b'').encrypt_batch([b''], {given})" for given in ("iter([b''])", "{b''}", "b''", "(b'' for _ in 'a')")]
    # At last: mypy reads nothing behind what never returns.
    wrong.append("Key(b'')")
    (tmp_path / "wrong.py").write_text("import sealwright\nfrom sealwright import AESGCM, Key, SealedFile\n" + "\n".join(wrong))
    run = subprocess.run([sys.executable, "-m", "mypy", "wrong.py"], cwd=tmp_path, capture_output=True, text=True)
    for line in range(3, 3 + len(wrong)):
        assert f"wrong.py:{line}: error" in run.stdout, run.stdout


def members(kind):
    """The methods and attributes that a class itself defines, by name, without those that `io` documents for every binary file."""
    inherited = dir(io.BufferedIOBase) if issubclass(kind, io.IOBase) else ()
    for name, member in vars(kind).items():
        described = inspect.isroutine(member) or inspect.isdatadescriptor(member) or isinstance(member, functools.cached_property)
        if described and not name.startswith("_") and name not in inherited:
            yield name, member


def test_everything_public_has_a_docstring():
    public = [("sealwright", name, getattr(sealwright, name)) for name in [*sealwright.__all__, "open"]]
    for module in (distributed, filesystem, smp, sweeps, vectors):
        assert module.__doc__, module
        for name, thing in vars(module).items():
            own = getattr(thing, "__module__", None) == module.__name__ or name in getattr(module, "__all__", ())
            if own and not name.startswith("_") and (inspect.isroutine(thing) or inspect.isclass(thing)):
                public.append((module.__name__, name, thing))
    seen, missing = [], []
    for module, name, thing in public:
        seen += [f"{module}.{name}"]
        missing += [f"{module}.{name}"] if not thing.__doc__ else []
        for inner, member in members(thing) if isinstance(thing, type) else ():
            seen += [f"{module}.{name}.{inner}"]
            missing += [f"{module}.{name}.{inner}"] if not member.__doc__ else []
    assert not missing
    # Getters of the extension module, properties, methods that fsspec has too, and functions of each module.
    wanted = ["Sessions.live", "Sealer.count", "SealedFile.size", "SealedFile.finish", "distributed.rekey_store", "smp.run"]
    wanted += ["filesystem.SealedFileSystem.info", "filesystem.SealedFileSystem.fsid", "sweeps.sweep", "vectors.check"]
    assert not {f"sealwright.{name}" for name in wanted}.difference(seen)
