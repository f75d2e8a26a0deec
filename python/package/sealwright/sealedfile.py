"""Sealed files as binary file objects."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Optional

from ._sealwright import SealedReader, SealedWriter

if TYPE_CHECKING:
    from ._sealwright import Buffer, _AnyKey, _Path, _Recipients, _Seekable, _Writable

_CHUNK = 16 * 1024  # What is authenticated at once.


class SealedFile(io.BufferedIOBase):
    """A sealed file as a binary file object.

    Mode ``"rb"`` reads the text from anywhere: `seek` costs nothing, and only the chunks of 16 KiB that are read are opened. The
    length is proven when the file is opened, and every byte is authentic before it is given out.

    Mode ``"wb"`` seals what is written. ``close`` makes the file; if the body of a ``with`` statement raises an exception, or the
    object is forgotten before it is closed, no file appears. ``"xb"`` does the same and refuses to replace a file.

    `file` is a path, or a binary file object: for reading one with `read` and `seek`, for writing one with `write`. A file object is
    not closed, and what was written to it stays there.

    The other arguments are those of `sealwright.seal` and `sealwright.open`.
    """

    def __init__(
        self,
        file: _Path | _Seekable | _Writable,
        mode: str = "rb",
        *,
        key: _AnyKey | None = None,
        recipients: _Recipients | None = None,
        associated_data: Buffer | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._reader: Optional[SealedReader] = None
        self._writer: Optional[SealedWriter] = None
        self._at = 0
        self.mode = mode
        self.name = getattr(file, "name", file)
        if mode in ("rb", "r"):
            if recipients is not None:
                raise ValueError("recipients are for writing; pass key to read")
            if key is None:
                raise ValueError("pass key to read")
            self._reader = SealedReader(
                file,  # type: ignore[arg-type]
                key=key,
                associated_data=associated_data,
                **options,
            )
        elif mode in ("wb", "w", "xb", "x"):
            options.setdefault("force", mode[0] == "w")
            self._writer = SealedWriter(
                file,  # type: ignore[arg-type]
                key=key,
                recipients=recipients,
                associated_data=associated_data,
                **options,
            )
        else:
            raise ValueError(f"mode must be 'rb', 'wb' or 'xb', not {mode!r}")

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
        return self._writer is not None

    @property
    def size(self) -> int:
        """The length of the text in bytes, proven."""
        return self._reading().size

    def readinto(self, buffer: Buffer, /) -> int:
        got = self._reading().read_at(self._at, buffer)
        self._at += got
        return got

    readinto1 = readinto

    def read(self, size: int | None = -1, /) -> bytes:
        rest = max(self._reading().size - self._at, 0)
        size = rest if size is None or size < 0 else min(size, rest)
        buffer = bytearray(size)
        self.readinto(buffer)
        return bytes(buffer)

    def read1(self, size: int | None = -1, /) -> bytes:
        return self.read(_CHUNK if size is None or size < 0 else size)

    def peek(self, size: int = 0, /) -> bytes:
        """The rest of the chunk at hand, without moving on: `readline` uses it."""
        at = self._at
        try:
            return self.read(_CHUNK - at % _CHUNK)
        finally:
            self._at = at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        size = self._reading().size
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError(f"whence must be 0, 1 or 2, not {whence}")
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
        if self._writer is None:
            raise io.UnsupportedOperation("not writable")
        with memoryview(data) as view, view.cast("B") as parts:
            done = 0
            # A call takes less than 2 GiB.
            while done < len(parts):
                done += self._writer.write(parts[done : done + (1 << 30)])
            self._at += done
            return done

    def discard(self) -> None:
        """Closes a file that was written to, and leaves nothing behind at its path."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.abandon()
        super().close()

    def close(self) -> None:
        if self.closed:
            return
        writer = self._writer
        try:
            if writer is not None:
                writer.finish()
        finally:
            self._reader = self._writer = None
            super().close()

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is not None:
            self.discard()
        else:
            self.close()

    def __del__(self) -> None:
        # Forgotten is not closed: a file that was not written to its end must not look whole.
        try:
            if not self.closed:
                self.discard()
        except AttributeError:
            pass  # The constructor failed.
