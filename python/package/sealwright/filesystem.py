"""The fsspec filesystem `seal::`: sealed files on any store, written, and read by range.

    import fsspec, pandas, sealwright

    options = {"seal": {"key": key}}
    frame.to_parquet("seal::s3://bucket/table.parquet", storage_options={"seal": {"key": key}})
    pandas.read_parquet("seal::s3://bucket/table.parquet", storage_options={"seal": {"key": key}})

fsspec finds it by the package's entry point. `SealedFileSystem` wraps another filesystem. Names, directories and removals are those of
that filesystem; contents are sealed when written and opened when read. Sizes are those of the texts.
"""

from __future__ import annotations

import inspect
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from fsspec import AbstractFileSystem, available_protocols, filesystem
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.compression import compr
from fsspec.core import get_compression, has_magic
from fsspec.implementations.chained import ChainedFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.utils import isfilelike

from ._names import goals_of, move, remove
from ._reading import opened, ranges
from ._sealed import Compressed, Sealed, Together, copy_whole
from ._sealwright import Error, text_bytes
from ._store import begin, first_bytes, put_new

# The preamble (docs/FORMAT.md), which is all that `text_bytes` reads: so long for one key or a passphrase, and for recipients as it says.
_HEAD = 64
_LONGEST = 64 * 1024 + 16
_MAGIC = b"\x89SEAL\r\n\x1a"
# Arguments that fsspec accepts for every filesystem.
_FSSPECS = {"use_listings_cache", "listings_expiry_time", "max_paths", "asynchronous", "loop", "batch_size", "add_docs", "add_aliases"}


def _preamble(head: bytes | Exception) -> int:
    """The length of the preamble of a file that begins with these bytes; 0 if it is not a sealed file."""
    if not isinstance(head, bytes) or not head.startswith(_MAGIC) or len(head) < 16:
        return 0
    return min(16 + int.from_bytes(head[12:16], "big"), _LONGEST)


def _length(info: dict[str, Any]) -> int:
    """The length of the text, or of the file if that of the text is unknown."""
    return int((info.get("sealed_size") or 0) if info.get("size") is None else info["size"])


def _without_keys(options: Any, protocol: Any) -> Any:
    """The arguments of a filesystem of this protocol, without passwords and keys of sealed files at any depth."""
    if isinstance(options, (list, tuple)):
        return [_without_keys(each, None) for each in options]
    if not isinstance(options, dict):
        return options
    # In `to_dict`, the protocol is one of them.
    protocol = options.get("protocol", protocol)
    left_out = {"password", "key", "args"} if protocol == "seal" else {"password"}
    below = {"target_options": options.get("target_protocol"), "remote_options": options.get("remote_protocol")}
    return {name: _without_keys(each, below.get(name, name)) for name, each in options.items() if name not in left_out}


class _Shown:
    """The entries from which a tree is drawn: fsspec cannot draw a file without a length."""

    tree = AbstractFileSystem.tree

    def __init__(self, fs: SealedFileSystem) -> None:
        self._fs = fs

    def ls(self, path: str, detail: bool = True) -> list[dict[str, Any]]:
        return [{**info, "size": _length(info)} for info in self._fs.ls(path, detail=True)]


class SealedFileSystem(ChainedFileSystem):  # type: ignore[misc]
    """Sealed files in another filesystem.

    `key` opens the files, and seals them unless there are `recipients`. `suite`, `associated_data`, `costs` and `max_memory_kib` are
    those of `sealwright.seal` and `sealwright.open`. The underlying filesystem is `fs`, or the one that `target_protocol` and
    `target_options` select; without either, the local one.
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
        for name, value in kwargs.items():
            # Arguments for several protocols of a chain are passed to each of them.
            if name not in _FSSPECS and not (isinstance(value, dict) and name in available_protocols()):
                what = "those of the store below belong into target_options, or beside 'seal' under the name of its protocol"
                raise TypeError(f"seal:: takes no option {name!r} (hint: {what})")
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
        """Like fsspec's; a key is treated as a password."""
        if include_password:
            return dict(super().to_dict(include_password=True))
        told = inspect.signature(SealedFileSystem.__init__).bind(self, *self.storage_args, **self.storage_options).arguments
        options = {**told.pop("kwargs", {}), **told}
        del options["self"]
        options.pop("key", None)
        # fsspec would ask the underlying filesystem for its password, and those below it.
        if options.get("fs") is not None:
            options["fs"] = options["fs"].to_dict(include_password=False)
        options = _without_keys(options, None)
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
        """The identifier of the store below, with `seal_` in front."""
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
        """Like fsspec's. With `compression`, the file is in its place when the returned object is closed. `block_size`, `cache_type` and
        `cache_options` apply to reading, and are those of the underlying store."""
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
            return Sealed(opened(self.fs, path, kwargs), mode, self._reading)
        if mode not in ("wb", "xb"):
            raise ValueError(f"mode must be 'rb', 'wb' or 'xb', not {mode!r}: a sealed file is written as a whole")
        if mode == "xb" and self.fs.exists(path):
            raise FileExistsError(path)
        # The store puts the file in its place when it is complete, and removes an abandoned one.
        below = begin(self.fs, path)
        put = partial(put_new, self.fs, path, below) if mode == "xb" else None
        return Sealed(below, mode, self._writing, autocommit, put)

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """Like fsspec's. `size` is that of the text, or None if unknown; `sealed_size` is that of the sealed file."""
        (found,) = self._with_text_sizes([self.fs.info(self._below(path), **kwargs)], strict=True)
        return found

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        """Like fsspec's, with the sizes of `info`."""
        found = self.fs.ls(self._below(path), detail=detail, **kwargs)
        return self._with_text_sizes(found) if detail else list(found)

    def find(self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, **kwargs: Any) -> Any:
        """Like fsspec's, with the sizes of `info`."""
        found = self.fs.find(self._below(path), maxdepth=maxdepth, withdirs=withdirs, detail=detail, **kwargs)
        return self._named(found) if detail else found

    def glob(self, path: str, maxdepth: int | None = None, **kwargs: Any) -> Any:
        """Like fsspec's, with the sizes of `info`."""
        # A trailing slash asks for folders.
        below = self._below(path) + ("/" if str(path).endswith("/") else "")
        found = self.fs.glob(below, maxdepth=maxdepth, **kwargs)
        return self._named(found) if kwargs.get("detail") else found

    def walk(self, path: str, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Like fsspec's, with the sizes of `info`."""
        for root, folders, files in self.fs.walk(self._below(path), *args, **kwargs):
            yield root, folders, self._named(files) if kwargs.get("detail") else files

    def du(self, path: str, total: bool = True, maxdepth: int | None = None, withdirs: bool = False, **kwargs: Any) -> Any:
        """Like fsspec's. A file whose text has an unknown length counts with its own length."""
        found = self.find(path, maxdepth=maxdepth, withdirs=withdirs, detail=True, **kwargs)
        if withdirs and self.isdir(path):
            top = self.info(path)
            found = {top["name"]: top, **found}
        sizes = {name: _length(info) for name, info in found.items()}
        return sum(sizes.values()) if total else sizes

    def tree(self, *args: Any, **kwargs: Any) -> str:
        """Like fsspec's. A file whose text has an unknown length is shown with its own length."""
        return str(_Shown(self).tree(*args, **kwargs))

    def _named(self, found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        return dict(zip(found, self._with_text_sizes(list(found.values()))))

    def _with_text_sizes(self, infos: list[dict[str, Any]], strict: bool = False) -> list[dict[str, Any]]:
        """Replaces sizes by those of the texts, computed from the files' lengths: they are authenticated only when a file is opened. The
        size is None for files that are not sealed, and where the store reports no length. One unreadable file does not hide the others,
        unless `strict`."""
        files = {info["name"] for info in infos if self._is_of_a_file(info)}
        sealed = {info["name"]: info["size"] for info in infos if info["name"] in files and info.get("size")}
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
            told.append({**info, "size": size, "sealed_size": info.get("size")} if info["name"] in files else info)
        return told

    def _is_of_a_file(self, info: dict[str, Any]) -> bool:
        # Listings of local files report links as links, but with the length of their targets.
        if info.get("islink") and info.get("type") != "file":
            with suppress(OSError):
                return bool(self.fs.info(info["name"])["type"] == "file")
        return info.get("type") == "file"

    def _heads(self, lengths: dict[str, int]) -> dict[str, bytes | Exception]:
        """The first bytes of each file, or the reason why it cannot be read; concurrently, if the store can."""
        names = list(lengths)
        return dict(zip(names, first_bytes(self.fs, names, list(lengths.values()))))

    # Names and directories are those of the underlying filesystem.

    def exists(self, path: str, **kwargs: Any) -> bool:
        """Whether the store below has a file or directory of this name."""
        return bool(self.fs.exists(self._below(path), **kwargs))

    def lexists(self, path: str, **kwargs: Any) -> bool:
        """The same, also for a link that leads nowhere."""
        return bool(self.fs.lexists(self._below(path), **kwargs))

    def isfile(self, path: str) -> bool:
        """Whether the store below has a file of this name, sealed or not."""
        return bool(self.fs.isfile(self._below(path)))

    def isdir(self, path: str) -> bool:
        """Whether the store below has a directory of this name."""
        return bool(self.fs.isdir(self._below(path)))

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        """Creates a directory in the store below."""
        self.fs.mkdir(self._below(path), create_parents=create_parents, **kwargs)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Creates a directory in the store below, and those above it."""
        self.fs.makedirs(self._below(path), exist_ok=exist_ok)

    def rmdir(self, path: str) -> None:
        """Removes an empty directory of the store below."""
        self.fs.rmdir(self._below(path))

    def _rm(self, path: str) -> None:
        self.fs.rm_file(self._below(path))

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Like fsspec's, in the store below. An existing name is never taken as a pattern."""
        paths: list[str] = []
        for each in path if isinstance(path, (list, tuple, set)) else [path]:
            below = self._below(each)
            # Not every store expands them here.
            found = self.fs.glob(below) if has_magic(below) and not self.fs.lexists(below) else [below]
            if not found:
                raise FileNotFoundError(below)
            paths.extend(found)
        remove(self.fs, paths, recursive, maxdepth)

    def mv(self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any) -> None:
        """Like fsspec's, on the sealed bytes. An existing name is never taken as a pattern, and nothing is removed that was not moved."""
        one = isinstance(path1, (str, os.PathLike))
        sources = [self._below(each) for each in ([path1] if one else path1)]
        if isinstance(path2, (list, tuple)):
            goals = [self._below(each) for each in path2]
        else:
            within = not one or str(path2).endswith("/") or self.isdir(path2)
            sources, goals = goals_of(self.fs, sources, self._below(path2), within, recursive)
        move(self.fs, sources, goals, recursive, maxdepth)

    def expand_path(self, path: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any) -> list[str]:
        """Like fsspec's, but an existing name is never taken as a pattern."""
        names = [self._strip_protocol(each) for each in ([path] if isinstance(path, (str, os.PathLike)) else path)]
        there = [name for name in names if has_magic(name) and self.lexists(name)]
        found = set(there)
        for name in there if recursive else []:
            found.update(self.find(name, maxdepth=maxdepth, withdirs=True))
        if rest := [name for name in names if name not in there]:
            try:
                found.update(super().expand_path(rest, recursive=recursive, maxdepth=maxdepth, **kwargs))
            except FileNotFoundError:
                if not found:
                    raise
        return sorted(found)

    def _literally(self, path1: Any, path2: Any, isdir: Callable[[str], bool]) -> tuple[Any, Any]:
        """Converts names to lists, which fsspec does not expand, if the name of a file looks like a pattern."""
        if not isinstance(path1, str) or not isinstance(path2, str) or not has_magic(path1) or not self.isfile(path1):
            return path1, path2
        within = path2.endswith("/") or isdir(path2)
        return [path1], [f"{path2.rstrip('/')}/{path1.rpartition('/')[2]}" if within else path2]

    def copy(self, path1: Any, path2: Any, *args: Any, **kwargs: Any) -> None:
        """Like fsspec's, on the sealed bytes. An existing name is never taken as a pattern."""
        super().copy(*self._literally(path1, path2, self.isdir), *args, **kwargs)

    def get(self, rpath: Any, lpath: Any, *args: Any, **kwargs: Any) -> None:
        """Like fsspec's. An existing name is never taken as a pattern."""
        super().get(*self._literally(rpath, lpath, os.path.isdir), *args, **kwargs)

    def get_file(self, rpath: str, lpath: Any = None, callback: Any = DEFAULT_CALLBACK, outfile: Any = None, **kwargs: Any) -> None:
        """Like fsspec's. The local file appears in its place only when it is complete and authentic. A link is followed."""
        path = None if outfile is not None or isfilelike(lpath) else os.path.realpath(lpath)
        # A file that is not regular, such as a device, is written to directly.
        if path is None or os.path.exists(path) and not os.path.isfile(path) or self.isdir(rpath):
            super().get_file(rpath, lpath, callback=callback, outfile=outfile, **kwargs)
            return
        with self.open(rpath, "rb", **kwargs) as reader:
            callback.set_size(reader.size)
            copy_whole(reader, begin(LocalFileSystem(auto_mkdir=True), path), callback.relative_update)

    def cat_ranges(
        self, paths: list[str], starts: Any, ends: Any, max_gap: int | None = None, on_error: str = "return", **kwargs: Any
    ) -> list[Any]:
        """Like fsspec's. Each file is opened only once."""
        if max_gap is not None:
            raise NotImplementedError("max_gap (hint: leave it out)")
        return ranges(lambda path: self.open(path, "rb", **kwargs), paths, starts, ends, on_error)

    def invalidate_cache(self, path: str | None = None) -> None:
        """Like fsspec's, also for the store below."""
        super().invalidate_cache(path)
        self.fs.invalidate_cache(None if path is None else self._below(path))

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """Copies the sealed bytes: the copy opens with the same keys."""
        self.fs.cp_file(self._below(path1), self._below(path2), **kwargs)

    def created(self, path: str) -> Any:
        """When the sealed file was created, as the store below says."""
        return self.fs.created(self._below(path))

    def modified(self, path: str) -> Any:
        """When the sealed file was last written, as the store below says."""
        return self.fs.modified(self._below(path))
