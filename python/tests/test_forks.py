"""Children that are forked while files are read, and while keys are stretched: what they inherit holds none of them up, and none reads
for another. In processes of their own, which are killed if one of them hangs."""

import subprocess
import sys

HEAD = """
import io, os, pathlib, random, signal, sys, threading, time, warnings
import sealwright
from sealwright import Key, SealedFile

warnings.simplefilter("ignore", DeprecationWarning)  # CPython 3.12, of every fork
KEY = bytes(range(32))
folder = pathlib.Path(sys.argv[1])
text = b"".join(number.to_bytes(8, "big") for number in range(1 << 18))
sealed = io.BytesIO()
sealwright.seal(io.BytesIO(text), sealed, key=KEY)
(folder / "sealed").write_bytes(sealed.getvalue())

def forked(work):
    child = os.fork()
    if child:
        return child
    signal.alarm(30)
    try:
        work()
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)

def ended(*children):
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * len(children)
"""


def run(folder, program):
    done = subprocess.run([sys.executable, "-c", HEAD + program, folder], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr


def test_parent_and_children_read_one_file(tmp_path):
    run(
        tmp_path,
        """
file = SealedFile(folder / "sealed", key=KEY)

def read():
    places = random.Random(os.getpid())
    for _ in range(1000):
        at = places.randrange(len(text))
        file.seek(at)
        assert file.read(100) == text[at : at + 100]

children = [forked(read) for _ in range(3)]
read()
ended(*children)
""",
    )


def test_a_child_of_a_file_object_is_refused(tmp_path):
    run(
        tmp_path,
        """
file = SealedFile(open(folder / "sealed", "rb"), key=KEY)

def read():
    try:
        file.read(100)
    except RuntimeError as error:
        assert "open it anew" in str(error)
        file.close()
    else:
        raise AssertionError("it was read")

ended(forked(read))
assert file.read(100) == text[:100]
""",
    )


def test_a_child_of_a_process_whose_threads_read_does_not_wait(tmp_path):
    run(
        tmp_path,
        """
file = SealedFile(folder / "sealed", key=KEY)
stop = False

def read():
    while not stop:
        file.seek(0)
        file.read()

def try_to_read():
    try:
        file.seek(0)
        assert file.read() == text
    except RuntimeError as error:
        assert "open it anew" in str(error)

threads = [threading.Thread(target=read) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(30):
    ended(forked(try_to_read))
stop = True
for thread in threads:
    thread.join()
""",
    )


def test_a_child_stretches_a_passphrase_that_its_parent_is_stretching(tmp_path):
    run(
        tmp_path,
        """
key = Key.passphrase("correct horse")

def seal(costs, begun=None):
    if begun:
        begun.set()
    sealwright.seal(io.BytesIO(b"text"), io.BytesIO(), key=key, costs=costs)

# The child must end while the parent's thread still works: on a busy machine that takes more passes.
for passes in (20, 80, 320):
    begun = threading.Event()
    thread = threading.Thread(target=seal, args=((64 << 10, passes, 1), begun))
    thread.start()
    begun.wait()
    time.sleep(0.2)
    child = forked(lambda: seal((8, 1, 1)))
    ended(child)
    told = thread.is_alive()
    thread.join()
    if told:
        break
assert told, "the child waited for its parent's thread, or the machine is very busy"
""",
    )
