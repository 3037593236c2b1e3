"""The asyncio client of an agentd."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from typing_extensions import Unpack

from toolhost import _wire
from toolhost._link import Link
from toolhost._proto.agentd.v1 import agent_service_pb2 as pb
from toolhost._proto.agentd.v1 import agent_service_pb2_grpc as pb_grpc
from toolhost._proto.toolhost.decision.v1 import decision_service_pb2 as decision_pb
from toolhost.agent._convert import (
    from_attachments,
    from_decision,
    from_states,
    start_request,
    to_decide_request,
    to_event,
    to_run,
)
from toolhost.agent._events import RunEvent, RunFinished
from toolhost.agent._inbox import make_decision, read_changes, read_decision, read_page, read_pages
from toolhost.agent._runs import (
    Attachment,
    Decision,
    InboxChange,
    InboxDecision,
    InboxPage,
    Run,
    RunOptions,
    RunState,
    Verdict,
)
from toolhost.caller import CallerInfo
from toolhost.credentials import CredentialOptions
from toolhost.errors import Internal
from toolhost.version import VersionInfo

_MAX_EVENT = 64 << 20  # bytes of one event, which carries a whole tool result


class AsyncAgentClient:
    """A client of an agentd.

    It connects on first use, and connects again after the connection is lost. It belongs to the
    event loop of its first use, and any number of tasks may use it at the same time. Use it as an
    async context manager, or call `close`. All methods raise a ToolhostError for infrastructure
    errors.

    Args:
        address: unix:///PATH or HOST:PORT. None means the environment variable AGENTD_ADDR, else
            the default socket of this user.
        rpc_timeout: The deadline of every request except `watch`, in seconds. None means no
            deadline.
        credentials: How to verify the server, and what to present to it; see `CredentialOptions`.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        rpc_timeout: float | None = 30.0,
        **credentials: Unpack[CredentialOptions],
    ) -> None:
        self._link = Link(address, "agentd", _MAX_EVENT, rpc_timeout, credentials)

    @property
    def address(self) -> str:
        """The address of the agentd."""
        return self._link.address

    async def close(self) -> None:
        """Close the connection. Runs continue. Requests in progress raise Cancelled."""
        await self._link.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _unary(self, method: str, request: Any) -> Any:
        return await self._link.unary(pb_grpc.AgentServiceStub, method, request)

    async def version(self) -> VersionInfo:
        """Return the version, the commit and the contracts of the running agentd."""
        answer: pb.GetVersionResponse = await self._unary("GetVersion", pb.GetVersionRequest())
        return _wire.to_version(answer.version)

    async def who_am_i(self) -> CallerInfo:
        """Return how agentd identified this client, and what the client may do.

        Every client that agentd has identified may ask.
        """
        answer: pb.WhoAmIResponse = await self._unary("WhoAmI", pb.WhoAmIRequest())
        return _wire.to_caller(answer.caller)

    async def start(self, prompt: str, **options: Unpack[RunOptions]) -> str:
        """Start a run and return its id immediately.

        The same run id with the same prompt and options returns the existing run. Raises Conflict
        if the id belongs to a run that began with another prompt or other options.
        """
        started: pb.StartRunResponse = await self._unary("StartRun", start_request(prompt, options))
        return started.run_id

    async def run(self, prompt: str, **options: Unpack[RunOptions]) -> RunFinished:
        """Start a run and wait for its end; see `start` and `wait`."""
        return await self.wait(await self.start(prompt, **options))

    async def wait(self, run_id: str) -> RunFinished:
        """Wait for the end of a run.

        Cancelling the wait does not cancel the run. Raises NotFound.
        """
        finished: RunFinished | None = None
        async for event in self.watch(run_id):
            if isinstance(event.payload, RunFinished):
                finished = event.payload
        if finished is None:
            raise Internal(f"agentd ended the events of the run {run_id} before the end of the run")
        return finished

    async def watch(self, run_id: str, *, after: int = 0) -> AsyncIterator[RunEvent]:
        """Yield the events of a run whose `seq` is greater than `after`, until the run finishes.

        The iterator first yields the events in the journal and then new events. To continue after
        an error, watch again with the `seq` of the last durable event. Leaving the loop does not
        cancel the run. Raises NotFound.
        """
        request = pb.WatchRunRequest(run_id=run_id, after_seq=after)
        async for response in self._link.stream(pb_grpc.AgentServiceStub, "WatchRun", request):
            event = to_event(response.event)
            if event is not None:
                yield event

    async def send(
        self, run_id: str, text: str, *, attachments: Sequence[Attachment] = (), message_id: str = ""
    ) -> int:
        """Send a message of the user, and return the `seq` of its event.

        A finished run continues. To send a message again when it is unclear whether it arrived, choose
        its `message_id`, 1 to 64 of the characters A-Z a-z 0-9 _ -: agentd adds it once. Empty means a
        new one. Raises NotFound, InvalidArgument if the model of the run does not read an attachment,
        and Conflict if `message_id` belongs to a message with another text.
        """
        files = from_attachments(attachments)
        message_id = message_id or secrets.token_hex(16)
        request = pb.SendMessageRequest(run_id=run_id, text=text, attachments=files, message_id=message_id)
        sent: pb.SendMessageResponse = await self._unary("SendMessage", request)
        return sent.seq

    async def respond(self, run_id: str, *decisions: Decision, by: str = "") -> int:
        """Make decisions, all of them or none, and return the `seq` of the first.

        `approve`, `reject` and `answer` create decisions. `get` and the event DecisionRequested
        name the open decisions. `by` is the person who decides, as the journal and the audit log
        name them. Raises NotFound if a decision is not open, and InvalidArgument if a verdict does
        not fit the kind of the decision.
        """
        request = pb.RespondRequest(run_id=run_id, decisions=map(from_decision, decisions), decided_by=by)
        responded: pb.RespondResponse = await self._unary("Respond", request)
        return responded.seq

    async def cancel(self, run_id: str, reason: str = "") -> None:
        """Request that a run stops, without waiting for its end. Raises NotFound."""
        await self._unary("CancelRun", pb.CancelRunRequest(run_id=run_id, reason=reason))

    async def delete(self, run_id: str) -> tuple[str, ...]:
        """Delete a finished run with its sub-runs, and return their ids, its own first.

        No run can have their ids again. Raises NotFound, and Conflict if one of them, or a run of
        which the run is a sub-run, has not finished.
        """
        deleted: pb.DeleteRunResponse = await self._unary("DeleteRun", pb.DeleteRunRequest(run_id=run_id))
        return tuple(deleted.run_ids)

    async def get(self, run_id: str) -> Run:
        """Return the summary of a run, with its open decisions. Raises NotFound."""
        got: pb.GetRunResponse = await self._unary("GetRun", pb.GetRunRequest(run_id=run_id))
        return to_run(got.run)

    async def inbox(self, *, tenants: Sequence[str] = ()) -> AsyncIterator[InboxDecision]:
        """Yield the decisions that wait for a person.

        They are those of the runs that this client may see, and the calls that agentd's toolhost holds
        and this client may see. The run whose decision ends first comes first, and a held call by its
        end within a page. Each decision comes once. `inbox_page` says in addition whether the toolhost
        has answered. Raises Unsupported for an agentd of before.

        Args:
            tenants: The tenants whose runs and calls to include. Empty means all that the client may see.
        """
        async for decision in read_pages(self._link, decision_pb.ListDecisionsRequest(tenants=tenants)):
            yield decision

    async def inbox_page(self, *, tenants: Sequence[str] = (), page_size: int = 0, page_token: str = "") -> InboxPage:
        """Return one page of what `inbox` yields, and which decisions are missing.

        Raises InvalidArgument for a token that the server did not give out.

        Args:
            tenants: The tenants whose runs and calls to include. Empty means all that the client may see.
            page_size: After how many decisions the page ends. 0 means that the server chooses.
            page_token: The `next_page_token` of the page before. Empty means the first page.
        """
        return await read_page(
            self._link,
            decision_pb.ListDecisionsRequest(tenants=tenants, page_size=page_size, page_token=page_token),
        )

    async def watch_inbox(self, *, tenants: Sequence[str] = (), position: str = "") -> AsyncIterator[InboxChange]:
        """Yield what `inbox` yields, and what becomes of it, until the loop is left.

        A slow reader gets fewer changes, each with what its source waits for then. To continue after
        Unavailable, watch again with the last `position` that was not empty. Raises InvalidArgument for
        the position of another client or filter, Denied if the rights of this client change, and
        Unsupported for an agentd of before: after the first two, watch again without a position.

        Args:
            tenants: The tenants whose runs and calls to include. Empty means all that the client may see.
            position: `InboxChange.position` or `InboxPage.position` to continue after. Empty means from the
                beginning.
        """
        async for change in read_changes(
            self._link, decision_pb.WatchDecisionsRequest(tenants=tenants, position=position)
        ):
            yield change

    async def inbox_decision(self, name: str) -> InboxDecision:
        """Return one decision of the inbox as a whole, also after it was made.

        Raises NotFound, and Unavailable for a held call while agentd's toolhost does not answer.
        """
        return await read_decision(self._link, decision_pb.GetDecisionRequest(name=name))

    async def decide(
        self,
        name: str,
        etag: str,
        verdict: Verdict,
        *,
        text: str = "",
        arguments: Mapping[str, Any] | None = None,
        by: str = "",
        request_id: str = "",
    ) -> InboxDecision:
        """Make one decision of the inbox, and return it as it was made.

        Raises NotFound, Conflict if the decision is not what the person has seen any more, or another
        verdict came first, InvalidArgument if the verdict does not fit, and Denied.

        Args:
            name: The name of the decision.
            etag: `InboxDecision.etag` of what the person has seen.
            verdict: APPROVE, REJECT or ANSWER.
            text: The reason, which may be empty, or the answer.
            arguments: Approve the call with these arguments. None means those that were shown. A call that
                toolhost holds takes no others.
            by: The person who decides. Nobody verifies it.
            request_id: Makes the request safe to repeat: 1 to 64 of A-Z a-z 0-9 _ -. Empty means that
                a repeated request raises Conflict.
        """
        request = to_decide_request(name, etag, verdict, text, arguments, by, request_id)
        return await make_decision(self._link, request)

    async def list(self, *, states: Sequence[RunState] = (), parent_run_id: str | None = None) -> AsyncIterator[Run]:
        """Yield the summaries of runs, the newest first.

        Args:
            states: The states to include. Empty means all.
            parent_run_id: The run whose sub-runs to include. None means all runs.
        """
        request = pb.ListRunsRequest(states=from_states(states), parent_run_id=parent_run_id or "")
        while True:
            page: pb.ListRunsResponse = await self._unary("ListRuns", request)
            for run in page.runs:
                yield to_run(run)
            request.page_token = page.next_page_token
            if not request.page_token:
                return
