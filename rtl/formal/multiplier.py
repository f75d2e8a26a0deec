# SPDX-License-Identifier: MIT OR Apache-2.0
"""Proves GHASH's multiplier by its algebraic normal form, at every depth of its pipeline.

Yosys converts `ghash_multiply` into AND, XOR and NOT gates and replaces its registers with wires. The result is the function
that the pipeline computes with a latency of Depth - 1 cycles. Every signal is then a set of monomials over GF(2). The 128
outputs must be exactly the sums of a_i b_j that the definition of the field gives (SP 800-38D, section 6.3). The proof holds
for all inputs.
"""

import json
import sys
from pathlib import Path

from pyosys import libyosys as ys

RTL = Path(__file__).resolve().parent.parent
FILES = ["pkg/sealwright_pkg.sv", "ghash/ghash_pkg.sv", "lib/stage.sv", "ghash/ghash_multiply.sv"]
REDUCTION = [0, 1, 2, 7]


def netlist(depth, lanes, out):
    """The module's gates as JSON."""
    files = " ".join(str(RTL / name) for name in FILES)
    design = ys.Design()
    for line in [
        f"read_slang --top ghash_multiply -G Lanes={lanes} -G Depth={depth} {files}",
        "flatten", "proc", "opt", "techmap", "simplemap",
        # Replace registers with wires
        "dfflegalize -cell $_DFF_P_ x", "techmap -map " + str(RTL / "formal" / "late.v"),
        "opt", "abc -g AND,XOR", "opt_clean", f"write_json {out}",
    ]:
        ys.run_pass(line, design)
    return json.loads(Path(out).read_text())["modules"]["ghash_multiply"]


def definition():
    """For each output bit, the set of (i, j) whose products a_i b_j it sums."""
    def reduced(k):
        if k < 128:
            return frozenset([k])
        bits = frozenset()
        for r in REDUCTION:
            bits ^= reduced(k - 128 + r)
        return bits

    places = [reduced(k) for k in range(255)]
    sums = [set() for _ in range(128)]
    for i in range(128):
        for j in range(128):
            for k in places[i + j]:
                sums[k].add((i, j))
    return sums


def forms(module):
    """The algebraic normal form of every net: a set of monomials, each a frozenset of input nets."""
    drivers = {}
    for cell in module["cells"].values():
        ends = cell["connections"]
        drivers[ends["Y"][0]] = (cell["type"], [ends[pin][0] for pin in "AB" if pin in ends])
    known = {"0": frozenset(), "1": frozenset([frozenset()])}
    for name in ("a_i", "b_i"):
        for bit in module["ports"][name]["bits"]:
            known[bit] = frozenset([frozenset([bit])])

    def form(net):
        stack = [net]
        while stack:
            top = stack[-1]
            if top in known:
                stack.pop()
                continue
            kind, inputs = drivers[top]
            waiting = [bit for bit in inputs if bit not in known]
            if waiting:
                stack.extend(waiting)
                continue
            values = [known[bit] for bit in inputs]
            if kind == "$_XOR_":
                known[top] = values[0] ^ values[1]
            elif kind == "$_AND_":
                product = set()
                for x in values[0]:
                    for y in values[1]:
                        product ^= {x | y}
                known[top] = frozenset(product)
            elif kind == "$_NOT_":
                known[top] = values[0] ^ {frozenset()}
            else:
                raise SystemExit(f"unexpected gate: {kind}")
            stack.pop()
        return known[net]

    return form


def prove(depth, lanes, out):
    """Raises unless the output is the product in the field, summed over the lanes."""
    module = netlist(depth, lanes, out)
    form = forms(module)
    a, b = module["ports"]["a_i"]["bits"], module["ports"]["b_i"]["bits"]
    for k, (sums, net) in enumerate(zip(definition(), module["ports"]["product_o"]["bits"])):
        wanted = {frozenset([a[128 * l + i], b[128 * l + j]]) for l in range(lanes) for i, j in sums}
        if form(net) != wanted:
            raise SystemExit(f"multiplier of depth {depth}, {lanes} lanes: coefficient {k} is not the field's")
    print(f"multiplier: depth {depth}, {lanes} lanes: proved for all operands")


if __name__ == "__main__":
    for depth, lanes in [tuple(map(int, word.split("x"))) for word in sys.argv[2:]]:
        prove(depth, lanes, sys.argv[1])
