"""What is compared: one large file, many small ones, a folder as one archive, a passphrase, and the start of the program."""

import os
import random
from pathlib import Path

from measure import Case, Peer, direct, shell, typed
from programs import PASSPHRASE, Programs

FOLDERS, SMALL = 100, 4096
# What OWASP recommends at least: PBKDF2 with HMAC-SHA-256 600,000 times, or Argon2id over 46 MiB once.
ITERATIONS, LEAST = 600_000, "46MiB"
PROCESSORS = len(os.sched_getaffinity(0))


def one_file(home: Path, length: int) -> None:
    with (home / "text").open("wb") as text:
        chance = random.Random(7)
        while length:
            piece = chance.randbytes(min(length, 8 << 20))
            length -= text.write(piece)


def many_files(home: Path, files: int) -> None:
    chance = random.Random(7)
    for number in range(files):
        folder = home / "text" / f"{number % FOLDERS:03}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:05}").write_bytes(chance.randbytes(SMALL))


def large(programs: Programs, home: Path, mib: int, rounds: int) -> Case:
    """One file in memory."""
    one_file(home, mib << 20)

    def peer(name: str, seal: str, opening: str) -> Peer:
        return Peer(name, shell(seal, home), shell(opening, home))

    seal, opening = programs.own("seal"), programs.own("open")
    pair = f"{programs.ours} seal -q -R {programs.keys}/my.pub text -o out"
    peers = [
        peer("sealwright", f"{seal} text -o out", f"{opening} out -o back"),
        peer("sealwright, key pair", pair, f"{programs.ours} open -q -i {programs.keys}/my.id out -o back"),
        peer("sealwright, through pipes", f"cat text | {seal} >out", f"cat out | {opening} >back"),
        peer("`cp`", "cp text out", "cp out back"),
    ]
    for name in programs.public:
        peers.append(peer(name, f"{programs.pair(name, 'seal')} -o out text", f"{programs.pair(name, 'open')} -o back out"))
    if programs.has("openssl"):
        for cipher in ("aes-256-ctr", "aes-256-cbc"):
            words = [f"{programs.openssl(cipher, way)} -in" for way in ("seal", "open")]
            peers.append(peer(f"`openssl enc`, {cipher}", f"{words[0]} text -out out", f"{words[1]} out -out back"))
    if programs.has("tar", "zstd"):
        peers.append(peer("`tar` and `zstd -1`", "tar -c text | zstd -q -1 -o out", "zstd -dqc out | tar -xO >back"))
    return Case(f"{mib} MiB in memory", home, peers, rounds)


def large_on_disk(programs: Programs, home: Path, mib: int, rounds: int) -> Case:
    """One file on the disk, and it is there when the program ends."""
    one_file(home, mib << 20)
    ours = [shell(f"{programs.own('seal')} text -o out", home), shell(f"{programs.own('open')} out -o back", home)]
    copy = [shell("cp text out && sync out", home), shell("cp out back && sync back", home)]
    return Case(f"{mib} MiB on the disk, synced", home, [Peer("sealwright", *ours), Peer("`cp` and `sync`", *copy)], rounds)


def each(line: str, source: str, target: str) -> str:
    """A program for each file below `source`, on every processor: xargs starts shells with 250 names each, and they start the program."""
    folders = f"mkdir {target} && (cd {source} && find . -type d) | (cd {target} && xargs mkdir -p)"
    loop = f"for f; do {line.format(f'{source}/$f', f'{target}/$f')}; done"
    return f"{folders} && (cd {source} && find . -type f) | xargs -n 250 -P {PROCESSORS} sh -ec '{loop}' sh"


def many(programs: Programs, home: Path, files: int, rounds: int, on_disk: bool) -> Case:
    """Many small files, each by itself. On the disk beside `cp` alone: the others take longer in memory already."""
    many_files(home, files)

    def peer(name: str, seal: str, opening: str) -> Peer:
        lines = [f"{line} && sync -f {target}" if on_disk else line for line, target in ((seal, "out"), (opening, "back"))]
        return Peer(f"{name}, then `sync -f`" if on_disk else name, *(shell(line, home) for line in lines))

    ours = [shell(f"{programs.own(verb)} --each {names}", home) for verb, names in (("seal", "text -o out"), ("open", "out -o back"))]
    peers = [Peer("sealwright", *ours), peer("`cp -r`", "cp -r text out", "cp -r out back")]
    for name in () if on_disk else programs.public:
        lines = [each(f"{programs.pair(name, way)} -o {{1}} {{0}}", *names) for way, names in BOTH_WAYS]
        peers.append(peer(f"{name}, by xargs", *lines))
    if programs.has("openssl") and not on_disk:
        lines = [each(f"{programs.openssl('aes-256-ctr', way)} -in {{0}} -out {{1}}", *names) for way, names in BOTH_WAYS]
        peers.append(peer("`openssl enc`, by xargs", *lines))
    return Case(f"{files:,} files of {SMALL >> 10} KiB, each by itself, {place(on_disk)}", home, peers, rounds, warm_up=on_disk)


BOTH_WAYS = (("seal", ("text", "out")), ("open", ("out", "back")))


def archive(programs: Programs, home: Path, files: int, rounds: int, on_disk: bool) -> Case:
    """The same files as one archive."""
    many_files(home, files)

    def peer(name: str, into: str, back: str) -> Peer:
        lines = [f"tar -c text | {into}", f"mkdir back && {back} | tar -x -C back"]
        lines = [f"{line} && sync -f {target}" if on_disk else line for line, target in zip(lines, ("out", "back"), strict=True)]
        return Peer(f"{name}, then `sync -f`" if on_disk else name, *(shell(line, home) for line in lines))

    ours = [shell(f"{programs.own('seal')} text -o out", home), shell(f"{programs.own('open')} -C back <out", home)]
    peers = [Peer("sealwright", *ours)]
    if programs.has("tar"):
        peers.append(peer("`tar` alone", "cat >out", "cat out"))
        if programs.has("zstd"):
            peers.append(peer("`tar` and `zstd -1`", "zstd -q -1 -o out", "zstd -dqc out"))
        for name in programs.public:
            peers.append(peer(f"`tar` and {name}", f"{programs.pair(name, 'seal')} -o out", f"{programs.pair(name, 'open')} out"))
        if programs.has("openssl"):
            lines = [programs.openssl("aes-256-ctr", way) for way in ("seal", "open")]
            peers.append(peer("`tar` and `openssl enc`", f"{lines[0]} -out out", f"{lines[1]} -in out"))
    return Case(f"{files:,} files of {SMALL >> 10} KiB as one archive, {place(on_disk)}", home, peers, rounds, within="text")


def place(on_disk: bool) -> str:
    return "on the disk, synced" if on_disk else "in memory"


def passphrase(programs: Programs, home: Path, rounds: int) -> Case:
    """1 MiB, at the costs that age is built with: 256 MiB to try one passphrase. Theirs comes from a terminal, ours from a file."""
    one_file(home, 1 << 20)
    file = f"3<{programs.keys}/passphrase"
    lines = [f"{programs.ours} seal -q --passphrase-fd 3 text -o out {file}", f"{programs.ours} open -q --passphrase-fd 3 out -o back {file}"]
    peers = [Peer("sealwright: Argon2id, 256 MiB, 3 passes", *(shell(line, home) for line in lines))]
    for name in programs.public:
        ways = [[programs.found[name], "-p", "-o", "out", "text"], [programs.found[name], "-d", "-o", "back", "out"]]
        ways = [typed(words, PASSPHRASE, home) for words in ways]
        ways[0]()
        work = (home / "out").read_bytes().split(b"\n")[1].split()[3].decode()
        (home / "out").unlink()
        peers.append(Peer(f"{name}: scrypt, 2^{work} ({(1 << int(work)) >> 10} MiB)", *ways))
    return Case("1 MiB under a passphrase", home, peers, rounds)


def least_passphrase(programs: Programs, home: Path, rounds: int) -> Case:
    """1 MiB, at the least cost that OWASP recommends for each function: what openssl can do takes no memory."""
    one_file(home, 1 << 20)
    file = f"3<{programs.keys}/passphrase"
    lines = [
        f"{programs.ours} seal -q --cost {LEAST} --passphrase-fd 3 text -o out {file}",
        f"{programs.ours} open -q --passphrase-fd 3 out -o back {file}",
    ]
    peers = [Peer("sealwright: Argon2id, 46 MiB, 3 passes", *(shell(line, home) for line in lines))]
    if programs.has("openssl"):
        words = f"{programs.found['openssl']} enc -aes-256-ctr -pbkdf2 -md sha256 -iter {ITERATIONS} -pass file:{programs.keys}/passphrase"
        lines = [f"{words} -in text -out out", f"{words} -d -in out -out back"]
        peers.append(Peer(f"`openssl enc`: PBKDF2, {ITERATIONS:,} times", *(shell(line, home) for line in lines)))
    return Case("1 MiB under a passphrase of least cost", home, peers, rounds)


def start(programs: Programs, home: Path, rounds: int) -> Case:
    """From the start of the program to its end, without a shell."""
    one_file(home, SMALL)

    def peer(name: str, seal: str, opening: str) -> Peer:
        return Peer(name, direct(seal.split(), home), direct(opening.split(), home))

    peers = [
        peer("sealwright", f"{programs.own('seal')} text -o out", f"{programs.own('open')} out -o back"),
        peer("`cp`", "cp text out", "cp out back"),
    ]
    for name in programs.public:
        peers.append(peer(name, f"{programs.pair(name, 'seal')} -o out text", f"{programs.pair(name, 'open')} -o back out"))
    if programs.has("openssl"):
        words = [f"{programs.openssl('aes-256-ctr', way)} -in" for way in ("seal", "open")]
        peers.append(peer("`openssl enc`, aes-256-ctr", f"{words[0]} text -out out", f"{words[1]} out -out back"))
    return Case("one file of 4 KiB, from start to end", home, peers, rounds)
