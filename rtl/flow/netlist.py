# SPDX-License-Identifier: MIT OR Apache-2.0
"""Netlists for ECP5: two optimizations that Yosys does not make, and a hash that tells whether two netlists are the same."""

import hashlib
import inspect
import json
import re
import tempfile
from pathlib import Path


def sha256(path, told):
    """The hash of a netlist, without names and source locations, and of `told`, the options of place and route.

    Different sources can give the same netlist, for example if they differ only in logic for other parameters.
    """
    made = []
    for module in json.loads(path.read_text())["modules"].values():
        if module.get("attributes", {}).get("blackbox"):
            continue
        numbers = {}

        def wires(bits):
            return [bit if isinstance(bit, str) else numbers.setdefault(bit, len(numbers)) for bit in bits]

        ports = {name: [port["direction"], wires(port["bits"])] for name, port in module["ports"].items()}
        cells = []
        for cell in module["cells"].values():
            connections = {pin: wires(cell["connections"][pin]) for pin in sorted(cell["connections"])}
            cells.append([cell["type"], cell["parameters"], connections])
        made.append([ports, cells])
    return hashlib.sha256(json.dumps([told, made], sort_keys=True).encode()).hexdigest()


def passes():
    """The hash of the two optimizations, without comments and empty lines."""
    lines = (line.rstrip() for one in (absorb_inverters, absorb_output_registers) for line in inspect.getsource(one).splitlines())
    return hashlib.sha256("\n".join(line for line in lines if line and not line.lstrip().startswith("#")).encode()).hexdigest()


def check():
    """Fails unless the hash changes with the cells and connections, and with nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "core.json"

        def of(name="a", kind="LUT4", table="1010", bits=(7, 8), more=(), told="300"):
            cell = {"type": kind, "parameters": {"INIT": table}, "attributes": {"src": name},
                    "connections": {"Z": [bits[0]], "A": [bits[1]], "B": ["0"]}}
            ports = {"q": {"direction": "output", "bits": [bits[0]]}, "d": {"direction": "input", "bits": [bits[1]]}}
            cells = {name: cell, **{f"{name}{i}": {**cell, "type": one} for i, one in enumerate(more)}}
            path.write_text(json.dumps({"modules": {"top": {"ports": ports, "cells": cells}}}))
            return sha256(path, told)

        if of() != of(name="b", bits=(20, 30)):
            raise SystemExit("the hash of a netlist changes with its names or numbers")
        others = [of(kind="LUT5"), of(table="0101"), of(bits=(7, 7)), of(more=("LUT4",)), of(told="400")]
        if len({of(), *others}) != 1 + len(others):
            raise SystemExit("the hash of a netlist does not change with its cells or connections")


def absorb_inverters(path):
    """Moves the inverters of resets into the flip-flops: an ECP5 slice can invert its reset, but Yosys uses a lookup table."""
    design = json.loads(path.read_text())
    for module in design["modules"].values():
        inverted = {}
        for cell in module["cells"].values():
            ends = {pin: nets[0] for pin, nets in cell["connections"].items()}
            inputs = [pin for pin in "ABCD" if pin in ends and not isinstance(ends[pin], str)]
            if cell["type"] == "LUT4" and len(inputs) == 1:
                table = int(cell["parameters"]["INIT"], 2)
                low = sum(1 << i for i, pin in enumerate("ABCD") if ends.get(pin) == "1")
                high = low | 1 << "ABCD".index(inputs[0])
                if (table >> low & 1, table >> high & 1) == (1, 0):
                    inverted[ends["Z"]] = ends[inputs[0]]
        for cell in module["cells"].values():
            if cell["type"] == "TRELLIS_FF" and cell["connections"].get("LSR", [None])[0] in inverted:
                cell["connections"]["LSR"] = [inverted[cell["connections"]["LSR"][0]]]
                cell["parameters"]["LSRMUX"] = "INV"
    path.write_text(json.dumps(design))


def absorb_output_registers(path):
    """Moves registers after memories into the memories: an ECP5 memory has an output register, which Yosys does not use, and
    without it a read takes most of a cycle. Returns the number of memory ports with such a register, and of registers that moved."""
    design = json.loads(path.read_text())
    ports = moved = 0
    for module in design["modules"].values():
        cells, users = module["cells"], {}
        for name, cell in cells.items():
            for pin, nets in cell["connections"].items():
                if cell.get("port_directions", {}).get(pin) != "output":
                    for net in nets:
                        users.setdefault(net, []).append(name)
        outward = {net for port in module["ports"].values() for net in port["bits"]}

        def register(net, clock):
            """The register that is the only user of `net`, if it has no enable and no reset."""
            takers = users.get(net, [])
            cell = cells.get(takers[0]) if len(takers) == 1 and net not in outward else None
            if not cell or cell["type"] != "TRELLIS_FF":
                return None
            ends, words = cell["connections"], cell["parameters"]
            plain = (words.get("CEMUX", "CE") == "1" or ends.get("CE", ["1"]) == ["1"]) and (
                ends.get("LSR", ["0"]) == ["0"] and words.get("LSRMUX", "LSR") == "LSR")
            same = ends.get("DI") == [net] and ends["CLK"] == clock and words.get("CLKMUX", "CLK") == "CLK"
            return takers[0] if plain and same and words.get("REGSET", "RESET") == "RESET" else None

        for cell in list(cells.values()):
            if cell["type"] not in ("DP16KD", "PDPW16KD"):
                continue
            sides = (("A", "DOA", "CLKA", "OCEA"), ("B", "DOB", "CLKB", "OCEB")) if cell["type"] == "DP16KD" else (
                ("", "DO", "CLKR", "OCER"),)
            for side, data, clock, enable in sides:
                ends = cell["connections"]
                pins = [pin for pin, nets in ends.items() if re.fullmatch(data + r"\d+", pin) and any(
                    users.get(net) or net in outward for net in nets)]
                found = {pin: register(ends[pin][0], ends.get(clock)) for pin in pins}
                if not pins or not all(found.values()) or ends.get(enable, ["1"]) != ["1"]:
                    continue
                for pin, name in found.items():
                    ends[pin] = cells.pop(name)["connections"]["Q"]
                cell["parameters"]["REGMODE" + (f"_{side}" if side else "")] = "OUTREG"
                ports += 1
                moved += len(found)
    path.write_text(json.dumps(design))
    return ports, moved
