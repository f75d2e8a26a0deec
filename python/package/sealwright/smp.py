"""The simulator of multiprocessors whose cache-to-cache transfers are sealed: runs, traces, and statistics as tables.

    from sealwright import smp

    result = smp.run({"workload": {"kernel": "fft", "size": 10}, "scheme": {"name": "gcm"}, "machine": {"processors": 4}})
    result["stats"]["cycles"]

Settings are those of `sealwright-lab smp run` (docs/BUS.md), as nested dictionaries or as `{"scheme.name": "gcm"}`. Two more keys are
accepted: `workload`, which is a kernel (`kernel`, `size`, `align`) or a recorded program (`trace`, the prefix of its files, and `windows`
of it); and `preset`, the name of a machine to start from. The same settings give the same cycles, bit for bit.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Optional, Union, cast

from . import _sealwright as _native

#: The kernels that can be run, and what an attacker on the bus or in memory can do.
KERNELS, ATTACKS = (tuple(names) for names in _native.smp_names())

#: An attack, and the number of the transfer (or command, or line read from memory) from which on it strikes.
Attack = tuple[str, int]

#: A record of a trace: its kind (load, store, fetch, barrier, lock, unlock, post, wait, region-begin, region-end), its address, or the
#: object of a synchronisation; its bytes, or how many threads a barrier is for (0: all that run); the instructions since the one before.
Record = tuple[str, int, int, int]


def flat(config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with names such as `scheme.name`, in alphabetical order."""
    found: dict[str, Any] = {}
    for name, value in config.items():
        if isinstance(value, Mapping):
            found.update((f"{name}.{inner}", each) for inner, each in flat(value).items())
        else:
            found[name] = _plain(value)
    return dict(sorted(found.items()))


def _plain(value: Any) -> Any:
    """As plain Python values: numpy's numbers and arrays become numbers and lists."""
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.tolist() if hasattr(value, "tolist") else value


def grid(base: Mapping[str, Any], vary: Mapping[str, Iterable[Any]]) -> Iterator[dict[str, Any]]:
    """Every combination of settings: `base`, overridden by one value of each entry of `vary`, as `smp sweep` does."""
    names = list(vary)
    for values in itertools.product(*(list(vary[name]) for name in names)):
        yield {**flat(base), **dict(zip(names, values))}


def run(
    config: Mapping[str, Any],
    *,
    toml: str = "",
    check: bool = False,
    attack: Union[Attack, Sequence[Attack], None] = None,
    progress: Optional[Callable[[int, int, float], object]] = None,
) -> dict[str, Any]:
    """Runs one simulation and returns its result: `workload`, `config` (all settings), `outcome`, `failure`, `result` (whether the kernel
    computed the correct result), `wrong_reads`, `lost_lines`, `struck`, `strikes`, `seconds`, and `stats`.

    `failure` says why the numbers are not those of a program that ran to its end and computed the correct result: an alarm, nodes that
    wait for ever, a wrong result, fewer references than `machine.warm_up`. Otherwise it is `None`.

    `toml` is the text of a settings file, as `smp settings` prints it; `config` overrides it. A `preset` in the text takes precedence
    over one in `config`. A trace determines the number of processors, and settings that contradict it are an error. With `check`, every
    value that is read is checked, which is slow.

    `attack` is one of `ATTACKS` and the number of the transfer from which on it strikes, or several such pairs; `strikes` holds the
    outcome of each. The first alarm ends the run. `progress` is called with references, cycles and seconds after every million
    references; an exception that it raises ends the run. The interpreter lock is released meanwhile.
    """
    settings = flat(config)
    work = {name.removeprefix("workload."): settings.pop(name) for name in list(settings) if name.split(".")[0] == "workload"}
    workload = _workload(work, bool(toml))
    preset = settings.pop("preset", None)
    words = [f"{name}={_word(name, value)}" for name, value in settings.items()]
    result: dict[str, Any] = json.loads(_native.smp_run(toml, preset, words, workload, check, _attacks(attack), progress))
    # `config` can be passed to another run.
    result["config"].pop("attacks", None)
    told = result["config"].pop("workload", {})
    told.pop("digest", None)
    result["workload"] = {**told, **work} if toml else work
    return result


def _attacks(attack: Union[Attack, Sequence[Attack], None]) -> list[Attack]:
    if isinstance(attack, tuple) and attack and isinstance(attack[0], str):
        return [cast(Attack, attack)]
    return list(cast(Sequence[Attack], attack or ()))


def _workload(work: dict[str, Any], file: bool) -> Any:
    """The workload, as far as `work` gives it; the rest may come from a `file`."""
    known = ("kernel", "size", "align", "trace", "windows")
    if "workload" in work:
        work.setdefault("kernel", work.pop("workload"))
    if strange := sorted(set(work) - set(known)):
        raise ValueError(f"workload.{strange[0]} is no setting of a workload; there are {', '.join(known[:-1])} and {known[-1]}")
    kernel, size, align, trace, windows = (work.get(name) for name in known)
    if (kernel is None) == (trace is None) and not (file and kernel is None):
        raise ValueError('a workload is either a kernel, such as {"workload": {"kernel": "fft"}}, or a trace')
    return kernel, size, align, trace, None if windows is None else str(windows)


def _word(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        return str(value)
    if isinstance(value, Sequence):
        return "[" + ", ".join(_word(name, each) for each in value) + "]"
    raise TypeError(f"{name} is {value!r}: settings are numbers, words, truth values and lists of these")


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The names, such as `bus.busy`, and values of all numbers and strings in the statistics."""
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            yield from leaves(value, f"{path}.{name}" if path else name)
    elif isinstance(tree, list):
        for number, value in enumerate(tree):
            yield from leaves(value, f"{path}.{number}")
    else:
        yield path, tree


def frame(results: Iterable[Mapping[str, Any]]) -> Any:
    """A pandas DataFrame with a row for each result of `run`. Its columns are the settings in which results differ, the workload, `failure`
    (set if the numbers are not a valid result), and all statistics except those of single nodes (`nodes`)."""
    import pandas

    rows, settings, results = [], [], list(results)
    for result in results:
        config = {**{f"workload.{name}": value for name, value in result["workload"].items()}, **flat(result["config"])}
        stats = {name: value for name, value in result["stats"].items() if name != "nodes"}
        settings.append(config)
        rows.append(dict(leaves(stats)))
    names = {name: None for config in settings for name in config}
    differ = [name for name in names if len({repr(config.get(name)) for config in settings}) > 1]
    shown = [name for name in names if name.startswith("workload.") or name in differ]
    heads = pandas.DataFrame([{name: config.get(name) for name in shown} for config in settings], columns=shown)
    heads["failure"] = pandas.Series([result.get("failure") for result in results], dtype=object)
    table = pandas.DataFrame(rows)
    # The statistics contain some settings too.
    return pandas.concat([heads, table[[name for name in table.columns if name not in shown]]], axis=1)


def nodes(result: Mapping[str, Any]) -> Any:
    """A pandas DataFrame with a row for each node of one result: what its processor did, and how long it waited."""
    import pandas

    return pandas.DataFrame([dict(leaves(node)) for node in result["stats"]["nodes"]]).rename_axis("node")


def read_trace(prefix: str | os.PathLike[str], *, line: int = 64, most: int = 100_000_000) -> list[list[Record]]:
    """Reads the records of each thread of a trace, in any format that `smp run` accepts. An access that crosses a line of `line` bytes (16
    to 128) is split into two records. All records are kept in memory: a trace with more than `most` is an error."""
    return _native.smp_read(os.fspath(prefix), line, most)


def trace_frame(prefix: str | os.PathLike[str], *, line: int = 64, most: int = 100_000_000) -> Any:
    """Like `read_trace`, as a pandas DataFrame with the columns thread, kind, address, bytes and gap."""
    import pandas

    rows = [(number, *record) for number, thread in enumerate(read_trace(prefix, line=line, most=most)) for record in thread]
    return pandas.DataFrame(rows, columns=["thread", "kind", "address", "bytes", "gap"])


def write_trace(prefix: str | os.PathLike[str], threads: Iterable[Iterable[Sequence[Any]]]) -> list[str]:
    """Writes a trace: the files `prefix.0.smpt`, `prefix.1.smpt` and so on, one for each of `threads`, which are iterables of `Record`.
    Returns their names. No existing file is replaced; if one file cannot be written, those already written are removed."""
    written: list[str] = []
    try:
        for number, records in enumerate(threads):
            path = f"{os.fspath(prefix)}.{number}.smpt"
            _native.smp_write(path, [tuple(record) for record in records])
            written.append(path)
    except BaseException:
        for path in written:
            os.remove(path)
        raise
    return written
