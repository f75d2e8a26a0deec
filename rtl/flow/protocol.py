# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests the stream protocol of a Verilated core with cocotb."""

import json
import sys
from xml.etree import ElementTree

from . import golden
from .cores import Core
from .sim import cases
from .tools import BUILD, HEADERS, RTL, skipped, sources

ONE = Core("ocb", "aes128", 1, slots=1, keep=1, number=12)
TWO = Core("gcm", "aes128", 1, slots=2, keep=1, number=16)  # a reset keeps the key of one slot and erases the other
CORES = [Core("ocb", "aes128", 1, hold=65535, number=9), Core("gcm", "aes128", 1), ONE, TWO]
JOINED = [Core("gcm", "aes128", 1, number=9), ONE, TWO]  # behind registers, which refuse a slot that is not there
# Parameters of the registers alone.
REGISTERS = [{}, {"Cipher": 2, "Lanes": 1, "Slots": 8, "Tag": 12, "Opens": 0, "Keep": 1, "Hold": 1500, "Number": 0},
             {"Mode": 1, "Cipher": 1, "Lanes": 2, "Opens": 0}]


def passes(core, generator, folder, files=None, top="sealwright_axis"):
    """Whether all tests pass on `core`, of the given files if they are not the sources; prints how many do. With the top
    `sealwright_axi` its keys go through registers, which have tests of their own."""
    path = cases(generator, [core.suite, 11, 16_000], f"protocol-{core.folder}")
    computed = golden.answers(path, core.suite)
    print(f"{core.folder}: {computed or 'no'} answers by the Python package", flush=True)
    modules = ["test_protocol", "test_faults", "test_numbers", "test_keys"] + ["test_attacks"] * (core.mode == "gcm" and not core.hold)
    modules += ["test_axil", "test_axi"] * (top == "sealwright_axi")
    built = core.of_streams
    return tested(top, f"{top} {core.folder}", modules, folder, built, files,
                  {"CASES": str(path), "LANES": str(core.lanes), "HOLD": str(core.hold), "KEEP": str(core.keep), "WEAK": "0",
                   "PARAMETERS": json.dumps(built)})


def registers(name, folder, built, files=None):
    """Whether all tests of the registers alone pass with these parameters."""
    modules = ["test_axil", "test_registers"]
    return tested("sealwright_axil", name, modules, folder, built, files, {"PARAMETERS": json.dumps(built)})


# The tests that ran in this process, and those that were skipped, as they do not apply to a design.
RAN, SKIPPED = set(), set()


def outcomes(path):
    """The tests in a file of results, by their names: whether each passed, or None if it was skipped."""
    found = {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        ends = {one.tag for one in case}
        found[f"{case.get('classname')}.{case.get('name')}"] = None if "skipped" in ends else not ends & {"failure", "error"}
    return found


def tested(top, name, modules, folder, parameters=None, files=None, env=None):
    """Whether all tests of the Python modules that apply to the module `top` pass; prints how many do."""
    from cocotb_tools.runner import get_runner

    folder.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(RTL / "sim"))  # the runner passes this path on
    runner = get_runner("verilator")
    try:
        runner.build(sources=[RTL / "sim" / "lint.vlt", *(files or sources())], hdl_toplevel=top,
                     build_dir=folder, parameters=parameters or {}, always=True,
                     includes=[HEADERS], build_args=["--assert", "-Wno-fatal", "-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0"],
                     log_file=folder / "build.log")
    except RuntimeError as error:  # of which no test says anything
        raise SystemExit(f"{name}: the model could not be built: {error}; {folder / 'build.log'} says why") from error
    try:
        results = runner.test(hdl_toplevel=top, test_module=modules, build_dir=folder, extra_env=env or {},
                              plusargs=["+verilator+rand+reset+2", "+verilator+seed+7"], log_file=folder / "run.log")
        found = outcomes(results)
    except RuntimeError as error:  # an assertion of the sources ends the simulation, which leaves no results then
        if "%Error" not in (folder / "run.log").read_text():
            raise SystemExit(f"{name}: the simulator ended: {error}; see {folder / 'run.log'}") from error
        print(f"{name}: the tests ended early: {error}; {folder / 'run.log'} says at what", flush=True)
        return False
    ran = {test: passed for test, passed in found.items() if passed is not None}
    RAN.update(ran)
    SKIPPED.update(found.keys() - ran.keys())
    others = f", {len(found) - len(ran)} do not apply" * (len(ran) < len(found))
    print(f"{name}: {sum(ran.values())} of {len(ran)} protocol tests passed{others}", flush=True)
    return bool(ran) and all(ran.values())


def check(generator):
    """Fails if cocotb reports a failed test, or no test, or if a test applies to none of the designs."""
    BUILD.mkdir(exist_ok=True)
    if golden.package() is None:
        skipped("answers of the cores by the Python package, which is not installed; cargo xtask python installs it")
    wrong = [core.name for core in CORES if not passes(core, generator, BUILD / f"protocol-{core.folder}")]
    wrong += [f"sealwright_axi {core.name}" for core in JOINED
              if not passes(core, generator, BUILD / f"protocol-axi-{core.folder}", top="sealwright_axi")]
    wrong += [f"registers {number}" for number, built in enumerate(REGISTERS, 1)
              if not registers(f"registers {number}", BUILD / f"protocol-registers-{number}", built)]
    if wrong:
        raise SystemExit(f"protocol tests failed: {', '.join(wrong)}")
    if never := SKIPPED - RAN:
        raise SystemExit(f"tests that apply to no design: {', '.join(sorted(never))}")
