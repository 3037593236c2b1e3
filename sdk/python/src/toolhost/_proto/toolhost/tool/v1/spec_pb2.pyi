import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolSpec(_message.Message):
    __slots__ = ("name", "version", "display_name", "description", "category", "tags", "input_schema", "output_schema", "input_examples", "timeout", "progress_extends_timeout", "retry", "rate_limit_per_minute", "memory_limit_bytes", "cost_per_use", "requires_auth", "sandbox_exempt", "partial_arguments", "dangerous", "read_only", "idempotent", "serial", "return_direct", "strict", "dynamic", "context_keys", "metadata", "effect_keys", "settles", "parallel", "seals")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    INPUT_EXAMPLES_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_EXTENDS_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    RATE_LIMIT_PER_MINUTE_FIELD_NUMBER: _ClassVar[int]
    MEMORY_LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    COST_PER_USE_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_AUTH_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_EXEMPT_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    DANGEROUS_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    SERIAL_FIELD_NUMBER: _ClassVar[int]
    RETURN_DIRECT_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_KEYS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    EFFECT_KEYS_FIELD_NUMBER: _ClassVar[int]
    SETTLES_FIELD_NUMBER: _ClassVar[int]
    PARALLEL_FIELD_NUMBER: _ClassVar[int]
    SEALS_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    display_name: str
    description: str
    category: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    input_schema: bytes
    output_schema: bytes
    input_examples: _containers.RepeatedCompositeFieldContainer[InputExample]
    timeout: _duration_pb2.Duration
    progress_extends_timeout: bool
    retry: RetryPolicy
    rate_limit_per_minute: int
    memory_limit_bytes: int
    cost_per_use: float
    requires_auth: _containers.RepeatedScalarFieldContainer[str]
    sandbox_exempt: bool
    partial_arguments: bool
    dangerous: bool
    read_only: bool
    idempotent: bool
    serial: bool
    return_direct: bool
    strict: bool
    dynamic: bool
    context_keys: _containers.RepeatedScalarFieldContainer[str]
    metadata: _containers.ScalarMap[str, bytes]
    effect_keys: _containers.RepeatedScalarFieldContainer[str]
    settles: bool
    parallel: bool
    seals: bool
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., display_name: _Optional[str] = ..., description: _Optional[str] = ..., category: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., input_schema: _Optional[bytes] = ..., output_schema: _Optional[bytes] = ..., input_examples: _Optional[_Iterable[_Union[InputExample, _Mapping[str, object]]]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., progress_extends_timeout: bool = ..., retry: _Optional[_Union[RetryPolicy, _Mapping[str, object]]] = ..., rate_limit_per_minute: _Optional[int] = ..., memory_limit_bytes: _Optional[int] = ..., cost_per_use: _Optional[float] = ..., requires_auth: _Optional[_Iterable[str]] = ..., sandbox_exempt: bool = ..., partial_arguments: bool = ..., dangerous: bool = ..., read_only: bool = ..., idempotent: bool = ..., serial: bool = ..., return_direct: bool = ..., strict: bool = ..., dynamic: bool = ..., context_keys: _Optional[_Iterable[str]] = ..., metadata: _Optional[_Mapping[str, bytes]] = ..., effect_keys: _Optional[_Iterable[str]] = ..., settles: bool = ..., parallel: bool = ..., seals: bool = ...) -> None: ...

class InputExample(_message.Message):
    __slots__ = ("description", "arguments")
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    description: str
    arguments: bytes
    def __init__(self, description: _Optional[str] = ..., arguments: _Optional[bytes] = ...) -> None: ...

class RetryPolicy(_message.Message):
    __slots__ = ("max_attempts", "initial_backoff", "max_backoff")
    MAX_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    INITIAL_BACKOFF_FIELD_NUMBER: _ClassVar[int]
    MAX_BACKOFF_FIELD_NUMBER: _ClassVar[int]
    max_attempts: int
    initial_backoff: _duration_pb2.Duration
    max_backoff: _duration_pb2.Duration
    def __init__(self, max_attempts: _Optional[int] = ..., initial_backoff: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., max_backoff: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ...) -> None: ...
