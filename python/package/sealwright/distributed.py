"""Seal, open and rekey whole stores, and sweep the simulator, with any number of workers.

    from concurrent.futures import ProcessPoolExecutor
    from sealwright import distributed

    with ProcessPoolExecutor() as executor:
        report = distributed.seal_store(
            "s3://bucket/plain", "s3://bucket/sealed", executor=executor, key=key, manifest="run.jsonl"
        )

Any `concurrent.futures.Executor` can be used; that of Dask, `Client(...).get_executor(retries=3)`, runs on many machines. Each file is
one task. A target appears only when it is complete, and only then does the manifest name it: a run that was stopped, or that lost
workers, resumes when it is started again with its manifest. Without a manifest, everything is done again. The key is sent to the workers
with each task: make sure that the executor's connections are encrypted, or pass a function that obtains the key on the worker.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, Union

import fsspec
from fsspec.implementations.local import LocalFileSystem

from ._options import explained, refuse_unknown
from ._sealed import copy_whole
from ._sealwright import WrongKey
from ._executor_runs import IN_FLIGHT, Manifest, Report, spread, why, without_secrets
from ._store import begin, behind, files_below
from .filesystem import SealedFileSystem
from .sweeps import Sweep, sweep

if TYPE_CHECKING:
    from ._sealwright import Buffer, _AnyKey, _Costs, _Recipients

    _Key = Union[_AnyKey, Callable[[], _AnyKey], None]

__all__ = ["Report", "Sweep", "open_store", "rekey_store", "seal_store", "sweep"]

_ENDING = ".seal"


@dataclass(frozen=True)
class _Store:
    """How to make a filesystem. It is not the filesystem itself, because not every one can be used by several threads; nor its URL, because
    that of a chained filesystem does not name the others. Passwords are not shown, because executors log tasks."""

    kind: type
    arguments: tuple[Any, ...] = field(repr=False)
    options: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, fs: Any) -> _Store:
        return cls(type(fs), fs.storage_args, fs.storage_options)

    def opened(self) -> Any:
        return self.kind(*self.arguments, **self.options)


@dataclass(frozen=True)
class _Task:
    """One file, for a worker. Everything in it can be pickled; keys are not shown."""

    source: str
    target: str
    source_store: _Store
    target_store: _Store
    opening: Optional[dict[str, Any]] = field(repr=False)
    sealing: Optional[dict[str, Any]] = field(repr=False)


_SEALING = ("key", "recipients", "suite", "costs", "associated_data")
_RUNNING = ("store_options", "manifest", "progress", "in_flight")


@explained()
def seal_store(
    source: str,
    target: str,
    *,
    executor: Executor,
    key: _Key = None,
    recipients: _Recipients | Callable[[], _Recipients] | None = None,
    suite: str | None = None,
    costs: _Costs | None = None,
    associated_data: Buffer | None = None,
    source_options: dict[str, Any] | None = None,
    target_options: dict[str, Any] | None = None,
    manifest: str | os.PathLike[str] | None = None,
    progress: Callable[[Report], None] | None = None,
    in_flight: int = IN_FLIGHT,
) -> Report:
    """Seals every file below the URL `source` to the URL `target`, under its name with `.seal` appended.

    `key` or `recipients`, `suite`, `costs` and `associated_data` are those of `sealwright.seal`. Keys must be bytes and recipients
    strings, or a function without arguments that returns them and is called on the worker. `source_options` and `target_options` are
    passed to fsspec. The target must not lie below the source, because the next run would seal the sealed files again.

    `manifest` is a local file that records what is done. Files in it are skipped, unless the source has changed since or its store
    reports nothing but lengths. It is for one source, one target and one key. Without it every file is sealed and replaces an existing
    one. `progress` is called with a `Report` after each file. `in_flight` is the number of tasks that wait or run at once, 64 if not
    given; use at least twice the number of workers.

    A file whose task raises an exception is listed in the report and does not stop the others. The report also lists folders that cannot
    be listed, files that are not regular, such as named pipes, and files whose names are not paths below the target: names with an empty
    part, `.` or `..`, which objects of a store can have, or with `::`, which chains URLs. A link counts as the file that it leads to; a
    link to a folder is listed in the report.
    """
    keys = _given(key=key, recipients=recipients, suite=suite, costs=costs, associated_data=associated_data)
    _check("seal_store", keys, "key", "recipients")
    places = (source_options, target_options, manifest, progress, in_flight)
    return _run(source, target, executor, None, keys, *places)


@explained()
def open_store(
    source: str,
    target: str,
    *,
    executor: Executor,
    key: _Key = None,
    associated_data: Buffer | None = None,
    max_memory_kib: int | None = None,
    source_options: dict[str, Any] | None = None,
    target_options: dict[str, Any] | None = None,
    manifest: str | os.PathLike[str] | None = None,
    progress: Callable[[Report], None] | None = None,
    in_flight: int = IN_FLIGHT,
) -> Report:
    """Opens every file below `source` whose name ends in `.seal`, to `target` without that ending. Arguments are those of `seal_store`,
    except that those for sealed files are `key`, `associated_data` and `max_memory_kib`, as in `sealwright.open`."""
    keys = _given(key=key, associated_data=associated_data, max_memory_kib=max_memory_kib)
    _check("open_store", keys, "key")
    places = (source_options, target_options, manifest, progress, in_flight)
    return _run(source, target, executor, keys, None, *places)


@explained("in new", _SEALING)
def rekey_store(
    store: str,
    *,
    executor: Executor,
    key: _Key,
    new: dict[str, Any],
    associated_data: Buffer | None = None,
    max_memory_kib: int | None = None,
    store_options: dict[str, Any] | None = None,
    manifest: str | os.PathLike[str] | None = None,
    progress: Callable[[Report], None] | None = None,
    in_flight: int = IN_FLIGHT,
) -> Report:
    """Seals again, in place, every file below `store` whose name ends in `.seal` and that `key` opens, with the arguments `new`, such as
    `{"key": other}`. Suite and associated data stay the same, unless `new` gives others. Anyone with a copy of an old file and the old
    key can still open that copy.

    A file is left alone if the new key opens it already and its suite, kind of key and number of recipients are those of `new`. However,
    a file for recipients that the old key opens too is sealed again, because it may be for other recipients. With `{"recipients": ...}`
    alone, it cannot be known whether a file is done: a file whose worker died before it reported is in `failed` of the next run, unless
    `new` also contains one of the recipients' secret keys as `key`. A padded file is in `failed`, because sealing it again would reveal
    the length of its text.

    Other arguments are `associated_data` and `max_memory_kib`, which open the files, and those of `seal_store` that do not concern sealed
    files, with `store_options` for fsspec.
    """
    # A file that the new key opens is only read.
    refuse_unknown("rekey_store: new", new, (*_SEALING, "max_memory_kib"), "beside new", _RUNNING)
    _check("rekey_store", {"key": key}, "key")
    _check("rekey_store: new", new, "key", "recipients")
    keys = _given(key=key, associated_data=associated_data, max_memory_kib=max_memory_kib)
    return _run(store, store, executor, keys, dict(new), store_options, store_options, manifest, progress, in_flight)


def _given(**keys: Any) -> dict[str, Any]:
    """The arguments for sealed files, without those that were not given."""
    return {name: value for name, value in keys.items() if value is not None}


def _check(call: str, keys: dict[str, Any], *names: str) -> None:
    """Reports wrong arguments once, before the first task, instead of once per file."""
    if all(keys.get(name) is None for name in names):
        raise ValueError(f"{call} has no {' and no '.join(names)} (hint: pass {' or '.join(names)})")


def _goal(name: str, opening: Optional[dict[str, Any]], sealing: Optional[dict[str, Any]]) -> str:
    if opening is not None and sealing is not None:
        return name
    return name + _ENDING if sealing is not None else name[: -len(_ENDING)]


def _leads_astray(name: str) -> bool:
    """Whether a file of this name would lie outside the target, or collide with others. Names are chosen by whoever can write to the source."""
    parts = name.split("/")
    # Some stores accept both slashes.
    return "::" in name or not {"", ".", ".."}.isdisjoint(parts) or ".." in re.split(r"[/\\]", name)


def _run(
    source: str,
    target: str,
    executor: Executor,
    opening: Optional[dict[str, Any]],
    sealing: Optional[dict[str, Any]],
    source_options: Optional[dict[str, Any]],
    target_options: Optional[dict[str, Any]],
    manifest: Optional[str | os.PathLike[str]],
    progress: Optional[Callable[[Report], None]],
    in_flight: int,
) -> Report:
    from_fs, from_path = _place(source, source_options)
    to_fs, to_path = _place(target, target_options)
    if opening is None and _lies_in(to_fs, to_path, from_fs, from_path):
        what = f"{to_path} lies in {from_path}: what is sealed would be sealed again by the next run"
        raise ValueError(f"{what} (hint: seal to a folder beside it)")
    verb = "seal" if opening is None else "open" if sealing is None else "rekey"
    places = {"source": from_fs.unstrip_protocol(from_path), "target": to_fs.unstrip_protocol(to_path)}
    run = {"call": f"{verb}_store", **{name: without_secrets(url) for name, url in places.items()}}
    report, done = Report(), Manifest(manifest, {"name": str, "mark": str}, run)
    stores = _Store.of(from_fs), _Store.of(to_fs)
    from_fs.invalidate_cache()
    # Listed first: if there is nothing, nothing is started.
    found, unlisted = files_below(from_fs, from_path)
    report.failed.update((f"{_name(path, from_path)}/", why(error)) for path, error in unlisted.items())
    known = {line["name"]: line["mark"] for line in done.lines}

    def tasks() -> Iterator[tuple[Any, Callable[..., Any], tuple[Any, ...]]]:
        for path, info in sorted(found.items()):
            name = _name(path, from_path)
            if opening is not None and not name.endswith(_ENDING):
                continue
            goal = _goal(name, opening, sealing)
            if _leads_astray(name) or _leads_astray(goal):
                report.failed[name] = f"ValueError: {name!r} is no name of a file below the target (hint: rename the object)"
                continue
            try:
                mark = _mark(from_fs, path, info)
            except Exception as error:
                report.failed[name] = why(error)
                continue
            if mark and known.get(name) == mark:
                report.skipped += 1
                continue
            # A target that is there, though the manifest does not name it, proves nothing: it may be of an earlier state of the source,
            # or under another key. It is replaced.
            task = _Task(path, f"{to_path.rstrip('/')}/{goal}", *stores, opening, sealing)
            yield (name, mark), _work, (task,)

    def settle(named: tuple[str, str], came: tuple[int, bool, Optional[str]], failed: Optional[str]) -> None:
        name, mark = named
        if failed is not None:
            report.failed[name] = failed
            return
        text, worked, anew = came
        done.append({"name": name, "mark": mark if anew is None else anew})
        report.done += worked
        report.skipped += not worked
        report.text_bytes += text if worked else 0

    return spread(executor, tasks(), settle, report, progress, in_flight)


def _place(url: str, options: Optional[dict[str, Any]]) -> tuple[Any, str]:
    fs, path = fsspec.url_to_fs(url, **(options or {}))
    fs, (path,) = behind(fs, [path])
    return fs, path


def _lies_in(fs: Any, path: str, other_fs: Any, other: str) -> bool:
    if isinstance(fs, LocalFileSystem) and isinstance(other_fs, LocalFileSystem):
        path, other = os.path.realpath(path), os.path.realpath(other)
    elif fs != other_fs:
        return False
    return f"{path.rstrip('/')}/".startswith(f"{other.rstrip('/')}/")


def _name(path: str, top: str) -> str:
    # If the source is a single file, its name is the caller's URL, possibly with a signature.
    return path[len(top) :].removeprefix("/") or os.path.basename(without_secrets(path))


def _of_a_file(fs: Any, path: str, info: dict[str, Any]) -> dict[str, Any]:
    """What the store reports about a file. If it listed a link, the file is asked for, because the link does not change when the file does."""
    if not info or info.get("islink") or info.get("type") == "link":
        info = dict(fs.info(path))
    if info.get("type") == "directory":
        raise ValueError("a link to a folder, which is not followed (hint: name that folder as a source of its own)")
    # Opening a named pipe may block for ever.
    if info.get("type") == "other":
        raise ValueError("no regular file")
    return info


def _sealed(fs: Any, keys: dict[str, Any]) -> SealedFileSystem:
    return SealedFileSystem(fs=fs, **{name: given() if callable(given) else given for name, given in keys.items()})


def _work(task: _Task) -> tuple[int, bool, Optional[str]]:
    """Processes one file, on the worker. Returns the length of the text, whether there was anything to do, and the mark of a file that is
    both source and target."""
    from_fs, from_path = task.source_store.opened(), task.source
    to_fs, to_path = task.target_store.opened(), task.target
    if task.opening is None or task.sealing is None:
        if task.opening is not None:
            from_fs = _sealed(from_fs, task.opening)
        if task.sealing is not None:
            to_fs = _sealed(to_fs, task.sealing)
        with from_fs.open(from_path, "rb") as reader:
            return copy_whole(reader, _begun(to_fs, to_path)), True, None
    sealing = {"associated_data": task.opening.get("associated_data"), **task.sealing}
    # The target is the source, which the new key opens if it was done before. Recipients' public keys open nothing.
    if sealing.get("key") is not None:
        with suppress(WrongKey, ValueError), _sealed(to_fs, sealing).open(to_path, "rb") as file:
            if _is_as(file._reader, task.sealing) and not _opens_too(from_fs, from_path, task.opening, file._reader):
                return file.size, False, _mark_now(to_fs, to_path)
    with _sealed(from_fs, task.opening).open(from_path, "rb") as reader:
        if reader._reader.padded:
            raise ValueError("it is padded, and would not be then (hint: `sealwright open`, then `sealwright seal --pad`)")
        sealing.setdefault("suite", reader._reader.suite)
        copied = copy_whole(reader, _begun(_sealed(to_fs, sealing), to_path))
    return copied, True, _mark_now(to_fs, to_path)


def _is_as(reader: Any, sealing: dict[str, Any]) -> bool:
    """Whether a file is sealed as the arguments say, as far as the file reveals it, which is not for whom or under which of the keys."""
    if sealing.get("suite") not in (None, reader.suite):
        return False
    if sealing.get("recipients") is None:
        return bool(reader.key_source != "recipients")
    given = sealing["recipients"]
    # A function is called on each worker.
    return bool(reader.key_source == "recipients" and reader.slots == len(list(given() if callable(given) else given)))


def _opens_too(fs: Any, path: str, opening: dict[str, Any], reader: Any) -> bool:
    """Whether the old key opens a file for recipients. It may then be for the old ones, one of whom may also be among the new."""
    if reader.key_source != "recipients":
        return False
    with suppress(WrongKey, ValueError), _sealed(fs, opening).open(path, "rb"):
        return True
    return False


def _mark_now(fs: Any, path: str) -> Optional[str]:
    """The mark by which the next run recognises a file. Without a mark, that run examines the file."""
    with suppress(Exception):
        fs.invalidate_cache(path)
        # Stores may report the time in another form for a single file.
        return _mark(fs, path, fs.find(path, detail=True).get(path, {}))
    return None


def _begun(fs: Any, path: str) -> Any:
    fs.makedirs(fs._parent(path), exist_ok=True)
    return fs._open(path, mode="wb", autocommit=False) if isinstance(fs, SealedFileSystem) else begin(fs, path)


# What changes when a file does, by the names that fsspec's filesystems have for it: checksums and versions before times.
_CHECKSUMS = ("ETag", "etag", "e_tag", "md5Hash", "Content-MD5", "content_md5", "Digest", "sha", "hex", "CRC")
_TIMES = ("mtime", "LastModified", "Last-Modified", "last_modified", "modify", "modified", "modificationTime", "updated")


def _mark(fs: Any, path: str, info: dict[str, Any]) -> str:
    """What changes when a file changes; empty if the store reports nothing but its length, or less."""
    info = _of_a_file(fs, path, info)
    told = _told(info)
    if told is None:
        # Listings may contain less than the information about a single file, as for HTTP.
        with suppress(Exception):
            info = {**info, **fs.info(path)}
            told = _told(info)
    if told is None:
        with suppress(Exception):
            told = fs.modified(path)
    return "" if told is None else f"{info.get('size')} {told}"


def _told(info: dict[str, Any]) -> Any:
    return next((info[name] for name in (*_CHECKSUMS, *_TIMES) if info.get(name) not in (None, "")), None)
