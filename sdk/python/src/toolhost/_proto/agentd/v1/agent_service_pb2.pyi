import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolhost._proto.toolhost.tool.v1 import caller_pb2 as _caller_pb2
from toolhost._proto.toolhost.tool.v1 import error_pb2 as _error_pb2
from toolhost._proto.toolhost.tool.v1 import result_pb2 as _result_pb2
from toolhost._proto.toolhost.tool.v1 import right_pb2 as _right_pb2
from toolhost._proto.toolhost.tool.v1 import status_pb2 as _status_pb2
from toolhost._proto.toolhost.tool.v1 import version_pb2 as _version_pb2
from toolhost._proto.toolhost.v1 import settled_pb2 as _settled_pb2
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

class StandingScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STANDING_SCOPE_UNSPECIFIED: _ClassVar[StandingScope]
    STANDING_SCOPE_RUN: _ClassVar[StandingScope]
    STANDING_SCOPE_SESSION: _ClassVar[StandingScope]
    STANDING_SCOPE_PRINCIPAL: _ClassVar[StandingScope]

class DecisionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_KIND_UNSPECIFIED: _ClassVar[DecisionKind]
    DECISION_KIND_APPROVAL: _ClassVar[DecisionKind]
    DECISION_KIND_QUESTION: _ClassVar[DecisionKind]
    DECISION_KIND_OUTCOME: _ClassVar[DecisionKind]
    DECISION_KIND_PAUSE: _ClassVar[DecisionKind]
    DECISION_KIND_TOOL: _ClassVar[DecisionKind]

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
    STOP_REASON_INVALID_ANSWER: _ClassVar[StopReason]
    STOP_REASON_EMPTY_RESPONSE: _ClassVar[StopReason]
    STOP_REASON_CALL_AS_TEXT: _ClassVar[StopReason]
COMPLETION_UNSPECIFIED: Completion
COMPLETION_EXPLICIT: Completion
COMPLETION_END_TURN: Completion
STANDING_SCOPE_UNSPECIFIED: StandingScope
STANDING_SCOPE_RUN: StandingScope
STANDING_SCOPE_SESSION: StandingScope
STANDING_SCOPE_PRINCIPAL: StandingScope
DECISION_KIND_UNSPECIFIED: DecisionKind
DECISION_KIND_APPROVAL: DecisionKind
DECISION_KIND_QUESTION: DecisionKind
DECISION_KIND_OUTCOME: DecisionKind
DECISION_KIND_PAUSE: DecisionKind
DECISION_KIND_TOOL: DecisionKind
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
STOP_REASON_INVALID_ANSWER: StopReason
STOP_REASON_EMPTY_RESPONSE: StopReason
STOP_REASON_CALL_AS_TEXT: StopReason

class CreateConsoleCodeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CreateConsoleCodeResponse(_message.Message):
    __slots__ = ("code", "expire_time", "url")
    CODE_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    code: str
    expire_time: _timestamp_pb2.Timestamp
    url: str
    def __init__(self, code: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., url: _Optional[str] = ...) -> None: ...

class ReloadRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReloadResponse(_message.Message):
    __slots__ = ("configuration",)
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    configuration: ConfigurationChange
    def __init__(self, configuration: _Optional[_Union[ConfigurationChange, _Mapping[str, object]]] = ...) -> None: ...

class DiffConfigurationRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DiffConfigurationResponse(_message.Message):
    __slots__ = ("configuration",)
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    configuration: ConfigurationChange
    def __init__(self, configuration: _Optional[_Union[ConfigurationChange, _Mapping[str, object]]] = ...) -> None: ...

class ConfigurationChange(_message.Message):
    __slots__ = ("file", "changes", "problem")
    FILE_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    file: str
    changes: _containers.RepeatedCompositeFieldContainer[SettingChange]
    problem: str
    def __init__(self, file: _Optional[str] = ..., changes: _Optional[_Iterable[_Union[SettingChange, _Mapping[str, object]]]] = ..., problem: _Optional[str] = ...) -> None: ...

class SettingChange(_message.Message):
    __slots__ = ("key", "old", "new", "restart")
    KEY_FIELD_NUMBER: _ClassVar[int]
    OLD_FIELD_NUMBER: _ClassVar[int]
    NEW_FIELD_NUMBER: _ClassVar[int]
    RESTART_FIELD_NUMBER: _ClassVar[int]
    key: str
    old: str
    new: str
    restart: bool
    def __init__(self, key: _Optional[str] = ..., old: _Optional[str] = ..., new: _Optional[str] = ..., restart: bool = ...) -> None: ...

class GetVersionRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetVersionResponse(_message.Message):
    __slots__ = ("version",)
    VERSION_FIELD_NUMBER: _ClassVar[int]
    version: _version_pb2.VersionInfo
    def __init__(self, version: _Optional[_Union[_version_pb2.VersionInfo, _Mapping[str, object]]] = ...) -> None: ...

class WhoAmIRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WhoAmIResponse(_message.Message):
    __slots__ = ("caller",)
    CALLER_FIELD_NUMBER: _ClassVar[int]
    caller: _caller_pb2.CallerInfo
    def __init__(self, caller: _Optional[_Union[_caller_pb2.CallerInfo, _Mapping[str, object]]] = ...) -> None: ...

class StartRunRequest(_message.Message):
    __slots__ = ("prompt", "run_id", "system_prompt", "tools", "limits", "session", "people", "context", "explicit_completion", "window", "system_tools", "sub_runs", "agent", "completion", "traceparent", "model", "sampling", "response_schema", "attachments")
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
    AGENT_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
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
    agent: str
    completion: Completion
    traceparent: str
    model: str
    sampling: Sampling
    response_schema: bytes
    attachments: _containers.RepeatedCompositeFieldContainer[Attachment]
    def __init__(self, prompt: _Optional[str] = ..., run_id: _Optional[str] = ..., system_prompt: _Optional[str] = ..., tools: _Optional[_Union[ToolChoice, _Mapping[str, object]]] = ..., limits: _Optional[_Union[Limits, _Mapping[str, object]]] = ..., session: _Optional[str] = ..., people: _Optional[_Union[People, _Mapping[str, object]]] = ..., context: _Optional[_Mapping[str, bytes]] = ..., explicit_completion: bool = ..., window: _Optional[_Union[Window, _Mapping[str, object]]] = ..., system_tools: _Optional[_Union[SystemTools, _Mapping[str, object]]] = ..., sub_runs: _Optional[int] = ..., agent: _Optional[str] = ..., completion: _Optional[_Union[Completion, str]] = ..., traceparent: _Optional[str] = ..., model: _Optional[str] = ..., sampling: _Optional[_Union[Sampling, _Mapping[str, object]]] = ..., response_schema: _Optional[bytes] = ..., attachments: _Optional[_Iterable[_Union[Attachment, _Mapping[str, object]]]] = ...) -> None: ...

class Attachment(_message.Message):
    __slots__ = ("name", "mime_type", "data", "artifact")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    name: str
    mime_type: str
    data: bytes
    artifact: ArtifactSource
    def __init__(self, name: _Optional[str] = ..., mime_type: _Optional[str] = ..., data: _Optional[bytes] = ..., artifact: _Optional[_Union[ArtifactSource, _Mapping[str, object]]] = ...) -> None: ...

class ArtifactSource(_message.Message):
    __slots__ = ("handle", "session")
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    handle: str
    session: str
    def __init__(self, handle: _Optional[str] = ..., session: _Optional[str] = ...) -> None: ...

class AttachmentInfo(_message.Message):
    __slots__ = ("name", "mime_type", "size", "sha256", "artifact")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    name: str
    mime_type: str
    size: int
    sha256: str
    artifact: str
    def __init__(self, name: _Optional[str] = ..., mime_type: _Optional[str] = ..., size: _Optional[int] = ..., sha256: _Optional[str] = ..., artifact: _Optional[str] = ...) -> None: ...

class Sampling(_message.Message):
    __slots__ = ("temperature", "top_p", "effort")
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    EFFORT_FIELD_NUMBER: _ClassVar[int]
    temperature: float
    top_p: float
    effort: str
    def __init__(self, temperature: _Optional[float] = ..., top_p: _Optional[float] = ..., effort: _Optional[str] = ...) -> None: ...

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
    __slots__ = ("names", "categories", "tags", "dangerous", "max_cost_per_use", "max_tools", "plugins", "excluded")
    NAMES_FIELD_NUMBER: _ClassVar[int]
    CATEGORIES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    DANGEROUS_FIELD_NUMBER: _ClassVar[int]
    MAX_COST_PER_USE_FIELD_NUMBER: _ClassVar[int]
    MAX_TOOLS_FIELD_NUMBER: _ClassVar[int]
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    categories: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    dangerous: bool
    max_cost_per_use: float
    max_tools: int
    plugins: _containers.RepeatedScalarFieldContainer[str]
    excluded: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ..., categories: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., dangerous: bool = ..., max_cost_per_use: _Optional[float] = ..., max_tools: _Optional[int] = ..., plugins: _Optional[_Iterable[str]] = ..., excluded: _Optional[_Iterable[str]] = ...) -> None: ...

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
    __slots__ = ("run_id", "text", "attachments", "message_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    text: str
    attachments: _containers.RepeatedCompositeFieldContainer[Attachment]
    message_id: str
    def __init__(self, run_id: _Optional[str] = ..., text: _Optional[str] = ..., attachments: _Optional[_Iterable[_Union[Attachment, _Mapping[str, object]]]] = ..., message_id: _Optional[str] = ...) -> None: ...

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
    __slots__ = ("arguments", "reason", "standing")
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    arguments: bytes
    reason: str
    standing: StandingChoice
    def __init__(self, arguments: _Optional[bytes] = ..., reason: _Optional[str] = ..., standing: _Optional[_Union[StandingChoice, _Mapping[str, object]]] = ...) -> None: ...

class StandingChoice(_message.Message):
    __slots__ = ("scope", "any_arguments", "patterns", "expire_time")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ANY_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    PATTERNS_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    scope: StandingScope
    any_arguments: bool
    patterns: _containers.RepeatedCompositeFieldContainer[StandingPattern]
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, scope: _Optional[_Union[StandingScope, str]] = ..., any_arguments: bool = ..., patterns: _Optional[_Iterable[_Union[StandingPattern, _Mapping[str, object]]]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ...) -> None: ...

class StandingPattern(_message.Message):
    __slots__ = ("argument", "path_prefix", "origin", "any")
    ARGUMENT_FIELD_NUMBER: _ClassVar[int]
    PATH_PREFIX_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    ANY_FIELD_NUMBER: _ClassVar[int]
    argument: str
    path_prefix: str
    origin: str
    any: bool
    def __init__(self, argument: _Optional[str] = ..., path_prefix: _Optional[str] = ..., origin: _Optional[str] = ..., any: bool = ...) -> None: ...

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

class DeleteRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class DeleteRunResponse(_message.Message):
    __slots__ = ("run_ids",)
    RUN_IDS_FIELD_NUMBER: _ClassVar[int]
    run_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run_ids: _Optional[_Iterable[str]] = ...) -> None: ...

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
    __slots__ = ("page_size", "page_token", "states", "parent_run_id", "tenants")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    PARENT_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    states: _containers.RepeatedScalarFieldContainer[RunState]
    parent_run_id: str
    tenants: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., states: _Optional[_Iterable[_Union[RunState, str]]] = ..., parent_run_id: _Optional[str] = ..., tenants: _Optional[_Iterable[str]] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs", "next_page_token")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[Run]
    next_page_token: str
    def __init__(self, runs: _Optional[_Iterable[_Union[Run, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Run(_message.Message):
    __slots__ = ("run_id", "prompt", "model", "state", "stop_reason", "start_time", "update_time", "last_seq", "turns", "calls", "usage", "cost", "pending_decisions", "parent_run_id", "interrupted", "principal", "foreground", "settlements", "parent_call_id", "parked")
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
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    FOREGROUND_FIELD_NUMBER: _ClassVar[int]
    SETTLEMENTS_FIELD_NUMBER: _ClassVar[int]
    PARENT_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PARKED_FIELD_NUMBER: _ClassVar[int]
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
    principal: str
    foreground: bool
    settlements: Settlements
    parent_call_id: str
    parked: str
    def __init__(self, run_id: _Optional[str] = ..., prompt: _Optional[str] = ..., model: _Optional[str] = ..., state: _Optional[_Union[RunState, str]] = ..., stop_reason: _Optional[_Union[StopReason, str]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., last_seq: _Optional[int] = ..., turns: _Optional[int] = ..., calls: _Optional[int] = ..., usage: _Optional[_Union[_result_pb2.Usage, _Mapping[str, object]]] = ..., cost: _Optional[float] = ..., pending_decisions: _Optional[_Iterable[_Union[PendingDecision, _Mapping[str, object]]]] = ..., parent_run_id: _Optional[str] = ..., interrupted: bool = ..., principal: _Optional[str] = ..., foreground: bool = ..., settlements: _Optional[_Union[Settlements, _Mapping[str, object]]] = ..., parent_call_id: _Optional[str] = ..., parked: _Optional[str] = ...) -> None: ...

class Settlements(_message.Message):
    __slots__ = ("happened", "repeated", "unknown")
    HAPPENED_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    happened: int
    repeated: int
    unknown: int
    def __init__(self, happened: _Optional[int] = ..., repeated: _Optional[int] = ..., unknown: _Optional[int] = ...) -> None: ...

class PendingDecision(_message.Message):
    __slots__ = ("decision_id", "kind", "call_id", "tool", "arguments", "reason", "options", "rule", "request_time", "expire_time", "run_id", "display_name", "four_eyes", "plugin", "schema", "diff", "standing_offers", "approver_groups")
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
    FOUR_EYES_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    DIFF_FIELD_NUMBER: _ClassVar[int]
    STANDING_OFFERS_FIELD_NUMBER: _ClassVar[int]
    APPROVER_GROUPS_FIELD_NUMBER: _ClassVar[int]
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
    four_eyes: bool
    plugin: str
    schema: bytes
    diff: str
    standing_offers: _containers.RepeatedCompositeFieldContainer[StandingChoice]
    approver_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, decision_id: _Optional[str] = ..., kind: _Optional[_Union[DecisionKind, str]] = ..., call_id: _Optional[str] = ..., tool: _Optional[str] = ..., arguments: _Optional[bytes] = ..., reason: _Optional[str] = ..., options: _Optional[_Iterable[str]] = ..., rule: _Optional[str] = ..., request_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., run_id: _Optional[str] = ..., display_name: _Optional[str] = ..., four_eyes: bool = ..., plugin: _Optional[str] = ..., schema: _Optional[bytes] = ..., diff: _Optional[str] = ..., standing_offers: _Optional[_Iterable[_Union[StandingChoice, _Mapping[str, object]]]] = ..., approver_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class RunEvent(_message.Message):
    __slots__ = ("seq", "index", "time", "run_started", "user_message", "text_delta", "assistant_message", "call_started", "call_status", "call_result", "turn_reset", "cancel_requested", "run_finished", "decision_requested", "decision_made", "budget_warning", "context_change", "todo_change", "sub_run_started", "compacted", "sub_run_waiting", "run_resumed", "model_replied", "reasoning_delta", "argument_delta", "answer_delta", "standing_approved", "decision_extended")
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
    MODEL_REPLIED_FIELD_NUMBER: _ClassVar[int]
    REASONING_DELTA_FIELD_NUMBER: _ClassVar[int]
    ARGUMENT_DELTA_FIELD_NUMBER: _ClassVar[int]
    ANSWER_DELTA_FIELD_NUMBER: _ClassVar[int]
    STANDING_APPROVED_FIELD_NUMBER: _ClassVar[int]
    DECISION_EXTENDED_FIELD_NUMBER: _ClassVar[int]
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
    model_replied: ModelReplied
    reasoning_delta: ReasoningDelta
    argument_delta: ArgumentDelta
    answer_delta: AnswerDelta
    standing_approved: StandingApproved
    decision_extended: DecisionExtended
    def __init__(self, seq: _Optional[int] = ..., index: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., run_started: _Optional[_Union[RunStarted, _Mapping[str, object]]] = ..., user_message: _Optional[_Union[UserMessage, _Mapping[str, object]]] = ..., text_delta: _Optional[_Union[TextDelta, _Mapping[str, object]]] = ..., assistant_message: _Optional[_Union[AssistantMessage, _Mapping[str, object]]] = ..., call_started: _Optional[_Union[CallStarted, _Mapping[str, object]]] = ..., call_status: _Optional[_Union[CallStatus, _Mapping[str, object]]] = ..., call_result: _Optional[_Union[CallResult, _Mapping[str, object]]] = ..., turn_reset: _Optional[_Union[TurnReset, _Mapping[str, object]]] = ..., cancel_requested: _Optional[_Union[CancelRequested, _Mapping[str, object]]] = ..., run_finished: _Optional[_Union[RunFinished, _Mapping[str, object]]] = ..., decision_requested: _Optional[_Union[DecisionRequested, _Mapping[str, object]]] = ..., decision_made: _Optional[_Union[DecisionMade, _Mapping[str, object]]] = ..., budget_warning: _Optional[_Union[BudgetWarning, _Mapping[str, object]]] = ..., context_change: _Optional[_Union[ContextChange, _Mapping[str, object]]] = ..., todo_change: _Optional[_Union[TodoChange, _Mapping[str, object]]] = ..., sub_run_started: _Optional[_Union[SubRunStarted, _Mapping[str, object]]] = ..., compacted: _Optional[_Union[Compacted, _Mapping[str, object]]] = ..., sub_run_waiting: _Optional[_Union[SubRunWaiting, _Mapping[str, object]]] = ..., run_resumed: _Optional[_Union[RunResumed, _Mapping[str, object]]] = ..., model_replied: _Optional[_Union[ModelReplied, _Mapping[str, object]]] = ..., reasoning_delta: _Optional[_Union[ReasoningDelta, _Mapping[str, object]]] = ..., argument_delta: _Optional[_Union[ArgumentDelta, _Mapping[str, object]]] = ..., answer_delta: _Optional[_Union[AnswerDelta, _Mapping[str, object]]] = ..., standing_approved: _Optional[_Union[StandingApproved, _Mapping[str, object]]] = ..., decision_extended: _Optional[_Union[DecisionExtended, _Mapping[str, object]]] = ...) -> None: ...

class RunStarted(_message.Message):
    __slots__ = ("run_id", "prompt", "model", "session", "parent_run_id", "parent_call_id", "agent", "traceparent", "principal", "fallbacks", "sampling", "response_schema", "attachments", "memory_files")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    PARENT_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    FALLBACKS_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FILES_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    prompt: str
    model: str
    session: str
    parent_run_id: str
    parent_call_id: str
    agent: str
    traceparent: str
    principal: str
    fallbacks: _containers.RepeatedScalarFieldContainer[str]
    sampling: Sampling
    response_schema: bytes
    attachments: _containers.RepeatedCompositeFieldContainer[AttachmentInfo]
    memory_files: _containers.RepeatedCompositeFieldContainer[MemoryFile]
    def __init__(self, run_id: _Optional[str] = ..., prompt: _Optional[str] = ..., model: _Optional[str] = ..., session: _Optional[str] = ..., parent_run_id: _Optional[str] = ..., parent_call_id: _Optional[str] = ..., agent: _Optional[str] = ..., traceparent: _Optional[str] = ..., principal: _Optional[str] = ..., fallbacks: _Optional[_Iterable[str]] = ..., sampling: _Optional[_Union[Sampling, _Mapping[str, object]]] = ..., response_schema: _Optional[bytes] = ..., attachments: _Optional[_Iterable[_Union[AttachmentInfo, _Mapping[str, object]]]] = ..., memory_files: _Optional[_Iterable[_Union[MemoryFile, _Mapping[str, object]]]] = ...) -> None: ...

class MemoryFile(_message.Message):
    __slots__ = ("name", "workspace", "size", "problem")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    name: str
    workspace: bool
    size: int
    problem: str
    def __init__(self, name: _Optional[str] = ..., workspace: bool = ..., size: _Optional[int] = ..., problem: _Optional[str] = ...) -> None: ...

class UserMessage(_message.Message):
    __slots__ = ("text", "attachments")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    text: str
    attachments: _containers.RepeatedCompositeFieldContainer[AttachmentInfo]
    def __init__(self, text: _Optional[str] = ..., attachments: _Optional[_Iterable[_Union[AttachmentInfo, _Mapping[str, object]]]] = ...) -> None: ...

class TextDelta(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class ReasoningDelta(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class ArgumentDelta(_message.Message):
    __slots__ = ("call_id", "tool", "text")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    text: str
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class AnswerDelta(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: bytes
    def __init__(self, answer: _Optional[bytes] = ...) -> None: ...

class AssistantMessage(_message.Message):
    __slots__ = ("text", "calls", "stop_reason", "usage", "cost", "wasted_usage", "model")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    WASTED_USAGE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    text: str
    calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    stop_reason: str
    usage: _result_pb2.Usage
    cost: float
    wasted_usage: _result_pb2.Usage
    model: str
    def __init__(self, text: _Optional[str] = ..., calls: _Optional[_Iterable[_Union[ToolCall, _Mapping[str, object]]]] = ..., stop_reason: _Optional[str] = ..., usage: _Optional[_Union[_result_pb2.Usage, _Mapping[str, object]]] = ..., cost: _Optional[float] = ..., wasted_usage: _Optional[_Union[_result_pb2.Usage, _Mapping[str, object]]] = ..., model: _Optional[str] = ...) -> None: ...

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
    __slots__ = ("call_id", "tool", "result", "error", "plugin", "instance", "answer", "settled")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    result: _result_pb2.Result
    error: _error_pb2.Error
    plugin: str
    instance: str
    answer: str
    settled: _settled_pb2.Settled
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., result: _Optional[_Union[_result_pb2.Result, _Mapping[str, object]]] = ..., error: _Optional[_Union[_error_pb2.Error, _Mapping[str, object]]] = ..., plugin: _Optional[str] = ..., instance: _Optional[str] = ..., answer: _Optional[str] = ..., settled: _Optional[_Union[_settled_pb2.Settled, _Mapping[str, object]]] = ...) -> None: ...

class TurnReset(_message.Message):
    __slots__ = ("reason", "attempt", "model")
    REASON_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    reason: str
    attempt: int
    model: str
    def __init__(self, reason: _Optional[str] = ..., attempt: _Optional[int] = ..., model: _Optional[str] = ...) -> None: ...

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

class ModelReplied(_message.Message):
    __slots__ = ("call_id", "tool", "plugin", "usage", "cost", "error")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    plugin: str
    usage: _result_pb2.Usage
    cost: float
    error: _error_pb2.Error
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., plugin: _Optional[str] = ..., usage: _Optional[_Union[_result_pb2.Usage, _Mapping[str, object]]] = ..., cost: _Optional[float] = ..., error: _Optional[_Union[_error_pb2.Error, _Mapping[str, object]]] = ...) -> None: ...

class DecisionMade(_message.Message):
    __slots__ = ("decision_id", "verdict", "arguments", "text", "decided_by", "principal", "standing")
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    decision_id: str
    verdict: Verdict
    arguments: bytes
    text: str
    decided_by: str
    principal: str
    standing: StandingChoice
    def __init__(self, decision_id: _Optional[str] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., arguments: _Optional[bytes] = ..., text: _Optional[str] = ..., decided_by: _Optional[str] = ..., principal: _Optional[str] = ..., standing: _Optional[_Union[StandingChoice, _Mapping[str, object]]] = ...) -> None: ...

class DecisionExtended(_message.Message):
    __slots__ = ("decision_id", "expire_time", "principal")
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    decision_id: str
    expire_time: _timestamp_pb2.Timestamp
    principal: str
    def __init__(self, decision_id: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., principal: _Optional[str] = ...) -> None: ...

class StandingApproved(_message.Message):
    __slots__ = ("decision_id", "call_id", "tool", "approval_id", "approver", "expire_time", "error")
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    APPROVER_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    decision_id: str
    call_id: str
    tool: str
    approval_id: str
    approver: str
    expire_time: _timestamp_pb2.Timestamp
    error: _error_pb2.Error
    def __init__(self, decision_id: _Optional[str] = ..., call_id: _Optional[str] = ..., tool: _Optional[str] = ..., approval_id: _Optional[str] = ..., approver: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., error: _Optional[_Union[_error_pb2.Error, _Mapping[str, object]]] = ...) -> None: ...

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
    __slots__ = ("call_id", "run_id", "prompt", "agent")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    run_id: str
    prompt: str
    agent: str
    def __init__(self, call_id: _Optional[str] = ..., run_id: _Optional[str] = ..., prompt: _Optional[str] = ..., agent: _Optional[str] = ...) -> None: ...

class RunResumed(_message.Message):
    __slots__ = ("backup_time",)
    BACKUP_TIME_FIELD_NUMBER: _ClassVar[int]
    backup_time: _timestamp_pb2.Timestamp
    def __init__(self, backup_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ...) -> None: ...

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
    __slots__ = ("stop_reason", "message", "text", "turns", "calls", "usage", "cost", "result")
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    stop_reason: StopReason
    message: str
    text: str
    turns: int
    calls: int
    usage: _result_pb2.Usage
    cost: float
    result: bytes
    def __init__(self, stop_reason: _Optional[_Union[StopReason, str]] = ..., message: _Optional[str] = ..., text: _Optional[str] = ..., turns: _Optional[int] = ..., calls: _Optional[int] = ..., usage: _Optional[_Union[_result_pb2.Usage, _Mapping[str, object]]] = ..., cost: _Optional[float] = ..., result: _Optional[bytes] = ...) -> None: ...
