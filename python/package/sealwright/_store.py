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

from ._access import resemble, resemble_at


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
        hidden = _hidden(path)
        return _Renamed(fs, path, hidden, fs._open(hidden, mode="wb"))
    # Opening a file without `commit` empties an old one of its name. Only the file itself shows whether it has one.
    first = _hidden(path) if _renames(fs) or _may_be_there(fs, path) else path
    file = _opened(fs, first)
    if not hasattr(file, "commit"):
        return _AtOnce(fs, path, file) if first == path else _beside(fs, path, first, file)
    if first == path:
        return file
    # Nothing was sent to the store, and closing this one would send something.
    if isinstance(file, AbstractBufferedFile):
        file.closed = True
    else:
        forget(file)
    return _opened(fs, path)


def _opened(fs: Any, path: str) -> Any:
    file = fs._open(path, mode="wb", autocommit=False)
    if isinstance(file, AbstractBufferedFile):
        if type(file)._upload_chunk is AbstractBufferedFile._upload_chunk:
            file.closed = True
            what = f"{type(fs).__name__} keeps nothing that is written to it (hint: put `seal::` over the store itself)"
            raise NotImplementedError(what)
    # fsspec's caches do not pass on `autocommit`: closing the file, even to forget it, would upload it.
    elif getattr(file, "autocommit", False):
        file.autocommit = False
    return file


def _beside(fs: Any, path: str, hidden: str, file: Any) -> Any:
    """A file that was opened under a hidden name, because files of this store have no `commit`."""
    draft = _Renamed(fs, path, hidden, file)
    try:
        # To rename a file to the name of a folder may move it into the folder.
        if fs.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not _renames(fs):
            what = f"{path}: {type(fs).__name__} cannot replace a file in one step, nor rename one"
            raise NotImplementedError(f"{what} (hint: remove it first, or write to another name)")
        if isinstance(fs, LocalFileSystem):
            resemble_at(hidden, path)
    except BaseException:
        with suppress(Exception):
            draft.discard()
        raise
    return draft


def _renames(fs: Any) -> bool:
    """Whether a store can rename files, or at least copy them, which is how fsspec's own `mv` does it."""
    own = (AbstractFileSystem.mv, AbstractFileSystem.cp_file, AsyncFileSystem._cp_file)
    return any(getattr(type(fs), each.__name__, each) is not each for each in own)


def _may_be_there(fs: Any, path: str) -> bool:
    """Most stores' `exists` also says no where it cannot tell."""
    try:
        fs.info(path)
    except (FileNotFoundError, NotImplementedError):
        return False
    return True


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
            resemble(file, path, old)
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


class _Renamed(_Draft):
    """A file of a store in which files exist as soon as they are opened: it is written under another name, and renamed."""

    def __init__(self, fs: Any, path: str, hidden: str, file: Any) -> None:
        self.name, self._fs, self._hidden, self._file = path, fs, hidden, file

    def write(self, data: Any) -> int:
        wrote = self._file.write(data)
        return len(data) if wrote is None else int(wrote)

    def close(self) -> None:
        self._file.close()

    def commit(self) -> None:
        if type(self._fs).mv is AbstractFileSystem.mv:
            self._copy()
        else:
            self._fs.mv(self._hidden, self.name)
            self._hidden = ""

    def _copy(self) -> None:
        """What fsspec's own `mv` does, which takes names for patterns."""
        # If copying fails, the old file may be lost: the new one stays.
        hidden, self._hidden = self._hidden, ""
        try:
            self._fs.cp_file(hidden, self.name)
        except Exception as error:
            what = f"{self.name} could not be replaced: {error} (hint: the new file, which is whole, is {hidden})"
            raise OSError(what) from error
        # If the hidden name cannot be removed, it does no harm.
        with suppress(Exception):
            self._fs.rm_file(hidden)

    def discard(self) -> None:
        name, self._hidden = self._hidden, ""
        if name:
            try:
                self._file.close()
            finally:
                self._fs.rm_file(name)


class _AtOnce(_Draft):
    """A new file of a store that can neither commit nor rename: closing commits it, and `forget` removes it."""

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
