"""Files of a store as sealed files are read from: little more leaves the store than what is read."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from fsspec.implementations.cached import CachingFileSystem
from fsspec.spec import AbstractBufferedFile

from ._store import behind

# How far is read ahead: at a place that is new, and at most where reading goes on.
_LEAST = 64 * 1024
_MOST = 16 * 1024 * 1024


def opened(fs: Any, path: str, options: dict[str, Any]) -> Any:
    """A file of the store to read. `block_size`, `cache_type` and `cache_options` among `options` say how it is read ahead; without them,
    as `Ahead` does, where each read is a request."""
    options = {name: value for name, value in options.items() if value is not None}
    # The length of the text, and parts of it that who asks has already, are not those of the sealed file.
    options.pop("size", None)
    if options.get("cache_type") == "parts":
        del options["cache_type"]
        options.pop("cache_options", None)
    # A store that keeps what it reads has its own way.
    if not options.keys().isdisjoint(("block_size", "cache_type", "cache_options")) or isinstance(behind(fs, [])[0], CachingFileSystem):
        return fs.open(path, "rb", **options)
    file = fs.open(path, "rb", cache_type="none", **options)
    return Ahead(file, path) if isinstance(file, AbstractBufferedFile) and file.size is not None else file


class Ahead:
    """A file for which each read is a request. At a new place 64 KiB are read ahead, and twice as much each time that reading goes on from
    there, up to 16 MiB. The stores' own way reads megabytes ahead wherever one byte is read, 50 of them from S3."""

    def __init__(self, file: Any, name: str) -> None:
        self.name, self._file, self._size = name, file, int(file.size)
        self._at, self._ahead = 0, _LEAST
        # What is held, and where it begins: the start, which is read again when a file is open, and what was read last.
        self._head = self._last = (0, b"")

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        end = self._size if size < 0 else min(self._at + size, self._size)
        if end <= self._at:
            return b""
        start, held = next((each for each in (self._last, self._head) if each[0] <= self._at <= each[0] + len(each[1])), (self._at, b""))
        if end > start + len(held):
            # Where nothing is held yet, none goes on.
            self._ahead = min(2 * self._ahead, _MOST) if held else _LEAST
            known = held[self._at - start :]
            self._file.seek(self._at + len(known))
            fresh = self._file.read(min(max(end, self._at + self._ahead), self._size) - self._at - len(known))
            start, held = self._last = (self._at, known + fresh)
            if start == 0 and not self._head[1]:
                self._head = self._last
        got = held[self._at - start : end - start]
        self._at += len(got)
        return got

    def close(self) -> None:
        self._head = self._last = (0, b"")
        self._file.close()


def ranges(opens: Callable[[str], Any], paths: list[str], starts: Any, ends: Any, on_error: str) -> list[Any]:
    """So much of each file, or the exception unless `on_error` is to raise it. A file is opened once for all that is read from it."""
    starts, ends = (each if isinstance(each, list) else [each] * len(paths) for each in (starts, ends))
    if not len(starts) == len(ends) == len(paths):
        raise ValueError("there must be a start and an end for each path")
    found: list[Any] = [None] * len(paths)
    for path in dict.fromkeys(paths):
        places = [place for place, name in enumerate(paths) if name == path]
        try:
            with opens(path) as file:
                for place in places:
                    found[place] = _part(file, starts[place], ends[place], on_error)
        except Exception as error:
            if on_error != "return":
                raise
            for place in places:
                found[place] = error
    return found


def _part(file: Any, start: int | None, end: int | None, on_error: str) -> Any:
    """As of a slice."""
    start, end, _ = slice(start, end).indices(file.size)
    try:
        file.seek(start)
        return file.read(max(end - start, 0))
    except Exception as error:
        if on_error != "return":
            raise
        return error
