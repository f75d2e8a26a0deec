"""The programs that are compared: their paths, their versions, and keys for each."""

import shutil
import subprocess
from pathlib import Path

from measure import run

RAGE = "0.12.1"
IV = "00112233445566778899aabbccddeeff"
PASSPHRASE = "seven-words-that-nobody-will-ever-guess"


def build_rage() -> Path:
    """Builds rage if it is not there yet; returns the path of the program."""
    root = Path(__file__).resolve().parents[2] / "target" / "peers"
    words = ["cargo", "install", "rage", "--version", RAGE, "--locked", "--root", root]
    done = subprocess.run([str(word) for word in words], check=False)
    assert done.returncode == 0, f"rage {RAGE} was not built\nhint: it comes from crates.io; is the registry in reach?"
    return root / "bin" / "rage"


class Programs:
    """Paths, or None where a program is absent; keys are made in `keys`."""

    def __init__(self, sealwright: str, named: dict, keys: Path) -> None:
        self.ours = Path(sealwright).resolve()
        self.keys = keys
        self.found = {name: shutil.which(named.get(name) or name) for name in ("rage", "age", "openssl", "tar", "zstd")}
        self.found = {name: str(Path(path).resolve()) if path else None for name, path in self.found.items()}
        (keys / "my.pub").write_bytes(subprocess.check_output([self.ours, "key", "new", "--pair", "-o", keys / "my.id"]))
        run([self.ours, "key", "new", "-o", keys / "my.key"])
        (keys / "passphrase").write_text(PASSPHRASE + "\n")
        self.public = {}
        for name in ("rage", "age"):
            program = self.found[name]
            if program:
                keygen = Path(program).with_name(name + "-keygen")
                run([keygen, "-o", keys / f"{name}.key"])
                self.public[name] = subprocess.check_output([keygen, "-y", keys / f"{name}.key"], text=True).strip()

    def has(self, *names: str) -> bool:
        return all(self.found[name] for name in names)

    def own(self, verb: str) -> str:
        """Ours with a raw key and every default, so that outputs are synced."""
        return f"{self.ours} {verb} -q --key-file {self.keys}/my.key"

    def pair(self, name: str, way: str) -> str:
        """age or rage with a key pair, up to the names of files."""
        program = self.found[name]
        return f"{program} -r {self.public[name]}" if way == "seal" else f"{program} -d -i {self.keys}/{name}.key"

    def openssl(self, cipher: str, way: str) -> str:
        key = (self.keys / "my.key").read_text().strip()
        return f"{self.found['openssl']} enc{' -d' if way == 'open' else ''} -{cipher} -K {key} -iv {IV}"

    def versions(self) -> list[str]:
        asked = {"rage": "--version", "age": "--version", "openssl": "version", "tar": "--version", "zstd": "--version"}
        lines = [first_line([self.ours, "--version"]), first_line(["cp", "--version"])]
        for name, word in asked.items():
            program = self.found[name]
            said = first_line([program, word]).strip("* ") if program else "absent, left out"
            lines.append(said if name in said.lower() or "zstandard" in said.lower() else f"{name} {said}")
        return lines


def first_line(words: list) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().splitlines()[0]
