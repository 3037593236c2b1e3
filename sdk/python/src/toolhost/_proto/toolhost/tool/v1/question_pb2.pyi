import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from toolhost._proto.toolhost.tool.v1 import error_pb2 as _error_pb2
from toolhost._proto.toolhost.tool.v1 import result_pb2 as _result_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ModelRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MODEL_ROLE_UNSPECIFIED: _ClassVar[ModelRole]
    MODEL_ROLE_USER: _ClassVar[ModelRole]
    MODEL_ROLE_ASSISTANT: _ClassVar[ModelRole]

class PersonAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PERSON_ACTION_UNSPECIFIED: _ClassVar[PersonAction]
    PERSON_ACTION_ACCEPT: _ClassVar[PersonAction]
    PERSON_ACTION_DECLINE: _ClassVar[PersonAction]
    PERSON_ACTION_DISMISS: _ClassVar[PersonAction]
MODEL_ROLE_UNSPECIFIED: ModelRole
MODEL_ROLE_USER: ModelRole
MODEL_ROLE_ASSISTANT: ModelRole
PERSON_ACTION_UNSPECIFIED: PersonAction
PERSON_ACTION_ACCEPT: PersonAction
PERSON_ACTION_DECLINE: PersonAction
PERSON_ACTION_DISMISS: PersonAction

class QuestionKinds(_message.Message):
    __slots__ = ("person", "model", "roots")
    PERSON_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ROOTS_FIELD_NUMBER: _ClassVar[int]
    person: bool
    model: bool
    roots: bool
    def __init__(self, person: bool = ..., model: bool = ..., roots: bool = ...) -> None: ...

class PersonQuestion(_message.Message):
    __slots__ = ("message", "schema", "timeout")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    message: str
    schema: bytes
    timeout: _duration_pb2.Duration
    def __init__(self, message: _Optional[str] = ..., schema: _Optional[bytes] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ...) -> None: ...

class ModelQuestion(_message.Message):
    __slots__ = ("system", "messages", "max_tokens", "timeout")
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    system: str
    messages: _containers.RepeatedCompositeFieldContainer[ModelMessage]
    max_tokens: int
    timeout: _duration_pb2.Duration
    def __init__(self, system: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[ModelMessage, _Mapping[str, object]]]] = ..., max_tokens: _Optional[int] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ...) -> None: ...

class RootsQuestion(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ModelMessage(_message.Message):
    __slots__ = ("role", "content")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    role: ModelRole
    content: _containers.RepeatedCompositeFieldContainer[_result_pb2.Content]
    def __init__(self, role: _Optional[_Union[ModelRole, str]] = ..., content: _Optional[_Iterable[_Union[_result_pb2.Content, _Mapping[str, object]]]] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("person", "model", "error", "roots")
    PERSON_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ROOTS_FIELD_NUMBER: _ClassVar[int]
    person: PersonAnswer
    model: ModelAnswer
    error: _error_pb2.Error
    roots: RootsAnswer
    def __init__(self, person: _Optional[_Union[PersonAnswer, _Mapping[str, object]]] = ..., model: _Optional[_Union[ModelAnswer, _Mapping[str, object]]] = ..., error: _Optional[_Union[_error_pb2.Error, _Mapping[str, object]]] = ..., roots: _Optional[_Union[RootsAnswer, _Mapping[str, object]]] = ...) -> None: ...

class PersonAnswer(_message.Message):
    __slots__ = ("action", "content")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    action: PersonAction
    content: bytes
    def __init__(self, action: _Optional[_Union[PersonAction, str]] = ..., content: _Optional[bytes] = ...) -> None: ...

class ModelAnswer(_message.Message):
    __slots__ = ("model", "content", "stop_reason", "usage")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    model: str
    content: _containers.RepeatedCompositeFieldContainer[_result_pb2.Content]
    stop_reason: str
    usage: _result_pb2.Usage
    def __init__(self, model: _Optional[str] = ..., content: _Optional[_Iterable[_Union[_result_pb2.Content, _Mapping[str, object]]]] = ..., stop_reason: _Optional[str] = ..., usage: _Optional[_Union[_result_pb2.Usage, _Mapping[str, object]]] = ...) -> None: ...

class RootsAnswer(_message.Message):
    __slots__ = ("roots",)
    ROOTS_FIELD_NUMBER: _ClassVar[int]
    roots: _containers.RepeatedCompositeFieldContainer[Root]
    def __init__(self, roots: _Optional[_Iterable[_Union[Root, _Mapping[str, object]]]] = ...) -> None: ...

class Root(_message.Message):
    __slots__ = ("uri", "name")
    URI_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    uri: str
    name: str
    def __init__(self, uri: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...
