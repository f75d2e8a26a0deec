# SPDX-License-Identifier: MIT OR Apache-2.0
"""The proofs: the multiplier by its algebraic normal form, the S-boxes by SAT, queues and slices by induction over time."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor

from .tools import BIN, BUILD, HEADERS, RTL, run

INDUCTION = "sat -verify -tempinduct -prove right_o 1 -set-at 1 rst_ni 0 -seq 1 -maxsteps 6"
CHECK = ["pkg/sealwright_pkg.sv", "lib/delay.sv", "lib/delay_valid.sv", "lib/fifo.sv", "lib/fifo_late.sv", "lib/fifo_port.sv",
         "mode/tag_check.sv", "formal/tag_check_proof.sv"]
SOLVED = {
    "the composite S-boxes": (
        ["pkg/sealwright_pkg.sv", "aes/aes_pkg.sv", "lib/stage.sv", "aes/aes_sbox_composite.sv", "formal/boxes.sv"],
        "boxes",
        "sat -verify -prove same_o 3 boxes",
    ),
    "the register slice": (
        ["lib/slice.sv", "formal/slice_proof.sv"],
        "slice_proof",
        f"{INDUCTION} slice_proof",
    ),
    "the queue": (
        ["pkg/sealwright_pkg.sv", "lib/fifo.sv", "formal/fifo_proof.sv"],
        "fifo_proof",
        f"{INDUCTION} fifo_proof",
    ),
    "the queue at a port": (
        ["pkg/sealwright_pkg.sv", "lib/delay_valid.sv", "lib/fifo.sv", "lib/fifo_late.sv", "lib/fifo_port.sv",
         "formal/fifo_port_proof.sv"],
        "fifo_port_proof",
        f"{INDUCTION} fifo_port_proof",
    ),
    "the beats of a packet": (
        ["pkg/sealwright_pkg.sv", "mode/packet_beats.sv", "formal/packet_beats_proof.sv"],
        "packet_beats_proof",
        f"{INDUCTION} packet_beats_proof",
    ),
    **{f"a packet's lengths, Lanes = {lanes}": (
        ["pkg/sealwright_pkg.sv", "mode/packet_lengths.sv", "formal/packet_lengths_proof.sv"],
        f"packet_lengths_proof -G Lanes={lanes}",
        f"{INDUCTION} packet_lengths_proof",
    ) for lanes in (1, 2, 4)},
    **{f"the beats of GCM, Lanes = {lanes}": (
        ["pkg/sealwright_pkg.sv", "lib/slice.sv", "mode/gcm_control.sv", "formal/gcm_control_proof.sv"],
        f"gcm_control_proof -G Lanes={lanes} -G Depth={depth}",
        f"{INDUCTION} gcm_control_proof",
    ) for lanes, depth in ((1, 6), (2, 3), (4, 6))},
    **{f"the counters of GCM, Lanes = {lanes}": (
        ["pkg/sealwright_pkg.sv", "lib/delay.sv", "lib/delay_valid.sv", "formal/keystream_stubs.sv", "mode/gcm_keystream.sv",
         "formal/gcm_keystream_proof.sv"],
        f"gcm_keystream_proof -G Lanes={lanes}",
        f"{INDUCTION} gcm_keystream_proof",
    ) for lanes in (1, 2, 4)},
    **{f"frames and packets{', with numbers' * numbered}": (
        ["mode/frame_fit.sv", "formal/frame_fit_proof.sv"],
        f"frame_fit_proof -G Numbered={numbered}",
        f"{INDUCTION} frame_fit_proof",
    ) for numbered in (0, 1)},
    "frames by their numbers": (
        ["pkg/sealwright_pkg.sv", "formal/hold_stubs.sv", "lib/slice.sv", "mode/frame_number.sv", "formal/frame_number_proof.sv"],
        "frame_number_proof",
        f"{INDUCTION} frame_number_proof",
    ),
    "verdicts": (
        CHECK,
        "tag_check_proof",
        f"{INDUCTION.replace('-seq 1', '-seq 5')} tag_check_proof",
    ),
    "verdicts with short tags": (
        CHECK,
        "tag_check_proof -G TagBytes=4",
        f"{INDUCTION.replace('-seq 1', '-seq 5')} tag_check_proof",
    ),
    "text that waits for its verdict": (
        ["pkg/sealwright_pkg.sv", "formal/hold_stubs.sv", "lib/slice.sv", "mode/text_hold.sv", "formal/text_hold_proof.sv"],
        "text_hold_proof",
        f"{INDUCTION} text_hold_proof",
    ),
    **{f"the life of a key{' that resets leave' * keep}": (
        ["pkg/sealwright_pkg.sv", "formal/order_stub.sv", "lib/key_guard.sv", "formal/key_guard_proof.sv"],
        f"key_guard_proof -G Keep={keep}",
        f"{INDUCTION} key_guard_proof",
    ) for keep in (0, 1)},
    "the late queue": (
        ["pkg/sealwright_pkg.sv", "lib/fifo_late.sv", "formal/fifo_late_proof.sv"],
        "fifo_late_proof",
        f"{INDUCTION} fifo_late_proof",
    ),
}
# Those that take minutes each: part of `flow full`.
LONG = {
    f"the beats of OCB, Lanes = {lanes}": (
        ["pkg/sealwright_pkg.sv", "lib/delay_valid.sv", "mode/ocb_control.sv", "formal/ocb_control_proof.sv"],
        f"ocb_control_proof -G Lanes={lanes}",
        f"{INDUCTION} ocb_control_proof",
    ) for lanes in (1, 2, 4)
}


class Disproved(SystemExit):
    """The solver has found a counterexample."""


class Undecided(SystemExit):
    """The solver has found none, and no proof: it went as far as it may."""


# What the solver says of a counterexample, at the beginning or in the only step; "proof did fail" also stands behind a search that ended.
COUNTEREXAMPLE = re.compile(r"model found( for base case)?: FAIL")


def solve(name, files, top, question, folder=BUILD):
    """Runs Yosys's solver, with its log in `folder`. `Disproved` if it finds a counterexample, `Undecided` if it finds nothing, SystemExit
    at any other error."""
    log = folder / f"{top.replace(' ', '')}.log"
    log.unlink(missing_ok=True)
    lines = [f"read_slang -I {HEADERS} -D SYNTHESIS --top {top} " + " ".join(str(RTL / file) for file in files),
             "flatten", "proc", "async2sync", "opt", "memory_map", "opt", question]
    code = "from pyosys import libyosys as ys; d = ys.Design()\n"
    code += "\n".join(f"ys.run_pass({'tee -q -o ' + str(log) + ' ' + line!r}, d)" for line in lines)
    try:
        run([BIN / "python", "-c", code])
    except SystemExit as error:
        found = log.read_text() if log.exists() else ""
        if COUNTEREXAMPLE.search(found):
            raise Disproved(f"{name}: the proof fails; {log} has the counterexample") from error
        if "proof did fail" in found:
            raise Undecided(f"{name}: neither proved nor disproved in as many steps as it may take; see {log}") from error
        raise
    print(f"{name}: proved", flush=True)


# Depths and lanes of the multiplier, which has one more than the core: of cores with a lane and of the bus unit; with `longer` those of
# more lanes, and every depth.
SHAPES = ("6x2", "5x2")
MORE = ("1x2", "2x2", "3x2", "4x2", "6x3", "6x5")


def check(longer=False):
    """Runs every proof, with `longer` those too that take minutes."""
    BUILD.mkdir(exist_ok=True)
    with ThreadPoolExecutor(2) as pool:  # each is a process of its own
        list(pool.map(lambda one: solve(one[0], *one[1]), {**SOLVED, **(LONG if longer else {})}.items()))
    output = run([BIN / "python", RTL / "formal" / "multiplier.py", BUILD / "multiply.json", *SHAPES,
                  *(MORE if longer else ())])
    sys.stdout.write("".join(line + "\n" for line in output.splitlines() if "proved" in line))
