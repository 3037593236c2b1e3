"""A call in a test: its options, what it reported, and how it ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from typing_extensions import TypedDict

from toolhost import _wire
from toolhost._proto.toolhost.plugin.v1 import plugin_pb2 as pb
from toolhost._proto.toolhost.tool.v1 import error_pb2, question_pb2
from toolhost._question_wire import from_answer, to_model_question, to_person_question
from toolhost.errors import ToolhostError
from toolhost.question import Answer, ModelQuestion, PersonQuestion
from toolhost.result import Artifact, Content, File, Image, Json, Result, Text
from toolhost.spec import Spec
from toolhost.status import LogRecord, Status

_T = TypeVar("_T")
_CREDIT = 1 << 30  # bytes: a test reads everything at once


class HostCallOptions(TypedDict, total=False):
    """The options of a call in a test."""

    call_id: str
    """The call id. Without it, the host generates one."""
    attempt: int
    """The number of the attempt. The default is 1."""
    session: str
    workspace: str | os.PathLike[str]
    """The folder that the tool may work in."""
    context: Mapping[str, Any]
    """The run context. As in production, a tool receives only the keys that it declares."""
    secrets: Mapping[str, str]
    """The available secrets. As in production, a tool receives only those that it declares."""
    traceparent: str
    timeout: float
    """The longest duration of the call, in seconds."""
    artifacts: Mapping[str, Content]
    """Blocks of content that the tool can read as artifacts, by handle."""
    answer: Callable[[PersonQuestion | ModelQuestion], Answer]
    """Answers the questions of the tool. Without it, a tool that asks gets the error `unsupported`."""


@dataclass
class CallResult:
    """The end of a call in a test."""

    result: Result | None = None
    """The result of the tool. None if there is an error."""
    error: ToolhostError | None = None
    """The infrastructure error. None if the tool returned a result."""
    statuses: list[Status] = field(default_factory=list)
    """The statuses that the tool reported, in order."""
    logs: list[LogRecord] = field(default_factory=list)
    """The records that the tool logged, in order."""

    @property
    def is_error(self) -> bool:
        """Whether the tool reports a failure. Raises the error if there is one."""
        return self._answered().is_error

    @property
    def text(self) -> str:
        """The result as text; see `Result.text`. Raises the error if there is one."""
        return self._answered().text

    @property
    def value(self) -> Any:
        """The value of the only JSON block; see `Result.value`.

        Raises the error if there is one.
        """
        return self._answered().value

    def value_as(self, type: type[_T]) -> _T:  # noqa: A002
        """Return the value of the only JSON block as a type; see `Result.value_as`.

        Raises the error if there is one.
        """
        return self._answered().value_as(type)

    def _answered(self) -> Result:
        if self.error is not None:
            raise self.error
        return self.result or Result()


def start_call(
    number: int, tool: str, text: bytes, complete: bool, spec: Spec, given: Mapping[str, Any]
) -> pb.StartCall:
    """Return the frame that starts a call.

    The tool receives only the context keys and secrets that it declares.
    """
    context = {k: v for k, v in given.get("context", {}).items() if k in spec.context_keys}
    return pb.StartCall(
        call_id=given.get("call_id", f"call-{number}"),
        effect_key=given.get("call_id", f"call-{number}"),
        tool=tool,
        arguments=text,
        complete=complete,
        timeout=_wire.duration(given.get("timeout")),
        credit=_CREDIT,
        attempt=given.get("attempt", 1),
        context=pb.CallContext(
            session=given.get("session", ""),
            workspace=cast("str", os.fspath(given.get("workspace", ""))),
            values=_wire.encoded_values(context),
            secrets={k: v for k, v in given.get("secrets", {}).items() if k in spec.requires_auth},
            traceparent=given.get("traceparent", ""),
            answers=question_pb2.QuestionKinds(person=True, model=True) if "answer" in given else None,
        ),
    )


def question_answer(answer: Callable[[Any], Answer], response: pb.ConnectResponse) -> pb.QuestionAnswer:
    """Return the answer of a test to the question in a frame."""
    if response.WhichOneof("frame") == "ask_person":
        number, given = response.ask_person.number, answer(to_person_question(response.ask_person.question))
    else:
        number, given = response.ask_model.number, answer(to_model_question(response.ask_model.question))
    return pb.QuestionAnswer(number=number, answer=from_answer(given))


def artifact_piece(artifacts: Mapping[str, Content], asked: pb.ReadArtifact) -> pb.ArtifactPiece:
    """Return the part of an artifact that a tool asks for."""
    match artifacts.get(asked.handle):
        case Text(text):
            data, media_type, name = text.encode(), "text/plain", ""
        case Json() as block:
            data, media_type, name = block.encoded, "application/json", ""
        case Image() | File() as block:
            data, media_type, name = block.data, block.media_type, block.name
        case Artifact() | None:
            kind = error_pb2.ERROR_KIND_NOT_FOUND
            return pb.ArtifactPiece(error=error_pb2.Error(kind=kind, message=f"there is no artifact {asked.handle!r}"))
    limit = asked.limit if 0 < asked.limit <= _wire.CHUNK else _wire.CHUNK
    return pb.ArtifactPiece(
        data=data[asked.offset : asked.offset + limit], media_type=media_type, size=len(data), name=name
    )
