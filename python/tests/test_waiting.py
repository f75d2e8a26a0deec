"""Long calls: other threads run meanwhile, also those that want the same object."""

import threading
import time

import pytest
import sealwright

KEY = bytes(range(32))


def stood_still(long, *others):
    """How long a thread of its own could not run at once while `long` ran, by that call's time; and what `others` raised, which are called
    by threads of theirs meanwhile."""
    ended, errors, times, gaps = threading.Event(), [], [], []

    def tick():
        last = time.perf_counter()
        while not ended.is_set():
            time.sleep(0.001)
            gaps.append(time.perf_counter() - last)
            last += gaps[-1]

    def work(call):
        start = time.perf_counter()
        try:
            call()
        except Exception as error:
            errors.append(error)
        times.append((call, time.perf_counter() - start))

    ticking, first, *rest = [threading.Thread(target=tick), *(threading.Thread(target=work, args=(call,)) for call in (long, *others))]
    ticking.start()
    first.start()
    time.sleep(0.01)
    for thread in rest:
        thread.start()
    first.join()
    ended.set()
    for thread in (ticking, *rest):
        thread.join()
    return max(gaps) / dict(times)[long], errors


def test_who_waits_for_a_sealer_holds_up_nobody_else():
    text, new = bytes(1 << 28), lambda kind: kind("serpent-256-gcm", KEY)
    sealer, opener, message = new(sealwright.Sealer), new(sealwright.Opener), new(sealwright.Sealer).seal(text)
    share, errors = stood_still(lambda: sealer.seal(text), lambda: sealer.seal(b"small"), lambda: repr(sealer))
    assert share < 0.35 and not errors and sealer.count == 2
    share, errors = stood_still(lambda: opener.open(message), lambda: opener.open(bytes(20)), lambda: repr(opener))
    assert share < 0.35 and [type(error) for error in errors] == [sealwright.InvalidTag] and opener.count == 1


def test_how_many_messages_there_were_is_told_at_once():
    text = bytes(1 << 26)
    for counts, long in (
        (sealer := sealwright.Sealer("serpent-256-gcm", KEY, start=7), lambda: sealer.seal(text)),
        (opener := sealwright.Opener("serpent-256-gcm", KEY, start=7), lambda: opener.open(text)),
    ):
        thread = threading.Thread(target=lambda: pytest.raises(sealwright.InvalidTag, long) if counts is opener else long())
        thread.start()
        time.sleep(0.02)
        assert counts.count == 7 and "7 messages" in repr(counts) and thread.is_alive()
        thread.join()
        assert counts.count == (8 if counts is sealer else 7)


def test_who_waits_for_sessions_holds_up_nobody_else():
    server = sealwright.Sessions(slots=1)
    # What is forged takes time, and gives nothing that would have to be copied for Python.
    forged = bytearray(sealwright.SessionClient(server.admit(0)).seal(0, bytes(60_000)))
    forged[-1] ^= 1
    slots, frames, shares = [0] * 8000, [forged] * 8000, []
    others = (lambda: server.open(0, forged), lambda: server.live, lambda: repr(server), lambda: server.blocks_left(0))
    for _ in range(3):
        share, errors = stood_still(lambda: server.open_batch(slots, frames), *others)
        assert [type(error) for error in errors] == [sealwright.InvalidTag]
        shares.append(share)
    assert min(shares) < 0.4
    assert (server.slots, server.scheme) == (1, "gcm-on64")


@pytest.mark.parametrize("kind", ["Sealer", "Opener", "RandomNonceKey.seal", "RandomNonceKey.open"])
def test_long_messages_are_copied_while_others_run(kind):
    text, key, shares = bytes(1 << 27), sealwright.RandomNonceKey(KEY, "aes-256-gcm"), []
    message = key.seal(text) if kind == "RandomNonceKey.open" else sealwright.Sealer("aes-256-gcm", KEY).seal(text)
    for _ in range(3):
        sealer, opener, kept = sealwright.Sealer("aes-256-gcm", KEY), sealwright.Opener("aes-256-gcm", KEY), []
        call = {
            "Sealer": lambda: sealer.seal(text),
            "Opener": lambda: opener.open(message),
            "RandomNonceKey.seal": lambda: key.seal(text),
            "RandomNonceKey.open": lambda: key.open(message),
        }[kind]
        # What is kept is given back to the system later, which takes time under the lock.
        shares.append(stood_still(lambda: kept.append(call()))[0])
        assert len(kept) == 1
    assert min(shares) < 0.15, shares
