"""Functions that the referees share."""

import json
import os
import subprocess
import sys
import tempfile


def agree(binary, cases, what, levels=True):
    """Lets `sealwright vectors check` check `cases`, at every level unless told otherwise; ends the program unless all agree."""
    cases = list(cases)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for case in cases:
            print(json.dumps(case), file=file)
        file.flush()
        command = [binary, "vectors", "check", *(["--isa", "all"] if levels else []), file.name]
        run = subprocess.run(command, capture_output=True, text=True)
    wanted = f"{len(cases)} passed, 0 failed, 0 skipped"
    if run.returncode != 0 or wanted not in run.stdout:
        sys.exit(f"{run.stdout[-2000:]}{run.stderr[-2000:]}expected: {wanted}")
    print(f"{what}: {len(cases)} cases agree" + " at every level" * levels)


def skipped(why):
    """Reports what cannot run here: on standard output, and in the file that `cargo xtask` names, which counts it."""
    print(f"skipped: {why}")
    if path := os.environ.get("SEALWRIGHT_SKIPPED"):
        with open(path, "a") as file:
            print(why, file=file)
