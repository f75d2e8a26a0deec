"""Sweeps of the simulator over thousands of settings, on any executor."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Optional

from . import _sealwright as _native
from . import smp
from ._executor_runs import IN_FLIGHT, Manifest, Report, spread, why


@dataclass
class Sweep(Report):
    """The outcome of a sweep: besides the counts, the result for each of the settings in their order, `None` for those that failed."""

    results: list[Optional[dict[str, Any]]] = field(default_factory=list)

    def frame(self) -> Any:
        """A pandas DataFrame with a row for each result, and settings and statistics as columns."""
        return smp.frame(result for result in self.results if result is not None)


def _name(config: Mapping[str, Any]) -> str:
    """Settings as one string, the same for the same settings."""
    return json.dumps(smp.flat(config), sort_keys=True)


@functools.cache
def _build() -> str:
    """SHA-256 of the installed simulator: two builds of one version may simulate differently."""
    with open(_native.__file__, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _origins(settings: Iterable[tuple[str, Mapping[str, Any]]], failed: dict[str, str]) -> dict[str, dict[str, Any]]:
    """What results depend on besides their settings: the simulator, and the bytes of the trace. Settings whose trace cannot be read have
    failed."""
    origins: dict[str, dict[str, Any]] = {}
    digests: dict[str, str] = {}
    for name, config in settings:
        trace = smp.flat(config).get("workload.trace")
        try:
            if trace is not None and trace not in digests:
                digests[trace] = _native.smp_digest(trace)
            origins[name] = {"build": _build(), "trace": None if trace is None else digests[trace]}
        except Exception as error:
            failed[name] = why(error)
    return origins


def sweep(
    configs: Iterable[Mapping[str, Any]],
    *,
    executor: Executor,
    manifest: Optional[str | os.PathLike[str]] = None,
    progress: Optional[Callable[[Report], None]] = None,
    in_flight: int = IN_FLIGHT,
    batch: int = 1,
) -> Sweep:
    """Runs `smp.run` for each of `configs`, such as those of `smp.grid`, `batch` of them per task.

    `manifest` is a local file that stores each result. Settings that are in it are not run again, so that a sweep that was stopped
    continues where it was. They are run again if the result came from another build of this package, or from a trace of other bytes. A
    trace must also be present where the sweep is started, and must be the same on all workers. Results do not depend on where they were
    computed, except for their `seconds`.

    Settings that occur twice are run once. Invalid settings, and runs that fail, including those with a `failure`, are listed in the
    report and do not stop the others. `progress` is called with the report after each task. A `batch` of short runs reduces the
    executor's overhead per task: choose one that takes about a second.
    """
    kept = Manifest(manifest, {"name": str, "result": dict})
    report = Sweep()
    settings: list[tuple[str, Mapping[str, Any]]] = []
    for config in configs:
        try:
            settings.append((_name(config), config))
        except Exception as error:
            # Settings without a name are invalid anyway.
            settings.append((repr(config), {}))
            report.failed[repr(config)] = why(error)
    origins = {} if manifest is None else _origins((each for each in settings if each[0] not in report.failed), report.failed)
    results = {
        line["name"]: line["result"]
        for line in kept.lines
        if {"build": line.get("build"), "trace": line.get("trace")} == origins.get(line["name"])
    }
    report.skipped = len({name for name, _ in settings if name in results})

    def tasks() -> Iterator[tuple[Any, Callable[..., Any], tuple[Any, ...]]]:
        fresh = {name: config for name, config in settings if name not in results and name not in report.failed}
        names = list(fresh)
        for start in range(0, len(names), max(batch, 1)):
            some = names[start : start + max(batch, 1)]
            yield some, _work, ([dict(fresh[name]) for name in some],)

    def settle(names: Sequence[str], came: list[dict[str, Any]], failed: Optional[str]) -> None:
        if failed is not None:
            report.failed.update((name, failed) for name in names)
            return
        good = [(name, each) for name, each in zip(names, came) if "failed" not in each]
        kept.append(*({"name": name, **origins.get(name, {}), "result": each} for name, each in good))
        results.update(good)
        report.done += len(good)
        report.failed.update((name, each["failed"]) for name, each in zip(names, came) if "failed" in each)

    spread(executor, tasks(), settle, report, progress, in_flight)
    report.results = [results.get(name) for name, _ in settings]
    return report


def _work(configs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs on the worker."""
    came = []
    for config in configs:
        try:
            result = smp.run(config)
            # Numbers up to an alarm, or of a program that waits for ever, are not a result.
            came.append(result if result["failure"] is None else {"failed": result["failure"]})
        except Exception as error:
            came.append({"failed": why(error)})
    return came
