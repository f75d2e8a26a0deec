"""What tests of stores share: a key, a text, and how it is sealed and compared."""

import os

import sealwright

KEY = bytes(range(32))
OPTIONS = {"seal": {"key": KEY}}
TEXT = os.urandom(100_000)


def put(fs, path, text=TEXT):
    with fs.open(path, "wb") as file:
        file.write(text)


def whole(path, text=TEXT, key=KEY):
    with sealwright.SealedFile(path, key=key) as file:
        return file.read() == text
