"""What tests share, and what tells what is skipped: `cargo xtask` counts it, as it names a file for it in SEALWRIGHT_SKIPPED."""

import os

import pytest


@pytest.fixture
def memory():
    """fsspec's store in memory, empty."""
    import fsspec

    fs = fsspec.filesystem("memory")
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]
    yield fs
    fs.store.clear()


def pytest_runtest_logreport(report):
    told(report)


def pytest_collectreport(report):
    told(report)


def told(report):
    path = os.environ.get("SEALWRIGHT_SKIPPED")
    # What is known to fail runs; it is no test that cannot run here.
    if not path or not report.skipped or hasattr(report, "wasxfail"):
        return
    # The place in the source, the line, and the reason.
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    with open(path, "a") as file:
        print(f"{report.nodeid}: {why}".replace("\n", " "), file=file)
