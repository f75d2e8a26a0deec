"""Whole stores sealed, opened and rekeyed, and sweeps of the simulator, by as many workers as there are.

    from concurrent.futures import ProcessPoolExecutor
    from sealwright import distributed

    with ProcessPoolExecutor() as executor:
        report = distributed.seal_store(
            "s3://bucket/plain", "s3://bucket/sealed", executor=executor, key=key, manifest="run.jsonl"
        )

Any `concurrent.futures.Executor` does the work; that of Dask, `Client(...).get_executor(retries=3)`, does it on many machines. Each file is
a task of its own. A target appears only when it is whole, and the manifest names it only then: a run that was stopped, or that lost
workers, goes on where it was when it is started again with its manifest. A run without one does everything again. The key travels to the
workers with each task: let the executor's connections be encrypted, or pass a function that gets the key where the worker is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Optional

import fsspec

from ._sealwright import WrongKey
from ._spread import IN_FLIGHT, Manifest, Report, spread
from ._store import begin, forget
from .filesystem import SealedFileSystem
from .sealedfile import SealedFile
from .sweeps import Sweep, sweep

__all__ = ["Report", "Sweep", "open_store", "rekey_store", "seal_store", "sweep"]

_PART = 16 * 1024 * 1024
_ENDING = ".seal"


@dataclass(frozen=True)
class _Task:
    """One file, for a worker: everything in it can be pickled. Keys and passwords of stores are not shown: executors log tasks."""

    source: str
    target: str
    source_options: dict[str, Any] = field(repr=False)
    target_options: dict[str, Any] = field(repr=False)
    opening: Optional[dict[str, Any]] = field(repr=False)
    sealing: Optional[dict[str, Any]] = field(repr=False)


def seal_store(source: str, target: str, *, executor: Executor, **options: Any) -> Report:
    """Seals every file below the URL `source` to the URL `target`, under its name and `.seal`.

    `key` or `recipients`, `suite` and `associated_data` are those of `sealwright.seal`; keys must be bytes and recipients texts, or a
    function without arguments that returns one of them, called where the worker is. `source_options` and `target_options` are
    fsspec's. `manifest` is a local file that records what is done: what it names is skipped, unless the source has changed since. It is
    for one source, one target and one key; without it every file is sealed, and replaces what is there. `progress` is called with a
    `Report` after each file. `in_flight` is how many tasks wait or run at once, 64 if not given: at least twice the number of workers.
    Files whose work raises an exception are in the report; the others are not stopped by them. So are files whose names are no paths below
    the target: with an empty part, `.` or `..`, as objects of a store can have them, or with `::`, which chains URLs.
    """
    places, keys = _split(options)
    return _run(source, target, executor, None, keys, **places)


def open_store(source: str, target: str, *, executor: Executor, **options: Any) -> Report:
    """Opens every file below `source` whose name ends in `.seal`, to `target` without that ending. Arguments as of `seal_store`."""
    places, keys = _split(options)
    return _run(source, target, executor, keys, None, **places)


def rekey_store(store: str, *, executor: Executor, key: Any, new: dict[str, Any], **options: Any) -> Report:
    """Seals every file below `store` whose name ends in `.seal`, and that `key` opens, anew with the arguments `new`, such as
    `{"key": other}`, in its place. Whoever has a copy of a file and the old key can still open that. A file that opens with the new
    key already is left alone. One that is padded is in `failed`, as it would tell the length of its text then. Other arguments as of
    `seal_store`, with `store_options` for fsspec's.
    """
    places, keys = _split(options)
    own = places.pop("store_options", None)
    return _run(store, store, executor, {"key": key, **keys}, new, source_options=own, target_options=own, **places)


def _split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the run, and those of sealed files."""
    ours = ("source_options", "target_options", "store_options", "manifest", "progress", "in_flight")
    return (
        {name: value for name, value in options.items() if name in ours},
        {name: value for name, value in options.items() if name not in ours},
    )


def _goal(name: str, opening: Optional[dict[str, Any]], sealing: Optional[dict[str, Any]]) -> str:
    if opening is not None and sealing is not None:
        return name
    return name + _ENDING if sealing is not None else name[: -len(_ENDING)]


def _leads_astray(name: str) -> bool:
    """Whether a file of this name would not lie below the target, or not alone. Who can write to the source chose it."""
    parts = name.split("/")
    # Some stores take both strokes.
    return "::" in name or not {"", ".", ".."}.isdisjoint(parts) or ".." in re.split(r"[/\\]", name)


def _run(
    source: str,
    target: str,
    executor: Executor,
    opening: Optional[dict[str, Any]],
    sealing: Optional[dict[str, Any]],
    *,
    source_options: Optional[dict[str, Any]] = None,
    target_options: Optional[dict[str, Any]] = None,
    manifest: Optional[str | os.PathLike[str]] = None,
    progress: Optional[Callable[[Report], None]] = None,
    in_flight: int = IN_FLIGHT,
) -> Report:
    report, done = Report(), Manifest(manifest, {"name": str, "mark": str})
    from_fs, from_path = fsspec.url_to_fs(source, **(source_options or {}))
    to_fs, to_path = fsspec.url_to_fs(target, **(target_options or {}))
    known = {line["name"]: line["mark"] for line in done.lines}

    def tasks() -> Iterator[tuple[Any, Callable[..., Any], tuple[Any, ...]]]:
        for path, info in sorted(from_fs.find(from_path, detail=True).items()):
            name = path[len(from_path) :].removeprefix("/") or os.path.basename(path)
            if opening is not None and not name.endswith(_ENDING):
                continue
            goal = _goal(name, opening, sealing)
            if _leads_astray(name) or _leads_astray(goal):
                report.failed[name] = f"ValueError: {name!r} is no name of a file below the target (hint: rename the object)"
                continue
            mark = _mark(info)
            if known.get(name) == mark:
                report.skipped += 1
                continue
            # A target that is there, though the manifest does not name it, proves nothing: it may be of an earlier state of the source,
            # or under another key. It is replaced.
            task = _Task(
                from_fs.unstrip_protocol(path),
                to_fs.unstrip_protocol(f"{to_path.rstrip('/')}/{goal}"),
                source_options or {},
                target_options or {},
                opening,
                sealing,
            )
            yield (name, mark), _work, (task,)

    def settle(named: tuple[str, str], came: tuple[int, bool], failed: Optional[str]) -> None:
        name, mark = named
        if failed is not None:
            report.failed[name] = failed
            return
        text, worked = came
        done.append({"name": name, "mark": mark})
        report.done += worked
        report.skipped += not worked
        report.text_bytes += text if worked else 0

    return spread(executor, tasks(), settle, report, progress, in_flight)


def _sealed(fs: Any, keys: dict[str, Any]) -> SealedFileSystem:
    return SealedFileSystem(fs=fs, **{name: given() if callable(given) else given for name, given in keys.items()})


def _work(task: _Task) -> tuple[int, bool]:
    """Runs where the worker is: one file. Returns the length of the text, and whether there was anything to do."""
    from_fs, from_path = fsspec.url_to_fs(task.source, **task.source_options)
    to_fs, to_path = fsspec.url_to_fs(task.target, **task.target_options)
    if task.opening is not None:
        from_fs = _sealed(from_fs, task.opening)
    if task.sealing is not None:
        to_fs = _sealed(to_fs, task.sealing)
    anew = task.opening is not None and task.sealing is not None
    if anew:
        # The target is the source, which opens with the new key if it was done before.
        try:
            with to_fs.open(to_path, "rb") as file:
                return file.size, False
        except (WrongKey, ValueError):
            pass
    with from_fs.open(from_path, "rb") as reader:
        if anew and reader._reader.padded:
            raise ValueError("it is padded, and would not be then (hint: `sealwright open`, then `sealwright seal --pad`)")
        to_fs.makedirs(to_fs._parent(to_path), exist_ok=True)
        sealing = task.sealing is not None
        return _copy(reader, to_fs._open(to_path, mode="wb", autocommit=False) if sealing else begin(to_fs, to_path)), True


def _copy(reader: Any, writer: Any) -> int:
    """Copies all of `reader`; the file that is written takes its place at the end, or leaves nothing."""
    copied = 0
    try:
        while part := reader.read(_PART):
            writer.write(part)
            copied += len(part)
        writer.close()
        writer.commit()
    except BaseException:
        # The reason why there is no target is told, not what else went wrong then.
        with suppress(Exception):
            writer.discard() if isinstance(writer, SealedFile) else forget(writer)
        raise
    return copied


def _mark(info: dict[str, Any]) -> str:
    """What changes when a file does."""
    for name in ("ETag", "etag", "md5Hash", "mtime", "LastModified", "created"):
        if info.get(name):
            return f"{info['size']} {info[name]}"
    return str(info["size"])
