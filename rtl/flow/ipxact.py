# SPDX-License-Identifier: MIT OR Apache-2.0
"""The IP-XACT component (IEEE 1685-2014) of sealwright_axis, made from its SystemVerilog: sealwright.xml."""

import re
from xml.sax.saxutils import escape

from .tools import RTL, headers

SOURCE = RTL / "mode" / "sealwright_axis.sv"
STREAMS = ["s_axis_key", "m_axis_key", "s_axis_command", "s_axis", "m_axis", "m_axis_verdict"]
ROLES = ["tvalid", "tready", "tdata", "tkeep", "tlast", "tuser"]
WIDTHS = {"SlotW": "(Slots > 1 ? $clog2(Slots) : 1)"}
SPIRIT = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"


def parameters(text):
    """Names and default values."""
    yield from re.findall(r"^  parameter int unsigned (\w+)\s*= (\d+)", text, re.M)


def ports(text):
    """Names, directions and left ends of the vectors (nothing for a bit)."""
    for way, left, name in re.findall(r"^  (input|output)\s+logic\s+(?:\[(.+?):0\]\s*)?(\w+),?$", text, re.M):
        for word, value in WIDTHS.items():
            left = re.sub(rf"\b{word}\b", value, left)
        yield name, way, left


def element(name, /, *inner, **attributes):
    """An element, on one line if it holds text."""
    head = name + "".join(f' {key}="{value}"' for key, value in attributes.items())
    if len(inner) == 1 and not inner[0].startswith("<"):
        return f"<ipxact:{head}>{escape(inner[0])}</ipxact:{name}>"
    body = "\n".join("  " + line for part in inner for line in part.splitlines())
    return f"<ipxact:{head}>\n{body}\n</ipxact:{name}>" if inner else f"<ipxact:{head}/>"


def identity(vendor, library, name, version):
    """What names a type."""
    return {"vendor": vendor, "library": library, "name": name, "version": version}


def stream(prefix, there):
    """A bus interface."""
    maps = [element("portMap", element("logicalPort", element("name", role.upper())),
                    element("physicalPort", element("name", f"{prefix}_{role}")))
            for role in ROLES if f"{prefix}_{role}" in there]
    return element(
        "busInterface", element("name", prefix),
        element("busType", **identity("amba.com", "AMBA4", "AXI4Stream", "r0p0_1")),
        element("abstractionTypes", element("abstractionType", element(
            "abstractionRef", **identity("amba.com", "AMBA4", "AXI4Stream_rtl", "r0p0_1")), element("portMaps", *maps))),
        element("master" if prefix.startswith("m_") else "slave"))


def port(name, way, left):
    """A port."""
    vector = [element("vectors", element("vector", element("left", left), element("right", "0")))] if left else []
    return element("port", element("name", name), element("wire", element("direction", way[:-3]), *vector))


def component():
    """The document."""
    text = SOURCE.read_text()
    found = list(ports(text))
    there = {name for name, _, _ in found}
    files = [element("file", element("name", name), element("fileType", "systemVerilogSource"))
             for name in (RTL / "files.f").read_text().split()]
    files += [element("file", element("name", path.relative_to(RTL).as_posix()), element("fileType", "systemVerilogSource"),
                      element("isIncludeFile", "true")) for path in headers()]
    values = [element("parameter", element("name", name), element("value", value), parameterId=name, resolve="user",
                      type="int") for name, value in parameters(text)]
    body = element(
        "component", element("vendor", "sealwright"), element("library", "crypto"), element("name", "sealwright_axis"),
        element("version", "0.1.0"), element("busInterfaces", *(stream(prefix, there) for prefix in STREAMS)),
        element("model", element("views", element(
            "view", element("name", "rtl"), element("componentInstantiationRef", "rtl"))),
            element("instantiations", element(
                "componentInstantiation", element("name", "rtl"), element("language", "SystemVerilog"),
                element("moduleName", "sealwright_axis"), element("fileSetRef", element("localName", "rtl")))),
            element("ports", *(port(*one) for one in found))),
        element("fileSets", element("fileSet", element("name", "rtl"), *files)),
        element("description", "AES-128, AES-256 and Serpent-256 in GCM and OCB3 over AXI4-Stream"),
        element("parameters", *values))
    body = body.replace("<ipxact:component>", f'<ipxact:component xmlns:ipxact="{SPIRIT}">', 1)
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->\n'
            f"<!-- Made from mode/sealwright_axis.sv by python -m flow registers -->\n{body}\n")
