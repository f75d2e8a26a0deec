# SPDX-License-Identifier: MIT OR Apache-2.0
"""A hash of the circuit that sources describe, before any tool optimizes it: without names, without source locations, and without what
no output depends on.

Two versions of the sources can describe the same circuit, for example if one can be built with a port more than the other. What is said
of the one then holds for the other. The netlists of gates may differ all the same: heuristics begin with the order of names.
"""

import hashlib
import json

IGNORED = ("src", "hdlname", "full_case", "parallel_case")  # attributes that decide nothing
MEMORY = ("$meminit_v2", "$memwr_v2")  # cells that give a memory its words


def sha256(modules, top, options=None):
    """The hash of `options` and of a module that `write_json` of Yosys wrote, whose processes are converted. Instances of other modules,
    which remain where the hierarchy is kept, count with all that they contain."""
    return Module(modules, top).hash(options)


class Module:
    """A module. Its cells are numbered as they are found from the outputs on, and from what must be kept, each with what drives its inputs:
    the same circuit is always numbered in the same way."""

    def __init__(self, modules, name):
        self.module, self.inner = modules[name], {}
        self.drivers, self.writers = {}, {}
        for port, about in self.module["ports"].items():
            if about["direction"] == "input":
                for index, bit in enumerate(about["bits"]):
                    self.drive(bit, ["port", port, index])
        for cell, about in self.module["cells"].items():
            kind = about["type"]
            if kind in modules and not modules[kind].get("attributes", {}).get("blackbox") and kind not in self.inner:
                self.inner[kind] = Module(modules, kind)
            for port, bits in about["connections"].items():
                if about["port_directions"][port] == "inout":
                    raise SystemExit(f"{name}: {cell} has a port in both directions, of which no hash is made")
                if about["port_directions"][port] == "output":
                    for index, bit in enumerate(bits):
                        self.drive(bit, ["cell", cell, port, index])
            if kind in MEMORY:
                self.writers.setdefault(about["parameters"]["MEMID"], []).append(cell)
        self.first, self.kept = {}, set()
        for net in self.module["netnames"].values():
            if "init" in net["attributes"]:
                self.first.update(zip(net["bits"], reversed(net["attributes"]["init"]), strict=False))
            if "keep" in net["attributes"]:
                self.kept.update(net["bits"])
        self.numbers, self.loose, self.queue = {}, {}, []  # of cells and memories; of nets that nothing drives; what is to be described
        self.used = set()  # inputs
        self.made, self.whole = hashlib.sha256(), None

    def drive(self, bit, source):
        """Notes what drives a bit."""
        if bit in self.drivers:
            raise SystemExit(f"two drivers of a net, of which no hash is made: {source}, {self.drivers[bit]}")
        self.drivers[bit] = source

    def number(self, kind, name):
        """The number of a cell or memory."""
        if (kind, name) not in self.numbers:
            self.numbers[kind, name] = len(self.numbers)
            self.queue.append((kind, name))
        return self.numbers[kind, name]

    def source(self, bit):
        """What drives a bit, with the bit's first value and whether it must be kept."""
        if isinstance(bit, str):
            return bit
        about = [self.first.get(bit), bit in self.kept]
        if bit not in self.drivers:
            return ["nothing", self.loose.setdefault(bit, len(self.loose)), *about]
        kind, name, *place = self.drivers[bit]
        if kind == "port":
            self.used.add(name)
            return [name, *place, *about]
        return [self.number("cell", name), *place, *about]

    def add(self, what):
        """Adds a description to the hash."""
        self.made.update(json.dumps(what, sort_keys=True).encode())

    def hash(self, options=None):
        """The hash of `options` and of the module, which is computed once."""
        if self.whole:
            return self.whole
        self.add([options, [[name, [self.source(bit) for bit in port["bits"]]] for name, port in sorted(self.module["ports"].items())
                            if port["direction"] != "input"]])
        done = self.follow(0)
        # What nothing depends on and must be kept all the same, in the order of the sources.
        for bit in sorted(bit for bit in self.kept if isinstance(bit, int)):
            self.add(self.source(bit))
        for name, cell in self.module["cells"].items():
            if "keep" in cell.get("attributes", {}):
                self.add(self.number("cell", name))
        self.follow(done)
        self.whole = self.made.hexdigest()
        return self.whole

    def follow(self, at):
        """Describes what has a number, from a place in the queue on, and all that it depends on. Returns the next place."""
        while at < len(self.queue):
            kind, name = self.queue[at]
            at += 1
            if kind == "memory":
                memory = self.module["memories"][name.removeprefix("\\")]
                ports = sorted(self.writers.get(name, ()), key=lambda cell: order(self.module["cells"][cell]))
                self.add([{key: memory[key] for key in ("width", "start_offset", "size")}, attributes(memory),
                          [self.number("cell", cell) for cell in ports]])
                continue
            cell = self.module["cells"][name]
            words, ends = dict(cell["parameters"]), sorted(cell["connections"].items())
            if memory := words.pop("MEMID", None):
                words["memory"] = self.number("memory", memory)
            kind, ways = cell["type"], cell["port_directions"]
            if inner := self.inner.get(kind):
                kind = inner.hash()
                ends = [(port, bits) for port, bits in ends if port in inner.used]
            self.add([kind, words, attributes(cell),
                      [[port, [self.source(bit) for bit in bits]] for port, bits in ends if ways[port] != "output"]])
        return at


def attributes(one):
    """The attributes of a cell or memory that decide something."""
    return {name: value for name, value in one.get("attributes", {}).items() if name not in IGNORED}


def order(cell):
    """What a memory's writes are ordered by: initial words first, each kind in the order of the sources."""
    words = cell["parameters"]
    return cell["type"] != "$meminit_v2", int(words.get("PORTID", words.get("PRIORITY")), 2)


def example(prefix="a", kind="$and", wide=1, reset="0", more=False, keep=None, first=None, word="1", inner="$not", port=False):
    """A module with a register, a memory and an instance, for `check`."""
    def cell(kind, inputs, outputs, **words):
        return {"type": kind, "parameters": words, "attributes": {"src": prefix}, "connections": {**inputs, **outputs},
                "port_directions": {**dict.fromkeys(inputs, "input"), **dict.fromkeys(outputs, "output")}}

    cells = {f"{prefix}1": cell(kind, {"A": [2], "B": [3]}, {"Y": [4]}, WIDTH=wide),
             f"{prefix}2": cell("$dff", {"D": [4], "R": [reset]}, {"Q": [5]}),
             f"{prefix}3": cell("$memrd_v2", {"ADDR": [5]}, {"DATA": [7]}, MEMID=f"\\{prefix}m"),
             f"{prefix}4": cell("$meminit_v2", {"DATA": [word]}, {}, MEMID=f"\\{prefix}m", PRIORITY="1"),
             f"{prefix}5": cell("inner", {"a": [7], **({"b": ["0"]} if port else {})}, {"q": [8]})}
    if more:
        cells = {f"{prefix}0": cell(kind, {"A": [4], "B": [3]}, {"Y": [6]}), **cells}
    if keep == "unused":
        cells[f"{prefix}6"] = {**cell("$dff", {"D": [4]}, {"Q": [9]}), "attributes": {"keep": "1"}}
    nets = {f"{prefix}n": {"bits": [4], "attributes": {"keep": "1"} if keep == "net" else {}},
            f"{prefix}o": {"bits": [5], "attributes": {"init": first} if first else {}}}
    ends = {"a": {"direction": "input", "bits": [2, 3]}, "q": {"direction": "output", "bits": [8]}}
    within = {"a": {"direction": "input", "bits": [2]}, **({"b": {"direction": "input", "bits": [4]}} if port else {}),
              "q": {"direction": "output", "bits": [3]}}
    memories = {f"{prefix}m": {"width": 1, "start_offset": 0, "size": 2}}
    return {"top": {"cells": cells, "netnames": nets, "ports": ends, "memories": memories},
            "inner": {"cells": {"n": cell(inner, {"A": [2]}, {"Y": [3]})}, "netnames": {}, "ports": within}}


def check():
    """Fails unless the hash stays the same with other names, with logic that no output depends on and with a port that nothing uses, and
    changes with anything else."""
    def of(**words):
        return sha256(example(**words), "top")

    if len({of(), of(prefix="b"), of(more=True), of(port=True)}) != 1:
        raise SystemExit("the hash of a circuit changes with its names, or with what no output depends on")
    others = [of(kind="$or"), of(wide=2), of(reset="1"), of(keep="net"), of(keep="unused"), of(first="0"), of(first="1"), of(word="0"),
              of(inner="$pos"), sha256(example(), "top", "300")]
    if len({of(), *others}) != 1 + len(others):
        raise SystemExit("the hash of a circuit does not change with its cells or connections")
