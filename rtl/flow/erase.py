# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whether anything in a core still depends on a key that was erased, or that a reset took: two copies of a core get different keys,
lose them in the same way, and must then be in the same state, to the last register and word of memory.
"""

import re
import signal

from . import sim
from .cores import Core
from .tools import BUILD, replaced

# Both ciphers and both modes, every kind of S-box.
CORES = [Core("gcm", "aes128", 1, "rom", 2), Core("ocb", "serpent", 1, cut=1, slots=1), Core("gcm", "aes128", 1, slots=2, keep=1)]
MORE = [Core("ocb", "aes256", 1, "rom", 2), Core("gcm", "serpent", 1, cut=1), Core("ocb", "aes128", 2),
        Core("gcm", "aes256", 1, "composite", 3, slots=1), Core("ocb", "aes128", 1, slots=1, keep=1)]


def state(path):
    """What a file of one moment has: values by name."""
    names, values, scope = {}, {}, []
    for line in path.read_text().splitlines():
        words = line.split()
        match words:
            case ["$scope", _, name, *_]:
                scope.append(name)
            case ["$upscope", *_]:
                scope.pop()
            case ["$var", _, _, key, *name]:
                names[".".join([*scope, *name[:-1]])] = key
            case [value, key] if value.startswith("b"):
                values[key] = value
            case [value] if value[0] in "01":
                values[value[1:]] = value[0]
    return {name: values[key] for name, key in names.items() if key in values}


class Noticed(SystemExit):
    """Something still depends on a key, or a core that nothing came into, or that fails."""


def from_outside(code):
    """Whether this exit code is of a program that somebody else ended; a script says so by 128 and the signal."""
    return any(code in (-one, 128 + one) for one in (signal.SIGKILL, signal.SIGTERM))


def depend(program, what, way):
    """The names of what depends on a key, and of what still does when it is gone; of how many. `what` says which key."""
    folder, states = program.parent, {}
    for byte in (0x3C, 0xA5):
        code = sim.quietly([program, what, byte, way, folder], 300)
        if from_outside(code):
            raise SystemExit(f"{program} was ended from outside: {code}")
        if code:  # an assertion, or a core that does not answer
            raise Noticed(f"{program.name}: it failed")
        states[byte] = [state(folder / f"{name}.vcd") for name in ("with", "without")]
    found = []
    for first, second in zip(*states.values(), strict=True):
        if first.keys() != second.keys():
            raise SystemExit("two states of one core have other names")
        found.append([name for name, value in first.items() if value != second[name]])
    return *found, len(first)


# What lines leave in the unit of a bus node: pads, and the line that was sealed last, as its text, its tag and what GHASH took in.
LEFT = re.compile(r"^TOP\.shu\.(gen_pad|pad_q|mixed|out_q|sealed|group|made_tag_q|u_ghash\.(x|x_i|a_q|u_x|u_multiply\.(a_i|gen_lane\W*\d+\W*"
                  r"(a|a_q|u_leaves))))\b")


# What packets leave in a core: text, keystream, masks and offsets in its queues and on its way through the cipher, the last sums, and
# the tags of sealed packets. Round keys, powers of H, multiples of L and OCB's last block of each slot are not among them.
PACKETS = re.compile(
    r"^TOP\.(sealwright_axis\.)?(m_axis_tdata|core_data|gen_(gcm|ocb)\.u_core\.(m_data_o|TextWord|u_out|u_tag_check|"
    r"ks|u_ks|mask|mask_q2?|u_masks|mixed_q|out|"  # GCM
    r"made|beat|u_beats|meta(_d|_q)?|u_meta|cipher_(d|in_q|out)|inverse_out|sum_(block|hash)|u_sums|made_tag|tag|u_tags|start_offset|"
    r"u_nonce\.(u_answers|u_offsets|offset_o|top)|u_control\.(offset_[io]|loop_q|came_q|start_q|text_base|base)|"  # OCB
    r"(u_cipher|gen_inverse\.u_inverse)\.(block_[io]|gen_(aes|serpent)\.u_pipe\.(block_[io]|gen_lane))))\b")


def gone(name, program, keys, stays=None, ways=("erase", "reset")):
    """Fails if anything still depends on one of `keys` when it is gone in one of the `ways`, but what matches `stays`; returns how
    much depended on them."""
    count = 0
    for way in ways:
        for what in keys:
            before, after, of = depend(program, what, way)
            count += len(before)
            if len(before) < 11:
                raise Noticed(f"{name}: no more than {before} depends on a key: this check sees nothing")
            left = [one for one in after if not (stays and stays.search(one))]
            if left:
                raise Noticed(f"{name} {what}, {way}: {len(left)} of {of} still depend on the key: {left[:8]}")
    return count


def tell(name, count):
    print(f"{name}: {count} registers and words that depended on a key do no more", flush=True)


def bus(program):
    """Fails if anything in the unit of a bus node still depends on a key that is gone, but pads, and the line that was sealed last."""
    tell("shu", gone("shu", program, ["key"]) + gone("shu", program, ["lines"], LEFT))


# Faults that leave keys: a reset erases the first slot alone, or nothing; OCB's last block stays, which only packets fill.
PLANTED = [("lib/key_guard.sv", "state_q <= slot_q == SlotW'(Slots - 1) ? Idle : Wipe", "state_q <= Idle")]
PLANTED_OCB = [("mode/ocb_nonce.sv", "else if (wipe_i) tops[wipe_slot_i] <= '0;", "")]
PLANTED_BUS = [("bus/shu.sv", "if (!rst_ni) {wipe_q, keyed_q} <= 2'b10;", "if (!rst_ni) {wipe_q, keyed_q} <= 2'b00;")]


def check(cores, planted=False):
    """Fails if anything in one of `cores`, or in the unit of a bus node, still depends on a key that is gone, or with `planted` if
    that is not seen in both with faults that leave keys."""
    for core in cores:
        found(core)
    bus(sim.bus_model(harness="erase_shu"))
    if planted:
        noticed(PLANTED, lambda files, folder: found(CORES[0], files, folder))
        noticed(PLANTED_OCB, lambda files, folder: found(CORES[1], files, folder))
        noticed(PLANTED_BUS, lambda files, folder: bus(sim.bus_model(folder, files, "erase_shu")))


def noticed(faults, look):
    """Fails unless `look` fails, given the sources with `faults` and a folder."""
    folder = BUILD / "erase-planted"
    files = replaced(folder, faults)
    try:
        look(list(files.values()), folder)
    except SystemExit as seen:
        if "still depend on the key" not in str(seen):  # a build that fails shows nothing
            raise SystemExit(f"with a planted fault that leaves keys, something else failed: {seen}") from seen
        print(f"with a planted fault: {seen}", flush=True)
    else:
        raise SystemExit("a planted fault that leaves keys was not seen")


def found(core, files=None, folder=None):
    """Fails if anything in `core`, of the given files if they are not the sources, still depends on a key that is gone."""
    program = sim.model(core, folder=folder, files=files, harness="erase")
    name, ways = core.folder, ("erase", "cut" if core.keep else "reset")
    count = gone(name, program, [f"key:{slot}" for slot in range(core.slots)], ways=ways)
    if core.lanes == 1:  # the packets of erase.cpp
        count += gone(name, program, [f"packets:{slot}" for slot in range(core.slots)], PACKETS, (*ways, "during"))
    tell(name, count)
