"""Files of a store as the source of sealed files: little more is fetched from the store than is read."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Optional

from fsspec.implementations.cached import CachingFileSystem
from fsspec.spec import AbstractBufferedFile

from ._store import behind

# How far is read ahead: at a new position, and at most if reading continues.
_LEAST = 64 * 1024
_MOST = 16 * 1024 * 1024
_BLOCKS = 3  # How many places are held, so that whoever reads at them in turn goes on.


def opened(fs: Any, path: str, options: dict[str, Any]) -> Any:
    """Opens a file of the store for reading. `block_size`, `cache_type` and `cache_options` in `options` select fsspec's read-ahead; without
    them, `Ahead` is used, in which each read is one request."""
    options = {name: value for name, value in options.items() if value is not None}
    # The caller's length and known parts are those of the text, not of the sealed file.
    options.pop("size", None)
    if options.get("cache_type") == "parts":
        del options["cache_type"]
        options.pop("cache_options", None)
    # A caching store has its own read-ahead.
    if not options.keys().isdisjoint(("block_size", "cache_type", "cache_options")) or isinstance(behind(fs, [])[0], CachingFileSystem):
        return fs.open(path, "rb", **options)
    file = fs.open(path, "rb", cache_type="none", **options)
    return Ahead(file, path) if isinstance(file, AbstractBufferedFile) and file.size is not None else file


@dataclass(eq=False)
class _Block:
    """Bytes in memory, and how far was read ahead for them."""

    start: int
    held: bytes
    ahead: int

    @property
    def end(self) -> int:
        return self.start + len(self.held)


class Ahead:
    """A file for which each read is one request. At a new position, 64 KiB are read ahead, and four times as much each time reading
    continues from there, up to 16 MiB; also if it continues at a few positions in turn. fsspec's stores read ahead by megabytes wherever
    one byte is read, 50 of them from S3."""

    def __init__(self, file: Any, name: str) -> None:
        self.name, self._file, self._size = name, file, int(file.size)
        self._at = 0
        # Bytes in memory: the start, which is read again once the file is open, and the most recently read ones.
        self._head: Optional[_Block] = None
        self._blocks: list[_Block] = []

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        end = self._size if size < 0 else min(self._at + size, self._size)
        if end <= self._at:
            return b""
        held = [each for each in (*self._blocks, self._head) if each is not None and each.start <= self._at <= each.end]
        block = max(held, key=lambda each: each.end, default=None)
        if block is None or end > block.end:
            block = self._fetched(block, end)
        if block in self._blocks:
            # Ordered by use, the most recent last.
            self._blocks.remove(block)
            self._blocks.append(block)
        got = block.held[self._at - block.start : end - block.start]
        self._at += len(got)
        return got

    def _fetched(self, old: Optional[_Block], end: int) -> _Block:
        """Fetches bytes up to at least `end`. The new block replaces the `old` one, from which reading continues."""
        ahead, known = (min(4 * old.ahead, _MOST), old.held[self._at - old.start :]) if old else (_LEAST, b"")
        self._file.seek(self._at + len(known))
        fresh = self._file.read(min(max(end, self._at + ahead), self._size) - self._at - len(known))
        block = _Block(self._at, known + fresh, ahead)
        self._blocks = [each for each in self._blocks if each is not old][1 - _BLOCKS :] + [block]
        if block.start == 0 and self._head is None:
            self._head = block
        return block

    def close(self) -> None:
        self._head, self._blocks = None, []
        self._file.close()


def ranges(opens: Callable[[str], Any], paths: list[str], starts: Any, ends: Any, on_error: str) -> list[Any]:
    """The given range of each file, or the exception if `on_error` is "return"; otherwise the exception is raised. A file is opened once for
    all its ranges."""
    starts, ends = (each if isinstance(each, list) else [each] * len(paths) for each in (starts, ends))
    if not len(starts) == len(ends) == len(paths):
        raise ValueError("there must be a start and an end for each path")
    found: list[Any] = [None] * len(paths)
    places_of: dict[str, list[int]] = {}
    for place, path in enumerate(paths):
        places_of.setdefault(path, []).append(place)
    for path, places in places_of.items():
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
    """One range, with the bounds of a slice."""
    start, end, _ = slice(start, end).indices(file.size)
    try:
        file.seek(start)
        return file.read(max(end - start, 0))
    except Exception as error:
        if on_error != "return":
            raise
        return error
