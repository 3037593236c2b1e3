"""The contract, frame by frame: credit, pieces, cancel, and one end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from toolhost._proto.toolhost.plugin.v1 import plugin_pb2 as pb
from toolhost._proto.toolhost.tool.v1 import error_pb2
from toolhost.errors import ToolError, Unavailable
from toolhost.plugin import AsyncContext, Context, Effect, File, Image, Json, Plugin, Result, Text
from toolhost.plugin._run import so_far
from toolhost.plugin._session import Session

PIECE = 64 << 10
plugin = Plugin("frames")


@plugin.tool
def large(sizes: list[int]) -> list[Any]:
    """Return blocks of these sizes."""
    kinds: list[Callable[[int], Any]] = [
        lambda n: Text("ä" * (n // 2)),
        lambda n: Json("x" * (n - 2)),
        lambda n: Image(bytes(n)),
        lambda n: File(bytes(n), name="f"),
    ]
    return [kinds[i % 4](n) for i, n in enumerate(sizes)]


@plugin.tool
async def talks(ctx: AsyncContext, count: int, size: int) -> None:
    """Say something again and again."""
    for _ in range(count):
        await ctx.status("x" * size)


@plugin.tool
async def logs(ctx: AsyncContext, count: int) -> None:
    """Log without waiting."""
    for n in range(count):
        ctx.logger.info("%d", n)


@plugin.tool
def effects(size: int) -> Result:
    """Return effects of a size."""
    return Result(effects=[Effect("k", "x" * size)])


@plugin.tool
def fails(size: int) -> None:
    """Fail at length."""
    raise Unavailable("x" * size)


@plugin.tool
async def asks(ctx: AsyncContext) -> str:
    """Read an artifact."""
    try:
        return (await ctx.read_artifact("h")).data.decode()
    except ToolError as failure:
        return f"none: {failure}"


@plugin.tool
async def gives_up(ctx: AsyncContext) -> str:
    """Ask for an artifact, give up, and ask again."""
    asking = asyncio.create_task(ctx.read_artifact("first"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()
    return (await ctx.read_artifact("second")).data.decode()


@plugin.tool
def blocks(count: int) -> list[Any]:
    """Return many blocks."""
    return [Text("")] * count


@plugin.tool
def nothing(ctx: Context) -> None:
    """Do nothing."""


class Wire:
    """toolhost's end of a stream."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self.heard: list[pb.ConnectResponse] = []
        self._news = asyncio.Event()
        self.session = Session(plugin.name, plugin._runners(threads), self._hear)

    def _hear(self, frame: pb.ConnectResponse) -> None:
        self.heard.append(frame)
        self._news.set()

    def say(self, number: int, **frame: Any) -> None:
        self.session.take(pb.ConnectRequest(call=number, **frame))

    def start(self, tool: str, arguments: str = "{}", *, credit: int = 1 << 30, number: int = 1, **more: Any) -> None:
        start = pb.StartCall(tool=tool, arguments=arguments.encode(), complete=True, credit=credit, **more)
        self.say(number, start=start)

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 60)

    async def end(self, number: int = 1) -> pb.CallEnd:
        ended: list[pb.CallEnd] = []

        def has_ended() -> bool:
            ended[:] = [f.end for f in self.heard if f.call == number and f.HasField("end")]
            return bool(ended)

        await self.until(has_ended)
        assert len(ended) == 1
        return ended[0]

    def spent(self, number: int = 1) -> int:
        return sum(f.ByteSize() for f in self.heard if f.call == number and not f.HasField("end"))

    def chunks(self) -> dict[int, list[int]]:
        sizes: dict[int, list[int]] = {}
        for frame in self.heard:
            if frame.HasField("chunk"):
                sizes.setdefault(frame.chunk.index, []).append(len(frame.chunk.data))
        return sizes


def on_wire(test: Callable[[Wire], Awaitable[None]]) -> None:
    async def run() -> None:
        with ThreadPoolExecutor() as threads:
            wire = Wire(threads)
            await test(wire)
            assert await wire.session.close(60)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("sizes", "chunks"),
    [
        ([100, 100], {}),
        ([PIECE], {}),
        ([PIECE + 2], {0: [PIECE, 2]}),
        ([PIECE // 2, PIECE, 100], {1: [PIECE]}),
        ([0, 2, 3 * PIECE + 1, 3 * PIECE], {2: [PIECE] * 3 + [1], 3: [PIECE] * 3}),
    ],
)
def test_what_does_not_fit_goes_ahead(sizes: list[int], chunks: dict[int, list[int]]) -> None:
    async def test(wire: Wire) -> None:
        wire.start("large", f'{{"sizes":{sizes}}}')
        end = await wire.end()
        assert wire.chunks() == chunks
        assert end.ByteSize() < PIECE + 1000
        kinds = ["text", "json", "image", "file"]
        assert [b.WhichOneof("block") for b in end.result.content] == [kinds[i % 4] for i in range(len(sizes))]

    on_wire(test)


def test_credit() -> None:
    async def test(wire: Wire) -> None:
        wire.start("talks", '{"count":50,"size":100}', credit=300)
        await wire.until(lambda: wire.spent() >= 300)
        for _ in range(20):
            await asyncio.sleep(0)
        frame = wire.heard[0].ByteSize()
        spent = wire.spent()
        assert 300 <= spent < 300 + frame, "a frame may take the credit below zero, and no more"
        wire.start("nothing", number=2)
        await wire.end(2)
        assert wire.spent() == spent, "a call that waits holds up only itself"
        wire.say(1, credit=pb.GrantCredit(bytes=spent - 300))
        assert wire.spent() == spent, "a credit of 0 is not positive"
        wire.say(1, credit=pb.GrantCredit(bytes=1))
        assert wire.spent() == spent + wire.heard[1].ByteSize()
        wire.say(1, credit=pb.GrantCredit(bytes=1 << 20))
        await wire.end()
        assert next(f.status.state for f in wire.heard if f.call == 1) == 2
        assert wire.heard[-1].HasField("end")

    on_wire(test)


@pytest.mark.parametrize("tool", ["talks", "large"])
@pytest.mark.parametrize("way", ["cancel", "timeout"])
def test_a_call_that_waits_for_credit_ends_all_the_same(tool: str, way: str) -> None:
    async def test(wire: Wire) -> None:
        arguments = {"talks": '{"count":50,"size":100}', "large": f'{{"sizes":[{9 * PIECE}]}}'}[tool]
        start = pb.StartCall(tool=tool, arguments=arguments.encode(), complete=True, credit=200)
        if way == "timeout":
            start.timeout.FromMilliseconds(100)
        wire.say(1, start=start)
        await wire.until(lambda: wire.spent() >= 200)
        if way == "cancel":
            wire.say(1, cancel=pb.CancelCall(reason="why not"))
        end = await wire.end()
        kind = {"cancel": error_pb2.ERROR_KIND_CANCELLED, "timeout": error_pb2.ERROR_KIND_TIMEOUT}[way]
        assert end.error.kind == kind
        wire.say(1, credit=pb.GrantCredit(bytes=1 << 20))
        heard = len(wire.heard)
        await asyncio.sleep(0)
        assert len(wire.heard) == heard, "nothing comes after the end"

    on_wire(test)


def test_logs_of_an_async_tool_wait_in_order_and_come_before_the_end() -> None:
    async def test(wire: Wire) -> None:
        wire.start("logs", '{"count":500}', credit=100)
        await wire.until(lambda: wire.spent() >= 100)
        wire.say(1, credit=pb.GrantCredit(bytes=1 << 20))
        await wire.end()
        assert [f.log.message for f in wire.heard if f.HasField("log")] == [str(n) for n in range(500)]
        assert wire.heard[-1].HasField("end")

    on_wire(test)


def test_logs_without_end_go_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    async def test(wire: Wire) -> None:
        wire.start("logs", '{"count":3000}', credit=1)
        await wire.until(lambda: wire.spent() >= 1)
        wire.say(1, credit=pb.GrantCredit(bytes=1 << 20))
        await wire.end()
        assert len([f for f in wire.heard if f.HasField("log")]) == 1001

    on_wire(test)
    assert len(capsys.readouterr().err.splitlines()) == 1999


def test_bounds() -> None:
    async def test(wire: Wire) -> None:
        wire.start("effects", f'{{"size":{1 << 20}}}', number=1)
        assert "effects, metadata and artifacts" in (await wire.end(1)).error.message
        wire.start("fails", f'{{"size":{1 << 20}}}', number=2)
        assert PIECE - 10 < len((await wire.end(2)).error.message.encode()) <= PIECE
        wire.start("talks", f'{{"count":1,"size":{2 << 20}}}', number=3)
        assert (await wire.end(3)).HasField("result")
        assert "was not sent" in next(f.log.message for f in wire.heard if f.call == 3)
        wire.start("blocks", '{"count":5000}', number=4)
        assert "5000 blocks; the limit is 4096" in (await wire.end(4)).error.message

    on_wire(test)


def test_arguments_in_pieces() -> None:
    async def test(wire: Wire) -> None:
        wire.say(1, start=pb.StartCall(tool="large", arguments=b'{"siz', credit=1000))
        wire.say(1, append=pb.AppendArguments(text=b'es":[7'))
        wire.say(1, append=pb.AppendArguments(text=b"]}"))
        wire.say(1, complete=pb.CompleteArguments())
        assert (await wire.end()).result.content[0].text == "äää"

    on_wire(test)


def test_frames_of_no_call_are_ignored() -> None:
    async def test(wire: Wire) -> None:
        wire.say(7, cancel=pb.CancelCall())
        wire.say(7, append=pb.AppendArguments(text=b"x"))
        wire.session.take(pb.ConnectRequest(call=7))
        wire.start("nothing")
        wire.session.take(pb.ConnectRequest(call=1))
        wire.say(1, artifact=pb.ArtifactPiece(data=b"unasked"))
        await wire.end()
        wire.say(1, cancel=pb.CancelCall())
        wire.say(1, credit=pb.GrantCredit(bytes=1))
        assert [f.call for f in wire.heard] == [1]

    on_wire(test)


def test_artifacts() -> None:
    async def test(wire: Wire) -> None:
        wire.start("asks")
        await wire.until(lambda: bool(wire.heard))
        asked = wire.heard[0].read_artifact
        assert (asked.handle, asked.offset, asked.limit) == ("h", 0, PIECE)
        wire.say(1, artifact=pb.ArtifactPiece(data=b"ab", size=3))
        await wire.until(lambda: len(wire.heard) == 2)
        assert wire.heard[1].read_artifact.offset == 2
        wire.say(1, artifact=pb.ArtifactPiece(data=b"c", size=3))
        assert (await wire.end()).result.content[0].text == "abc"

    on_wire(test)


def test_an_artifact_that_is_not_there() -> None:
    async def test(wire: Wire) -> None:
        wire.start("asks")
        await wire.until(lambda: bool(wire.heard))
        error = error_pb2.Error(kind=error_pb2.ERROR_KIND_NOT_FOUND, message="too old")
        wire.say(1, artifact=pb.ArtifactPiece(error=error))
        assert (await wire.end()).result.content[0].text == "none: too old"

    on_wire(test)


def test_only_one_question_is_open() -> None:
    async def test(wire: Wire) -> None:
        wire.start("gives_up")
        await wire.until(lambda: bool(wire.heard))
        for _ in range(20):
            await asyncio.sleep(0)
        assert [f.read_artifact.handle for f in wire.heard] == ["first"]
        wire.say(1, artifact=pb.ArtifactPiece(data=b"1", size=1))
        await wire.until(lambda: len(wire.heard) == 2)
        wire.say(1, artifact=pb.ArtifactPiece(data=b"2", size=1))
        assert (await wire.end()).result.content[0].text == "2"

    on_wire(test)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("{", {}),
        ('{"a', {}),
        ('{"a":', {}),
        ('{"a":"', {"a": ""}),
        ('{"a":"x 12', {"a": "x 12"}),
        ('{"a":"x\\', {"a": "x"}),
        ('{"a":"x\\u00e', {"a": "x"}),
        ('{"a":"x\\"12', {"a": 'x"12'}),
        ('{"a":1', {}),
        ('{"a":-1.5e', {}),
        ('{"a":12,', {"a": 12}),
        ('{"a":12}', {"a": 12}),
        ('{"a":[1,2', {"a": [1]}),
        ('{"a":[1', {"a": []}),
        ('{"a":tru', {}),
        ('{"a":true', {"a": True}),
        ('{"a":null', {"a": None}),
        ('{"a":{"b":"c","d":fal', {"a": {"b": "c"}}),
        ("{]", None),
    ],
)
def test_the_value_so_far(text: str, value: Any) -> None:
    assert so_far(text.encode()) == value


def test_a_character_that_is_cut() -> None:
    whole = '{"a":"ä€😀"}'.encode()
    seen = [so_far(whole[:n]) for n in range(len(whole) + 1)]
    assert [v["a"] for v in seen if v] == ["", "", "ä", "ä", "ä", "ä€", "ä€", "ä€", "ä€", "ä€😀", "ä€😀", "ä€😀"]
