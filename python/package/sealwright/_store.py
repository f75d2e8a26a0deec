"""Files that appear in an fsspec store complete or not at all."""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
from contextlib import suppress
from typing import Any, Optional

from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.cached import CachingFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem


def begin(fs: Any, path: str) -> Any:
    """A file of the store to `write` to. After it is closed, `commit` puts it in its place; until then, `forget` removes every trace of it."""
    # The `_open` of wrapping filesystems is the inherited stub: data written to its file is lost.
    fs, (path,) = behind(fs, [str(fs._strip_protocol(path))])
    # A block-caching filesystem passes writes on.
    while type(fs)._open is CachingFileSystem._open:
        fs, (path,) = behind(fs.fs, [path])
    if type(fs)._open is MemoryFileSystem._open:
        return _in_memory(fs, path)
    if type(fs)._open is LocalFileSystem._open:
        return _Local(fs, path)
    if isinstance(fs, ArrowFSWrapper):
        return _Renamed(fs, path)
    file = fs._open(path, mode="wb", autocommit=False)
    if isinstance(file, AbstractBufferedFile):
        if type(file)._upload_chunk is AbstractBufferedFile._upload_chunk:
            file.closed = True
            what = f"{type(fs).__name__} keeps nothing that is written to it (hint: put `seal::` over the store itself)"
            raise NotImplementedError(what)
        return file
    if not hasattr(file, "commit"):
        return _AtOnce(fs, path, file)
    # fsspec's caches do not pass on `autocommit`: closing the file, even to forget it, would upload it.
    if getattr(file, "autocommit", False):
        file.autocommit = False
    return file


def put_new(fs: Any, path: str, file: Any) -> None:
    """Commits a file from `begin`, unless its name has been taken meanwhile. Only local file systems do both in one step."""
    if isinstance(file, _Local):
        file.commit(new=True)
        return
    # A file that exists as soon as it is opened would find itself.
    if not isinstance(file, _AtOnce):
        fs.invalidate_cache(path)
        if fs.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    file.commit()


def forget(file: Any) -> None:
    """Removes every trace of a file from `begin` that was not committed."""
    if isinstance(file, _Draft):
        file.discard()
    elif isinstance(file, AbstractBufferedFile):
        # Closing it would upload the partial file.
        file.discard()
        file.closed = True
    else:
        # If writing failed, closing fails too, for example on a full disk.
        try:
            file.close()
        finally:
            file.discard()


def first_bytes(fs: Any, paths: list[str], lengths: list[int]) -> list[Any]:
    """The first bytes of each file, up to the given number, or the exception; concurrently, if the store can."""
    # Older versions of `dir::` cannot read ranges of a synchronous store.
    fs, paths = behind(fs, paths)
    # Examining files must not bring them into a cache.
    while isinstance(fs, CachingFileSystem):
        fs, paths = behind(fs.fs, paths)
    # Without this option, fsspec opens Arrow's files as not seekable, and ranges cannot be read.
    options = {"seekable": True} if isinstance(fs, ArrowFSWrapper) else {}
    return list(fs.cat_ranges(paths, [None] * len(paths), lengths, **options)) if paths else []


def files_below(fs: Any, top: str) -> tuple[dict[str, dict[str, Any]], dict[str, Exception]]:
    """The files below `top`, or `top` itself, and why folders cannot be listed, which fsspec's own `find` ignores. For a file that no
    listing contains, the information is empty."""
    ours = getattr(fs.find, "__func__", None) is AbstractFileSystem.find or getattr(type(fs), "_find", None) is AsyncFileSystem._find
    found: dict[str, dict[str, Any]] = {}
    failed: dict[str, Exception] = {}
    folders = [top] if ours else []
    while folders:
        folder = folders.pop()
        try:
            listed = fs.ls(folder, detail=True)
        except Exception as error:
            # Stores also raise other exceptions than OSError, for example for HTTP responses.
            failed[folder] = error
            continue
        for info in listed:
            name = info["name"].rstrip("/")
            if info["type"] != "directory":
                found[info["name"]] = info
            elif name != folder.rstrip("/"):
                folders.append(name)
    if not ours:
        found = fs.find(top, detail=True)
    # Not every store lists `top` if it is a file.
    if not found and fs.isfile(top):
        return {top: {}}, {}
    if top in failed:
        raise failed[top]
    if not found and not fs.exists(top):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), top)
    return found, failed


def behind(fs: Any, paths: list[str]) -> tuple[Any, list[str]]:
    """The store that is wrapped by another, and the paths in it."""
    while isinstance(fs, (DirFileSystem, AsyncFileSystemWrapper)):
        fs, paths = (fs.fs, fs._join(paths)) if isinstance(fs, DirFileSystem) else (fs.sync_fs, paths)
    return fs, paths


def _in_memory(fs: MemoryFileSystem, path: str) -> MemoryFile:
    """Equivalent to its `_open`, which would already replace the old file."""
    path = fs._strip_protocol(path)
    if path in fs.pseudo_dirs:
        raise IsADirectoryError(path)
    parent = path
    while len(parent) > 1:
        parent = fs._parent(parent)
        if fs.isfile(parent):
            raise FileExistsError(parent)
    return MemoryFile(fs, path)


def _hidden(path: str) -> str:
    """A temporary name in the same folder."""
    folder, stroke, name = path.rpartition("/")
    # A name may have 255 bytes. Not every store accepts a truncated character.
    name = name.encode(errors="ignore")[:240].decode(errors="ignore")
    return f"{folder}{stroke}.{name}.{secrets.token_hex(4)}"


class _Draft:
    """A file that is not of a class of the store. `forget` may be called twice."""

    def write(self, data: Any) -> int:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def commit(self) -> None:
        raise NotImplementedError

    def discard(self) -> None:
        raise NotImplementedError


class _Local(_Draft):
    """A local file. It is created in the folder of its target, without a name if the file system supports that, and gets its name when its
    contents are on the disk.

    fsspec's own is created in the folder for temporary files. If that is on another device, it is copied over its target, which is lost
    if the copy fails; and if the process is killed, the text stays there.
    """

    def __init__(self, fs: LocalFileSystem, path: str) -> None:
        self.name = path
        self._hidden: Optional[str] = None
        if fs.auto_mkdir:
            os.makedirs(fs._parent(path), exist_ok=True)
        # A link is replaced, not followed: anyone who can write to the folder could have made it, so that another file is replaced.
        try:
            old: Optional[os.stat_result] = os.lstat(path)
        except FileNotFoundError:
            old = None
        if old is not None and stat.S_ISDIR(old.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if old is not None and not (stat.S_ISREG(old.st_mode) or stat.S_ISLNK(old.st_mode)):
            raise OSError(errno.EINVAL, "no regular file", path)
        kept = old is not None and stat.S_ISREG(old.st_mode)
        # A file that replaces another is accessible to its owner only until its group is set.
        mode = 0o600 if kept else 0o666
        file = _unnamed(os.path.dirname(path), mode)
        if file is None:
            self._hidden = _hidden(path)
            file = os.open(self._hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        if old is not None and kept:
            _resemble(file, old)
        self._file = io.FileIO(file, "wb")

    def write(self, data: Any) -> int:
        with memoryview(data) as view, view.cast("B") as parts:
            done = 0
            while done < len(parts):
                done += self._file.write(parts[done:])
            return done

    def close(self) -> None:
        if self._file.closed:
            return
        try:
            os.fsync(self._file.fileno())
            if self._hidden is None:
                # Many may be closed before a transaction ends: none stays open. With a descriptor, Python follows the link in /proc.
                file, name = self._file.fileno(), _hidden(self.name)
                os.link(f"/proc/self/fd/{file}", name, src_dir_fd=file, follow_symlinks=True)
                self._hidden = name
        finally:
            self._file.close()

    def commit(self, new: bool = False) -> None:
        self.close()
        if self._hidden is None:
            return
        folder = None
        # A folder that may be written to, but not listed, cannot be synced.
        with suppress(PermissionError):
            folder = os.open(os.path.dirname(self.name), os.O_RDONLY)
        try:
            if new:
                self._take_name(self._hidden)
            else:
                os.replace(self._hidden, self.name)
            self._hidden = None
            if folder is not None:
                os.fsync(folder)
        except OSError as error:
            # Not every file system syncs folders.
            if self._hidden is not None or error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
                raise
        finally:
            if folder is not None:
                os.close(folder)

    def _take_name(self, hidden: str) -> None:
        """Renames it without replacing an existing file."""
        try:
            os.link(hidden, self.name, follow_symlinks=False)
        except OSError as error:
            # Not every file system has links.
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                raise
            if os.path.lexists(self.name):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.name) from None
            os.replace(hidden, self.name)
            return
        # If the temporary name cannot be removed, it does no harm.
        with suppress(OSError):
            os.remove(hidden)

    def discard(self) -> None:
        name, self._hidden = self._hidden, None
        try:
            self._file.close()
        finally:
            if name is not None:
                os.remove(name)


def _unnamed(folder: str, mode: int) -> Optional[int]:
    """A file without a name, if the file system supports such files and naming them later."""
    try:
        file = os.open(folder, os.O_TMPFILE | os.O_WRONLY, mode)
    except (AttributeError, OSError):
        return None
    if os.path.exists(f"/proc/self/fd/{file}"):
        return file
    os.close(file)
    return None


def _resemble(file: int, old: os.stat_result) -> None:
    """Gives the new file the owner, group and permissions of the old one, as far as the system allows, and access to nobody else."""
    mode = stat.S_IMODE(old.st_mode) & 0o777
    try:
        os.fchown(file, -1, old.st_gid)
    except OSError:
        # The group differs then, and members of the old group are among the others.
        mode &= 0o700 | mode >> 3 & 0o007
    with suppress(OSError):
        os.fchmod(file, mode)
    # Last, because after giving a file away one may not change its mode.
    with suppress(OSError):
        os.fchown(file, old.st_uid, -1)


class _Renamed(_Draft):
    """A file of a store in which files exist as soon as they are opened: it is written under another name, and renamed."""

    def __init__(self, fs: Any, path: str) -> None:
        self.name, self._fs, self._hidden = path, fs, _hidden(path)
        self._file = fs._open(self._hidden, mode="wb")

    def write(self, data: Any) -> int:
        return int(self._file.write(data))

    def close(self) -> None:
        self._file.close()

    def commit(self) -> None:
        self._fs.mv(self._hidden, self.name)
        self._hidden = ""

    def discard(self) -> None:
        name, self._hidden = self._hidden, ""
        if name:
            try:
                self._file.close()
            finally:
                self._fs.rm_file(name)


class _AtOnce(_Draft):
    """A file of a store without `commit`: closing commits it, and `forget` removes it."""

    def __init__(self, fs: Any, path: str, file: Any) -> None:
        self.name, self._fs, self._file, self._there = path, fs, file, True

    def write(self, data: Any) -> int:
        wrote = self._file.write(data)
        return len(data) if wrote is None else int(wrote)

    def close(self) -> None:
        self._file.close()

    def commit(self) -> None:
        self._there = False

    def discard(self) -> None:
        there, self._there = self._there, False
        if there:
            try:
                self._file.close()
            finally:
                self._fs.rm_file(self.name)
