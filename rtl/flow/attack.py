# SPDX-License-Identifier: MIT OR Apache-2.0
"""Attacks on the core, and on a copy of it with the faults of the first design (docs/attacks/cores.md).

Each attack of sim/test_attacks.py must succeed against the copy, and fail against the core.
"""

from . import protocol
from .cores import Core
from .tools import BUILD, replaced

CORE = Core("gcm", "aes128", 1, slots=2)
# File, present text, and the faulty text of the first design.
FAULTS = [
    ("mode/tag_check.sv", "shows_q2 ? tag_q2 & Shown : '0", "tag_q2"),  # every verdict shows the correct tag
    # The missing beats of a short frame are taken from the next frame; the surplus beats of a long one go to the next packet.
    ("mode/frame_fit.sv", "take && !drop_q && closes && !whole", "1'b0"),
    ("mode/frame_fit.sv", "take && !drop_q && !closes && final_q", "1'b0"),
]


def succeed(name, folder, files, weak):
    """Whether the attacks succeed against a core if it is `weak`, and fail if not."""
    env = {"LANES": str(CORE.lanes), "HOLD": "0", "KEEP": "0", "CASES": "", "WEAK": str(int(weak))}
    return protocol.tested("sealwright_axis", name, ["test_attacks"], folder, CORE.of_streams, files, env)


def check(short=False):
    """Fails unless every attack succeeds against the copy with the faults and fails against the core. `short` leaves out the
    core, which the tests of the stream protocol attack, too (flow/protocol.py)."""
    folder = BUILD / "attack"
    ends = [succeed("the first design's faults", folder / "weak", [*replaced(folder / "faults", FAULTS).values()], True)]
    if not short:
        ends.append(succeed("the core as it is", folder / "strong", None, False))
    if not all(ends):
        raise SystemExit("an attack failed against the faults, or succeeded against the core as it is")
