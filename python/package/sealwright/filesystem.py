"""The fsspec filesystem `seal::`: sealed files on any store, read by range and written.

    import fsspec, pandas, sealwright

    options = {"seal": {"key": key}}
    frame.to_parquet("seal::s3://bucket/table.parquet", storage_options={"seal": {"key": key}})
    pandas.read_parquet("seal::s3://bucket/table.parquet", storage_options={"seal": {"key": key}})

fsspec finds it by the package's entry point. `SealedFileSystem` wraps another filesystem: names, directories and removals are its own;
contents are sealed when written and opened when read. Sizes are those of the texts.
"""

from __future__ import annotations

import inspect
import os
import secrets
from typing import Any

from fsspec import filesystem
from fsspec.implementations.chained import ChainedFileSystem
from fsspec.spec import AbstractBufferedFile

from ._sealwright import Error, text_bytes
from .sealedfile import SealedFile

_HEAD = 64 * 1024 + 16  # The longest preamble (docs/FORMAT.md): all that `text_bytes` reads.


def forget(file: Any) -> None:
    """Leaves nothing of a file of a store that was opened for writing without `autocommit`."""
    if isinstance(file, AbstractBufferedFile):
        # Closing it would upload what there is.
        file.discard()
        file.closed = True
    else:
        file.close()
        file.discard()


_process = object()  # Another one in each child: in a PID namespace of its own it may have its parent's number.


def _forked() -> None:
    global _process
    _process = object()


os.register_at_fork(after_in_child=_forked)


class _Sealed(SealedFile):
    """A sealed file over a file of the store, which it closes."""

    def __init__(self, below: Any, mode: str, options: dict[str, Any], autocommit: bool = True) -> None:
        self._below, self._autocommit, self._process = below, autocommit, (os.getpid(), _process)
        try:
            super().__init__(below, mode, **options)
        except BaseException:
            below.close() if mode == "rb" else forget(self._below)
            raise

    def close(self) -> None:
        if self.closed or self._given_up():
            # It finds the same.
            super().close()
            return
        below, writing = self._below, self.writable()
        try:
            super().close()
        except BaseException:
            self._forget()
            raise
        below.close()
        if writing and self._autocommit:
            below.commit()

    def commit(self) -> None:
        """Puts the file in its place, at the end of a transaction."""
        self._below.commit()

    def discard(self) -> None:
        writing = self.writable() or self.closed
        super().discard()
        if writing:
            self._forget()
        else:
            self._below.close()

    def _forget(self) -> None:
        # A forked child must not take away what its parent writes.
        if self._process == (os.getpid(), _process):
            forget(self._below)


class SealedFileSystem(ChainedFileSystem):  # type: ignore[misc]
    """Sealed files in another filesystem.

    `key` opens them, and seals them unless there are `recipients`. `suite`, `associated_data`, `costs` and `max_memory_kib` are those of
    `sealwright.seal` and `sealwright.open`. The filesystem below is `fs`, or the one that `target_protocol` and `target_options` name;
    without either, local files.
    """

    protocol = "seal"
    cachable = False  # A key would stay in memory for as long as the process.

    def __init__(
        self,
        key: Any = None,
        recipients: Any = None,
        associated_data: bytes | None = None,
        suite: str = "aes-256-gcm",
        costs: tuple[int, int, int] | None = None,
        max_memory_kib: int | None = None,
        fs: Any = None,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        fo: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        # JSON has no bytes: `to_json` writes them as numbers.
        key, associated_data = (bytes(each) if isinstance(each, list) else each for each in (key, associated_data))
        if key is None and recipients is None:
            raise ValueError("pass key, recipients or both, such as storage_options={'seal': {'key': key}}")
        self.fs = fs if fs is not None else filesystem(target_protocol or "file", **(target_options or {}))
        self._reading = {"key": key, "associated_data": associated_data, "max_memory_kib": max_memory_kib}
        self._writing: dict[str, Any] = {"associated_data": associated_data, "suite": suite, "costs": costs}
        self._writing.update({"recipients": recipients} if recipients is not None else {"key": key})
        texts = (key, associated_data, *(recipients if isinstance(recipients, (list, tuple)) else (recipients,)))
        # fsspec's token is made of what `repr` shows, and keys that are objects do not show what they are. Two filesystems that look equal
        # would share Dask's results.
        self._own_token = None if all(each is None or isinstance(each, (bytes, str)) for each in texts) else secrets.token_hex(16)

    @property
    def _fs_token(self) -> Any:
        return self._own_token or self._fs_token_

    def to_dict(self, *, include_password: bool = True) -> dict[str, Any]:
        """As fsspec's; a key is a password."""
        if include_password:
            return dict(super().to_dict(include_password=True))
        told = inspect.signature(SealedFileSystem.__init__).bind(self, *self.storage_args, **self.storage_options).arguments
        options = {**told.pop("kwargs", {}), **told}
        del options["self"]
        options.pop("key", None)
        # fsspec would ask the filesystem below for its password.
        if options.get("fs") is not None:
            options["fs"] = options["fs"].to_dict(include_password=False)
        if options.get("target_options"):
            options["target_options"] = {name: each for name, each in options["target_options"].items() if name != "password"}
        bare = object.__new__(SealedFileSystem)
        bare.storage_args, bare.storage_options = (), options
        return dict(super(SealedFileSystem, bare).to_dict(include_password=False))

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(each) for each in path]
        path = str(path)
        for start in ("seal::", "seal://"):
            if path.startswith(start):
                path = path[len(start) :]
        return path

    def _below(self, path: str) -> str:
        return str(self.fs._strip_protocol(self._strip_protocol(path)))

    @property
    def fsid(self) -> str:
        return f"seal_{self.fs.fsid}"

    def _open(self, path: str, mode: str = "rb", autocommit: bool = True, **kwargs: Any) -> Any:
        path = self._below(path)
        if mode == "rb":
            return _Sealed(self.fs.open(path, "rb"), mode, self._reading)
        if mode not in ("wb", "xb"):
            raise ValueError(f"mode must be 'rb', 'wb' or 'xb', not {mode!r}: a sealed file is written as a whole")
        if mode == "xb" and self.fs.exists(path):
            raise FileExistsError(path)
        # The store gets the file in its place when it is complete, and forgets one that is abandoned.
        return _Sealed(self.fs._open(path, mode="wb", autocommit=False), mode, self._writing, autocommit)

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        return self._with_text_size(self.fs.info(self._below(path), **kwargs))

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        found = self.fs.ls(self._below(path), detail=detail, **kwargs)
        return [self._listed(each) for each in found] if detail else list(found)

    def _listed(self, info: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._with_text_size(info)
        except Exception:  # of the store's own kinds
            # One file that cannot be read does not hide the others.
            return {**info, "size": None, "sealed_size": info.get("size")}

    def _with_text_size(self, info: dict[str, Any]) -> dict[str, Any]:
        """The size of the text, as the file's length tells: it is proven when the file is opened. None for other files, and where the
        store does not tell the length."""
        if info.get("type") != "file":
            return info
        sealed, size = info.get("size"), None
        if sealed is not None:
            try:
                size = text_bytes(self.fs.cat_file(info["name"], start=0, end=min(_HEAD, sealed)), sealed)
            except Error:
                pass
        return {**info, "size": size, "sealed_size": sealed}

    # Names and directories are those of the filesystem below.

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        self.fs.mkdir(self._below(path), create_parents=create_parents, **kwargs)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        self.fs.makedirs(self._below(path), exist_ok=exist_ok)

    def rmdir(self, path: str) -> None:
        self.fs.rmdir(self._below(path))

    def _rm(self, path: str) -> None:
        self.fs.rm_file(self._below(path))

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """Copies the sealed bytes: the copy opens with the same keys."""
        self.fs.cp_file(self._below(path1), self._below(path2), **kwargs)

    def created(self, path: str) -> Any:
        return self.fs.created(self._below(path))

    def modified(self, path: str) -> Any:
        return self.fs.modified(self._below(path))
