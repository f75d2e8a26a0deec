"""Files that are open when the interpreter ends: none appears, what they would have replaced is there, and a warning tells of them."""

import os
import subprocess
import sys

import pytest
import sealwright

START = """
import builtins, io, os, sys
import fsspec, sealwright
from fsspec.spec import AbstractFileSystem
from sealwright.filesystem import SealedFileSystem

KEY, PATH = bytes(32), sys.argv[1]


class Plain(AbstractFileSystem):
    "Its files have no `commit`."

    def _open(self, path, mode="rb", **kwargs):
        return io.open(path, mode)

    def rm_file(self, path):
        os.remove(path)


class Target:
    "What is no file of Python's."

    def __init__(self):
        self.file = open(PATH + ".object", "wb")

    def write(self, data):
        return self.file.write(data)


def arrow():
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow.fs import LocalFileSystem

    return ArrowFSWrapper(LocalFileSystem())

"""
KINDS = {
    "a path": "sealwright.SealedFile(PATH, 'wb', key=KEY)",
    "local": "SealedFileSystem(key=KEY).open(PATH, 'wb')",
    "text": "SealedFileSystem(key=KEY).open(PATH, 'w')",
    "compressed": "SealedFileSystem(key=KEY).open(PATH, 'wb', compression='gzip')",
    "memory": "fsspec.open('seal::memory://x', 'wb', seal={'key': KEY}).open()",
    "Arrow's": "SealedFileSystem(key=KEY, fs=arrow()).open(PATH, 'wb')",
    "without commit": "SealedFileSystem(key=KEY, fs=Plain()).open(PATH, 'wb')",
    "an object": "sealwright.SealedFile(Target(), 'wb', key=KEY)",
}


def ended(folder, program, *words, before=""):
    command = [sys.executable, *words, "-c", before + START + program, str(folder / "x")]
    return subprocess.run(command, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_open_at_the_end(tmp_path, kind, kept):
    text = "'half'" if kind == "text" else "bytes(300_000)"
    # A name of the module is forgotten while it is cleared; that of another one perhaps never.
    program = f"file = {KINDS[kind]}\nfile.write({text})\n{'builtins.kept = file' if kept else ''}\nprint('end')\n"
    if kind != "without commit":
        (tmp_path / "x").write_bytes(b"old")
        program = program.replace("'wb', key", "'wb', force=True, key")
    said = ended(tmp_path, program, "-W", "default")
    assert (said.returncode, said.stdout) == (0, "end\n"), said.stderr
    assert "panicked" not in said.stderr and "Traceback" not in said.stderr
    assert said.stderr.count("no file was made, as nobody closed it") == 1, said.stderr
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != "x.object"}
    assert found == ({} if kind == "without commit" else {"x": b"old"})


@pytest.mark.parametrize("kind", KINDS)
def test_a_handler_that_was_there_before_the_package(tmp_path, kind):
    """It is called last. It makes the file, or is told that there is none."""
    text = "'half'" if kind == "text" else "b'half'"
    before = "import atexit, contextlib\nstack = contextlib.ExitStack()\natexit.register(stack.close)\n"
    program = f"file = stack.enter_context(contextlib.closing({KINDS[kind]}))\nfile.write({text})\n"
    said = ended(tmp_path, program, "-W", "ignore::ResourceWarning", before=before)
    found = [path.name for path in tmp_path.iterdir() if path.name != "x.object"]
    if kind == "a path":
        assert (said.returncode, said.stderr, found) == (0, "", ["x"])
        assert sealwright.verify(tmp_path / "x", key=bytes(32))[0] == 4
    else:
        assert found == [] and "panicked" not in said.stderr
        assert "no file was made, as the interpreter ended before it was closed (hint: " in said.stderr


def test_a_transaction_that_ends_in_a_handler_that_was_there_before_the_package(tmp_path):
    before = "import atexit\natexit.register(lambda: fs.end_transaction())\n"
    program = """
fs = SealedFileSystem(key=KEY)
fs.start_transaction()
with fs.open(PATH, "wb") as file:
    file.write(b"text")
"""
    said = ended(tmp_path, program, before=before)
    assert os.listdir(tmp_path) == [] and "no file was made, as the interpreter ended" in said.stderr


@pytest.mark.parametrize("named", [False, True])
def test_nobody_waits_for_a_write_that_hangs(tmp_path, named):
    program = """
import threading, time

sealwright.sealedfile._PATIENCE = 0.5
if NAMED:
    os.mkfifo(PATH)
    reader = os.open(PATH, os.O_RDONLY | os.O_NONBLOCK)
    target = PATH
else:
    reader, writer = os.pipe()
    target = open(writer, "wb", buffering=0)
file = sealwright.SealedFile(target, "wb", key=KEY)
threading.Thread(target=lambda: [file.write(bytes(65536)) for _ in range(100)], daemon=True).start()
time.sleep(0.5)
print("end")
"""
    said = ended(tmp_path, f"NAMED = {named}" + program, "-W", "default")
    assert (said.returncode, said.stdout) == (0, "end\n"), said.stderr
    assert said.stderr.count("no file was made, as nobody closed it") == 1, said.stderr


def test_what_was_closed_or_is_read_is_left_alone(tmp_path):
    program = """
fs = SealedFileSystem(key=KEY)
with fs.open(PATH, "wb") as file:
    file.write(b"text")
reader = fs.open(PATH, "rb")
import atexit

# Of a handler that was there before the package, one is called after it: what is read is open still.
atexit._run_exitfuncs()
assert reader.read() == b"text"
fs.start_transaction()
with fs.open(PATH + "2", "wb") as file:
    file.write(b"never in its place")
builtins.kept = fs, file
"""
    said = ended(tmp_path, program, "-W", "error")
    assert (said.returncode, said.stderr) == (0, "") and os.listdir(tmp_path) == ["x"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_that_ends_leaves_its_parents_file(tmp_path):
    program = """
import warnings

warnings.simplefilter("ignore", DeprecationWarning)
with SealedFileSystem(key=KEY).open(PATH, "wb") as file:
    file.write(b"te")
    child = os.fork()
    if child == 0:
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    file.write(b"xt")
assert SealedFileSystem(key=KEY).cat_file(PATH) == b"text"
"""
    said = ended(tmp_path, program, "-W", "default::ResourceWarning")
    assert (said.returncode, said.stderr) == (0, "") and os.listdir(tmp_path) == ["x"]
