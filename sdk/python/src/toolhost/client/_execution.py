"""A call in progress, from the view of its caller."""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import AsyncIterator
from types import TracebackType

from toolhost._proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost._wire import CHUNK
from toolhost.client._events import Event, Joiner, Outcome, Started
from toolhost.client._stream import CallStreams, Lost, StreamedCall
from toolhost.errors import OutcomeUnknown, ToolhostError, Unavailable

_GRACE = 1.0  # seconds: how long `outcome` waits for the end of a call that it cancelled; most tools stop at once


class AsyncExecution:
    """A call in progress.

    It is an async context manager, and an async iterator of events that ends with the Outcome.

    Leaving the context detaches from the call. A call without a call id, or with incomplete
    arguments, is then cancelled. A call with a call id continues, and `AsyncClient.watch_call` or
    the same call returns its outcome. Only one task may iterate.
    """

    def __init__(self, streams: CallStreams, start: pb.StartCall) -> None:
        self._streams = streams
        self._joiner = Joiner()
        self._call_id = start.options.call_id or None
        self._named = self._call_id is not None
        self._sent = False  # whether toolhost may have received the call
        self._complete = False
        self._outcome: Outcome | None = None
        self._pending = start
        self._call: StreamedCall | None = None
        self._left = False

    @property
    def call_id(self) -> str | None:
        """The id of the call. None until toolhost has generated one."""
        return self._call_id

    async def __aenter__(self) -> AsyncExecution:
        self._call = await self._streams.enter()
        try:
            text, complete = self._pending.arguments, self._pending.complete
            self._pending.arguments = text[:CHUNK]
            self._pending.complete = self._complete = complete and len(text) <= CHUNK
            self._sent = await self._write(pb.ConnectRequest(start=self._pending))
            if len(text) > CHUNK:
                await self.send(text[CHUNK:], complete=complete)
        except BaseException:
            self._detach()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._detach()

    def _detach(self) -> None:
        self._left = True
        if self._call is not None:
            self._call.leave(cancel=not (self._named and self._complete))

    async def send(self, text: str | bytes, *, complete: bool = False) -> None:
        """Send the next piece of argument text.

        A piece may end at any byte. Does nothing after the end of the call.
        """
        data = text.encode() if isinstance(text, str) else text
        for at in range(0, len(data), CHUNK):
            await self._write(pb.ConnectRequest(append=pb.AppendArguments(text=data[at : at + CHUNK])))
        if complete:
            await self.complete()

    async def complete(self) -> None:
        """Mark the arguments as complete. toolhost then validates them and executes the call."""
        self._complete = True
        await self._write(pb.ConnectRequest(complete=pb.CompleteArguments()))

    async def cancel(self, reason: str = "") -> None:
        """Request cancellation of the call. The call still ends with an outcome."""
        await self._write(pb.ConnectRequest(cancel=pb.CancelCall(reason=reason)))

    async def _write(self, request: pb.ConnectRequest) -> bool:
        """Send a frame, and report whether it was sent.

        If not, the call has ended, and its events contain the reason.
        """
        return self._outcome is None and await self._opened().send(request)

    async def _renewed(self) -> bool:
        """Report whether the same call can be repeated, because the client has another token.

        It is for a call that the server refused unexecuted. The server does so when the token of
        the stream has expired.
        """
        return self._call is not None and await self._streams.renew(self._call)

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events()

    async def _events(self) -> AsyncIterator[Event]:
        while self._outcome is None:
            yield await self._next()

    async def _next(self) -> Event:
        call = self._opened()
        while True:
            try:
                event = self._joiner.add(await call.next())
            except Lost as lost:
                event = Event(0, None, self._lost(lost))
            if event is None:
                continue
            if isinstance(event.payload, Started):
                self._call_id = event.payload.call_id
            if isinstance(event.payload, Outcome):
                self._outcome = event.payload
            return event

    def _opened(self) -> StreamedCall:
        if self._call is None:
            raise RuntimeError("the call is not open yet; use it inside `with client.open(…) as execution`")
        if self._left:
            raise RuntimeError(
                "the `with` block of the call has ended; read its events and its outcome inside the block, "
                "or by its call id with `watch_call`"
            )
        return self._call

    def _lost(self, lost: Lost) -> Outcome:
        """Return the outcome of a call whose stream ended early."""
        failure = lost.failure
        error = failure if isinstance(failure, ToolhostError) else Unavailable(str(failure))
        if lost.executed and isinstance(error, Unavailable):
            error = self._interrupted(error)
        error = copy.copy(error)  # all calls of the stream share the failure, and the call id is set below
        error.call_id = self._call_id
        return Outcome(self._call_id or "", error=error)

    def _interrupted(self, cause: ToolhostError) -> ToolhostError:
        if not self._sent:
            return cause
        if not self._complete:
            return Unavailable(
                "the connection was lost before the arguments were complete; the call was not executed "
                f"({cause.message})"
            )
        advice = (
            "send the same call with the same call id again to get its outcome; toolhost does not execute it twice"
            if self._named
            else "its outcome cannot be found, because it had no call id; give calls with side effects a call id"
        )
        return OutcomeUnknown(
            f"the connection was lost while the call ran, and it may have been executed; {advice} ({cause.message})"
        )

    async def outcome(self) -> Outcome:
        """Read all remaining events and return the outcome.

        Raises the error of the outcome if there is one.

        Cancelling the task that waits also cancels the call, and waits up to one second for its
        end.
        """
        try:
            async for _ in self:
                pass
        except asyncio.CancelledError:
            with contextlib.suppress(asyncio.TimeoutError, TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(self._stop(), _GRACE)
            raise
        if self._outcome is None:
            raise RuntimeError("another task reads the events of the call")
        if self._outcome.error is not None:
            raise self._outcome.error
        return self._outcome

    async def _stop(self) -> None:
        await self.cancel("the caller stopped waiting")
        async for _ in self:
            pass
