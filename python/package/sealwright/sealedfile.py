"""Sealed files as binary file objects."""

from __future__ import annotations

import atexit
import io
import os
import stat
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, Optional

from ._leaving import Before
from ._sealwright import Error, SealedReader, SealedWriter
from ._target import Target, bytes_of

if TYPE_CHECKING:
    from ._sealwright import Buffer, _AnyKey, _Costs, _Path, _Recipients, _Seekable, _Writable

_CHUNK = 16 * 1024  # What is authenticated at once.
_PATIENCE = 30.0  # Seconds that the end of the interpreter waits for writes that are under way.
_open: weakref.WeakSet[SealedFile] = weakref.WeakSet()


def _forked() -> None:
    # Another thread of the parent may have held a lock; and files of the parent are not missed in a child.
    for file in _open:
        file._lock, file._excused, file._theirs = threading.RLock(), True, True


os.register_at_fork(after_in_child=_forked)


def _ended() -> None:
    """Gives up the files that are open when the interpreter ends, because later no thread can write to a Python file object. A file at a
    path is left alone: an exit handler that was registered before this one may still close it."""
    left = [file for file in list(_open) if file._unfinished() and (file._theirs or file._needs_python())]
    # A wrapper may still have data for a file that has received nothing yet.
    told = [file for file in left if not file.closed and not file._excused]
    until = time.monotonic() + _PATIENCE
    for file in left:
        file._excused = True
        with suppress(Exception):
            file.discard() if file._theirs else file._end(until)
    # Last, because a warning may be turned into an error.
    for file in told:
        missed(file.name, file)


atexit.register(_ended)


def missed(name: object, source: object, warn: Callable[..., None] = warnings.warn) -> None:
    """Warns of a file that was written to and never closed, even while modules are being cleared."""
    what = f"{name}: no file was made, as nobody closed it (hint: close it, or use it in a with statement)"
    warn(what, ResourceWarning, stacklevel=3, source=source)


def _refuse(mode: str, without_effect: dict[str, object]) -> None:
    """Raises an error if one of the arguments in `without_effect`, which this mode does not accept, is not None."""
    for name, value in without_effect.items():
        if value is not None:
            other = "reading" if mode[0] in "wx" else "writing"
            raise TypeError(f"SealedFile takes no {name} in mode {mode!r}, as it is for {other} (hint: leave it out)")


class SealedFile(io.BufferedIOBase):
    """A sealed file as a binary file object.

    Mode ``"rb"`` reads the text with random access: `seek` is free, and only the chunks of 16 KiB that are read are opened. The length is
    authenticated when the file is opened, and every byte before it is returned.

    Mode ``"wb"`` seals what is written. ``close`` completes the file. If the body of a ``with`` statement raises an exception, or if the
    object is garbage-collected before it is closed, no file appears; in the latter case there is a `ResourceWarning`. The same holds for
    an `io.TextIOWrapper` around it. ``finish`` completes the file even while an exception is being handled. ``"xb"`` is ``"wb"``, but
    refuses to replace a file.

    `file` is a path or a binary file object, which needs `read` and `seek` for reading and `write` for writing. A file object is not
    closed, and what was written to it stays there.

    The other arguments are those of `sealwright.seal` and `sealwright.open`. A `SealedFile` cannot be copied or pickled.
    """

    _missed = staticmethod(missed)  # A name of the module may be gone when the last file is.

    def __init__(
        self,
        file: _Path | _Seekable | _Writable,
        mode: str = "rb",
        *,
        key: _AnyKey | None = None,
        recipients: _Recipients | None = None,
        suite: str = "aes-256-gcm",
        associated_data: Buffer | None = None,
        armor: bool = False,
        costs: _Costs | None = None,
        max_memory_kib: int | None = None,
        force: bool | None = None,
    ) -> None:
        super().__init__()
        self._reader: Optional[SealedReader] = None
        self._writer: Optional[SealedWriter] = None
        self._at = 0
        self._lock = threading.RLock()
        self._forgotten = self._lost = self._excused = self._theirs = self._over = self._gone = False
        self._target: Optional[Target] = None
        self._wanted = self._made = False
        self._before: Optional[Before] = None
        self.mode = mode
        self.name = os.fspath(file) if isinstance(file, os.PathLike) else getattr(file, "name", file)
        if mode in ("rb", "r"):
            writing = {"recipients": recipients, "costs": costs, "force": force, "armor": armor or None}
            _refuse(mode, {**writing, "suite": None if suite == "aes-256-gcm" else suite})
            self._reader = SealedReader(
                file,  # type: ignore[arg-type]
                key=key,  # type: ignore[arg-type]
                associated_data=associated_data,
                max_memory_kib=max_memory_kib,
            )
        elif mode in ("wb", "w", "xb", "x"):
            _refuse(mode, {"max_memory_kib": max_memory_kib})
            self._before = Before()
            # The writer treats an object with `write` as a file object.
            self._target = Target(file) if hasattr(file, "write") else None  # type: ignore[arg-type]
            self._writer = SealedWriter(
                self._target or file,  # type: ignore[arg-type]
                key=key,
                recipients=recipients,
                suite=suite,
                associated_data=associated_data,
                armor=armor,
                costs=costs,
                force=mode[0] == "w" if force is None else force,
            )
        else:
            raise ValueError(f"mode must be 'rb', 'wb' or 'xb', not {mode!r}")
        _open.add(self)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        # The first of two copies to be garbage-collected would end the file of both.
        raise TypeError("cannot copy or pickle a SealedFile (hint: open the file anew where it is needed)")

    def _reading(self) -> SealedReader:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if self._reader is None:
            raise io.UnsupportedOperation("not readable")
        return self._reader

    def readable(self) -> bool:
        return self._reader is not None

    def seekable(self) -> bool:
        return self._reader is not None

    def writable(self) -> bool:
        return self._writer is not None or self._over or self._gone

    @property
    def size(self) -> int:
        """The authenticated length of the text in bytes."""
        return self._reading().size

    def readinto(self, buffer: Buffer, /) -> int:
        with self._lock:
            got = self._reading().read_at(self._at, buffer)
            self._at += got
            return got

    readinto1 = readinto

    def read(self, size: int | None = -1, /) -> bytes:
        with self._lock:
            rest = max(self._reading().size - self._at, 0)
            size = rest if size is None or size < 0 else min(size, rest)
            buffer = bytearray(size)
            got = self.readinto(buffer)
        with memoryview(buffer) as view:
            return bytes(view[:got])

    def read1(self, size: int | None = -1, /) -> bytes:
        return self.read(_CHUNK if size is None or size < 0 else size)

    def peek(self, size: int = 0, /) -> bytes:
        """Returns the rest of the current chunk without advancing the position; `readline` uses it."""
        with self._lock:
            at = self._at
            try:
                return self.read(_CHUNK - at % _CHUNK)
            finally:
                self._at = at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        size = self._reading().size
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError(f"whence must be 0, 1 or 2, not {whence}")
        with self._lock:
            at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: size}[whence]
            if at < 0:
                raise ValueError(f"a place before the start: {at}")
            self._at = at
            return at

    def tell(self) -> int:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return self._at

    def write(self, data: Buffer, /) -> int:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if self._gone or self._over and self._forgotten:
            # A wrapper that is garbage-collected too flushes its data, which is ignored.
            return memoryview(data).nbytes
        if self._over:
            raise self._too_late()
        if self._writer is None:
            raise io.UnsupportedOperation("not writable")
        with bytes_of(data) as parts:
            done = 0
            # A call accepts less than 2 GiB.
            while done < len(parts):
                try:
                    done += self._writer.write(parts[done : done + (1 << 30)])
                except BaseException:
                    # Whoever wrote knows.
                    self._excused = True
                    raise
            self._at += done
            return done

    def _unfinished(self) -> bool:
        """Whether there is an unfinished file to give up."""
        return self._writer is not None

    def _needs_python(self) -> bool:
        """Whether giving it up needs the interpreter, or may block."""
        if self._target is not None:
            return True
        try:
            return stat.S_ISFIFO(os.stat(self.name).st_mode)  # type: ignore[arg-type]
        except (OSError, TypeError, ValueError):
            return False

    def _end(self, until: float) -> bool:
        """Gives up an unfinished file when the interpreter ends; returns whether its end could be awaited. The object stays open, so that
        code that writes to it or closes it later gets an error, also through a wrapper."""
        writer, self._writer, self._over = self._writer, None, True
        stopped = self._target is not None and self._target.stop(until)
        # A writer that is only dropped makes no file either, and its thread is not waited for.
        if writer is not None and stopped:
            writer.abandon()
        return stopped

    def _too_late(self) -> Error:
        what = f"{self.name}: no file was made, as the interpreter ended before it was closed"
        return Error(f"{what} (hint: close it sooner, or import sealwright before you register what closes it with atexit)")

    def discard(self) -> None:
        """Closes a file that was opened for writing, without leaving anything at its path."""
        if self._writer is not None:
            # Checked before anything is changed: a target cannot do this while it is being written to.
            self._writer.abandon()
        self._writer = self._before = None
        super().close()

    def _let_go(self) -> None:
        """Gives up a file to which there is no reference left, without waiting: this may be called during garbage collection, in a thread
        that holds what the target's `write` waits for. The sealing thread ends when its text does."""
        self._writer = self._before = None
        self._forgotten = self._gone = True
        if self._target is not None:
            self._target.let_go(self._cleanup())

    def _cleanup(self) -> Callable[[], object]:
        """What to do with the target once nothing is being written to it."""
        return lambda: None

    def _given_up(self) -> bool:
        """Whether the calling `close` runs because of an exception that was raised while the file was written, or because the last reference
        to a wrapper is gone."""
        if self._writer is None or self._forgotten:
            # When modules are being cleared, there is no `sys` any more.
            return self._writer is not None
        return not self._wanted and self._before is not None and self._before.leaves()

    def _dealloc_warn(self, source: object) -> None:
        # A wrapper calls this before it closes the file, if nobody did.
        self._forgotten = True
        if self._writer is not None and not self._excused:
            self._missed(self.name, source)
        if self._writer is not None and self._needs_python():
            self._let_go()
            self._lost = True

    def close(self) -> None:
        if self.closed:
            if self._lost:
                self._lost = False
                raise Error("no file was made: what wrapped it was forgotten before it was closed (hint: close or detach it)")
            return
        if self._gone:
            super().close()
            return
        if self._over:
            super().close()
            if not self._forgotten:
                raise self._too_late()
            return
        if self._writer is not None:
            self._writer.refuse_end_by_target()
        if self._given_up():
            self.discard()
            self._lost = self._forgotten
            if not self._forgotten:
                what = f"{self.name}: no file was made, as an exception leaves the with statement that closes it"
                warnings.warn(f"{what} (hint: finish() makes it all the same)", RuntimeWarning, stacklevel=2)
            return
        self._finish()

    def _finish(self) -> None:
        writer = self._writer
        try:
            if writer is not None:
                writer.finish()
                self._made = True
        finally:
            self._reader = self._writer = self._before = None
            super().close()

    def finish(self) -> None:
        """Completes the file and closes it, even while an exception is being handled; `close` does not while one leaves a `with` statement."""
        if not self.closed and not self.writable():
            raise io.UnsupportedOperation("not writable")
        if self.closed and not self._made:
            raise Error(f"{self.name}: no file was made, as it was closed without (hint: finish it before it is closed or discarded)")
        self._wanted = True
        self.close()

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is not None:
            self.discard()
        else:
            self.close()

    def __del__(self) -> None:
        # Garbage collection does not close: a file that was not written to its end must not look complete.
        try:
            written = not self.closed and self._writer is not None and self._at > 0 and not self._excused
            if not self.closed and self._writer is not None and self._needs_python():
                self._let_go()
                super().close()
            elif not self.closed:
                self.discard()
        except AttributeError:
            return  # The constructor failed.
        if written:
            self._missed(self.name, self)
