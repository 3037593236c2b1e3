"""The errors of tools, which the model reads, and of the infrastructure.

A tool raises `ToolError` to tell the model what went wrong. The call then has a result with
`is_error`. Every other failure is a `ToolhostError`, and its `kind` says how to react. A tool can
raise one too, for example `raise Unavailable("the service is down", retry_after=30)`. The clients
raise only subclasses of `ToolhostError`.
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
    "Unsupported",
]


class Kind(enum.StrEnum):
    """The kind of an infrastructure error."""

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
    UNSUPPORTED = "unsupported"


class ToolError(Exception):
    """The tool failed in a way that the model should know and can react to.

    The model reads the message.
    """


@dataclass(frozen=True)
class Exit:
    """How the process of a plugin ended."""

    code: int = 0
    """The exit code; -1 if a signal ended it."""
    signal: str | None = None
    """The name of the signal, such as `SIGKILL`. None if the process exited by itself."""
    out_of_memory: bool = False
    """Whether the kernel killed the process because memory ran out."""
    reason: str = ""
    """The probable cause, as toolhost explains it. May be empty."""
    last_stderr: tuple[str, ...] = ()
    """The last lines that the process wrote to standard error."""


class ToolhostError(Exception):
    """An infrastructure error: a failure outside the tool.

    Each kind has a subclass; the kind of this class is `internal`.
    """

    kind: ClassVar[Kind] = Kind.INTERNAL

    def __init__(
        self,
        message: str = "",
        *,
        retry_after: float | None = None,
        call_id: str | None = None,
        plugin: str | None = None,
        instance: str | None = None,
        exit: Exit | None = None,  # noqa: A002
        rule: str | None = None,
        arguments: str | None = None,
        arguments_sha256: str | None = None,
    ) -> None:
        super().__init__(message or self.kind.value)
        self.message: str = message or self.kind.value
        """What happened, why, and what to do about it, for people."""
        self.retry_after = retry_after
        """After how many seconds the caller should try again. None if that is unknown."""
        self.call_id = call_id
        """The id of the call that failed. None if the request never became a call."""
        self.plugin = plugin
        """The plugin that the error concerns. None if it concerns none."""
        self.instance = instance
        """The plugin instance that the error concerns. None if it concerns none."""
        self.exit = exit
        """How the process of the instance ended, for `crashed` and `outcome_unknown`."""
        self.rule = rule
        """The policy rule that matched, for `denied` and `approval_required`. None if no rule
        matched."""
        self.arguments = arguments
        """For `approval_required`, the final arguments as JSON text. None if they are too large to
        include."""
        self.arguments_sha256 = arguments_sha256
        """The digest of the final arguments, to pass as `Approval.arguments_sha256`. None if there
        is none."""
        self.decision: str | None = None
        """For `approval_required`, the name with which toolhost holds the call: `toolhost approvals
        approve NAME` approves it, and then the same call passes once. None if the call had no
        `approval_wait`."""
        self.session_move: str | None = None
        """For `approval_required`, what to pass as `Approval.session_move`: the approval also moves
        the session to a toolhost that does not have its files, and the message says so. None if the
        session does not move."""

    @staticmethod
    def of(kind: Kind) -> type[ToolhostError]:
        """Return the subclass for a kind."""
        return next((c for c in ToolhostError.__subclasses__() if c.kind is kind), Internal)


class InvalidArgument(ToolhostError):
    """The request is invalid. Sending it again cannot succeed."""

    kind = Kind.INVALID_ARGUMENT


class NotFound(ToolhostError):
    """The named tool, plugin, call, run or artifact does not exist."""

    kind = Kind.NOT_FOUND


class Denied(ToolhostError):
    """A policy rule forbids the call.

    A tool raises it if it may not do what was asked, whatever the arguments.
    """

    kind = Kind.DENIED


class ApprovalRequired(ToolhostError):
    """A person has to approve the call first."""

    kind = Kind.APPROVAL_REQUIRED


class RateLimited(ToolhostError):
    """A rate limit is exhausted; see `retry_after`."""

    kind = Kind.RATE_LIMITED


class Timeout(ToolhostError):
    """The deadline of the call passed."""

    kind = Kind.TIMEOUT


class Cancelled(ToolhostError):
    """The caller, an operator or a shutdown cancelled the call."""

    kind = Kind.CANCELLED


class Crashed(ToolhostError):
    """The process of the plugin ended during a call that has no side effects."""

    kind = Kind.CRASHED


class Unavailable(ToolhostError):
    """A component or service is unreachable at the moment.

    Try again if the call is safe to repeat.
    """

    kind = Kind.UNAVAILABLE


class OutcomeUnknown(ToolhostError):
    """The process or the connection ended during a call with side effects.

    They may have happened or not.
    """

    kind = Kind.OUTCOME_UNKNOWN


class Conflict(ToolhostError):
    """The call id belongs to a call of another tool or with other arguments."""

    kind = Kind.CONFLICT


class Internal(ToolhostError):
    """A bug in the tool, in toolhost or agentd, or a plugin that violated the protocol."""

    kind = Kind.INTERNAL


class Unsupported(ToolhostError):
    """The operator, the caller or an older version does not allow it, such as a question of a tool."""

    kind = Kind.UNSUPPORTED
