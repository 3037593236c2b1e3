"""The client of one agentd, for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self

from toolhost import _wire
from toolhost._json import encode
from toolhost._link import Link
from toolhost.errors import Internal
from toolhost.proto.agentd.v1 import agent_service_pb2 as pb
from toolhost.proto.agentd.v1 import agent_service_pb2_grpc as pb_grpc

_MAX_EVENT = 64 << 20  # of a run, in bytes: a result is in one message


def approve(decision_id: str, arguments: Mapping[str, Any] | None = None, *, reason: str = "") -> pb.Decision:
    """Return the decision yes; with arguments, that the call is made with those."""
    edited = b"" if arguments is None else encode(arguments)
    return pb.Decision(decision_id=decision_id, approve=pb.Approve(arguments=edited, reason=reason))


def reject(decision_id: str, reason: str = "") -> pb.Decision:
    """Return the decision no. The model reads the reason."""
    return pb.Decision(decision_id=decision_id, reject=pb.Reject(reason=reason))


def answer(decision_id: str, text: str) -> pb.Decision:
    """Return what was asked, as the model reads it."""
    return pb.Decision(decision_id=decision_id, answer=pb.Answer(text=text))


def start_request(
    prompt: str,
    run_id: str,
    system_prompt: str,
    session: str,
    context: Mapping[str, Any] | None,
    request: pb.StartRunRequest | None,
) -> pb.StartRunRequest:
    """Return a request with what is said beside it."""
    merged = pb.StartRunRequest()
    if request is not None:
        merged.CopyFrom(request)
    said = pb.StartRunRequest(prompt=prompt, run_id=run_id, system_prompt=system_prompt, session=session)
    merged.MergeFrom(said)
    for key, value in _wire.encoded_values(context or {}).items():
        merged.context[key] = value
    return merged


class AsyncAgent:
    """A client of one agentd. Runs are told in the messages of agentd.v1, which this package exports.

    It connects when it is first used, and anew when the connection was lost. It is used on one loop, as an async
    context manager, or closed in the end. All methods raise a ToolhostError where the machinery fails.

    Args:
        address: unix:///PATH, 127.0.0.1:PORT or [::1]:PORT. Empty means the environment's AGENTD_ADDR, else the default
            socket of this user.
    """

    def __init__(self, address: str = "") -> None:
        self._link = Link(address, "agentd", _MAX_EVENT)

    @property
    def address(self) -> str:
        """The address of the agentd."""
        return self._link.address

    async def close(self) -> None:
        """End the connection. Runs go on."""
        await self._link.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _unary(self, method: str, request: Any) -> Any:
        return await self._link.unary(pb_grpc.AgentServiceStub, method, request)

    async def start(
        self,
        prompt: str,
        *,
        run_id: str = "",
        system_prompt: str = "",
        session: str = "",
        context: Mapping[str, Any] | None = None,
        request: pb.StartRunRequest | None = None,
    ) -> str:
        """Begin a run, and return its id at once.

        The same run id with the same prompt returns the run that exists; with another one it raises Conflict. `request`
        holds whatever else is to be said: limits, the choice of tools, whether there are people to ask.
        """
        merged = start_request(prompt, run_id, system_prompt, session, context, request)
        started: pb.StartRunResponse = await self._unary("StartRun", merged)
        return started.run_id

    async def run(
        self,
        prompt: str,
        *,
        run_id: str = "",
        system_prompt: str = "",
        session: str = "",
        context: Mapping[str, Any] | None = None,
        request: pb.StartRunRequest | None = None,
    ) -> pb.RunFinished:
        """Begin a run, wait for its end, and return that: `text` is what the model said last. See start."""
        started = await self.start(
            prompt, run_id=run_id, system_prompt=system_prompt, session=session, context=context, request=request
        )
        return await self.wait(started)

    async def wait(self, run_id: str) -> pb.RunFinished:
        """Wait for the end of a run, and return it. Raises NotFound. Where the wait is cancelled, the run goes on."""
        finished: pb.RunFinished | None = None
        async for event in self.watch(run_id):
            if event.HasField("run_finished"):
                finished = event.run_finished
        if finished is None:
            raise Internal(f"the events of the run {run_id} ended, and the run has not")
        return finished

    async def watch(self, run_id: str, *, after: int = 0) -> AsyncIterator[pb.RunEvent]:
        """Yield a run's events after a seq, those that happened and then new ones, until it has finished.

        To go on after an error, watch again after the last durable event. Leaving the loop does not end the run. Raises
        NotFound.
        """
        request = pb.WatchRunRequest(run_id=run_id, after_seq=after)
        async for response in self._link.stream(pb_grpc.AgentServiceStub, "WatchRun", request):
            yield response.event

    async def send(self, run_id: str, text: str) -> int:
        """Add a user's message, and return its place in the journal. A run that has finished goes on with it.

        Raises NotFound.
        """
        sent: pb.SendMessageResponse = await self._unary("SendMessage", pb.SendMessageRequest(run_id=run_id, text=text))
        return sent.seq

    async def respond(self, run_id: str, *decisions: pb.Decision, by: str = "") -> int:
        """Make decisions that a run waits for, all of them or none, and return the place of the first in the journal.

        `approve`, `reject` and `answer` make decisions. `get` and the events `decision_requested` say which are wanted.
        Raises NotFound if one is not wanted, also not any more, and InvalidArgument if one does not fit what is asked.
        """
        request = pb.RespondRequest(run_id=run_id, decisions=decisions, decided_by=by)
        responded: pb.RespondResponse = await self._unary("Respond", request)
        return responded.seq

    async def cancel(self, run_id: str, reason: str = "") -> None:
        """Stop a run; its last event tells the end. Raises NotFound."""
        await self._unary("CancelRun", pb.CancelRunRequest(run_id=run_id, reason=reason))

    async def get(self, run_id: str) -> pb.Run:
        """Return a run's summary, and the decisions that it waits for. Raises NotFound."""
        got: pb.GetRunResponse = await self._unary("GetRun", pb.GetRunRequest(run_id=run_id))
        return got.run

    async def list(self, filter: pb.ListRunsRequest | None = None) -> AsyncIterator[pb.Run]:  # noqa: A002
        """Yield the runs that a filter selects, the newest first; without one, all."""
        request = pb.ListRunsRequest()
        if filter is not None:
            request.CopyFrom(filter)
        while True:
            page: pb.ListRunsResponse = await self._unary("ListRuns", request)
            for run in page.runs:
                yield run
            request.page_token = page.next_page_token
            if not request.page_token:
                return
