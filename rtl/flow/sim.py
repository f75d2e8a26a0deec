"""Bulk simulation: sim/bulk.cpp drives Verilated models with cases that the library generates."""

import json
import os
import subprocess

from .tools import BUILD, RTL, run, sources

WARNINGS = ["-Wall", "-Wno-fatal"]


def model(core, coverage=False, traced=False):
    """Builds the harness around `core`; returns the program."""
    folder = BUILD / (f"{core.name}-{core.depth}" + "-coverage" * coverage + "-traced" * traced)
    folder.mkdir(parents=True, exist_ok=True)
    words = ["verilator", "--cc", "--exe", "--build", "-j", "1", "-O3", "--assert", *WARNINGS]
    words += ["--x-assign", "unique", "--prefix", "Vcore", "--top-module", "sealwright_axis"]
    words += [f"-G{name}={value}" for name, value in core.parameters.items()]
    words += ["-CFLAGS", f"-O1 -DLANES={core.lanes}", "-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0"]
    words += ["--coverage-fsm", "--coverage-user"] if coverage else []
    words += ["--trace-vcd", "--trace-depth", "3"] if traced else []
    words += ["--Mdir", folder, RTL / "sim" / "lint.vlt", *sources(), RTL / "sim" / "bulk.cpp", "-o", "bulk"]
    run(words)
    return folder / "bulk"


def cases(generator, words, name):
    """Writes cases to a file; returns its path."""
    path = BUILD / f"{name}.cases"
    with path.open("wb") as out:
        subprocess.run([generator, *map(str, words)], stdout=out, check=True)
    return path


def drive(program, path, seed, flat=False, env=None):
    """Runs the harness on a file of cases; returns its counts."""
    words = [program, path, seed, *(["flat"] if flat else [])]
    # Models with coverage write a file. A caller that needs the file sets its path in `env`.
    env = env or {**os.environ, "COVERAGE": str(BUILD / "coverage.dat")}
    return json.loads(run(words, env=env))


def check(core, generator, blocks, seed=1, coverage=False):
    """Runs the standards' vectors that the core supports, then random packets with random stalls. Returns the counts of both."""
    program = model(core, coverage)
    kind = "serpent" if core.cipher == "serpent" else "aes"
    vectors = RTL.parent / "vectors" / f"{kind}_{core.mode}.json"
    path = cases(generator, [core.suite, "vectors", vectors], core.name)
    # None of Serpent's vectors has a key of 32 bytes, a nonce of 12 and a tag of 16.
    known = drive(program, path, seed) if path.stat().st_size else None
    path = cases(generator, [core.suite, seed, blocks], core.name)
    env = {**os.environ, "COVERAGE": str(BUILD / f"{core.name}.dat")}
    counts = drive(program, path, seed, env=env)
    path.unlink()
    return program, known, counts


def pace(program, core, generator, length, packets=200):
    """Bits of text per cycle for packets of `length` bytes that follow each other without a stall, and the latency."""
    blocks = packets * max(1, -(-length // 16))
    path = cases(generator, [core.suite, 7, blocks, length], core.name)
    counts = drive(program, path, 1, flat=True)
    path.unlink()
    return 8 * counts["text_bytes"] / counts["moving"], counts["latency"]


def bus(generator, lines, seed=1):
    """Compares the security hardware unit with the library, line by line; returns the counts of the harness."""
    folder = BUILD / "shu"
    folder.mkdir(parents=True, exist_ok=True)
    words = ["verilator", "--cc", "--exe", "--build", "-j", "1", "-O3", "--assert", *WARNINGS, "--x-assign", "unique"]
    words += ["--prefix", "Vshu", "--top-module", "shu", "-CFLAGS", "-O1", "-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0"]
    run([*words, "--Mdir", folder, RTL / "sim" / "lint.vlt", *sources(), RTL / "sim" / "shu.cpp", "-o", "shu"])
    path = cases(generator, ["shu", seed, lines], "shu")
    return drive(folder / "shu", path, seed)
