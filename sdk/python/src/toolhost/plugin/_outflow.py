"""Flow control of what a call sends to toolhost."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from toolhost._proto.toolhost.plugin.v1 import plugin_pb2

Frame = plugin_pb2.ConnectResponse
Emit = Callable[[Frame], None]


class Outflow:
    """Sends the frames of one call in order, except its end, which needs no credit.

    toolhost grants credit in bytes. A frame is sent while the credit is positive and reduces it by
    its size, possibly below zero. Otherwise the frame waits for a grant. The methods must be called
    on the thread of the loop.
    """

    def __init__(self, credit: int, emit: Emit) -> None:
        self._left = credit
        self._emit = emit
        self._waiting: deque[tuple[Frame, asyncio.Future[None]]] = deque()
        self._failure: BaseException | None = None

    def __len__(self) -> int:
        """Return the number of frames that wait for credit."""
        return len(self._waiting)

    def put(self, frame: Frame) -> asyncio.Future[None] | None:
        """Send a frame, or queue it and return a future that completes when the frame is sent.

        Raises the argument of `fail`, if that was called and the frame would have to wait.
        """
        if self._left > 0 and not self._waiting:
            self._left -= frame.ByteSize()
            self._emit(frame)
            return None
        if self._failure is not None:
            raise self._failure
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        turn.add_done_callback(_look)
        self._waiting.append((frame, turn))
        return turn

    async def send(self, frame: Frame) -> None:
        """Send a frame and wait until it is sent.

        Raises the argument of `fail` if that is called first.
        """
        turn = self.put(frame)
        if turn is not None:
            await turn

    async def drain(self) -> None:
        """Wait until all queued frames are sent.

        Raises the argument of `fail` if that is called first.
        """
        while self._waiting:
            await asyncio.shield(self._waiting[-1][1])

    def grant(self, size: int) -> None:
        """Add credit, and send the frames that it covers."""
        self._left += size
        while self._left > 0 and self._waiting:
            frame, turn = self._waiting.popleft()
            if not turn.done():  # otherwise its sender was cancelled
                self._left -= frame.ByteSize()
                self._emit(frame)
                turn.set_result(None)

    def fail(self, failure: BaseException) -> None:
        """Drop all queued frames, and reject later frames that would have to wait."""
        self._failure = failure
        while self._waiting:
            _, turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(failure)


def _look(turn: asyncio.Future[None]) -> None:
    """Retrieve the exception, because asyncio logs an error if no task does."""
    if not turn.cancelled():
        turn.exception()
