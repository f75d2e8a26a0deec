# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks and simulates a core as FuseSoC builds it, from sealwright.core alone."""

import json
import shutil
import tempfile
from pathlib import Path

from . import closure
from .cores import BUS, Core
from .sim import cases
from .tools import BUILD, RTL, run

CORE = Core("gcm", "aes128", 1, number=16)
NAME = "sealwright:crypto:sealwright"


def build(target, *words, parameters=CORE.of_streams):
    """Runs a target with `parameters` (default: those of CORE); returns its output."""
    parameters = [f"--{name}={value}" for name, value in parameters.items()]
    return run(["fusesoc", "--cores-root", RTL, "run", "--build-root", BUILD / "fusesoc", f"--target={target}", NAME,
                *parameters, *words])


# A design that depends on the core, and whose top has a parameter with the same name as one of the core.
DEPENDENT = {
    "dependent.core": f"""CAPI=2:
name: example:soc:dependent:1.0.0
filesets:
  rtl: {{files: [dependent.sv], file_type: systemVerilogSource, depend: ["{NAME}"]}}
targets:
  lint: {{filesets: [rtl], toplevel: dependent, flow: lint, flow_options: {{tool: verilator}}}}
""",
    "dependent.sv": """module dependent #(parameter int Mode = 7) (input clk_i);
  if (Mode != 7) $error("a parameter of the core was set");
  wire unused = sealwright_pkg::ModeGcm & clk_i;
endmodule
""",
}


def dependent():
    """Fails if a design that depends on the core does not build, or if its parameters are set to those of the core."""
    folder = Path(tempfile.mkdtemp())
    for name, text in DEPENDENT.items():
        (folder / name).write_text(text)
    run(["fusesoc", "--cores-root", RTL, "--cores-root", folder, "run", "--build-root", BUILD / "fusesoc", "--target=lint",
         "example:soc:dependent"])
    shutil.rmtree(folder)


def check(generator):
    """Fails if lint, the build or the comparison with the library fails, or if no packet was compared."""
    shutil.rmtree(BUILD / "fusesoc", ignore_errors=True)
    for target in ("lint", "lint_axi"):
        build(target)
    build("lint_bus", parameters=closure.top(BUS)[1])
    dependent()
    path = cases(generator, [CORE.suite, 5, 4_000], "fusesoc")
    printed = build("sim", f"--run_options={path} 1")
    counts = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    if len(counts) != 1 or not counts[0]["packets"]:
        raise SystemExit("the simulation that FuseSoC built compared no packet")
    print(f"{CORE.name} by FuseSoC: lint, and {counts[0]['packets']} packets equal to the library's")
