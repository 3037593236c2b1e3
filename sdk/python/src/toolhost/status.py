"""What a call reports to people while it runs. The model receives none of it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["LogRecord", "Progress", "State", "Status"]


class State(enum.StrEnum):
    """The state of a call."""

    WAIT = "wait"
    """The arguments are incomplete, or the tool has not started its work."""
    DOING = "doing"
    """The tool works."""
    SUCCESS = "success"
    """The tool succeeded. This state is terminal."""
    ERROR = "error"
    """The tool failed. This state is terminal."""

    @property
    def rank(self) -> int:
        """The position in the order of states. The rank of a call never decreases."""
        return {State.WAIT: 1, State.DOING: 2}.get(self, 3)

    @property
    def terminal(self) -> bool:
        """Whether no other state follows."""
        return self in (State.SUCCESS, State.ERROR)


@dataclass(frozen=True)
class Progress:
    """How much of its work a call has done."""

    done: float
    """The amount done, in a unit that the tool chooses. It must not decrease."""
    total: float | None = None
    """The total amount, in the same unit. None if it is unknown."""
    message: str = ""
    """One line for people. May be empty."""


@dataclass(frozen=True)
class Status:
    """A change of what a call shows to people. A field that is None stays as it was."""

    state: State | None = None
    message: str | None = None
    """One line for people."""
    parameters: Mapping[str, Any] | None = None
    """A JSON object that is merged into the earlier one: objects recursively, all other values
    replaced."""
    progress: Progress | None = None
    result: Any = None
    """A JSON value that is shown to people."""


@dataclass(frozen=True)
class LogRecord:
    """One record of the log of a tool."""

    message: str
    level: int = 20
    """The level, as in the module `logging`: 10 debug, 20 info, 30 warning, 40 error."""
    time: datetime | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
