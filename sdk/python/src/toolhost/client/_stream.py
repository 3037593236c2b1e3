"""The gRPC streams that carry the calls of a client.

All calls of a client share one `Connect` stream, because opening a stream costs more than a call.
Each frame carries the number of its call. Flow control is per call: toolhost may send 256 KiB of
events for a call, and more only after the client has read some of them and granted credit. So a
call whose caller does not read blocks no other call.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import Any

import grpc

from toolhost._link import Link
from toolhost._proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost._proto.toolhost.v1 import tool_service_pb2_grpc as pb_grpc
from toolhost._wire import MAX_MESSAGE
from toolhost.errors import InvalidArgument, ToolhostError, Unavailable

_WINDOW = 256 << 10  # bytes that toolhost may send for a call before it needs credit; the protocol fixes this
_MAX_CALLS = 4096  # on one stream; toolhost rejects more
_MAX_NUMBER = (1 << 32) - 1  # the number of a call is a uint32
_QUEUED = 1 << 20  # bytes in the send queue from which on `send` waits
_ROOM = 1 << 10  # bytes of a message beside its first frame
_BATCH = ("toolhost-batch", "1")  # metadata: the sender accepts several frames in one message
_BATCH_BYTES = 32 << 10  # bytes of frames that one message combines; a larger frame is a message by itself


class Lost(Exception):
    """The stream of a call ended before the call did."""

    def __init__(self, failure: Exception, executed: bool) -> None:
        super().__init__(failure)
        self.failure = failure
        """The cause."""
        self.executed = executed
        """Whether toolhost may have executed the call."""


class CallStreams:
    """The streams of a client: one, and a further one whenever the last is full.

    It must be used on the loop of the link.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._streams: list[_CallStream] = []  # the last one accepts calls

    def enter(self) -> StreamedCall:
        """Return a new call without sending anything. Raises what `Link.channel` raises."""
        channel = self._link.channel
        self._streams = [s for s in self._streams if not s.over]
        if not self._streams or not self._streams[-1].free:
            self._streams.append(_CallStream(self._link, channel))
        return self._streams[-1].enter()

    async def close(self) -> None:
        """Wait for the tasks of the streams. The caller closes the link first, which ends them."""
        await asyncio.gather(*(s.ended() for s in self._streams))
        self._streams.clear()


class _CallStream:
    """One Connect stream.

    It opens immediately, and ends when its link closes or the connection fails.

    It owns three tasks: one reads, one writes and one waits for the connection. `ended` cancels the
    reader, and the end of the reader cancels the other two.
    """

    def __init__(self, link: Link, channel: grpc.aio.Channel) -> None:
        self._link = link
        self._rpc: Any = pb_grpc.ToolServiceStub(channel).Connect(metadata=(_BATCH,))
        self._calls: dict[int, StreamedCall] = {}  # calls that have not ended
        self._last = 0  # the last number of a call
        self._ready = asyncio.Event()  # set when the connection exists or the stream has ended
        self._heard = False  # whether toolhost has sent an event
        self._lost: Lost | None = None
        self._ack = 0  # ack token of the last message that was read; the next message returns it
        self._batch_bytes = 0  # bytes of frames per message; 0 until toolhost has announced that it accepts batches
        self._queue: deque[tuple[pb.ConnectRequest, int]] = deque()  # frames with their sizes
        self._queued = 0  # bytes in the queue
        self._filled = asyncio.Event()
        self._emptied = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read())
        self._beside = [asyncio.ensure_future(work) for work in (self._connect(channel), self._write())]

    @property
    def over(self) -> bool:
        return self._lost is not None

    @property
    def free(self) -> bool:
        return len(self._calls) < _MAX_CALLS

    async def ended(self) -> None:
        """Stop the tasks of the stream and wait for them."""
        self._reading.cancel()
        await asyncio.wait([self._reading, *self._beside])

    def enter(self) -> StreamedCall:
        """Return a new call with an unused number."""
        while True:
            self._last = self._last % _MAX_NUMBER + 1
            if self._last not in self._calls:
                break
        call = self._calls[self._last] = StreamedCall(self, self._last)
        return call

    def leave(self, number: int) -> None:
        """Release the number of a call of which nothing was sent."""
        self._calls.pop(number, None)

    async def opened(self) -> bool:
        """Wait for the connection, and report whether it exists."""
        await self._ready.wait()
        return self._lost is None

    def put(self, frame: pb.ConnectRequest) -> None:
        """Queue a frame.

        Raises InvalidArgument for a frame beyond the message limit, which would end the whole
        stream.
        """
        size = frame.ByteSize()
        if size > MAX_MESSAGE - _ROOM:
            raise InvalidArgument(
                f"the call has {size} bytes of context and options, and the limit is {MAX_MESSAGE - _ROOM}; "
                "use a smaller context"
            )
        if self._lost is not None:
            return
        self._queue.append((frame, size))
        self._queued += size
        self._filled.set()

    async def room(self) -> None:
        """Wait while the send queue is full."""
        while self._queued > _QUEUED and self._lost is None:
            self._emptied.clear()
            await self._emptied.wait()

    async def _connect(self, channel: grpc.aio.Channel) -> None:
        await channel.channel_ready()
        self._ready.set()

    async def _write(self) -> None:
        # If a write fails, the reader receives the status that says why.
        with contextlib.suppress(grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError):
            while True:
                await self._filled.wait()
                self._filled.clear()
                while self._queue:
                    await self._rpc.write(self._message())

    def _message(self) -> pb.ConnectRequest:
        """Take queued frames as one message, because each write has a high fixed cost."""
        message, size = self._queue.popleft()
        while self._queue and size + self._queue[0][1] <= self._batch_bytes:
            frame, added = self._queue.popleft()
            message.batch.append(frame)
            size += added
        message.ack = self._ack
        self._queued -= size
        self._emptied.set()
        return message

    async def _read(self) -> None:
        """Read until the stream ends.

        If toolhost ends it with status OK, it has executed none of the remaining calls.
        """
        lost = Lost(Unavailable("toolhost is shutting down; the call was not executed"), executed=False)
        try:
            if _BATCH in map(tuple, await self._rpc.initial_metadata() or ()):
                self._batch_bytes = _BATCH_BYTES
            async for message in self._rpc:
                self._heard = True
                self._ack = message.ack_token
                self._take(message)
                for frame in message.batch:
                    self._take(frame)
        except grpc.aio.AioRpcError as error:
            failure = self._link.failure(error)
            # A status before the first event means that toolhost rejected the stream and executed
            # nothing.
            refused = isinstance(failure, ToolhostError) and not isinstance(failure, Unavailable) and not self._heard
            lost = Lost(failure, executed=not refused)
        except asyncio.CancelledError:
            lost = Lost(Unavailable("the client was closed"), executed=True)
        finally:
            self._end(lost)

    def _take(self, frame: pb.ConnectResponse) -> None:
        call = self._calls.get(frame.call)
        if call is None:
            return  # the call has ended
        if frame.event.WhichOneof("event") == "ended":
            del self._calls[frame.call]
        call.take(frame.event)

    def _end(self, lost: Lost) -> None:
        self._lost = lost
        self._ready.set()
        self._emptied.set()
        for task in self._beside:
            task.cancel()
        calls = list(self._calls.values())
        self._calls.clear()
        for call in calls:
            call.lose(lost)


class StreamedCall:
    """One call on a stream, with the events that have arrived and are unread.

    Reading an event grants its size as credit to toolhost again.
    """

    def __init__(self, stream: _CallStream, number: int) -> None:
        self._stream = stream
        self._number = number
        self._begun = False  # whether toolhost may know the number
        self._over = False  # whether the end has arrived, read or unread
        self._left = False  # whether the caller has detached
        self._inbox: deque[tuple[pb.CallEvent, int]] = deque()  # events with the credit that they used
        self._taken = 0  # bytes that were read since the last grant
        self._arrived = asyncio.Event()
        self._lost: Lost | None = None

    async def send(self, frame: pb.ConnectRequest) -> bool:
        """Send a frame, and report whether it was sent.

        If not, `next` raises the reason. The first frame is `start`.

        It waits while the send queue of the stream is full.
        """
        if not self._begun and not await self._stream.opened():
            return False
        if self._lost is not None or self._over:
            return False
        self._put(frame)
        self._begun = True
        await self._stream.room()
        return True

    def _put(self, frame: pb.ConnectRequest) -> None:
        frame.call = self._number
        self._stream.put(frame)

    def take(self, event: pb.CallEvent) -> None:
        """Receive an event. The end uses no credit."""
        self._over = event.WhichOneof("event") == "ended"
        cost = 0 if self._over else event.ByteSize()
        if self._left:
            self._grant(cost)  # so that toolhost can send the events up to the end
            return
        self._inbox.append((event, cost))
        self._arrived.set()

    def lose(self, lost: Lost) -> None:
        """Record that no further event arrives."""
        self._over, self._lost = True, lost
        self._arrived.set()

    async def next(self) -> pb.CallEvent:
        """Wait for the next event.

        Raises Lost after the last event if the stream ended before the call.
        """
        while not self._inbox:
            if self._lost is not None:
                raise self._lost
            self._arrived.clear()
            await self._arrived.wait()
        event, cost = self._inbox.popleft()
        self._taken += cost
        # Granting half a window at a time saves frames, and the other half lets toolhost send until
        # the grant arrives.
        if self._taken >= _WINDOW // 2:
            self._grant(self._taken)
            self._taken = 0
        return event

    def _grant(self, size: int) -> None:
        if size and not self._over:
            self._put(pb.ConnectRequest(credit=pb.GrantCredit(bytes=size)))

    def leave(self, cancel: bool) -> None:
        """Detach from the call: cancel it, or let it continue."""
        if self._left:
            return
        self._left = True
        self._inbox.clear()
        if not self._begun:
            self._stream.leave(self._number)
        elif not self._over:
            if cancel:
                reason = "the caller no longer reads the call"
                self._put(pb.ConnectRequest(cancel=pb.CancelCall(reason=reason)))
            self._grant(_WINDOW)  # covers the events that were dropped unread
