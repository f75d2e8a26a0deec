"""python -m flow COMMAND"""

import argparse
import time

from . import lint, protocol, prove, regression, results, synth, tools, wave


def main():
    """Runs the command that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m flow", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lint", help="check the sources with Verilator, Verible and slang")
    commands.add_parser("prove", help="prove the multiplier, the S-boxes, the queues and the register slice")
    commands.add_parser("results", help="check that results/ belongs to these sources")
    synthesis = commands.add_parser("synth", help="make all missing or outdated results except the regression; takes an hour")
    synthesis.add_argument("--jobs", type=int, default=1, help="number of parallel jobs; each needs about 2 GB")
    for name, words in (
        ("test", "run the reduced regression of the test command"),
        ("full", "run the full regression and write results/regression.json"),
        ("protocol", "test the stream protocol with cocotb"),
        ("wave", "draw one packet on its way through each core: docs/wave-*.svg"),
    ):
        commands.add_parser(name, help=words).add_argument("cases", help="the program rtl_cases")
    args = parser.parse_args()
    tools.prepare()
    start = time.time()
    match args.command:
        case "lint":
            print(f"{lint.check()} parameter sets clean")
        case "prove":
            prove.check()
        case "results":
            results.check()
        case "synth":
            synth.every(args.jobs)
        case "protocol":
            protocol.check(args.cases)
        case "wave":
            wave.every(args.cases)
        case _:
            regression.run(args.cases, full=args.command == "full")
    print(f"{args.command}: {time.time() - start:.0f} s")


main()
