import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ErrorKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_KIND_UNSPECIFIED: _ClassVar[ErrorKind]
    ERROR_KIND_INVALID_ARGUMENT: _ClassVar[ErrorKind]
    ERROR_KIND_NOT_FOUND: _ClassVar[ErrorKind]
    ERROR_KIND_DENIED: _ClassVar[ErrorKind]
    ERROR_KIND_APPROVAL_REQUIRED: _ClassVar[ErrorKind]
    ERROR_KIND_RATE_LIMITED: _ClassVar[ErrorKind]
    ERROR_KIND_TIMEOUT: _ClassVar[ErrorKind]
    ERROR_KIND_CANCELLED: _ClassVar[ErrorKind]
    ERROR_KIND_CRASHED: _ClassVar[ErrorKind]
    ERROR_KIND_UNAVAILABLE: _ClassVar[ErrorKind]
    ERROR_KIND_OUTCOME_UNKNOWN: _ClassVar[ErrorKind]
    ERROR_KIND_CONFLICT: _ClassVar[ErrorKind]
    ERROR_KIND_INTERNAL: _ClassVar[ErrorKind]
    ERROR_KIND_UNSUPPORTED: _ClassVar[ErrorKind]
ERROR_KIND_UNSPECIFIED: ErrorKind
ERROR_KIND_INVALID_ARGUMENT: ErrorKind
ERROR_KIND_NOT_FOUND: ErrorKind
ERROR_KIND_DENIED: ErrorKind
ERROR_KIND_APPROVAL_REQUIRED: ErrorKind
ERROR_KIND_RATE_LIMITED: ErrorKind
ERROR_KIND_TIMEOUT: ErrorKind
ERROR_KIND_CANCELLED: ErrorKind
ERROR_KIND_CRASHED: ErrorKind
ERROR_KIND_UNAVAILABLE: ErrorKind
ERROR_KIND_OUTCOME_UNKNOWN: ErrorKind
ERROR_KIND_CONFLICT: ErrorKind
ERROR_KIND_INTERNAL: ErrorKind
ERROR_KIND_UNSUPPORTED: ErrorKind

class Error(_message.Message):
    __slots__ = ("kind", "message", "retry_after", "call_id", "plugin", "instance", "exit", "rule", "arguments", "arguments_sha256", "cost", "four_eyes", "definition_sha256", "approver_groups", "decision", "session_move")
    KIND_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    EXIT_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    FOUR_EYES_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_SHA256_FIELD_NUMBER: _ClassVar[int]
    APPROVER_GROUPS_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    SESSION_MOVE_FIELD_NUMBER: _ClassVar[int]
    kind: ErrorKind
    message: str
    retry_after: _duration_pb2.Duration
    call_id: str
    plugin: str
    instance: str
    exit: Exit
    rule: str
    arguments: bytes
    arguments_sha256: str
    cost: float
    four_eyes: bool
    definition_sha256: str
    approver_groups: _containers.RepeatedScalarFieldContainer[str]
    decision: str
    session_move: str
    def __init__(self, kind: _Optional[_Union[ErrorKind, str]] = ..., message: _Optional[str] = ..., retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., call_id: _Optional[str] = ..., plugin: _Optional[str] = ..., instance: _Optional[str] = ..., exit: _Optional[_Union[Exit, _Mapping[str, object]]] = ..., rule: _Optional[str] = ..., arguments: _Optional[bytes] = ..., arguments_sha256: _Optional[str] = ..., cost: _Optional[float] = ..., four_eyes: bool = ..., definition_sha256: _Optional[str] = ..., approver_groups: _Optional[_Iterable[str]] = ..., decision: _Optional[str] = ..., session_move: _Optional[str] = ...) -> None: ...

class Exit(_message.Message):
    __slots__ = ("code", "signal", "out_of_memory", "reason", "last_stderr")
    CODE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    OUT_OF_MEMORY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    LAST_STDERR_FIELD_NUMBER: _ClassVar[int]
    code: int
    signal: str
    out_of_memory: bool
    reason: str
    last_stderr: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, code: _Optional[int] = ..., signal: _Optional[str] = ..., out_of_memory: bool = ..., reason: _Optional[str] = ..., last_stderr: _Optional[_Iterable[str]] = ...) -> None: ...
