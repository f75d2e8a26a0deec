# SPDX-License-Identifier: MIT OR Apache-2.0
"""Draws waveforms of one packet in each core (docs/wave-*.svg), from a VCD dump of the Verilated model."""

import os
from dataclasses import dataclass

from . import sim
from .cores import Core
from .tools import BUILD, RTL, run

LENGTH = 208  # bytes of text: three and a quarter beats of four lanes
EDGE, WIDE, HIGH = 190, 22, 30  # pixels: left edge of the first cycle, width of a cycle, height of a row


@dataclass
class Row:
    """A row of the picture: the valid bit, the bus whose words are shown (if any), and the ready bit. A row without a bus
    shows its bit only in cycles in which `among` is set."""

    label: str
    valid: str
    data: str = ""
    ready: str = ""
    among: str = ""


PORTS = [
    Row("command", "s_axis_command_tvalid", "s_axis_command_tdata", "s_axis_command_tready"),
    Row("data in", "s_axis_tvalid", "s_axis_tdata", "s_axis_tready"),
    Row("its last beat", "s_axis_tlast", among="s_axis_tvalid"),
]
OUT = [
    Row("text out", "m_axis_tvalid", "m_axis_tdata", "m_axis_tready"),
    Row("its last beat", "m_axis_tlast", among="m_axis_tvalid"),
    Row("verdict", "m_axis_verdict_tvalid", "m_axis_verdict_tdata", "m_axis_verdict_tready"),
]
PICTURES = {
    "gcm": [*PORTS, Row("into the cipher", "cipher_valid_q", "cipher_in_q"), Row("keystream", "cipher_valid", "cipher_out"),
            Row("into GHASH", "valid_q", "x_q"), Row("hash", "hash_valid", "hash"), *OUT],
    "ocb": [*PORTS, Row("into the cipher", "cipher_valid_q", "cipher_in_q"), Row("out of the cipher", "cipher_valid", "cipher_out"),
            Row("the tag's block", "tag_done", "narrow_out_q"), *OUT],
}


def dump(path):
    """The values of every signal by cycle, just before the rising edge: a list of dictionaries. Of signals with the same name
    the one of the outermost module counts, which is first in the dump."""
    names, seen, now, changes, cycles = {}, set(), {}, {}, []
    for line in [*path.read_text().splitlines(), "#"]:
        words = line.split()
        if not words:
            continue
        if words[0] == "$var":
            name = words[4].split("[")[0]
            if name not in seen:
                names.setdefault(words[3], []).append(name)
            seen.add(name)
        elif words[0][0] == "#":
            # The values before the edge: in the dump the clock changes together with other signals.
            rises = any("clk" in names.get(code, ()) and value and not now.get(code) for code, value in changes.items())
            if rises:
                cycles.append({name: value for code, value in now.items() for name in names.get(code, ())})
            now.update(changes)
            changes = {}
        elif words[0][0] == "b":
            changes[words[1]] = int(words[0][1:].replace("x", "0").replace("z", "0"), 2)
        elif words[0][0] in "01xz" and words[0] not in ("0", "1"):
            changes[words[0][1:]] = int(words[0][0] == "1")
    return cycles


def draw(title, cycles, rows):
    """The picture as SVG."""
    width, height = EDGE + WIDE * len(cycles) + 20, HIGH * (len(rows) + 3)
    style = ("text{font:12px sans-serif;fill:#222}.w{font:10px monospace}.l{stroke:#1f5fa8;stroke-width:1.6;fill:none}"
             ".b{fill:#dce9f7;stroke:#1f5fa8}.h{fill:#f3e3c3;stroke:#b98a1e}.g{stroke:#ddd}")
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
           f"<title>{title}</title><style>{style}</style>", f'<rect width="{width}" height="{height}" fill="#fff"/>',
           f'<text x="10" y="20" style="font-size:14px">{title}</text>']
    foot = HIGH * (len(rows) + 2) - 6
    for number in range(0, len(cycles), 5):
        x = EDGE + WIDE * number
        out.append(f'<path class="g" d="M{x} {HIGH + 6}V{foot}"/><text class="w" x="{x - 3}" y="{foot + 14}">{number}</text>')
    out.append(f'<text x="10" y="{foot + 14}">cycle</text>')
    for place, row in enumerate(rows):
        y = HIGH * (place + 2)
        out.append(f'<text x="10" y="{y - 8}">{row.label}</text>')
        if row.data:
            out += words(cycles, row, y)
        else:
            levels = [cycle.get(row.valid) and cycle.get(row.among) for cycle in cycles]
            path = "".join(f"V{y - (20 if level else 4)}H{EDGE + WIDE * (i + 1)}" for i, level in enumerate(levels))
            out.append(f'<path class="l" d="M{EDGE} {y - 4}{path}"/>')
    return "\n".join([*out, "</svg>", ""])


def words(cycles, row, y):
    """The valid words of a bus, each shown as its byte 0. Words that wait for ready have another colour."""
    out = [f'<path class="l" d="M{EDGE} {y - 4}H{EDGE + WIDE * len(cycles)}"/>']
    start = 0
    while start < len(cycles):
        if not cycles[start].get(row.valid):
            start += 1
            continue
        moves = not row.ready or cycles[start].get(row.ready)
        end = start + 1
        while not moves and end < len(cycles) and cycles[end].get(row.valid) and not cycles[end].get(row.ready):
            end += 1
        first = f"{cycles[start].get(row.data, 0) & 0xFF:02x}"
        kind = "b" if moves else "h"
        out.append(f'<rect class="{kind}" x="{EDGE + WIDE * start}" y="{y - 22}" width="{WIDE * (end - start)}" height="18"/>')
        out.append(f'<text class="w" x="{EDGE + WIDE * start + 5}" y="{y - 9}">{first}</text>')
        start = end
    return out


def every(generator):
    """Draws one sealed packet for each core with four lanes of AES-128."""
    for mode, rows in PICTURES.items():
        core = Core(mode, "aes128", 4)
        program = sim.model(core, traced=True)
        path = sim.cases(generator, [core.suite, 7, LENGTH // 16, LENGTH, 0, 1, "seal"], core.name)
        vcd = BUILD / f"{core.name}.vcd"
        run([program, path, 1, "flat"], env={**os.environ, "TRACE": str(vcd)})
        cycles = dump(vcd)
        begin = next(i for i, cycle in enumerate(cycles) if cycle.get("s_axis_command_tvalid"))
        end = next(i for i, cycle in enumerate(cycles) if cycle.get("m_axis_verdict_tvalid"))
        title = f"AES-128-{mode.upper()}, four lanes: a packet of {LENGTH} bytes is sealed"
        (RTL.parent / "docs" / f"wave-{mode}.svg").write_text(draw(title, cycles[begin - 1:end + 3], rows))
        print(f"docs/wave-{mode}.svg: {end - begin + 1} cycles from command to verdict", flush=True)
