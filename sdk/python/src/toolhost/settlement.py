"""What a tool says about an earlier call whose outcome is unknown."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, Self

__all__ = ["Settlement", "Verdict"]


class Verdict(enum.StrEnum):
    """Whether an earlier call had its effect."""

    HAPPENED = "happened"
    """The call had its whole effect. toolhost never executes it again."""
    DID_NOT_HAPPEN = "did_not_happen"
    """The call had no effect, and can have none later. toolhost may execute it under the same call
    id."""
    UNKNOWN = "unknown"
    """The tool does not know, or the call had a part of its effect."""


@dataclass(frozen=True)
class Settlement:
    """What a tool says about an earlier call; see `Plugin.tool`."""

    verdict: Verdict = Verdict.UNKNOWN
    result: Any = None
    """The result of a call that happened, as the tool would return it. None if the tool knows only
    that the call happened."""
    reason: str = ""
    """How the tool knows, in one line for people and models. May be empty."""

    @classmethod
    def happened(cls, result: Any = None, *, reason: str = "") -> Self:
        """Say that the call had its whole effect. toolhost never executes it again."""
        return cls(Verdict.HAPPENED, result, reason)

    @classmethod
    def did_not_happen(cls, *, reason: str = "") -> Self:
        """Say that the call had no effect, and can have none later.

        toolhost may execute it under the same call id. In doubt, use `unknown`.
        """
        return cls(Verdict.DID_NOT_HAPPEN, None, reason)

    @classmethod
    def unknown(cls, *, reason: str = "") -> Self:
        """Say that the tool does not know, or that the call had a part of its effect."""
        return cls(Verdict.UNKNOWN, None, reason)
