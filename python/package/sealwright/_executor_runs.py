"""Common parts of runs on executors: tasks in flight, a manifest of what is done, a report."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Optional

# The default number of tasks that wait or run at once: a run of any length takes little memory on the machine that starts it.
IN_FLIGHT = 64


@dataclass
class Report:
    """The outcome of a run: what was done now, what had been done before, and what failed and why. Bytes are those of the texts."""

    done: int = 0
    text_bytes: int = 0
    skipped: int = 0
    seconds: float = 0.0
    failed: dict[str, str] = field(default_factory=dict)


class Manifest:
    """A local file with a line of JSON for each completed task. A task that it names is done, whatever happens afterwards."""

    def __init__(
        self, path: Optional[str | os.PathLike[str]], fields: Mapping[str, type], run: Optional[Mapping[str, str]] = None
    ) -> None:
        """`fields` are the required members of each line, with their types. `run` identifies the run, in a line before the others."""
        self._path = path
        # Manifests of stores contain names of files that other users may not be permitted to list.
        self._mode = 0o666 if run is None else 0o600
        # Written before the first line.
        self._ahead: list[dict[str, Any]] = [] if run is None else [{"run": dict(run)}]
        self.lines: list[dict[str, Any]] = []
        # Its length, and its length without a last line that a crash truncated, which is removed before the next line is written.
        self._found = self._whole = 0
        if path is None or not os.path.exists(path):
            return
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                self._found += len(line)
                if not line.endswith(b"\n"):
                    if number == 1 and not self._begins(line, fields):
                        what = "no line of a manifest, and what was cut off is not the beginning of one of this run"
                        raise ValueError(f"{os.fspath(path)}: {what} (hint: name another file, or remove it)")
                    break
                self._whole += len(line)
                if number == 1 and run is not None and _is_of(line, run, os.fspath(path)):
                    continue
                self.lines.append(_line(line, fields, f"{os.fspath(path)}: line {number}"))
        if self._whole:
            self._ahead = []

    def _begins(self, line: bytes, fields: Mapping[str, type]) -> bool:
        """Whether this could be what a crash left of the first line."""
        if self._ahead:
            return json.dumps(self._ahead[0]).encode().startswith(line)
        start = f'{{"{next(iter(fields))}": '.encode()
        return line.startswith(start) or start.startswith(line)

    def append(self, *lines: dict[str, Any]) -> None:
        if self._path is None or not lines:
            return
        text = "".join(json.dumps(line) + "\n" for line in (*self._ahead, *lines)).encode()
        with open(os.open(self._path, os.O_RDWR | os.O_CREAT, self._mode), "r+b") as file:
            end = file.seek(0, os.SEEK_END)
            if self._whole < end == self._found:
                end = file.seek(self._whole)
                file.truncate()
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                # The next line must not be joined with a part of this one.
                with suppress(OSError):
                    os.ftruncate(file.fileno(), end)
                raise
        self._ahead, self._found = [], 0


def without_secrets(url: str) -> str:
    """An HTTP URL without user, password and query, which may be a signature. In names of other stores, these are parts of the name."""
    found = _HTTP.fullmatch(url)
    return url if found is None else f"{found[1]}{found[2]}"


_HTTP = re.compile(r"(https?://)(?:[^/?#]*@)?([^?#]*).*", re.DOTALL)


def _is_of(line: bytes, run: Mapping[str, str], path: str) -> bool:
    """Whether the first line identifies the run of a manifest. If it does, it must be this run."""
    try:
        # Older manifests contain URLs with passwords.
        found = {name: without_secrets(value) for name, value in json.loads(line)["run"].items()}
        if found == run:
            return True
        other = ", ".join(f"{name} {found[name]}" for name, value in run.items() if found[name] != value)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return False
    raise ValueError(f"{path}: the manifest of another run: {other} (hint: each run has a manifest of its own)")


def _line(line: bytes, fields: Mapping[str, type], place: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError(f"{place}: not JSON, and so not of a manifest (hint: take the line out, or name another file)") from None
    if not isinstance(found, dict) or not all(isinstance(found.get(name), kind) for name, kind in fields.items()):
        wanted = " and ".join(fields)
        raise ValueError(f"{place}: no {wanted}: not of a manifest of such a run (hint: take the line out, or name another file)")
    return found


# How many times a task is submitted if the executor loses it.
ATTEMPTS = 4


def spread(
    executor: Executor,
    tasks: Iterable[tuple[Any, Callable[..., Any], tuple[Any, ...]]],
    settle: Callable[[Any, Any, Optional[str]], None],
    report: Report,
    progress: Optional[Callable[[Report], None]],
    in_flight: int,
) -> Report:
    """Runs each of `tasks`, which are a name, a function and its arguments, and calls `settle` with the name, the result and the reason of a
    failure.

    Running a function a second time must do no harm. An exception that a function raises is a failure of the task. An exception from the
    executor, such as Dask's for a result that was lost with its worker, says nothing about the task, which is submitted again.
    """
    begun = time.monotonic()
    waiting: dict[Future[Any], tuple[Any, int, tuple[Any, ...]]] = {}

    def until(count: int) -> None:
        while len(waiting) > count:
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                name, attempt, call = waiting.pop(future)
                try:
                    result, failed = future.result()
                except (Exception, CancelledError) as error:
                    result, failed = None, why(error)
                    if attempt < ATTEMPTS:
                        try:
                            waiting[executor.submit(_attempt, *call)] = name, attempt + 1, call
                            continue
                        except RuntimeError:
                            # The executor is broken or was shut down.
                            pass
                settle(name, result, failed)
                report.seconds = time.monotonic() - begun
                if progress is not None:
                    progress(report)

    for name, function, arguments in tasks:
        call = (function, *arguments)
        waiting[executor.submit(_attempt, *call)] = name, 1, call
        until(max(in_flight, 1) - 1)
    until(0)
    report.seconds = time.monotonic() - begun
    return report


def _attempt(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Optional[str]]:
    """Runs on the worker."""
    try:
        return function(*arguments), None
    except Exception as error:
        return None, why(error)


def why(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
