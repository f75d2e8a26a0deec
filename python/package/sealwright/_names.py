"""Removes and moves files and folders of a store by name; no existing name is taken as a pattern."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from typing import Any, Optional

from fsspec.core import has_magic
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.local import LocalFileSystem
from fsspec.utils import common_prefix

from ._store import behind


def remove(fs: Any, paths: list[str], recursive: bool, maxdepth: Optional[int]) -> None:
    """Removes everything with these names."""
    fs, paths = behind(fs, paths)
    if not isinstance(fs, ArrowFSWrapper) and not any(map(has_magic, paths)):
        fs.rm(paths[0] if len(paths) == 1 else paths, recursive=recursive, maxdepth=maxdepth)
        return
    # Arrow's filesystems accept no list. The `rm` of most other stores would treat a name as a pattern and remove its matches.
    for path in paths:
        if not recursive:
            fs.rm_file(path)
        elif _is_literal(fs):
            fs.rm(path, recursive=True, maxdepth=maxdepth)
        else:
            found = fs.find(path, maxdepth=maxdepth, withdirs=True, detail=True)
            if not found:
                raise FileNotFoundError(path)
            _remove_all(fs, found)


def goals_of(fs: Any, sources: list[str], goal: str, within: bool, recursive: bool) -> tuple[list[str], list[str]]:
    """What is to be moved, and where to: to `goal`, or into that folder if `within`. A name that does not exist may be a pattern for others."""
    into = goal.rstrip("/") + "/"
    moved: list[tuple[str, str]] = []
    for source in sources:
        if has_magic(source) and not fs.lexists(source):
            # A file that matches two patterns is moved once.
            there = {name for name, _ in moved}
            moved += [(name, into + rest) for name, rest in _matches(fs, source, recursive) if name not in there]
        else:
            moved.append((source, into + source.rstrip("/").rpartition("/")[2] if within else goal))
    return [name for name, _ in moved], [each for _, each in moved]


def _matches(fs: Any, pattern: str, recursive: bool) -> list[tuple[str, str]]:
    """The matches of a pattern, each with its name relative to the folder that contains them all."""
    found = fs.glob(pattern, detail=True)
    folders = tuple(f"{name}/" for name in found if found[name].get("type") == "directory")
    # Without `recursive`, fsspec's patterns match files only. With it, the contents of a folder move with the folder.
    sources = [name for name in found if (not name.startswith(folders) if recursive else f"{name}/" not in folders)]
    if not sources:
        raise FileNotFoundError(pattern)
    top = common_prefix([name.rpartition("/")[0] for name in sources])
    return [(name, name[len(top) :].lstrip("/")) for name in sources]


def move(fs: Any, sources: list[str], goals: list[str], recursive: bool, maxdepth: Optional[int]) -> None:
    """Moves each of `sources` to its goal. A source is removed only when it is complete at its goal, and no folder is replaced."""
    if len(sources) != len(goals):
        raise ValueError(f"as many goals as sources are needed, not {len(goals)} for {len(sources)}")
    store, sources = behind(fs, sources)
    goals = behind(fs, goals)[1]
    if len(set(goals)) < len(goals):
        raise ValueError("two files would have one name (hint: move them to different folders)")
    moved = [(source, goal) for source, goal in zip(sources, goals) if source != goal]
    last = {source: place for place, (source, _) in enumerate(moved)}
    for place, (source, goal) in enumerate(moved):
        if last.get(goal, -1) > place:
            raise ValueError(f"{source} would replace {goal}, which is to be moved after it (hint: name {goal} before it)")
    for source, goal in moved:
        folder = store.isdir(source) and not (isinstance(store, LocalFileSystem) and store.islink(source))
        if folder and not recursive:
            raise IsADirectoryError(errno.EISDIR, f"{os.strerror(errno.EISDIR)} (hint: recursive=True moves it)", source)
        if folder and goal.startswith(source.rstrip("/") + "/"):
            raise ValueError(f"{goal} lies in {source}, which is to be moved")
        if store.isdir(goal):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), goal)
        if _leads_to(store, source, goal):
            raise shutil.SameFileError(f"{source} is a link to {goal}, and would replace it")
        if _is_literal(store) and (maxdepth is None or not folder):
            store.mv(source, goal)
        elif folder:
            _move_folder(store, source, goal, maxdepth)
        else:
            store.cp_file(source, goal)
            store.rm_file(source)


def _is_literal(fs: Any) -> bool:
    """Whether its `rm` and `mv` take names literally, also those of folders."""
    return isinstance(fs, (ArrowFSWrapper, LocalFileSystem))


def _leads_to(fs: Any, source: str, goal: str) -> bool:
    """Whether `source` is a link to `goal`: moved there, it would point to itself, and the file would be lost."""
    local = isinstance(fs, LocalFileSystem) or (isinstance(fs, ArrowFSWrapper) and fs.fs.type_name == "local")
    if not local or not os.path.islink(source) or not os.path.exists(source) or not os.path.exists(goal):
        return False
    return os.path.samefile(source, goal)


def _move_folder(fs: Any, source: str, goal: str, maxdepth: Optional[int]) -> None:
    found = {source: fs.info(source), **fs.find(source, maxdepth=maxdepth, withdirs=True, detail=True)}
    for name in sorted(found):
        target = goal + name[len(source) :]
        if found[name].get("type") == "directory":
            fs.makedirs(target, exist_ok=True)
        else:
            fs.cp_file(name, target)
    _remove_all(fs, found)


def _remove_all(fs: Any, found: dict[str, dict[str, Any]]) -> None:
    """Removes these files, and those of the folders that are then empty."""
    # The contents of a folder come before the folder.
    for name in sorted(found, reverse=True):
        if found[name].get("type") != "directory":
            fs.rm_file(name)
            continue
        # If folders are only prefixes of names, this one is gone already. Arrow's `rmdir` would also remove files below `maxdepth`.
        with suppress(OSError):
            if not fs.ls(name, detail=False):
                fs.rmdir(name)
