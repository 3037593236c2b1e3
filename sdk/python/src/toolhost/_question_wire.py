"""Conversion of questions and answers between the public dataclasses and the protobuf messages."""

from __future__ import annotations

from collections.abc import Iterable

from toolhost import _wire
from toolhost._json import decode, encode, valid_text
from toolhost._proto.toolhost.tool.v1 import question_pb2 as pb
from toolhost._proto.toolhost.tool.v1 import result_pb2
from toolhost.errors import ToolhostError
from toolhost.question import (
    Action,
    Answer,
    ModelAnswer,
    ModelMessage,
    ModelQuestion,
    ModelRole,
    PersonAnswer,
    PersonQuestion,
    QuestionKind,
)

_ACTIONS = {
    Action.ACCEPT: pb.PERSON_ACTION_ACCEPT,
    Action.DECLINE: pb.PERSON_ACTION_DECLINE,
    Action.DISMISS: pb.PERSON_ACTION_DISMISS,
}


def from_kinds(kinds: Iterable[QuestionKind | str]) -> pb.QuestionKinds | None:
    """Convert kinds of questions. No kind gives None: an unset field."""
    given = {QuestionKind(kind) for kind in kinds}
    return pb.QuestionKinds(person=QuestionKind.PERSON in given, model=QuestionKind.MODEL in given) if given else None


def to_kinds(message: pb.QuestionKinds) -> frozenset[QuestionKind]:
    """Convert kinds of questions."""
    given = {QuestionKind.PERSON: message.person, QuestionKind.MODEL: message.model}
    return frozenset(kind for kind, is_given in given.items() if is_given)


def from_person_question(question: PersonQuestion) -> pb.PersonQuestion:
    """Convert a question for a person."""
    return pb.PersonQuestion(
        message=valid_text(question.message),
        schema=b"" if question.schema is None else encode(question.schema),
        timeout=_wire.duration(question.timeout),
    )


def from_model_question(question: ModelQuestion) -> pb.ModelQuestion:
    """Convert a question for a model."""
    roles = {ModelRole.USER: pb.MODEL_ROLE_USER, ModelRole.ASSISTANT: pb.MODEL_ROLE_ASSISTANT}
    return pb.ModelQuestion(
        system=valid_text(question.system),
        messages=[
            pb.ModelMessage(role=roles[m.role], content=[_wire.from_content(block) for block in m.content])
            for m in question.messages
        ],
        max_tokens=question.max_tokens,
        timeout=_wire.duration(question.timeout),
    )


def to_person_question(message: pb.PersonQuestion) -> PersonQuestion:
    """Convert a question for a person."""
    schema = decode(message.schema) if message.schema else None
    return PersonQuestion(message.message, schema, _wire.seconds(message.timeout))


def to_model_question(message: pb.ModelQuestion) -> ModelQuestion:
    """Convert a question for a model."""
    messages = [
        ModelMessage(
            ModelRole.ASSISTANT if m.role == pb.MODEL_ROLE_ASSISTANT else ModelRole.USER,
            [_wire.to_content(block) for block in m.content],
        )
        for m in message.messages
    ]
    return ModelQuestion(messages, message.system, message.max_tokens, _wire.seconds(message.timeout))


def from_answer(answer: Answer) -> pb.Answer:
    """Convert an answer."""
    match answer:
        case PersonAnswer():
            content = b"" if answer.content is None else encode(answer.content)
            return pb.Answer(person=pb.PersonAnswer(action=_ACTIONS[answer.action], content=content))
        case ModelAnswer():
            return pb.Answer(
                model=pb.ModelAnswer(
                    model=valid_text(answer.model),
                    content=[_wire.from_content(block) for block in answer.content],
                    stop_reason=valid_text(answer.stop_reason),
                    usage=_from_usage(answer),
                )
            )
        case ToolhostError():
            return pb.Answer(error=_wire.from_error(answer))


def _from_usage(answer: ModelAnswer) -> result_pb2.Usage | None:
    if answer.usage is None:
        return None
    return result_pb2.Usage(
        input_tokens=answer.usage.input_tokens,
        output_tokens=answer.usage.output_tokens,
        cache_read_tokens=answer.usage.cache_read_tokens,
        cache_write_tokens=answer.usage.cache_write_tokens,
    )


def to_answer(message: pb.Answer) -> PersonAnswer | ModelAnswer:
    """Convert an answer. Raises the error that says why there is none."""
    match message.WhichOneof("answer"):
        case "person":
            actions = {number: action for action, number in _ACTIONS.items()}
            content = decode(message.person.content) if message.person.content else None
            return PersonAnswer(actions.get(message.person.action, Action.DISMISS), content)
        case "model":
            m = message.model
            return ModelAnswer(
                [_wire.to_content(block) for block in m.content],
                m.model,
                m.stop_reason,
                _wire.to_usage(m.usage) if m.HasField("usage") else None,
            )
        case _:
            raise _wire.to_error(message.error)
