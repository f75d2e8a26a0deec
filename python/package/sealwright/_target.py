"""The sources and targets of a `SealedFile`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ._sealwright import Error

if TYPE_CHECKING:
    from ._sealwright import Buffer, _Writable


@contextmanager
def bytes_of(data: Buffer) -> Iterator[memoryview]:
    """The bytes of a buffer, which must be contiguous and not addresses of objects."""
    with memoryview(data) as view:
        # Field names are between colons.
        if "O" in "".join(view.format.split(":")[::2]):
            raise TypeError("an array of objects has no bytes of its own, but addresses (hint: convert it)")
        if not view.c_contiguous:
            raise BufferError("the bytes do not lie together (hint: pass a copy)")
        # An array without elements may have a shape that cannot be cast.
        with view.cast("B") if view.nbytes else memoryview(b"") as parts:
            yield parts


class Target:
    """A file object that is written to, until it is stopped."""

    def __init__(self, file: _Writable) -> None:
        self._file, self._idle, self._stopped = file, threading.Lock(), False
        # The call to make when nothing is being written any more; at most one.
        self._after: list[Callable[[], object]] = []

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        # If `write` returns None, its meaning depends on whether the file is a raw one.
        return type(self._file)

    @property
    def name(self) -> Any:
        return self._file.name  # type: ignore[attr-defined]

    def write(self, data: bytes) -> Any:
        try:
            with self._idle:
                if self._stopped:
                    raise Error("the file was given up")
                return self._file.write(data)
        finally:
            self._settle()

    def flush(self) -> None:
        try:
            with self._idle:
                if hasattr(self._file, "flush") and not self._stopped:
                    self._file.flush()
        finally:
            self._settle()

    def _settle(self) -> None:
        """Runs the pending `after` calls, unless another thread is writing, which will then run them."""
        while self._after and self._idle.acquire(blocking=False):
            try:
                # Two threads may get here.
                with suppress(IndexError):
                    after = self._after.pop()
                    with suppress(Exception):
                        after()
            finally:
                self._idle.release()

    def let_go(self, after: Callable[[], object]) -> None:
        """Stops writing, except for a write in progress, and calls `after` when that has ended: here, or in the writing thread. Does not
        wait."""
        self._stopped = True
        self._after.append(after)
        self._settle()

    def stop(self, until: float) -> bool:
        """Stops writing, and returns whether no write is in progress any more: it is if a write hangs, as to a pipe that nobody reads."""
        self._stopped = True
        idle = self._idle.acquire(timeout=max(until - time.monotonic(), 0))
        if idle:
            self._idle.release()
        return idle
