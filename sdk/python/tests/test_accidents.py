"""What becomes of calls when a plugin or a toolhost goes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from conftest import PATIENCE, Server, eventually, first, program, serve_toolhost, short_folder

from toolhost._proto.toolhost.tool.v1 import result_pb2, status_pb2
from toolhost._proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost._proto.toolhost.v1 import tool_service_pb2_grpc as pb_grpc
from toolhost.client import AsyncClient, Client, Started, Status
from toolhost.errors import Cancelled, Crashed, Denied, NotFound, OutcomeUnknown, Unavailable


def test_killed_in_the_middle(toolhost: Server) -> None:
    with Client(toolhost.address) as client:
        with pytest.raises(OutcomeUnknown) as raised:
            client.call("die")
        assert raised.value.exit is not None
        assert raised.value.exit.signal == "SIGKILL"
        assert raised.value.plugin == "extras"
        assert client.call("forecast", {"city": "Oslo"}).text, "the next call has a new process"


def test_crash_of_a_read_only_call(toolhost: Server) -> None:
    with Client(toolhost.address) as client, client.open("wait_in_a_thread") as execution:
        first(execution, Status)
        listed = subprocess.run(
            [program("toolhost"), "ps", "extras", "-o", "json", "--addr", toolhost.address],
            check=True,
            capture_output=True,
        )
        (pid,) = re.findall(rb'"pid": *([0-9]+)', listed.stdout)
        os.kill(int(pid), 9)
        with pytest.raises(Crashed):
            execution.outcome()


def test_crash_of_the_interpreter(toolhost: Server) -> None:
    with Client(toolhost.address) as client:
        with pytest.raises(OutcomeUnknown) as raised:
            client.call("die", {"number": signal.SIGSEGV})
        assert raised.value.exit is not None
        assert raised.value.exit.signal == "SIGSEGV"
        said = "\n".join(raised.value.exit.last_stderr)
        assert "Fatal Python error: Segmentation fault" in said
        assert "in die" in said


def test_stop(own_toolhost: Callable[..., Server]) -> None:
    server = own_toolhost("extras")
    with Client(server.address) as client:
        client.call("forecast", {"city": "Oslo"})
        server.process.terminate()
        server.process.wait(PATIENCE)
    ends = [line for line in server.log.splitlines() if "instance exited" in line]
    assert len(ends) == 1
    assert all('exit="exit code 0' in line for line in ends), ends


def test_no_toolhost_answers() -> None:
    with short_folder() as home, Client(f"unix://{home}/none.sock") as client:
        with pytest.raises(Unavailable, match=r"no toolhost answers at .*/none\.sock; is `toolhost serve` running"):
            client.list_tools()
        with pytest.raises(Unavailable, match="no toolhost answers"):
            client.call("echo", call_id="named")


def test_a_connection_that_is_lost(own_toolhost: Callable[..., Server]) -> None:
    with short_folder() as home:
        server = serve_toolhost(home, "fixture")
        with (
            Client(server.address) as client,
            client.open("wait", call_id="lost") as execution,
            client.open("draft", "{", complete=False) as half,
        ):
            for running in (execution, half):
                first(running, Started, Status)
            server.process.kill()
            server.process.wait(PATIENCE)
            with pytest.raises(OutcomeUnknown, match="send the same call with the same call id"):
                execution.outcome()
            with pytest.raises(Unavailable, match="not executed"):
                half.outcome()
        server.release()


class EndsEarly(pb_grpc.ToolServiceServicer):
    """A toolhost whose calls end before their arguments are complete."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def Connect(self, requests: Iterator[pb.ConnectRequest], context: Any) -> Iterator[pb.ConnectResponse]:  # noqa: N802
        context.send_initial_metadata(())
        call = next(requests).call
        for number in range(1, 6):
            status = status_pb2.Status(message=f"step {number}")
            yield pb.ConnectResponse(call=call, event=pb.CallEvent(seq=number, status=status))
        result = result_pb2.Result(content=[result_pb2.Content(text="not a word more")], is_error=True)
        ended = pb.CallEnded(call_id="c", result=result)
        yield pb.ConnectResponse(call=call, event=pb.CallEvent(seq=6, ended=ended))
        self.ended.set()
        for _ in requests:
            pass

    def ListTools(self, request: pb.ListToolsRequest, context: Any) -> pb.ListToolsResponse:  # noqa: N802
        return pb.ListToolsResponse()


def test_arguments_that_come_after_the_end() -> None:
    with short_folder() as home:
        server = grpc.server(ThreadPoolExecutor(2))
        toolhost = EndsEarly()
        pb_grpc.add_ToolServiceServicer_to_server(toolhost, server)
        server.add_insecure_port(f"unix:{home}/t.sock")
        server.start()
        with Client(f"unix://{home}/t.sock") as client, client.open("draft", "{", complete=False) as execution:
            assert toolhost.ended.wait(PATIENCE)
            client.list_tools()  # whose answer comes after the end of the call, by the same connection
            execution.send("}", complete=True)
            execution.cancel()
            *steps, last = execution
            assert [step.seq for step in steps] == [1, 2, 3, 4, 5]
            assert execution.outcome() is last.payload
            assert execution.outcome().text == "not a word more"
        server.stop(None).wait()


def test_closing_while_calls_run(toolhost: Server) -> None:
    with Client(toolhost.address) as client, Client(toolhost.address) as other:
        failures: list[Exception] = []

        def wait(way: Callable[[], object]) -> None:
            try:
                way()
            except Exception as failure:  # noqa: BLE001
                failures.append(failure)

        ways = (
            lambda: client.call("wait", call_id="closed-over"),
            lambda: list(client.watch_call("watched-over")),
        )
        with other.open("wait", call_id="watched-over") as watched:
            first(watched, Status)
            threads = [threading.Thread(target=wait, args=[way]) for way in ways]
            for thread in threads:
                thread.start()
            eventually(lambda: is_known(other, "closed-over"))
            client.close()
            for thread in threads:
                thread.join(PATIENCE)
        assert {type(failure) for failure in failures} == {OutcomeUnknown, Cancelled}, failures
        assert all("clos" in str(failure) for failure in failures), failures
        for name in ("closed-over", "watched-over"):
            other.cancel_call(name)
        with pytest.raises(Cancelled, match="is closed; make another one"):
            client.list_tools()


def is_known(client: Client, call_id: str) -> bool:
    try:
        return isinstance(next(client.watch_call(call_id)).payload, Started)
    except NotFound:
        return False


def test_an_async_client_is_of_one_loop(toolhost: Server) -> None:
    client = AsyncClient(toolhost.address)

    async def closed() -> None:
        async with AsyncClient(toolhost.address) as ended:
            pass
        with pytest.raises(Cancelled, match="is closed; make another one"):
            await ended.list_tools()

    async def used() -> None:
        assert await client.list_tools()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(used())
    with pytest.raises(RuntimeError, match=r"was used on another event loop; make one in each asyncio\.run"):
        asyncio.run(used())
    loop.run_until_complete(client.close())
    loop.close()
    asyncio.run(closed())


def test_filters(toolhost: Server) -> None:
    with Client(toolhost.address) as client:
        with pytest.raises(Denied, match="there is no Atlantis"):
            client.call("guarded", {"city": "Atlantis"})
        changed = client.call("guarded", {"city": "Christiania"})
        assert changed.text == '{"city":"Oslo","days":[0,1]}\nseen by the guard of guarded'
        assert client.call("guarded", {"city": "Null Island"}).text == "it is wet"
        assert client.call("chatty", {"text": "x"}).text == "x"
        own = client.call("account", {"number": "7"})
        assert own.text == "masked account"
        assert own.result is not None
        assert own.result.metadata["toolhost.filters"] == ["extras.mask"]
