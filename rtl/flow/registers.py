# SPDX-License-Identifier: MIT OR Apache-2.0
"""Generates from axi/registers.json the SystemVerilog package, the C header, the document and the IP-XACT components."""

import json
import re
import textwrap
from functools import partial

from . import ipxact
from .tools import RTL, enum, run

FROM = "from rtl/axi/registers.json by `python -m flow registers`"


def description():
    """The register map, after a check that registers and fields do not overlap and have valid places."""
    found = json.loads((RTL / "axi" / "registers.json").read_text())
    taken = set()
    for register in found["registers"]:
        for number in range(register.get("count", 1)):
            offset = register["offset"] + 4 * number
            if offset % 4 or offset in taken:
                raise SystemExit(f"{register['name']}: offset {offset} is not a multiple of 4, or is used twice")
            taken.add(offset)
        bits = [bit for field in register["fields"] for bit in range(field["low"], field["low"] + field["bits"])]
        if len(bits) != len(set(bits)) or max(bits) > 31:
            raise SystemExit(f"{register['name']}: fields overlap, or exceed its 32 bits")
        if any(field.get("value", 0) >> field["bits"] for field in register["fields"]):
            raise SystemExit(f"{register['name']}: a value is larger than its field")
        if register["access"] not in ("ro", "wo", "rw", "w1c"):
            raise SystemExit(f"{register['name']}: access {register['access']}")
        for one in (register, *register["fields"]):
            if "values" in one and enum(one["enum"]) != {camel(name): value["value"] for name, value in one["values"].items()}:
                raise SystemExit(f"{register['name']}: its values are not those of {one['enum']} in sealwright_pkg")
    return found


def reset(register):
    """The value of a register after a reset, or None if it is not the same in every core."""
    values = [field.get("reset") for field in register["fields"]]
    if None in values:
        return None
    return sum(value << field["low"] for value, field in zip(values, register["fields"], strict=True))


def meaning(one):
    """The description of a register or a field and of its values, as one sentence."""
    values = [f"{value['value']} `{name}`" + (f" ({value['about']})" if "about" in value else "")
              for name, value in one.get("values", {}).items()]
    return ": ".join(part for part in (one.get("about"), ", ".join(values)) if part)


def package(found):
    """The SystemVerilog package."""
    lines = ["// SPDX-License-Identifier: MIT OR Apache-2.0", "//", f"// Addresses and fields, generated {FROM}.", "",
             f"package {found['name']}_registers_pkg;", ""]
    lines += [f"  localparam int unsigned AddressW = {ipxact.address_bits(found)};", ""]
    for register in found["registers"]:
        name = camel(register["name"])
        lines.append(f"  localparam logic [AddressW-1:0] {name}At = 'h{register['offset']:x};")
        if reset(register) is not None:
            lines.append(f"  localparam logic [31:0] {name}Reset = 'h{reset(register):x};")
        lines += [f"  localparam int unsigned {name}{camel(word)} = {value['value']};" for word, value in named(register)]
        for field in register["fields"]:
            full = name + camel(field["name"])
            lines.append(f"  localparam int unsigned {full} = {field['low']};")
            if "value" in field:
                lines.append(f"  localparam logic [{field['bits'] - 1}:0] {full}Value = 'h{field['value']:x};")
            for word, value in named(field):
                lines.append(f"  localparam logic [{field['bits'] - 1}:0] {full}{camel(word)} = 'h{value['value']:x};")
    return "\n".join([*lines, "", "endpackage", ""])


def named(one):
    """The named values of a field, or of the index of a register."""
    return one.get("values", {}).items()


def header(found):
    """The C header."""
    guard = f"{found['name'].upper()}_REGISTERS_H"
    lines = ["/* SPDX-License-Identifier: MIT OR Apache-2.0 */", *comment(f"{found['about']} Generated {FROM}."),
             f"#ifndef {guard}", f"#define {guard}", ""]
    for one in found["sequences"]:
        steps = " ".join(f"({number}) {step}" for number, step in enumerate(one["steps"], 1))
        lines += [*comment(f"{one['title']}: {steps}"), ""]
    for register in found["registers"]:
        name = f"{found['name'].upper()}_{register['name']}"
        lines += comment(f"{register['access']}: {register['about']}")
        if "count" in register:
            lines.append(f"#define {name}(n) (0x{register['offset']:02x}u + 4u * (n)) /* n below {register['count']} */")
        else:
            lines.append(f"#define {name} 0x{register['offset']:02x}u")
        if reset(register) is not None:
            lines.append(f"#define {name}_RESET 0x{reset(register):08x}u")
        lines += [f"#define {name}_{word} {value['value']}u" for word, value in named(register)]
        for field in register["fields"]:
            full, mask = f"{name}_{field['name']}", ((1 << field["bits"]) - 1) << field["low"]
            lines.append(f"#define {full}_SHIFT {field['low']}u")
            lines.append(f"#define {full}_MASK 0x{mask:08x}u")
            if "value" in field:
                lines.append(f"#define {full}_VALUE 0x{field['value']:x}u")
            lines += [f"#define {full}_{word} {value['value']}u" for word, value in named(field)]
        lines.append("")
    return "\n".join([*lines, f"#endif /* {guard} */", ""])


def comment(text):
    """A comment in C, on as many lines as it needs."""
    return textwrap.wrap(f"/* {text} */".replace("`", ""), 110, subsequent_indent="   ", break_on_hyphens=False)


def document(found):
    """The document."""
    lines = ["# Registers of the hardware cores", "",
             found["about"], f"This page is generated {FROM}.",
             "The reset column gives the value after a reset, if it is the same in every core.", "",
             "| offset | register | access | bits | field | reset | |", "|---|---|---|---|---|---|---|"]
    for register in found["registers"]:
        count = register.get("count", 1)
        last = f" to 0x{register['offset'] + 4 * (count - 1):02x}" if count > 1 else ""
        name = f"`{register['name']}`" + (f", {count} of them" if count > 1 else "")
        lines.append(f"| 0x{register['offset']:02x}{last} | {name} | {register['access']} | | | | {meaning(register)} |")
        for field in register["fields"]:
            high = field["low"] + field["bits"] - 1
            bits = str(high) if field["bits"] == 1 else f"{high}:{field['low']}"
            about = meaning(field) or (f"always 0x{field['value']:x}" if "value" in field else "")
            lines.append(f"| | | | {bits} | `{field['name']}` | {field.get('reset', '')} | {about} |")
    for note in found["notes"]:
        lines += ["", *textwrap.wrap(note, 130)]
    for one in found["sequences"]:
        lines += ["", f"**{one['title']}:**", ""]
        for number, step in enumerate(one["steps"], 1):
            lines += textwrap.wrap(f"{number}. {step}", 130, subsequent_indent="   ")
    return "\n".join([*lines, ""])


def camel(name):
    """`KEY_COMMAND` as `KeyCommand`."""
    return "".join(word.capitalize() for word in name.split("_"))


FILES = {"axi/sealwright_registers_pkg.sv": package, "axi/sealwright_registers.h": header, "../docs/REGISTERS.md": document,
         **{name: partial(ipxact.component, top) for name, top in ipxact.FILES.items()}}


def make():
    """Writes the files."""
    found = description()
    for name, text in FILES.items():
        (RTL / name).write_text(text(found))


def check():
    """Fails if a generated file is out of date."""
    found = description()
    old = [name for name, text in FILES.items() if (RTL / name).read_text() != text(found)]
    if old:
        raise SystemExit(f"out of date: {', '.join(old)}; run python -m flow registers")
    for name, top in ipxact.FILES.items():
        ipxact.check(name, top)
    ipxact.imported("sealwright_axi.xml", found)


PROBE = """#include "{header}"
#include "{header}"
extern const unsigned int values[];
const unsigned int values[] = {{ {values} }};
"""


def compiles():
    """Fails if a C or C++ compiler reports anything about the header, or about a use of its macros."""
    path = RTL / "axi" / "sealwright_registers.h"
    macros = re.findall(r"^#define (\w+)(\(n\))? \S", path.read_text(), re.M)
    text = PROBE.format(header=path, values=", ".join(name + "(1)" * bool(takes) for name, takes in macros))
    for words in (["gcc", "-x", "c", "-std=c99"], ["g++", "-x", "c++", "-std=c++11"]):
        run([*words, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-"], input=text)
