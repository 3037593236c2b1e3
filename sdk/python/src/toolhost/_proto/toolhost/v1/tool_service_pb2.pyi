import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolhost._proto.toolhost.tool.v1 import caller_pb2 as _caller_pb2
from toolhost._proto.toolhost.tool.v1 import error_pb2 as _error_pb2
from toolhost._proto.toolhost.tool.v1 import principal_pb2 as _principal_pb2
from toolhost._proto.toolhost.tool.v1 import question_pb2 as _question_pb2
from toolhost._proto.toolhost.tool.v1 import result_pb2 as _result_pb2
from toolhost._proto.toolhost.tool.v1 import right_pb2 as _right_pb2
from toolhost._proto.toolhost.tool.v1 import spec_pb2 as _spec_pb2
from toolhost._proto.toolhost.tool.v1 import status_pb2 as _status_pb2
from toolhost._proto.toolhost.tool.v1 import version_pb2 as _version_pb2
from toolhost._proto.toolhost.v1 import resources_pb2 as _resources_pb2
from toolhost._proto.toolhost.v1 import settled_pb2 as _settled_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_FORMAT_UNSPECIFIED: _ClassVar[ToolFormat]
    TOOL_FORMAT_OPENAI: _ClassVar[ToolFormat]
    TOOL_FORMAT_OPENAI_RESPONSES: _ClassVar[ToolFormat]
    TOOL_FORMAT_ANTHROPIC: _ClassVar[ToolFormat]
    TOOL_FORMAT_MCP: _ClassVar[ToolFormat]
    TOOL_FORMAT_MARKDOWN: _ClassVar[ToolFormat]
    TOOL_FORMAT_GEMINI: _ClassVar[ToolFormat]

class QuestionEnd(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUESTION_END_UNSPECIFIED: _ClassVar[QuestionEnd]
    QUESTION_END_ANSWERED: _ClassVar[QuestionEnd]
    QUESTION_END_EXPIRED: _ClassVar[QuestionEnd]
    QUESTION_END_ABANDONED: _ClassVar[QuestionEnd]
TOOL_FORMAT_UNSPECIFIED: ToolFormat
TOOL_FORMAT_OPENAI: ToolFormat
TOOL_FORMAT_OPENAI_RESPONSES: ToolFormat
TOOL_FORMAT_ANTHROPIC: ToolFormat
TOOL_FORMAT_MCP: ToolFormat
TOOL_FORMAT_MARKDOWN: ToolFormat
TOOL_FORMAT_GEMINI: ToolFormat
QUESTION_END_UNSPECIFIED: QuestionEnd
QUESTION_END_ANSWERED: QuestionEnd
QUESTION_END_EXPIRED: QuestionEnd
QUESTION_END_ABANDONED: QuestionEnd

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

class Tool(_message.Message):
    __slots__ = ("spec", "plugin", "plugin_version", "unavailable_reason", "filters")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_VERSION_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_REASON_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    spec: _spec_pb2.ToolSpec
    plugin: str
    plugin_version: str
    unavailable_reason: str
    filters: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, spec: _Optional[_Union[_spec_pb2.ToolSpec, _Mapping[str, object]]] = ..., plugin: _Optional[str] = ..., plugin_version: _Optional[str] = ..., unavailable_reason: _Optional[str] = ..., filters: _Optional[_Iterable[str]] = ...) -> None: ...

class ToolSelection(_message.Message):
    __slots__ = ("names", "categories", "tags", "dangerous", "max_cost_per_use", "max_tools", "session", "context", "plugins", "excluded")
    class ContextEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    NAMES_FIELD_NUMBER: _ClassVar[int]
    CATEGORIES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    DANGEROUS_FIELD_NUMBER: _ClassVar[int]
    MAX_COST_PER_USE_FIELD_NUMBER: _ClassVar[int]
    MAX_TOOLS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    categories: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    dangerous: bool
    max_cost_per_use: float
    max_tools: int
    session: str
    context: _containers.ScalarMap[str, bytes]
    plugins: _containers.RepeatedScalarFieldContainer[str]
    excluded: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ..., categories: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., dangerous: bool = ..., max_cost_per_use: _Optional[float] = ..., max_tools: _Optional[int] = ..., session: _Optional[str] = ..., context: _Optional[_Mapping[str, bytes]] = ..., plugins: _Optional[_Iterable[str]] = ..., excluded: _Optional[_Iterable[str]] = ...) -> None: ...

class ListToolsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "selection", "on_behalf_of", "known_revision")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    KNOWN_REVISION_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    selection: ToolSelection
    on_behalf_of: _principal_pb2.Principal
    known_revision: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., selection: _Optional[_Union[ToolSelection, _Mapping[str, object]]] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ..., known_revision: _Optional[str] = ...) -> None: ...

class ListToolsResponse(_message.Message):
    __slots__ = ("tools", "next_page_token", "ledger_id", "workspace", "writable_folders", "hidden_folders", "revision")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LEDGER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    WRITABLE_FOLDERS_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FOLDERS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[Tool]
    next_page_token: str
    ledger_id: str
    workspace: str
    writable_folders: _containers.RepeatedScalarFieldContainer[str]
    hidden_folders: _containers.RepeatedScalarFieldContainer[str]
    revision: str
    def __init__(self, tools: _Optional[_Iterable[_Union[Tool, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ..., ledger_id: _Optional[str] = ..., workspace: _Optional[str] = ..., writable_folders: _Optional[_Iterable[str]] = ..., hidden_folders: _Optional[_Iterable[str]] = ..., revision: _Optional[str] = ...) -> None: ...

class GetToolRequest(_message.Message):
    __slots__ = ("name", "session", "context", "on_behalf_of")
    class ContextEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    name: str
    session: str
    context: _containers.ScalarMap[str, bytes]
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, name: _Optional[str] = ..., session: _Optional[str] = ..., context: _Optional[_Mapping[str, bytes]] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class GetToolResponse(_message.Message):
    __slots__ = ("tool",)
    TOOL_FIELD_NUMBER: _ClassVar[int]
    tool: Tool
    def __init__(self, tool: _Optional[_Union[Tool, _Mapping[str, object]]] = ...) -> None: ...

class SearchToolsRequest(_message.Message):
    __slots__ = ("query", "selection", "on_behalf_of")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    query: str
    selection: ToolSelection
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, query: _Optional[str] = ..., selection: _Optional[_Union[ToolSelection, _Mapping[str, object]]] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class SearchToolsResponse(_message.Message):
    __slots__ = ("matches",)
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    matches: _containers.RepeatedCompositeFieldContainer[ToolMatch]
    def __init__(self, matches: _Optional[_Iterable[_Union[ToolMatch, _Mapping[str, object]]]] = ...) -> None: ...

class ToolMatch(_message.Message):
    __slots__ = ("tool", "score")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    tool: Tool
    score: float
    def __init__(self, tool: _Optional[_Union[Tool, _Mapping[str, object]]] = ..., score: _Optional[float] = ...) -> None: ...

class RenderToolsRequest(_message.Message):
    __slots__ = ("format", "selection", "on_behalf_of")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    format: ToolFormat
    selection: ToolSelection
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, format: _Optional[_Union[ToolFormat, str]] = ..., selection: _Optional[_Union[ToolSelection, _Mapping[str, object]]] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class RenderToolsResponse(_message.Message):
    __slots__ = ("content", "media_type", "tools", "omitted")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    OMITTED_FIELD_NUMBER: _ClassVar[int]
    content: bytes
    media_type: str
    tools: _containers.RepeatedScalarFieldContainer[str]
    omitted: _containers.RepeatedCompositeFieldContainer[OmittedTool]
    def __init__(self, content: _Optional[bytes] = ..., media_type: _Optional[str] = ..., tools: _Optional[_Iterable[str]] = ..., omitted: _Optional[_Iterable[_Union[OmittedTool, _Mapping[str, object]]]] = ...) -> None: ...

class OmittedTool(_message.Message):
    __slots__ = ("name", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class WatchCallRequest(_message.Message):
    __slots__ = ("call_id", "session", "after_seq", "on_behalf_of")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    session: str
    after_seq: int
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, call_id: _Optional[str] = ..., session: _Optional[str] = ..., after_seq: _Optional[int] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class WatchCallResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: CallEvent
    def __init__(self, event: _Optional[_Union[CallEvent, _Mapping[str, object]]] = ...) -> None: ...

class CancelCallRequest(_message.Message):
    __slots__ = ("call_id", "session", "reason", "on_behalf_of")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    session: str
    reason: str
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, call_id: _Optional[str] = ..., session: _Optional[str] = ..., reason: _Optional[str] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class CancelCallResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AnswerQuestionRequest(_message.Message):
    __slots__ = ("call_id", "session", "question", "answer", "on_behalf_of")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    session: str
    question: int
    answer: _question_pb2.Answer
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, call_id: _Optional[str] = ..., session: _Optional[str] = ..., question: _Optional[int] = ..., answer: _Optional[_Union[_question_pb2.Answer, _Mapping[str, object]]] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class AnswerQuestionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReadArtifactRequest(_message.Message):
    __slots__ = ("handle", "session", "offset", "limit", "on_behalf_of")
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    handle: str
    session: str
    offset: int
    limit: int
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, handle: _Optional[str] = ..., session: _Optional[str] = ..., offset: _Optional[int] = ..., limit: _Optional[int] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class ReadArtifactResponse(_message.Message):
    __slots__ = ("data", "media_type", "size", "name")
    DATA_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    media_type: str
    size: int
    name: str
    def __init__(self, data: _Optional[bytes] = ..., media_type: _Optional[str] = ..., size: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...

class CallOptions(_message.Message):
    __slots__ = ("call_id", "session", "timeout", "approval", "context", "traceparent", "max_shown_bytes", "outcome_only", "ledger_id", "first_sent_time", "on_behalf_of", "answers", "agent", "run", "approval_wait", "supersedes")
    class ContextEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    MAX_SHOWN_BYTES_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_ONLY_FIELD_NUMBER: _ClassVar[int]
    LEDGER_ID_FIELD_NUMBER: _ClassVar[int]
    FIRST_SENT_TIME_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_WAIT_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDES_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    session: str
    timeout: _duration_pb2.Duration
    approval: Approval
    context: _containers.ScalarMap[str, bytes]
    traceparent: str
    max_shown_bytes: int
    outcome_only: bool
    ledger_id: str
    first_sent_time: _timestamp_pb2.Timestamp
    on_behalf_of: _principal_pb2.Principal
    answers: _question_pb2.QuestionKinds
    agent: str
    run: str
    approval_wait: _duration_pb2.Duration
    supersedes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, call_id: _Optional[str] = ..., session: _Optional[str] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., approval: _Optional[_Union[Approval, _Mapping[str, object]]] = ..., context: _Optional[_Mapping[str, bytes]] = ..., traceparent: _Optional[str] = ..., max_shown_bytes: _Optional[int] = ..., outcome_only: bool = ..., ledger_id: _Optional[str] = ..., first_sent_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ..., answers: _Optional[_Union[_question_pb2.QuestionKinds, _Mapping[str, object]]] = ..., agent: _Optional[str] = ..., run: _Optional[str] = ..., approval_wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., supersedes: _Optional[_Iterable[str]] = ...) -> None: ...

class Approval(_message.Message):
    __slots__ = ("approved_by", "reason", "time", "arguments", "arguments_sha256", "approver", "session_move")
    APPROVED_BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    APPROVER_FIELD_NUMBER: _ClassVar[int]
    SESSION_MOVE_FIELD_NUMBER: _ClassVar[int]
    approved_by: str
    reason: str
    time: _timestamp_pb2.Timestamp
    arguments: bytes
    arguments_sha256: str
    approver: _principal_pb2.Principal
    session_move: str
    def __init__(self, approved_by: _Optional[str] = ..., reason: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., arguments: _Optional[bytes] = ..., arguments_sha256: _Optional[str] = ..., approver: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ..., session_move: _Optional[str] = ...) -> None: ...

class CallRequest(_message.Message):
    __slots__ = ("tool", "arguments", "options")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    tool: str
    arguments: bytes
    options: CallOptions
    def __init__(self, tool: _Optional[str] = ..., arguments: _Optional[bytes] = ..., options: _Optional[_Union[CallOptions, _Mapping[str, object]]] = ...) -> None: ...

class CallResponse(_message.Message):
    __slots__ = ("call_id", "plugin", "instance", "result", "replayed")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    plugin: str
    instance: str
    result: _result_pb2.Result
    replayed: bool
    def __init__(self, call_id: _Optional[str] = ..., plugin: _Optional[str] = ..., instance: _Optional[str] = ..., result: _Optional[_Union[_result_pb2.Result, _Mapping[str, object]]] = ..., replayed: bool = ...) -> None: ...

class ReviewCallRequest(_message.Message):
    __slots__ = ("tool", "arguments", "options")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    tool: str
    arguments: bytes
    options: CallOptions
    def __init__(self, tool: _Optional[str] = ..., arguments: _Optional[bytes] = ..., options: _Optional[_Union[CallOptions, _Mapping[str, object]]] = ...) -> None: ...

class ReviewCallResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _result_pb2.Result
    def __init__(self, result: _Optional[_Union[_result_pb2.Result, _Mapping[str, object]]] = ...) -> None: ...

class StartCall(_message.Message):
    __slots__ = ("tool", "arguments", "complete", "options")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    tool: str
    arguments: bytes
    complete: bool
    options: CallOptions
    def __init__(self, tool: _Optional[str] = ..., arguments: _Optional[bytes] = ..., complete: bool = ..., options: _Optional[_Union[CallOptions, _Mapping[str, object]]] = ...) -> None: ...

class AppendArguments(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: bytes
    def __init__(self, text: _Optional[bytes] = ...) -> None: ...

class CompleteArguments(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CancelCall(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class ExecuteRequest(_message.Message):
    __slots__ = ("start", "append", "complete", "cancel")
    START_FIELD_NUMBER: _ClassVar[int]
    APPEND_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    start: StartCall
    append: AppendArguments
    complete: CompleteArguments
    cancel: CancelCall
    def __init__(self, start: _Optional[_Union[StartCall, _Mapping[str, object]]] = ..., append: _Optional[_Union[AppendArguments, _Mapping[str, object]]] = ..., complete: _Optional[_Union[CompleteArguments, _Mapping[str, object]]] = ..., cancel: _Optional[_Union[CancelCall, _Mapping[str, object]]] = ...) -> None: ...

class ExecuteResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: CallEvent
    def __init__(self, event: _Optional[_Union[CallEvent, _Mapping[str, object]]] = ...) -> None: ...

class ConnectRequest(_message.Message):
    __slots__ = ("call", "start", "append", "complete", "cancel", "credit", "batch", "ack_token", "ack")
    CALL_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    APPEND_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    ACK_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ACK_FIELD_NUMBER: _ClassVar[int]
    call: int
    start: StartCall
    append: AppendArguments
    complete: CompleteArguments
    cancel: CancelCall
    credit: GrantCredit
    batch: _containers.RepeatedCompositeFieldContainer[ConnectRequest]
    ack_token: int
    ack: int
    def __init__(self, call: _Optional[int] = ..., start: _Optional[_Union[StartCall, _Mapping[str, object]]] = ..., append: _Optional[_Union[AppendArguments, _Mapping[str, object]]] = ..., complete: _Optional[_Union[CompleteArguments, _Mapping[str, object]]] = ..., cancel: _Optional[_Union[CancelCall, _Mapping[str, object]]] = ..., credit: _Optional[_Union[GrantCredit, _Mapping[str, object]]] = ..., batch: _Optional[_Iterable[_Union[ConnectRequest, _Mapping[str, object]]]] = ..., ack_token: _Optional[int] = ..., ack: _Optional[int] = ...) -> None: ...

class GrantCredit(_message.Message):
    __slots__ = ("bytes",)
    BYTES_FIELD_NUMBER: _ClassVar[int]
    bytes: int
    def __init__(self, bytes: _Optional[int] = ...) -> None: ...

class ConnectResponse(_message.Message):
    __slots__ = ("call", "event", "batch", "ack_token", "ack")
    CALL_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    ACK_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ACK_FIELD_NUMBER: _ClassVar[int]
    call: int
    event: CallEvent
    batch: _containers.RepeatedCompositeFieldContainer[ConnectResponse]
    ack_token: int
    ack: int
    def __init__(self, call: _Optional[int] = ..., event: _Optional[_Union[CallEvent, _Mapping[str, object]]] = ..., batch: _Optional[_Iterable[_Union[ConnectResponse, _Mapping[str, object]]]] = ..., ack_token: _Optional[int] = ..., ack: _Optional[int] = ...) -> None: ...

class CallEvent(_message.Message):
    __slots__ = ("seq", "time", "started", "status", "log", "chunk", "ended", "question", "question_closed")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    QUESTION_CLOSED_FIELD_NUMBER: _ClassVar[int]
    seq: int
    time: _timestamp_pb2.Timestamp
    started: CallStarted
    status: _status_pb2.Status
    log: _status_pb2.LogRecord
    chunk: ContentChunk
    ended: CallEnded
    question: CallQuestion
    question_closed: QuestionClosed
    def __init__(self, seq: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., started: _Optional[_Union[CallStarted, _Mapping[str, object]]] = ..., status: _Optional[_Union[_status_pb2.Status, _Mapping[str, object]]] = ..., log: _Optional[_Union[_status_pb2.LogRecord, _Mapping[str, object]]] = ..., chunk: _Optional[_Union[ContentChunk, _Mapping[str, object]]] = ..., ended: _Optional[_Union[CallEnded, _Mapping[str, object]]] = ..., question: _Optional[_Union[CallQuestion, _Mapping[str, object]]] = ..., question_closed: _Optional[_Union[QuestionClosed, _Mapping[str, object]]] = ...) -> None: ...

class CallStarted(_message.Message):
    __slots__ = ("call_id", "plugin", "instance", "attempt", "asks")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ASKS_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    plugin: str
    instance: str
    attempt: int
    asks: _question_pb2.QuestionKinds
    def __init__(self, call_id: _Optional[str] = ..., plugin: _Optional[str] = ..., instance: _Optional[str] = ..., attempt: _Optional[int] = ..., asks: _Optional[_Union[_question_pb2.QuestionKinds, _Mapping[str, object]]] = ...) -> None: ...

class CallQuestion(_message.Message):
    __slots__ = ("id", "call_id", "plugin", "tool", "expire_time", "person", "model", "roots", "key")
    ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    PERSON_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ROOTS_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    id: int
    call_id: str
    plugin: str
    tool: str
    expire_time: _timestamp_pb2.Timestamp
    person: _question_pb2.PersonQuestion
    model: _question_pb2.ModelQuestion
    roots: _question_pb2.RootsQuestion
    key: str
    def __init__(self, id: _Optional[int] = ..., call_id: _Optional[str] = ..., plugin: _Optional[str] = ..., tool: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., person: _Optional[_Union[_question_pb2.PersonQuestion, _Mapping[str, object]]] = ..., model: _Optional[_Union[_question_pb2.ModelQuestion, _Mapping[str, object]]] = ..., roots: _Optional[_Union[_question_pb2.RootsQuestion, _Mapping[str, object]]] = ..., key: _Optional[str] = ...) -> None: ...

class QuestionClosed(_message.Message):
    __slots__ = ("question", "reason")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    question: int
    reason: QuestionEnd
    def __init__(self, question: _Optional[int] = ..., reason: _Optional[_Union[QuestionEnd, str]] = ...) -> None: ...

class ContentChunk(_message.Message):
    __slots__ = ("index", "data")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    index: int
    data: bytes
    def __init__(self, index: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class CallEnded(_message.Message):
    __slots__ = ("call_id", "plugin", "instance", "result", "error", "replayed", "settled")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    plugin: str
    instance: str
    result: _result_pb2.Result
    error: _error_pb2.Error
    replayed: bool
    settled: _settled_pb2.Settled
    def __init__(self, call_id: _Optional[str] = ..., plugin: _Optional[str] = ..., instance: _Optional[str] = ..., result: _Optional[_Union[_result_pb2.Result, _Mapping[str, object]]] = ..., error: _Optional[_Union[_error_pb2.Error, _Mapping[str, object]]] = ..., replayed: bool = ..., settled: _Optional[_Union[_settled_pb2.Settled, _Mapping[str, object]]] = ...) -> None: ...
