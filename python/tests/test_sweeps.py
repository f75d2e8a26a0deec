"""Sweeps of the simulator by many workers."""

import os
import signal
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, wait

import numpy
import pytest
from sealwright import distributed, smp

BASE = {"workload": {"kernel": "fft", "size": 6}}
VARY = {"scheme.name": ["clear", "gcm", "senss"], "machine.processors": [2, 4], "bus.width": [8, 16], "machine.seed": [1, 2]}


def plain(results):
    """Without what depends on the machine that ran them."""
    return [{name: value for name, value in result.items() if name != "seconds"} for result in results]


@pytest.fixture(scope="module")
def alone():
    """What one machine finds, one after the other."""
    return plain(smp.run(config) for config in smp.grid(BASE, VARY))


@pytest.mark.parametrize(("pool", "batch"), [(ThreadPoolExecutor, 1), (ProcessPoolExecutor, 5)])
def test_results_are_those_of_one_machine(tmp_path, alone, pool, batch):
    seen = []
    with pool(2) as executor:
        run = {"executor": executor, "manifest": tmp_path / "results", "batch": batch}
        swept = distributed.sweep(smp.grid(BASE, VARY), progress=seen.append, **run)
        assert (swept.done, swept.skipped, swept.failed) == (24, 0, {}) and len(seen) == -(-24 // batch)
        assert plain(swept.results) == alone
        # Again, and with more: what is there is not run a second time.
        more = {**VARY, "bus.width": [8, 16, 32]}
        swept = distributed.sweep(smp.grid(BASE, more), **run)
        assert (swept.done, swept.skipped) == (12, 24)
        assert len(swept.frame()) == 36


def test_what_fails_stops_nothing_else_and_is_tried_again(tmp_path):
    configs = [{**smp.flat(BASE), "machine.processors": number} for number in (2, 1, 4, 4)]
    with ThreadPoolExecutor(2) as executor:
        for count in (0, 2):
            swept = distributed.sweep(configs, executor=executor, manifest=tmp_path / "results", batch=2)
            assert swept.skipped == count and swept.done == 2 - count
            [(name, reason)] = swept.failed.items()
            assert '"machine.processors": 1' in name and reason.startswith("ValueError: machine.processors is 1")
            assert [result is None for result in swept.results] == [False, True, False, False]
            assert swept.results[2] == swept.results[3]


def test_settings_of_numpy_and_such_that_have_no_name(tmp_path):
    configs = [*smp.grid(BASE, {"machine.seed": numpy.arange(1, 3)}), {**BASE, "machine.seed": {1}}]
    with ThreadPoolExecutor(2) as executor:
        for done in (2, 0):
            swept = distributed.sweep(configs, executor=executor, manifest=tmp_path / "results")
            assert (swept.done, swept.skipped) == (done, 2 - done)
            assert [result is None for result in swept.results] == [False, False, True]
            [(name, reason)] = swept.failed.items()
            assert "{1}" in name and reason.startswith("TypeError: ")


def test_numbers_that_are_no_result_are_not_kept(tmp_path):
    configs = [{**smp.flat(BASE), "scheme.name": "gcm", "bus.timeout": timeout} for timeout in (0, 20)]
    configs.append({**smp.flat(BASE), "machine.warm_up": 10_000_000})
    with ThreadPoolExecutor(2) as executor:
        for done in (1, 0):
            swept = distributed.sweep(configs, executor=executor, manifest=tmp_path / "results")
            assert (swept.done, swept.skipped) == (done, 1 - done)
            assert [result is None for result in swept.results] == [False, True, True]
            reasons = sorted(swept.failed.values())
            assert "raised the alarm" in reasons[0] and "the end of machine.warm_up" in reasons[1]


def test_what_another_trace_or_build_gave_is_not_known(tmp_path, monkeypatch):
    def write(stores):
        for path in tmp_path.glob("t.*.smpt"):
            path.unlink()
        smp.write_trace(tmp_path / "t", [[("load", 64 * i, 8, 0) for i in range(99)], [("store", 64 * i, 8, 0) for i in range(stores)]])

    configs = [{"workload.trace": tmp_path / "t", "bus.width": width} for width in (8, 16)]

    def swept():
        with ThreadPoolExecutor(2) as executor:
            return distributed.sweep(configs, executor=executor, manifest=tmp_path / "results")

    write(9)
    first = swept()
    assert (first.done, first.skipped, first.failed) == (2, 0, {})
    assert (swept().done, swept().skipped) == (0, 2)
    # Another recording of the same name.
    write(5)
    second = swept()
    assert (second.done, second.skipped) == (2, 0)
    assert plain(second.results) == plain(map(smp.run, configs)) != plain(first.results)
    write(9)
    again = swept()
    assert (again.done, again.skipped) == (0, 2) and again.results == first.results
    monkeypatch.setattr("sealwright.sweeps._build", lambda: "another")
    assert (swept().done, swept().skipped) == (2, 2)
    # Nothing is known of a trace that is not here.
    (tmp_path / "t.0.smpt").unlink()
    gone = swept()
    assert (gone.done, gone.skipped, gone.results) == (0, 0, [None, None])
    assert len(gone.failed) == 2 and all("t.0.smpt" in reason for reason in gone.failed.values())


DEEP = pytest.param(b"[" * 100_000, id="deep")


@pytest.mark.parametrize("line", [b'{"x": 1}', b"no JSON", b"[1]", b"\xff", b"", b'{"name": [], "result": {}}', DEEP])
def test_a_line_of_something_else_is_named_and_the_file_is_left_alone(tmp_path, line):
    text = b'{"name": "a", "result": {}, "mark": "b"}\n' + line + b"\nthe last line has no end"
    (tmp_path / "results").write_bytes(text)
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(ValueError, match="results: line 2: .* \\(hint: take the line out"):
            distributed.sweep(smp.grid(BASE, VARY), executor=executor, manifest=tmp_path / "results")
        with pytest.raises(ValueError, match="results: line 2: "):
            places = [(tmp_path / name).as_uri() for name in ("from", "to")]
            distributed.seal_store(*places, executor=executor, key=bytes(32), manifest=tmp_path / "results")
    assert (tmp_path / "results").read_bytes() == text


class Losing(ThreadPoolExecutor):
    """Loses every result the first `times` times, as Dask does when a worker dies between the end of a task and its answer."""

    def __init__(self, times):
        super().__init__(2)
        self.times, self.calls = times, {}

    def submit(self, function, /, *arguments):
        future, key = super().submit(function, *arguments), repr(arguments)
        self.calls[key] = self.calls.get(key, 0) + 1
        if self.calls[key] <= self.times:
            wait([future])
            future = Future()
            future.set_exception(ValueError("not enough values to unpack"))
        return future


def test_a_result_that_the_executor_lost_is_asked_for_again(alone):
    with Losing(times=3) as executor:
        swept = distributed.sweep(smp.grid(BASE, VARY), executor=executor)
    assert (swept.done, swept.failed) == (24, {}) and plain(swept.results) == alone
    with Losing(times=1000) as executor:
        swept = distributed.sweep(smp.grid(BASE, VARY), executor=executor)
    assert swept.done == 0 and set(swept.failed.values()) == {"ValueError: not enough values to unpack"}


def test_a_killed_worker_loses_nothing(tmp_path, alone):
    dask = pytest.importorskip("distributed")
    killed = []
    with dask.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with dask.Client(cluster) as client:
            pids = list(client.run(os.getpid).values())

            def kill(report):
                if report.done >= 4 and not killed:
                    killed.append(pids[0])
                    os.kill(pids[0], signal.SIGKILL)

            run = {"executor": client.get_executor(retries=3), "manifest": tmp_path / "results"}
            swept = distributed.sweep(smp.grid(BASE, VARY), progress=kill, **run)
            assert killed and swept.failed == {} and swept.done == 24
            assert plain(swept.results) == alone
    assert len((tmp_path / "results").read_text().splitlines()) == 24
