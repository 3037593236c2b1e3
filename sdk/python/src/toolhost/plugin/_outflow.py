"""What a call sends, as far as its credit allows."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from toolhost.proto.toolhost.plugin.v1 import plugin_pb2

Frame = plugin_pb2.ConnectResponse
Emit = Callable[[Frame], None]


class Outflow:
    """The frames of one call but its end, in order.

    A frame costs its size; it is sent while the credit is positive, and may take it below zero. What has to wait is
    sent by the grant that allows it. It is used on the loop's thread alone.
    """

    def __init__(self, credit: int, emit: Emit) -> None:
        self._left = credit
        self._emit = emit
        self._waiting: deque[tuple[Frame, asyncio.Future[None]]] = deque()
        self._failure: BaseException | None = None

    def __len__(self) -> int:
        """Return how many frames wait."""
        return len(self._waiting)

    def put(self, frame: Frame) -> asyncio.Future[None] | None:
        """Send a frame, or return what is done when it is sent.

        Raises what `fail` was given if it would have to wait.
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
        """Send a frame, and wait until it is sent. Raises what `fail` is given meanwhile."""
        turn = self.put(frame)
        if turn is not None:
            await turn

    async def drain(self) -> None:
        """Wait until all is sent. Raises what `fail` is given meanwhile."""
        while self._waiting:
            await asyncio.shield(self._waiting[-1][1])

    def grant(self, size: int) -> None:
        """Allow size bytes more."""
        self._left += size
        while self._left > 0 and self._waiting:
            frame, turn = self._waiting.popleft()
            if not turn.done():  # else its sender does not want it any more
                self._left -= frame.ByteSize()
                self._emit(frame)
                turn.set_result(None)

    def fail(self, failure: BaseException) -> None:
        """Drop what waits, and send nothing more that would have to."""
        self._failure = failure
        while self._waiting:
            _, turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(failure)


def _look(turn: asyncio.Future[None]) -> None:
    """Look at a failure that perhaps nobody waits for, so that asyncio does not complain."""
    if not turn.cancelled():
        turn.exception()
