"""Conversion of the events about questions."""

from __future__ import annotations

from toolhost import _wire
from toolhost._proto.toolhost.v1 import tool_service_pb2
from toolhost._question_wire import to_model_question, to_person_question
from toolhost.question import ModelQuestion, PersonQuestion, Question, QuestionClosed, QuestionEnd

_ENDS = {
    tool_service_pb2.QUESTION_END_ANSWERED: QuestionEnd.ANSWERED,
    tool_service_pb2.QUESTION_END_EXPIRED: QuestionEnd.EXPIRED,
}


def to_question(message: tool_service_pb2.CallQuestion) -> Question | None:
    """Convert a question of a call. Returns None for a kind that this version does not know."""
    match message.WhichOneof("question"):
        case "person":
            question: PersonQuestion | ModelQuestion = to_person_question(message.person)
        case "model":
            question = to_model_question(message.model)
        case _:
            return None
    return Question(
        message.id, message.call_id, message.plugin, message.tool, question, _wire.time(message.expire_time)
    )


def to_closed(message: tool_service_pb2.QuestionClosed) -> QuestionClosed:
    """Convert the end of a question."""
    return QuestionClosed(message.question, _ENDS.get(message.reason, QuestionEnd.ABANDONED))
