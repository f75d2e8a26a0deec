"""python -m flow COMMAND"""

import argparse
import time

from . import lint, protocol, prove, regression, results, synth, tools, wave


def main():
    """Reads the command line and does what it says."""
    parser = argparse.ArgumentParser(prog="python -m flow", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lint", help="Verilator, Verible and slang find nothing")
    commands.add_parser("prove", help="multiplier, S-boxes, queues and slices")
    commands.add_parser("results", help="whether results/ belongs to these sources")
    synthesis = commands.add_parser("synth", help="every result of results/ anew but the regression; takes an hour")
    synthesis.add_argument("--jobs", type=int, default=1, help="so many at a time; about 2 GB each")
    for name, words in (
        ("test", "the reduced set of the test command"),
        ("full", "the full regression, into results/regression.json"),
        ("protocol", "the stream protocol, by cocotb"),
        ("wave", "docs/wave-*.svg: one packet through each core"),
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
