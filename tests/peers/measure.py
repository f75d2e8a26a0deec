"""Runs, times and compares programs: in turn, in a new order each round; each output is compared with its source."""

import os
import pty
import random
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

PIECE = 16 << 20


def run(words: list, **options) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, check=False, **options)
    assert done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr.decode(errors='replace')}"


def shell(line: str, home: Path) -> Callable[[], None]:
    """A command line for the shell, whose start is part of the measured time."""
    return lambda: run(["sh", "-c", line], cwd=home)


def direct(words: list, home: Path) -> Callable[[], None]:
    """A program that is started directly, without a shell."""
    program, words = shutil.which(str(words[0])), [str(word) for word in words]
    assert program, f"{words[0]} is not there"

    def start() -> None:
        # The quickest way that Python has; the program is started where this one is.
        assert Path.cwd() == home
        _, status = os.waitpid(os.posix_spawn(program, words, os.environ), 0)
        assert status == 0, f"{words}: status {status}"

    return start


def typed(words: list, passphrase: str, home: Path) -> Callable[[], None]:
    """A program that accepts a passphrase only from a terminal, and gets one."""

    def start() -> None:
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(home)
            # rage would rather have a window for it, where there is a program that makes one.
            os.execve(str(words[0]), [str(word) for word in words], os.environ | {"PINENTRY_PROGRAM": "none"})
        said = b""
        while True:
            try:
                got = os.read(terminal, 4096)
            except OSError:  # Its end has been closed.
                got = b""
            if not got:
                break
            said += got
            if said.rstrip(b" \x1b[0mK").endswith(b":"):
                os.write(terminal, passphrase.encode() + b"\n")
                said = b""
        os.close(terminal)
        _, status = os.waitpid(child, 0)
        assert status == 0, f"{words}: status {status}: {said.decode(errors='replace')}"

    return start


@dataclass
class Peer:
    """A program: the command that makes `out` from `text`, and the command that makes `back` from `out`."""

    name: str
    seal: Callable[[], None]
    opening: Callable[[], None]


@dataclass
class Case:
    """What all programs do. `text` is a file or a directory in `home`; the first peer is ours."""

    name: str
    home: Path
    peers: list[Peer]
    rounds: int
    # Where the opened text is, seen from `back`.
    within: str = ""
    # Whether the first round only warms up: not where it takes minutes.
    warm_up: bool = True
    times: dict = field(default_factory=dict)

    def measure(self) -> None:
        order = random.Random(self.name)
        os.chdir(self.home)
        self.times = {(peer.name, way): [] for peer in self.peers for way in ("seal", "open")}
        for number in range(self.rounds + self.warm_up):
            turns = list(self.peers)
            order.shuffle(turns)
            for peer in turns:
                took = {"seal": once(peer.seal, self.home, "out"), "open": once(peer.opening, self.home, "back")}
                assert same(self.home / "text", self.home / "back" / self.within), f"{self.name}: {peer.name} changed the text"
                if number or not self.warm_up:
                    for way, seconds in took.items():
                        self.times[peer.name, way].append(seconds)
        for name in ("out", "back"):
            clear(self.home / name)

    def rows(self) -> list[str]:
        rows = []
        for peer in self.peers:
            row = [self.name if peer is self.peers[0] else "", peer.name]
            for way in ("seal", "open"):
                own, ours = self.times[peer.name, way], self.times[self.peers[0].name, way]
                low, _, high = statistics.quantiles(own, n=4)
                middle, first, last = interval([mine / other for mine, other in zip(own, ours, strict=True)])
                ratio = f"{middle:.2f} ({first:.2f} to {last:.2f})" if peer is not self.peers[0] else "1"
                row += [f"{units(statistics.median(own))} ({units(low)} to {units(high)})", ratio]
            rows.append("| " + " | ".join(row) + " |")
        return rows


def clear(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def once(work: Callable[[], None], home: Path, target: str) -> float:
    clear(home / target)
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def same(one: Path, other: Path) -> bool:
    """Whether two files, or all files of two directories, have the same bytes and names."""
    if not one.is_dir():
        return same_bytes(one, other)
    names = sorted(path.relative_to(one) for path in one.rglob("*"))
    found = sorted(path.relative_to(other) for path in other.rglob("*"))
    return names == found and all(same_bytes(one / name, other / name) for name in names if (one / name).is_file())


def same_bytes(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        while piece := left.read(PIECE):
            if piece != right.read(PIECE):
                return False
    return True


def units(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """The median with its 95 % interval, by bootstrap."""
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2000))
    return statistics.median(ratios), medians[49], medians[1949]
