"""Test vectors in Wycheproof's JSON, through the calls of this package, in both directions.

    python -m sealwright.vectors vectors/aes_gcm.json

`sealwright vectors check` of the command line knows more algorithms and formats; this one shows that the package as installed computes
what it should.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, NamedTuple

from ._sealwright import AESGCM, AESGCMSIV, AESOCB3, XAES256GCM, InvalidTag, isa

CLASSES: dict[str, Any] = {"AES-GCM": AESGCM, "AES-GCM-SIV": AESGCMSIV, "AES-OCB": AESOCB3, "XAES-256-GCM": XAES256GCM}


class Report(NamedTuple):
    """How many tests passed, which failed, and how many have parameters that the classes do not take."""

    passed: int
    failed: list[str]
    skipped: int


def check(path: str | os.PathLike[str]) -> Report:
    """Runs every test in a file. A file that is no document of Wycheproof's raises `ValueError`."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if not isinstance(document, dict) or not isinstance(document.get("testGroups"), list):
        raise ValueError(f"{os.fspath(path)}: no testGroups: not a document of Wycheproof's")
    cls = CLASSES.get(document.get("algorithm", ""))
    passed, failed, skipped = 0, [], 0
    for group in document["testGroups"]:
        for test in group["tests"]:
            outcome = _skip if cls is None or group.get("tagSize", 128) != 128 else _run(cls, test)
            if outcome is None:
                passed += 1
            elif outcome is _skip:
                skipped += 1
            else:
                failed.append(f"{os.fspath(path)}, tcId {test['tcId']}: {outcome}")
    return Report(passed, failed, skipped)


_skip = "skipped"


def _run(cls: Any, test: dict[str, Any]) -> str | None:
    """What is wrong, or None; `_skip` for parameters that the class does not take."""
    key, nonce, ad, text = (bytes.fromhex(test[name]) for name in ("key", "iv", "aad", "msg"))
    message = bytes.fromhex(test["ct"] + test["tag"])
    valid = test["result"] != "invalid"
    try:
        aead = cls(key)
        sealed = aead.encrypt(nonce, text, ad)
    except ValueError:
        # What may not be chosen is no test of what is computed: a nonce of three bytes, a tag of twelve.
        return _skip
    try:
        opened = aead.decrypt(nonce, message, ad)
    except InvalidTag:
        opened = None
    if not valid:
        return "a message that is not authentic was opened" if opened is not None else None
    if len(message) != len(sealed):
        return _skip
    if sealed != message:
        return "sealing gives another message"
    return None if opened == text else "opening gives another text"


def main(paths: list[str]) -> int:
    """Checks files and prints what came of it: the exit code."""
    if not paths:
        print("usage: python -m sealwright.vectors FILE...", file=sys.stderr)
        return 2
    wrong = 0
    for path in paths:
        try:
            report = check(path)
        except (OSError, ValueError, KeyError) as error:
            print(f"{path}: {error!r}", file=sys.stderr)
            return 1
        for failure in report.failed:
            print(failure)
        print(f"{path}: {report.passed} passed, {len(report.failed)} failed, {report.skipped} skipped (level {isa})")
        wrong += len(report.failed)
    return 3 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
