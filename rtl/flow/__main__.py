# SPDX-License-Identifier: MIT OR Apache-2.0
"""python -m flow COMMAND"""

import argparse
import time

from . import (attack, coverage, fusesoc, lint, litex, mutate, pace, plan, protocol, prove, registers, regression, results,
               synth, tools, wave, whole)


def main():
    """Runs the command that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m flow", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lint", help="check the sources with Verilator, Verible and slang")
    proofs = commands.add_parser("prove", help="prove the multiplier, the S-boxes, the queues, the slice, and whole cores")
    proofs.add_argument("--faults", action="store_true", help="only: show that the proofs of whole cores notice faults")
    commands.add_parser("results", help="check that results/ belongs to these sources")
    commands.add_parser("registers", help="make everything that is made of axi/registers.json, and the IP-XACT components")
    attacks = commands.add_parser(
        "attack", help="put the first design's faults back into a copy, and attack it and the core as it is")
    attacks.add_argument("--short", action="store_true", help="the copy alone: `protocol` attacks the core as it is")
    commands.add_parser("plan", help="run the cycle model of cores for 400 and 800 Gbit/s")
    synthesis = commands.add_parser("synth", help="make missing and outdated results but the regression; takes hours")
    synthesis.add_argument("--jobs", type=int, default=1, help="number of parallel jobs; each needs about 2 GB")
    seeds = synthesis.add_mutually_exclusive_group()
    seeds.add_argument("--seeds", type=int, default=10, help="seeds of place and route for each result: 1 to this number")
    seeds.add_argument("--seed", type=int, action="append", help="a seed of place and route, once or more")
    synthesis.add_argument("--lanes", type=int, choices=(1, 4), action="append", help="lanes that are routed; without it 1")
    synthesis.add_argument("--only", action="append", default=[], help="results whose names contain this: ecp5-gcm-aes128-1")
    for name, words in (
        ("test", "run the reduced regression of the test command"),
        ("full", "run the full regression and write results/regression.json"),
        ("coverage", "run a core of each mode, and print which lines, branches and toggles occurred"),
        ("pace", "simulate packets of equal length without a stall, and print bits per cycle"),
        ("fusesoc", "check and simulate a core as FuseSoC builds it"),
        ("litex", "simulate the LiteX wrapper"),
        ("protocol", "test the stream protocol with cocotb"),
        ("wave", "draw one packet on its way through each core: docs/wave-*.svg"),
    ):
        command = commands.add_parser(name, help=words)
        command.add_argument("cases", help="the program rtl_cases")
        if name == "coverage":
            command.add_argument("--blocks", type=int, default=20_000, help="number of random blocks")
        if name == "full":
            command.add_argument("--lines", type=int, default=100_000, help="lines through the bus unit: 1000000 take minutes")
            command.add_argument("--only", action="append", default=[], help="cores whose parameters contain this: gcm-aes128-4")
            command.add_argument("--mutants", type=int, default=120, help="mutants that are tried at the end")
            command.add_argument("--jobs", type=int, default=1, help="number of parallel jobs for mutants")
    mutation = commands.add_parser("mutate", help="change the control logic at random, and count the changes that tests notice")
    mutation.add_argument("cases", help="the program rtl_cases")
    mutation.add_argument("--count", type=int, default=120, help="number of mutants; half a minute of processor time each")
    mutation.add_argument("--jobs", type=int, default=1, help="number of parallel jobs")
    mutation.add_argument("--seed", type=int, default=1, help="which mutants are drawn")
    mutation.add_argument("--only", action="append", default=[], help="files whose names contain this: key_guard")
    args = parser.parse_args()
    tools.prepare()
    start = time.time()
    match args.command:
        case "lint":
            print(f"{lint.check()} parameter sets clean")
        case "prove" if args.faults:
            whole.faults()
        case "prove":
            prove.check()
            whole.check()
        case "results":
            results.check()
        case "attack":
            attack.check(args.short)
        case "plan":
            plan.table()
        case "registers":
            registers.make()
        case "synth":
            synth.every(args.jobs, args.seed or range(1, args.seeds + 1), args.lanes or (1,), args.only)
        case "protocol":
            protocol.check(args.cases)
        case "mutate":
            if args.only or args.seed != 1 or args.count < 100:  # no score to keep
                mutate.check(args.cases, args.count, args.jobs, args.seed, args.only)
            else:
                regression.mutated(args.cases, args.count, args.jobs)
        case "coverage":
            coverage.table(args.cases, args.blocks)
        case "pace":
            pace.table(args.cases)
        case "fusesoc":
            fusesoc.check(args.cases)
        case "litex":
            litex.check(args.cases)
        case "wave":
            wave.every(args.cases)
        case _:
            regression.run(args.cases, args.command == "full", getattr(args, "only", ()), getattr(args, "lines", 0),
                           getattr(args, "mutants", 0), getattr(args, "jobs", 1))
    print(f"{args.command}: {time.time() - start:.0f} s")


main()
