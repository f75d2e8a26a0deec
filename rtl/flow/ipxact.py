# SPDX-License-Identifier: MIT OR Apache-2.0
"""The IP-XACT components (IEEE 1685-2014) of the two top modules, generated from their SystemVerilog: sealwright.xml and
sealwright_axi.xml, which also has the memory map of axi/registers.json."""

import re
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from .tools import RTL, enum, headers, version

TOPS = {"sealwright_axis": ("mode", "AES-128, AES-256 and Serpent-256 in GCM and OCB3 over AXI4-Stream"),
        "sealwright_axi": ("axi", "AES-128, AES-256 and Serpent-256 in GCM and OCB3 over AXI4-Stream, keys and counters over AXI4-Lite")}
FILES = {"sealwright.xml": "sealwright_axis", "sealwright_axi.xml": "sealwright_axi"}
STREAMS = ["s_axis_key", "m_axis_key", "s_axis_command", "s_axis", "m_axis", "m_axis_verdict"]
ROLES = ["tvalid", "tready", "tdata", "tkeep", "tlast", "tuser"]
LITE = "s_axil"
LITE_ROLES = ["awvalid", "awready", "awaddr", "wvalid", "wready", "wdata", "wstrb", "bvalid", "bready", "bresp",
              "arvalid", "arready", "araddr", "rvalid", "rready", "rdata", "rresp"]
MAP = "registers"
WIDTHS = {"SlotW": "(Slots > 1 ? $clog2(Slots) : 1)", "NumberW": "(Number > 0 ? Number : 1)"}
SCHEMA = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
# Allowed values of parameters: a range, or a list, with names if the values have any. Rules that involve several parameters
# are left to elaboration.
RANGES = {"Cut": (0, 4), "Depth": (1, 6), "Opens": (0, 1), "Keep": (0, 1), "Hold": (0, 65535)}
CHOICES = {"Mode": enum("mode_e"), "Cipher": enum("cipher_e"), "Sbox": enum("sbox_e"), "Lanes": (1, 2, 4),
           "Slots": tuple(2**n for n in range(9)), "Tag": (4, 8, 12, 13, 14, 15, 16), "Number": (0, *range(9, 17))}


def source(top):
    """The SystemVerilog of a top."""
    return (RTL / TOPS[top][0] / f"{top}.sv").read_text()


def parameters(text):
    """Names and default values."""
    return re.findall(r"^  parameter int unsigned (\w+)\s*= (\d+)", text, re.M)


def ports(text, widths):
    """Names, directions, and left bounds of the vectors (empty for a single bit)."""
    for way, left, name in re.findall(r"^  (input|output)\s+logic\s+(?:\[(.+?):0\]\s*)?(\w+),?$", text, re.M):
        for word, value in widths.items():
            left = re.sub(rf"\b{word}\b", value, left)
        yield name, way, left


def element(name, /, *inner, **attributes):
    """An element, on one line if it holds text."""
    head = name + "".join(f' {key}="{value}"' for key, value in attributes.items())
    if len(inner) == 1 and not inner[0].startswith("<"):
        return f"<ipxact:{head}>{escape(inner[0])}</ipxact:{name}>"
    body = "\n".join("  " + line for part in inner for line in part.splitlines())
    return f"<ipxact:{head}>\n{body}\n</ipxact:{name}>" if inner else f"<ipxact:{head}/>"


def texts(**words):
    """Elements that contain only text."""
    return [element(name, str(word)) for name, word in words.items()]


def identity(vendor, library, name, release):
    """The attributes that identify a type: vendor, library, name and version."""
    return {"vendor": vendor, "library": library, "name": name, "version": release}


def interface(name, bus, maps, mode, *more):
    """A bus interface: `bus` names its type, whose abstraction has the same name with `_rtl`, and `maps` the port of each logical
    port."""
    vendor, library, kind, release = bus
    body = [element("portMap", element("logicalPort", *texts(name=logical)), element("physicalPort", *texts(name=physical)))
            for logical, physical in maps.items()]
    return element(
        "busInterface", *texts(name=name), element("busType", **identity(*bus)),
        element("abstractionTypes", element("abstractionType", element(
            "abstractionRef", **identity(vendor, library, f"{kind}_rtl", release)), element("portMaps", *body))),
        element(mode, *more))


def interfaces(there):
    """The bus interfaces of a top with these ports. Clock and reset of every AXI interface are among its ports."""
    timing = {"ACLK": "clk", "ARESETn": "rst_n"}
    yield interface("clk", ("spiritconsortium.org", "busdef.clock", "clock", "1.0"), {"CLK": "clk"}, "slave")
    yield interface("rst_n", ("spiritconsortium.org", "busdef.reset", "reset", "1.0"), {"RESETn": "rst_n"}, "slave")
    for prefix in STREAMS:
        maps = {role.upper(): f"{prefix}_{role}" for role in ROLES if f"{prefix}_{role}" in there}
        if maps:
            yield interface(prefix, ("amba.com", "AMBA4", "AXI4Stream", "r0p0_1"), {**timing, **maps},
                            "master" if prefix.startswith("m_") else "slave")
    if f"{LITE}_awvalid" in there:
        yield interface(LITE, ("amba.com", "AMBA4", "AXI4-Lite", "r0p0_0"),
                        {**timing, **{role.upper(): f"{LITE}_{role}" for role in LITE_ROLES}}, "slave",
                        element("memoryMapRef", memoryMapRef=MAP))
    if "irq" in there:
        yield interface("irq", ("spiritconsortium.org", "busdef.interrupt", "interrupt", "1.0"), {"IRQ": "irq"}, "master")


def port(name, way, left):
    """A port."""
    vector = [element("vectors", element("vector", *texts(left=left, right=0)))] if left else []
    return element("port", *texts(name=name), element("wire", *texts(direction=way[:-3]), *vector))


ACCESS = {"ro": "read-only", "wo": "write-only", "rw": "read-write", "w1c": "read-write"}
ACCESS_READ = {"r": "read-only", "w": "write-only", "rw": "read-write"}  # in SystemRDL


def field(one, register):
    """A field of a register."""
    about = one.get("about")
    reset = one.get("value", one.get("reset"))
    access = one.get("access", register["access"])
    values = [element("enumeratedValue", *texts(name=name, **{"description": value["about"]} if "about" in value else {},
                                                value=value["value"]))
              for name, value in one.get("values", {}).items()]
    return element(
        "field", *texts(name=one["name"], **{"description": about} if about else {}, bitOffset=one["low"]),
        *([element("resets", element("reset", *texts(value=reset)))] if reset is not None else []),
        *texts(bitWidth=one["bits"], **{"volatile": "true"} if one.get("volatile") else {}),
        *([element("enumeratedValues", *values)] if values else []),
        *texts(access=ACCESS[access]), *(texts(modifiedWriteValue="oneToClear") if access == "w1c" else []))


def register(one):
    """A register, or an array of them."""
    return element(
        "register", *texts(name=one["name"], description=one["about"], **{"dim": one["count"]} if "count" in one else {},
                           addressOffset=f"'h{one['offset']:x}", size=32, access=ACCESS[one["access"]]),
        *(field(part, one) for part in one["fields"]))


def memory(described):
    """The memory map."""
    width = address_bits(described)
    return element("memoryMaps", element("memoryMap", *texts(name=MAP), element(
        "addressBlock", *texts(name=MAP, description=described["about"], baseAddress=0, range=2**width, width=32, usage="register"),
        *map(register, described["registers"])), *texts(addressUnitBits=8)))


def address_bits(described):
    """Bits of an address."""
    top = max(one["offset"] + 4 * one.get("count", 1) for one in described["registers"])
    return (top - 1).bit_length()


def parameter(name, value):
    """A parameter of a component."""
    more = {"choiceRef": f"{name}Choice"} if name in CHOICES else dict(zip(("minimum", "maximum"), RANGES[name], strict=True))
    return element("parameter", *texts(name=name, value=value), parameterId=name, resolve="user", type="int", **more)


def choice(name, values):
    """The values that a parameter may have."""
    named = values.items() if isinstance(values, dict) else ((None, value) for value in values)
    return element("choice", *texts(name=f"{name}Choice"),
                   *(element("enumeration", str(value), **{"text": text} if text else {}) for text, value in named))


def component(top, described):
    """The document of a top."""
    text, built = source(top), parameters(source(top))
    found = list(ports(text, {**WIDTHS, "AddressW": str(address_bits(described))}))
    there = {name for name, _, _ in found}
    files = [element("file", *texts(name=name, fileType="systemVerilogSource")) for name in (RTL / "files.f").read_text().split()]
    files += [element("file", *texts(name=path.relative_to(RTL).as_posix(), fileType="systemVerilogSource", isIncludeFile="true"))
              for path in headers()]
    body = element(
        "component", *texts(vendor="sealwright", library="crypto", name=top, version=version()),
        element("busInterfaces", *interfaces(there)), *([memory(described)] if f"{LITE}_awvalid" in there else []),
        element("model", element("views", element("view", *texts(name="rtl", componentInstantiationRef="rtl"))),
                element("instantiations", element(
                    "componentInstantiation", *texts(name="rtl", language="SystemVerilog", moduleName=top),
                    element("moduleParameters", *(
                        element("moduleParameter", *texts(name=name, value=name), parameterId=f"{name}OfModule", dataType="int unsigned",
                                usageType="nontyped") for name, _ in built)),
                    element("fileSetRef", *texts(localName="rtl")))),
                element("ports", *(port(*one) for one in found))),
        element("choices", *(choice(*one) for one in CHOICES.items())),
        element("fileSets", element("fileSet", *texts(name="rtl"), *files)),
        *texts(description=TOPS[top][1]), element("parameters", *(parameter(*one) for one in built)))
    body = body.replace("<ipxact:component>", f'<ipxact:component xmlns:ipxact="{SCHEMA}">', 1)
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->\n'
            f"<!-- Generated from {TOPS[top][0]}/{top}.sv by python -m flow registers -->\n{body}\n")


def check(name, top):
    """Fails if a document is not well-formed, refers to something that does not exist, or lacks a port or a parameter of the
    module."""
    root = ElementTree.parse(RTL / name).getroot()
    space = {"ipxact": SCHEMA}

    def every(path, key="ipxact:name"):
        found = [one.get(key) if ":" not in key else one.findtext(key, "", space) for one in root.iterfind(path, space)]
        if len(found) != len(set(found)):
            raise SystemExit(f"{name}: duplicates in {path}: {found}")
        return set(found)

    def within(what, used, known):
        if not used <= known:
            raise SystemExit(f"{name}: {what} refer to what does not exist: {', '.join(sorted(used - known))}")

    def same(what, one, other):
        if one != other:
            raise SystemExit(f"{name}: {what} differ from those of {top}.sv: {', '.join(sorted(one ^ other))}")

    text = source(top)
    declared = set(re.findall(r"^  (?:input|output)\b.*?(\w+),?$", text, re.M))
    named = every(".//ipxact:model/ipxact:ports/ipxact:port")
    same("ports", named, declared)
    built = {word for word, _ in parameters(text)}
    known = every("ipxact:parameters/ipxact:parameter", "parameterId")
    same("parameters", known, built)
    same("parameters of the module", every(".//ipxact:moduleParameter"), built)
    within("values of module parameters", every(".//ipxact:moduleParameter", "ipxact:value"), known)
    if known & every(".//ipxact:moduleParameter", "parameterId"):
        raise SystemExit(f"{name}: two parameters have the same identifier")
    within("widths", {word for one in root.iterfind(".//ipxact:left", space) for word in re.findall(r"(?<!\$)\b[A-Za-z]\w*", one.text)},
           known)
    mapped = {one.text for one in root.iterfind(".//ipxact:physicalPort/ipxact:name", space)}
    within("port maps", mapped, named)
    beside = {"slot_valid", "slot_busy"}
    if named - mapped - beside:
        raise SystemExit(f"{name}: ports without a bus interface: {', '.join(sorted(named - mapped - beside))}")
    every("ipxact:busInterfaces/ipxact:busInterface")
    maps = every("ipxact:memoryMaps/ipxact:memoryMap")
    within("memory maps", {one.get("memoryMapRef") for one in root.iterfind(".//ipxact:memoryMapRef", space)}, maps)
    choices = every("ipxact:choices/ipxact:choice")
    within("choices", {one.get("choiceRef") for one in root.iterfind(".//*[@choiceRef]")}, choices)
    within("views", every(".//ipxact:view", "ipxact:componentInstantiationRef"), every(".//ipxact:componentInstantiation"))
    within("file sets", {one.text for one in root.iterfind(".//ipxact:localName", space)}, every("ipxact:fileSets/ipxact:fileSet"))
    within("files", every(".//ipxact:file"), {path.relative_to(RTL).as_posix() for path in RTL.glob("*/*.sv*")})
    for one in root.iterfind("ipxact:parameters/ipxact:parameter", space):
        value = one.findtext("ipxact:value", "", space)
        allowed = [each.text for each in root.iterfind(f"ipxact:choices/ipxact:choice[ipxact:name='{one.get('choiceRef')}']/*", space)]
        low, high = int(one.get("minimum", value)), int(one.get("maximum", value))
        if (one.get("choiceRef") and value not in allowed[1:]) or not low <= int(value) <= high:
            raise SystemExit(f"{name}: {one.get('parameterId')} has a default that is not allowed: {value}")


def imported(name, described):
    """Fails unless PeakRDL, an independent reader of IP-XACT, finds the registers of the description in a document: offsets, fields,
    access, reset values, and which fields hardware changes."""
    from peakrdl_ipxact import IPXACTImporter
    from systemrdl import RDLCompiler
    from systemrdl.node import FieldNode

    compiler = RDLCompiler()
    IPXACTImporter(compiler).import_file(str(RTL / name))
    found = set()
    for node in compiler.elaborate().top.descendants(unroll=True):
        if isinstance(node, FieldNode):
            found.add((node.parent.get_path_segment(), node.parent.absolute_address, node.inst_name, node.low, node.width,
                       ACCESS_READ[node.get_property("sw").name], node.get_property("onwrite") is not None,
                       node.get_property("reset"), node.is_hw_writable))
    wanted = set()
    for one in described["registers"]:
        for number in range(one.get("count", 1)):
            label = one["name"] + (f"[{number}]" if "count" in one else "")
            for part in one["fields"]:
                access = part.get("access", one["access"])
                wanted.add((label, one["offset"] + 4 * number, part["name"], part["low"], part["bits"], ACCESS[access],
                            access == "w1c", part.get("value", part.get("reset")),
                            access == "ro" or part.get("volatile", False)))
    if found != wanted:
        raise SystemExit(f"{name}: PeakRDL reads other registers: {sorted(found ^ wanted, key=str)}")
