# SPDX-License-Identifier: MIT OR Apache-2.0
"""Mutation: whether the tests notice a small change of the control and compare logic.

A mutant is the sources with one operator or constant changed. It is killed if the solver finds a counterexample to a proof of its module
(some of which say what registers within hold, also where no port shows it), the
comparison with the library or a protocol test fails, an assertion ends one of these, or nothing comes out any more, which they notice
by themselves. What erases keys and the unit of a bus node have the search for erased keys too, the registers of AXI-Lite their protocol
tests. Mutants that do not compile do not count, nor do those that nothing notices and for which a tool fails or takes too long: that may
be the machine's fault, and they are tried again the next time.
"""

import json
import random
import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from . import closure, erase, protocol, prove, sim
from .cores import Core
from .tools import BUILD, HEADERS, RTL, sources

SMALL = {"gcm": Core("gcm", "aes128", 2, depth=2), "ocb": Core("ocb", "aes128", 2),
         "ocb4": Core("ocb", "aes128", 4), "held": Core("gcm", "aes128", 2, depth=2, hold=1000),
         "kept": Core("ocb", "aes128", 1, slots=1, keep=1), "swept": Core("gcm", "aes128", 1, slots=2, keep=1),
         "numbered": Core("ocb", "aes128", 1, number=9)}
# Where mutants are made, and which cores can notice them.
WHERE = {
    "lib/fifo.sv": ("gcm",), "lib/fifo_late.sv": ("ocb",), "lib/key_setup.sv": ("ocb",),
    "lib/key_guard.sv": ("gcm", "kept", "swept", "erase"), "mode/key_sweep.sv": ("swept", "kept"),
    "ghash/ghash_stride.sv": ("gcm",), "ghash/ghash_powers.sv": ("gcm",),
    "mode/packet_lengths.sv": ("gcm", "ocb"), "mode/frame_in.sv": ("gcm", "numbered"), "mode/frame_number.sv": ("numbered",),
    "mode/frame_status.sv": ("ocb",),
    "mode/tag_check.sv": ("gcm",), "mode/gcm_keystream.sv": ("gcm",), "mode/gcm_control.sv": ("gcm",),
    "mode/gcm_core.sv": ("gcm",), "mode/ocb_tables.sv": ("ocb",), "mode/ocb_nonce.sv": ("ocb",),
    "mode/ocb_control.sv": ("ocb", "ocb4"), "mode/ocb_sums.sv": ("ocb", "kept"), "mode/ocb_core.sv": ("ocb",),
    "lib/slice.sv": ("gcm",), "lib/fifo_port.sv": ("gcm",), "mode/frame_fit.sv": ("gcm", "numbered"), "mode/text_hold.sv": ("held",),
    "mode/packet_beats.sv": ("gcm",), "mode/command_in.sv": ("ocb",),
    "bus/shu.sv": ("shu",), "axi/sealwright_axil.sv": ("axil",),
}
# What is changed, and into what. A comparison "less or equal" cannot be told from an assignment at the start of a statement.
CHANGES = [
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "), (r" >= ", " > "), (r" > ", " >= "),
    (r" < ", " <= "), (r" \+ ", " - "), (r" - ", " + "), (r"!(?=[a-z])", ""), (r"1'b1", "1'b0"), (r"1'b0", "1'b1"),
    (r"'\(1\)", "'(2)"), (r"'\(2\)", "'(1)"), (r" \^ ", " | "), (r" \| ", " & "), (r" & ", " | "),
]

UNTOLD = ("timeout", "failed")  # verdicts that say nothing of a mutant


def about():
    """The hashes of what verdicts are about: the sources, and all that can notice a change of them."""
    return [closure.simulated("bus", "axi"), closure.checks()]


def mutants():
    """Every mutant: its file, its line (from 0), and the line as changed."""
    for name in WHERE:
        within, asserts = False, False
        for number, line in enumerate((RTL / name).read_text().splitlines()):
            code = line.split("//")[0]
            within = within or code.startswith(") (") or code.strip() == ");"
            # Ports, parameters, assertions and attributes are no logic. An assertion may take several lines.
            skips = asserts = asserts or code.strip().startswith("`SEALWRIGHT")
            asserts = asserts and not code.rstrip().endswith(")")
            if skips or not within or re.match(r"\s*(assert|localparam|parameter|typedef|for|`|\(\*|import)", code):
                continue
            for pattern, to in CHANGES:
                for match in re.finditer(pattern, code):
                    yield name, number, code[:match.start()] + to + code[match.end():]


def compiles(mode, files):
    """Whether Verilator takes the files."""
    parameters = SMALL[mode].of_streams if mode in SMALL else {}
    top = {"shu": "shu", "axil": "sealwright_axil"}.get(mode, "sealwright_axis")
    words = ["verilator", f"-I{HEADERS}", "--lint-only", "-Wno-fatal", "--top-module", top,
             *(f"-G{name}={value}" for name, value in parameters.items()), RTL / "sim" / "lint.vlt", *files]
    return not fails(words)


def fails(words, seconds=120):
    """Whether a program fails by itself; SystemExit if somebody else ended it, as where memory runs out, which says nothing."""
    code = sim.quietly(words, seconds)
    if erase.from_outside(code):
        raise SystemExit(f"{words[0]} was ended from outside: {code}")
    return code != 0


def disproved(proofs, name, changed, folder, failed=()):
    """Whether the solver disproves one of `proofs` that is about the file `name` for `changed`; its log is in `folder`. What a tool says
    that fails for changed sources, as Yosys does for a reset that it does not know, is added to `failed`: the simulations may tell."""
    for title, (files, top, question) in proofs.items():
        if name in files:
            try:
                prove.solve(title, [changed if file == name else file for file in files], top, question, folder)
            except prove.Disproved:
                return True
            except prove.Undecided as told:  # the simulations may tell; no proof of the sources as they are may end so
                if changed == name:
                    raise
                print(told, flush=True)
            except SystemExit as told:
                if changed == name:
                    raise
                failed.append(told)
    return False


def noticed(mode, number, files, generator, blocks):
    """Whether the comparison with the library, or a protocol test, fails for a core of these files."""
    folder = BUILD / "mutants" / str(number)
    folder.mkdir(parents=True, exist_ok=True)
    if mode == "shu":
        path = sim.cases(generator, ["shu", number, 2_000], f"mutants/{number}/shu")
        if fails([sim.bus_model(folder / mode, files), path, number]):
            return True
        program = sim.bus_model(folder / "erase", files, "erase_shu")
        try:  # keys that stay change no line
            erase.bus(program)
        except erase.Noticed:
            return True
        return False
    if mode == "axil":
        return not all(protocol.registers(f"registers {one}", folder / mode, built, files)
                       for one, built in enumerate(protocol.REGISTERS, 1))
    if mode == "erase":
        try:
            erase.found(erase.CORES[0], files, folder / mode)
        except erase.Noticed:
            return True
        return False
    core = SMALL[mode]
    program = sim.model(core, folder=folder / mode, files=files)
    path = sim.cases(generator, [core.suite, number, blocks], f"mutants/{number}/{mode}")
    if fails([program, path, number]):
        return True
    # The protocol tests have packets of every length.
    core = replace(core, hold=65535 if core.hold else 0)
    return not protocol.passes(core, generator, folder / f"protocol-{mode}", files)


def verdict(number, mutant, generator, blocks):
    """`killed`, `survived`, `stillborn`, or if that cannot be told `failed` (a tool) or `timeout`."""
    name, line, text = mutant
    folder = BUILD / "mutants" / str(number)
    folder.mkdir(parents=True, exist_ok=True)
    lines = (RTL / name).read_text().splitlines()
    lines[line] = text
    (folder / name.split("/")[-1]).write_text("\n".join([*lines, ""]))
    files = [folder / path.name if path == RTL / name else path for path in sources()]
    failed = []
    try:
        if not compiles(WHERE[name][0], files):
            return "stillborn"
        changed = folder / name.split("/")[-1]
        if disproved(prove.SOLVED, name, changed, folder, failed) or any(
                noticed(mode, number, files, generator, blocks) for mode in WHERE[name]):
            return "killed"
        # These take minutes.
        if disproved(prove.LONG, name, changed, folder, failed):
            return "killed"
        if failed:
            raise failed[0]
    except SystemExit as error:
        print(f"{number}: {error}", flush=True)
        return "failed"
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        subprocess.run(["rm", "-rf", *(str(folder / mode) for mode in (*WHERE[name], "erase"))], check=False)
    return "survived"


def check(generator, count, jobs, seed=1, only=(), blocks=6000):
    """Tries `count` mutants, drawn with `seed`, of the files whose names contain one of `only`, or all. Returns the score, and
    writes it to build/mutation.json. Verdicts on these sources are kept in results/mutants: an interrupted run goes on, anywhere."""
    every = [one for one in mutants() if not only or any(word in one[0] for word in only)]
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    kept = RTL / "results" / "mutants" / "verdicts.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    made = about()
    if known.get("sources_sha256") != made:
        known = {"sources_sha256": made, "passed": []}
    # A test or a proof that fails for the sources as they are would notice every mutant.
    files = {name for name, _, _ in chosen} - set(known["passed"])
    modes = {mode for name in files for mode in WHERE[name]}
    broken = [mode for mode in sorted(modes) if noticed(mode, 0, sources(), generator, blocks)]
    broken += [name for name in sorted(files) for proofs in (prove.SOLVED, prove.LONG) if disproved(proofs, name, name, BUILD)]
    if broken:
        raise SystemExit(f"the sources fail without a change: {', '.join(broken)}")
    known["passed"] += sorted(files)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(known, indent=1) + "\n")
    lock = threading.Lock()

    def judged(one):
        number, (name, line, text) = one
        what = f"{name}:{line + 1}: {text.strip()}"
        if what not in known:
            found = verdict(number, one[1], generator, blocks)
            print(f"{number}: {found}: {what}", flush=True)
            if found in UNTOLD:
                return what, found
            with lock:
                known[what] = found
                kept.write_text(json.dumps(known, indent=1) + "\n")
        return what, known[what]

    with ThreadPoolExecutor(jobs) as pool:
        verdicts = list(pool.map(judged, enumerate(chosen, 1)))
    counts = {kind: sum(found == kind for _, found in verdicts) for kind in ("killed", "survived", "stillborn", *UNTOLD)}
    found = {"of": len(every), **counts, "survivors": [what for what, kind in verdicts if kind == "survived"],
             "untold": [what for what, kind in verdicts if kind in UNTOLD]}
    (BUILD / "mutation.json").write_text(json.dumps(found, indent=1) + "\n")
    print(f"{counts['killed']} of {counts['killed'] + counts['survived']} mutants killed, {counts['stillborn']} did not compile, "
          f"{counts['timeout']} took too long, tools failed for {counts['failed']}")
    return found
