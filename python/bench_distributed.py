"""The time of `sealwright.distributed` on one and two workers of Dask, and its scheduler's time for a task.

    python -m pip install './python[fsspec]' distributed
    python python/bench_distributed.py

Workers are processes of one thread each on this machine, which the scheduler reaches over TCP.
"""

import argparse
import os
import statistics
import tempfile
import time

import dask
import distributed as dask_distributed
import sealwright
from sealwright import distributed, smp
from sealwright._executor_runs import IN_FLIGHT, spread


def nothing(number):
    return number


def overhead(executor, tasks):
    """Seconds a task that does nothing, with as many in flight as the package has."""
    begun = time.monotonic()
    spread(executor, ((n, nothing, (n,)) for n in range(tasks)), lambda name, future: future.result(),
                       distributed.Report(), None, IN_FLIGHT)
    return (time.monotonic() - begun) / tasks


def swept(executor, runs, batch):
    configs = smp.grid({"workload": {"kernel": "fft", "size": 12}, "scheme.name": "gcm"}, {"machine.seed": range(runs)})
    report = distributed.sweep(configs, executor=executor, batch=batch)
    assert report.done == runs, report.failed
    return report.seconds


def sealed(executor, folder, files, length):
    with tempfile.TemporaryDirectory(dir=folder) as target:
        report = distributed.seal_store(f"file://{folder}/plain", f"file://{target}", executor=executor, key=bytes(range(32)))
    assert report.done == files and report.text_bytes == files * length, report.failed
    return report.seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the figures are medians (default: 3)")
    parser.add_argument("--runs", type=int, default=200, help="runs in a sweep (default: 200)")
    parser.add_argument("--files", type=int, default=64, help="files of 16 MiB to seal (default: 64)")
    options = parser.parse_args()
    print(f"sealwright {sealwright.__version__} at level {sealwright.isa}, distributed {dask_distributed.__version__}, {os.cpu_count()} cores")
    dask.config.set({"distributed.admin.low-level-log-length": 0})
    length = 16 << 20
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/plain")
        for number in range(options.files):
            with open(f"{folder}/plain/{number}", "wb") as file:
                file.write(os.urandom(length))
        for workers in (1, 2):
            with dask_distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
                with dask_distributed.Client(cluster) as client:
                    executor = client.get_executor()
                    overhead(executor, 100)
                    rows = [(overhead(executor, 1000), swept(executor, options.runs, 1), swept(executor, options.runs, 10),
                             sealed(executor, folder, options.files, length)) for _ in range(options.rounds)]
            task, single, ten, seal = (statistics.median(column) for column in zip(*rows))
            print(f"{workers} workers: {1e3 * task:.2f} ms a task that does nothing; {options.runs} runs in {single:.1f} s, in tasks of ten "
                  f"in {ten:.1f} s; {options.files} files in {seal:.1f} s, {options.files * length / seal / 1e6:.0f} MB/s")


if __name__ == "__main__":
    main()
