"""What a caller may say of tools and calls, and its protobuf form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from toolhost import _wire
from toolhost._json import encode
from toolhost._keywords import checked
from toolhost.client._events import Approval
from toolhost.errors import InvalidArgument
from toolhost.proto.toolhost.v1 import tool_service_pb2 as pb


class Selection(TypedDict, total=False):
    """Which tools. Everything that is given must match."""

    names: Sequence[str]
    categories: Sequence[str]
    tags: Sequence[str]
    """Tools with at least one of these."""
    dangerous: bool
    """Only dangerous tools, or only others."""
    max_cost_per_use: float
    max_tools: int
    session: str
    """The session for which dynamic tools are described."""
    context: Mapping[str, Any]
    """The context for which dynamic tools are described."""


class CallOptions(TypedDict, total=False):
    """What may be said of a call besides its tool and arguments."""

    call_id: str
    """The call's name and idempotency key: the same id is not executed twice. Without it, toolhost makes one."""
    session: str
    """The scope that calls share. Without it, this user's default session."""
    timeout: float
    """How long the call may take, in seconds. Without it, the tool's own timeout."""
    approval: Approval | str
    """A person's consent, for tools that need one; or only who agreed."""
    context: Mapping[str, Any]
    """The run's context; a tool gets only the keys that it declares."""
    traceparent: str
    """The W3C trace context of the caller."""
    max_shown_bytes: int
    """How many bytes of text and JSON the result may show; what is more is kept as an artifact."""


Arguments = Mapping[str, Any] | str | bytes | None
"""Arguments: a mapping of anything that pydantic can encode, or JSON text. None is no arguments."""


def argument_text(arguments: Any) -> bytes:
    """Return arguments as JSON text. Raises InvalidArgument if they have no JSON form."""
    if arguments is None:
        return b"{}"
    if isinstance(arguments, str | bytes):
        return arguments.encode() if isinstance(arguments, str) else arguments
    try:
        return encode(arguments)
    except (ValueError, TypeError) as problem:
        raise InvalidArgument(f"encoding the arguments: {problem}") from problem


def selection_fields(selection: Selection) -> dict[str, Any]:
    """Return the fields of a ToolSelection."""
    fields = checked(selection, Selection, "a selection of tools")
    if "context" in fields:
        fields["context"] = _wire.encoded_values(fields["context"])
    return fields


def call_options(options: CallOptions) -> pb.CallOptions:
    """Return the options of a call."""
    given = checked(options, CallOptions, "a call")
    message = pb.CallOptions(
        call_id=given.get("call_id", ""),
        session=given.get("session", ""),
        timeout=_wire.duration(given.get("timeout", 0.0)),
        context=_wire.encoded_values(given.get("context", {})),
        traceparent=given.get("traceparent", ""),
        max_shown_bytes=given.get("max_shown_bytes"),
    )
    approval = given.get("approval")
    if approval is not None:
        agreed = Approval(approval) if isinstance(approval, str) else approval
        message.approval.approved_by, message.approval.reason = agreed.approved_by, agreed.reason
        if agreed.time is not None:
            message.approval.time.FromDatetime(agreed.time)
        if agreed.arguments is not None:
            message.approval.arguments = encode(agreed.arguments)
        message.approval.arguments_sha256 = agreed.arguments_sha256
    return message
