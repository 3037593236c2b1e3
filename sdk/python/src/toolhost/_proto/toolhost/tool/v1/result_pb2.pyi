import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EffectOperation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EFFECT_OPERATION_UNSPECIFIED: _ClassVar[EffectOperation]
    EFFECT_OPERATION_REPLACE: _ClassVar[EffectOperation]
    EFFECT_OPERATION_APPEND: _ClassVar[EffectOperation]
    EFFECT_OPERATION_MERGE: _ClassVar[EffectOperation]
EFFECT_OPERATION_UNSPECIFIED: EffectOperation
EFFECT_OPERATION_REPLACE: EffectOperation
EFFECT_OPERATION_APPEND: EffectOperation
EFFECT_OPERATION_MERGE: EffectOperation

class Result(_message.Message):
    __slots__ = ("content", "is_error", "effects", "duration", "usage", "cost", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    content: _containers.RepeatedCompositeFieldContainer[Content]
    is_error: bool
    effects: _containers.RepeatedCompositeFieldContainer[Effect]
    duration: _duration_pb2.Duration
    usage: Usage
    cost: float
    metadata: _containers.ScalarMap[str, bytes]
    def __init__(self, content: _Optional[_Iterable[_Union[Content, _Mapping[str, object]]]] = ..., is_error: bool = ..., effects: _Optional[_Iterable[_Union[Effect, _Mapping[str, object]]]] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., usage: _Optional[_Union[Usage, _Mapping[str, object]]] = ..., cost: _Optional[float] = ..., metadata: _Optional[_Mapping[str, bytes]] = ...) -> None: ...

class Content(_message.Message):
    __slots__ = ("text", "json", "image", "file", "artifact", "resource")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    text: str
    json: bytes
    image: Blob
    file: Blob
    artifact: Artifact
    resource: ResourceOrigin
    def __init__(self, text: _Optional[str] = ..., json: _Optional[bytes] = ..., image: _Optional[_Union[Blob, _Mapping[str, object]]] = ..., file: _Optional[_Union[Blob, _Mapping[str, object]]] = ..., artifact: _Optional[_Union[Artifact, _Mapping[str, object]]] = ..., resource: _Optional[_Union[ResourceOrigin, _Mapping[str, object]]] = ...) -> None: ...

class ResourceOrigin(_message.Message):
    __slots__ = ("uri", "media_type")
    URI_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    uri: str
    media_type: str
    def __init__(self, uri: _Optional[str] = ..., media_type: _Optional[str] = ...) -> None: ...

class Blob(_message.Message):
    __slots__ = ("media_type", "name", "data")
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    media_type: str
    name: str
    data: bytes
    def __init__(self, media_type: _Optional[str] = ..., name: _Optional[str] = ..., data: _Optional[bytes] = ...) -> None: ...

class Artifact(_message.Message):
    __slots__ = ("handle", "media_type", "size", "head", "tail", "name")
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    TAIL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    handle: str
    media_type: str
    size: int
    head: str
    tail: str
    name: str
    def __init__(self, handle: _Optional[str] = ..., media_type: _Optional[str] = ..., size: _Optional[int] = ..., head: _Optional[str] = ..., tail: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class Effect(_message.Message):
    __slots__ = ("key", "operation", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    operation: EffectOperation
    value: bytes
    def __init__(self, key: _Optional[str] = ..., operation: _Optional[_Union[EffectOperation, str]] = ..., value: _Optional[bytes] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_READ_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cache_read_tokens: _Optional[int] = ..., cache_write_tokens: _Optional[int] = ...) -> None: ...
