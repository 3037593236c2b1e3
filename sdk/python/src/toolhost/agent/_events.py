"""The events of a run.

A durable event is stored in the journal of the run and has a `seq` of its own. A transient event
(`TextDelta`, `ReasoningDelta`, `ArgumentDelta`, `AnswerDelta`, `CallStatus` and `TurnReset`)
reaches only the clients that watch at that moment. It has the `seq` of the durable event that
follows it, and an `index` greater than 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from toolhost.agent._runs import AttachmentInfo, PendingDecision, StopReason, Verdict
from toolhost.errors import ToolhostError
from toolhost.result import Result, Usage
from toolhost.status import Status


@dataclass(frozen=True)
class RunStarted:
    """The run began."""

    run_id: str
    prompt: str
    model: str
    session: str
    parent_run_id: str | None
    """The run that started this one as a sub-run. None for a run that a client started."""
    parent_call_id: str | None
    agent: str | None
    """The named agent. None if the run has none."""
    traceparent: str | None
    fallbacks: tuple[str, ...] = ()
    """The models that respond if `model` cannot, in order."""
    attachments: tuple[AttachmentInfo, ...] = ()
    """The files that go with the prompt."""


@dataclass(frozen=True)
class UserMessage:
    """The user sent a message."""

    text: str
    attachments: tuple[AttachmentInfo, ...] = ()


@dataclass(frozen=True)
class TextDelta:
    """Transient: a piece of the text that the model writes."""

    text: str


@dataclass(frozen=True)
class ReasoningDelta:
    """Transient: a piece of the model's reasoning, as far as the provider shows it."""

    text: str


@dataclass(frozen=True)
class ArgumentDelta:
    """Transient: a piece of the arguments of a call that the model is writing.

    The pieces of a call, in order, are the text of its arguments. The call may never be made.
    """

    call_id: str
    tool: str
    """The tool, as the model wrote it."""
    text: str


@dataclass(frozen=True)
class AnswerDelta:
    """Transient: the answer of a run with a response schema, as far as the model has written it.

    It replaces the one before it, and may not fit the schema yet.
    """

    answer: dict[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A call that the model requests."""

    call_id: str
    tool: str
    arguments: str
    """The arguments as the model wrote them. They may be invalid JSON."""


@dataclass(frozen=True)
class AssistantMessage:
    """A complete response of the model. Its calls begin afterwards."""

    text: str
    calls: tuple[ToolCall, ...]
    stop_reason: str
    """Why the model stopped, such as `end_turn`, `tool_use` or `max_tokens`."""
    usage: Usage
    cost: float
    """The cost, including `wasted_usage`. 0 if the model has no price."""
    wasted_usage: Usage
    """The tokens of the attempts that failed before this response, as far as the provider reports
    them."""
    model: str | None = None
    """The model that responded."""


@dataclass(frozen=True)
class CallStarted:
    """agentd sent a tool call to toolhost."""

    call_id: str
    tool: str
    attempt: int
    """1, and more after a person approved the call or had it executed again."""
    traceparent: str | None


@dataclass(frozen=True)
class CallStatus:
    """Transient: a tool reports its status."""

    call_id: str
    tool: str
    status: Status


@dataclass(frozen=True)
class ToolCallResult:
    """A tool call has its result."""

    call_id: str
    tool: str
    result: Result
    """What the model reads, also if there is an error."""
    error: ToolhostError | None
    """The infrastructure error. None if the tool returned a result."""
    plugin: str | None
    instance: str | None


@dataclass(frozen=True)
class TurnReset:
    """Transient: agentd asks the model again. The transient events since the last durable one are void."""

    reason: str
    attempt: int
    """The number of the next attempt, from 2."""
    model: str | None = None
    """The model that gets the request next, if it is another one than before."""


@dataclass(frozen=True)
class CancelRequested:
    """A client requested that the run stops."""

    reason: str
    stop_reason: StopReason | None
    """The stop reason with which the run will end. None means `StopReason.CANCELLED`."""


@dataclass(frozen=True)
class RunFinished:
    """The run ended."""

    stop_reason: StopReason | None
    """None for a reason that this version of the SDK does not know."""
    text: str
    """The last text of the model, or the result that a tool returned directly. It may be empty."""
    message: str
    """Further explanation of the stop reason. It may be empty."""
    turns: int
    """How many responses the model gave."""
    calls: int
    """How many tool calls the run made."""
    usage: Usage
    """The tokens of the whole run."""
    cost: float
    """The cost of the whole run."""
    result: dict[str, Any] | None = None
    """The answer of a run with a response schema, which fits the schema. None for any other run, and
    for a run that did not succeed."""


@dataclass(frozen=True)
class DecisionRequested:
    """The run waits for a person."""

    decision: PendingDecision


@dataclass(frozen=True)
class DecisionMade:
    """A decision was made."""

    decision_id: str
    verdict: Verdict | None
    arguments: str | None
    """The arguments that replace those of the call, as JSON text. None if the arguments stay the
    same."""
    text: str
    """The reason or the answer. It may be empty."""
    decided_by: str
    """The person who decided. It may be empty."""


@dataclass(frozen=True)
class BudgetWarning:
    """The run has used 80 % of a limit. Each limit causes at most one such event."""

    budget: str
    """`turns`, `calls`, `tokens`, `cost`, `wall_time`, `output` or `failures`."""
    used: float
    """The used amount. Seconds for `wall_time`, and bytes for `output`."""
    limit: float


@dataclass(frozen=True)
class ContextChange:
    """Effects of tools changed the run context."""

    keys: tuple[str, ...]
    refused: Mapping[str, str]
    """By key, why agentd rejected a change."""


@dataclass(frozen=True)
class TodoChange:
    """The list of tasks changed."""

    todos: Any
    """The whole list, which is the value of the key `todos` of the run context."""


@dataclass(frozen=True)
class SubRunStarted:
    """A call is executed by a sub-run."""

    call_id: str
    run_id: str
    """The sub-run, which can be watched like any other."""
    prompt: str
    agent: str | None = None
    """The named agent of the sub-run. None if the call named none."""


@dataclass(frozen=True)
class SubRunWaiting:
    """A sub-run, or one below it, waits for a person or stopped waiting."""

    call_id: str
    run_id: str
    decision_ids: tuple[str, ...]
    """The ids of the open decisions. Empty if it no longer waits."""


@dataclass(frozen=True)
class ModelReplied:
    """A tool has used the model of the run during its call."""

    call_id: str
    tool: str
    plugin: str
    usage: Usage
    """The tokens of the request, which count toward the limits of the run."""
    cost: float
    """The cost of the request, in the currency of agentd's prices."""
    error: ToolhostError | None
    """Why the model did not reply. None if it replied."""


@dataclass(frozen=True)
class Compacted:
    """From now on the model reads a shortened conversation."""

    reason: str
    cleared_results: int
    """How many results a note replaces."""
    summary: str
    """What replaces the oldest messages. Empty if no message was replaced."""
    replaced_messages: int
    """How many messages the summary replaces."""
    overflow: bool
    """Whether the conversation exceeded the context window of the model."""
    failure: str
    """Why no summary was made. Empty unless agentd needed a summary and could not shorten the
    conversation."""
    usage: Usage
    """The tokens of the summary."""
    cost: float
    """The cost of the summary, in the currency of agentd's prices."""


@dataclass(frozen=True)
class RunResumed:
    """Another agentd process continues the run after an interruption.

    Only runs with a time limit have this event.
    """


RunPayload: TypeAlias = (
    RunStarted
    | UserMessage
    | TextDelta
    | ReasoningDelta
    | ArgumentDelta
    | AnswerDelta
    | AssistantMessage
    | CallStarted
    | CallStatus
    | ToolCallResult
    | TurnReset
    | CancelRequested
    | RunFinished
    | DecisionRequested
    | DecisionMade
    | BudgetWarning
    | ContextChange
    | TodoChange
    | SubRunStarted
    | SubRunWaiting
    | ModelReplied
    | Compacted
    | RunResumed
)
"""What an event of a run carries."""


@dataclass(frozen=True)
class RunEvent:
    """An event of a run."""

    seq: int
    """The position in the journal, from 1. A transient event has the `seq` of the durable event
    that follows it."""
    index: int
    """The position among the transient events with the same `seq`, from 1. 0 for a durable
    event."""
    time: datetime | None
    payload: RunPayload
    """What happened. Use `match` or `isinstance` to distinguish the classes."""

    @property
    def durable(self) -> bool:
        """Whether the event is stored in the journal."""
        return self.index == 0
