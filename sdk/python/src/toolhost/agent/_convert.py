"""Conversion between the dataclasses of this package and the messages of agentd.v1."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from toolhost import _wire
from toolhost._json import decode, encode, valid_text
from toolhost._keywords import checked
from toolhost._proto.agentd.v1 import agent_service_pb2 as pb
from toolhost._proto.toolhost.decision.v1 import decision_service_pb2 as decision_pb
from toolhost.agent import _events, _runs
from toolhost.errors import InvalidArgument

_E = TypeVar("_E", bound=enum.StrEnum)


def _name_of(kind: type[_E], prefix: str, numbers: Any, number: int) -> _E | None:
    """Return the enum member of a protobuf number, or None for an unset or unknown one."""
    if number not in numbers.values():
        return None
    name = numbers.Name(number).removeprefix(prefix)
    return kind.__members__.get(name)


def state(number: int) -> _runs.RunState | None:
    """Convert the state of a run."""
    return _name_of(_runs.RunState, "RUN_STATE_", pb.RunState, number)


def stop_reason(number: int) -> _runs.StopReason | None:
    """Convert a stop reason."""
    return _name_of(_runs.StopReason, "STOP_REASON_", pb.StopReason, number)


def _text(arguments: bytes) -> str:
    return arguments.decode(errors="replace")


# Requests.


def start_request(prompt: str, options: _runs.RunOptions) -> pb.StartRunRequest:
    """Convert the options of a run.

    Raises TypeError for an unknown option and InvalidArgument for a wrong value.
    """
    given = checked(options, _runs.RunOptions, "a run")
    request = pb.StartRunRequest(
        prompt=prompt,
        run_id=given.get("run_id", ""),
        system_prompt=given.get("system_prompt", ""),
        session=given.get("session", ""),
        agent=given.get("agent", ""),
        model=given.get("model", ""),
        traceparent=given.get("traceparent", ""),
        sub_runs=given.get("sub_runs"),
    )
    request.attachments.extend(from_attachments(given.get("attachments", ())))
    try:
        request.context.update(_wire.encoded_values(given.get("context", {})))
    except (ValueError, TypeError) as problem:
        raise InvalidArgument(f"encoding the context: {problem}") from problem
    schema: object = given.get("response_schema")
    if schema is not None:
        try:
            request.response_schema = json.dumps(schema, allow_nan=False).encode()
        except (ValueError, TypeError) as problem:
            raise InvalidArgument(f"encoding the response schema: {problem}") from problem
    completion: _runs.Completion | None = given.get("completion")
    if completion is not None:
        request.completion = _COMPLETIONS[completion]
    for option, convert in _PARTS.items():
        if option in given:
            getattr(request, option).CopyFrom(convert(given[option]))
    return request


def from_attachments(attachments: Iterable[_runs.Attachment]) -> list[pb.Attachment]:
    """Convert attachments. Raises InvalidArgument if one has both data and an artifact."""
    return [_attachment(attachment) for attachment in attachments]


def _attachment(attachment: _runs.Attachment) -> pb.Attachment:
    message = pb.Attachment(name=attachment.name, mime_type=attachment.mime_type)
    if attachment.artifact and attachment.data:
        raise InvalidArgument(f"the attachment {attachment.name!r} has both data and an artifact")
    if attachment.artifact:
        message.artifact.CopyFrom(pb.ArtifactSource(handle=attachment.artifact, session=attachment.session))
    else:
        message.data = attachment.data
    return message


def _fields(options: object) -> dict[str, Any]:
    """Return the attributes that are set."""
    return {name: value for name, value in vars(options).items() if value is not None}


def _tool_choice(choice: _runs.ToolChoice) -> pb.ToolChoice:
    return pb.ToolChoice(**_fields(choice))


def _limits(limits: _runs.Limits) -> pb.Limits:
    fields = {name: value for name, value in _fields(limits).items() if name != "max_wall_time"}
    return pb.Limits(**fields, max_wall_time=_wire.duration(limits.max_wall_time))


def _people(people: _runs.People) -> pb.People:
    return pb.People(attended=people.attended, expiry=_wire.duration(people.expiry), ask_outcome=people.ask_outcome)


_PARTS: dict[str, Callable[[Any], Any]] = {
    "tools": _tool_choice,
    "limits": _limits,
    "sampling": lambda sampling: pb.Sampling(**_fields(sampling)),
    "people": _people,
    "window": lambda window: pb.Window(**_fields(window)),
    "system_tools": lambda names: pb.SystemTools(names=names),
}


def _edited(arguments: Mapping[str, Any] | None) -> bytes:
    try:
        return b"" if arguments is None else encode(arguments)
    except (ValueError, TypeError) as problem:
        raise InvalidArgument(f"encoding the arguments: {problem}") from problem


def from_decision(decision: _runs.Decision) -> pb.Decision:
    """Convert a decision. Raises InvalidArgument if JSON cannot represent its arguments."""
    message = pb.Decision(decision_id=decision.decision_id)
    text = valid_text(decision.text)
    match decision.verdict:
        case _runs.Verdict.APPROVE:
            message.approve.CopyFrom(pb.Approve(arguments=_edited(decision.arguments), reason=text))
        case _runs.Verdict.REJECT:
            message.reject.CopyFrom(pb.Reject(reason=text))
        case _runs.Verdict.ANSWER:
            message.answer.CopyFrom(pb.Answer(text=text))
        case _:
            raise InvalidArgument("a client cannot let a decision expire; approve, reject or answer it")
    return message


_COMPLETIONS = {
    _runs.Completion.EXPLICIT: pb.COMPLETION_EXPLICIT,
    _runs.Completion.END_TURN: pb.COMPLETION_END_TURN,
}
_STATES = {
    _runs.RunState.RUNNING: pb.RUN_STATE_RUNNING,
    _runs.RunState.WAITING: pb.RUN_STATE_WAITING,
    _runs.RunState.INTERRUPTED: pb.RUN_STATE_INTERRUPTED,
    _runs.RunState.FINISHED: pb.RUN_STATE_FINISHED,
}


def from_states(states: Iterable[_runs.RunState]) -> list[pb.RunState]:
    """Convert the states of a filter."""
    return [_STATES[_runs.RunState(state)] for state in states]


# Runs and decisions.


def to_decision(m: pb.PendingDecision) -> _runs.PendingDecision:
    """Convert a message to an open decision."""
    return _runs.PendingDecision(
        decision_id=m.decision_id,
        kind=_name_of(_runs.DecisionKind, "DECISION_KIND_", pb.DecisionKind, m.kind),
        call_id=m.call_id or None,
        tool=m.tool or None,
        display_name=m.display_name or None,
        arguments=_text(m.arguments),
        reason=m.reason,
        options=tuple(m.options),
        rule=m.rule or None,
        request_time=_wire.time(m.request_time),
        expire_time=_wire.time(m.expire_time),
        run_id=m.run_id or None,
        plugin=m.plugin or None,
        schema=_text(m.schema),
    )


def to_inbox_decision(m: decision_pb.Decision) -> _runs.InboxDecision:
    """Convert a message to a decision of the inbox."""
    return _runs.InboxDecision(
        name=m.name,
        pending=_runs.PendingDecision(
            decision_id=m.decision_id,
            kind=_name_of(_runs.DecisionKind, "DECISION_KIND_", decision_pb.DecisionKind, m.kind),
            call_id=m.call_id or None,
            tool=m.tool or None,
            display_name=m.display_name or None,
            arguments=m.arguments,
            reason=m.reason,
            options=tuple(m.options),
            rule=m.rule or None,
            request_time=_wire.time(m.request_time),
            expire_time=_wire.time(m.expire_time),
            run_id=m.run_id,
            plugin=m.plugin or None,
            schema=m.schema,
        ),
        parent_run_id=m.parent_run_id or None,
        tenant=m.tenant,
        principal=m.principal or None,
        four_eyes=m.four_eyes,
        diff=m.diff,
        cut=m.cut,
        not_allowed=m.not_allowed or None,
        waiting=m.state == decision_pb.DECISION_STATE_WAITING,
        verdict=_name_of(_runs.Verdict, "VERDICT_", decision_pb.Verdict, m.verdict),
        text=m.text,
        decided_by=m.decided_by_name,
        decided_by_principal=m.decided_by or None,
        decide_time=_wire.time(m.decide_time),
        etag=m.etag or None,
        approver_groups=tuple(m.approver_groups),
        agent=m.agent or None,
        session=m.session or None,
        context=m.context,
    )


_VERDICTS = {
    _runs.Verdict.APPROVE: decision_pb.VERDICT_APPROVE,
    _runs.Verdict.REJECT: decision_pb.VERDICT_REJECT,
    _runs.Verdict.ANSWER: decision_pb.VERDICT_ANSWER,
}


def to_decide_request(
    name: str,
    etag: str,
    verdict: _runs.Verdict,
    text: str,
    arguments: Mapping[str, Any] | None,
    by: str,
    request_id: str,
) -> decision_pb.DecideRequest:
    """Convert a verdict to a message. Raises InvalidArgument for one that no person can give."""
    given = _VERDICTS.get(verdict)
    if given is None:
        raise InvalidArgument(f"the verdict {verdict} cannot be given; use APPROVE, REJECT or ANSWER")
    return decision_pb.DecideRequest(
        name=name,
        etag=etag,
        verdict=given,
        text=valid_text(text),
        arguments=_edited(arguments),
        decided_by_name=by,
        request_id=request_id,
    )


def to_run(m: pb.Run) -> _runs.Run:
    """Convert a message to the summary of a run."""
    return _runs.Run(
        run_id=m.run_id,
        prompt=m.prompt,
        model=m.model,
        state=state(m.state),
        stop_reason=stop_reason(m.stop_reason),
        start_time=_wire.time(m.start_time),
        update_time=_wire.time(m.update_time),
        last_seq=m.last_seq,
        turns=m.turns,
        calls=m.calls,
        usage=_wire.to_usage(m.usage),
        cost=m.cost,
        pending_decisions=tuple(map(to_decision, m.pending_decisions)),
        parent_run_id=m.parent_run_id or None,
        interrupted=m.interrupted,
    )


# Events.


def _attachments(infos: Iterable[pb.AttachmentInfo]) -> tuple[_runs.AttachmentInfo, ...]:
    return tuple(_runs.AttachmentInfo(i.name, i.mime_type, i.size, i.sha256, i.artifact or None) for i in infos)


def _run_started(m: pb.RunStarted) -> _events.RunStarted:
    return _events.RunStarted(
        run_id=m.run_id,
        prompt=m.prompt,
        model=m.model,
        session=m.session,
        parent_run_id=m.parent_run_id or None,
        parent_call_id=m.parent_call_id or None,
        agent=m.agent or None,
        traceparent=m.traceparent or None,
        fallbacks=tuple(m.fallbacks),
        attachments=_attachments(m.attachments),
    )


def _assistant_message(m: pb.AssistantMessage) -> _events.AssistantMessage:
    calls = tuple(_events.ToolCall(c.call_id, c.tool, _text(c.arguments)) for c in m.calls)
    return _events.AssistantMessage(
        m.text, calls, m.stop_reason, _wire.to_usage(m.usage), m.cost, _wire.to_usage(m.wasted_usage), m.model or None
    )


def _call_result(m: pb.CallResult) -> _events.ToolCallResult:
    error = _wire.to_error(m.error) if m.HasField("error") else None
    return _events.ToolCallResult(
        m.call_id, m.tool, _wire.to_result(m.result), error, m.plugin or None, m.instance or None
    )


def _run_finished(m: pb.RunFinished) -> _events.RunFinished:
    return _events.RunFinished(
        stop_reason=stop_reason(m.stop_reason),
        text=m.text,
        message=m.message,
        turns=m.turns,
        calls=m.calls,
        usage=_wire.to_usage(m.usage),
        cost=m.cost,
        result=decode(m.result) if m.result else None,
    )


def _decision_made(m: pb.DecisionMade) -> _events.DecisionMade:
    verdict = _name_of(_runs.Verdict, "VERDICT_", pb.Verdict, m.verdict)
    return _events.DecisionMade(m.decision_id, verdict, _text(m.arguments) or None, m.text, m.decided_by)


def _compacted(m: pb.Compacted) -> _events.Compacted:
    return _events.Compacted(
        reason=m.reason,
        cleared_results=m.cleared_results,
        summary=m.summary,
        replaced_messages=m.replaced_messages,
        overflow=m.overflow,
        failure=m.failure,
        usage=_wire.to_usage(m.usage),
        cost=m.cost,
    )


_PAYLOADS: dict[str, Callable[[Any], _events.RunPayload]] = {
    "run_started": _run_started,
    "user_message": lambda m: _events.UserMessage(m.text, _attachments(m.attachments)),
    "text_delta": lambda m: _events.TextDelta(m.text),
    "reasoning_delta": lambda m: _events.ReasoningDelta(m.text),
    "argument_delta": lambda m: _events.ArgumentDelta(m.call_id, m.tool, m.text),
    "answer_delta": lambda m: _events.AnswerDelta(decode(m.answer)),
    "assistant_message": _assistant_message,
    "call_started": lambda m: _events.CallStarted(m.call_id, m.tool, m.attempt, m.traceparent or None),
    "call_status": lambda m: _events.CallStatus(m.call_id, m.tool, _wire.to_status(m.status)),
    "call_result": _call_result,
    "turn_reset": lambda m: _events.TurnReset(m.reason, m.attempt, m.model or None),
    "cancel_requested": lambda m: _events.CancelRequested(m.reason, stop_reason(m.stop_reason)),
    "run_finished": _run_finished,
    "decision_requested": lambda m: _events.DecisionRequested(to_decision(m.decision)),
    "decision_made": _decision_made,
    "budget_warning": lambda m: _events.BudgetWarning(m.budget, m.used, m.limit),
    "context_change": lambda m: _events.ContextChange(tuple(m.keys), dict(m.refused)),
    "todo_change": lambda m: _events.TodoChange(decode(m.todos) if m.todos else None),
    "sub_run_started": lambda m: _events.SubRunStarted(m.call_id, m.run_id, m.prompt, m.agent or None),
    "sub_run_waiting": lambda m: _events.SubRunWaiting(m.call_id, m.run_id, tuple(m.decision_ids)),
    "model_replied": lambda m: _events.ModelReplied(
        m.call_id,
        m.tool,
        m.plugin,
        _wire.to_usage(m.usage),
        m.cost,
        _wire.to_error(m.error) if m.HasField("error") else None,
    ),
    "compacted": _compacted,
    "run_resumed": lambda _: _events.RunResumed(),
}


def to_event(m: pb.RunEvent) -> _events.RunEvent | None:
    """Convert a message to an event.

    Returns None for an event that this version of the SDK does not know.
    """
    name = m.WhichOneof("event")
    convert = _PAYLOADS.get(name or "")
    if convert is None:
        return None
    return _events.RunEvent(m.seq, m.index, _wire.time(m.time), convert(getattr(m, name)))
