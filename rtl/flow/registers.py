# SPDX-License-Identifier: MIT OR Apache-2.0
"""The register map, from axi/registers.json: the SystemVerilog package, the C header and the document. And IP-XACT."""

import json

from . import ipxact
from .tools import RTL

FROM = "from rtl/axi/registers.json by `python -m flow registers`"


def description():
    """The map, checked: registers and fields do not overlap and lie where they can be accessed."""
    found = json.loads((RTL / "axi" / "registers.json").read_text())
    taken = set()
    for register in found["registers"]:
        for number in range(register.get("count", 1)):
            offset = register["offset"] + 4 * number
            if offset % 4 or offset in taken:
                raise SystemExit(f"{register['name']}: offset {offset} is no place of its own")
            taken.add(offset)
        bits = [bit for field in register["fields"] for bit in range(field["low"], field["low"] + field["bits"])]
        if len(bits) != len(set(bits)) or max(bits) > 31:
            raise SystemExit(f"{register['name']}: fields overlap, or are out of its 32 bits")
        if any(field.get("value", 0) >> field["bits"] for field in register["fields"]):
            raise SystemExit(f"{register['name']}: a value is larger than its field")
        if register["access"] not in ("ro", "wo", "rw", "w1c"):
            raise SystemExit(f"{register['name']}: access {register['access']}")
    return found


def package(found):
    """The SystemVerilog package."""
    lines = ["// SPDX-License-Identifier: MIT OR Apache-2.0", "//", f"// Addresses and fields, {FROM}.", "",
             f"package {found['name']}_registers_pkg;", ""]
    top = max(register["offset"] + 4 * register.get("count", 1) for register in found["registers"])
    lines += [f"  localparam int unsigned AddressW = {(top - 1).bit_length()};", ""]
    for register in found["registers"]:
        name = camel(register["name"])
        lines.append(f"  localparam logic [AddressW-1:0] {name}At = 'h{register['offset']:x};")
        for field in register["fields"]:
            lines.append(f"  localparam int unsigned {name}{camel(field['name'])} = {field['low']};")
            if "value" in field:
                lines.append(f"  localparam logic [{field['bits'] - 1}:0] {name}{camel(field['name'])}Value = 'h{field['value']:x};")
    return "\n".join([*lines, "", "endpackage", ""])


def header(found):
    """The C header."""
    guard = f"{found['name'].upper()}_REGISTERS_H"
    lines = ["/* SPDX-License-Identifier: MIT OR Apache-2.0 */", f"/* {found['about']} Made {FROM}. */".replace("`", ""),
             f"#ifndef {guard}", f"#define {guard}", ""]
    for register in found["registers"]:
        name = f"{found['name'].upper()}_{register['name']}"
        lines.append(f"/* {register['access']}: {register['about']} */")
        if "count" in register:
            lines.append(f"#define {name}(n) (0x{register['offset']:02x}u + 4u * (n)) /* n below {register['count']} */")
        else:
            lines.append(f"#define {name} 0x{register['offset']:02x}u")
        for field in register["fields"]:
            mask = ((1 << field["bits"]) - 1) << field["low"]
            lines.append(f"#define {name}_{field['name']}_SHIFT {field['low']}u")
            lines.append(f"#define {name}_{field['name']}_MASK 0x{mask:08x}u")
            if "value" in field:
                lines.append(f"#define {name}_{field['name']}_VALUE 0x{field['value']:x}u")
        lines.append("")
    return "\n".join([*lines, f"#endif /* {guard} */", ""])


def document(found):
    """The document."""
    lines = ["# Registers of the hardware cores", "", f"{found['about']} This page is made {FROM}.", "",
             "| offset | register | access | bits | field | |", "|---|---|---|---|---|---|"]
    for register in found["registers"]:
        count = register.get("count", 1)
        last = f" to 0x{register['offset'] + 4 * (count - 1):02x}" if count > 1 else ""
        name = f"`{register['name']}`" + (f", {count} of them" if count > 1 else "")
        lines.append(f"| 0x{register['offset']:02x}{last} | {name} | {register['access']} | | | {register['about']} |")
        for field in register["fields"]:
            high = field["low"] + field["bits"] - 1
            bits = str(high) if field["bits"] == 1 else f"{high}:{field['low']}"
            about = field.get("about") or (f"always 0x{field['value']:x}" if "value" in field else "")
            lines.append(f"| | | | {bits} | `{field['name']}` | {about} |")
    return "\n".join([*lines, ""])


def camel(name):
    """`KEY_COMMAND` as `KeyCommand`."""
    return "".join(word.capitalize() for word in name.split("_"))


FILES = {"axi/sealwright_registers_pkg.sv": package, "axi/sealwright_registers.h": header, "../docs/REGISTERS.md": document,
         "sealwright.xml": lambda _: ipxact.component()}


def make():
    """Writes the files."""
    found = description()
    for name, text in FILES.items():
        (RTL / name).write_text(text(found))


def check():
    """Fails if a file is not what the description makes."""
    found = description()
    old = [name for name, text in FILES.items() if (RTL / name).read_text() != text(found)]
    if old:
        raise SystemExit(f"not as their sources say: {', '.join(old)}; python -m flow registers makes them")
