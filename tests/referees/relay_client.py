"""A client of the relay from docs/RELAY_PROTOCOL.md alone: sessions over TLS, frames with pyca/cryptography, streams,
and streams that are sealed end to end.

    python relay_client.py PATH_TO_SEALWRIGHT

Starts a relay of its own on loopback. Prints what was checked; exits 1 at the first disagreement.
"""

import json
import os
import select
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from support.end_to_end import EndToEnd, Plain, pair

SCHEMES = {0x0500: 16, 0x8500: 32, 0x0600: 16, 0x8600: 32}  # gcm-on64 and gcm-derived: bytes of the key
DATA, END, ACK, ACK_END, BYE, OPEN = 1, 2, 3, 4, 5, 6
WINDOW, SAFE = 256 << 10, 1100


class Relay:
    """`sealwright serve` with a trial configuration."""

    def __init__(self, program: str, folder: Path, scheme: str) -> None:
        self.folder = folder / "trial"
        names = [word for name in ("alice", "bob") for word in ("--client", name)]
        subprocess.run([program, "serve", "--init", self.folder, *names], check=True, stdout=subprocess.DEVNULL)
        config = self.folder / "relay.toml"
        text = config.read_text().replace('"gcm-on64"', f'"{scheme}"')
        for port in ("7600", "7601", "7602"):
            text = text.replace(f":{port}", ":0")
        config.write_text(text)
        self.process = subprocess.Popen([program, "serve", config], stderr=subprocess.PIPE)
        serving = json.loads(self.process.stderr.readline())
        self.control = int(serving["control"].rsplit(":", 1)[1])
        for name in ("alice", "bob"):
            file = self.folder / f"{name}.toml"
            file.write_text(file.read_text().replace("7601", str(self.control)))

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()


class Control:
    """The control plane: one JSON object a line over TLS 1.3."""

    def __init__(self, relay: Relay, name: str) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_verify_locations(relay.folder / "authority.pem")
        context.load_cert_chain(relay.folder / f"{name}.pem", relay.folder / f"{name}.key")
        stream = socket.create_connection(("localhost", relay.control))
        self.stream = context.wrap_socket(stream, server_hostname="localhost")
        self.lines = self.stream.makefile("rb")

    def ask(self, **request: str) -> dict:
        self.stream.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(self.lines.readline())


class Direction:
    """The keys of one direction, from the grant."""

    def __init__(self, scheme: int, flow: bytes) -> None:
        self.cipher = AESGCM(flow[: SCHEMES[scheme]])
        self.prefix = flow[64:68]
        (self.number,) = struct.unpack(">Q", flow[68:76])


class Session:
    """A session and its connection."""

    def __init__(self, relay: Relay, name: str) -> None:
        control = Control(relay, name)
        opened = control.ask(open=name)["opened"]
        grant = bytes.fromhex(opened["grant"])
        assert len(grant) == 160
        scheme, self.epoch, self.session = struct.unpack(">HHI", grant[:8])
        assert self.session == opened["session"]
        self.up, self.down = Direction(scheme, grant[8:84]), Direction(scheme, grant[84:160])
        self.address = struct.pack(">II", opened["session"], opened["generation"])
        self.seen: set[int] = set()
        self.stream = socket.create_connection(("127.0.0.1", opened["port"]))
        self.buffer = b""
        self.send(self.address, b"")
        assert self.receive() == (self.address, b""), "a frame to oneself comes back"

    def sealed(self, to: bytes, data: bytes) -> bytes:
        self.up.number += 1
        payload = to + data
        header = struct.pack(">BBHIQ", 0x11, self.epoch % 16, len(payload), self.session, self.up.number)
        nonce = self.up.prefix + struct.pack(">Q", self.up.number)
        return header + self.up.cipher.encrypt(nonce, payload, header)

    def send(self, to: bytes, data: bytes) -> None:
        self.stream.sendall(self.sealed(to, data))

    def frame(self) -> bytes | None:
        """The next complete frame that arrived."""
        if len(self.buffer) < 16:
            return None
        length = 16 + struct.unpack(">H", self.buffer[2:4])[0] + 16
        if len(self.buffer) < length:
            return None
        frame, self.buffer = self.buffer[:length], self.buffer[length:]
        return frame

    def opened(self, frame: bytes) -> tuple[bytes, bytes]:
        kind, phase, _, session, number = struct.unpack(">BBHIQ", frame[:16])
        assert (kind, phase, session) == (0x11, self.epoch % 16, self.session)
        assert number > self.down.number and number not in self.seen, "each number once"
        self.seen.add(number)
        payload = self.down.cipher.decrypt(self.down.prefix + frame[8:16], frame[16:], frame[:16])
        return payload[:8], payload[8:]

    def receive(self) -> tuple[bytes, bytes]:
        while (frame := self.frame()) is None:
            ready, _, _ = select.select([self.stream], [], [], 20)
            assert ready, "nothing came"
            more = self.stream.recv(1 << 16)
            assert more, "the relay closed the connection"
            self.buffer += more
        return self.opened(frame)

    def all(self, wait: float) -> list[tuple[bytes, bytes]]:
        """What arrives within so many seconds."""
        if select.select([self.stream], [], [], wait)[0]:
            more = self.stream.recv(1 << 16)
            assert more, "the relay closed the connection"
            self.buffer += more
        frames = iter(self.frame, None)
        return [self.opened(frame) for frame in frames]


def find(relay: Relay, me: str, other: str) -> bytes:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        answer = Control(relay, me).ask(find=other)
        if "found" in answer:
            return struct.pack(">II", answer["found"]["session"], answer["found"]["generation"])
        time.sleep(0.05)
    raise AssertionError(f"{other} never came: {answer}")


def exchange(session: Session, peer: bytes, me: str, other: str, ends: Plain | EndToEnd) -> None:
    """Sends what `ends` has to send to a peer, and gives it what the peer sends."""
    mine = os.urandom(8)
    ours, theirs = f"{me}\n{other}".encode(), f"{other}\n{me}".encode()

    def message(kind: int, stream: bytes, offset: int, rest: bytes = b"") -> None:
        session.send(peer, bytes([kind]) + stream + struct.pack(">Q", offset) + rest)

    base, next_, piece, again, open_due, end_sent, end_taken = 0, 0, SAFE, time.monotonic(), True, False, False
    received, their_stream, their_end, bye = 0, None, None, False
    until = time.monotonic() + 60
    while not (end_taken and their_end == received and bye):
        assert time.monotonic() < until, "the streams never end"
        if time.monotonic() > again and not end_taken:
            next_, open_due, end_sent, again = base, True, False, time.monotonic() + 0.25
        if open_due and not end_taken:
            message(OPEN, mine, 0, ours)
            open_due = False
        while next_ < len(ends.out) and next_ - base < WINDOW:
            part = bytes(ends.out[next_ : next_ + min(piece, 8192)])
            message(DATA, mine, next_, part)
            next_ += len(part)
            if select.select([session.stream], [], [], 0)[0]:
                break
        if ends.ended and next_ == len(ends.out) and not end_sent and not end_taken:
            message(END, mine, next_)
            end_sent = True
        due = False
        for sender, data in session.all(0.01):
            if sender != peer:
                continue
            kind, stream, (offset,), rest = data[0], data[1:9], struct.unpack(">Q", data[9:17]), data[17:]
            if kind in (ACK, ACK_END) and stream == mine:
                (piece,) = struct.unpack(">H", rest[:2])
                if offset > base:
                    base, again = offset, time.monotonic() + 0.25
                end_taken = end_taken or (kind == ACK_END and ends.ended and offset == len(ends.out))
            elif kind == OPEN and rest == theirs:
                their_stream = their_stream or stream
                due = True
            elif stream == their_stream and kind in (DATA, END, BYE):
                due = kind != BYE or due
                if kind == DATA and offset == received:
                    ends.take(rest)
                    received += len(rest)
                elif kind == END and offset == received:
                    their_end = offset
                bye = bye or kind == BYE
        if due:
            whole = their_end == received
            message(ACK_END if whole else ACK, their_stream, received, struct.pack(">H", 8192))
            if whole and end_taken:
                message(BYE, mine, next_)
    message(BYE, mine, next_)


def check_frames(relay: Relay, folder: Path) -> None:
    alice, bob = Session(relay, "alice"), Session(relay, "bob")
    assert find(relay, "alice", "bob") == bob.address
    for length in (0, 1, 40, 1500, 16000):
        text = os.urandom(length)
        alice.send(bob.address, text)
        assert bob.receive() == (alice.address, text)
    # Changed, repeated, or for a former owner of the number: nothing comes of them
    forged = bytearray(alice.sealed(bob.address, b"forged"))
    forged[20] ^= 1
    alice.stream.sendall(bytes(forged))
    once = alice.sealed(bob.address, b"once")
    alice.stream.sendall(once + once)
    alice.send(bob.address[:4] + bytes(4), b"former owner")
    alice.send(bob.address, b"last")
    assert [bob.receive()[1] for _ in range(2)] == [b"once", b"last"]
    # A thousand packets late, and once
    late = [alice.sealed(bob.address, struct.pack(">I", at)) for at in range(1024)]
    alice.stream.sendall(b"".join(reversed(late)) + late[0])
    assert [struct.unpack(">I", bob.receive()[1])[0] for _ in late] == list(reversed(range(1024)))
    assert "refused" in Control(relay, "alice").ask(open="bob")
    assert "refused" in Control(relay, "alice").ask(find="mallory")


def check_streams(relay: Relay, program: str, folder: Path, sizes: tuple[int, int], sealed: bool) -> None:
    here, there = (os.urandom(size) for size in sizes)
    (folder / "there").write_bytes(there)
    command, ends = [program, "client", relay.folder / "bob.toml", "--to", "alice"], Plain(here)
    if sealed:
        seed, public = pair()
        other = folder / f"bob{len(list(folder.glob('bob*')))}.id"
        made = subprocess.run([program, "key", "new", "--pair", "-o", other], check=True, capture_output=True, text=True)
        ends = EndToEnd(seed, made.stdout.strip(), ("alice", "bob"), here)
        command += ["--end-to-end", public, "-i", other]
    with open(folder / "there", "rb") as source, open(folder / "copy", "wb") as copy:
        with subprocess.Popen(command, stdin=source, stdout=copy) as bob:
            session = Session(relay, "alice")
            exchange(session, find(relay, "alice", "bob"), "alice", "bob", ends)
            assert bob.wait(60) == 0, "the client of Sealwright fails"
    assert bytes(ends.text) == there, "what came is not what was sent"
    assert (folder / "copy").read_bytes() == here, "what was sent is not what came"
    if sealed:
        assert ends.confirmed, "no receipt came"
        assert len(here) < 100 or here[:40] not in ends.out, "the text is on the way in clear"
        assert ends.rekeyed == (sizes[1] > 64 << 20), "new keys after 64 MiB"


def main() -> None:
    program = sys.argv[1]
    for scheme in ("gcm-on64", "gcm-on64-256", "gcm-derived"):
        with tempfile.TemporaryDirectory() as folder:
            relay = Relay(program, Path(folder), scheme)
            try:
                check_frames(relay, Path(folder))
                for sizes in ((0, 0), (3_000_000, 0), (1, 2_000_000)):
                    check_streams(relay, program, Path(folder), sizes, sealed=False)
                    check_streams(relay, program, Path(folder), sizes, sealed=True)
                if scheme == "gcm-on64":
                    check_streams(relay, program, Path(folder), (0, 70_000_000), sealed=True)
            finally:
                relay.stop()
        print(f"relay, {scheme}: frames, streams and sealed streams agree")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        print(f"relay: DISAGREE: {error}", file=sys.stderr)
        sys.exit(1)
