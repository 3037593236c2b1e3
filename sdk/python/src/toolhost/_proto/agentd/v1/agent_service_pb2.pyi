import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolhost._proto.toolhost.tool.v1 import error_pb2 as _error_pb2
from toolhost._proto.toolhost.tool.v1 import result_pb2 as _result_pb2
from toolhost._proto.toolhost.tool.v1 import status_pb2 as _status_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Completion(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMPLETION_UNSPECIFIED: _ClassVar[Completion]
    COMPLETION_EXPLICIT: _ClassVar[Completion]
    COMPLETION_END_TURN: _ClassVar[Completion]

class DecisionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_KIND_UNSPECIFIED: _ClassVar[DecisionKind]
    DECISION_KIND_APPROVAL: _ClassVar[DecisionKind]
    DECISION_KIND_QUESTION: _ClassVar[DecisionKind]
    DECISION_KIND_OUTCOME: _ClassVar[DecisionKind]
    DECISION_KIND_PAUSE: _ClassVar[DecisionKind]

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_UNSPECIFIED: _ClassVar[Verdict]
    VERDICT_APPROVE: _ClassVar[Verdict]
    VERDICT_REJECT: _ClassVar[Verdict]
    VERDICT_ANSWER: _ClassVar[Verdict]
    VERDICT_EXPIRED: _ClassVar[Verdict]

class RunState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATE_UNSPECIFIED: _ClassVar[RunState]
    RUN_STATE_RUNNING: _ClassVar[RunState]
    RUN_STATE_FINISHED: _ClassVar[RunState]
    RUN_STATE_WAITING: _ClassVar[RunState]
    RUN_STATE_INTERRUPTED: _ClassVar[RunState]

class StopReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STOP_REASON_UNSPECIFIED: _ClassVar[StopReason]
    STOP_REASON_END_TURN: _ClassVar[StopReason]
    STOP_REASON_MAX_TOKENS: _ClassVar[StopReason]
    STOP_REASON_REFUSAL: _ClassVar[StopReason]
    STOP_REASON_CONTENT_FILTER: _ClassVar[StopReason]
    STOP_REASON_CONTEXT_OVERFLOW: _ClassVar[StopReason]
    STOP_REASON_MAX_TURNS: _ClassVar[StopReason]
    STOP_REASON_MAX_CALLS: _ClassVar[StopReason]
    STOP_REASON_CANCELLED: _ClassVar[StopReason]
    STOP_REASON_MODEL_ERROR: _ClassVar[StopReason]
    STOP_REASON_RETURN_DIRECT: _ClassVar[StopReason]
    STOP_REASON_INTERNAL_ERROR: _ClassVar[StopReason]
    STOP_REASON_COMPLETED: _ClassVar[StopReason]
    STOP_REASON_TOKEN_BUDGET: _ClassVar[StopReason]
    STOP_REASON_COST_BUDGET: _ClassVar[StopReason]
    STOP_REASON_WALL_TIME: _ClassVar[StopReason]
    STOP_REASON_OUTPUT_SIZE: _ClassVar[StopReason]
    STOP_REASON_FAILURES: _ClassVar[StopReason]
    STOP_REASON_TIMEOUTS: _ClassVar[StopReason]
    STOP_REASON_REPETITION: _ClassVar[StopReason]
    STOP_REASON_NO_TOOL_CALLS: _ClassVar[StopReason]
COMPLETION_UNSPECIFIED: Completion
COMPLETION_EXPLICIT: Completion
COMPLETION_END_TURN: Completion
DECISION_KIND_UNSPECIFIED: DecisionKind
DECISION_KIND_APPROVAL: DecisionKind
DECISION_KIND_QUESTION: DecisionKind
DECISION_KIND_OUTCOME: DecisionKind
DECISION_KIND_PAUSE: DecisionKind
VERDICT_UNSPECIFIED: Verdict
VERDICT_APPROVE: Verdict
VERDICT_REJECT: Verdict
VERDICT_ANSWER: Verdict
VERDICT_EXPIRED: Verdict
RUN_STATE_UNSPECIFIED: RunState
RUN_STATE_RUNNING: RunState
RUN_STATE_FINISHED: RunState
RUN_STATE_WAITING: RunState
RUN_STATE_INTERRUPTED: RunState
STOP_REASON_UNSPECIFIED: StopReason
STOP_REASON_END_TURN: StopReason
STOP_REASON_MAX_TOKENS: StopReason
STOP_REASON_REFUSAL: StopReason
STOP_REASON_CONTENT_FILTER: StopReason
STOP_REASON_CONTEXT_OVERFLOW: StopReason
STOP_REASON_MAX_TURNS: StopReason
STOP_REASON_MAX_CALLS: StopReason
STOP_REASON_CANCELLED: StopReason
STOP_REASON_MODEL_ERROR: StopReason
STOP_REASON_RETURN_DIRECT: StopReason
STOP_REASON_INTERNAL_ERROR: StopReason
STOP_REASON_COMPLETED: StopReason
STOP_REASON_TOKEN_BUDGET: StopReason
STOP_REASON_COST_BUDGET: StopReason
STOP_REASON_WALL_TIME: StopReason
STOP_REASON_OUTPUT_SIZE: StopReason
STOP_REASON_FAILURES: StopReason
STOP_REASON_TIMEOUTS: StopReason
STOP_REASON_REPETITION: StopReason
STOP_REASON_NO_TOOL_CALLS: StopReason

class StartRunRequest(_message.Message):
    __slots__ = ("prompt", "run_id", "system_prompt", "tools", "limits", "session", "people", "context", "explicit_completion", "window", "system_tools", "sub_runs", "kind", "completion", "traceparent")
    class ContextEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    PEOPLE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    EXPLICIT_COMPLETION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_TOOLS_FIELD_NUMBER: _ClassVar[int]
    SUB_RUNS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    prompt: str
    run_id: str
    system_prompt: str
    tools: ToolChoice
    limits: Limits
    session: str
    people: People
    context: _containers.ScalarMap[str, bytes]
    explicit_completion: bool
    window: Window
    system_tools: SystemTools
    sub_runs: int
    kind: str
    completion: Completion
    traceparent: str
    def __init__(self, prompt: _Optional[str] = ..., run_id: _Optional[str] = ..., system_prompt: _Optional[str] = ..., tools: _Optional[_Union[ToolChoice, _Mapping[str, object]]] = ..., limits: _Optional[_Union[Limits, _Mapping[str, object]]] = ..., session: _Optional[str] = ..., people: _Optional[_Union[People, _Mapping[str, object]]] = ..., context: _Optional[_Mapping[str, bytes]] = ..., explicit_completion: bool = ..., window: _Optional[_Union[Window, _Mapping[str, object]]] = ..., system_tools: _Optional[_Union[SystemTools, _Mapping[str, object]]] = ..., sub_runs: _Optional[int] = ..., kind: _Optional[str] = ..., completion: _Optional[_Union[Completion, str]] = ..., traceparent: _Optional[str] = ...) -> None: ...

class Window(_message.Message):
    __slots__ = ("tokens", "clear_at", "summarize_at", "keep")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    CLEAR_AT_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZE_AT_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    clear_at: float
    summarize_at: float
    keep: int
    def __init__(self, tokens: _Optional[int] = ..., clear_at: _Optional[float] = ..., summarize_at: _Optional[float] = ..., keep: _Optional[int] = ...) -> None: ...

class SystemTools(_message.Message):
    __slots__ = ("names",)
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class People(_message.Message):
    __slots__ = ("attended", "expiry", "ask_outcome")
    ATTENDED_FIELD_NUMBER: _ClassVar[int]
    EXPIRY_FIELD_NUMBER: _ClassVar[int]
    ASK_OUTCOME_FIELD_NUMBER: _ClassVar[int]
    attended: bool
    expiry: _duration_pb2.Duration
    ask_outcome: bool
    def __init__(self, attended: bool = ..., expiry: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., ask_outcome: bool = ...) -> None: ...

class ToolChoice(_message.Message):
    __slots__ = ("names", "categories", "tags", "dangerous", "max_cost_per_use", "max_tools")
    NAMES_FIELD_NUMBER: _ClassVar[int]
    CATEGORIES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    DANGEROUS_FIELD_NUMBER: _ClassVar[int]
    MAX_COST_PER_USE_FIELD_NUMBER: _ClassVar[int]
    MAX_TOOLS_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    categories: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    dangerous: bool
    max_cost_per_use: float
    max_tools: int
    def __init__(self, names: _Optional[_Iterable[str]] = ..., categories: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., dangerous: bool = ..., max_cost_per_use: _Optional[float] = ..., max_tools: _Optional[int] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("max_turns", "max_calls", "max_response_tokens", "max_tokens", "max_cost", "max_wall_time", "max_output", "max_failures", "max_timeouts", "max_repeats")
    MAX_TURNS_FIELD_NUMBER: _ClassVar[int]
    MAX_CALLS_FIELD_NUMBER: _ClassVar[int]
    MAX_RESPONSE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_COST_FIELD_NUMBER: _ClassVar[int]
    MAX_WALL_TIME_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    MAX_FAILURES_FIELD_NUMBER: _ClassVar[int]
    MAX_TIMEOUTS_FIELD_NUMBER: _ClassVar[int]
    MAX_REPEATS_FIELD_NUMBER: _ClassVar[int]
    max_turns: int
    max_calls: int
    max_response_tokens: int
    max_tokens: int
    max_cost: float
    max_wall_time: _duration_pb2.Duration
    max_output: int
    max_failures: int
    max_timeouts: int
    max_repeats: int
    def __init__(self, max_turns: _Optional[int] = ..., max_calls: _Optional[int] = ..., max_response_tokens: _Optional[int] = ..., max_tokens: _Optional[int] = ..., max_cost: _Optional[float] = ..., max_wall_time: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., max_output: _Optional[int] = ..., max_failures: _Optional[int] = ..., max_timeouts: _Optional[int] = ..., max_repeats: _Optional[int] = ...) -> None: ...

class StartRunResponse(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class SendMessageRequest(_message.Message):
    __slots__ = ("run_id", "text")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    text: str
    def __init__(self, run_id: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class SendMessageResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class WatchRunRequest(_message.Message):
    __slots__ = ("run_id", "after_seq")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    after_seq: int
    def __init__(self, run_id: _Optional[str] = ..., after_seq: _Optional[int] = ...) -> None: ...

class WatchRunResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: RunEvent
    def __init__(self, event: _Optional[_Union[RunEvent, _Mapping[str, object]]] = ...) -> None: ...

class RespondRequest(_message.Message):
    __slots__ = ("run_id", "decisions", "decided_by")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    decisions: _containers.RepeatedCompositeFieldContainer[Decision]
    decided_by: str
    def __init__(self, run_id: _Optional[str] = ..., decisions: _Optional[_Iterable[_Union[Decision, _Mapping[str, object]]]] = ..., decided_by: _Optional[str] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("decision_id", "approve", "reject", "answer")
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    APPROVE_FIELD_NUMBER: _ClassVar[int]
    REJECT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    decision_id: str
    approve: Approve
    reject: Reject
    answer: Answer
    def __init__(self, decision_id: _Optional[str] = ..., approve: _Optional[_Union[Approve, _Mapping[str, object]]] = ..., reject: _Optional[_Union[Reject, _Mapping[str, object]]] = ..., answer: _Optional[_Union[Answer, _Mapping[str, object]]] = ...) -> None: ...

class Approve(_message.Message):
    __slots__ = ("arguments", "reason")
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    arguments: bytes
    reason: str
    def __init__(self, arguments: _Optional[bytes] = ..., reason: _Optional[str] = ...) -> None: ...

class Reject(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class RespondResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class CancelRunRequest(_message.Message):
    __slots__ = ("run_id", "reason")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    reason: str
    def __init__(self, run_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CancelRunResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    def __init__(self, run: _Optional[_Union[Run, _Mapping[str, object]]] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "states", "parent_run_id")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    PARENT_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    states: _containers.RepeatedScalarFieldContainer[RunState]
    parent_run_id: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., states: _Optional[_Iterable[_Union[RunState, str]]] = ..., parent_run_id: _Optional[str] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs", "next_page_token")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[Run]
    next_page_token: str
    def __init__(self, runs: _Optional[_Iterable[_Union[Run, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Run(_message.Message):
    __slots__ = ("run_id", "prompt", "model", "state", "stop_reason", "start_time", "update_time", "last_seq", "turns", "calls", "usage", "cost", "pending_decisions", "parent_run_id", "interrupted")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQ_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    PENDING_DECISIONS_FIELD_NUMBER: _ClassVar[int]
    PARENT_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    INTERRUPTED_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    prompt: str
    model: str
    state: RunState
    stop_reason: StopReason
    start_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    last_seq: int
    turns: int
    calls: int
    usage: _result_pb2.Usage
    cost: float
    pending_decisions: _containers.RepeatedCompositeFieldContainer[PendingDecision]
    parent_run_id: str
    interrupted: bool
    def __init__(self, run_id: _Optional[str] = ..., prompt: _Optional[str] = ..., model: _Optional[str] = ..., state: _Optional[_Union[RunState, str]] = ..., stop_reason: _Optional[_Union[StopReason, str]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., last_seq: _Optional[int] = ..., turns: _Optional[int] = ..., calls: _Optional[int] = ..., usage: _Optional[_Union[_result_pb2.Usage, _Mapping[str, object]]] = ..., cost: _Optional[float] = ..., pending_decisions: _Optional[_Iterable[_Union[PendingDecision, _Mapping[str, object]]]] = ..., parent_run_id: _Optional[str] = ..., interrupted: bool = ...) -> None: ...

class PendingDecision(_message.Message):
    __slots__ = ("decision_id", "kind", "call_id", "tool", "arguments", "reason", "options", "rule", "request_time", "expire_time", "run_id", "display_name")
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    decision_id: str
    kind: DecisionKind
    call_id: str
    tool: str
    arguments: bytes
    reason: str
    options: _containers.RepeatedScalarFieldContainer[str]
    rule: str
    request_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    run_id: str
    display_name: str
    def __init__(self, decision_id: _Optional[str] = ..., kind: _Optional[_Union[DecisionKind, str]] = ..., call_id: _Optional[str] = ..., tool: _Optional[str] = ..., arguments: _Optional[bytes] = ..., reason: _Optional[str] = ..., options: _Optional[_Iterable[str]] = ..., rule: _Optional[str] = ..., request_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., run_id: _Optional[str] = ..., display_name: _Optional[str] = ...) -> None: ...

class RunEvent(_message.Message):
    __slots__ = ("seq", "index", "time", "run_started", "user_message", "text_delta", "assistant_message", "call_started", "call_status", "call_result", "turn_reset", "cancel_requested", "run_finished", "decision_requested", "decision_made", "budget_warning", "context_change", "todo_change", "sub_run_started", "compacted", "sub_run_waiting", "run_resumed")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    RUN_STARTED_FIELD_NUMBER: _ClassVar[int]
    USER_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TEXT_DELTA_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CALL_STARTED_FIELD_NUMBER: _ClassVar[int]
    CALL_STATUS_FIELD_NUMBER: _ClassVar[int]
    CALL_RESULT_FIELD_NUMBER: _ClassVar[int]
    TURN_RESET_FIELD_NUMBER: _ClassVar[int]
    CANCEL_REQUESTED_FIELD_NUMBER: _ClassVar[int]
    RUN_FINISHED_FIELD_NUMBER: _ClassVar[int]
    DECISION_REQUESTED_FIELD_NUMBER: _ClassVar[int]
    DECISION_MADE_FIELD_NUMBER: _ClassVar[int]
    BUDGET_WARNING_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_CHANGE_FIELD_NUMBER: _ClassVar[int]
    TODO_CHANGE_FIELD_NUMBER: _ClassVar[int]
    SUB_RUN_STARTED_FIELD_NUMBER: _ClassVar[int]
    COMPACTED_FIELD_NUMBER: _ClassVar[int]
    SUB_RUN_WAITING_FIELD_NUMBER: _ClassVar[int]
    RUN_RESUMED_FIELD_NUMBER: _ClassVar[int]
    seq: int
    index: int
    time: _timestamp_pb2.Timestamp
    run_started: RunStarted
    user_message: UserMessage
    text_delta: TextDelta
    assistant_message: AssistantMessage
    call_started: CallStarted
    call_status: CallStatus
    call_result: CallResult
    turn_reset: TurnReset
    cancel_requested: CancelRequested
    run_finished: RunFinished
    decision_requested: DecisionRequested
    decision_made: DecisionMade
    budget_warning: BudgetWarning
    context_change: ContextChange
    todo_change: TodoChange
    sub_run_started: SubRunStarted
    compacted: Compacted
    sub_run_waiting: SubRunWaiting
    run_resumed: RunResumed
    def __init__(self, seq: _Optional[int] = ..., index: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., run_started: _Optional[_Union[RunStarted, _Mapping[str, object]]] = ..., user_message: _Optional[_Union[UserMessage, _Mapping[str, object]]] = ..., text_delta: _Optional[_Union[TextDelta, _Mapping[str, object]]] = ..., assistant_message: _Optional[_Union[AssistantMessage, _Mapping[str, object]]] = ..., call_started: _Optional[_Union[CallStarted, _Mapping[str, object]]] = ..., call_status: _Optional[_Union[CallStatus, _Mapping[str, object]]] = ..., call_result: _Optional[_Union[CallResult, _Mapping[str, object]]] = ..., turn_reset: _Optional[_Union[TurnReset, _Mapping[str, object]]] = ..., cancel_requested: _Optional[_Union[CancelRequested, _Mapping[str, object]]] = ..., run_finished: _Optional[_Union[RunFinished, _Mapping[str, object]]] = ..., decision_requested: _Optional[_Union[DecisionRequested, _Mapping[str, object]]] = ..., decision_made: _Optional[_Union[DecisionMade, _Mapping[str, object]]] = ..., budget_warning: _Optional[_Union[BudgetWarning, _Mapping[str, object]]] = ..., context_change: _Optional[_Union[ContextChange, _Mapping[str, object]]] = ..., todo_change: _Optional[_Union[TodoChange, _Mapping[str, object]]] = ..., sub_run_started: _Optional[_Union[SubRunStarted, _Mapping[str, object]]] = ..., compacted: _Optional[_Union[Compacted, _Mapping[str, object]]] = ..., sub_run_waiting: _Optional[_Union[SubRunWaiting, _Mapping[str, object]]] = ..., run_resumed: _Optional[_Union[RunResumed, _Mapping[str, object]]] = ...) -> None: ...

class RunStarted(_message.Message):
    __slots__ = ("run_id", "prompt", "model", "session", "parent_run_id", "parent_call_id", "kind", "traceparent")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    PARENT_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    prompt: str
    model: str
    session: str
    parent_run_id: str
    parent_call_id: str
    kind: str
    traceparent: str
    def __init__(self, run_id: _Optional[str] = ..., prompt: _Optional[str] = ..., model: _Optional[str] = ..., session: _Optional[str] = ..., parent_run_id: _Optional[str] = ..., parent_call_id: _Optional[str] = ..., kind: _Optional[str] = ..., traceparent: _Optional[str] = ...) -> None: ...

class UserMessage(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class TextDelta(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class AssistantMessage(_message.Message):
    __slots__ = ("text", "calls", "stop_reason", "usage", "cost", "wasted_usage")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    WASTED_USAGE_FIELD_NUMBER: _ClassVar[int]
    text: str
    calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    stop_reason: str
    usage: _result_pb2.Usage
    cost: float
    wasted_usage: _result_pb2.Usage
    def __init__(self, text: _Optional[str] = ..., calls: _Optional[_Iterable[_Union[ToolCall, _Mapping[str, object]]]] = ..., stop_reason: _Optional[str] = ..., usage: _Optional[_Union[_result_pb2.Usage, _Mapping[str, object]]] = ..., cost: _Optional[float] = ..., wasted_usage: _Optional[_Union[_result_pb2.Usage, _Mapping[str, object]]] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ("call_id", "tool", "arguments")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    arguments: bytes
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., arguments: _Optional[bytes] = ...) -> None: ...

class CallStarted(_message.Message):
    __slots__ = ("call_id", "tool", "attempt", "traceparent", "ledger_id")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    LEDGER_ID_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    attempt: int
    traceparent: str
    ledger_id: str
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., attempt: _Optional[int] = ..., traceparent: _Optional[str] = ..., ledger_id: _Optional[str] = ...) -> None: ...

class CallStatus(_message.Message):
    __slots__ = ("call_id", "tool", "status")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    status: _status_pb2.Status
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., status: _Optional[_Union[_status_pb2.Status, _Mapping[str, object]]] = ...) -> None: ...

class CallResult(_message.Message):
    __slots__ = ("call_id", "tool", "result", "error", "plugin", "instance")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    result: _result_pb2.Result
    error: _error_pb2.Error
    plugin: str
    instance: str
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., result: _Optional[_Union[_result_pb2.Result, _Mapping[str, object]]] = ..., error: _Optional[_Union[_error_pb2.Error, _Mapping[str, object]]] = ..., plugin: _Optional[str] = ..., instance: _Optional[str] = ...) -> None: ...

class TurnReset(_message.Message):
    __slots__ = ("reason", "attempt")
    REASON_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    reason: str
    attempt: int
    def __init__(self, reason: _Optional[str] = ..., attempt: _Optional[int] = ...) -> None: ...

class CancelRequested(_message.Message):
    __slots__ = ("reason", "stop_reason")
    REASON_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    stop_reason: StopReason
    def __init__(self, reason: _Optional[str] = ..., stop_reason: _Optional[_Union[StopReason, str]] = ...) -> None: ...

class DecisionRequested(_message.Message):
    __slots__ = ("decision",)
    DECISION_FIELD_NUMBER: _ClassVar[int]
    decision: PendingDecision
    def __init__(self, decision: _Optional[_Union[PendingDecision, _Mapping[str, object]]] = ...) -> None: ...

class DecisionMade(_message.Message):
    __slots__ = ("decision_id", "verdict", "arguments", "text", "decided_by", "principal")
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    decision_id: str
    verdict: Verdict
    arguments: bytes
    text: str
    decided_by: str
    principal: str
    def __init__(self, decision_id: _Optional[str] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., arguments: _Optional[bytes] = ..., text: _Optional[str] = ..., decided_by: _Optional[str] = ..., principal: _Optional[str] = ...) -> None: ...

class BudgetWarning(_message.Message):
    __slots__ = ("budget", "used", "limit")
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    budget: str
    used: float
    limit: float
    def __init__(self, budget: _Optional[str] = ..., used: _Optional[float] = ..., limit: _Optional[float] = ...) -> None: ...

class ContextChange(_message.Message):
    __slots__ = ("keys", "refused")
    class RefusedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    KEYS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedScalarFieldContainer[str]
    refused: _containers.ScalarMap[str, str]
    def __init__(self, keys: _Optional[_Iterable[str]] = ..., refused: _Optional[_Mapping[str, str]] = ...) -> None: ...

class TodoChange(_message.Message):
    __slots__ = ("todos",)
    TODOS_FIELD_NUMBER: _ClassVar[int]
    todos: bytes
    def __init__(self, todos: _Optional[bytes] = ...) -> None: ...

class SubRunStarted(_message.Message):
    __slots__ = ("call_id", "run_id", "prompt")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    run_id: str
    prompt: str
    def __init__(self, call_id: _Optional[str] = ..., run_id: _Optional[str] = ..., prompt: _Optional[str] = ...) -> None: ...

class RunResumed(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SubRunWaiting(_message.Message):
    __slots__ = ("call_id", "run_id", "decision_ids")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_IDS_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    run_id: str
    decision_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, call_id: _Optional[str] = ..., run_id: _Optional[str] = ..., decision_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Compacted(_message.Message):
    __slots__ = ("reason", "cleared_results", "summary", "replaced_messages", "overflow", "failure", "usage", "cost")
    REASON_FIELD_NUMBER: _ClassVar[int]
    CLEARED_RESULTS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    REPLACED_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    OVERFLOW_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    reason: str
    cleared_results: int
    summary: str
    replaced_messages: int
    overflow: bool
    failure: str
    usage: _result_pb2.Usage
    cost: float
    def __init__(self, reason: _Optional[str] = ..., cleared_results: _Optional[int] = ..., summary: _Optional[str] = ..., replaced_messages: _Optional[int] = ..., overflow: bool = ..., failure: _Optional[str] = ..., usage: _Optional[_Union[_result_pb2.Usage, _Mapping[str, object]]] = ..., cost: _Optional[float] = ...) -> None: ...

class RunFinished(_message.Message):
    __slots__ = ("stop_reason", "message", "text", "turns", "calls", "usage", "cost")
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    stop_reason: StopReason
    message: str
    text: str
    turns: int
    calls: int
    usage: _result_pb2.Usage
    cost: float
    def __init__(self, stop_reason: _Optional[_Union[StopReason, str]] = ..., message: _Optional[str] = ..., text: _Optional[str] = ..., turns: _Optional[int] = ..., calls: _Optional[int] = ..., usage: _Optional[_Union[_result_pb2.Usage, _Mapping[str, object]]] = ..., cost: _Optional[float] = ...) -> None: ...
