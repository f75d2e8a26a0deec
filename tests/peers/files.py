"""Measures sealing and opening beside other programs: cp, age and rage, openssl, and tar with zstd, which does not encrypt.

    python files.py PATH_TO_SEALWRIGHT [--build-rage | --rage PATH] [--age PATH] [--mib 1024] [--files 10000]
                    [--rounds 11] [--memory /dev/shm] [--disk .] [--only WORD]

Prints one table: large files in memory and on the disk, 10,000 small ones, a folder as one archive, passphrases, and the start of the
program. In each case all programs run in turn, in a new order each round, so that what else the machine does meets all alike. Every
output is compared with its source. The table has the median of each program with its range from the first to the third quartile, and
how many times as long as Sealwright it took: the median of the ratios within the rounds, with its 95 % interval (bootstrap). A
program that is not found is named below the table. Ours syncs its outputs, as it does by default; on the disk others are followed
by `sync`. Small files by themselves: ours in one command, the others by `xargs` on all processors, whose shells start them.

`--build-rage` has cargo build rage (https://crates.io/crates/rage) in target/peers first, which takes some minutes once. `--only` measures
the cases whose names contain a word; they are: large in memory, large on disk, each in memory, each on disk, archive in memory, archive
on disk, passphrase, least passphrase, start. `--memory` and `--disk` are folders; in memory 4 GiB are needed.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import cases
from programs import Programs, build_rage

HEAD = "| what | program | sealing | times ours | opening | times ours |\n|---|---|---:|---:|---:|---:|"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sealwright")
    for name in ("rage", "age"):
        arguments.add_argument(f"--{name}")
    arguments.add_argument("--build-rage", action="store_true")
    arguments.add_argument("--mib", type=int, default=1024)
    arguments.add_argument("--files", type=int, default=10_000)
    arguments.add_argument("--rounds", type=int, default=11)
    arguments.add_argument("--memory", type=Path, default=Path("/dev/shm"))
    arguments.add_argument("--disk", type=Path, default=Path("."))
    arguments.add_argument("--only", default="")
    args = arguments.parse_args()
    assert args.rounds > 1, "an interval takes two rounds at least"
    if args.build_rage:
        args.rage = build_rage()
    disk = args.disk.resolve()
    with tempfile.TemporaryDirectory() as keys:
        programs = Programs(args.sealwright, {"rage": args.rage, "age": args.age}, Path(keys))
        # What takes seconds is repeated less often, what takes milliseconds more often.
        few, some, often = max(args.rounds // 4, 2), max(args.rounds // 2, 3), args.rounds * 10
        planned = [
            ("large in memory", args.memory, lambda home: cases.large(programs, home, args.mib, args.rounds)),
            ("large on disk", disk, lambda home: cases.large_on_disk(programs, home, args.mib, args.rounds)),
            ("each in memory", args.memory, lambda home: cases.many(programs, home, args.files, few, on_disk=False)),
            ("each on disk", disk, lambda home: cases.many(programs, home, args.files, some, on_disk=True)),
            ("archive in memory", args.memory, lambda home: cases.archive(programs, home, args.files, args.rounds, on_disk=False)),
            ("archive on disk", disk, lambda home: cases.archive(programs, home, args.files, some, on_disk=True)),
            ("passphrase", args.memory, lambda home: cases.passphrase(programs, home, args.rounds)),
            ("least passphrase", args.memory, lambda home: cases.least_passphrase(programs, home, args.rounds)),
            ("start", args.memory, lambda home: cases.start(programs, home, often)),
        ]
        rows = [HEAD]
        for name, place, make in planned:
            if args.only not in name:
                continue
            print(f"files: {name}", file=sys.stderr)
            with tempfile.TemporaryDirectory(dir=place) as folder:
                case = make(Path(folder))
                case.measure()
                rows += case.rows()
                os.chdir("/")
        rounds = f"{args.rounds} rounds ({few} for each file by itself in memory, {some} for many files on the disk, {often} for starts)"
        print(f"{rounds}, {cases.PROCESSORS} processors\n")
        print("\n".join(rows) + "\n")
        print("\n".join(programs.versions()))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssertionError as error:
        print(f"files: {error}", file=sys.stderr)
        sys.exit(1)
