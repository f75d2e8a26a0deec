# SPDX-License-Identifier: MIT OR Apache-2.0
"""Where the block memories of a design go on an ECP5 of 84,000 lookup tables.

nextpnr's static placer finds good places for memories, and then puts each into a legal one near by that it draws. Where most of the
device's memories are used, that makes the wires of a core two to three times as long. So memories get their places here, before
place and route: those that are tied to each other close together. How much two are tied follows from the netlist: if every wire
were a spring, and everything but memories free to move, springs between pairs of memories would do the same (the Schur complement
of the netlist's Laplacian). Swaps find places with short springs by simulated annealing, from places at random.
"""

import json

try:
    import numpy as np
    from scipy import sparse
except ImportError:  # only synthesis needs them
    np = None

from .tools import RTL

TYPES = ("DP16KD", "PDPW16KD")
# 208 places, in the numbers of tiles by which nextpnr names them (`X4/Y22/EBR0`): four in nine columns, but for the middle.
COLUMNS = [9 * group + column + (group > 6) * 2 for group in range(13) for column in (4, 6, 8, 10)]
ROWS = (22, 46, 70, 82)
MIDDLE = (62, 52)
WIDEST = 64  # wires to more pins are left out: they are everywhere
POWER = 1.5  # of the distance: long wires cost more, as it is they that are slow
PULL = 0.02  # to the middle of the device, of the mean force on a memory
MOVES = 1_000_000


def needed(core):
    """Whether the design has block memories."""
    return core.mode != "cipher" or (core.cipher != "serpent" and core.sbox == "rom")


def told():
    """What decides the places: this file, without its comments and empty lines."""
    lines = (line.rstrip() for line in (RTL / "flow" / "memories.py").read_text().splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def place(folder, path, seed):
    """Writes the netlist in `folder` with a place for each memory to `path`."""
    if np is None:
        raise SystemExit("numpy and scipy are not installed\nhint: .venv/bin/pip install -r requirements-synth.txt")
    design = json.loads((folder / "core.json").read_text())
    holders = [module["cells"] for module in design["modules"].values()
               if any(cell["type"] in TYPES for cell in module["cells"].values())]
    if len(holders) != 1:
        raise SystemExit(f"{folder.name}: memories are in {len(holders)} modules, and places are found for those of one")
    cells = holders[0]
    memories = [name for name, cell in cells.items() if cell["type"] in TYPES]
    ties = folder / "ties.npy"
    if not ties.exists():
        np.save(ties, springs(cells, memories))
    for name, site in zip(memories, arranged(np.load(ties), seed), strict=True):
        cells[name].setdefault("attributes", {})["BEL"] = site
    path.write_text(json.dumps(design))


def springs(cells, memories):
    """How much each pair of memories is tied to each other."""
    number = {name: i for i, name in enumerate([*memories, *(set(cells) - set(memories))])}
    nets = {}
    for name, cell in cells.items():
        for bits in cell["connections"].values():
            for bit in bits:
                if isinstance(bit, int):
                    nets.setdefault(bit, []).append(number[name])
    ends, size = [], len(number)
    for pins in nets.values():
        if len(set(pins)) < 2 or len(pins) > WIDEST:
            continue
        if len(pins) == 2:
            ends.append((*pins, 1.0))
            continue
        # A star: a point of its own in the middle
        ends += [(pin, size, len(pins) / (len(pins) - 1)) for pin in pins]
        size += 1
    one, other, weight = (np.array(column) for column in zip(*ends, strict=True))
    tied = sparse.coo_matrix((np.r_[weight, weight], (np.r_[one, other], np.r_[other, one])), shape=(size, size)).tocsr()
    laplacian = (sparse.diags(np.asarray(tied.sum(1)).ravel() + 1e-6) - tied).tocsr()
    count = len(memories)
    moves = solved(laplacian[count:, count:].astype(np.float32), laplacian[count:, :count].toarray().astype(np.float32))
    complement = laplacian[:count, :count].toarray() - laplacian[:count, count:] @ moves
    found = np.maximum(-(complement + complement.T) / 2, 0)
    np.fill_diagonal(found, 0)
    return found


def solved(matrix, right, error=1e-5):
    """The solution of `matrix @ x = right`, column by column, by conjugate gradients."""
    scale = (1 / matrix.diagonal())[:, None].astype(np.float32)
    x, left = np.zeros_like(right), right.copy()
    step = left * scale
    norm = first = (left * step).sum(0)
    for _ in range(1000):
        ahead = matrix @ step
        length = norm / np.maximum((step * ahead).sum(0), 1e-30)
        x += step * length
        left -= ahead * length
        scaled = left * scale
        before, norm = norm, (left * scaled).sum(0)
        if np.all(norm <= error * np.maximum(first, 1e-30)):
            return x
        step = scaled + step * (norm / np.maximum(before, 1e-30))
    raise SystemExit("the places of memories: the equations were not solved")


def arranged(ties, seed, moves=MOVES):
    """A place for each memory, as nextpnr names it."""
    places = np.array([(x, y) for y in ROWS for x in COLUMNS])
    count, total = len(ties), len(places)
    if count > total:
        raise SystemExit(f"{count} memories, and the device has {total}")
    weights = np.zeros((total, total))  # a place that stays empty is tied to nothing
    weights[:count, :count] = ties
    apart = np.abs(places[:, None] - places[None]).sum(2) ** POWER
    pull = np.where(np.arange(total) < count, PULL * ties.sum() / count, 0.0)
    middle = np.abs(places - MIDDLE).sum(1) ** POWER
    draw = np.random.default_rng(seed)
    where = draw.permutation(total)
    heat = 0.3 * ((weights * apart[np.ix_(where, where)]).sum() / 2 + pull @ middle[where]) / total
    cooling = 1e-4 ** (total / moves)
    for move in range(moves):
        if move % total == 0:
            heat *= cooling
        one, other = draw.integers(count), draw.integers(total)
        if one == other:
            continue
        force = weights[one] - weights[other]
        change = apart[where[other], where] - apart[where[one], where]
        gain = force @ change - force[one] * change[one] - force[other] * change[other]
        gain += (pull[one] - pull[other]) * (middle[where[other]] - middle[where[one]])
        if gain < 0 or draw.random() < np.exp(-gain / heat):
            where[one], where[other] = where[other], where[one]
    return [f"X{places[at][0]}/Y{places[at][1]}/EBR{at % 4}" for at in where[:count]]
