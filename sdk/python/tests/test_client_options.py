"""The defaults, deadlines and retries of a client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import grpc
import pytest
from conftest import PATIENCE, short_folder

from toolhost._proto.toolhost.tool.v1 import error_pb2, result_pb2
from toolhost._proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost._proto.toolhost.v1 import tool_service_pb2_grpc as pb_grpc
from toolhost.client import AsyncClient, Client, Outcome
from toolhost.client._retry import pause_before_retry
from toolhost.errors import Crashed, InvalidArgument, OutcomeUnknown, RateLimited, Timeout, ToolhostError, Unavailable
from toolhost.result import Result
from toolhost.spec import Retry

THREE = Retry(max_attempts=3, initial_backoff=0.001, max_backoff=0.001)


@pytest.mark.parametrize(
    ("failure", "named", "repeated"),
    [
        (RateLimited(), False, True),
        (Unavailable(), False, True),
        (Unavailable(plugin="fs"), False, False),
        (Unavailable(plugin="fs", retry_after=0.01), False, True),
        (OutcomeUnknown(), False, False),
        (OutcomeUnknown(), True, True),
        (Crashed(), True, False),
    ],
)
def test_what_is_repeated(failure: ToolhostError, named: bool, repeated: bool) -> None:
    assert (pause_before_retry(THREE, 1, failure, named) is not None) == repeated
    assert pause_before_retry(None, 1, failure, named) is None
    assert pause_before_retry(THREE, 3, failure, named) is None


def test_a_failure_shows_in_the_outcome() -> None:
    assert not Outcome("c1", result=Result("done")).is_error
    assert Outcome("c1", result=Result("no such city", is_error=True)).is_error
    assert Outcome("c1", error=Crashed()).is_error


def test_the_pause_honors_the_error_and_the_policy() -> None:
    assert pause_before_retry(THREE, 1, RateLimited(retry_after=7), False) == 7
    policy = Retry(max_attempts=9, initial_backoff=1, max_backoff=3)
    pauses = [pause_before_retry(policy, attempt, RateLimited(), False) or 0 for attempt in (1, 2, 3, 8)]
    for pause, longest in zip(pauses, (1, 2, 3, 3), strict=True):
        assert longest / 2 <= pause <= longest


class Limited(pb_grpc.ToolServiceServicer):
    """A toolhost that rejects the first calls, and never answers GetTool."""

    def __init__(self, rejected: int) -> None:
        self.left = rejected
        self.starts: list[pb.StartCall] = []

    async def GetTool(self, request: Any, context: Any) -> Any:  # noqa: N802
        await asyncio.Event().wait()

    async def Connect(self, requests: AsyncIterator[pb.ConnectRequest], context: Any) -> AsyncIterator[Any]:  # noqa: N802
        await context.send_initial_metadata(())
        async for request in requests:
            if request.WhichOneof("frame") != "start":
                continue
            self.starts.append(request.start)
            ended = pb.CallEnded(call_id="c", result=result_pb2.Result())
            if self.left > 0:
                self.left -= 1
                error = error_pb2.Error(kind=error_pb2.ERROR_KIND_RATE_LIMITED, message="too many calls")
                ended = pb.CallEnded(call_id="c", error=error)
            yield pb.ConnectResponse(call=request.call, event=pb.CallEvent(ended=ended))


def with_server(service: Limited, test: Callable[[str], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        with short_folder() as home:
            server = grpc.aio.server()
            pb_grpc.add_ToolServiceServicer_to_server(service, server)
            server.add_insecure_port(f"unix:{home}/t.sock")
            await server.start()
            try:
                await asyncio.wait_for(test(f"unix://{home}/t.sock"), PATIENCE)
            finally:
                await server.stop(None)

    asyncio.run(run())


def test_a_client_repeats_a_call() -> None:
    service = Limited(2)

    async def test(address: str) -> None:
        async with AsyncClient(address, retry=THREE) as client:
            assert (await client.call("t")).call_id == "c"

    with_server(service, test)
    assert len(service.starts) == 3


def test_a_client_gives_up() -> None:
    service = Limited(5)

    async def test(address: str) -> None:
        async with AsyncClient(address, retry=THREE) as client:
            with pytest.raises(RateLimited):
                await client.call("t")

    with_server(service, test)
    assert len(service.starts) == 3


def test_the_defaults_of_a_client() -> None:
    service = Limited(0)

    async def test(address: str) -> None:
        async with AsyncClient(address, session="s", context={"user": "Ada"}, timeout=5) as client:
            await client.call("t")
            await client.call("t", session="other", timeout=1)

    with_server(service, test)
    first, second = (start.options for start in service.starts)
    assert (first.session, dict(first.context), first.timeout.seconds) == ("s", {"user": b'"Ada"'}, 5)
    assert (second.session, dict(second.context), second.timeout.seconds) == ("other", {"user": b'"Ada"'}, 1)


def test_the_ledger_the_first_sending_and_the_agent() -> None:
    service = Limited(0)
    east = datetime(2026, 1, 31, 10, 0, 0, 5, timezone(timedelta(hours=2)))

    def block(address: str) -> None:
        with Client(address) as client:
            client.call("t", call_id="c", ledger_id="0a1b", first_sent=east, agent="reviewer", run="r-1")

    async def test(address: str) -> None:
        async with AsyncClient(address) as client:
            await client.call("t", call_id="c", ledger_id="0a1b", first_sent=east, agent="reviewer", run="r-1")
            await client.call("t", call_id="c")
            with pytest.raises(InvalidArgument, match="time zone"):
                await client.call("t", call_id="c", first_sent=east.replace(tzinfo=None))
        await asyncio.to_thread(block, address)

    with_server(service, test)
    asynchronous, unset, blocking = (start.options for start in service.starts)
    for options in (asynchronous, blocking):
        assert options.ledger_id == "0a1b"
        assert options.first_sent_time.ToDatetime(UTC) == datetime(2026, 1, 31, 8, 0, 0, 5, UTC)
        assert (options.agent, options.run) == ("reviewer", "r-1")
    assert (unset.ledger_id, unset.HasField("first_sent_time")) == ("", False)


def test_a_request_has_a_deadline() -> None:
    async def test(address: str) -> None:
        async with AsyncClient(address, rpc_timeout=0.05) as client:
            with pytest.raises(Timeout):
                await client.get_tool("t")

    with_server(Limited(0), test)
