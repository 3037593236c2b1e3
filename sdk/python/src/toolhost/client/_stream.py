"""The stream that the calls of a client share: frames by number."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import Any

import grpc

from toolhost._link import Link
from toolhost._wire import MAX_MESSAGE
from toolhost.errors import InvalidArgument, ToolhostError, Unavailable
from toolhost.proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost.proto.toolhost.v1 import tool_service_pb2_grpc as pb_grpc

_WINDOW = 256 << 10  # what toolhost may send of a call before its caller has read some; the contract says so
_MAX_CALLS = 4096  # on one stream; toolhost takes no more
_MAX_NUMBER = (1 << 32) - 1  # of a call
_QUEUED = 1 << 20  # how many bytes wait to be sent before who brings more waits, too
_ROOM = 1 << 10  # what a message has besides its first frame
_MORE = ("toolhost-batch", "1")  # is said by who reads several frames in one message
_TOGETHER = 32 << 10  # how many bytes of frames make one message; one that is larger has no others behind it


class Lost(Exception):
    """No event of a call will come any more."""

    def __init__(self, failure: Exception, executed: bool) -> None:
        super().__init__(failure)
        self.failure = failure
        """Why."""
        self.executed = executed
        """Whether a call that was sent may have been executed."""


class CallStreams:
    """The streams of a client: one, and another beside it while that is full. It is used on the link's loop alone."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._streams: list[_CallStream] = []  # the last one takes calls

    def enter(self) -> StreamedCall:
        """Return a new call, of which nothing is sent yet. Raises what the link's channel raises."""
        channel = self._link.channel
        self._streams = [s for s in self._streams if not s.over]
        if not self._streams or not self._streams[-1].free:
            self._streams.append(_CallStream(self._link, channel))
        return self._streams[-1].enter()

    async def close(self) -> None:
        """Wait for what works for the streams. The link is closed before."""
        await asyncio.gather(*(s.ended() for s in self._streams))
        self._streams.clear()


class _CallStream:
    """One Connect stream. It opens at once, and ends with its link, or by a failure."""

    def __init__(self, link: Link, channel: grpc.aio.Channel) -> None:
        self._link = link
        self._rpc: Any = pb_grpc.ToolServiceStub(channel).Connect(metadata=(_MORE,))
        self._calls: dict[int, StreamedCall] = {}  # that have not ended
        self._last = 0  # number given to a call
        self._ready = asyncio.Event()  # is set when there is a connection, or the stream is over
        self._heard = False  # toolhost has said something of a call
        self._lost: Lost | None = None
        self._mark = 0  # of the last message that was read
        self._together = 0
        self._queue: deque[tuple[pb.ConnectRequest, int]] = deque()  # with the frame's size
        self._queued = 0  # bytes in it
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
        """Wait until nothing works for it any more."""
        self._reading.cancel()
        await asyncio.wait([self._reading, *self._beside])

    def enter(self) -> StreamedCall:
        """Give a new call its number."""
        while True:
            self._last = self._last % _MAX_NUMBER + 1
            if self._last not in self._calls:
                break
        call = self._calls[self._last] = StreamedCall(self, self._last)
        return call

    def leave(self, number: int) -> None:
        """Take back a number of which nothing was sent."""
        self._calls.pop(number, None)

    async def opened(self) -> bool:
        """Wait until there is a connection, and say whether there is."""
        await self._ready.wait()
        return self._lost is None

    def put(self, frame: pb.ConnectRequest) -> None:
        """Send a frame without waiting. Raises InvalidArgument for one that would end the stream of all calls."""
        size = frame.ByteSize()
        if size > MAX_MESSAGE - _ROOM:
            raise InvalidArgument(
                f"what is sent with the call has {size} bytes, and {MAX_MESSAGE - _ROOM} can be; "
                "give it a smaller context"
            )
        if self._lost is not None:
            return
        self._queue.append((frame, size))
        self._queued += size
        self._filled.set()

    async def room(self) -> None:
        """Wait while much waits to be sent."""
        while self._queued > _QUEUED and self._lost is None:
            self._emptied.clear()
            await self._emptied.wait()

    async def _connect(self, channel: grpc.aio.Channel) -> None:
        await channel.channel_ready()
        self._ready.set()

    async def _write(self) -> None:
        # Where a frame cannot be sent, reading tells why.
        with contextlib.suppress(grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError):
            while True:
                await self._filled.wait()
                self._filled.clear()
                while self._queue:
                    await self._rpc.write(self._message())

    def _message(self) -> pb.ConnectRequest:
        """Take frames that wait at the same time, as one message: each write costs much."""
        message, size = self._queue.popleft()
        while self._queue and size + self._queue[0][1] <= self._together:
            frame, more = self._queue.popleft()
            message.batch.append(frame)
            size += more
        message.ack = self._mark
        self._queued -= size
        self._emptied.set()
        return message

    async def _read(self) -> None:
        """Read until the stream ends. A toolhost that ends it in good order has answered every call that it read."""
        lost = Lost(Unavailable("toolhost is shutting down; the call was not executed"), executed=False)
        try:
            if _MORE in map(tuple, await self._rpc.initial_metadata() or ()):
                self._together = _TOGETHER
            async for message in self._rpc:
                self._heard = True
                self._mark = message.ack_token
                self._take(message)
                for frame in message.batch:
                    self._take(frame)
        except grpc.aio.AioRpcError as error:
            failure = self._link.failure(error)
            # What toolhost says in place of a first event is why it takes no calls.
            refused = isinstance(failure, ToolhostError) and not isinstance(failure, Unavailable) and not self._heard
            lost = Lost(failure, executed=not refused)
        except asyncio.CancelledError:
            lost = Lost(Unavailable("the client was closed"), executed=True)
        finally:
            self._end(lost)

    def _take(self, frame: pb.ConnectResponse) -> None:
        call = self._calls.get(frame.call)
        if call is None:
            return  # it has ended
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
    """One call on a stream: what is sent of it, and what has come and is not read yet.

    toolhost gets credit for what was read, so that a call that nobody reads holds up no other.
    """

    def __init__(self, stream: _CallStream, number: int) -> None:
        self._stream = stream
        self._number = number
        self._begun = False  # toolhost may know the number
        self._over = False  # its end has come, read or not
        self._left = False  # nobody reads any more
        self._inbox: deque[tuple[pb.CallEvent, int]] = deque()  # with what the event has cost toolhost
        self._taken = 0  # bytes that were read and are not granted again yet
        self._arrived = asyncio.Event()
        self._lost: Lost | None = None

    async def send(self, frame: pb.ConnectRequest) -> bool:
        """Send a frame, which is `start` first, and say whether that was so: where it was not, reading tells why.

        It waits while much else waits to be sent.
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
        """Take an event. The end costs nothing."""
        self._over = event.WhichOneof("event") == "ended"
        cost = 0 if self._over else event.ByteSize()
        if self._left:
            self._grant(cost)  # the call must get to its end
            return
        self._inbox.append((event, cost))
        self._arrived.set()

    def lose(self, lost: Lost) -> None:
        """Take that nothing will come any more."""
        self._over, self._lost = True, lost
        self._arrived.set()

    async def next(self) -> pb.CallEvent:
        """Return the next event, and wait for it. Raises Lost after the last where that is not the end of the call."""
        while not self._inbox:
            if self._lost is not None:
                raise self._lost
            self._arrived.clear()
            await self._arrived.wait()
        event, cost = self._inbox.popleft()
        self._taken += cost
        # Half a window at a time: toolhost never waits for a grant per event, and never runs dry before one comes.
        if self._taken >= _WINDOW // 2:
            self._grant(self._taken)
            self._taken = 0
        return event

    def _grant(self, size: int) -> None:
        if size and not self._over:
            self._put(pb.ConnectRequest(credit=pb.GrantCredit(bytes=size)))

    def leave(self, cancel: bool) -> None:
        """Let go of the call, which is told to stop, or goes on."""
        if self._left:
            return
        self._left = True
        self._inbox.clear()
        if not self._begun:
            self._stream.leave(self._number)
        elif not self._over:
            if cancel:
                reason = "its caller is not interested any more"
                self._put(pb.ConnectRequest(cancel=pb.CancelCall(reason=reason)))
            self._grant(_WINDOW)  # in place of what was not read
