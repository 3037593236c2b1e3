"""Questions that a tool asks during a call, and their answers.

A tool asks with `AsyncContext.ask` and `AsyncContext.complete`. A caller answers with
`AsyncClient.answer_question`.
"""

from __future__ import annotations

import datetime
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from toolhost.errors import ToolhostError
from toolhost.result import Content, Text, Usage

__all__ = [
    "Action",
    "Answer",
    "ModelAnswer",
    "ModelMessage",
    "ModelQuestion",
    "ModelRole",
    "PersonAnswer",
    "PersonQuestion",
    "Question",
    "QuestionClosed",
    "QuestionEnd",
    "QuestionKind",
]


class QuestionKind(enum.StrEnum):
    """What a tool asks: a person, or a language model."""

    PERSON = "person"
    MODEL = "model"


@dataclass(frozen=True)
class PersonQuestion:
    """A question for a person. The plugin wrote it: show the name of the plugin with it."""

    message: str
    """What the person reads, as plain text."""
    schema: Mapping[str, Any] | None = None
    """The JSON Schema of the answer, of type object. A tool that leaves it out gets an object with one
    text, `answer`."""
    timeout: float | None = None
    """How many seconds the tool waits. None means as long as toolhost permits."""


class ModelRole(enum.StrEnum):
    """The author of a message in a conversation with a model."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True)
class ModelMessage:
    """One message of a conversation with a model."""

    role: ModelRole
    content: Sequence[Content]


@dataclass(frozen=True)
class ModelQuestion:
    """A request for one response of the caller's language model."""

    messages: Sequence[ModelMessage]
    """The conversation. It begins and ends with a message of the user."""
    system: str = ""
    """The system prompt. May be empty."""
    max_tokens: int = 0
    """The limit of the response. 0 means the default of the caller."""
    timeout: float | None = None
    """How many seconds the tool waits. None means as long as toolhost permits."""


@dataclass(frozen=True)
class Question:
    """A question of the tool of a call, as the caller gets it."""

    id: int
    """The number of the question within the call, from 1."""
    call_id: str
    plugin: str
    """The plugin that asks."""
    tool: str
    question: PersonQuestion | ModelQuestion
    expires: datetime.datetime | None = None
    """When toolhost closes the question if no answer has come."""


class QuestionEnd(enum.StrEnum):
    """Why a question takes no answer any more."""

    ANSWERED = "answered"
    EXPIRED = "expired"
    ABANDONED = "abandoned"


@dataclass(frozen=True)
class QuestionClosed:
    """A question of a call takes no answer any more."""

    id: int
    reason: QuestionEnd


class Action(enum.StrEnum):
    """What a person does with a question."""

    ACCEPT = "accept"
    DECLINE = "decline"
    DISMISS = "dismiss"


@dataclass(frozen=True)
class PersonAnswer:
    """What a person did with a question."""

    action: Action
    content: Mapping[str, Any] | None = None
    """The values, which fit the schema. None unless the person accepted."""


@dataclass(frozen=True)
class ModelAnswer:
    """The response of a language model."""

    content: Sequence[Content]
    model: str = ""
    """The name of the model."""
    stop_reason: str = ""
    """Why the response ended, in the terms of the provider. May be empty."""
    usage: Usage | None = None
    """The tokens that the response used. None if unknown."""

    @property
    def text(self) -> str:
        """The text of the response."""
        return "".join(block.text for block in self.content if isinstance(block, Text))


Answer: TypeAlias = PersonAnswer | ModelAnswer | ToolhostError
"""The answer to a question, or the error that says why there is none."""
