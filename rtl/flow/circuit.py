# SPDX-License-Identifier: MIT OR Apache-2.0
"""A hash of the circuit that sources describe, before any tool optimizes it: without names, without source locations, and without what
no output depends on.

Two versions of the sources can describe the same circuit, for example if one can be built with a port more than the other. What is said
of the one then holds for the other. The netlists of gates may differ all the same: heuristics begin with the order of names.
"""

import hashlib
import json

UNTOLD = ("src", "hdlname", "full_case", "parallel_case")  # attributes that decide nothing


def sha256(module, told=None):
    """The hash of a module that `write_json` of Yosys wrote, with all its processes converted and its hierarchy flattened, and of `told`.

    Cells are numbered as they are found from the outputs on, each with what drives its inputs: the same circuit is always numbered
    in the same way. A net has one driver."""
    drivers, writers = {}, {}
    for name, cell in module["cells"].items():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "output":
                drivers.update({bit: (name, port, index) for index, bit in enumerate(bits)})
        if cell["type"] in ("$meminit_v2", "$memwr_v2"):
            writers.setdefault(cell["parameters"]["MEMID"], []).append(name)
    kept = {bit for net in module["netnames"].values() if "keep" in net["attributes"] for bit in net["bits"]}
    inputs = {bit: [name, index] for name, port in sorted(module["ports"].items()) if port["direction"] != "output"
              for index, bit in enumerate(port["bits"])}
    numbers, loose, queue = {}, {}, []  # of cells and memories; of nets that nothing drives; what is numbered and not yet described

    def number(kind, name):
        if (kind, name) not in numbers:
            numbers[kind, name] = len(numbers)
            queue.append((kind, name))
        return numbers[kind, name]

    def source(bit):
        """What drives a bit."""
        if isinstance(bit, str):
            return bit
        if bit in inputs:
            return inputs[bit]
        if bit not in drivers:
            return ["nothing", loose.setdefault(bit, len(loose))]
        name, port, index = drivers[bit]
        return [number("cell", name), port, index, bit in kept]

    def attributes(one):
        return {name: value for name, value in one.get("attributes", {}).items() if name not in UNTOLD}

    found = hashlib.sha256()

    def tell(what):
        found.update(json.dumps(what, sort_keys=True).encode())

    tell([told, [[name, [source(bit) for bit in port["bits"]]] for name, port in sorted(module["ports"].items())
                 if port["direction"] != "input"]])
    at = 0
    while at < len(queue):
        kind, name = queue[at]
        at += 1
        if kind == "memory":
            memory = module["memories"][name.removeprefix("\\")]
            ports = sorted(writers.get(name, ()), key=lambda cell: order(module["cells"][cell]))
            tell([{key: memory[key] for key in ("width", "start_offset", "size")}, attributes(memory),
                  [number("cell", cell) for cell in ports]])
            continue
        cell = module["cells"][name]
        words = dict(cell["parameters"])
        if memory := words.pop("MEMID", None):
            words["memory"] = number("memory", memory)
        tell([cell["type"], words, attributes(cell),
              [[port, [source(bit) for bit in bits]] for port, bits in sorted(cell["connections"].items())
               if cell["port_directions"][port] != "output"]])
    return found.hexdigest()


def order(cell):
    """What a memory's writes are ordered by: initial words first, each kind in the order of the sources."""
    words = cell["parameters"]
    return cell["type"] != "$meminit_v2", int(words.get("PORTID", words.get("PRIORITY")), 2)


def check():
    """Fails unless the hash stays the same with other names and with logic that no output depends on, and changes with anything else."""

    def of(prefix="a", kind="$and", wide=1, reset="0", more=False, keep=False, told=None):
        ends = {"A": [2], "B": [3], "Y": [4]}
        cells = {f"{prefix}1": {"type": kind, "parameters": {"WIDTH": wide}, "attributes": {"src": prefix}, "connections": ends,
                                "port_directions": {"A": "input", "B": "input", "Y": "output"}},
                 f"{prefix}2": {"type": "$dff", "parameters": {}, "attributes": {}, "connections": {"D": [4], "R": [reset], "Q": [5]},
                                "port_directions": {"D": "input", "R": "input", "Q": "output"}}}
        if more:
            cells = {f"{prefix}0": {**cells[f"{prefix}1"], "connections": {"A": [4], "B": [3], "Y": [6]}}, **cells}
        nets = {f"{prefix}n": {"bits": [4], "attributes": {"keep": "1"} if keep else {}}}
        ports = {"a": {"direction": "input", "bits": [2, 3]}, "q": {"direction": "output", "bits": [5]}}
        return sha256({"cells": cells, "netnames": nets, "ports": ports}, told)

    if len({of(), of(prefix="b"), of(more=True)}) != 1:
        raise SystemExit("the hash of a circuit changes with its names, or with what no output depends on")
    others = [of(kind="$or"), of(wide=2), of(reset="1"), of(keep=True), of(told="300")]
    if len({of(), *others}) != 1 + len(others):
        raise SystemExit("the hash of a circuit does not change with its cells or connections")
