"""Detects whether something is closed because an exception leaves a `with` statement."""

from __future__ import annotations

import opcode
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType, TracebackType

_LEAVES = opcode.opmap.get("WITH_EXCEPT_START")  # What calls `__exit__` with an exception.


def _left(frame: FrameType | None, came: BaseException) -> int:
    """How many `with` statements around `frame` the exception `came` is leaving: such a statement is then calling its `__exit__`. In an
    `except` or `finally` clause, the exception is located at that clause. One that a bare `raise` re-raises keeps its location."""
    there, count = came.__traceback__.tb_frame if came.__traceback__ else None, 0
    while frame is not None:
        count += frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == _LEAVES
        if frame is there:
            return count
        frame = frame.f_back
    return 0


class Before:
    """The exception that was being handled when a file was opened, which says nothing about what is written to the file."""

    def __init__(self) -> None:
        self._came = sys.exc_info()[1]
        self._at: TracebackType | None = self._came.__traceback__ if self._came else None
        self._left = _left(sys._getframe(1), self._came) if self._came else 0

    def leaves(self) -> bool:
        """Whether an exception is leaving a `with` statement now that was not doing so then."""
        came = sys.exc_info()[1]
        if came is None:
            return False
        same = came is self._came and came.__traceback__ is self._at
        return _left(sys._getframe(1), came) > (self._left if same else 0)
