"""What a call shows to people while it runs. None of it reaches the model."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["LogRecord", "Progress", "State", "Status"]


class State(enum.StrEnum):
    """Where a call stands."""

    WAIT = "wait"
    """The arguments are not complete yet, or the work has not begun."""
    DOING = "doing"
    """At work."""
    SUCCESS = "success"
    """Ended well. Nothing comes after it."""
    ERROR = "error"
    """Ended badly. Nothing comes after it."""

    @property
    def rank(self) -> int:
        """The place among the states: a call never goes back to a lower one."""
        return {State.WAIT: 1, State.DOING: 2}.get(self, 3)

    @property
    def terminal(self) -> bool:
        """Whether nothing comes after it."""
        return self in (State.SUCCESS, State.ERROR)


@dataclass(frozen=True)
class Progress:
    """How far a call is."""

    done: float
    """The amount done, in units of the tool's choice. Never falls."""
    total: float = 0.0
    """The amount in all, in the same unit. 0 means unknown."""
    message: str = ""
    """One line for people. May be empty."""


@dataclass(frozen=True)
class Status:
    """What changed. What is not set stays as it was."""

    state: State | None = None
    tip: str = ""
    """One line for people."""
    parameters: Mapping[str, Any] | None = None
    """Merged into those so far: objects deeply, all else replaced."""
    progress: Progress | None = None
    result: Any = None
    """A value for people to look at."""


@dataclass(frozen=True)
class LogRecord:
    """A line of a tool's log."""

    message: str
    level: int = 20
    """How grave it is, as the levels of the module `logging`: 10 debug, 20 info, 30 warning, 40 error."""
    time: datetime | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
