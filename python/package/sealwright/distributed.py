"""Whole stores sealed and opened by many workers.

    from concurrent.futures import ProcessPoolExecutor
    from sealwright import distributed

    with ProcessPoolExecutor() as executor:
        report = distributed.seal_store("s3://plain", "s3://sealed", executor=executor, key=key, manifest="sealed.jsonl")

Any `concurrent.futures.Executor` does the work; that of Dask, `Client(...).get_executor(retries=3)`, does it on many machines. Each file is
a task of its own. A target appears only when it is whole, and the manifest names it only then: a run that was stopped, or that lost
workers, goes on where it was when it is started again, and a file that is done already is not sealed a second time. The key travels to the
workers with each task: let the executor's connections be encrypted, or pass a function that gets the key where the worker is.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any, Optional

import fsspec

from .filesystem import SealedFileSystem, forget
from .sealedfile import SealedFile

_PART = 16 * 1024 * 1024
_ENDING = ".seal"
_IN_FLIGHT = 64  # Tasks that wait or run at once, so that a store of any size takes little memory here.


@dataclass
class Report:
    """What came of a run: files and bytes of text done now, files that were done before, and what failed and why."""

    done: int = 0
    text_bytes: int = 0
    skipped: int = 0
    seconds: float = 0.0
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Task:
    """One file, for a worker: everything in it can be pickled."""

    source: str
    target: str
    source_options: dict[str, Any]
    target_options: dict[str, Any]
    keys: dict[str, Any]
    seal: bool
    replace: bool


def seal_store(source: str, target: str, *, executor: Executor, **options: Any) -> Report:
    """Seals every file below the URL `source` to the URL `target`, under its name and `.seal`.

    `key` or `recipients`, `suite` and `associated_data` are those of `sealwright.seal`; keys must be bytes and recipients texts, or a
    function without arguments that returns one of them, called where the worker is. `source_options` and `target_options` are
    fsspec's. `manifest` is a local file that records what is done. `progress` is called with a `Report` after each file. Files whose
    work raises an exception are in the report; the others are not stopped by them.
    """
    return _run(source, target, executor, True, **options)


def open_store(source: str, target: str, *, executor: Executor, **options: Any) -> Report:
    """Opens every file below `source` whose name ends in `.seal`, to `target` without that ending. Arguments as of `seal_store`."""
    return _run(source, target, executor, False, **options)


def _run(
    source: str,
    target: str,
    executor: Executor,
    seal: bool,
    *,
    source_options: Optional[dict[str, Any]] = None,
    target_options: Optional[dict[str, Any]] = None,
    manifest: Optional[str | os.PathLike[str]] = None,
    progress: Optional[Callable[[Report], None]] = None,
    **keys: Any,
) -> Report:
    begun, report = time.monotonic(), Report()
    from_fs, from_path = fsspec.url_to_fs(source, **(source_options or {}))
    to_fs, to_path = fsspec.url_to_fs(target, **(target_options or {}))
    known = dict(_read(manifest))

    def tasks() -> Iterator[tuple[str, str, _Task]]:
        for path, info in sorted(from_fs.find(from_path, detail=True).items()):
            name = path[len(from_path) :].lstrip("/") or os.path.basename(path)
            if not seal and not name.endswith(_ENDING):
                continue
            mark = _mark(from_fs, path, info)
            if known.get(name) == mark:
                report.skipped += 1
                continue
            goal = name + _ENDING if seal else name[: -len(_ENDING)]
            # A target that is there, though the manifest does not name it, was finished by a worker that could not tell; one whose
            # source has changed since the manifest named it is replaced.
            yield name, mark, _Task(
                from_fs.unstrip_protocol(path),
                to_fs.unstrip_protocol(f"{to_path.rstrip('/')}/{goal}"),
                source_options or {},
                target_options or {},
                keys,
                seal,
                name in known,
            )

    waiting: dict[Future[tuple[int, bool]], tuple[str, str]] = {}

    def settle(count: int) -> None:
        while len(waiting) > count:
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                name, mark = waiting.pop(future)
                try:
                    text, worked = future.result()
                except Exception as error:
                    report.failed[name] = f"{type(error).__name__}: {error}"
                else:
                    _append(manifest, name, mark)
                    report.done += worked
                    report.skipped += not worked
                    report.text_bytes += text if worked else 0
                report.seconds = time.monotonic() - begun
                if progress is not None:
                    progress(report)

    for name, mark, task in tasks():
        waiting[executor.submit(_work, task)] = (name, mark)
        settle(_IN_FLIGHT - 1)
    settle(0)
    report.seconds = time.monotonic() - begun
    return report


def _work(task: _Task) -> tuple[int, bool]:
    """Runs where the worker is: seals or opens one file. Returns the length of the text, and whether there was anything to do."""
    from_fs, from_path = fsspec.url_to_fs(task.source, **task.source_options)
    to_fs, to_path = fsspec.url_to_fs(task.target, **task.target_options)
    keys = {name: given() if callable(given) else given for name, given in task.keys.items()}
    if task.seal:
        to_fs = SealedFileSystem(fs=to_fs, **keys)
    else:
        from_fs = SealedFileSystem(fs=from_fs, **keys)
    if not task.replace and to_fs.exists(to_path):
        # Targets appear whole. Its length says that it is one of this source.
        if to_fs.size(to_path) == from_fs.size(from_path):
            return from_fs.size(from_path), False
    to_fs.makedirs(to_fs._parent(to_path), exist_ok=True)
    with from_fs.open(from_path, "rb") as reader:
        return _copy(reader, to_fs._open(to_path, mode="wb", autocommit=False)), True


def _copy(reader: Any, writer: Any) -> int:
    """Copies all of `reader`; the file that is written takes its place at the end, or leaves nothing."""
    copied = 0
    try:
        while part := reader.read(_PART):
            writer.write(part)
            copied += len(part)
        writer.close()
    except BaseException:
        writer.discard() if isinstance(writer, SealedFile) else forget(writer)
        raise
    writer.commit()
    return copied


def _mark(fs: Any, path: str, info: dict[str, Any]) -> str:
    """What changes when a file does."""
    for name in ("ETag", "etag", "md5Hash", "mtime", "LastModified", "created"):
        if info.get(name):
            return f"{info['size']} {info[name]}"
    return str(info["size"])


def _read(manifest: Optional[str | os.PathLike[str]]) -> Iterator[tuple[str, str]]:
    """The names that are done, with their marks. A last line that was cut off by a crash does not count."""
    if manifest is None or not os.path.exists(manifest):
        return
    with open(manifest, "r+b") as lines:
        whole = 0
        for line in lines:
            if line.endswith(b"\n"):
                whole += len(line)
                entry = json.loads(line)
                yield entry["name"], entry["mark"]
        lines.truncate(whole)


def _append(manifest: Optional[str | os.PathLike[str]], name: str, mark: str) -> None:
    if manifest is None:
        return
    with open(manifest, "a", encoding="utf-8") as lines:
        lines.write(json.dumps({"name": name, "mark": mark}) + "\n")
        lines.flush()
        os.fsync(lines.fileno())
