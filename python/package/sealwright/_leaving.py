"""Whether something is closed because an exception leaves a `with` statement."""

from __future__ import annotations

import opcode
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType, TracebackType

_LEAVES = opcode.opmap.get("WITH_EXCEPT_START")  # What calls `__exit__` with an exception.


def _left(frame: FrameType | None, came: BaseException) -> int:
    """How many `with` statements `came` leaves that `frame` runs in: where such a statement is, it calls its `__exit__`. In a clause of
    `except` or `finally`, the exception is where that clause is. One that is raised again by a bare `raise` stays where it was."""
    there, count = came.__traceback__.tb_frame if came.__traceback__ else None, 0
    while frame is not None:
        count += frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == _LEAVES
        if frame is there:
            return count
        frame = frame.f_back
    return 0


class Before:
    """What was under way when a file was opened, which says nothing about what is written."""

    def __init__(self) -> None:
        self._came = sys.exc_info()[1]
        self._at: TracebackType | None = self._came.__traceback__ if self._came else None
        self._left = _left(sys._getframe(1), self._came) if self._came else 0

    def leaves(self) -> bool:
        """Whether an exception leaves a `with` statement now, and did not then."""
        came = sys.exc_info()[1]
        if came is None:
            return False
        same = came is self._came and came.__traceback__ is self._at
        return _left(sys._getframe(1), came) > (self._left if same else 0)
