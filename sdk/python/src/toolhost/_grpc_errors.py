"""Errors and their protobuf form, both ways; and gRPC statuses as errors. Nothing else maps them."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import grpc
from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory

from toolhost._json import valid_text
from toolhost._wire import duration, seconds
from toolhost.errors import Exit, Kind, ToolhostError
from toolhost.proto.toolhost.tool.v1 import error_pb2

_PREFIX = "ERROR_KIND_"
_CODES = {
    grpc.StatusCode.INVALID_ARGUMENT: Kind.INVALID_ARGUMENT,
    grpc.StatusCode.OUT_OF_RANGE: Kind.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED: Kind.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND: Kind.NOT_FOUND,
    grpc.StatusCode.PERMISSION_DENIED: Kind.DENIED,
    grpc.StatusCode.UNAUTHENTICATED: Kind.DENIED,
    grpc.StatusCode.FAILED_PRECONDITION: Kind.APPROVAL_REQUIRED,
    grpc.StatusCode.RESOURCE_EXHAUSTED: Kind.RATE_LIMITED,
    grpc.StatusCode.DEADLINE_EXCEEDED: Kind.TIMEOUT,
    grpc.StatusCode.CANCELLED: Kind.CANCELLED,
    grpc.StatusCode.ABORTED: Kind.CRASHED,
    grpc.StatusCode.UNAVAILABLE: Kind.UNAVAILABLE,
    grpc.StatusCode.DATA_LOSS: Kind.OUTCOME_UNKNOWN,
    grpc.StatusCode.ALREADY_EXISTS: Kind.CONFLICT,
}


def from_error(error: ToolhostError) -> error_pb2.Error:
    """Return an error's protobuf form, as a plugin says it."""
    return error_pb2.Error(
        kind=_PREFIX + error.kind.name,
        message=valid_text(error.message),
        retry_after=duration(error.retry_after),
    )


def to_error(m: error_pb2.Error) -> ToolhostError:
    """Return an error."""
    name = error_pb2.ErrorKind.Name(m.kind) if m.kind in error_pb2.ErrorKind.values() else ""
    kind = Kind.__members__.get(name.removeprefix(_PREFIX), Kind.INTERNAL)
    exited = None
    if m.HasField("exit"):
        e = m.exit
        exited = Exit(e.code, e.signal, e.out_of_memory, e.reason, tuple(e.last_stderr))
    return ToolhostError.of(kind)(
        m.message,
        retry_after=seconds(m.retry_after),
        call_id=m.call_id,
        plugin=m.plugin,
        instance=m.instance,
        exit=exited,
        rule=m.rule,
    )


def of_status(code: grpc.StatusCode, message: str, trailers: Iterable[tuple[str, str | bytes]]) -> ToolhostError:
    """Return what an RPC ended with: the error that the status carries as a detail, else one of the code's kind."""
    for key, value in trailers:
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            for packed in _status_class().FromString(value).details:
                if packed.type_url.endswith("/" + error_pb2.Error.DESCRIPTOR.full_name):
                    return to_error(error_pb2.Error.FromString(packed.value))
    return ToolhostError.of(_CODES.get(code, Kind.INTERNAL))(message or code.name)


@functools.cache
def _status_class() -> Any:
    """Return the class of google.rpc.Status, in a pool of its own, so that it is not in the way of anybody else's."""
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(any_pb2.DESCRIPTOR.serialized_pb)
    file = descriptor_pb2.FileDescriptorProto(
        name="status.proto", package="google.rpc", syntax="proto3", dependency=["google/protobuf/any.proto"]
    )
    fields = file.message_type.add(name="Status").field
    fields.add(name="code", number=1, type=5, label=1)
    fields.add(name="message", number=2, type=9, label=1)
    fields.add(name="details", number=3, type=11, label=3, type_name=".google.protobuf.Any")
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("google.rpc.Status"))
