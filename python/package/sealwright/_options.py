"""Keyword arguments that a function does not take are refused with a hint."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar, cast

_Call = TypeVar("_Call", bound=Callable[..., Any])


def refuse_unknown(call: str, options: dict[str, Any], known: tuple[str, ...], elsewhere: str = "", others: tuple[str, ...] = ()) -> None:
    """Raises `TypeError` for an argument that is not among those `known`. `others` belong `elsewhere`."""
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            if name in others:
                hint = f"pass it {elsewhere}"
            raise TypeError(f"{call} takes no {name!r} (hint: {hint})")


def explained(elsewhere: str = "", others: tuple[str, ...] = ()) -> Callable[[_Call], _Call]:
    """Makes a function refuse unknown keyword arguments as `refuse_unknown` does. Its signature stays the same."""

    def decorate(function: _Call) -> _Call:
        known = tuple(inspect.signature(function).parameters)

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            refuse_unknown(function.__name__, options, known, elsewhere, others)
            return function(*args, **options)

        return cast(_Call, call)

    return decorate
