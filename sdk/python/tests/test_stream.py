"""The stream that the calls of a client share, before a toolhost that does what a test says."""

from __future__ import annotations

import asyncio
import contextlib
import queue
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from conftest import PATIENCE, short_folder

from toolhost._proto.toolhost.tool.v1 import result_pb2, status_pb2
from toolhost._proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost._proto.toolhost.v1 import tool_service_pb2_grpc as pb_grpc
from toolhost.client import AsyncClient
from toolhost.errors import Denied, InvalidArgument, OutcomeUnknown, Unavailable
from toolhost.spec import Retry

Messages = Iterator[pb.ConnectRequest]
Script = Callable[[Messages, grpc.ServicerContext], Iterator[pb.ConnectResponse]]


class Scripted(pb_grpc.ToolServiceServicer):
    """A toolhost with a script for each stream."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = iter(scripts)
        self.heard: queue.Queue[pb.ConnectRequest] = queue.Queue()
        self.messages: list[int] = []
        """How many frames each message had."""
        self.streams = 0

    def Connect(self, requests: Messages, context: grpc.ServicerContext) -> Iterator[pb.ConnectResponse]:  # noqa: N802
        self.streams += 1
        script = next(self._scripts)
        if script is not refused:
            context.send_initial_metadata((("toolhost-batch", "1"),))
        yield from script(self._frames(requests), context)

    def _frames(self, requests: Messages) -> Messages:
        for message in requests:
            self.messages.append(1 + len(message.batch))
            for frame in (message, *message.batch):
                self.heard.put(frame)
                yield frame


def text(call: int, words: str) -> pb.ConnectResponse:
    result = result_pb2.Result(content=[result_pb2.Content(text=words)])
    return pb.ConnectResponse(call=call, event=pb.CallEvent(ended=pb.CallEnded(result=result)))


def answers(frames: Messages, _: grpc.ServicerContext) -> Iterator[pb.ConnectResponse]:
    for frame in frames:
        if frame.HasField("start"):
            yield text(frame.call, frame.start.tool)


@contextlib.contextmanager
def served(toolhost: Scripted) -> Iterator[str]:
    with short_folder() as home:
        server = grpc.server(ThreadPoolExecutor(4))
        pb_grpc.add_ToolServiceServicer_to_server(toolhost, server)
        server.add_insecure_port(f"unix:{home}/t.sock")
        server.start()
        yield f"unix://{home}/t.sock"
        server.stop(None).wait(PATIENCE)


def run(toolhost: Scripted, work: Callable[[AsyncClient], Awaitable[None]]) -> None:
    async def bounded(address: str) -> None:
        async with AsyncClient(address) as client:
            await asyncio.wait_for(work(client), PATIENCE)

    with served(toolhost) as address:
        asyncio.run(bounded(address))


def test_calls_share_a_stream_and_messages() -> None:
    count = 20

    def backwards(frames: Messages, _: grpc.ServicerContext) -> Iterator[pb.ConnectResponse]:
        first = next(frames)
        yield text(first.call, first.start.tool)
        starts = [next(frames) for _ in range(count)]
        ends = [text(frame.call, frame.start.tool) for frame in reversed(starts)]
        ends[0].batch.extend(ends[1:])
        ends[0].ack_token = 7
        yield ends[0]
        yield from answers(frames, _)

    async def work(client: AsyncClient) -> None:
        assert (await client.call("alone")).text == "alone"
        outcomes = await asyncio.gather(*(client.call(f"tool{i}") for i in range(count)))
        assert [o.text for o in outcomes] == [f"tool{i}" for i in range(count)]
        assert (await client.call("after")).text == "after"

    toolhost = Scripted(backwards)
    run(toolhost, work)
    assert toolhost.streams == 1
    assert toolhost.messages == [1, count, 1]
    frames = list(toolhost.heard.queue)
    assert len({frame.call for frame in frames}) == count + 2
    assert frames[-1].ack == 7, "toolhost is told what was read"


def ended(frames: Messages, _: Any) -> Iterator[pb.ConnectResponse]:
    next(frames)
    yield from ()


def broken(frames: Messages, context: grpc.ServicerContext) -> Iterator[pb.ConnectResponse]:
    next(frames)
    context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
    yield from ()


def refused(_: Messages, context: grpc.ServicerContext) -> Iterator[pb.ConnectResponse]:
    context.abort(grpc.StatusCode.PERMISSION_DENIED, "not you")
    yield from ()


@pytest.mark.parametrize(
    ("script", "failure", "words"),
    [
        (ended, Unavailable, "shutting down; the call was not executed"),
        (broken, OutcomeUnknown, "may have been executed"),
        (refused, Denied, "not you"),
    ],
)
def test_the_end_of_a_stream_is_that_of_its_calls_alone(script: Script, failure: type[Exception], words: str) -> None:
    async def work(client: AsyncClient) -> None:
        with pytest.raises(failure, match=words):
            await client.call("first", call_id="named")
        assert (await client.call("second")).text == "second"

    toolhost = Scripted(script, answers)
    run(toolhost, work)
    assert toolhost.streams == 2


@pytest.mark.parametrize("call_id", ["", "named"])
def test_a_call_that_is_left(call_id: str) -> None:
    toolhost = Scripted(answers_not)

    async def work(client: AsyncClient) -> None:
        async with client.open("left", call_id=call_id):
            pass
        credit = 0
        seen = []
        while not credit:
            frame = await asyncio.to_thread(toolhost.heard.get, timeout=PATIENCE)
            seen.append(frame.WhichOneof("frame"))
            credit = frame.credit.bytes
        assert seen == (["start", "credit"] if call_id else ["start", "cancel", "credit"])
        assert credit == 256 << 10, "what comes is not read, and the call must get to its end"

    run(toolhost, work)


def answers_not(frames: Messages, _: Any) -> Iterator[pb.ConnectResponse]:
    for _ in frames:
        pass
    yield from ()


def test_credit_is_given_for_what_was_read() -> None:
    size, count = 40 << 10, 4

    def talks(frames: Messages, context: grpc.ServicerContext) -> Iterator[pb.ConnectResponse]:
        call = next(frames).call
        for _ in range(count):
            status = status_pb2.Status(message="x" * size)
            yield pb.ConnectResponse(call=call, event=pb.CallEvent(status=status))
        yield from answers(frames, context)

    toolhost = Scripted(talks)

    async def work(client: AsyncClient) -> None:
        async with client.open("talks") as execution:
            assert (await client.call("beside")).text == "beside", "what is not read holds up no other call"
            assert {frame.WhichOneof("frame") for frame in toolhost.heard.queue} == {"start"}
            events = aiter(execution)
            for _ in range(count):
                await anext(events)
            while (frame := await asyncio.to_thread(toolhost.heard.get, timeout=PATIENCE)).WhichOneof(
                "frame"
            ) == "start":
                pass
            assert frame.credit.bytes > count * size

    run(toolhost, work)


def test_what_cannot_be_sent_hurts_no_other_call() -> None:
    toolhost = Scripted(answers)

    async def work(client: AsyncClient) -> None:
        with pytest.raises(InvalidArgument, match="use a smaller context"):
            await client.call("large", context={"k": "x" * (5 << 20)})
        assert (await client.call("small")).text == "small"

    run(toolhost, work)
    assert toolhost.streams == 1


def test_a_wait_that_is_cancelled_before_there_is_a_connection() -> None:
    async def work(address: str) -> None:
        async with AsyncClient(address) as client:
            waiting = asyncio.ensure_future(client.call("never"))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    with short_folder() as home:
        asyncio.run(work(f"unix://{home}/none.sock"))


def test_several_addresses() -> None:
    """A client uses one toolhost, and goes to the next one when that one does not accept a connection."""

    async def work(addresses: list[str], stop: Callable[[], None]) -> None:
        there = ",".join(["unix:///nowhere/t.sock", *addresses])
        async with AsyncClient(there, retry=Retry(max_attempts=5)) as client:
            assert (await client.call("first")).result.text == "first"
            assert client.address == addresses[0]
            stop()
            # A call that goes into the connection while it ends has an unknown outcome, so it needs an id.
            names = [f"second-{i}" for i in range(10)]
            outcomes = await asyncio.gather(*(client.call(name, call_id=name) for name in names))
            assert [o.result.text for o in outcomes] == names
            assert client.address == addresses[1]

    with served(Scripted(answers)) as other, contextlib.ExitStack() as stack:
        one = stack.enter_context(served(Scripted(answers)))
        asyncio.run(asyncio.wait_for(work([one, other], stack.close), PATIENCE))


def test_no_address_of_several_answers() -> None:
    async def work() -> None:
        async with AsyncClient("unix:///nowhere/a.sock,unix:///nowhere/b.sock") as client:
            with pytest.raises(Unavailable, match="no toolhost answers at"):
                await client.call("any")

    asyncio.run(asyncio.wait_for(work(), PATIENCE))


def test_an_address_twice() -> None:
    with pytest.raises(InvalidArgument, match=r"has unix:///a\.sock twice"):
        AsyncClient("unix:///a.sock,unix:///a.sock")
