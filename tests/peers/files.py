"""Measures sealing and opening beside other programs: age and rage, openssl, and tar with zstd, which does not encrypt.

    python files.py PATH_TO_SEALWRIGHT [--build-rage | --rage PATH] [--age PATH] [--mib 256] [--rounds 11] [--folder /dev/shm]

Programs that are not found are left out. All run in turn, round after round, so that what else the machine does meets all alike. Every
output is compared with the text. The table has the median of each program with its range from the first to the third quartile, and
how many times as long as Sealwright it took: the median of the ratios within the rounds, with its 95 % interval (bootstrap).

`--build-rage` has cargo build rage (https://crates.io/crates/rage) in target/peers first, which takes some minutes once.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RAGE = "0.12.1"
IV = "00112233445566778899aabbccddeeff"


def run(words: list, **options) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, check=False, **options)
    assert done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr.decode(errors='replace')}"


def build_rage() -> Path:
    """Builds rage if it is not there yet; returns the path of the program."""
    root = Path(__file__).resolve().parents[2] / "target" / "peers"
    words = ["cargo", "install", "rage", "--version", RAGE, "--locked", "--root", root]
    done = subprocess.run([str(word) for word in words], check=False)
    assert done.returncode == 0, f"rage {RAGE} was not built\nhint: it comes from crates.io; is the registry in reach?"
    return root / "bin" / "rage"


class Peer:
    """A program: what seals `text` to `out`, and what opens it to `back`. The shell runs both."""

    def __init__(self, name: str, seal: str, opening: str) -> None:
        self.name, self.seal, self.opening = name, seal, opening


def peers(args: argparse.Namespace, home: Path) -> list[Peer]:
    """What was found, prepared with keys in `home`."""
    ours = Path(args.sealwright).resolve()
    (home / "my.pub").write_bytes(subprocess.check_output([ours, "key", "new", "--pair", "-o", home / "my.id"]))
    run([ours, "key", "new", "-o", home / "my.key"])
    key = (home / "my.key").read_text().strip()
    found = [
        Peer("sealwright, raw key", f"{ours} seal -q --no-sync --key-file my.key text -o out", f"{ours} open -q --no-sync --key-file my.key out -o back"),
        Peer("sealwright, key pair", f"{ours} seal -q --no-sync -R my.pub text -o out", f"{ours} open -q --no-sync -i my.id out -o back"),
        Peer("sealwright, through pipes", f"cat text | {ours} seal -q --key-file my.key >out", f"cat out | {ours} open -q --key-file my.key >back"),
    ]
    for name in ("age", "rage"):
        program = getattr(args, name) or shutil.which(name)
        if program:
            keygen = Path(program).with_name(name + "-keygen")
            run([keygen, "-o", home / f"{name}.key"])
            public = subprocess.check_output([keygen, "-y", home / f"{name}.key"], text=True).strip()
            found.append(Peer(f"{name}, key pair", f"{program} -r {public} -o out text", f"{program} -d -i {name}.key -o back out"))
    if shutil.which("openssl"):
        for cipher in ("aes-256-ctr", "aes-256-cbc"):
            words = f"openssl enc -{cipher} -K {key} -iv {IV}"
            found.append(Peer(f"openssl enc, {cipher}", f"{words} -in text -out out", f"{words} -d -in out -out back"))
    if shutil.which("zstd"):
        found.append(Peer("tar and zstd -1 (no encryption)", "tar -c text | zstd -q -1 -o out", "zstd -dq <out | tar -xO >back"))
    return found


def once(line: str, home: Path, target: str) -> float:
    (home / target).unlink(missing_ok=True)
    start = time.perf_counter()
    run(["sh", "-c", line], cwd=home)
    return time.perf_counter() - start


def interval(ratios: list[float]) -> tuple[float, float, float]:
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2000))
    return statistics.median(ratios), medians[49], medians[1949]


def version(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().splitlines()[0]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sealwright")
    for name in ("rage", "age"):
        arguments.add_argument(f"--{name}")
    arguments.add_argument("--build-rage", action="store_true")
    arguments.add_argument("--mib", type=int, default=256)
    arguments.add_argument("--rounds", type=int, default=11)
    arguments.add_argument("--folder", default="/dev/shm")
    args = arguments.parse_args()
    if args.build_rage:
        args.rage = build_rage()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        home = Path(folder)
        text = random.Random(7).randbytes(8 << 20) * (args.mib // 8)
        (home / "text").write_bytes(text)
        found = peers(args, home)
        times = {(peer.name, way): [] for peer in found for way in ("seal", "open")}
        for number in range(args.rounds + 1):
            for peer in found:
                sealing = once(peer.seal, home, "out")
                opening = once(peer.opening, home, "back")
                assert (home / "back").read_bytes() == text, f"{peer.name} changed the text"
                if number:  # The first round warms up.
                    times[peer.name, "seal"].append(sealing)
                    times[peer.name, "open"].append(opening)
    print(f"{args.mib} MiB, {args.rounds} rounds, {os.cpu_count()} processors\n")
    print("| program | sealing, s | times ours | opening, s | times ours |\n|---|---:|---:|---:|---:|")
    for peer in found:
        row = [peer.name]
        for way in ("seal", "open"):
            own, base = times[peer.name, way], times[found[0].name, way]
            low, _, high = statistics.quantiles(own, n=4)
            middle, first, last = interval([mine / other for mine, other in zip(own, base, strict=True)])
            row += [f"{statistics.median(own):.3f} ({low:.3f} to {high:.3f})", f"{middle:.2f} ({first:.2f} to {last:.2f})"]
        print("| " + " | ".join(row) + " |")
    print()
    print(version([args.sealwright, "--version"]))
    for peer in ("rage", "age"):
        program = getattr(args, peer) or shutil.which(peer)
        if program:
            print(version([program, "--version"]) if peer == "rage" else f"age {version([program, '--version'])}")
    for words in (["openssl", "version"], ["zstd", "--version"]):
        if shutil.which(words[0]):
            print(version(words))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssertionError as error:
        print(f"files: {error}", file=sys.stderr)
        sys.exit(1)
