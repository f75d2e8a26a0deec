# SPDX-License-Identifier: MIT OR Apache-2.0
"""Bounded proofs of whole cores (formal/core_proof.sv): whatever the inputs, no assertion fails within a number of cycles from
reset. The assertions are those of core_proof and those in the sources.

The queues are shortened, with the same slack, so that they fill up within the bound; the ciphers, the multiplier and key_setup
are replaced by stubs. Yosys makes a netlist of gates with an output for every assertion; ABC merges signals that are equal in
all reachable states, and proves each output separately.
"""

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from .tools import BUILD, HEADERS, RTL, SITE, replaced, run, yosys

ABC = SITE / "pyosys" / "yosys-abc"
STUBS = ("lib/cipher_pipe.sv", "ghash/ghash_multiply.sv", "lib/key_setup.sv")
OTHERS = ("mode/sealwright_axis.sv", "mode/key_sweep.sv", "mode/text_hold.sv", "lib/cipher_only.sv")  # not below core_proof
# File, its text, and the text for the proofs: shorter queues with the same slack, a slot that holds a key from the start, and in
# OCB also the block of a nonce.
SHORT = [
    ("lib/key_guard.sv", "kept_q = '0;", "kept_q = '1;"),
    ("mode/ocb_nonce.sv", "known_q  <= '0;", "known_q  <= '1;"),
    ("mode/gcm_core.sv", "Ahead   = 128", "Ahead   = 16"),
    ("mode/gcm_core.sv", "Pending = 64", "Pending = 16"),
    ("mode/gcm_core.sv", "latency(Cfg.pipe) + 12 > 64 ? 128 : 64", "16"),
    ("mode/frame_in.sv", "BlockW + 1, 128, 8", "BlockW + 1, 16, 8"),
    ("mode/ocb_core.sv", "Ahead   = 128", "Ahead   = 16"),
    ("mode/ocb_core.sv", "Pending = 256", "Pending = 16"),
    ("mode/ocb_nonce.sv", "Wait = 128", "Wait = 16"),
]
# The cores, the value of Flight, and the number of cycles: with so few packets the queues fill up, except those behind the command
# port. An OCB core outputs its first text in cycle 49, and its first verdict in cycle 69.
RUNS = (("gcm", 16, 60), ("ocb", 16, 100))
MODES = {"gcm": 0, "ocb": 1}
# The latency of a cipher: as short as each core allows.
LATENCY = {"gcm": 2, "ocb": 5}
# Factors on the limit of conflicts, if not 4 for assertions of core_proof and 1 for others: they need more, as nothing is output, and no
# queue is full, in the first cycles.
EFFORT = {"Data": 12, "Last": 8, "Beat": 8, "One": 8, "Order": 8, "u_ghash.Full": 20}
# The number of assertions that must be proved for all time.
ALWAYS = {"gcm": 20, "ocb": 24}
# Within so many cycles something must move while commands have stopped and the ports are ready.
QUIET = {"gcm": 36, "ocb": 72}


def netlist(mode, flight, folder, faults=()):
    """Makes folder/s.aig of a core; returns the names of its assertions, in the order of its outputs."""
    shutil.rmtree(folder, ignore_errors=True)
    package = "pkg/sealwright_pkg.sv"
    files = replaced(folder, [
        *SHORT, (package, "Flight = 256", f"Flight = {flight}"),
        (package, "return 2 + rounds(pipe.cipher) * (pipe.cut + 1);", f"return {LATENCY[mode]};"), *faults])
    read = [path for name, path in files.items()
            if name not in (*STUBS, *OTHERS) and not name.startswith(("bus/", "axi/", "serpent/"))]
    read += [RTL / "formal" / "stubs.sv", RTL / "formal" / "core_proof.sv"]
    lines = [f"read_slang -U SYNTHESIS -I {HEADERS} --top core_proof -G Mode={MODES[mode]} -G Quiet={QUIET[mode]} "
             + " ".join(map(str, read)),
             "hierarchy -top core_proof", "proc", "flatten", "async2sync", "chformal -lower", "opt_clean",
             "setundef -undriven -anyseq", "opt", "memory_collect", "memory_nordff", "memory_map", "opt_clean",
             "setundef -init -zero", "opt -full", "techmap", "simplemap", "dffunmap", "opt_expr", "opt_merge", "opt_clean",
             "setundef -anyseq -undriven", "aigmap", "opt_clean", "select -write asserts.txt t:$assert",
             "write_aiger -I -B -zinit -no-startoffset m.aig"]
    yosys(lines, folder)
    # A fault is found in the netlist as it is.
    reduce = "" if faults else "scorr; scleanup; dc2; lcorr; scleanup; "
    run([ABC, "-c", f"read_aiger m.aig; fold; strash; scleanup; {reduce}write_aiger s.aig"], cwd=folder)
    return (folder / "asserts.txt").read_text().split()


def outputs(path):
    """The literals of an AIGER file's outputs: 0 is never, 1 always."""
    with path.open("rb") as aiger:
        latches, count = map(int, aiger.readline().split()[3:5])
        for _ in range(latches):
            aiger.readline()
        return [int(aiger.readline()) for _ in range(count)]


def bounded(folder, index, frames, conflicts):
    """Tries one output for `frames` cycles, or until the solver has met so many conflicts. Returns the cycles for which it is
    proved, or minus the cycle in which it fails."""
    words = f"&read s.aig; &cone -O {index}; &scl; &put; bmc3 -F {frames} -C {conflicts}"
    said = subprocess.run([ABC, "-c", words], cwd=folder, capture_output=True, text=True, check=False).stdout
    failed, proved = re.search(r"was asserted in frame (\d+)", said), re.search(r"No output asserted in (\d+) frames", said)
    if failed:
        return -int(failed[1])
    if not proved:
        raise SystemExit(f"{folder.name}, output {index}: no answer\n{said}")
    return int(proved[1])


def forever(folder, index, frames):
    """Whether one output is proved for all time: by property-directed reachability, on an abstraction with only the part of the
    core that a proof for `frames` cycles needs; the rest is unconstrained. A limit on frames bounds the time."""
    words = f"&read s.aig; &cone -O {index}; &scl; &gla -F {frames} -C 2000; &gla_derive; &put; scleanup; pdr -F 25"
    said = subprocess.run([ABC, "-c", words], cwd=folder, capture_output=True, text=True, check=False).stdout
    return "Property proved" in said


def solve(mode, flight, frames, conflicts, faults=(), only=""):
    """Proves a core, or those of its assertions whose names end in `only`. Returns, for each, None if it holds for all time, or
    what `bounded` says."""
    folder = BUILD / "whole" / (f"{mode}-{flight}" + "-fault" * bool(faults))
    asserts = [name.removeprefix("core_proof/") for name in netlist(mode, flight, folder, faults)]
    literals = outputs(folder / "s.aig")
    if len(literals) != len(asserts):
        raise SystemExit(f"{mode}: {len(literals)} outputs of {len(asserts)} assertions")
    found = {}
    for index, (name, literal) in enumerate(zip(asserts, literals, strict=True)):
        if name.endswith(only):
            effort = next((effort for short, effort in EFFORT.items() if named(name, short)), 1 if "." in name else 4)
            found[name] = {0: None, 1: -1}[literal] if literal < 2 else bounded(folder, index, frames, effort * conflicts)
            if found[name] == frames and "." in name and forever(folder, index, frames):
                found[name] = None
    return found


def named(full, name):
    """Whether `name` is that of an assertion: the whole name for those of core_proof, its end for those within a core."""
    return full == name or ("." in name and full.endswith(f".{name}"))


def check(longer=1, conflicts=2000):
    """Fails if an assertion of a core can fail within the cycles of RUNS, times `longer`, or if the solver gives up before the cycle in
    which a planted fault shows."""
    with ThreadPoolExecutor(2) as pool:  # each is a process of its own
        every = pool.map(lambda one: solve(one[0], one[1], longer * one[2], conflicts), RUNS)
    for (mode, flight, _), found in zip(RUNS, every, strict=True):
        wrong = {name: -cycle for name, cycle in found.items() if cycle is not None and cycle < 0}
        if wrong:
            raise SystemExit(f"{mode}: " + ", ".join(f"{name} fails in cycle {cycle}" for name, cycle in wrong.items()))
        cycles = {name: cycle for name, cycle in found.items() if cycle is not None}
        shows = {full: cycle for name, cycle in shown(mode).items() for full in found if named(full, name)}
        unknown = [name for name in shown(mode) if not any(named(full, name) for full in found)]
        short = {name: cycles[name] for name, cycle in shows.items() if cycles.get(name, cycle + 1) <= cycle}
        if short or len(found) - len(cycles) < ALWAYS[mode] or unknown:
            raise SystemExit(f"{mode}: {len(found) - len(cycles)} assertions for all time, of at least {ALWAYS[mode]}, and for so many "
                             f"cycles {short}: faults show only later, in {shows}; no assertion: {unknown}")
        ports = ", ".join(f"{name} {cycle}" for name, cycle in cycles.items() if "." not in name)
        inside = [cycle for name, cycle in cycles.items() if "." in name]
        print(f"the whole core, {mode}, {flight} packets: {len(found) - len(cycles)} of {len(found)} assertions proved for all time; "
              f"for so many cycles from reset those on the ports: {ports}; the others: {min(inside)} to {max(inside)}", flush=True)


QUEUE = ("lib/fifo.sv", "some_q && (!valid_o || pop_i);", "some_q;")  # a waiting word changes
STUCK = ("lib/fifo_late.sv", "<= front_d != '0;", "<= front_d > 2'd1;")  # the last word stays for ever
SILENT = ("mode/tag_check.sv", "else valid_q <= {valid_q[1:0], hash_valid};", "else valid_q <= '0;")  # no verdict comes
ROOM = ("lib/fifo_late.sv", "near_full_o <= back_q >= (PtrW+1)'(Depth - Cfg.slack - 5);", "near_full_o <= 1'b0;")  # pushed on when full
BEYOND = ("mode/frame_fit.sv", "busy_d = next_valid_i || (busy_q && !push_o);",
          "busy_d = next_valid_i || busy_q;")  # data goes on behind the last beat of the last packet
# Planted faults: core, Flight, the assertion that must fail, the cycle in which it first can, file, its text, and the faulty text. A
# proof of an assertion must go beyond that cycle.
FAULTS = [
    ("gcm", 16, "Text", 34, *QUEUE),
    ("gcm", 16, "Verdict", 45, *QUEUE),
    ("gcm", 16, "One", 45, "mode/tag_check.sv", "{valid_q[1:0], hash_valid};", "{valid_q[1:0], hash_valid || valid_q[0]};"),
    ("gcm", 16, "Order", 44, "mode/gcm_core.sv", "<= beat_q.has_text &&", "<= beat.has_text &&"),  # what the next packet has
    ("gcm", 16, "Beat", 35, "mode/gcm_core.sv", "valid_q && beat_q.text && !beat_q.refused;",
     "valid_q && beat_q.text;"),  # text of a packet that was refused
    ("gcm", 16, "Last", 34, "mode/gcm_control.sv", "now_q.beats == BlockW'(1);", "now_q.beats == BlockW'(2);"),
    ("gcm", 16, "Data", 35, "mode/frame_in.sv", "else push_q <= push;", "else push_q <= push && !push_q;"),  # a beat is lost
    ("gcm", 16, "Ends", 40, *STUCK),
    ("gcm", 16, "Ends", 55, *SILENT),
    ("gcm", 16, "Frame", 19, *BEYOND),
    ("gcm", 16, "u_info.Full", 22, "lib/key_guard.sv", "CountW'(Flight - 8)", "CountW'(Flight)"),
    ("gcm", 16, "u_beats.u_data.Full", 30, *ROOM),
    ("gcm", 16, "u_beats.u_flags.Full", 31, *ROOM),
    ("gcm", 16, "u_ghash.Full", 39, *ROOM),
    ("ocb", 16, "Text", 50, *QUEUE),
    ("ocb", 16, "Verdict", 70, *QUEUE),
    ("ocb", 16, "Data", 50, "mode/ocb_core.sv", "latency(Cfg.pipe) - Late)", "latency(Cfg.pipe) - Late + 1)"),  # masks come late
    ("ocb", 16, "Last", 50, "mode/ocb_control.sv", "now_q.beats == BlockW'(1);", "now_q.beats == BlockW'(2);"),
    ("ocb", 16, "Frame", 19, *BEYOND),
    ("ocb", 16, "Beat", 51, "mode/ocb_control.sv", "|(step_q4.there & ~step_q4.ad) && !step_q4.refused;",
     "|(step_q4.there & ~step_q4.ad);"),  # text of a packet that was refused
    ("ocb", 16, "One", 70, "mode/ocb_sums.sv", "valid_q[3] && about_q3.ends;", "valid_q[3];"),  # a tag after every beat
    ("ocb", 16, "Order", 69, "mode/ocb_sums.sv", "about_q3.has_text;", "about_q2.has_text;"),  # what the next packet has
    ("ocb", 16, "u_in.u_beats.Full", 35, *ROOM),
    ("ocb", 16, "u_beats.u_data.Full", 61, *ROOM),
    ("ocb", 16, "u_beats.u_flags.Full", 62, *ROOM),
    ("ocb", 16, "Ends", 76, *STUCK),
    ("ocb", 16, "Ends", 91, *SILENT),
]


def shown(mode):
    """The assertions with planted faults, on a core's ports and on its queues, each with the last cycle in which one of its faults
    shows."""
    found = {}
    for one, _, name, cycle, *_ in FAULTS:
        if one == mode:
            found[name] = max(cycle, found.get(name, 0))
    return found


def faults(frames=140, conflicts=200_000):
    """Fails unless every planted fault makes its assertion fail, and in the cycle that FAULTS says."""
    for mode, flight, name, wanted, *fault in FAULTS:
        found = solve(mode, flight, frames, conflicts, [tuple(fault)], name)
        cycle = min((cycle for cycle in found.values() if cycle is not None), default=0)
        if len(found) == 0 or cycle >= 0:
            raise SystemExit(f"{mode}: {name} still holds with '{fault[2]}' in {fault[0]}")
        if -cycle != wanted:
            raise SystemExit(f"{mode}: {name} fails in cycle {-cycle} with '{fault[2]}' in {fault[0]}, not in {wanted}")
        print(f"{mode}: {name} fails in cycle {-cycle} with '{fault[2]}' in {fault[0]}", flush=True)
