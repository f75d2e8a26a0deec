"""Any calls with any arguments, in any order: each returns, or raises an error of the kinds that are documented. The interpreter never
ends, and no error shows a key. SEALWRIGHT_CALLS sets their number, SEALWRIGHT_SEED the first seed."""

import os
import subprocess
import sys
from pathlib import Path

WALK = Path(__file__).with_name("any_calls.py")
CALLS = int(os.environ.get("SEALWRIGHT_CALLS", "20000"))
SEED = int(os.environ.get("SEALWRIGHT_SEED", "1"))


def run(tmp_path, seed, calls, *words):
    # A process of its own, as a fault of the extension would end this one, and a folder of its own for what it writes.
    command = [sys.executable, "-X", "faulthandler", str(WALK), str(seed), str(calls), *words]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)


def test_any_calls_return_or_raise(tmp_path):
    done = run(tmp_path, SEED, CALLS)
    assert done.returncode == 0, f"seed {SEED}: {done.stderr[-4000:]}"
    made, returned, raised = map(int, done.stdout.split())
    assert made == CALLS == returned + raised
    # Neither would be a walk.
    assert returned > CALLS // 20 and raised > CALLS // 20, done.stdout


def test_a_planted_fault_is_seen(tmp_path):
    done = run(tmp_path, SEED, CALLS, "planted")
    assert done.returncode != 0 and "planted" in done.stderr, done.stderr[-4000:]
