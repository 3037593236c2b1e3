"""Plugins and callers of this SDK at a real toolhost."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import PATIENCE, Server, eventually, first

from toolhost import __version__
from toolhost.client import (
    Approval,
    Artifact,
    AsyncClient,
    Client,
    Contracts,
    Effect,
    Event,
    File,
    Image,
    Json,
    LogRecord,
    Operation,
    Outcome,
    Principal,
    Progress,
    Started,
    State,
    Status,
    Text,
    Usage,
)
from toolhost.errors import (
    ApprovalRequired,
    Cancelled,
    Conflict,
    Denied,
    Internal,
    InvalidArgument,
    Kind,
    NotFound,
    Timeout,
    ToolhostError,
)

UNIT = "0123456789 äöü € 😀 "


@pytest.fixture
def client(toolhost: Server) -> Iterator[Client]:
    with Client(toolhost.address) as client:
        yield client


def on(toolhost: Server, test: Callable[[AsyncClient], Any]) -> None:
    async def run() -> None:
        async with AsyncClient(toolhost.address) as client:
            await asyncio.wait_for(test(client), PATIENCE)

    asyncio.run(run())


def test_tools(client: Client) -> None:
    tools = {tool.name: tool for tool in client.list_tools()}
    assert tools["echo"].plugin == "bare"
    assert tools["echo"].plugin_version == "1.2.3"
    assert tools["forecast"].spec.output_schema is not None
    assert tools["draft"].spec.partial_arguments
    assert [tool.name for tool in client.list_tools(names=["echo", "nosuch"])] == ["echo"]
    assert [tool.name for tool in client.list_tools(dangerous=True)] == ["erase"]
    assert len(client.list_tools(tags=["fixture"], max_tools=2)) == 2
    assert client.get_tool("forecast").spec == tools["forecast"].spec
    assert client.search_tools("how warm")[0].tool.name == "forecast"
    rendered = client.render_tools("anthropic", names=["forecast"])
    assert rendered.tools == ("forecast",)
    assert b'"input_schema"' in rendered.content
    with pytest.raises(NotFound):
        client.get_tool("nosuch")


def test_version(client: Client, toolhost: Server) -> None:
    version = client.version()
    assert version.version == __version__  # the programs and the SDK are built from one tree
    assert version.commit
    assert version.contracts == Contracts("toolhost.plugin.v1", "toolhost.v1", "agentd.v1")

    async def same(client: AsyncClient) -> None:
        assert await client.version() == version

    on(toolhost, same)


def test_who_am_i(client: Client, toolhost: Server) -> None:
    me = client.who_am_i()
    assert me.principal == f"uid:{os.getuid()}"
    assert (me.tenant, me.credential, me.address, me.expires) == ("default", "peer", "unix", None)
    assert [(role.role, role.all_tenants) for role in me.roles] == [("admin", True), ("delegate", True)]
    assert "tools.call" in [right.right for right in me.rights if right.all_tenants]

    async def same(client: AsyncClient) -> None:
        assert await client.who_am_i() == me

    on(toolhost, same)


def test_on_behalf_of(own_toolhost: Callable[..., Server]) -> None:
    user = f"uid:{os.getuid()}"
    roles = [
        ("admin", f'principals: ["{user}"]'),
        ("delegate", f'principals: ["{user}"]'),
        ("caller", "members_of: [default, red]"),
    ]
    bindings = "".join(f"    - {{role: {role}, {to}, tenants: [default, red]}}\n" for role, to in roles)
    toolhost = own_toolhost("fixture", config=f"auth:\n  bindings:\n{bindings}")
    ada, bob = Principal("ada", "red", ["dev"]), Principal("bob")
    with Client(toolhost.address) as client:
        client.call("echo", {"text": "x"}, call_id="for-ada", on_behalf_of=ada)
        with pytest.raises(NotFound):  # the call belongs to ada, not to the client
            client.cancel_call("for-ada")
        with pytest.raises(NotFound):
            client.cancel_call("for-ada", on_behalf_of=bob)
        client.cancel_call("for-ada", on_behalf_of=ada)
        events = list(client.watch_call("for-ada", on_behalf_of=ada))
        assert isinstance(events[-1].payload, Outcome)
        assert client.get_tool("echo", on_behalf_of=ada).name == "echo"
        assert [tool.name for tool in client.list_tools(names=["echo"], on_behalf_of=ada)] == ["echo"]
        assert client.search_tools("echo", on_behalf_of=ada)
        assert client.render_tools("mcp", names=["echo"], on_behalf_of=ada).tools == ("echo",)
        with pytest.raises(NotFound):
            client.read_artifact("none", on_behalf_of=ada)
        blue = Principal("eve", "blue")  # a tenant in which the client is no delegate
        for refused in (
            lambda: client.call("echo", {"text": "x"}, on_behalf_of=blue),
            lambda: client.list_tools(on_behalf_of=blue),
            lambda: client.get_tool("echo", on_behalf_of=blue),
            lambda: client.search_tools("echo", on_behalf_of=blue),
            lambda: client.render_tools("mcp", on_behalf_of=blue),
            lambda: client.cancel_call("for-ada", on_behalf_of=blue),
            lambda: list(client.watch_call("for-ada", on_behalf_of=blue)),
            lambda: client.read_artifact("none", on_behalf_of=blue),
        ):
            with pytest.raises(Denied):
                refused()
        with pytest.raises(InvalidArgument, match="on_behalf_of"):
            client.list_tools(on_behalf_of=Principal("a b"))
        with pytest.raises(TypeError, match="'on_behalf_of' must be of type Principal"):
            client.list_tools(on_behalf_of="ada")  # type: ignore[arg-type]
        with Client(toolhost.address, on_behalf_of=bob) as delegate:
            delegate.call("echo", {"text": "x"}, call_id="for-bob")
            delegate.cancel_call("for-bob")
            delegate.cancel_call("for-ada", on_behalf_of=ada)
        client.cancel_call("for-bob", on_behalf_of=bob)


def test_options_that_there_are_not(client: Client) -> None:
    with pytest.raises(TypeError, match="a call has no option 'time_out'; did you mean 'timeout'"):
        client.call("echo", time_out=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'timeout' must be a number, but is '3s'"):
        client.open("echo", timeout="3s")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'tags' must be a list of str, but is 'fixture'"):
        client.list_tools(tags="fixture")
    with pytest.raises(TypeError, match="a selection of tools has no option 'tag'; did you mean 'tags'"):
        client.search_tools("warm", tag=["fixture"])  # type: ignore[call-arg]
    with pytest.raises(InvalidArgument, match='there is no format "openapi"; there are: openai, '):
        client.render_tools("openapi")
    assert client.call("echo", timeout=None, call_id=None).text == "{}"  # type: ignore[arg-type]


def test_an_execution_outside_of_its_with(client: Client) -> None:
    execution = client.open("echo")
    for use in (execution.outcome, execution.cancel, lambda: list(execution), lambda: execution.send("{")):
        with pytest.raises(RuntimeError, match=r"use it inside `with client\.open"):
            use()
    with execution:
        pass
    for use in (execution.outcome, execution.cancel, lambda: list(execution), lambda: execution.send("{")):
        with pytest.raises(RuntimeError, match=r"the .with. block of the call has ended"):
            use()
    with client.open("echo") as execution:
        execution.outcome()
    assert execution.outcome().text == "{}"


def test_dynamic_tools(client: Client) -> None:
    seen = client.get_tool("query", session="s", context={"tables": ["a", "b"]})
    assert seen.spec.description == "Read one of 2 tables."
    assert seen.spec.input_schema["properties"]["table"]["enum"] == ["a", "b"]
    assert client.get_tool("query").spec.description == "Read a table."
    assert client.call("query", {"table": "a"}, session="s", context={"tables": ["a", "b"]}).text == "rows of a"
    outcome = client.call("query", {"table": "c"}, session="s", context={"tables": ["a", "b"]})
    assert outcome.result.is_error


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"text": 'naïve 漢字 😀 \u0000 \u2028 "', "ключ": [None, True, -1.5e-7]},
        {"a": {"b": [{"c": {"d": ["deep"] * 10}}]}},
        {"text": UNIT * 10_000},
    ],
)
def test_echo(client: Client, arguments: Any) -> None:
    outcome = client.call("echo", arguments, max_shown_bytes=1 << 30)
    assert outcome.result.content == [Json(arguments)] or outcome.result.content[0].value == arguments  # type: ignore[union-attr]
    assert (outcome.plugin, outcome.replayed) == ("bare", False)
    assert outcome.call_id
    assert outcome.result.duration is not None


def test_8_mib(client: Client) -> None:
    units = (8 << 20) // len(UNIT.encode())
    blocks = [{"kind": "text", "units": units}, {"kind": "file", "units": 100}, {"kind": "json", "units": units}]
    text, file, value = client.call("large", {"blocks": blocks}, max_shown_bytes=1 << 30).result.content
    assert isinstance(text, Text)
    assert text.text == UNIT * units
    assert isinstance(file, File)
    assert (file.data, file.name) == (bytes(range(256)) * 100, "large.bin")
    assert isinstance(value, Json)
    assert value.value == UNIT * units


def test_artifacts(client: Client) -> None:
    units = (1 << 20) // len(UNIT.encode())
    (shown,) = client.call("large", {"blocks": [{"kind": "text", "units": units}]}).result.content
    assert isinstance(shown, Artifact)
    assert shown.size == len(UNIT.encode()) * units
    assert shown.head
    whole = client.read_artifact(shown.handle)
    assert whole.data.decode() == UNIT * units
    assert client.read_artifact(shown.handle, offset=11, limit=2).data == "ä".encode()
    (back,) = client.call("read_back", {"handle": shown.handle}).result.content
    assert isinstance(back, Json)
    assert back.value == [shown.size, whole.media_type, shown.size, UNIT[-2:]]
    with pytest.raises(NotFound):
        client.read_artifact("artifact-nosuch")
    missing = client.call("read_back", {"handle": "artifact-nosuch"})
    assert missing.result.is_error


def test_images_and_effects(client: Client) -> None:
    (image,) = client.call("image").result.content
    assert isinstance(image, Image)
    assert (image.media_type, image.name, image.data[:4]) == ("image/png", "pixel.png", b"\x89PNG")
    result = client.call("effects").result
    assert result.effects == [
        Effect("plan", "walk"),
        Effect("seen", {"n": 7}, Operation.APPEND),
        Effect("tree", {"leaf": None}, Operation.MERGE),
    ]
    assert (result.cost, result.usage) == (0.25, Usage(11, 5))
    assert result.metadata["source"] == "fixture"
    assert client.call("forecast", {"city": "Oslo"}).text.startswith('{"city":"Oslo","days":[0,1]}')


def test_repaired_and_refused_arguments(client: Client) -> None:
    assert '"days":[0,1,2]' in client.call("forecast", {"city": "Oslo", "days": "3"}).text
    outcome = client.call("forecast", {"days": 1})
    assert outcome.result.is_error
    assert "city" in outcome.text
    with pytest.raises(InvalidArgument):
        client.call("forecast", {"city": object()})
    assert client.call("fail", {"message": "no such street: Ährenweg"}).text == "no such street: Ährenweg"


@pytest.mark.parametrize("kind", list(Kind))
def test_errors(client: Client, kind: Kind) -> None:
    with pytest.raises(ToolhostError) as raised:
        client.call(
            "break_down", {"kind": kind.name, "message": f"the meter says {kind.value} 4711", "retry_after": 1.5}
        )
    assert type(raised.value) is ToolhostError.of(kind)
    assert "4711" in raised.value.message
    assert raised.value.call_id
    if kind is Kind.RATE_LIMITED:
        assert raised.value.retry_after == 1.5


def test_bugs_end_their_call_alone(client: Client) -> None:
    raised = client.call("break_down", {"kind": "BUG", "message": "divided"})
    assert (raised.result.is_error, raised.text) == (True, "RuntimeError: divided")
    with pytest.raises(Internal, match="SystemExit: 3"):
        client.call("exit_politely")
    with pytest.raises(NotFound):
        client.call("nosuch")
    assert client.call("echo").text == "{}"


STEPS: list[Status | tuple[str, int, Any]] = [
    Status(State.WAIT, "about to begin", {"a": {"x": 1}, "n": 1}),
    Status(State.DOING, "at work", {"a": {"y": 2}}),
    Status(progress=Progress(1, 3, "a third")),
    ("halfway", 30, {"left": 2}),
    Status(progress=Progress(3, 3)),
    Status(State.SUCCESS, "done", {"n": 2}, result={"rows": 3}),
]


def told(events: list[Event]) -> list[Any]:
    """The events of a call, without where and when."""
    payloads: list[Any] = []
    for event in events:
        match event.payload:
            case Status():
                payloads.append(event.payload)
            case LogRecord() as log:
                payloads.append((log.message, log.level, log.attributes))
    return payloads


def test_statuses(client: Client) -> None:
    with client.open("steps", call_id="steps-1") as execution:
        events = list(execution)
        assert execution.call_id == "steps-1"
        assert execution.outcome().text == "stepped"
    assert isinstance(events[0].payload, Started)
    assert told(events) == STEPS
    assert isinstance(events[-1].payload, Outcome)
    again = list(client.watch_call("steps-1"))
    assert told(again) == STEPS
    later = list(client.watch_call("steps-1", after=again[-2].seq))
    assert [event.seq for event in later] == [again[-1].seq]
    with pytest.raises(NotFound):
        list(client.watch_call("nosuch"))


def test_the_same_id_is_executed_once(client: Client) -> None:
    first = client.call("draft", {"text": "a"}, call_id="once", session="s-1")
    again = client.call("draft", {"text": "a"}, call_id="once", session="s-1")
    assert again.replayed
    assert again.result.content == first.result.content
    with pytest.raises(Conflict):
        client.call("draft", {"text": "b"}, call_id="once", session="s-1")


def test_partial_arguments(client: Client) -> None:
    with client.open("draft", '{"text":"hö', complete=False) as execution:
        events = iter(execution)
        assert next(e for e in events if isinstance(e.payload, Status)).payload.parameters["text"] == "hö"  # type: ignore[union-attr,index]
        execution.send('her"')
        assert next(e for e in events if isinstance(e.payload, Status)).payload.parameters["text"] == "höher"  # type: ignore[union-attr,index]
        execution.send("}", complete=True)
        outcome = execution.outcome()
    value = outcome.result.content[0].value  # type: ignore[union-attr]
    assert value["text"] == "höher"
    assert value["previews"] == ["hö", "höher"]


def test_arguments_in_pieces(client: Client) -> None:
    text = '{"text":"' + UNIT * 20_000 + '"}'
    with client.open("echo", complete=False, max_shown_bytes=1 << 30) as execution:
        execution.send(text, complete=True)
        assert execution.outcome().text == text


def test_context(client: Client, toolhost: Server) -> None:
    got = client.call(
        "describe_call",
        call_id="c-1",
        session="s-2",
        context={"colour": "grün", "unasked": 1},
        traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    )
    value = got.result.content[0].value  # type: ignore[union-attr]
    assert value["call_id"] == "c-1"
    assert value["session"] == "s-2"
    assert value["values"] == {"colour": "grün"}
    assert value["workspace"] == str(toolhost.home / "workspace")
    assert value["attempt"] == 1
    assert "4bf92f3577b34da6a3ce929d0e0e4736" in value["traceparent"]


@pytest.mark.parametrize("tool", ["wait", "wait_in_a_thread"])
def test_cancel(client: Client, tool: str) -> None:
    with client.open(tool) as execution:
        first(execution, Status)
        execution.cancel("enough of 4711")
        with pytest.raises(Cancelled, match="enough of 4711"):
            execution.outcome()
    with client.open(tool, call_id=f"cancel-{tool}") as execution:
        first(execution, Status)
        client.cancel_call(f"cancel-{tool}", reason="by its id")
        with pytest.raises(Cancelled, match="by its id"):
            execution.outcome()
    with pytest.raises(NotFound):
        client.cancel_call("nosuch")


@pytest.mark.parametrize("tool", ["wait", "wait_in_a_thread"])
def test_deadline(client: Client, tool: str) -> None:
    with pytest.raises(Timeout):
        client.call(tool, timeout=0.2)


@pytest.mark.parametrize("named", [True, False])
def test_leaving_cancels_the_call(toolhost: Server, named: bool) -> None:
    async def test(client: AsyncClient) -> None:
        options: Any = {"call_id": "left"} if named else {}
        waiting = asyncio.ensure_future(client.call("wait", **options))
        if named:
            async for event in until_known(client, "left"):
                if isinstance(event.payload, Status):
                    break
        else:
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        if named:
            last = [event async for event in client.watch_call("left")][-1]
            assert isinstance(last.payload, Outcome)
            assert isinstance(last.payload.error, Cancelled)

    on(toolhost, test)


async def until_known(client: AsyncClient, call_id: str) -> Any:
    """Watch a call as soon as there is one."""
    while True:
        try:
            async for event in client.watch_call(call_id):
                yield event
            return
        except NotFound:
            await asyncio.sleep(0.01)


def test_leaving_a_named_call_does_not_end_it(toolhost: Server) -> None:
    async def test(client: AsyncClient) -> None:
        async with client.open("meet", {"room": "left", "count": 2}, call_id="goes-on") as execution:
            async for event in execution:
                if isinstance(event.payload, Started):
                    break
        assert (await client.call("meet", {"room": "left", "count": 2})).text == "met 2"
        again = await client.call("meet", {"room": "left", "count": 2}, call_id="goes-on")
        assert again.text == "met 2"

    on(toolhost, test)


def test_many_at_once(toolhost: Server) -> None:
    async def test(client: AsyncClient) -> None:
        outcomes = await asyncio.gather(*(client.call("meet", {"room": "all", "count": 200}) for _ in range(200)))
        assert {outcome.text for outcome in outcomes} == {"met 200"}

    on(toolhost, test)


def test_threads_share_a_client(client: Client) -> None:
    texts: list[str] = []
    threads = [
        threading.Thread(target=lambda: texts.append(client.call("meet", {"room": "threads", "count": 8}).text))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert texts == ["met 8"] * 8


def test_a_slow_reader_holds_up_only_himself(client: Client) -> None:
    with client.open("chatter", {"count": 2000}) as slow:
        for n in range(20):
            assert client.call("echo", {"n": n}).text == f'{{"n":{n}}}'
        events = list(slow)
    assert len([e for e in events if isinstance(e.payload, LogRecord)]) == 2000


def test_approval(client: Client) -> None:
    with pytest.raises(ApprovalRequired):
        client.call("erase", {"path": "x"})
    assert client.call("erase", {"path": "x"}, approval="a test").text == "erased x"
    agreed = Approval("a test", "because", arguments={"path": "y"})
    with pytest.raises(ToolhostError) as raised:
        client.call("erase", {"path": "x"}, approval=agreed)
    assert raised.value.kind in (Kind.DENIED, Kind.APPROVAL_REQUIRED, Kind.INVALID_ARGUMENT)


def test_approval_wait(client: Client) -> None:
    names = []
    for wait in (0, 0.001):
        with pytest.raises(ApprovalRequired) as raised:
            client.call("erase", {"path": "held"}, approval_wait=wait)
        names.append(raised.value.decision)
    assert names[0] is not None
    assert names[0].startswith("calls/")
    assert names[0] == names[1]
    with pytest.raises(ApprovalRequired) as raised:
        client.call("erase", {"path": "held"})
    assert raised.value.decision is None
    with pytest.raises(InvalidArgument):
        client.call("erase", {"path": "held"}, approval_wait=-1)


def test_what_tools_print_is_log(client: Client, toolhost: Server) -> None:
    assert client.call("chatty", {"text": "Ähre 4711"}).text == "Ähre 4711"
    words = ["on stdout: Ähre 4711", "on stderr: Ähre 4711", "by a child: Ähre 4711", "printed before the handshake"]
    eventually(lambda: all(word in toolhost.log for word in words), lambda: toolhost.log)
