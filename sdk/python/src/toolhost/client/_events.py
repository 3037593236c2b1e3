"""What clients are told of tools and calls."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from toolhost import _wire
from toolhost.errors import Internal, ToolhostError
from toolhost.proto.toolhost.v1 import tool_service_pb2
from toolhost.result import Result
from toolhost.spec import Spec
from toolhost.status import LogRecord, Status


@dataclass(frozen=True)
class ToolInfo:
    """A tool as toolhost offers it."""

    spec: Spec
    """What the tool declares, with the operator's changes applied."""
    plugin: str
    plugin_version: str
    unavailable_reason: str
    """Why it cannot be called now. Empty means that it can."""

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.spec.name


@dataclass(frozen=True)
class Match:
    """A tool that a search found."""

    tool: ToolInfo
    score: float
    """Greater is better; comparable only within one answer."""


class Format(enum.StrEnum):
    """A form in which tools are given to a model."""

    OPENAI = "openai"
    """The value of `tools` in a request of OpenAI's Chat Completions API."""
    OPENAI_RESPONSES = "openai-responses"
    """The value of `tools` in a request of OpenAI's Responses API."""
    ANTHROPIC = "anthropic"
    """The value of `tools` in a request of Anthropic's Messages API."""
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
    """The names of the tools in it, in order."""
    omitted: dict[str, str] = field(default_factory=dict)
    """The other tools that match, by name, with the reason why `content` does not hold them."""


@dataclass(frozen=True)
class Approval:
    """A person's consent to a call. It holds for the call that it is sent with, and is kept in the audit log."""

    approved_by: str
    """Who agreed, in words."""
    reason: str = ""
    time: datetime | None = None
    """When. None means now."""
    arguments: Mapping[str, Any] | None = None
    """The final arguments that were agreed to. Where the arguments are not complete when the call is opened, these or
    the digest must be set."""
    arguments_sha256: str = ""
    """The digest of the final arguments that were agreed to, from the ApprovalRequired that asked. If neither is set,
    what was agreed to is the arguments exactly as they are sent."""


@dataclass(frozen=True)
class Started:
    """The call is with an instance."""

    call_id: str
    plugin: str
    instance: str
    attempt: int
    """Which try this is, from 1."""


@dataclass(frozen=True)
class Outcome:
    """How a call ended."""

    call_id: str
    plugin: str = ""
    """Empty if the call reached none."""
    instance: str = ""
    result: Result = field(default_factory=Result)
    """What the tool answered, well or badly: see `is_error`. Empty if there is an error."""
    error: ToolhostError | None = None
    """What failed of the machinery."""
    replayed: bool = False
    """Whether it is the outcome of an earlier execution of the same call id."""

    @property
    def text(self) -> str:
        """What the result says in text."""
        return self.result.text

    @property
    def value(self) -> Any:
        """The value of the result's JSON. See Result.value."""
        return self.result.value


@dataclass(frozen=True)
class Event:
    """Something that happened to a call. The Outcome comes last, exactly once."""

    seq: int
    """The event's place among the call's events, from 1."""
    time: datetime | None
    what: Started | Status | LogRecord | Outcome


Told: TypeAlias = Started | Status | LogRecord | Outcome
"""What an event may be."""


def to_info(m: tool_service_pb2.Tool) -> ToolInfo:
    """Return a tool."""
    return ToolInfo(_wire.to_spec(m.spec), m.plugin, m.plugin_version, m.unavailable_reason)


class Joiner:
    """Turns the messages of one call into events: pieces of large results are joined."""

    def __init__(self) -> None:
        self._pieces: dict[int, bytearray] = {}

    def add(self, m: tool_service_pb2.CallEvent) -> Event | None:
        """Return the event that a message completes, if it does."""
        match m.WhichOneof("event"):
            case "started":
                s = m.started
                what: Told = Started(s.call_id, s.plugin, s.instance, s.attempt)
            case "status":
                what = _wire.to_status(m.status)
            case "log":
                what = _wire.to_log(m.log)
            case "ended":
                what = self._outcome(m.ended)
            case "chunk":
                self._pieces.setdefault(m.chunk.index, bytearray()).extend(m.chunk.data)
                return None
            case _:
                return None
        return Event(m.seq, _wire.time(m.time), what)

    def _outcome(self, ended: tool_service_pb2.CallEnded) -> Outcome:
        result = Result()
        error: ToolhostError | None = None
        match ended.WhichOneof("outcome"):
            case "result":
                try:
                    _wire.join(ended.result, self._pieces)
                    result = _wire.to_result(ended.result)
                except (IndexError, ValueError) as problem:
                    error = Internal(f"joining the pieces of the result: {problem}", call_id=ended.call_id)
            case "error":
                error = _wire.to_error(ended.error)
            case _:
                error = Internal("the call ended without a result and without an error", call_id=ended.call_id)
        return Outcome(ended.call_id, ended.plugin, ended.instance, result, error, ended.replayed)
