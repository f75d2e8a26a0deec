"""Sealed files in files of a store."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from fsspec.transaction import Transaction

from ._sealwright import Error
from ._store import forget
from .sealedfile import SealedFile, missed

if TYPE_CHECKING:
    from ._sealwright import Buffer

_process = object()  # Another one in each child: in a PID namespace of its own it may have its parent's number.


def _forked() -> None:
    global _process
    _process = object()


os.register_at_fork(after_in_child=_forked)


class Sealed(SealedFile):
    """A sealed file in a file of the store. Closing it closes that file."""

    def __init__(
        self, below: Any, mode: str, options: dict[str, Any], autocommit: bool = True, put: Callable[[], object] | None = None
    ) -> None:
        """`put` replaces the `commit` of the underlying file."""
        self._put = put
        # None when there is nothing left to do with it.
        self._below, self._autocommit, self._process = below, autocommit, (os.getpid(), _process)
        self._writes, self._whole = mode != "rb", False
        try:
            super().__init__(below, mode, **options)
        except BaseException:
            self._forget()
            raise

    def _finish(self) -> None:
        below = self._below
        try:
            super()._finish()
            below.close()
            self._whole = True
            if self._writes and self._autocommit:
                self.commit()
        except BaseException:
            self._made = False
            # The original error is raised, not one from cleaning up.
            with suppress(Exception):
                self._forget()
            raise

    def commit(self) -> None:
        """Puts the file in its place, at the end of a transaction."""
        if self._over:
            self.discard()
            raise self._too_late()
        if not self.closed:
            self.discard()
            raise Error(f"{self.name}: no file was made, as the transaction ended before it was closed (hint: close it within)")
        # There is none for a file that was discarded.
        if self._whole and self._below is not None:
            self._below.commit() if self._put is None else self._put()
            self._below = self._put = None

    def give_up(self) -> None:
        """From now on, `close` acts like `discard`."""
        self._forgotten = True

    def discard(self) -> None:
        super().discard()
        self._lost = False  # Whoever calls this knows.
        self._forget()

    def _end(self, until: float) -> bool:
        stopped = super()._end(until)
        if stopped:
            self._forget()
        # A write that hangs may hold what closing the file would wait for.
        self._below = None
        return stopped

    def _unfinished(self) -> bool:
        return super()._unfinished() or (self._writes and self._below is not None)

    def _cleanup(self) -> Callable[[], object]:
        below, self._below = self._below, None
        # A forked child must not take away what its parent writes.
        ours = below is not None and self._process == (os.getpid(), _process)
        return partial(forget, below) if ours else super()._cleanup()

    def __del__(self) -> None:
        super().__del__()
        # It was closed for a transaction, or with `autocommit=False`, and nobody can commit it any more.
        if getattr(self, "_below", None) is not None and self._writes:
            with suppress(Exception):
                self._forget()

    def _forget(self) -> None:
        if self._below is None:
            return
        if not self._writes:
            self._below.close()
        # A forked child must not take away what its parent writes.
        elif self._process == (os.getpid(), _process):
            below, self._below = self._below, None
            forget(below)


_PART = 16 * 1024 * 1024


def copy_whole(reader: Any, writer: Any, told: Callable[[int], object] | None = None) -> int:
    """Copies all of `reader` to a file from `begin` or to a `Sealed`, which is put in its place at the end, or removed on failure. `told` is
    called with the length of each part."""
    copied = 0
    try:
        while part := reader.read(_PART):
            writer.write(part)
            copied += len(part)
            if told is not None:
                told(len(part))
        writer.close()
        writer.commit()
    except BaseException:
        # The original error is raised, not one from cleaning up.
        with suppress(Exception):
            writer.discard() if isinstance(writer, SealedFile) else forget(writer)
        raise
    return copied


class Together(Transaction):  # type: ignore[misc]
    """A transaction that also ends if a file cannot be put in its place, as that of fsspec does since 2026.7."""

    fs: Any

    def complete(self, commit: bool = True) -> None:
        try:
            while self.files:
                self.files[0].commit() if commit else self.files[0].discard()
                self.files.popleft()
        finally:
            # The first one is the one that failed.
            while self.files:
                with suppress(Exception):
                    self.files.popleft().discard()
            self.fs._intrans, self.fs._transaction, self.fs = False, None, None


class Compressed(io.BufferedIOBase):
    """A compressor that writes to a sealed file, and closes it even if the compressor does not close its target itself."""

    def __init__(self, packed: Any, sealed: Sealed) -> None:
        self._packed, self._sealed, self._at = packed, sealed, 0
        self.name, self.mode = sealed.name, sealed.mode

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        wrote = int(self._packed.write(data))
        self._at += wrote
        return wrote

    def tell(self) -> int:
        # Not all compressors have `tell`.
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return self._at

    def flush(self) -> None:
        if not self._packed.closed:
            self._packed.flush()

    def close(self) -> None:
        if self.closed:
            return
        try:
            self._packed.close()
            super().close()
        except BaseException:
            self.discard()
            raise
        self._sealed.close()

    def finish(self) -> None:
        """Completes the file even while an exception is being handled, like `SealedFile.finish`."""
        # Some, such as zstandard's, close their target.
        self._sealed._wanted = True
        self.close()
        # It determines whether there is a file.
        self._sealed.finish()

    def discard(self) -> None:
        """Leaves no file behind, like `SealedFile.discard`."""
        # Some, such as zstandard's, close their target, which must not complete the file.
        self._sealed.give_up()
        try:
            # When garbage-collected, it would write the rest of its data, and zipfile's would print an error.
            with suppress(Exception):
                self._packed.close()
        finally:
            self._sealed.discard()
            super().close()

    def _dealloc_warn(self, source: object) -> None:
        self._sealed._dealloc_warn(source)

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is not None:
            self.discard()
        else:
            self.close()

    def __del__(self) -> None:
        if not self.closed:
            # The sealing thread may wait for a lock that this thread holds, and the compressor would write to it.
            if self._sealed._writer is not None:
                self._sealed._let_go()
            self.discard()
            if not self._sealed._excused:
                missed(self.name, self)
