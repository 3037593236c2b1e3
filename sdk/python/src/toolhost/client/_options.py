"""The options of the client methods, and their conversion to messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from typing_extensions import TypedDict

from toolhost import _wire
from toolhost._json import encode, valid_text
from toolhost._keywords import checked
from toolhost._proto.toolhost.tool.v1 import principal_pb2
from toolhost._proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost._question_wire import from_kinds
from toolhost.client._events import Approval
from toolhost.errors import InvalidArgument
from toolhost.question import QuestionKind


@dataclass(frozen=True)
class Principal:
    """The principal for which a delegate makes a request, such as the user of an agent.

    toolhost trusts the delegate to have verified the principal.
    """

    name: str
    """The name within the tenant: 1 to 128 printable ASCII characters without spaces."""
    tenant: str = "default"
    """The tenant."""
    groups: Sequence[str] = ()
    """The groups within the tenant. At most 64."""


class Selection(TypedDict, total=False):
    """Selects tools. A tool must match every option that is given."""

    names: Sequence[str]
    categories: Sequence[str]
    tags: Sequence[str]
    """A tool must have at least one of these tags."""
    plugins: Sequence[str]
    """Selects the tools of one of these plugins."""
    excluded: Sequence[str]
    """The names of tools that are never selected."""
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
    on_behalf_of: Principal
    """The principal whose tools are selected. The default is that of the client."""


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
    approval_wait: float
    """Lets toolhost hold the call if a person has to approve it, and says how many seconds to wait
    for that. If nobody decides in that time, the call raises ApprovalRequired with `decision`: after a
    person approved that, the same call passes once. 0 does not wait. Without it, toolhost does not
    hold the call."""
    context: Mapping[str, Any]
    """The run context. A tool receives only the keys that it declares."""
    traceparent: str
    """The W3C traceparent of the caller."""
    max_shown_bytes: int
    """How many bytes of text and JSON the result may contain. toolhost stores a larger result as an
    artifact."""
    ledger_id: str
    """The id of the ledger that the call id is for. A toolhost with another ledger does not execute
    the call. It returns the outcome if it has it; otherwise, the call raises OutcomeUnknown. Without
    it, any toolhost may execute the call. The client never sets it by itself."""
    first_sent: datetime
    """When the application first sent the call, or may have sent it. A time without a time zone
    raises InvalidArgument. If toolhost does not know the call id and may have deleted its record
    since then, it executes nothing, and the call raises OutcomeUnknown. Without it, toolhost assumes
    that the call is new, unless its ledger was restored from a backup. A restored toolhost executes
    a call with side effects and an unknown call id only if this time is after the restore, or if
    `ledger_id` is the id of the restored ledger. The client never sets it by itself."""
    on_behalf_of: Principal
    """The principal to which the call belongs. The default is that of the client. toolhost refuses
    the call with Denied unless the client has the right to delegate in the tenant of the
    principal."""
    agent: str
    """The name of the agent that makes the call. toolhost ignores it unless the client has the right
    `delegate` or `calls.approve` in the tenant of the call."""
    run: str
    """The id of the run that makes the call. toolhost ignores it like `agent`."""
    answers: Sequence[QuestionKind | str]
    """What the application answers if the tool asks: it reads the events of the call, and answers each
    Question with `answer_question`. Without it, a tool that asks gets the error `unsupported`."""


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


def principal_message(principal: Principal | None) -> principal_pb2.Principal | None:
    """Convert a principal to its message. None means the client itself."""
    if principal is None:
        return None
    groups = [valid_text(group) for group in principal.groups]
    return principal_pb2.Principal(tenant=valid_text(principal.tenant), name=valid_text(principal.name), groups=groups)


def selection_fields(selection: Selection) -> dict[str, Any]:
    """Convert a selection to the fields of a ToolSelection."""
    fields = checked(selection, Selection, "a selection of tools")
    fields.pop("on_behalf_of", None)
    if "context" in fields:
        fields["context"] = _wire.encoded_values(fields["context"])
    return fields


def call_options(options: CallOptions) -> pb.CallOptions:
    """Convert the options of a call to their message.

    Raises InvalidArgument if first_sent has no time zone.
    """
    given = checked(options, CallOptions, "a call")
    message = pb.CallOptions(
        call_id=given.get("call_id", ""),
        session=given.get("session", ""),
        timeout=_wire.duration(given.get("timeout")),
        context=_wire.encoded_values(given.get("context", {})),
        traceparent=given.get("traceparent", ""),
        max_shown_bytes=given.get("max_shown_bytes"),
        ledger_id=given.get("ledger_id", ""),
        on_behalf_of=principal_message(given.get("on_behalf_of")),
        answers=from_kinds(given.get("answers", ())),
        agent=given.get("agent", ""),
        run=given.get("run", ""),
    )
    first_sent = given.get("first_sent")
    if first_sent is not None:
        if first_sent.utcoffset() is None:
            # protobuf would take a local time as UTC. East of UTC, the call would then look newer
            # than it is, and could be executed twice.
            raise InvalidArgument("first_sent has no time zone; use for example datetime.now(UTC)")
        message.first_sent_time.FromDatetime(first_sent)
    wait = given.get("approval_wait")
    if wait is not None:
        message.approval_wait.FromNanoseconds(round(wait * 1_000_000_000))
    approval = given.get("approval")
    if approval is not None:
        agreed = Approval(approval) if isinstance(approval, str) else approval
        message.approval.approved_by, message.approval.reason = agreed.approved_by, agreed.reason
        if agreed.time is not None:
            message.approval.time.FromDatetime(agreed.time)
        if agreed.arguments is not None:
            message.approval.arguments = encode(agreed.arguments)
        message.approval.arguments_sha256 = agreed.arguments_sha256 or ""
        message.approval.session_move = agreed.session_move or ""
    return message
