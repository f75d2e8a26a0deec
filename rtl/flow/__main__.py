# SPDX-License-Identifier: MIT OR Apache-2.0
"""python -m flow COMMAND"""

import argparse
import os
import sys
import time

from . import (attack, coverage, figures, fusesoc, halves, lint, litex, mutate, pace, plan, protocol, prove, registers, regression,
               results, synth, tools, wave, whole)


def main():
    """Runs the command given on the command line."""
    parser = argparse.ArgumentParser(prog="python -m flow", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lint", help="check the sources with Verilator, Verible and slang")
    proofs = commands.add_parser("prove", help="prove the multiplier, the S-boxes, the queues, the slice, and whole cores")
    proofs.add_argument("--faults", action="store_true", help="only check that the proofs of whole cores detect faults")
    stored = commands.add_parser("results", help="check that no stored result is void, because its sources have changed")
    stored.add_argument("--recount", action="store_true", help="first compute lut4 of every result again from its cells")
    commands.add_parser("registers", help="generate files from axi/registers.json, and the IP-XACT components")
    attacks = commands.add_parser(
        "attack", help="attack the core, and a copy with the faults of the first design")
    attacks.add_argument("--short", action="store_true", help="attack only the copy: `protocol` attacks the core")
    commands.add_parser("halves", help="simulate AES with S-boxes in memories in half of its lanes")
    commands.add_parser("plan", help="run a cycle model of several engines for 400 and 800 Gbit/s")
    synthesis = commands.add_parser("synth", help="make the missing and void results of synthesis; takes hours")
    synthesis.add_argument("--jobs", type=int, default=1, help="number of parallel jobs; each needs about 2 GB")
    seeds = synthesis.add_mutually_exclusive_group()
    seeds.add_argument("--seeds", type=int, default=10, help="place and route each result with seeds 1 to this number")
    seeds.add_argument("--seed", type=int, action="append", help="a seed of place and route; may be repeated")
    synthesis.add_argument("--lanes", type=int, choices=(1, 4), action="append",
                           help="place and route cores with so many lanes; may be repeated (default: 1)")
    synthesis.add_argument("--only", action="append", default=[],
                           help="only results whose names contain this, as ecp5-gcm-aes128-1; may be repeated")
    for name, words in (
        ("test", "run the reduced regression of the test command"),
        ("full", "run the full regression and write results/regression.json"),
        ("coverage", "simulate a core of each mode; print its line, branch and toggle coverage"),
        ("pace", "simulate packets of equal length without stalls, and print bits per cycle"),
        ("fusesoc", "lint and simulate a core as FuseSoC builds it"),
        ("litex", "simulate the LiteX wrapper"),
        ("protocol", "test the stream protocol with cocotb"),
        ("wave", "draw waveforms of one packet in each core: docs/wave-*.svg"),
    ):
        command = commands.add_parser(name, help=words)
        command.add_argument("cases", help="path of the program rtl_cases, which generates test cases")
        if name == "coverage":
            command.add_argument("--blocks", type=int, default=20_000, help="number of random blocks")
        if name == "full":
            command.add_argument("--lines", type=int, default=100_000, help="lines for the bus unit; 1000000 take minutes")
            command.add_argument("--only", action="append", default=[],
                                 help="only cores whose names contain this, as gcm-aes128-4; may be repeated")
            command.add_argument("--mutants", type=int, default=120, help="number of mutants to test at the end")
            command.add_argument("--jobs", type=int, default=1, help="number of parallel jobs for mutants")
    mutation = commands.add_parser("mutate", help="count which random changes of the control logic the tests detect")
    mutation.add_argument("cases", help="path of the program rtl_cases, which generates test cases")
    mutation.add_argument("--count", type=int, default=120, help="number of mutants; three quarters of a minute of processor time each")
    mutation.add_argument("--jobs", type=int, default=1, help="number of parallel jobs")
    mutation.add_argument("--seed", type=int, default=1, help="seed that selects the mutants")
    mutation.add_argument("--only", action="append", default=[],
                          help="only files whose names contain this, as key_guard; may be repeated")
    args = parser.parse_args()
    # The numbers of cells in the placement of memories come from a set, whose order Python draws.
    if args.command == "synth" and os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, [sys.executable, "-m", "flow", *sys.argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})
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
            if args.recount:
                figures.recount()
            results.check()
        case "attack":
            attack.check(args.short)
        case "halves":
            halves.check()
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
