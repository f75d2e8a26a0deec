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
import secrets
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from fsspec import filesystem
from fsspec.compression import compr
from fsspec.core import get_compression, has_magic
from fsspec.implementations.chained import ChainedFileSystem

from ._sealed import Compressed, Sealed, Together
from ._sealwright import Error, text_bytes
from ._store import begin, first_bytes, remove

# The preamble (docs/FORMAT.md), which is all that `text_bytes` reads: so long for one key or a passphrase, and for recipients as it says.
_HEAD = 64
_LONGEST = 64 * 1024 + 16
_MAGIC = b"\x89SEAL\r\n\x1a"


def _preamble(head: bytes | Exception) -> int:
    """How long the preamble is of a file that begins so; 0 for other files."""
    if not isinstance(head, bytes) or not head.startswith(_MAGIC) or len(head) < 16:
        return 0
    return min(16 + int.from_bytes(head[12:16], "big"), _LONGEST)


class SealedFileSystem(ChainedFileSystem):  # type: ignore[misc]
    """Sealed files in another filesystem.

    `key` opens them, and seals them unless there are `recipients`. `suite`, `associated_data`, `costs` and `max_memory_kib` are those of
    `sealwright.seal` and `sealwright.open`. The filesystem below is `fs`, or the one that `target_protocol` and `target_options` name;
    without either, local files.
    """

    protocol = "seal"
    cachable = False  # A key would stay in memory for as long as the process.
    transaction_type = Together

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

    def open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        cache_options: dict[str, Any] | None = None,
        compression: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """As fsspec's. What is compressed is in its place when what it returns is closed."""
        compression = get_compression(self._below(path), compression)
        if compression is None or "b" not in mode or "r" in mode:
            return super().open(path, mode, block_size, cache_options, compression, **kwargs)
        sealed = super().open(path, mode, block_size, cache_options, **kwargs)
        try:
            return Compressed(compr[compression](sealed, mode=mode[0]), sealed)
        except BaseException:
            sealed.discard()
            raise

    def _open(self, path: str, mode: str = "rb", autocommit: bool = True, **kwargs: Any) -> Any:
        path = self._below(path)
        if mode == "rb":
            return Sealed(self.fs.open(path, "rb"), mode, self._reading)
        if mode not in ("wb", "xb"):
            raise ValueError(f"mode must be 'rb', 'wb' or 'xb', not {mode!r}: a sealed file is written as a whole")
        if mode == "xb" and self.fs.exists(path):
            raise FileExistsError(path)
        # The store gets the file in its place when it is complete, and forgets one that is abandoned.
        return Sealed(begin(self.fs, path), mode, self._writing, autocommit)

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        (found,) = self._with_text_sizes([self.fs.info(self._below(path), **kwargs)], strict=True)
        return found

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        found = self.fs.ls(self._below(path), detail=detail, **kwargs)
        return self._with_text_sizes(found) if detail else list(found)

    def find(self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, **kwargs: Any) -> Any:
        found = self.fs.find(self._below(path), maxdepth=maxdepth, withdirs=withdirs, detail=detail, **kwargs)
        return self._named(found) if detail else found

    def glob(self, path: str, maxdepth: int | None = None, **kwargs: Any) -> Any:
        # A stroke at the end asks for folders.
        below = self._below(path) + ("/" if str(path).endswith("/") else "")
        found = self.fs.glob(below, maxdepth=maxdepth, **kwargs)
        return self._named(found) if kwargs.get("detail") else found

    def walk(self, path: str, *args: Any, **kwargs: Any) -> Iterator[Any]:
        for root, folders, files in self.fs.walk(self._below(path), *args, **kwargs):
            yield root, folders, self._named(files) if kwargs.get("detail") else files

    def du(self, path: str, total: bool = True, maxdepth: int | None = None, withdirs: bool = False, **kwargs: Any) -> Any:
        """As fsspec's. A file whose text has no known length counts with its own."""
        found = self.find(path, maxdepth=maxdepth, withdirs=withdirs, detail=True, **kwargs)
        if withdirs and self.isdir(path):
            top = self.info(path)
            found = {top["name"]: top, **found}
        sizes = {name: info.get("sealed_size") or 0 if info["size"] is None else info["size"] for name, info in found.items()}
        return sum(sizes.values()) if total else sizes

    def _named(self, found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        return dict(zip(found, self._with_text_sizes(list(found.values()))))

    def _with_text_sizes(self, infos: list[dict[str, Any]], strict: bool = False) -> list[dict[str, Any]]:
        """The sizes of the texts, as the files' lengths tell: they are proven when a file is opened. None for other files, and where the
        store does not tell the length. One file that cannot be read does not hide the others, unless `strict`."""
        sealed = {info["name"]: info["size"] for info in infos if info.get("type") == "file" and info.get("size")}
        heads = self._heads({name: min(_HEAD, size) for name, size in sealed.items()})
        longer = {name: min(_preamble(head), sealed[name]) for name, head in heads.items() if _preamble(head) > _HEAD < sealed[name]}
        heads.update(self._heads(longer))
        told: list[dict[str, Any]] = []
        for info in infos:
            size, head = None, heads.get(info["name"])
            if strict and isinstance(head, Exception):
                raise head
            if isinstance(head, bytes):
                with suppress(Error):
                    size = text_bytes(head, info["size"])
            told.append({**info, "size": size, "sealed_size": info.get("size")} if info.get("type") == "file" else info)
        return told

    def _heads(self, lengths: dict[str, int]) -> dict[str, bytes | Exception]:
        """The first bytes of files, or why they cannot be read: all at once, where the store can."""
        names = list(lengths)
        return dict(zip(names, first_bytes(self.fs, names, list(lengths.values()))))

    # Names and directories are those of the filesystem below.

    def exists(self, path: str, **kwargs: Any) -> bool:
        return bool(self.fs.exists(self._below(path), **kwargs))

    def lexists(self, path: str, **kwargs: Any) -> bool:
        return bool(self.fs.lexists(self._below(path), **kwargs))

    def isfile(self, path: str) -> bool:
        return bool(self.fs.isfile(self._below(path)))

    def isdir(self, path: str) -> bool:
        return bool(self.fs.isdir(self._below(path)))

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        self.fs.mkdir(self._below(path), create_parents=create_parents, **kwargs)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        self.fs.makedirs(self._below(path), exist_ok=exist_ok)

    def rmdir(self, path: str) -> None:
        self.fs.rmdir(self._below(path))

    def _rm(self, path: str) -> None:
        self.fs.rm_file(self._below(path))

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        paths: list[str] = []
        for each in path if isinstance(path, (list, tuple, set)) else [path]:
            below = self._below(each)
            # Not every store expands them here.
            found = self.fs.glob(below) if has_magic(below) and not self.fs.lexists(below) else [below]
            if not found:
                raise FileNotFoundError(below)
            paths.extend(found)
        remove(self.fs, paths, recursive, maxdepth)

    def invalidate_cache(self, path: str | None = None) -> None:
        super().invalidate_cache(path)
        self.fs.invalidate_cache(None if path is None else self._below(path))

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """Copies the sealed bytes: the copy opens with the same keys."""
        self.fs.cp_file(self._below(path1), self._below(path2), **kwargs)

    def created(self, path: str) -> Any:
        return self.fs.created(self._below(path))

    def modified(self, path: str) -> Any:
        return self.fs.modified(self._below(path))
