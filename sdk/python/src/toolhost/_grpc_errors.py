"""Conversion of gRPC statuses to errors.

Only the clients import this module, so that plugins start faster.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import grpc
from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory

from toolhost._proto.toolhost.tool.v1 import error_pb2
from toolhost._wire import to_error
from toolhost.errors import Kind, ToolhostError

_CODES = {
    grpc.StatusCode.INVALID_ARGUMENT: Kind.INVALID_ARGUMENT,
    grpc.StatusCode.OUT_OF_RANGE: Kind.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED: Kind.UNSUPPORTED,
    grpc.StatusCode.NOT_FOUND: Kind.NOT_FOUND,
    grpc.StatusCode.PERMISSION_DENIED: Kind.DENIED,
    grpc.StatusCode.UNAUTHENTICATED: Kind.DENIED,
    grpc.StatusCode.FAILED_PRECONDITION: Kind.APPROVAL_REQUIRED,
    grpc.StatusCode.RESOURCE_EXHAUSTED: Kind.RATE_LIMITED,
    grpc.StatusCode.DEADLINE_EXCEEDED: Kind.TIMEOUT,
    grpc.StatusCode.CANCELLED: Kind.CANCELLED,
    grpc.StatusCode.ABORTED: Kind.CRASHED,
    grpc.StatusCode.UNAVAILABLE: Kind.UNAVAILABLE,
    grpc.StatusCode.ALREADY_EXISTS: Kind.CONFLICT,
}


def of_status(code: grpc.StatusCode, message: str, trailers: Iterable[tuple[str, str | bytes]]) -> ToolhostError:
    """Convert an RPC status: the error in its details, else an error of the matching kind."""
    for key, value in trailers:
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            for packed in _status_class().FromString(value).details:
                if packed.type_url.endswith("/" + error_pb2.Error.DESCRIPTOR.full_name):
                    return to_error(error_pb2.Error.FromString(packed.value))
    return ToolhostError.of(_CODES.get(code, Kind.INTERNAL))(message or code.name)


@functools.cache
def _status_class() -> Any:
    """Return the class of google.rpc.Status.

    It is in a separate descriptor pool, because the default pool rejects a second definition of the
    same message, and another package of the program may have one.
    """
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
