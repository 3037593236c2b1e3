"""Conversion between the public dataclasses and the protobuf messages, in both directions."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from toolhost._json import decode, encode, valid_text
from toolhost._proto.toolhost.tool.v1 import (
    caller_pb2,
    error_pb2,
    permissions_pb2,
    result_pb2,
    spec_pb2,
    status_pb2,
    version_pb2,
)
from toolhost.caller import CallerInfo, GrantedRight, GrantedRole
from toolhost.errors import Exit, Kind, ToolhostError
from toolhost.result import Artifact, Content, Effect, File, Image, Json, Operation, Result, Text, Usage
from toolhost.spec import Example, Permissions, Retry, Spec
from toolhost.status import LogRecord, Progress, State, Status
from toolhost.version import Contracts, VersionInfo

CHUNK = 64 << 10
"""The largest payload of one frame, in bytes."""
MAX_MESSAGE = 4 << 20
"""The largest message that either side accepts, in bytes."""

_NANOS = 1_000_000_000


def duration(seconds: float | None) -> Duration | None:
    """Return seconds as a Duration. None and 0 give None: an unset field."""
    if not seconds:
        return None
    nanos = round(seconds * _NANOS)
    return Duration(seconds=nanos // _NANOS, nanos=nanos % _NANOS)


def seconds(value: Duration) -> float | None:
    """Return a Duration in seconds. An unset or zero Duration gives None."""
    return value.seconds + value.nanos / _NANOS or None


def time(value: Timestamp) -> datetime | None:
    """Return a Timestamp as a time in UTC. An unset Timestamp gives None."""
    if not value.seconds and not value.nanos:
        return None
    return value.ToDatetime(UTC)


def values(encoded: Mapping[str, bytes]) -> dict[str, Any]:
    """Decode JSON values by key."""
    return {key: decode(value) for key, value in encoded.items()}


def encoded_values(decoded: Mapping[str, Any]) -> dict[str, bytes]:
    """Encode values by key as JSON."""
    return {valid_text(key): encode(value) for key, value in decoded.items()}


# Content and results.


def from_content(block: Content) -> result_pb2.Content:
    """Convert a block to its message."""
    match block:
        case Text():
            return result_pb2.Content(text=valid_text(block.text))
        case Json():
            return result_pb2.Content(json=block.encoded)
        case Image() | File():
            blob = result_pb2.Blob(media_type=block.media_type, name=valid_text(block.name), data=block.data)
            return result_pb2.Content(image=blob) if isinstance(block, Image) else result_pb2.Content(file=blob)
        case Artifact():
            return result_pb2.Content(
                artifact=result_pb2.Artifact(
                    handle=block.handle,
                    media_type=block.media_type,
                    size=block.size,
                    head=block.head,
                    tail=block.tail,
                    name=block.name,
                )
            )


def to_content(message: result_pb2.Content) -> Content:
    """Convert a message to a block. A block of an unknown kind becomes an empty text."""
    match message.WhichOneof("block"):
        case "json":
            return Json._raw(message.json)
        case "image":
            return Image(message.image.data, media_type=message.image.media_type, name=message.image.name)
        case "file":
            return File(message.file.data, name=message.file.name, media_type=message.file.media_type)
        case "artifact":
            a = message.artifact
            return Artifact(a.handle, a.media_type, a.size, a.head, a.tail, a.name)
        case _:
            return Text(message.text)


_OPERATIONS = {
    Operation.REPLACE: result_pb2.EFFECT_OPERATION_REPLACE,
    Operation.APPEND: result_pb2.EFFECT_OPERATION_APPEND,
    Operation.MERGE: result_pb2.EFFECT_OPERATION_MERGE,
}
_OPERATIONS_BACK = {number: operation for operation, number in _OPERATIONS.items()}


def from_result(result: Result) -> result_pb2.Result:
    """Convert a result to its message.

    Raises ValueError or TypeError if JSON cannot represent a value in it.
    """
    message = result_pb2.Result(
        content=[from_content(block) for block in result.content],
        is_error=result.is_error,
        effects=[
            result_pb2.Effect(key=e.key, operation=_OPERATIONS[e.operation], value=encode(e.value))
            for e in result.effects
        ],
        duration=duration(result.duration),
        cost=result.cost or 0.0,
        metadata=encoded_values(result.metadata),
    )
    if result.usage != Usage():
        u = result.usage
        message.usage.CopyFrom(
            result_pb2.Usage(
                input_tokens=u.input_tokens,
                output_tokens=u.output_tokens,
                cache_read_tokens=u.cache_read_tokens,
                cache_write_tokens=u.cache_write_tokens,
            )
        )
    return message


def to_usage(u: result_pb2.Usage) -> Usage:
    """Convert the token usage of a call or run."""
    return Usage(u.input_tokens, u.output_tokens, u.cache_read_tokens, u.cache_write_tokens)


def to_result(message: result_pb2.Result) -> Result:
    """Convert a message to a result."""
    return Result(
        [to_content(block) for block in message.content],
        is_error=message.is_error,
        effects=[
            Effect(e.key, decode(e.value), _OPERATIONS_BACK.get(e.operation, Operation.REPLACE))
            for e in message.effects
        ],
        usage=to_usage(message.usage),
        cost=message.cost or None,
        metadata=values(message.metadata),
        duration=seconds(message.duration),
    )


def join(result: result_pb2.Result, pieces: Mapping[int, bytes | bytearray]) -> None:
    """Prepend the chunks that arrived earlier to the payloads of their blocks.

    Raises IndexError and ValueError.
    """
    for index, piece in pieces.items():
        block = result.content[index]
        match block.WhichOneof("block"):
            case "text":
                block.text = (bytes(piece) + block.text.encode()).decode(errors="replace")
            case "json":
                block.json = bytes(piece) + block.json
            case "image":
                block.image.data = bytes(piece) + block.image.data
            case "file":
                block.file.data = bytes(piece) + block.file.data
            case kind:
                raise ValueError(f"block {index} arrived in chunks, and its kind {kind} has no chunks")


# Errors.

_PREFIX = "ERROR_KIND_"


def from_error(error: ToolhostError) -> error_pb2.Error:
    """Convert an error to its message.

    A plugin sends only the kind, the message and the retry pause.
    """
    return error_pb2.Error(
        kind=_PREFIX + error.kind.name,
        message=valid_text(error.message),
        retry_after=duration(error.retry_after),
    )


def to_error(m: error_pb2.Error) -> ToolhostError:
    """Convert a message to an error. An unknown kind becomes `internal`."""
    name = error_pb2.ErrorKind.Name(m.kind) if m.kind in error_pb2.ErrorKind.values() else ""
    kind = Kind.__members__.get(name.removeprefix(_PREFIX), Kind.INTERNAL)
    exited = None
    if m.HasField("exit"):
        e = m.exit
        exited = Exit(e.code, e.signal or None, e.out_of_memory, e.reason, tuple(e.last_stderr))
    error = ToolhostError.of(kind)(
        m.message,
        retry_after=seconds(m.retry_after),
        call_id=m.call_id or None,
        plugin=m.plugin or None,
        instance=m.instance or None,
        exit=exited,
        rule=m.rule or None,
        arguments=m.arguments.decode() if m.arguments else None,
        arguments_sha256=m.arguments_sha256 or None,
    )
    error.decision = m.decision or None
    error.session_move = m.session_move or None
    return error


# Statuses and logs.

_STATES = {
    State.WAIT: status_pb2.STATUS_STATE_WAIT,
    State.DOING: status_pb2.STATUS_STATE_DOING,
    State.SUCCESS: status_pb2.STATUS_STATE_SUCCESS,
    State.ERROR: status_pb2.STATUS_STATE_ERROR,
}
_STATES_BACK = {number: state for state, number in _STATES.items()}


def from_status(status: Status) -> status_pb2.Status:
    """Convert a status to its message.

    Raises ValueError or TypeError if JSON cannot represent a value in it.
    """
    progress = None
    if status.progress is not None:
        p = status.progress
        progress = status_pb2.Progress(done=p.done, total=p.total or 0.0, message=valid_text(p.message))
    return status_pb2.Status(
        state=_STATES[status.state] if status.state else status_pb2.STATUS_STATE_UNSPECIFIED,
        message=valid_text(status.message or ""),
        parameters=b"" if status.parameters is None else encode(status.parameters),
        progress=progress,
        result=b"" if status.result is None else encode(status.result),
    )


def to_progress(p: status_pb2.Progress) -> Progress:
    """Convert a message to a progress."""
    return Progress(p.done, p.total or None, p.message)


def to_status(message: status_pb2.Status) -> Status:
    """Convert a message to a status."""
    return Status(
        state=_STATES_BACK.get(message.state),
        message=message.message or None,
        parameters=decode(message.parameters) if message.parameters else None,
        progress=to_progress(message.progress) if message.HasField("progress") else None,
        result=decode(message.result) if message.result else None,
    )


_LEVELS = [
    (logging.ERROR, status_pb2.LOG_LEVEL_ERROR),
    (logging.WARNING, status_pb2.LOG_LEVEL_WARN),
    (logging.INFO, status_pb2.LOG_LEVEL_INFO),
    (logging.NOTSET, status_pb2.LOG_LEVEL_DEBUG),
]


def from_log(record: LogRecord) -> status_pb2.LogRecord:
    """Convert a log record to its message."""
    message = status_pb2.LogRecord(
        level=next(number for least, number in _LEVELS if record.level >= least),
        message=valid_text(record.message),
        attributes=encoded_values(record.attributes),
    )
    if record.time is not None:
        message.time.FromDatetime(record.time)
    return message


def to_log(message: status_pb2.LogRecord) -> LogRecord:
    """Convert a message to a log record."""
    level = {number: level for level, number in _LEVELS}.get(message.level, logging.INFO)
    return LogRecord(message.message, level or logging.DEBUG, time(message.time), values(message.attributes))


# Specs.


def from_spec(spec: Spec) -> spec_pb2.ToolSpec:
    """Convert a declaration to its message.

    Raises ValueError or TypeError if JSON cannot represent a value in it.
    """
    message = spec_pb2.ToolSpec(
        name=spec.name,
        version=spec.version,
        display_name=spec.display_name,
        description=spec.description,
        category=spec.category,
        tags=spec.tags,
        input_schema=encode(spec.input_schema),
        output_schema=b"" if spec.output_schema is None else encode(spec.output_schema),
        input_examples=[
            spec_pb2.InputExample(description=e.description, arguments=encode(e.arguments)) for e in spec.examples
        ],
        timeout=duration(spec.timeout),
        progress_extends_timeout=spec.progress_extends_timeout,
        rate_limit_per_minute=spec.rate_limit_per_minute or 0,
        memory_limit_bytes=spec.memory_limit_bytes or 0,
        cost_per_use=spec.cost_per_use,
        requires_auth=spec.requires_auth,
        sandbox_exempt=spec.sandbox_exempt,
        partial_arguments=spec.partial_arguments,
        dangerous=spec.dangerous,
        read_only=spec.read_only,
        idempotent=spec.idempotent,
        serial=spec.serial,
        parallel=spec.parallel,
        return_direct=spec.return_direct,
        strict=spec.strict,
        dynamic=spec.dynamic,
        settles=spec.settles,
        seals=spec.seals,
        context_keys=spec.context_keys,
        effect_keys=spec.effect_keys,
        metadata=encoded_values(spec.metadata),
    )
    if spec.retry != Retry():
        message.retry.CopyFrom(
            spec_pb2.RetryPolicy(
                max_attempts=spec.retry.max_attempts,
                initial_backoff=duration(spec.retry.initial_backoff),
                max_backoff=duration(spec.retry.max_backoff),
            )
        )
    return message


_ACCESS = {
    "none": permissions_pb2.ACCESS_NONE,
    "read": permissions_pb2.ACCESS_READ,
    "write": permissions_pb2.ACCESS_WRITE,
}


def from_permissions(asked: Permissions) -> permissions_pb2.Permissions | None:
    """Convert requested permissions to their message. Returns None if the plugin requests none."""
    if asked == Permissions():
        return None
    workspace = _ACCESS[asked.workspace]
    return permissions_pb2.Permissions(network=asked.network, workspace=workspace, read=asked.read, write=asked.write)


def to_spec(m: spec_pb2.ToolSpec) -> Spec:
    """Convert a message to a declaration."""
    return Spec(
        name=m.name,
        description=m.description,
        version=m.version,
        display_name=m.display_name,
        category=m.category,
        tags=tuple(m.tags),
        input_schema=decode(m.input_schema) if m.input_schema else {"type": "object"},
        output_schema=decode(m.output_schema) if m.output_schema else None,
        examples=tuple(Example(decode(e.arguments), e.description) for e in m.input_examples),
        timeout=seconds(m.timeout),
        progress_extends_timeout=m.progress_extends_timeout,
        retry=Retry(m.retry.max_attempts or 1, seconds(m.retry.initial_backoff), seconds(m.retry.max_backoff)),
        rate_limit_per_minute=m.rate_limit_per_minute or None,
        memory_limit_bytes=m.memory_limit_bytes or None,
        cost_per_use=m.cost_per_use,
        requires_auth=tuple(m.requires_auth),
        sandbox_exempt=m.sandbox_exempt,
        partial_arguments=m.partial_arguments,
        dangerous=m.dangerous,
        read_only=m.read_only,
        idempotent=m.idempotent,
        serial=m.serial,
        parallel=m.parallel,
        return_direct=m.return_direct,
        strict=m.strict,
        dynamic=m.dynamic,
        settles=m.settles,
        seals=m.seals,
        context_keys=tuple(m.context_keys),
        effect_keys=tuple(m.effect_keys),
        metadata=values(m.metadata),
    )


# Versions.


def to_version(m: version_pb2.VersionInfo) -> VersionInfo:
    """Convert a message to a version."""
    return VersionInfo(m.version, m.commit, Contracts(m.contracts.plugin, m.contracts.host, m.contracts.agent))


# Callers.


def to_caller(m: caller_pb2.CallerInfo) -> CallerInfo:
    """Convert a message to what a server knows about a caller."""
    return CallerInfo(
        principal=m.principal,
        tenant=m.tenant,
        groups=tuple(m.groups),
        credential=m.credential,
        credential_id=m.credential_id,
        expires=time(m.expire_time),
        address=m.address,
        scope_roles=tuple(m.scope_roles),
        scope_tools=tuple(m.scope_tools),
        roles=tuple(GrantedRole(r.role, tuple(r.tenants), r.all_tenants, tuple(r.tools)) for r in m.roles),
        rights=tuple(GrantedRight(r.right, tuple(r.tenants), r.all_tenants) for r in m.rights),
    )
