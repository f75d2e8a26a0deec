"""Lint: Verilator with all warnings for every core, Verible for style, and slang as a second compiler."""

from .cores import Core
from .tools import BIN, RTL, run, sources

CORES = [
    Core("gcm", "aes128", 4, "table", 0),
    Core("gcm", "serpent", 1),
    Core("gcm", "aes256", 2, "composite", 3, depth=3, slots=1),
    Core("ocb", "aes128", 4, "rom", 2),
    Core("ocb", "serpent", 2),
    Core("ocb", "aes256", 1, "composite", 0, slots=1),
]

RULES = "-line-length,-explicit-parameter-storage-type,-parameter-name-style,-always-comb,-unpacked-dimensions-range-ordering"


def check():
    """Fails at the first message of a tool."""
    for core in CORES:
        words = ["verilator", "--lint-only", "-Wall", "--top-module", "sealwright_axis"]
        words += [f"-G{name}={value}" for name, value in core.parameters.items()]
        run([*words, RTL / "sim" / "lint.vlt", *sources()])
    for top in ("shu",):
        if (RTL / "bus" / f"{top}.sv").exists():
            run(["verilator", "--lint-only", "-Wall", "--top-module", top, RTL / "sim" / "lint.vlt", *sources()])
    run([BIN / "verible-verilog-lint", f"--rules={RULES}", *sources()])
    import pyslang

    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    words = " ".join(["slang", "--top", "sealwright_axis", *map(str, sources())])
    if not (driver.parseCommandLine(words) and driver.processOptions() and driver.parseAllSources()):
        raise SystemExit("slang could not read the sources")
    if not driver.runFullCompilation():
        raise SystemExit("slang found errors")
    return len(CORES)
