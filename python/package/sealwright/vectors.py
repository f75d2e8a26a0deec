"""Test vectors in Wycheproof's JSON, run in both directions through the public calls of this package.

    python -m sealwright.vectors vectors/aes_gcm.json

`sealwright vectors check` on the command line supports more algorithms and formats; this module shows that the installed package computes
correct results.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, NamedTuple

from ._sealwright import AESGCM, AESGCMSIV, AESOCB3, XAES256GCM, InvalidTag, isa

CLASSES: dict[str, Any] = {"AES-GCM": AESGCM, "AES-GCM-SIV": AESGCMSIV, "AES-OCB": AESOCB3, "XAES-256-GCM": XAES256GCM}


class Report(NamedTuple):
    """How many tests passed, which failed, and how many were skipped because the classes do not accept their parameters."""

    passed: int
    failed: list[str]
    skipped: int


#: Nonce lengths that the mode allows but its class does not accept: such tests are skipped.
_UNTAKEN: dict[str, tuple[range, ...]] = {"AES-GCM": (range(1, 8), range(129, 1 << 61)), "AES-OCB": (range(1, 12),)}

_skip = "skipped"


def check(path: str | os.PathLike[str]) -> Report:
    """Runs every test in a file. Raises `ValueError`, which names the place, if the file is not a Wycheproof document."""
    name = os.fspath(path)
    document = _document(path, name)
    algorithm = document.get("algorithm")
    cls = CLASSES.get(algorithm) if isinstance(algorithm, str) else None
    passed, failed, skipped = 0, [], 0
    for number, group in enumerate(document["testGroups"], 1):
        if not isinstance(group, dict) or not isinstance(group.get("tests"), list):
            raise ValueError(f"{name}, group {number}: no tests")
        for test in group["tests"]:
            if not isinstance(test, dict):
                raise ValueError(f"{name}, group {number}: a test is not an object")
            place = f"{name}, tcId {test.get('tcId')}"
            try:
                outcome = _skip if cls is None else _run(cls, str(algorithm), group, test)
            except ValueError as error:
                raise ValueError(f"{place}: {error}") from None
            if outcome is None:
                passed += 1
            elif outcome is _skip:
                skipped += 1
            else:
                failed.append(f"{place}: {outcome}")
    said, read = document.get("numberOfTests"), passed + len(failed) + skipped
    if said is not None and said != read:
        raise ValueError(f"{name}: numberOfTests is {said!r}, but there are {read} tests")
    return Report(passed, failed, skipped)


def _document(path: str | os.PathLike[str], name: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        text = file.read()
    try:
        document = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: cannot be read: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("testGroups"), list):
        raise ValueError(f"{name}: no testGroups: not a document of Wycheproof's")
    return document


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without duplicate members: of two with one name, readers would disagree on which one counts."""
    found: dict[str, Any] = {}
    for name, value in members:
        if name in found:
            raise ValueError(f"{name[:40]!r} stands twice in one object")
        found[name] = value
    return found


def _bytes(test: dict[str, Any], name: str) -> bytes:
    digits = test.get(name)
    if not isinstance(digits, str):
        raise ValueError(f"no {name}, or it is not a text")
    try:
        return bytes.fromhex(digits)
    except ValueError:
        raise ValueError(f"{name} is not an even number of hexadecimal digits") from None


def _run(cls: Any, algorithm: str, group: dict[str, Any], test: dict[str, Any]) -> str | None:
    """What is wrong, or None; `_skip` for parameters that the mode allows but the class does not accept."""
    result = test.get("result")
    if result not in ("valid", "invalid", "acceptable"):
        raise ValueError(f"result is {result!r}, not valid, invalid or acceptable")
    key, nonce, ad, tag = (_bytes(test, name) for name in ("key", "iv", "aad", "tag"))
    message = _bytes(test, "ct") + tag
    taken = test.get("taglen", group.get("tagSize", 8 * len(tag))) == 128
    if not taken or any(len(nonce) in lengths for lengths in _UNTAKEN.get(algorithm, ())):
        return _skip
    opened, refusal = None, "not authentic"
    try:
        opened = cls(key).decrypt(nonce, message, ad)
    except InvalidTag:
        pass
    except ValueError as error:
        refusal = str(error)
    if result == "invalid":
        return "a message that is not authentic was opened" if opened is not None else None
    if opened is None and result == "acceptable":
        return None
    text = _bytes(test, "msg")
    try:
        sealed = cls(key).encrypt(nonce, text, ad)
    except ValueError as error:
        return f"refused: {error}"
    if sealed != message:
        return "sealing gives another message"
    if opened is None:
        return f"refused: {refusal}"
    return None if opened == text else "opening gives another text"


def main(paths: list[str]) -> int:
    """Checks files and prints the results. Returns the exit code."""
    if not paths:
        print("usage: python -m sealwright.vectors FILE...", file=sys.stderr)
        return 2
    wrong = 0
    for path in paths:
        try:
            report = check(path)
        except (OSError, ValueError) as error:
            print(error, file=sys.stderr)
            return 1
        for failure in report.failed:
            print(failure)
        print(f"{path}: {report.passed} passed, {len(report.failed)} failed, {report.skipped} skipped (level {isa})")
        wrong += len(report.failed)
    return 3 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
