"""Bulk simulation: Verilated models driven by sim/bulk.cpp with cases that the library makes."""

import json
import os
import subprocess

from .tools import BUILD, ROOM, run, sources

WARNINGS = ["-Wall", "-Wno-fatal"]


def model(core, coverage=False, traced=False):
    """Builds the harness around `core`; returns the program."""
    room = BUILD / (f"{core.name}-{core.depth}" + "-coverage" * coverage + "-traced" * traced)
    room.mkdir(parents=True, exist_ok=True)
    words = ["verilator", "--cc", "--exe", "--build", "-j", "1", "-O3", "--assert", *WARNINGS]
    words += ["--x-assign", "unique", "--prefix", "Vcore", "--top-module", "sealwright_axis"]
    words += [f"-G{name}={value}" for name, value in core.parameters.items()]
    words += ["-CFLAGS", f"-O1 -DLANES={core.lanes}", "-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0"]
    words += ["--coverage-fsm", "--coverage-user"] if coverage else []
    words += ["--trace-vcd", "--trace-depth", "3"] if traced else []
    words += ["--Mdir", room, ROOM / "sim" / "lint.vlt", *sources(), ROOM / "sim" / "bulk.cpp", "-o", "bulk"]
    run(words)
    return room / "bulk"


def cases(generator, words, name):
    """Writes cases to a file; returns its path."""
    path = BUILD / f"{name}.cases"
    with path.open("wb") as out:
        subprocess.run([generator, *map(str, words)], stdout=out, check=True)
    return path


def drive(program, path, seed, flat=False, env=None):
    """Runs the harness over a file of cases; returns what it counted."""
    words = [program, path, seed, *(["flat"] if flat else [])]
    # models that count coverage write it somewhere; only a caller who wants it says where
    env = env or {**os.environ, "COVERAGE": str(BUILD / "coverage.dat")}
    return json.loads(run(words, env=env))


def check(core, generator, blocks, seed=1, coverage=False):
    """The standards' vectors that the core can take, then random packets under random stalls; the counts of both."""
    program = model(core, coverage)
    kind = "serpent" if core.cipher == "serpent" else "aes"
    vectors = ROOM.parent / "vectors" / f"{kind}_{core.mode}.json"
    path = cases(generator, [core.suite, "vectors", vectors], core.name)
    # None of Serpent's vectors has a key of 32 bytes, a nonce of 12 and a tag of 16.
    known = drive(program, path, seed) if path.stat().st_size else None
    path = cases(generator, [core.suite, seed, blocks], core.name)
    env = {**os.environ, "COVERAGE": str(BUILD / f"{core.name}.dat")}
    told = drive(program, path, seed, env=env)
    path.unlink()
    return program, known, told


def pace(program, core, generator, length, packets=200):
    """Bits of text a cycle for packets of `length` bytes that follow each other without a stall, and the latency."""
    blocks = packets * max(1, -(-length // 16))
    path = cases(generator, [core.suite, 7, blocks, length], core.name)
    told = drive(program, path, 1, flat=True)
    path.unlink()
    return 8 * told["text_bytes"] / told["moving"], told["latency"]


def bus(generator, lines, seed=1):
    """The security hardware unit against the library, line by line; returns what the harness counted."""
    room = BUILD / "shu"
    room.mkdir(parents=True, exist_ok=True)
    words = ["verilator", "--cc", "--exe", "--build", "-j", "1", "-O3", "--assert", *WARNINGS, "--x-assign", "unique"]
    words += ["--prefix", "Vshu", "--top-module", "shu", "-CFLAGS", "-O1", "-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0"]
    run([*words, "--Mdir", room, ROOM / "sim" / "lint.vlt", *sources(), ROOM / "sim" / "shu.cpp", "-o", "shu"])
    path = cases(generator, ["shu", seed, lines], "shu")
    return drive(room / "shu", path, seed)
