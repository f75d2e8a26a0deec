# SPDX-License-Identifier: MIT OR Apache-2.0
"""Bulk simulation: sim/bulk.cpp drives Verilated models with cases that the library generates."""

import json
import os
import subprocess

from . import closure
from .cores import BUS
from .tools import BUILD, HEADERS, RTL, run, sources

# Every register and word of memory.
STATE = ["--trace-vcd", "--trace-max-array", "65536", "--trace-max-width", "65536"]


def built(top, harness, folder, parameters, flags="", words=(), files=None):
    """Builds a harness (a file of sim/) around a module of the given files, if they are not the sources; returns the program."""
    folder.mkdir(parents=True, exist_ok=True)
    run(["verilator", f"-I{HEADERS}", "--cc", "--exe", "--build", "-j", "1", "-O3", "--assert", "-Wall", "-Wno-fatal",
         "--x-assign", "unique", "--prefix", f"V{top}", "--top-module", top, *(f"-G{name}={value}" for name, value in parameters.items()),
         "-CFLAGS", f"-O1 {flags}", "-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0", *words, *(STATE if harness.startswith("erase") else []),
         "--Mdir", folder, RTL / "sim" / "lint.vlt", *(files or sources()), RTL / "sim" / f"{harness}.cpp", "-o", harness])
    return folder / harness


def model(core, coverage=False, traced=False, folder=None, files=None, harness="bulk"):
    """Builds the harness around `core`, of the given files if they are not the sources; returns the program."""
    folder = folder or BUILD / (core.folder + "-coverage" * coverage + "-traced" * traced + f"-{harness}" * (harness != "bulk"))
    # Not --coverage-fsm, at which this Verilator fails; the lines of a case statement tell its states.
    words = ["--coverage-line", "--coverage-toggle", "--coverage-user"] if coverage else []
    words += ["--trace-vcd", "--trace-depth", "3"] if traced else []
    flags = f"-DHOLD={core.hold} -DOPENS={core.opens} -DSLOTS={core.slots} -DTAG={core.tag} -DNUMBER={core.number}"
    return built("sealwright_axis", harness, folder, core.of_streams, flags, words, files)


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


def quietly(words, seconds):
    """Runs a program whose failure is no error; returns its exit code."""
    done = subprocess.run([str(word) for word in words], capture_output=True, timeout=seconds,
                          env={**os.environ, "COVERAGE": os.devnull})
    return done.returncode


def check(core, generator, blocks, seed=1, coverage=False, wycheproof=False):
    """Runs the standards' vectors that the core supports, then random packets with random stalls. Returns the counts of both."""
    program = model(core, coverage)
    kind = "serpent" if core.cipher == "serpent" else "aes"
    folder, name = RTL.parent / "vectors", f"{kind}_{core.mode}"
    sets = [f"{name}.json", f"acvp_{name}.json", f"cavp_{name}_*.json", f"libgcrypt_{name}.json"]
    vectors = [path for one in sets for path in sorted(folder.glob(one))]
    more = ["wycheproof"] if wycheproof and name == "aes_gcm" else []
    path = cases(generator, [core.suite, "vectors", *vectors, *more], core.name)
    if not path.stat().st_size:
        raise SystemExit(f"{core.name}: no vector has a key, a nonce and a tag of its lengths")
    known = drive(program, path, seed)
    path = cases(generator, [core.suite, seed, blocks], core.name)
    env = {**os.environ, "COVERAGE": str(BUILD / f"{core.name}.dat")}
    counts = drive(program, path, seed, env=env)
    path.unlink()
    return program, known, counts


def pace(program, core, generator, length, ad=0, slots=1, way="seal", packets=1000):
    """The counts of packets of `length` bytes of text and `ad` of associated data that follow each other without a stall."""
    blocks = packets * max(1, -(-length // 16) - (-ad // 16))
    path = cases(generator, [core.suite, 7, blocks, length, ad, slots, way], core.name)
    counts = drive(program, path, 1, flat=True)
    path.unlink()
    return counts


def bus_model(folder=None, files=None, harness="shu", more=None):
    """Builds the harness around the security hardware unit, of the given files if they are not the sources, and with `more` parameters
    than its S-boxes; returns the program."""
    folder = folder or BUILD / "-".join([harness, *map(str, (more or {}).values())])
    return built("shu", harness, folder, {**closure.top(BUS)[1], **(more or {})}, files=files)


def bus(generator, lines, seed=1, more=None):
    """Compares the security hardware unit with the library, line by line; returns the counts of the harness. With other `Nodes` than
    eight in `more`, only the first eight send and receive."""
    program = bus_model(more=more)
    return drive(program, cases(generator, ["shu", seed, lines], program.parent.name), seed)
