"""The options of the client methods, and their conversion to messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from toolhost import _wire
from toolhost._json import encode
from toolhost._keywords import checked
from toolhost._proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost.client._events import Approval
from toolhost.errors import InvalidArgument


class Selection(TypedDict, total=False):
    """Selects tools. A tool must match every option that is given."""

    names: Sequence[str]
    categories: Sequence[str]
    tags: Sequence[str]
    """A tool must have at least one of these tags."""
    dangerous: bool
    """Selects only dangerous tools, or only tools that are not dangerous."""
    max_cost_per_use: float
    """The highest cost of one call."""
    max_tools: int
    """The most tools to return. The default is all tools, and 10 for a search."""
    session: str
    """The session for which dynamic tools declare themselves. The default is that of the client."""
    context: Mapping[str, Any]
    """The run context for which dynamic tools declare themselves. The default is that of the
    client."""


class CallOptions(TypedDict, total=False):
    """The options of a call. A client can have defaults for some of them."""

    call_id: str
    """The idempotency key: 1 to 128 printable ASCII characters without spaces. toolhost executes
    the same id only once. Without it, toolhost generates one."""
    session: str
    """The session of the call. Without it, the call is in the default session of this user."""
    timeout: float
    """The longest duration of the call, in seconds. Without it, the timeout of the tool applies."""
    approval: Approval | str
    """The approval by a person, for tools that require one. A str is the name of that person."""
    context: Mapping[str, Any]
    """The run context. A tool receives only the keys that it declares."""
    traceparent: str
    """The W3C traceparent of the caller."""
    max_shown_bytes: int
    """How many bytes of text and JSON the result may contain. toolhost stores a larger result as an
    artifact."""


Arguments = Mapping[str, Any] | str | bytes | None
"""The arguments of a call: a mapping of values that pydantic can encode, or JSON text. None means
no arguments."""


def argument_text(arguments: Any) -> bytes:
    """Return arguments as JSON text. Raises InvalidArgument if JSON cannot represent them."""
    if arguments is None:
        return b"{}"
    if isinstance(arguments, str | bytes):
        return arguments.encode() if isinstance(arguments, str) else arguments
    try:
        return encode(arguments)
    except (ValueError, TypeError) as problem:
        raise InvalidArgument(f"encoding the arguments: {problem}") from problem


def selection_fields(selection: Selection) -> dict[str, Any]:
    """Convert a selection to the fields of a ToolSelection."""
    fields = checked(selection, Selection, "a selection of tools")
    if "context" in fields:
        fields["context"] = _wire.encoded_values(fields["context"])
    return fields


def call_options(options: CallOptions) -> pb.CallOptions:
    """Convert the options of a call to their message."""
    given = checked(options, CallOptions, "a call")
    message = pb.CallOptions(
        call_id=given.get("call_id", ""),
        session=given.get("session", ""),
        timeout=_wire.duration(given.get("timeout")),
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
        message.approval.arguments_sha256 = agreed.arguments_sha256 or ""
    return message
