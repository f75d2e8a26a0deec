"""Sessions of very many clients, and their other ends."""

import resource
import struct
import subprocess
import sys

import pytest
import sealwright
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sealwright import SessionClient, Sessions


@pytest.mark.parametrize("scheme", ["gcm-on64", "gcm-derived", "gscm-h", "clear"])
def test_through_a_server_and_back(scheme):
    research = scheme == "clear"
    server = Sessions(scheme, slots=1000, research=research)
    alice, bob = (SessionClient(server.admit(slot), research=research) for slot in (7, 8))
    for text in (b"hello, bob", b"", bytes(60_000)):
        to, data = server.open(7, alice.seal(8, text))
        assert (to, data) == (8, text)
        assert bob.open(server.seal(to, 7, data)) == (7, text)
    assert (server.live, server.slots, server.scheme) == (2, 1000, scheme)
    assert server.blocks_left(7) < 2**32 and server.blocks_left(9) is None
    server.remove(7)
    with pytest.raises(sealwright.Error, match="no such session"):
        server.open(7, alice.seal(8, b"late"))
    assert server.live == 1


def test_what_is_forged_or_replayed_is_refused():
    server = Sessions(slots=10)
    client = SessionClient(server.admit(3))
    frame = client.seal(4, b"text")
    forged = bytearray(frame)
    forged[-1] ^= 1
    with pytest.raises(sealwright.InvalidTag):
        server.open(3, forged)
    assert server.open(3, frame) == (4, b"text")
    with pytest.raises(sealwright.Replayed, match="seen before"):
        server.open(3, frame)
    with pytest.raises(ValueError, match="cut short"):
        server.open(3, b"too short")
    with pytest.raises(ValueError, match="longer"):
        client.seal(4, bytes(70_000))
    with pytest.raises(sealwright.Error, match="no such session"):
        server.open(5, frame)
    # New keys: what was sealed under the old ones is refused.
    server.admit(3)
    with pytest.raises(sealwright.Replayed, match="old keys"):
        server.open(3, client.seal(4, b"text"))


def test_many_frames_in_one_call():
    server = Sessions(slots=100)
    clients = [SessionClient(server.admit(slot)) for slot in range(100)]
    frames = [client.seal(number, b"packet %d" % number) for number, client in enumerate(clients)]
    frames[17] = bytes(len(frames[17]))
    opened = server.open_batch(range(100), frames)
    assert opened[17] is None
    assert [each for number, each in enumerate(opened) if number != 17] == [
        (number, b"packet %d" % number) for number in range(100) if number != 17
    ]
    with pytest.raises(ValueError, match="slots and frames must have the same length, not 1 and 2"):
        server.open_batch([1], frames[:2])


def test_many_frames_are_sealed_in_one_call():
    server = Sessions(slots=10)
    # The session of slot 3 has another number; slot 5 has none.
    clients = [SessionClient(server.admit(slot, 70 if slot == 3 else slot)) for slot in range(4)]
    texts = [b"for %d" % slot for slot in range(4)]
    sealed = server.seal_batch([0, 1, 2, 3, 5, 0], [7, 8, 9, 10, 11, 12], [*texts, b"", bytearray(b"again")], sessions=[0, 1, 2, 70, 5, 0])
    assert sealed[4] is None
    opened = [client.open(frame) for client, frame in zip([*clients, clients[0]], [*sealed[:4], sealed[5]])]
    assert opened == [*zip([7, 8, 9, 10], texts), (12, b"again")]
    assert clients[1].open(server.seal_batch([1], [2], [b"one"])[0]) == (2, b"one") and server.seal_batch([], [], []) == []
    # What is too long is refused before any is sealed.
    left = server.blocks_left(1)
    with pytest.raises(ValueError, match="longer"):
        server.seal_batch([1, 1], [2, 2], [b"one", bytes(65_500)])
    for odd in ({"slots": [1]}, {"addresses": [2]}, {"sessions": [1]}):
        with pytest.raises(ValueError, match=f"{next(iter(odd))} and data must have the same length, not 1 and 2"):
            server.seal_batch(**{"slots": [1, 1], "addresses": [2, 2], "data": [b"one", b"two"], **odd})
    assert server.blocks_left(1) == left


def test_long_frames_are_refused_and_not_copied():
    server = Sessions(slots=10)
    client = SessionClient(server.admit(1))
    frames = [client.seal(3, b"packet"), bytes(65_536), client.seal(3, bytes(65_535 - 36))]
    assert len(frames[2]) == 65_535
    assert server.open_batch([1] * 3, frames) == [(3, b"packet"), None, (3, bytes(65_535 - 36))]
    with pytest.raises(ValueError, match="longer"):
        server.open(1, bytes(65_536))
    # A GiB of them takes no memory.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    long = bytes(64 << 20)
    assert server.open_batch([1] * 17, [long] * 16 + [client.seal(3, b"packet")]) == [None] * 16 + [(3, b"packet")]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


def test_a_batch_for_which_there_is_no_memory():
    """In another process, because its memory is limited."""
    program = (
        "import resource, sealwright\n"
        "server = sealwright.Sessions(slots=10)\n"
        "frame = bytes(65_535)\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + (64 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size, size))\n"
        "try: server.open_batch([1] * 4000, [frame] * 4000)\n"
        "except MemoryError: print('no memory')\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert (said.returncode, said.stdout) == (0, "no memory\n"), said.stderr


def test_a_short_frame_stops_no_other():
    """A client may seal less than an address; that is its own affair."""
    server = Sessions(slots=10)
    honest, grant = SessionClient(server.admit(1)), server.admit(2)
    _, epoch, session = struct.unpack(">HHI", grant[:8])
    key, prefix, base = grant[8:24], grant[72:76], int.from_bytes(grant[76:84], "big")

    def frame(number, payload):
        header = struct.pack(">BBHIQ", 0x11, epoch & 15, len(payload), session, base + number)
        return header + AESGCM(key).encrypt(prefix + struct.pack(">Q", base + number), payload, header)

    assert server.open(2, frame(1, b"\0\0\0\7text")) == (7, b"text")
    frames = [honest.seal(3, b"packet"), *(frame(10 + length, bytes(length)) for length in range(5)), honest.seal(3, b"")]
    assert server.open_batch([1, 2, 2, 2, 2, 2, 1], frames) == [(3, b"packet"), None, None, None, None, (0, b""), (3, b"")]
    with pytest.raises(ValueError, match="cut short"):
        server.open(2, frame(30, b"\0\0\0"))


def test_what_does_not_protect_is_asked_for():
    grant = Sessions("clear", slots=1, research=True).admit(0)
    with pytest.raises(ValueError, match="clear is for research only.*research=True"):
        Sessions("clear", slots=1)
    with pytest.raises(ValueError, match="clear is for research only.*research=True"):
        SessionClient(grant)
    assert SessionClient(grant, research=True).session == 0


def test_arguments():
    with pytest.raises(ValueError):
        Sessions("rot-13", slots=1)
    server = Sessions(slots=2)
    with pytest.raises(sealwright.Error, match="no such session"):
        server.admit(2)
    with pytest.raises(ValueError, match="the length of material is 3, and it must be 88"):
        server.admit(0, material=bytes(3))
    with pytest.raises(ValueError, match="not a grant"):
        SessionClient(bytes(5))
    # Both ends of a key exchange make the same of it.
    material = bytes(range(88))
    grant = server.admit(1, 77, material=material)
    assert SessionClient(grant).session == 77
    assert server.bytes_per_client > 0 and "2 slots" in repr(server)
