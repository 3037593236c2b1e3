"""The two kinds of errors: what a model reads, and failures of the machinery.

A tool raises `ToolError` to tell the model what went wrong; that is a result. Everything else is a `ToolhostError`,
whose kind says what to do about it. Tools raise them, too: `raise Unavailable("the service is down", retry_after=30)`.
Clients raise nothing else.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar

__all__ = [
    "ApprovalRequired",
    "Cancelled",
    "Conflict",
    "Crashed",
    "Denied",
    "Exit",
    "Internal",
    "InvalidArgument",
    "Kind",
    "NotFound",
    "OutcomeUnknown",
    "RateLimited",
    "Timeout",
    "ToolError",
    "ToolhostError",
    "Unavailable",
]


class Kind(enum.StrEnum):
    """What kind of failure of the machinery it is."""

    INVALID_ARGUMENT = "invalid_argument"
    NOT_FOUND = "not_found"
    DENIED = "denied"
    APPROVAL_REQUIRED = "approval_required"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    CRASHED = "crashed"
    UNAVAILABLE = "unavailable"
    OUTCOME_UNKNOWN = "outcome_unknown"
    CONFLICT = "conflict"
    INTERNAL = "internal"


class ToolError(Exception):
    """The tool failed in a way that the model should read and can act on. The message is written for it."""


@dataclass(frozen=True)
class Exit:
    """How a plugin's process ended."""

    code: int = 0
    """The exit code; -1 if a signal ended it."""
    signal: str = ""
    """The signal's name, such as `SIGKILL`. Empty if it exited by itself."""
    out_of_memory: bool = False
    """Whether the kernel ended it for want of memory."""
    reason: str = ""
    """Why toolhost thinks it ended, in words."""
    last_stderr: tuple[str, ...] = ()
    """The last lines that it wrote to standard error."""


class ToolhostError(Exception):
    """A failure of the machinery around a tool. Each kind has a class of its own below; this one is `internal`."""

    kind: ClassVar[Kind] = Kind.INTERNAL

    def __init__(
        self,
        message: str = "",
        *,
        retry_after: float = 0.0,
        call_id: str = "",
        plugin: str = "",
        instance: str = "",
        exit: Exit | None = None,  # noqa: A002
        rule: str = "",
        arguments: str | None = None,
        arguments_sha256: str = "",
    ) -> None:
        super().__init__(message or self.kind.value)
        self.message = message or self.kind.value
        """What happened, why, and what to do, in words for people."""
        self.retry_after = retry_after
        """After how many seconds another try makes sense. 0 means unknown."""
        self.call_id = call_id
        """The call that failed. Empty if the request never became a call."""
        self.plugin = plugin
        """The plugin that it concerns. May be empty."""
        self.instance = instance
        """The instance that it concerns. May be empty."""
        self.exit = exit
        """How the instance ended, for `crashed` and `outcome_unknown`."""
        self.rule = rule
        """The operator's rule that decided, for `denied` and `approval_required`. Empty if none did."""
        self.arguments = arguments
        """For `approval_required`, the final arguments as JSON text. None if they are too large to show."""
        self.arguments_sha256 = arguments_sha256
        """The digest of the final arguments, for `Approval.arguments_sha256`."""

    @staticmethod
    def of(kind: Kind) -> type[ToolhostError]:
        """Return the class of a kind."""
        return next((c for c in ToolhostError.__subclasses__() if c.kind is kind), Internal)


class InvalidArgument(ToolhostError):
    """The request itself is wrong."""

    kind = Kind.INVALID_ARGUMENT


class NotFound(ToolhostError):
    """There is no such tool, plugin, call or run."""

    kind = Kind.NOT_FOUND


class Denied(ToolhostError):
    """A rule forbids it; or, raised by a tool, it is not allowed to do what was asked, whatever the arguments."""

    kind = Kind.DENIED


class ApprovalRequired(ToolhostError):
    """A person has to agree first."""

    kind = Kind.APPROVAL_REQUIRED


class RateLimited(ToolhostError):
    """There were too many calls for now; see `retry_after`."""

    kind = Kind.RATE_LIMITED


class Timeout(ToolhostError):
    """The call's deadline passed."""

    kind = Kind.TIMEOUT


class Cancelled(ToolhostError):
    """The caller, an operator or a shutdown cancelled it."""

    kind = Kind.CANCELLED


class Crashed(ToolhostError):
    """The plugin's process ended during the call, and nothing happened that matters."""

    kind = Kind.CRASHED


class Unavailable(ToolhostError):
    """What is needed cannot be reached now: another try makes sense where that is safe."""

    kind = Kind.UNAVAILABLE


class OutcomeUnknown(ToolhostError):
    """The process, or the connection, ended during a call with side effects: they may have happened or not."""

    kind = Kind.OUTCOME_UNKNOWN


class Conflict(ToolhostError):
    """The call id is taken by a call with another tool or other arguments."""

    kind = Kind.CONFLICT


class Internal(ToolhostError):
    """A bug, of the tool or of the machinery, or a plugin that broke the contract."""

    kind = Kind.INTERNAL
