"""Lint: Verilator with all warnings for every core, Verible for style, and slang as a second compiler."""

import re
import subprocess

from . import registers
from .cores import Core
from .tools import BIN, HEADERS, RTL, headers, run, sources

CORES = [
    Core("gcm", "aes128", 4, "table", 0),
    Core("gcm", "aes128", 4, "table", 0, slots=8, hold=2048),
    Core("gcm", "serpent", 1),
    Core("gcm", "aes256", 1, "composite", 3, depth=3, slots=1),
    Core("ocb", "aes128", 2, "rom", 2),
    Core("ocb", "serpent", 2),
    Core("ocb", "aes256", 1, "composite", 0, slots=1),
    Core("ocb", "aes256", 4, slots=1, opens=0),
]

RULES = "-line-length,-explicit-parameter-storage-type,-parameter-name-style,-always-comb,-unpacked-dimensions-range-ordering"


# Parameters that must stop elaboration, with the word that the error says.
BAD = {
    "Lanes": {"Lanes": 3}, "Depth": {"Depth": 7}, "Cut": {"Cut": 5}, "Slots": {"Slots": 3}, "Sbox": {"Sbox": 3},
    "Cipher": {"Cipher": 3}, "Mode": {"Mode": 2}, "Hold": {"Hold": 70000}, "Tag": {"Tag": 3},
}


COLUMNS = 100


def written():
    """Every file of SystemVerilog that a person writes."""
    others = [*sorted((RTL / "syn").glob("*.sv")), *sorted((RTL / "formal").glob("*.sv"))]
    return [*sources(), *headers(), *others]


def refused(name, values):
    """Fails if Verilator takes these parameters, or refuses them without their name."""
    words = ["verilator", f"-I{HEADERS}", "--lint-only", "--top-module", "sealwright_axis",
             *(f"-G{n}={v}" for n, v in {"Lanes": 1, **values}.items())]
    done = subprocess.run([*words, str(RTL / "sim" / "lint.vlt"), *map(str, sources())], capture_output=True, text=True,
                          check=False)
    if not done.returncode or f"{name} must be" not in done.stderr:
        raise SystemExit(f"{values}: {'taken' if not done.returncode else 'refused without a word about ' + name}")


def check():
    """Fails at the first message of a tool."""
    for core in CORES:
        words = ["verilator", f"-I{HEADERS}", "--lint-only", "-Wall", "--top-module", "sealwright_axis"]
        words += [f"-G{name}={value}" for name, value in core.parameters.items()]
        run([*words, RTL / "sim" / "lint.vlt", *sources()])
    registers.check()
    listed = re.findall(r"^ +- (\S+\.sv)$", (RTL / "sealwright.core").read_text(), re.M)
    if listed != (RTL / "files.f").read_text().split():
        raise SystemExit("sealwright.core and files.f list other files")
    for top in ("shu", "sealwright_axil"):
        run(["verilator", f"-I{HEADERS}", "--lint-only", "-Wall", "--top-module", top, RTL / "sim" / "lint.vlt", *sources()])
    for name, values in BAD.items():
        refused(name, values)
    wide = [f"{path.relative_to(RTL)}:{number}" for path in written() for number, line
            in enumerate(path.read_text().splitlines(), 1) if len(line) > COLUMNS]
    if wide:
        raise SystemExit(f"lines of more than {COLUMNS} columns: {', '.join(wide)}")
    run([BIN / "verible-verilog-lint", f"--rules={RULES}", *sources()])
    import pyslang

    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    words = " ".join(["slang", "-I", str(HEADERS), "--top", "sealwright_axis", *map(str, sources())])
    if not (driver.parseCommandLine(words) and driver.processOptions() and driver.parseAllSources()):
        raise SystemExit("slang could not read the sources")
    if not driver.runFullCompilation():
        raise SystemExit("slang found errors")
    return len(CORES)
