"""What a client receives: tools, and the events and outcomes of calls."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

from toolhost import _question_wire, _wire
from toolhost._proto.toolhost.v1 import tool_service_pb2
from toolhost.client._questions import to_closed, to_question
from toolhost.errors import Internal, ToolhostError
from toolhost.question import Question, QuestionClosed, QuestionKind
from toolhost.result import Result
from toolhost.spec import Spec
from toolhost.status import LogRecord, Status

_T = TypeVar("_T")


@dataclass(frozen=True)
class ToolInfo:
    """A tool that toolhost offers."""

    spec: Spec
    """The declaration of the tool, with the changes that the operator configured."""
    plugin: str
    plugin_version: str
    unavailable_reason: str | None
    """Why the tool cannot be called at the moment. None if it can be called."""

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.spec.name


@dataclass(frozen=True)
class Match:
    """A tool that a search found."""

    tool: ToolInfo
    score: float
    """A greater score is a better match. Scores are comparable only within one search."""


class Format(enum.StrEnum):
    """A format in which a model receives tools."""

    OPENAI = "openai"
    """The value of `tools` in a request of the OpenAI Chat Completions API."""
    OPENAI_RESPONSES = "openai-responses"
    """The value of `tools` in a request of the OpenAI Responses API."""
    ANTHROPIC = "anthropic"
    """The value of `tools` in a request of the Anthropic Messages API."""
    GEMINI = "gemini"
    """The value of `tools` in a request of the Gemini API."""
    MCP = "mcp"
    """The result of `tools/list` of the Model Context Protocol."""
    MARKDOWN = "markdown"
    """Markdown for a prompt."""


@dataclass(frozen=True)
class Rendered:
    """Tools in a format."""

    content: bytes
    media_type: str
    """`application/json` or `text/markdown`."""
    tools: tuple[str, ...]
    """The names of the rendered tools, in order."""
    omitted: Mapping[str, str] = field(default_factory=dict[str, str])
    """The other matching tools by name, with the reason why they are not rendered."""


@dataclass(frozen=True)
class Approval:
    """The approval of a call by a person.

    It is valid only for the call that carries it. The audit log records it.
    """

    approved_by: str
    """The person who approved the call, as the audit log names them."""
    reason: str = ""
    time: datetime | None = None
    """When the person approved the call. None means now."""
    arguments: Mapping[str, Any] | None = None
    """The final arguments that the person approved. If neither these nor the digest is set, the
    approval is for the arguments that the call sends and the declared defaults of missing ones. A
    call that is opened with incomplete arguments must set one of the two."""
    arguments_sha256: str | None = None
    """The digest of the final arguments that the person approved, from the ApprovalRequired
    error."""
    session_move: str | None = None
    """`session_move` of the ApprovalRequired error, whose message the person has read. None: the
    approval does not move the session."""


@dataclass(frozen=True)
class Started:
    """An instance has received the call."""

    call_id: str
    plugin: str
    instance: str
    attempt: int
    """The number of the attempt, from 1."""
    asks: frozenset[QuestionKind] = frozenset()
    """What the operator permits the plugin to ask. A kind that is not in the option `answers` of the
    call is refused."""


@dataclass(frozen=True)
class Outcome:
    """How a call ended."""

    call_id: str
    plugin: str | None = None
    """The plugin. None if the call reached no plugin."""
    instance: str | None = None
    """The instance. None if the call reached no instance."""
    result: Result = field(default_factory=Result)
    """The result of the tool, which may report a failure; see `Outcome.is_error`. Empty if there is an
    error."""
    error: ToolhostError | None = None
    """The infrastructure error. None if the tool returned a result."""
    replayed: bool = False
    """Whether the outcome is that of an earlier execution with the same call id."""

    @property
    def is_error(self) -> bool:
        """Whether the call failed: the tool reports a failure, or there is an error."""
        return self.error is not None or self.result.is_error

    @property
    def text(self) -> str:
        """The result as text; see `Result.text`."""
        return self.result.text

    @property
    def value(self) -> Any:
        """The value of the only JSON block of the result; see `Result.value`."""
        return self.result.value

    def value_as(self, type: type[_T]) -> _T:  # noqa: A002
        """Return the value of the only JSON block as a type; see `Result.value_as`."""
        return self.result.value_as(type)


Payload: TypeAlias = Started | Status | LogRecord | Question | QuestionClosed | Outcome
"""What an event carries."""


@dataclass(frozen=True)
class Event:
    """An event of a call. The last event carries the Outcome, and no other event does."""

    seq: int
    """The position in the sequence of the call's events, from 1. 0 for an outcome that the client
    determined itself, because it lost the connection."""
    time: datetime | None
    payload: Payload
    """What happened. Use `match` or `isinstance` to distinguish the classes."""


def to_info(m: tool_service_pb2.Tool) -> ToolInfo:
    """Convert a message to a tool."""
    return ToolInfo(_wire.to_spec(m.spec), m.plugin, m.plugin_version, m.unavailable_reason or None)


class Joiner:
    """Converts the messages of one call to events, and joins the chunks of large results."""

    def __init__(self) -> None:
        self._pieces: dict[int, bytearray] = {}

    def add(self, m: tool_service_pb2.CallEvent) -> Event | None:
        """Return the event that a message completes.

        Returns None for a chunk and for a message of an unknown kind.
        """
        match m.WhichOneof("event"):
            case "started":
                s = m.started
                asks = _question_wire.to_kinds(s.asks)
                payload: Payload = Started(s.call_id, s.plugin, s.instance, s.attempt, asks)
            case "status":
                payload = _wire.to_status(m.status)
            case "log":
                payload = _wire.to_log(m.log)
            case "question":
                question = to_question(m.question)
                if question is None:
                    return None
                payload = question
            case "question_closed":
                payload = to_closed(m.question_closed)
            case "ended":
                payload = self._outcome(m.ended)
            case "chunk":
                self._pieces.setdefault(m.chunk.index, bytearray()).extend(m.chunk.data)
                return None
            case _:
                return None
        return Event(m.seq, _wire.time(m.time), payload)

    def _outcome(self, ended: tool_service_pb2.CallEnded) -> Outcome:
        result = Result()
        error: ToolhostError | None = None
        match ended.WhichOneof("outcome"):
            case "result":
                try:
                    _wire.join(ended.result, self._pieces)
                    result = _wire.to_result(ended.result)
                except (IndexError, ValueError) as problem:
                    error = Internal(f"joining the chunks of the result: {problem}", call_id=ended.call_id)
            case "error":
                error = _wire.to_error(ended.error)
            case _:
                error = Internal("the call ended without a result and without an error", call_id=ended.call_id)
        return Outcome(ended.call_id, ended.plugin or None, ended.instance or None, result, error, ended.replayed)
