import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from toolhost._proto.toolhost.tool.v1 import error_pb2 as _error_pb2
from toolhost._proto.toolhost.tool.v1 import permissions_pb2 as _permissions_pb2
from toolhost._proto.toolhost.tool.v1 import question_pb2 as _question_pb2
from toolhost._proto.toolhost.tool.v1 import result_pb2 as _result_pb2
from toolhost._proto.toolhost.tool.v1 import spec_pb2 as _spec_pb2
from toolhost._proto.toolhost.tool.v1 import status_pb2 as _status_pb2
from toolhost._proto.toolhost.tool.v1 import version_pb2 as _version_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SpanKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SPAN_KIND_UNSPECIFIED: _ClassVar[SpanKind]
    SPAN_KIND_INTERNAL: _ClassVar[SpanKind]
    SPAN_KIND_SERVER: _ClassVar[SpanKind]
    SPAN_KIND_CLIENT: _ClassVar[SpanKind]
    SPAN_KIND_PRODUCER: _ClassVar[SpanKind]
    SPAN_KIND_CONSUMER: _ClassVar[SpanKind]

class SpanStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SPAN_STATUS_UNSPECIFIED: _ClassVar[SpanStatus]
    SPAN_STATUS_OK: _ClassVar[SpanStatus]
    SPAN_STATUS_ERROR: _ClassVar[SpanStatus]

class SettlementVerdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SETTLEMENT_VERDICT_UNSPECIFIED: _ClassVar[SettlementVerdict]
    SETTLEMENT_VERDICT_HAPPENED: _ClassVar[SettlementVerdict]
    SETTLEMENT_VERDICT_DID_NOT_HAPPEN: _ClassVar[SettlementVerdict]
    SETTLEMENT_VERDICT_UNKNOWN: _ClassVar[SettlementVerdict]
SPAN_KIND_UNSPECIFIED: SpanKind
SPAN_KIND_INTERNAL: SpanKind
SPAN_KIND_SERVER: SpanKind
SPAN_KIND_CLIENT: SpanKind
SPAN_KIND_PRODUCER: SpanKind
SPAN_KIND_CONSUMER: SpanKind
SPAN_STATUS_UNSPECIFIED: SpanStatus
SPAN_STATUS_OK: SpanStatus
SPAN_STATUS_ERROR: SpanStatus
SETTLEMENT_VERDICT_UNSPECIFIED: SettlementVerdict
SETTLEMENT_VERDICT_HAPPENED: SettlementVerdict
SETTLEMENT_VERDICT_DID_NOT_HAPPEN: SettlementVerdict
SETTLEMENT_VERDICT_UNKNOWN: SettlementVerdict

class DescribeRequest(_message.Message):
    __slots__ = ("tools", "session", "context")
    class ContextEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedScalarFieldContainer[str]
    session: str
    context: _containers.ScalarMap[str, bytes]
    def __init__(self, tools: _Optional[_Iterable[str]] = ..., session: _Optional[str] = ..., context: _Optional[_Mapping[str, bytes]] = ...) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("name", "version", "description", "tools", "default_tags", "filters", "permissions", "sdk")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_TAGS_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    PERMISSIONS_FIELD_NUMBER: _ClassVar[int]
    SDK_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    description: str
    tools: _containers.RepeatedCompositeFieldContainer[_spec_pb2.ToolSpec]
    default_tags: _containers.RepeatedScalarFieldContainer[str]
    filters: _containers.RepeatedCompositeFieldContainer[FilterSpec]
    permissions: _permissions_pb2.Permissions
    sdk: _version_pb2.SdkInfo
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., description: _Optional[str] = ..., tools: _Optional[_Iterable[_Union[_spec_pb2.ToolSpec, _Mapping[str, object]]]] = ..., default_tags: _Optional[_Iterable[str]] = ..., filters: _Optional[_Iterable[_Union[FilterSpec, _Mapping[str, object]]]] = ..., permissions: _Optional[_Union[_permissions_pb2.Permissions, _Mapping[str, object]]] = ..., sdk: _Optional[_Union[_version_pb2.SdkInfo, _Mapping[str, object]]] = ...) -> None: ...

class FilterSpec(_message.Message):
    __slots__ = ("name", "description", "before", "after", "tools")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    before: bool
    after: bool
    tools: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., before: bool = ..., after: bool = ..., tools: _Optional[_Iterable[str]] = ...) -> None: ...

class ConnectRequest(_message.Message):
    __slots__ = ("call", "start", "append", "complete", "cancel", "credit", "artifact", "answer", "batch", "ack_token", "ack")
    CALL_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    APPEND_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    ACK_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ACK_FIELD_NUMBER: _ClassVar[int]
    call: int
    start: StartCall
    append: AppendArguments
    complete: CompleteArguments
    cancel: CancelCall
    credit: GrantCredit
    artifact: ArtifactPiece
    answer: QuestionAnswer
    batch: _containers.RepeatedCompositeFieldContainer[ConnectRequest]
    ack_token: int
    ack: int
    def __init__(self, call: _Optional[int] = ..., start: _Optional[_Union[StartCall, _Mapping[str, object]]] = ..., append: _Optional[_Union[AppendArguments, _Mapping[str, object]]] = ..., complete: _Optional[_Union[CompleteArguments, _Mapping[str, object]]] = ..., cancel: _Optional[_Union[CancelCall, _Mapping[str, object]]] = ..., credit: _Optional[_Union[GrantCredit, _Mapping[str, object]]] = ..., artifact: _Optional[_Union[ArtifactPiece, _Mapping[str, object]]] = ..., answer: _Optional[_Union[QuestionAnswer, _Mapping[str, object]]] = ..., batch: _Optional[_Iterable[_Union[ConnectRequest, _Mapping[str, object]]]] = ..., ack_token: _Optional[int] = ..., ack: _Optional[int] = ...) -> None: ...

class StartCall(_message.Message):
    __slots__ = ("call_id", "tool", "arguments", "complete", "timeout", "credit", "attempt", "context", "settle", "effect_key")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    SETTLE_FIELD_NUMBER: _ClassVar[int]
    EFFECT_KEY_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    arguments: bytes
    complete: bool
    timeout: _duration_pb2.Duration
    credit: int
    attempt: int
    context: CallContext
    settle: bool
    effect_key: str
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., arguments: _Optional[bytes] = ..., complete: bool = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., credit: _Optional[int] = ..., attempt: _Optional[int] = ..., context: _Optional[_Union[CallContext, _Mapping[str, object]]] = ..., settle: bool = ..., effect_key: _Optional[str] = ...) -> None: ...

class CallContext(_message.Message):
    __slots__ = ("session", "workspace", "values", "secrets", "traceparent", "span_bytes", "answers")
    class ValuesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    class SecretsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SESSION_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    SPAN_BYTES_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    session: str
    workspace: str
    values: _containers.ScalarMap[str, bytes]
    secrets: _containers.ScalarMap[str, str]
    traceparent: str
    span_bytes: int
    answers: _question_pb2.QuestionKinds
    def __init__(self, session: _Optional[str] = ..., workspace: _Optional[str] = ..., values: _Optional[_Mapping[str, bytes]] = ..., secrets: _Optional[_Mapping[str, str]] = ..., traceparent: _Optional[str] = ..., span_bytes: _Optional[int] = ..., answers: _Optional[_Union[_question_pb2.QuestionKinds, _Mapping[str, object]]] = ...) -> None: ...

class AppendArguments(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: bytes
    def __init__(self, text: _Optional[bytes] = ...) -> None: ...

class CompleteArguments(_message.Message):
    __slots__ = ("arguments",)
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    arguments: bytes
    def __init__(self, arguments: _Optional[bytes] = ...) -> None: ...

class CancelCall(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class GrantCredit(_message.Message):
    __slots__ = ("bytes",)
    BYTES_FIELD_NUMBER: _ClassVar[int]
    bytes: int
    def __init__(self, bytes: _Optional[int] = ...) -> None: ...

class ConnectResponse(_message.Message):
    __slots__ = ("call", "status", "progress", "log", "chunk", "end", "read_artifact", "spans", "ask_person", "ask_model", "batch", "ack_token", "ack")
    CALL_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    READ_ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    ASK_PERSON_FIELD_NUMBER: _ClassVar[int]
    ASK_MODEL_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    ACK_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ACK_FIELD_NUMBER: _ClassVar[int]
    call: int
    status: _status_pb2.Status
    progress: _status_pb2.Progress
    log: _status_pb2.LogRecord
    chunk: ContentChunk
    end: CallEnd
    read_artifact: ReadArtifact
    spans: FinishedSpans
    ask_person: AskPerson
    ask_model: AskModel
    batch: _containers.RepeatedCompositeFieldContainer[ConnectResponse]
    ack_token: int
    ack: int
    def __init__(self, call: _Optional[int] = ..., status: _Optional[_Union[_status_pb2.Status, _Mapping[str, object]]] = ..., progress: _Optional[_Union[_status_pb2.Progress, _Mapping[str, object]]] = ..., log: _Optional[_Union[_status_pb2.LogRecord, _Mapping[str, object]]] = ..., chunk: _Optional[_Union[ContentChunk, _Mapping[str, object]]] = ..., end: _Optional[_Union[CallEnd, _Mapping[str, object]]] = ..., read_artifact: _Optional[_Union[ReadArtifact, _Mapping[str, object]]] = ..., spans: _Optional[_Union[FinishedSpans, _Mapping[str, object]]] = ..., ask_person: _Optional[_Union[AskPerson, _Mapping[str, object]]] = ..., ask_model: _Optional[_Union[AskModel, _Mapping[str, object]]] = ..., batch: _Optional[_Iterable[_Union[ConnectResponse, _Mapping[str, object]]]] = ..., ack_token: _Optional[int] = ..., ack: _Optional[int] = ...) -> None: ...

class FinishedSpans(_message.Message):
    __slots__ = ("spans", "dropped")
    SPANS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    spans: _containers.RepeatedCompositeFieldContainer[Span]
    dropped: int
    def __init__(self, spans: _Optional[_Iterable[_Union[Span, _Mapping[str, object]]]] = ..., dropped: _Optional[int] = ...) -> None: ...

class Span(_message.Message):
    __slots__ = ("span_id", "parent_span_id", "name", "start_time_unix_nano", "end_time_unix_nano", "kind", "attributes", "events", "status", "status_message")
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    START_TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    END_TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    span_id: bytes
    parent_span_id: bytes
    name: str
    start_time_unix_nano: int
    end_time_unix_nano: int
    kind: SpanKind
    attributes: _containers.RepeatedCompositeFieldContainer[SpanAttribute]
    events: _containers.RepeatedCompositeFieldContainer[SpanEvent]
    status: SpanStatus
    status_message: str
    def __init__(self, span_id: _Optional[bytes] = ..., parent_span_id: _Optional[bytes] = ..., name: _Optional[str] = ..., start_time_unix_nano: _Optional[int] = ..., end_time_unix_nano: _Optional[int] = ..., kind: _Optional[_Union[SpanKind, str]] = ..., attributes: _Optional[_Iterable[_Union[SpanAttribute, _Mapping[str, object]]]] = ..., events: _Optional[_Iterable[_Union[SpanEvent, _Mapping[str, object]]]] = ..., status: _Optional[_Union[SpanStatus, str]] = ..., status_message: _Optional[str] = ...) -> None: ...

class SpanAttribute(_message.Message):
    __slots__ = ("key", "text", "truth", "integer", "number")
    KEY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TRUTH_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    key: str
    text: str
    truth: bool
    integer: int
    number: float
    def __init__(self, key: _Optional[str] = ..., text: _Optional[str] = ..., truth: bool = ..., integer: _Optional[int] = ..., number: _Optional[float] = ...) -> None: ...

class SpanEvent(_message.Message):
    __slots__ = ("name", "time_unix_nano", "attributes")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    name: str
    time_unix_nano: int
    attributes: _containers.RepeatedCompositeFieldContainer[SpanAttribute]
    def __init__(self, name: _Optional[str] = ..., time_unix_nano: _Optional[int] = ..., attributes: _Optional[_Iterable[_Union[SpanAttribute, _Mapping[str, object]]]] = ...) -> None: ...

class ReadArtifact(_message.Message):
    __slots__ = ("handle", "offset", "limit")
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    handle: str
    offset: int
    limit: int
    def __init__(self, handle: _Optional[str] = ..., offset: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ArtifactPiece(_message.Message):
    __slots__ = ("data", "media_type", "size", "error", "name")
    DATA_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    media_type: str
    size: int
    error: _error_pb2.Error
    name: str
    def __init__(self, data: _Optional[bytes] = ..., media_type: _Optional[str] = ..., size: _Optional[int] = ..., error: _Optional[_Union[_error_pb2.Error, _Mapping[str, object]]] = ..., name: _Optional[str] = ...) -> None: ...

class AskPerson(_message.Message):
    __slots__ = ("number", "question")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    number: int
    question: _question_pb2.PersonQuestion
    def __init__(self, number: _Optional[int] = ..., question: _Optional[_Union[_question_pb2.PersonQuestion, _Mapping[str, object]]] = ...) -> None: ...

class AskModel(_message.Message):
    __slots__ = ("number", "question")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    number: int
    question: _question_pb2.ModelQuestion
    def __init__(self, number: _Optional[int] = ..., question: _Optional[_Union[_question_pb2.ModelQuestion, _Mapping[str, object]]] = ...) -> None: ...

class QuestionAnswer(_message.Message):
    __slots__ = ("number", "answer")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    number: int
    answer: _question_pb2.Answer
    def __init__(self, number: _Optional[int] = ..., answer: _Optional[_Union[_question_pb2.Answer, _Mapping[str, object]]] = ...) -> None: ...

class ContentChunk(_message.Message):
    __slots__ = ("index", "data")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    index: int
    data: bytes
    def __init__(self, index: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class CallEnd(_message.Message):
    __slots__ = ("result", "error", "settlement")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    SETTLEMENT_FIELD_NUMBER: _ClassVar[int]
    result: _result_pb2.Result
    error: _error_pb2.Error
    settlement: Settlement
    def __init__(self, result: _Optional[_Union[_result_pb2.Result, _Mapping[str, object]]] = ..., error: _Optional[_Union[_error_pb2.Error, _Mapping[str, object]]] = ..., settlement: _Optional[_Union[Settlement, _Mapping[str, object]]] = ...) -> None: ...

class Settlement(_message.Message):
    __slots__ = ("call_id", "verdict", "result", "reason")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    verdict: SettlementVerdict
    result: _result_pb2.Result
    reason: str
    def __init__(self, call_id: _Optional[str] = ..., verdict: _Optional[_Union[SettlementVerdict, str]] = ..., result: _Optional[_Union[_result_pb2.Result, _Mapping[str, object]]] = ..., reason: _Optional[str] = ...) -> None: ...
