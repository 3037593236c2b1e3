"""Runs: how they are started, what they are, and the decisions that they wait for."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Any, Literal

from typing_extensions import TypedDict

from toolhost.result import Usage


class RunState(enum.StrEnum):
    """The state of a run."""

    RUNNING = "running"
    """The run works, or waits for a model or a tool."""
    WAITING = "waiting"
    """A person has to decide something. Calls that need no decision may be running."""
    INTERRUPTED = "interrupted"
    """The run has not ended, no agentd works on it, and no decision is pending. An agentd that starts
    continues it."""
    FINISHED = "finished"
    """The run has ended. A message continues it."""


class StopReason(enum.StrEnum):
    """Why a run ended."""

    END_TURN = "end_turn"
    """The model answered without further calls."""
    COMPLETED = "completed"
    """The model reported with `attempt_completion` that the task is done."""
    RETURN_DIRECT = "return_direct"
    """A tool that declares `return_direct` answered the user."""
    MAX_TOKENS = "max_tokens"
    """The response of the model was cut off at its token limit twice."""
    REFUSAL = "refusal"
    """The model refused the task."""
    CONTENT_FILTER = "content_filter"
    """The provider withheld the response."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The conversation exceeds the context window of the model."""
    MAX_TURNS = "max_turns"
    """`Limits.max_turns` was reached."""
    MAX_CALLS = "max_calls"
    """`Limits.max_calls` was reached."""
    TOKEN_BUDGET = "token_budget"  # noqa: S105
    """`Limits.max_tokens` was reached."""
    COST_BUDGET = "cost_budget"
    """`Limits.max_cost` was reached."""
    WALL_TIME = "wall_time"
    """`Limits.max_wall_time` was reached."""
    OUTPUT_SIZE = "output_size"
    """`Limits.max_output` was reached."""
    FAILURES = "failures"
    """`Limits.max_failures` was reached."""
    TIMEOUTS = "timeouts"
    """`Limits.max_timeouts` was reached."""
    REPETITION = "repetition"
    """`Limits.max_repeats` was reached."""
    NO_TOOL_CALLS = "no_tool_calls"
    """The model made no calls and did not report that the task is done."""
    INVALID_ANSWER = "invalid_answer"
    """The answer did not fit the response schema, also after two repairs."""
    EMPTY_RESPONSE = "empty_response"
    """Two responses in a row had neither text nor a call."""
    CALL_AS_TEXT = "call_as_text"
    """Two responses in a row were a tool call as text. Nothing was called."""
    CANCELLED = "cancelled"
    """A client cancelled the run."""
    MODEL_ERROR = "model_error"
    """The model was unreachable or returned an unusable response."""
    INTERNAL_ERROR = "internal_error"
    """A bug in agentd, or a journal that cannot be written."""


class Completion(enum.StrEnum):
    """When a run counts as completed."""

    EXPLICIT = "explicit"
    """When the model calls `attempt_completion`. The run pauses after three responses without a
    call."""
    END_TURN = "end_turn"
    """When the model gives a response without calls."""


class DecisionKind(enum.StrEnum):
    """What a person has to decide."""

    APPROVAL = "approval"
    """Whether a call may be executed. Approve it, possibly with other arguments, or reject it."""
    QUESTION = "question"
    """The answer to a question of the model. Answer it, or reject it to leave it unanswered."""
    OUTCOME = "outcome"
    """How to continue after a call whose outcome is unknown. Approve to execute it again, answer to
    tell the model how it ended, or reject to leave it unknown."""
    PAUSE = "pause"
    """Whether a paused run continues. Approve, or reject to end the run."""
    TOOL = "tool"
    """A question of the tool of a running call. Answer it with a JSON object that fits the schema, or
    with a text if the schema has only one text, or reject it to decline."""


class Verdict(enum.StrEnum):
    """The result of a decision."""

    APPROVE = "approve"
    REJECT = "reject"
    ANSWER = "answer"
    EXPIRED = "expired"
    """Nobody responded in time. This counts as a rejection."""


@dataclass(frozen=True, kw_only=True)
class ToolChoice:
    """Selects the tools that a model may use. A tool must match every field that is set."""

    names: Sequence[str] = ()
    categories: Sequence[str] = ()
    tags: Sequence[str] = ()
    """A tool must have at least one of these tags."""
    plugins: Sequence[str] = ()
    """Selects the tools of one of these plugins."""
    excluded: Sequence[str] = ()
    """The names of tools that are never selected."""
    dangerous: bool | None = None
    """Selects only dangerous tools, or only tools that are not dangerous. None selects both."""
    max_cost_per_use: float | None = None
    """The highest cost of one call. None means no limit."""
    max_tools: int | None = None
    """How many tools the model sees at a time. It finds the others with `tool_search`. None means
    the default of agentd."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a model chooses its words. A field that is None means the setting of the agent."""

    temperature: float | None = None
    """How random the choice is, from 0 to 2."""
    top_p: float | None = None
    """The part of the probability from which the model chooses, from 0 to 1."""
    effort: Literal["none", "low", "medium", "high"] | None = None
    """How much a reasoning model thinks."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a run. A field that is None means the limit of agentd."""

    max_turns: int | None = None
    """The most responses of the model."""
    max_calls: int | None = None
    """The most tool calls."""
    max_response_tokens: int | None = None
    """The most tokens of one response."""
    max_tokens: int | None = None
    """The most tokens, input and output, of the model and the tools together."""
    max_cost: float | None = None
    """The highest cost of the model and the tools together. `start` raises InvalidArgument if the
    model has no price."""
    max_wall_time: float | None = None
    """The longest working time, in seconds. Time in which the run only waits for a person does not
    count."""
    max_output: int | None = None
    """The most bytes of text that the tools return in total."""
    max_failures: int | None = None
    """The most failed calls in succession."""
    max_timeouts: int | None = None
    """The most timeouts of one tool in succession before the run pauses."""
    max_repeats: int | None = None
    """The most results in succession that repeat an earlier result for the same tool and
    arguments."""


@dataclass(frozen=True, kw_only=True)
class People:
    """Whether a run can ask a person."""

    attended: bool
    """Whether a person watches the run and responds. If False, the run treats every decision as
    rejected."""
    expiry: float | None = None
    """After how many seconds an open decision counts as rejected. None means 24 hours."""
    ask_outcome: bool = False
    """Whether a person decides how to continue after a call whose outcome is unknown. If False, the
    model decides."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """How much of a conversation the model reads.

    A field that is None means the default of agentd.
    """

    tokens: int | None = None
    """The context window of the model, in tokens, for input and output together."""
    clear_at: float | None = None
    """The used fraction of the window at which agentd removes old results, at most 1."""
    summarize_at: float | None = None
    """The used fraction of the window at which the model summarizes the conversation, at most 1."""
    keep: int | None = None
    """How many of the last responses stay unchanged, with their results."""


@dataclass(frozen=True)
class Attachment:
    """A file for the model of a run.

    agentd takes the content when it accepts the prompt or the message. A prompt or a message has at
    most 20 attachments with 12 MiB in total; a run has at most 100 with 20 MiB.
    """

    data: bytes = b""
    """The content, at most 10 MiB. Text must be UTF-8. Empty if `artifact` is set."""
    _: KW_ONLY
    name: str = ""
    """The name of the file, without folders. The model may see it."""
    mime_type: str = ""
    """The type that you expect. agentd determines the type from the content, and raises
    InvalidArgument for a contradiction. Empty means any."""
    artifact: str = ""
    """The handle of an artifact of toolhost that the principal of the run may read."""
    session: str = ""
    """The session of the call that returned the artifact. Empty means that of the run."""


@dataclass(frozen=True)
class AttachmentInfo:
    """An attachment of a prompt or a message, without its content."""

    name: str
    """Empty if the file has no name."""
    mime_type: str
    size: int
    """The size of the content in bytes."""
    sha256: str
    """The SHA-256 of the content, in lower-case hexadecimal."""
    artifact: str | None
    """The handle that the content was read from. None if the caller sent it."""


class RunOptions(TypedDict, total=False):
    """The options of a run. Without an option, the default of agentd applies."""

    run_id: str
    """The id: 1 to 64 of the characters A-Z a-z 0-9 _ -. Without it, agentd generates one. The same
    id with the same prompt returns the existing run."""
    system_prompt: str
    """The instructions that precede the conversation."""
    session: str
    """The session of the run's calls. Without it, the session is the run id."""
    context: Mapping[str, Any]
    """The initial run context."""
    tools: ToolChoice
    """The tools that the model may use. Without it, all tools."""
    limits: Limits
    attachments: Sequence[Attachment]
    """The files that go with the prompt. The model must read their types."""
    people: People
    agent: str
    """A name of `agents` in agentd.yaml. Without it, the default agent of agentd, if it has one."""
    model: str
    """A name of `models` in agentd.yaml. Without it, the models of the agent."""
    sampling: Sampling
    """How the model chooses its words. Without it, as the agent says."""
    completion: Completion
    response_schema: Mapping[str, Any]
    """The JSON Schema of the answer, whose type is `object`. The run then succeeds only with an answer
    that fits it; see `RunFinished.result`. Without it, the answer is text."""
    traceparent: str
    """The W3C traceparent of the run."""
    window: Window
    system_tools: Sequence[str]
    """The tools of agentd itself that the model may use: any of `ask_user`, `attempt_completion`,
    `compact_conversation`, `new_task` and `tool_search`."""
    sub_runs: int
    """How many levels of sub-runs may exist below the run."""


@dataclass(frozen=True)
class PendingDecision:
    """A decision that a run waits for."""

    decision_id: str
    kind: DecisionKind | None
    """None for a kind that this version of the SDK does not know."""
    call_id: str | None
    """The call that waits. None for `DecisionKind.PAUSE`."""
    tool: str | None
    """The tool of that call. None for `DecisionKind.PAUSE`."""
    display_name: str | None
    """The name of the tool for people, as its plugin declares it. Show it beside `tool`, never
    instead of it."""
    arguments: str
    """The arguments of the call, as text. For `DecisionKind.APPROVAL` they are the final arguments,
    a JSON object, and an approval executes exactly these. For other kinds the model wrote them, so
    they may be invalid JSON."""
    reason: str
    """Why the run asks. For `DecisionKind.QUESTION`, the question."""
    options: tuple[str, ...]
    """The answers that the model suggests. Any other answer is valid too."""
    rule: str | None
    """The policy rule that requires the approval. None if no rule does."""
    request_time: datetime | None
    expire_time: datetime | None
    """When the decision counts as rejected. None means never."""
    run_id: str | None
    """The sub-run that waits. None if the run itself waits."""
    plugin: str | None = None
    """The plugin that asks, for `DecisionKind.TOOL`. Show its name with the question."""
    schema: str = ""
    """The JSON Schema of the answer, for `DecisionKind.TOOL`, as text."""


@dataclass(frozen=True)
class InboxDecision:
    """A decision that a run of any principal, or a call that toolhost holds, waits for or has waited for.

    All of it but `rule` is what a model, a tool or a caller wrote: escape it.
    """

    name: str
    """RUN/DECISION, or calls/ID of a call that toolhost holds, for `inbox_decision`."""
    pending: PendingDecision
    """What has to be decided. Of a run, its `run_id` is set: `respond` takes it with `decision_id`. `inbox`
    leaves its `schema` empty."""
    parent_run_id: str | None
    """The run of which the run is a sub-run. None if it is none."""
    tenant: str
    principal: str | None
    """The key of the principal that the run or the call belongs to. None for runs of earlier versions."""
    four_eyes: bool
    """Whether another principal than that of the run or the call has to approve."""
    diff: str
    """What the call would change, as a unified diff. `inbox` leaves it empty."""
    cut: bool
    """Whether `arguments` or `reason` are not whole, or options, schema or diff are left out.
    `inbox_decision` has the whole."""
    not_allowed: str | None
    """Why this client cannot make the decision now. None means that it can."""
    waiting: bool
    """Whether the decision waits."""
    verdict: Verdict | None
    """The verdict. None if the decision was not made, and for a verdict that this version of the SDK
    does not know."""
    text: str
    """The reason or the answer of the person who decided."""
    decided_by: str
    """The person who decided, as their client named them. Nobody has verified it."""
    decided_by_principal: str | None
    """The key of the principal that decided. None if nobody did."""
    decide_time: datetime | None
    """When the decision was made."""
    etag: str | None = None
    """The digest of what the person sees, for `decide`. Only `inbox_decision` sets it, and only while
    the decision waits: `inbox` does not return the whole."""
    approver_groups: tuple[str, ...] = ()
    """The groups of which the approver has to be in one. Empty means any approver."""
    agent: str | None = None
    """The agent of a held call. None for a run."""
    session: str | None = None
    """The session of a held call. None for a run."""
    context: str = ""
    """The values of the caller's context on which a held call depends, a JSON object as text: those that
    the tool gets, and those that rules read. Empty means that there are none."""


@dataclass(frozen=True)
class InboxPage:
    """One page of decisions."""

    decisions: tuple[InboxDecision, ...]
    next_page_token: str
    """The token of the next page. Empty means that this is the last page."""
    unavailable: tuple[str, ...]
    """One text for each source that did not answer, so that its decisions are missing: the toolhost of an
    agentd. Escape it."""
    position: str = ""
    """The `position` of a `watch_inbox` that continues after the first page: it yields what changes, and not
    what waits already. Empty on other pages."""


@dataclass(frozen=True)
class InboxChange:
    """One step of `watch_inbox`: a run or a held call with all that it waits for now."""

    restart: bool
    """Whether to forget what earlier changes said: the inbox follows as a whole."""
    source: str
    """The run, or the name of the held call. Empty means that the change has none."""
    decisions: tuple[InboxDecision, ...]
    """All that the source waits for, as `inbox` yields it, in place of what earlier changes said. Empty
    means that it waits for nothing."""
    complete: bool
    """Whether everything that waits is known now."""
    position: str
    """Where `watch_inbox` goes on after this change. Empty until everything is known."""
    unavailable: tuple[str, ...]
    """As in `InboxPage`, if `complete` is set."""


@dataclass(frozen=True)
class Run:
    """The summary of a run."""

    run_id: str
    prompt: str
    """The first message of the user."""
    model: str
    """The model, as `provider:name`."""
    state: RunState | None
    """None for a state that this version of the SDK does not know."""
    stop_reason: StopReason | None
    """Why the run ended. None while it runs, and for a reason that this version of the SDK does not
    know."""
    start_time: datetime | None
    update_time: datetime | None
    """The time of the last event."""
    last_seq: int
    """The `seq` of the last event."""
    turns: int
    """How many responses the model gave."""
    calls: int
    """How many tool calls the run made."""
    usage: Usage
    cost: float
    """The cost so far, in the currency of agentd's prices."""
    pending_decisions: tuple[PendingDecision, ...]
    """The decisions that the run waits for. Only `get` fills them in; `list` leaves them empty."""
    parent_run_id: str | None
    """The run that started this one as a sub-run. None for a run that a client started."""
    interrupted: bool
    """Whether the run has not ended, but no agentd works on it."""


@dataclass(frozen=True)
class Decision:
    """A decision of a person. `approve`, `reject` and `answer` create decisions."""

    decision_id: str
    verdict: Verdict
    arguments: Mapping[str, Any] | None = None
    """For an approval, the arguments that replace those of the call. None keeps them."""
    text: str = ""
    """The reason of an approval or rejection, or the answer."""


def approve(decision_id: str, arguments: Mapping[str, Any] | None = None, *, reason: str = "") -> Decision:
    """Return an approval. With arguments, the call is executed with these instead of its own."""
    return Decision(decision_id, Verdict.APPROVE, arguments, reason)


def reject(decision_id: str, reason: str = "") -> Decision:
    """Return a rejection. The model reads the reason."""
    return Decision(decision_id, Verdict.REJECT, None, reason)


def answer(decision_id: str, text: str) -> Decision:
    """Return an answer, which the model reads."""
    return Decision(decision_id, Verdict.ANSWER, None, text)
