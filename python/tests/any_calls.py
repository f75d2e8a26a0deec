"""The walk of `test_any_calls.py`: python any_calls.py SEED CALLS [planted]."""

import array
import inspect
import io
import random
import resource
import sys

import numpy
import sealwright
from sealwright import _sealwright

KEYS = [bytes([0x5A + number]) * 32 for number in range(3)]
NAMES = [*sealwright.suites(), "gcm-on64", "gscm-on64", "chacha", "clear", "", "a\0b", "\ud800", "ä" * 300]
SIZES = [0, 1, 5, 12, 15, 16, 17, 24, 28, 32, 39, 40, 64, 100, 4096, 70_000]
NUMBERS = [0, 1, 2, 3, 7, 8, 12, 16, 128, 192, 256, 1000, -1, 2**16, 2**31, 2**32 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), 10**40]
# Memory that one call may ask for: more is a MemoryError, and nothing that the machine has to swap.
MOST = 4 << 30
KINDS = (TypeError, ValueError, OverflowError, BufferError, OSError, MemoryError, IndexError, EOFError, StopIteration, sealwright.Error)


class Unwilling(Exception):
    """What objects raise that fail at everything."""


class Failing:
    """Fails at whatever is asked of it."""

    def __getattr__(self, name):
        raise Unwilling(name)

    def __len__(self):
        raise Unwilling("len")

    def __index__(self):
        raise Unwilling("index")

    def __iter__(self):
        raise Unwilling("iter")

    def __getitem__(self, at):
        raise Unwilling("item")

    def __fspath__(self):
        raise Unwilling("path")

    def read(self, *_):
        raise Unwilling("read")

    def write(self, *_):
        raise Unwilling("write")

    def seek(self, *_):
        raise Unwilling("seek")


class Lying(io.BytesIO):
    """A file that reads too much or text, writes other numbers than it wrote, and says it is anywhere."""

    def __init__(self, chance):
        super().__init__(bytes(100))
        self.chance = chance

    def read(self, size=-1):
        return self.chance.choice([b"x" * (max(size, 0) % 100_000 + 1), "text", None, 5, super().read(size)])

    def write(self, data):
        return self.chance.choice([super().write(data), -1, 2**70, None, "x", len(data) + 1])

    def seek(self, *_):
        return self.chance.choice([0, -1, 2**70, None, "x"])


class Long:
    """A sequence that has more items than it says, without end."""

    def __len__(self):
        return 3

    def __getitem__(self, at):
        return bytes(12) if at == 0 else None


def given(chance, made):
    """Any argument."""
    size = chance.choice(SIZES)
    match chance.randrange(20):
        case 0:
            return None
        case 1:
            return chance.choice([True, 1.5, float("nan"), object(), int, ..., {1: 2}, {1, 2}, NotImplemented])
        case 2 | 3:
            return chance.choice(NUMBERS)
        case 4 | 5:
            return chance.choice(NAMES)
        case 6:
            return chance.choice(["a", "b", "c/d", "", ".", "/dev/null", b"a", sys])
        case 7 | 8 | 9 | 10:
            return chance.randbytes(size)
        case 11:
            return bytearray(size)
        case 12:
            return memoryview(bytearray(size))[:: chance.choice([1, 2, -1])]
        case 13:
            rows = numpy.zeros((chance.randrange(4), chance.choice([0, 12, 16, 28, 32])), dtype=chance.choice(["u1", "i4", "f8"]))
            return chance.choice([rows, rows.T, array.array("I", [1, 2, 3])])
        case 14:
            many = [given(chance, made) for _ in range(chance.randrange(4))]
            return chance.choice([many, tuple(many), iter(many), [bytes(12)] * 2, [b"text"] * 2, [0, 1], (8, 1, 1)])
        case 15:
            return chance.choice([io.BytesIO(chance.randbytes(size)), io.StringIO("x"), Lying(chance), Failing(), Long()])
        case _:
            return chance.choice(made) if made else None


def choices(made):
    """What can be called or read: names and where they are, of the module and of what was made."""
    yield from ((sealwright, name) for name in (*sealwright.__all__, "open"))
    for name in ("SealedReader", "SealedWriter", "text_bytes", "smp_names", "smp_digest", "smp_read", "smp_write"):
        yield _sealwright, name
    for thing in made:
        if type(thing).__module__.startswith("sealwright") and not isinstance(thing, BaseException):
            for name in dir(thing):
                if not name.startswith("_") or name in ("__len__", "__repr__", "__hash__", "__bytes__", "__next__", "__exit__"):
                    yield thing, name


def parameters(call):
    try:
        return [parameter for parameter in inspect.signature(call).parameters.values()]
    except (TypeError, ValueError):
        return None


# Arguments that most calls of a name can use, so that walks get beyond the checks of arguments.
FITTING = {
    "key": lambda chance, made: chance.choice(KEYS),
    "nonce": lambda chance, made: bytes(chance.choice([12, 12, 12, 24])),
    "suite": lambda chance, made: chance.choice(sealwright.suites()),
    "bit_length": lambda chance, made: chance.choice([128, 256]),
    "data": lambda chance, made: chance.randbytes(chance.choice(SIZES)),
    "associated_data": lambda chance, made: chance.choice([None, b"", b"ad"]),
    "source": lambda chance, made: chance.choice(["a", "b", io.BytesIO(chance.randbytes(chance.choice(SIZES)))]),
    "target": lambda chance, made: chance.choice(["a", "b", io.BytesIO(), Lying(chance)]),
    "path": lambda chance, made: chance.choice(["a", "b", "k"]),
    "file": lambda chance, made: chance.choice(["a", "b", io.BytesIO(chance.randbytes(chance.choice(SIZES)))]),
    "mode": lambda chance, made: chance.choice(["rb", "wb", "xb"]),
    "slots": lambda chance, made: chance.choice([1, 2, 100]),
    "slot": lambda chance, made: chance.choice([0, 1, 2]),
    "to": lambda chance, made: chance.choice([0, 1, 2]),
    "address": lambda chance, made: chance.choice([0, 1, 2]),
    "passphrase": lambda chance, made: "swordfish",
    "costs": lambda chance, made: (8, 1, 1),
    "force": lambda chance, made: chance.choice([True, False]),
    "buf": lambda chance, made: bytearray(chance.choice(SIZES)),
    "scheme": lambda chance, made: chance.choice(["gcm-on64", "gcm-on", "gscm-on64"]),
    "line": lambda chance, made: 64,
    "most": lambda chance, made: chance.choice([0, 1, 1000]),
}


def arguments(chance, call, made):
    known = parameters(call)
    if known is None or chance.random() < 0.1:
        return [given(chance, made) for _ in range(chance.randrange(4))], {}
    positional, named = [], {}
    for parameter in known:
        # An option is left out more often than not.
        if parameter.default is not inspect.Parameter.empty and chance.random() < 0.7:
            continue
        fits = FITTING.get(parameter.name)
        value = fits(chance, made) if fits and chance.random() < 0.7 else given(chance, made)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional.extend(given(chance, made) for _ in range(chance.randrange(3)))
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY or named:
            named[parameter.name] = value
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY or len(positional) == known.index(parameter):
            positional.append(value)
        else:
            named[parameter.name] = value
    return positional, named


def takes_long(named):
    """Whether it would take as long as its costs demand, which is no fault."""
    costs = named.get("costs")
    return isinstance(costs, (list, tuple)) and any(isinstance(cost, int) and cost > 64 for cost in costs)


def walk(seed, calls, planted):
    chance, made = random.Random(seed), []
    returned = raised = 0
    while returned + raised < calls:
        holder, name = chance.choice(list(choices(made[-chance.randrange(1, 8) :])))
        args, named = [], {}
        try:
            result = getattr(holder, name)
            if callable(result):
                args, named = arguments(chance, result, made)
                if takes_long(named):
                    continue
                result = result(*args, **named)
            if planted and returned == calls // 20:
                raise BaseException("planted")
            returned += 1
        except (*KINDS, Unwilling) as error:
            raised += 1
            text = str(error).encode(errors="backslashreplace")
            # A key, as text, bytes or numbers in hexadecimal
            for key in KEYS:
                if key[:8] in text or key[:8].hex().encode() in text:
                    raise AssertionError(f"{name} shows a key: {error}") from error
            continue
        except BaseException as error:
            raise AssertionError(f"call {returned + raised}: {holder!r:.80}.{name}(*{args!r:.500}, **{named!r:.500})") from error
        if result is not None and not isinstance(result, (bool, int, float)):
            made.append(result)
            del made[: max(0, len(made) - 60)]
    print(returned + raised, returned, raised)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    walk(int(sys.argv[1]), int(sys.argv[2]), "planted" in sys.argv[3:])
