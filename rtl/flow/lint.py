# SPDX-License-Identifier: MIT OR Apache-2.0
"""Lint: Verilator with all warnings for every core, Verible for style, and slang as a second compiler."""

import re
import subprocess

from . import ipxact, registers
from .cores import Core
from .tools import BIN, HEADERS, RTL, headers, run, sources, version

CORES = [
    Core("gcm", "aes128", 4, "table", 0),
    Core("gcm", "aes128", 4, "table", 0, slots=8, hold=2048, number=9),
    Core("gcm", "serpent", 1),
    Core("gcm", "aes256", 1, "composite", 3, depth=3, slots=1),
    Core("ocb", "aes128", 2, "rom", 2),
    Core("ocb", "serpent", 2),
    Core("ocb", "aes256", 1, "composite", 0, slots=1),
    Core("ocb", "aes256", 4, slots=1, opens=0),
    Core("gcm", "aes128", 1, slots=2, keep=1, number=12),
    Core("ocb", "aes128", 1, hold=65535, number=16),
]

RULES = "-line-length,-explicit-parameter-storage-type,-parameter-name-style,-always-comb,-unpacked-dimensions-range-ordering"


# Parameters that must stop elaboration, by top module, with the parameter that the error must name.
BAD = {
    "sealwright_axis": [
        ("Lanes", {"Lanes": 3}), ("Lanes", {"Lanes": 0}), ("Lanes", {"Lanes": 8}), ("Depth", {"Depth": 7}), ("Depth", {"Depth": 0}),
        ("Cut", {"Cut": 5}), ("Cut", {"Cipher": 2, "Cut": 2}), ("Cut", {"Sbox": 1, "Cut": 0}),
        ("Cut", {"Cipher": 2, "Sbox": 1, "Cut": 0}), ("Slots", {"Slots": 3}), ("Slots", {"Slots": 0}), ("Slots", {"Slots": 512}),
        ("Sbox", {"Sbox": 3}), ("Cipher", {"Cipher": 3}), ("Mode", {"Mode": 2}),
        ("Hold", {"Hold": 70000}), ("Tag", {"Tag": 3}), ("Tag", {"Tag": 17}), ("Tag", {"Mode": 1, "Tag": 4}), ("Keep", {"Keep": 2}),
        ("Keep", {"Opens": 2}), *(("Tag", {"Tag": tag}) for tag in (5, 6, 7, 9, 10, 11)), ("Tag", {"Mode": 1, "Tag": 13}),
        ("Number", {"Number": 8}), ("Number", {"Number": 17}),
    ],
    "shu": [("Nodes", {"Nodes": 6}), ("Nodes", {"Nodes": 1}), ("Nodes", {"Nodes": 512}), ("Pads", {"Pads": 1}), ("Pads", {"Pads": 65}),
            ("Cut", {"Sbox": 2, "Cut": 5}), ("Cut", {"Sbox": 1}), ("Sbox", {"Sbox": 3})],
    "sealwright_axil": [
        ("Slots", {"Slots": 3}), ("Slots", {"Slots": 512}), ("Mode", {"Mode": 2}), ("Cipher", {"Cipher": 3}), ("Lanes", {"Lanes": 3}),
        ("Tag", {"Tag": 5}), ("Tag", {"Tag": 32}), ("Tag", {"Mode": 1, "Tag": 13}), ("Keep", {"Keep": 2}), ("Keep", {"Opens": 2}),
        ("Hold", {"Hold": 70000}), ("Number", {"Number": 8}), ("Number", {"Number": 17}),
    ],
    "sealwright_axi": [("Slots", {"Slots": 3}), ("Lanes", {"Lanes": 3}), ("Tag", {"Tag": 5}), ("Hold", {"Hold": 70000}),
                       ("Number", {"Number": 8})],
    "cipher_halves": [("Cipher", {"Cipher": 2}), ("Cut", {"Cut": 0}), ("Cut", {"Cut": 5}), ("Lanes", {"Lanes": 3}),
                      ("Lanes", {"Lanes": 1}), ("Slots", {"Slots": 3})],
}
# Other parameters of the tops than their defaults, with which they are linted too.
TOPS = [("shu", {}), ("shu", {"Sbox": 2, "Cut": 4}), ("shu", {"Sbox": 1, "Cut": 1, "Nodes": 2, "Pads": 64}), ("sealwright_axil", {}),
        ("sealwright_axil", {"Slots": 1, "Number": 0}), ("sealwright_axi", {}), ("sealwright_axi", {"Mode": 1, "Lanes": 1, "Number": 0})]
HALVES = RTL / "syn" / "cipher_halves.sv"  # which files.f does not list


COLUMNS = 100


def written():
    """Every SystemVerilog file."""
    others = [*sorted((RTL / "syn").glob("*.sv")), *sorted((RTL / "formal").glob("*.sv"))]
    return [*sources(), *headers(), *others]


def refused(top, name, values):
    """Fails if Verilator accepts these parameters, or if its error does not name the wrong one."""
    built = values if top == "shu" else {"Lanes": 2 if top == "cipher_halves" else 1, **values}  # half the time of four lanes
    words = ["verilator", f"-I{HEADERS}", "--lint-only", "--top-module", top, *(f"-G{n}={v}" for n, v in built.items())]
    done = subprocess.run([*words, str(RTL / "sim" / "lint.vlt"), *map(str, sources()),
                           *[str(HALVES)] * (top == "cipher_halves")], capture_output=True, text=True,
                          check=False)
    if not done.returncode or f"{name} must be" not in done.stderr:
        raise SystemExit(f"{top}: {values}: {'accepted' if not done.returncode else 'refused without naming ' + name}")


def check():
    """Fails at the first message of a tool."""
    for core in CORES:
        words = ["verilator", f"-I{HEADERS}", "--lint-only", "-Wall", "--top-module", "sealwright_axis"]
        words += [f"-G{name}={value}" for name, value in core.of_streams.items()]
        run([*words, RTL / "sim" / "lint.vlt", *sources()])
    registers.check()
    registers.compiles()
    core = (RTL / "sealwright.core").read_text()
    if f"\nname: sealwright:crypto:sealwright:{version()}\n" not in core:
        raise SystemExit(f"the version in sealwright.core differs from that in Cargo.toml, {version()}")
    listed = re.findall(r"^ +- (\S+\.sv)$", core, re.M)
    if listed != (RTL / "files.f").read_text().split():
        raise SystemExit("sealwright.core and files.f list different files")
    if ipxact.parameters(ipxact.source("sealwright_axi")) != ipxact.parameters(ipxact.source("sealwright_axis")):
        raise SystemExit("sealwright_axi and sealwright_axis have different parameters")
    for top, values in TOPS:
        built = [f"-G{name}={value}" for name, value in values.items()]
        run(["verilator", f"-I{HEADERS}", "--lint-only", "-Wall", "--top-module", top, *built, RTL / "sim" / "lint.vlt", *sources()])
    for top, sets in BAD.items():
        for name, values in sets:
            refused(top, name, values)
    wide = [f"{path.relative_to(RTL)}:{number}" for path in written() for number, line
            in enumerate(path.read_text().splitlines(), 1) if len(line) > COLUMNS]
    if wide:
        raise SystemExit(f"lines of more than {COLUMNS} columns: {', '.join(wide)}")
    code = [*written(), *(path for kind in ("flow/*.py", "sim/*.*", "formal/*.py", "litex/*.py") for path in sorted(RTL.glob(kind)))]
    bare = [path.relative_to(RTL).as_posix() for path in code if "SPDX-License-Identifier" not in path.read_text()[:200]]
    if bare:
        raise SystemExit(f"no SPDX line: {', '.join(bare)}")
    run([BIN / "verible-verilog-lint", f"--rules={RULES}", *sources()])
    import pyslang

    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    words = " ".join(["slang", "-I", str(HEADERS), "--top", "sealwright_axi", *map(str, sources())])
    if not (driver.parseCommandLine(words) and driver.processOptions() and driver.parseAllSources()):
        raise SystemExit("slang could not read the sources")
    if not driver.runFullCompilation():
        raise SystemExit("slang found errors")
    return len(CORES)
