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

from toolhost._link import Connection, Link, authorization
from toolhost._proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost._proto.toolhost.v1 import tool_service_pb2_grpc as pb_grpc
from toolhost._wire import MAX_MESSAGE
from toolhost.credentials import Token
from toolhost.errors import InvalidArgument, ToolhostError, Unavailable

_WINDOW = 256 << 10  # bytes that toolhost may send for a call before it needs credit; the protocol fixes this
_MAX_CALLS = 4096  # on one stream; toolhost rejects more
_MAX_NUMBER = (1 << 32) - 1  # the number of a call is a uint32
_QUEUED = 1 << 20  # bytes in the send queue from which on `send` waits
_ROOM = 1 << 10  # bytes of a message beside its first frame
_BATCH = ("toolhost-batch", "1")  # metadata: the sender accepts several frames in one message
# The status details that grpcio gives a reader after a write has failed. The status that toolhost
# sent is lost then.
_WRITE_FAILED = "Internal error from Core"
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

    async def enter(self) -> StreamedCall:
        """Return a new call without sending anything. Raises what `Link.connection` raises.

        A stream whose token or connection is replaced takes no further calls, but keeps those that
        it has, because the server lets them end normally. It ends with the last of them.
        """
        token = await self._link.token()
        connection = self._link.connection()
        self._streams = [s for s in self._streams if not s.over]
        for stream in self._streams:
            if not stream.current(token, connection):
                stream.retire()
        if not self._streams or not self._streams[-1].free:
            self._streams.append(_CallStream(self._link, connection, token))
        return self._streams[-1].enter()

    async def renew(self, call: StreamedCall) -> bool:
        """Report whether a call that the server refused can be repeated with another token."""
        return await self._link.renew(call.token)

    async def close(self) -> None:
        """Wait for the tasks of the streams. The caller closes the link first, which ends them."""
        await asyncio.gather(*(s.ended() for s in self._streams))
        self._streams.clear()


class _CallStream:
    """One Connect stream.

    It opens immediately, and ends when its link closes or the connection fails.

    It owns two tasks: one reads and one writes. `ended` cancels the reader, and the end of the
    reader cancels the writer.

    It sends nothing before toolhost has accepted the stream with its initial metadata. Otherwise a
    rejection could arrive while the client writes, and grpcio loses a status that arrives then.
    """

    def __init__(self, link: Link, connection: Connection, token: Token | None) -> None:
        self._link = link
        self._connection = connection
        self.token = token
        self._retired = False  # whether it takes no further calls
        self._rpc: Any = self._connect(connection.__enter__())
        self._calls: dict[int, StreamedCall] = {}  # calls that have not ended
        self._last = 0  # the last number of a call
        self._ready = asyncio.Event()  # set when toolhost has accepted the stream, or the stream has ended
        self._heard = False  # whether toolhost has sent an event
        self._lost: Lost | None = None
        self._ack = 0  # ack token of the last message that was read; the next message returns it
        self._batch_bytes = 0  # bytes of frames per message; 0 until toolhost has announced that it accepts batches
        self._queue: deque[tuple[pb.ConnectRequest, int]] = deque()  # frames with their sizes
        self._queued = 0  # bytes in the queue
        self._filled = asyncio.Event()
        self._emptied = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read())
        self._writing = asyncio.ensure_future(self._write())

    def _connect(self, channel: grpc.aio.Channel) -> Any:
        stub: Any = pb_grpc.ToolServiceStub(channel)
        return stub.Connect(metadata=(_BATCH, *authorization(self.token)))

    def current(self, token: Token | None, connection: Connection) -> bool:
        """Report whether further calls belong on this stream."""
        if self.token != token or self._connection is not connection:
            return False
        return not self._ready.is_set() or connection.takes_streams()

    def retire(self) -> None:
        """Take no further calls, and end with the last of those that the stream has."""
        self._retired = True
        self._rest()

    def _rest(self) -> None:
        if self._retired and not self._calls and self._lost is None:
            self._reading.cancel()

    @property
    def over(self) -> bool:
        return self._lost is not None

    @property
    def free(self) -> bool:
        return not self._retired and len(self._calls) < _MAX_CALLS

    async def ended(self) -> None:
        """Stop the tasks of the stream and wait for them."""
        self._reading.cancel()
        await asyncio.wait([self._reading, self._writing])

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
        self._rest()

    async def opened(self) -> bool:
        """Wait until toolhost accepts the stream, and report whether it did."""
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
        """Read until the stream ends, and tell its calls why it did."""
        lost = Lost(Unavailable("the client was closed"), executed=True)
        try:
            lost = await self._receive()
        except asyncio.CancelledError:
            pass  # by ended, or at the end of a retired stream
        finally:
            self._rpc.cancel()
            self._connection.__exit__(None, None, None)
            self._end(lost)

    async def _receive(self) -> Lost:
        """Read until toolhost ends the stream or the connection fails, and return the reason."""
        try:
            if _BATCH in map(tuple, await self._accepted() or ()):
                self._batch_bytes = _BATCH_BYTES
            if not self._rpc.done():
                self._ready.set()
            async for message in self._rpc:
                self._heard = True
                self._ack = message.ack_token
                self._take(message)
                for frame in message.batch:
                    self._take(frame)
        except grpc.aio.AioRpcError as error:
            return self._failed(error)
        # With status OK, toolhost has executed none of the remaining calls.
        return Lost(Unavailable("toolhost is shutting down; the call was not executed"), executed=False)

    async def _accepted(self) -> Any:
        """Return the initial metadata of the stream.

        If the server refuses the token, open the stream once more with another token. Nothing was
        sent on the first one.
        """
        metadata = await self._rpc.initial_metadata()
        if self.token is None or not self._rpc.done() or await self._rpc.code() is not grpc.StatusCode.UNAUTHENTICATED:
            return metadata
        if await self._link.renew(self.token):
            self.token = await self._link.token()
            self._rpc = self._connect(self._connection.channel)
            metadata = await self._rpc.initial_metadata()
        return metadata

    def _failed(self, error: grpc.aio.AioRpcError) -> Lost:
        if error.code() is grpc.StatusCode.INTERNAL and error.details() == _WRITE_FAILED:
            return Lost(Unavailable("the stream to toolhost ended while the client was writing to it"), executed=True)
        failure = self._link.failure(error)
        # A status before the first event means that toolhost rejected the stream and executed
        # nothing.
        refused = isinstance(failure, ToolhostError) and not isinstance(failure, Unavailable) and not self._heard
        return Lost(failure, executed=not refused)

    def _take(self, frame: pb.ConnectResponse) -> None:
        call = self._calls.get(frame.call)
        if call is None:
            return  # the call has ended
        if frame.event.WhichOneof("event") == "ended":
            del self._calls[frame.call]
            self._rest()
        call.take(frame.event)

    def _end(self, lost: Lost) -> None:
        self._lost = lost
        self._ready.set()
        self._emptied.set()
        self._writing.cancel()
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

    @property
    def token(self) -> Token | None:
        """The token of the stream."""
        return self._stream.token

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
