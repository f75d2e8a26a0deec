# SPDX-License-Identifier: MIT OR Apache-2.0
"""The source files of a design: those of the modules that its top instantiates with its parameters, directly or not, and of the
packages that they use.

Synthesis reads only these files, and a result stores a hash of their tokens. A result stays valid if other files change, or if
only comments, layout, assertions or the checks of parameters change.
"""

import hashlib
import json
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

from .cores import CIPHERS
from .tools import RTL, sources

SHIMS = ("syn/fold.sv", "syn/core_shim.sv", "syn/cipher_halves.sv", "syn/halves_shim.sv", "syn/shu_shim.sv")
HALVES = "halves"  # the S-boxes of a core of which half the lanes have theirs in memories, and half in logic


def top(core):
    """The wrapper of a core for synthesis, and its parameters."""
    if core.mode == "shu":
        return "shu_shim", {name: core.parameters[name] for name in ("Sbox", "Cut")}
    if core.sbox == HALVES:
        return "halves_shim", {"Cipher": CIPHERS[core.cipher], "Cut": core.cut, "Lanes": core.lanes, "Slots": core.slots}
    return "core_shim", core.parameters


@cache
def files(core, root=RTL):
    """The files of a design, relative to `root`, in the order of files.f: each after those that it needs."""
    import pyslang

    listed = [*(root / "files.f").read_text().split(), *SHIMS]
    name, values = top(core)
    driver = parsed(["-D", "SYNTHESIS", "--top", name, *(f"-G{n}={v}" for n, v in values.items())], listed, root)
    reached = set()

    def see(symbol):
        if isinstance(symbol, pyslang.ast.InstanceSymbol):
            path = Path(driver.sourceManager.getFullPath(symbol.definition.location.buffer))
            reached.add(path.relative_to(root).as_posix())

    for instance in driver.createCompilation().getRoot().topInstances:
        if instance.name == name:
            instance.visit(see)
    texts = {file: re.sub(r"//.*", "", (root / file).read_text()) for file in listed}
    packages = {package: file for file, text in texts.items() for package in re.findall(r"^package (\w+)", text, re.M)}
    found, new = set(), reached
    while new:
        found |= new
        named = {package for file in new for package in re.findall(r"\b(\w+)::", texts[file])}
        new = {packages[package] for package in named if package in packages} - found
    return [file for file in listed if file in found]


def parsed(options, names, root):
    """A driver of slang that has read the files `names` below `root`."""
    import pyslang

    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    words = ["slang", "-I", str(root / "lib"), *options, *(str(root / name) for name in names)]
    if not (driver.parseCommandLine(" ".join(words)) and driver.processOptions() and driver.parseAllSources()):
        raise SystemExit(f"slang could not read {', '.join(names)}")
    return driver


def words(name, defines, root=RTL):
    """The tokens of a file, with macros expanded and without comments."""
    import pyslang

    found = []

    def see(node):
        if isinstance(node, pyslang.parsing.Token):
            found.append(node.rawText)

    driver = parsed([f"-D{one}" for one in defines], [name], root)  # owns the memory of the tokens
    for tree in driver.syntaxTrees:
        tree.root.visit(see)
    return found


def sha256(core, told, root=RTL):
    """The hash of a design: of its files, its parameters, and `told`, the options of the tools."""
    built = {name: words(name, ("SYNTHESIS", "SEALWRIGHT_UNGUARDED"), root) for name in files(core, root)}
    return hashlib.sha256(json.dumps([top(core), told, built]).encode()).hexdigest()


def simulated(*more):
    """The hash of all sources that the bulk simulations of the cores build: the tokens of every file, except in the folders `bus`
    (the bus unit) and `axi` (which has its own tests), unless `more` names them."""
    names = (path.relative_to(RTL).as_posix() for path in sources() if path.parent.name not in {"bus", "axi"} - {*more})
    found = {name: words(name, ("SEALWRIGHT_UNGUARDED",)) for name in names}
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


@cache
def tests(bus=False):
    """The hash of the tests in the bulk simulations of the cores, or of the bus unit: the harness, the code that builds and runs
    it and judges its counts, the generator of its cases, and the vectors. The set of cores is not in it: a log has a row for each."""
    root = RTL.parent
    found = [RTL / "flow" / "sim.py", RTL / "flow" / "cores.py", *(root / "crates" / "vectors" / "examples" / "rtl_cases").glob("*.rs")]
    if bus:
        return digest([*found, RTL / "sim" / "shu.cpp"])
    code = [RTL / "flow" / f"{name}.py" for name in ("entry", "pace", "coverage")]
    return digest([*found, RTL / "sim" / "bulk.cpp", RTL / "sim" / "cases.h", *code, *(root / "vectors").glob("*.json*")])


def digest(paths):
    """The hash of the names and contents of files."""
    text = {path.relative_to(RTL.parent).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(paths)}
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()


# The modules of this package that run the checks in `checks`.
CHECKING = ("cores", "erase", "golden", "mutate", "prove", "protocol", "sim", "tools")


def checks():
    """The hash of everything that can detect a change of the sources: harnesses, tests, proofs, and the code that runs them."""
    root = RTL.parent
    found = [*(path for kind in ("sim/*.*", "formal/*.*") for path in RTL.glob(kind)),
             *(RTL / "flow" / f"{name}.py" for name in CHECKING),
             *(root / "crates" / "vectors" / "examples" / "rtl_cases").glob("*.rs")]
    return digest(found)


# For `check`, by mode: files that belong to its designs, with any cipher, and files that do not.
COMMON = ("pkg/sealwright_pkg.sv", "lib/cipher_pipe.sv", "lib/key_store.sv", "syn/fold.sv")
OF = {"aes128": ("aes/aes_pkg.sv", "aes/aes_round.sv"), "serpent": ("serpent/serpent_pkg.sv", "serpent/serpent_pipe.sv")}
QUEUES = ("lib/fifo.sv", "mode/tag_check.sv", "lib/key_guard.sv", "syn/core_shim.sv")
BELONGS = {
    "gcm": ((*COMMON, *QUEUES, "ghash/ghash_pkg.sv", "ghash/ghash_stride.sv", "mode/gcm_core.sv"),
            ("mode/ocb_core.sv", "bus/shu.sv", "syn/shu_shim.sv", "lib/cipher_only.sv", "mode/sealwright_axis.sv")),
    "ocb": ((*COMMON, *QUEUES, "mode/ocb_core.sv", "mode/ocb_nonce.sv"),
            ("mode/gcm_core.sv", "ghash/ghash_pkg.sv", "bus/shu.sv", "syn/shu_shim.sv", "mode/text_hold.sv")),
    "cipher": ((*COMMON, "lib/cipher_only.sv", "syn/core_shim.sv"),
               ("lib/fifo.sv", "mode/gcm_core.sv", "ghash/ghash_pkg.sv", "bus/shu.sv", "axi/sealwright_axil.sv")),
    "shu": ((*COMMON, "bus/shu.sv", "syn/shu_shim.sv", "ghash/ghash_stride.sv", "lib/key_setup.sv"),
            ("mode/gcm_core.sv", "mode/tag_check.sv", "syn/core_shim.sv", "lib/fifo.sv")),
}


def check(cores):
    """Fails unless the hash of every core changes with each file that belongs to it, and does not change with other files, or with
    comments and checks of parameters. The changes are made in a copy of the sources."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name in ["files.f", *(RTL / "files.f").read_text().split(), *SHIMS, "lib/assert.svh"]:
            (root / name).parent.mkdir(exist_ok=True)
            shutil.copy(RTL / name, root / name)
        before = {core: sha256(core, [], root) for core in cores}
        for core in cores:
            inside, outside = BELONGS[core.mode]
            other = "serpent" if core.cipher != "serpent" else "aes128"
            wanted = {**dict.fromkeys([*inside, *OF[core.cipher]], True), **dict.fromkeys([*outside, *OF[other]], False)}
            for name, changes in wanted.items():
                text = changed(root / name, "logic changed;")
                if (sha256(core, [], root) != before[core]) != changes:
                    raise SystemExit(f"{core.name}: its hash {'does not change' if changes else 'changes'} with {name}")
                (root / name).write_text(text)
            texts = {name: changed(root / name, "// changed\n`SEALWRIGHT_REQUIRE(a, 1, 0)") for name in inside}
            if sha256(core, [], root) != before[core]:
                raise SystemExit(f"{core.name}: its hash changes with comments or checks of parameters")
            for name, text in texts.items():
                (root / name).write_text(text)
    files.cache_clear()


def changed(path, more):
    """Inserts `more` before the end of each module and package of a file; returns the file's old text."""
    text = path.read_text()
    path.write_text('`include "assert.svh"\n' + re.sub(r"^(?=end(module|package)$)", f"{more}\n", text, flags=re.M))
    files.cache_clear()
    return text
