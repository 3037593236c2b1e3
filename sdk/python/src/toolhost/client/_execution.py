"""One call as its caller follows it."""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import AsyncIterator
from types import TracebackType

from toolhost._wire import CHUNK
from toolhost.client._events import Event, Joiner, Outcome, Started
from toolhost.client._stream import CallStreams, Lost, StreamedCall
from toolhost.errors import OutcomeUnknown, ToolhostError, Unavailable
from toolhost.proto.toolhost.v1 import tool_service_pb2 as pb

_GRACE = 1.0  # how long the end of a call is waited for that was cancelled, in seconds: most tools stop at once


class AsyncExecution:
    """A call under way: an async iterator of its events, the last of which is the Outcome.

    It is used as an async context manager. Leaving it lets go of the call: one without a call id, or whose arguments
    are not complete, is cancelled; any other goes on, and its outcome can be had by its id.
    """

    def __init__(self, streams: CallStreams, start: pb.StartCall) -> None:
        self._streams = streams
        self._joiner = Joiner()
        self._call_id = start.options.call_id
        self._named = bool(self._call_id)
        self._sent = False  # whether toolhost may know of the call
        self._complete = False
        self._outcome: Outcome | None = None
        self._pending = start
        self._call: StreamedCall | None = None
        self._left = False

    @property
    def call_id(self) -> str:
        """The call's id; empty until toolhost has made one."""
        return self._call_id

    async def __aenter__(self) -> AsyncExecution:
        self._call = self._streams.enter()
        try:
            text, complete = self._pending.arguments, self._pending.complete
            self._pending.arguments = text[:CHUNK]
            self._pending.complete = self._complete = complete and len(text) <= CHUNK
            self._sent = await self._write(pb.ConnectRequest(start=self._pending))
            if len(text) > CHUNK:
                await self.send(text[CHUNK:], complete=complete)
        except BaseException:
            self._let_go()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._let_go()

    def _let_go(self) -> None:
        self._left = True
        if self._call is not None:
            self._call.leave(cancel=not (self._named and self._complete))

    async def send(self, text: str | bytes, *, complete: bool = False) -> None:
        """Send more of the argument text, which may end anywhere. After the call has ended it does nothing."""
        data = text.encode() if isinstance(text, str) else text
        for at in range(0, len(data), CHUNK):
            await self._write(pb.ConnectRequest(append=pb.AppendArguments(text=data[at : at + CHUNK])))
        if complete:
            await self.complete()

    async def complete(self) -> None:
        """Say that the arguments are complete: they are validated, and the call is executed."""
        self._complete = True
        await self._write(pb.ConnectRequest(complete=pb.CompleteArguments()))

    async def cancel(self, reason: str = "") -> None:
        """Ask to stop the call. It still ends with its outcome."""
        await self._write(pb.ConnectRequest(cancel=pb.CancelCall(reason=reason)))

    async def _write(self, request: pb.ConnectRequest) -> bool:
        """Send a frame, and say whether that was so. Where it was not, the call has ended, and reading tells how."""
        return self._outcome is None and await self._opened().send(request)

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
            if isinstance(event.what, Started):
                self._call_id = event.what.call_id
            if isinstance(event.what, Outcome):
                self._outcome = event.what
            return event

    def _opened(self) -> StreamedCall:
        if self._call is None:
            raise RuntimeError("the call is not open yet: it is used inside of `with client.open(…) as execution`")
        if self._left:
            raise RuntimeError(
                "the call was let go of at the end of its `with`: its events and its outcome are read in there, "
                "or by its id with `watch_call`"
            )
        return self._call

    def _lost(self, lost: Lost) -> Outcome:
        """Return the outcome of a call whose stream broke."""
        failure = lost.failure
        error = failure if isinstance(failure, ToolhostError) else Unavailable(str(failure))
        if lost.executed and isinstance(error, Unavailable):
            error = self._interrupted(error)
        error = copy.copy(error)  # calls of one stream were lost by the same
        error.call_id = self._call_id
        return Outcome(self._call_id, error=error)

    def _interrupted(self, cause: ToolhostError) -> ToolhostError:
        if not self._sent:
            return cause
        if not self._complete:
            return Unavailable(
                "the connection was lost before the arguments were complete; the call was not executed "
                f"({cause.message})"
            )
        advice = (
            "the same call, sent again with the same call id, tells its outcome and is not executed twice"
            if self._named
            else "it had no call id by which its outcome could be had; give calls that change something an id"
        )
        return OutcomeUnknown(
            f"the connection was lost while the call ran, and it may have been executed; {advice} ({cause.message})"
        )

    async def outcome(self) -> Outcome:
        """Read to the end, and return the outcome. Raises its error if the machinery failed.

        Where the wait is cancelled, the call is, too, and its end is waited for at most a second.
        """
        try:
            async for _ in self:
                pass
        except asyncio.CancelledError:
            with contextlib.suppress(asyncio.TimeoutError, TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(self._stop(), _GRACE)
            raise
        if self._outcome is None:
            raise RuntimeError("the events of a call are read by somebody else")
        if self._outcome.error is not None:
            raise self._outcome.error
        return self._outcome

    async def _stop(self) -> None:
        await self.cancel("the caller stopped waiting")
        async for _ in self:
            pass
