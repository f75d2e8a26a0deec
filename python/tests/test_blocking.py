"""Named pipes, and file objects whose calls wait: neither stops the program, nor Ctrl-C. In processes of their own, which are killed if
one of them hangs."""

import io
import subprocess
import sys

import pytest
import sealwright

KEY = bytes(range(32))
HEAD = """
import io, os, pathlib, signal, sys, threading, time
import sealwright
from sealwright import Key, PublicKey, SealedFile, SecretKey

KEY = bytes(range(32))
folder = pathlib.Path(sys.argv[1])
pipe = folder / "pipe"
os.mkfifo(pipe)

givers = []

def give(bytes):
    # One that still has the pipe would be the other end of who opens it next.
    for thread in givers:
        thread.join()
    givers[:] = [threading.Thread(target=pipe.write_bytes, args=(bytes,), daemon=True)]
    givers[0].start()

def ctrl_c():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
"""


def run(folder, program):
    done = subprocess.run([sys.executable, "-c", HEAD + program, folder], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_other_end_of_a_pipe_may_be_a_thread(tmp_path):
    run(
        tmp_path,
        """
give(b"text")
assert sealwright.seal(pipe, folder / "sealed", key=KEY)[0] == 4
sealed = (folder / "sealed").read_bytes()
give(sealed)
sealwright.open(pipe, folder / "copy", key=KEY)
assert (folder / "copy").read_bytes() == b"text"
give(sealed)
assert sealwright.verify(pipe, key=KEY)[0] == 4
give(sealed)
assert sealwright.inspect(pipe)["key_source"] == "raw"
give(sealed)
try:
    SealedFile(pipe, key=KEY)
except OSError:
    pass  # A pipe is not read from anywhere.
key = SecretKey.generate().public_key
give(str(key).encode())
assert PublicKey.read(pipe) == [key]
got = []
thread = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
thread.start()
sealwright.open(folder / "sealed", pipe, key=KEY, force=True)
thread.join()
assert got == [b"text"]
thread = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
thread.start()
with SealedFile(pipe, "wb", key=KEY) as file:
    file.write(b"text")
thread.join()
out = io.BytesIO()
sealwright.open(io.BytesIO(got[1]), out, key=KEY)
assert out.getvalue() == b"text"
""",
    )


def test_ctrl_c_while_a_pipe_is_opened(tmp_path):
    for call in ('sealwright.seal(pipe, folder / "sealed", key=KEY)', "SealedFile(pipe, key=KEY)", 'SealedFile(pipe, "wb", key=KEY)'):
        folder = tmp_path / str(len(call))
        folder.mkdir()
        run(
            folder,
            f"""
ctrl_c()
try:
    {call}
except KeyboardInterrupt:
    assert os.listdir(folder) == ["pipe"]
    sys.exit(0)
sys.exit(1)
""",
        )


@pytest.mark.parametrize("call", ["seal(file, folder / 'sealed'", "open(file, folder / 'text'", "verify(file"])
def test_ctrl_c_while_a_file_object_waits(tmp_path, call):
    run(
        tmp_path,
        f"""
reader, writer = os.pipe()
file = os.fdopen(reader, "rb")
sealed = io.BytesIO()
sealwright.seal(io.BytesIO(bytes(100_000)), sealed, key=KEY)
os.write(writer, sealed.getvalue()[:30_000])
ctrl_c()
try:
    sealwright.{call}, key=KEY)
except KeyboardInterrupt:
    assert os.listdir(folder) == ["pipe"]
    sys.exit(0)
sys.exit(1)
""",
    )


class Interrupted(io.RawIOBase):
    """Raises what a system call that a signal ended would."""

    def readable(self):
        return True

    writable = seekable = readable

    def read(self, *arguments):
        raise InterruptedError("mine")

    write = seek = read


def test_an_interrupted_call_is_not_tried_for_ever():
    for call in (
        lambda: sealwright.seal(Interrupted(), io.BytesIO(), key=KEY),
        lambda: sealwright.seal(io.BytesIO(bytes(100)), Interrupted(), key=KEY),
        lambda: sealwright.inspect(Interrupted()),
        lambda: sealwright.SealedFile(Interrupted(), key=KEY),
    ):
        with pytest.raises(InterruptedError, match="mine"):
            call()
