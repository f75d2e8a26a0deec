"""The simulator of sealed buses: runs, statistics as tables, traces."""

import resource

import numpy
import pandas
import pytest
import sealwright
from sealwright import smp

SMALL = {"workload": {"kernel": "fft", "size": 8}, "machine": {"processors": 2}, "scheme": {"name": "gcm"}}


def without_seconds(result):
    return {name: value for name, value in result.items() if name != "seconds"}


def test_a_run_gives_settings_and_counts():
    result = smp.run(SMALL, check=True)
    assert result["outcome"] == "completed"
    assert result["result"]["right"] and result["wrong_reads"] == 0
    assert result["workload"] == {"kernel": "fft", "size": 8}
    assert result["config"]["scheme"]["name"] == "gcm" and result["config"]["machine"]["processors"] == 2
    assert result["stats"]["transfers"]["count"] > 0
    # However the settings are written; the same settings give the same counts.
    again = smp.run(smp.flat(SMALL), check=True)
    assert without_seconds(again) == without_seconds(result)
    toml = 'scheme.name = "clear"\nmachine.processors = 2'
    clear = smp.run({"workload": "fft", "workload.size": 8}, toml=toml)
    assert clear["config"]["scheme"]["name"] == "clear"
    assert clear["stats"]["transfers"]["count"] > 0


def test_numbers_of_numpy_are_settings():
    small = {"workload": {"kernel": "fft", "size": numpy.int64(8)}, "machine.processors": numpy.array(2), "scheme.name": numpy.str_("gcm")}
    result = smp.run({**small, "machine.seed": numpy.uint8(1)})
    assert result["workload"]["size"] == 8 and result["stats"] == smp.run(smp.flat({**SMALL, "machine.seed": 1}))["stats"]
    assert [smp.flat(config) for config in smp.grid(small, {"bus.width": numpy.array([8, 16])})][1]["bus.width"] == 16
    assert smp.flat({"a": (numpy.float64(0.5), [numpy.bool_(True)])}) == {"a": [0.5, [True]]}


def test_a_settings_file_names_the_workload_and_the_preset():
    toml = 'preset = "thesis-128"\nmachine.processors = 2\n[workload]\nkernel = "fft"\nsize = 8\n'
    result = smp.run({}, toml=toml)
    assert result["config"]["machine"]["line"] == 128 and result["failure"] is None
    assert result["workload"] == {"kernel": "fft", "size": 8, "align": False}
    assert smp.run({"workload.size": 10}, toml=toml)["workload"]["size"] == 10
    assert smp.run({"workload": {"kernel": "luc", "size": 32}}, toml=toml)["workload"]["kernel"] == "luc"
    assert without_seconds(smp.run({**smp.flat(SMALL), "preset": "thesis-128", "scheme.name": "clear"}))["stats"] == result["stats"]
    with pytest.raises(ValueError, match="neither a kernel nor a trace"):
        smp.run({}, toml="machine.processors = 2")


def test_numbers_that_are_no_result_say_so():
    alarm = smp.run({**smp.flat(SMALL), "bus.timeout": 20})
    assert "raised the alarm" in alarm["failure"] and "detected" in alarm["outcome"]
    cold = smp.run({**smp.flat(SMALL), "machine.warm_up": 10_000_000})
    assert cold["outcome"] == "completed" and "before the end of machine.warm_up" in cold["failure"]
    frame = smp.frame([smp.run(SMALL), alarm, cold])
    assert [failure is None for failure in frame["failure"]] == [True, False, False]


def test_an_attack_is_detected_where_the_scheme_authenticates():
    assert "flip" in smp.ATTACKS
    result = smp.run(SMALL, attack=("flip", 5))
    assert result["struck"] is not None and "detected" in result["outcome"]
    # The first alarm ends the run, so the second strike never comes.
    both = smp.run(SMALL, attack=[("flip", 5), ("forge-command", 10**6)])
    assert [(strike["attack"], strike["struck"]) for strike in both["strikes"]] == [
        ("flip", result["struck"]),
        ("forge-command", None),
    ]


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ({"machine.processors": 2}, "a workload is either"),
        ({"workload": "fft", "workload.trace": "x"}, "a workload is either"),
        ({"workload": "sort"}, 'there is no kernel "sort": fft'),
        ({"workload": {"kernel": "fft", "sise": 3}}, "workload.sise is no setting"),
        ({"workload": {"kernel": "fft", "windows": 3}}, "workload.windows are windows of a trace"),
        ({**smp.flat(SMALL), "preset": "nothing"}, 'there is no preset "nothing": thesis, thesis-128'),
        ({**smp.flat(SMALL), "bus.nothing": 1}, "bus.nothing"),
        ({**smp.flat(SMALL), "machine.processors": 1}, "machine.processors is 1, not 2 to 64"),
    ],
)
def test_what_makes_no_machine_is_refused(config, what):
    with pytest.raises(ValueError, match=what):
        smp.run(config)
    with pytest.raises(ValueError, match="there is no attack shout"):
        smp.run(SMALL, attack=("shout", 1))
    with pytest.raises(TypeError, match="settings are numbers"):
        smp.run({**smp.flat(SMALL), "bus.width": None})


def test_progress_is_told_and_ends_a_run():
    class Enough(Exception):
        pass

    seen = []

    def tell(references, cycles, seconds):
        seen.append((references, cycles, seconds))
        raise Enough

    with pytest.raises(Enough):
        smp.run({"workload": {"kernel": "fft", "size": 16}, "scheme.functional": False}, progress=tell)
    assert len(seen) == 1 and seen[0][0] >= 1 << 20


def test_grids_and_tables():
    vary = {"scheme.name": ["clear", "gcm"], "machine.processors": [2, 4]}
    configs = list(smp.grid({"workload": {"kernel": "fft", "size": 8}}, vary))
    assert len(configs) == 4 and configs[3]["scheme.name"] == "gcm" and configs[3]["machine.processors"] == 4
    results = [smp.run(config) for config in configs]
    frame = smp.frame(results)
    assert list(frame["scheme.name"]) == ["clear", "clear", "gcm", "gcm"]
    assert list(frame["transfers.count"]) == [result["stats"]["transfers"]["count"] for result in results]
    assert "bus.width" not in frame.columns and not any(name.startswith("nodes.") for name in frame.columns)
    nodes = smp.nodes(results[3])
    assert isinstance(nodes, pandas.DataFrame) and len(nodes) == 4


def test_traces_are_written_read_and_run(tmp_path):
    def thread(number):
        for i in range(200):
            yield "store", 0x10000 + 64 * ((i + number) % 50), 8, 3
            yield "load", 0x10000 + 64 * i, 4, 1
        yield "barrier", 0x40, 0, 10

    files = smp.write_trace(tmp_path / "made", [thread(0), thread(1)])
    assert [name.rsplit("/", 1)[1] for name in files] == ["made.0.smpt", "made.1.smpt"]
    threads = smp.read_trace(tmp_path / "made")
    assert threads[0][:400] == list(thread(0))[:400]
    # 401 records each
    assert smp.read_trace(tmp_path / "made", most=802) == threads
    for read in (smp.read_trace, smp.trace_frame):
        with pytest.raises(sealwright.Error, match="more than 801 records"):
            read(tmp_path / "made", most=801)
    for line in (0, 15, 129):
        with pytest.raises(ValueError, match=f"line is {line}, not 16 to 128"):
            smp.read_trace(tmp_path / "made", line=line)
    frame = smp.trace_frame(tmp_path / "made")
    assert list(frame.columns) == ["thread", "kind", "address", "bytes", "gap"] and set(frame["thread"]) == {0, 1}
    result = smp.run({"workload": {"trace": tmp_path / "made"}, "scheme.name": "gcm"})
    assert result["config"]["machine"]["processors"] == 2 and result["stats"]["transfers"]["count"] > 0
    again = smp.run({**result["config"], "workload": result["workload"]})
    assert without_seconds(again) == without_seconds(result)
    with pytest.raises(ValueError, match="the trace has 2 threads, not 4"):
        smp.run({"workload": {"trace": tmp_path / "made"}, "machine.processors": 4})
    with pytest.raises(sealwright.Error, match="no window 3: only drmemtrace has windows"):
        smp.run({"workload": {"trace": tmp_path / "made", "windows": 3}})
    smp.write_trace(tmp_path / "stuck", [[("lock", 64, 0, 0), ("lock", 64, 0, 0)], [("load", 0, 8, 0)]])
    with pytest.raises(sealwright.Error, match="takes lock 0x40 twice"):
        smp.run({"workload": {"trace": tmp_path / "stuck"}})

    with pytest.raises(FileExistsError, match="made.0.smpt"):
        smp.write_trace(tmp_path / "made", [thread(0)])
    # A file that cannot be written whole is not left behind.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="cut.0.smpt"):
            smp.write_trace(tmp_path / "cut", [thread(0)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.glob("cut*"))
    with pytest.raises(ValueError, match="record 1: its kind is jump"):
        smp.write_trace(tmp_path / "other", [thread(0), [("load", 0, 8, 0), ("jump", 0, 8, 0)]])
    assert not list(tmp_path.glob("other*"))
    with pytest.raises(Exception, match="missing|no such|No such|does not exist"):
        smp.read_trace(tmp_path / "nothing")
