"""Tests the stream protocol of a Verilated core with cocotb."""

import sys
from pathlib import Path

from . import golden
from .cores import Core
from .sim import cases
from .tools import BUILD, RTL, sources

CORES = [Core("gcm", "aes128", 1), Core("ocb", "aes128", 1)]


def check(generator):
    """Fails if cocotb reports a failed test, or no test."""
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    BUILD.mkdir(exist_ok=True)
    sys.path.insert(0, str(RTL / "sim"))  # the runner passes this path on
    for core in CORES:
        folder = BUILD / f"protocol-{core.name}"
        path = cases(generator, [core.suite, 11, 1500], f"protocol-{core.name}")
        computed = golden.answers(path, core.suite)
        print(f"{core.name}: {computed or 'no'} answers by the Python package", flush=True)
        runner = get_runner("verilator")
        runner.build(sources=[RTL / "sim" / "lint.vlt", *sources()], hdl_toplevel="sealwright_axis", build_dir=folder,
                     parameters=core.parameters, always=True,
                     build_args=["--assert", "-Wno-fatal", "-CFLAGS", "-O1", "-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0"],
                     log_file=BUILD / f"protocol-{core.name}.log")
        results = runner.test(hdl_toplevel="sealwright_axis", test_module="test_protocol", build_dir=folder,
                              extra_env={"CASES": str(path), "LANES": str(core.lanes)},
                              log_file=BUILD / f"protocol-{core.name}-run.log")
        tests, failed = get_results(Path(results))
        if failed or not tests:
            raise SystemExit(f"{core.name}: {failed} of {tests} protocol tests failed")
        print(f"{core.name}: {tests} protocol tests passed", flush=True)
