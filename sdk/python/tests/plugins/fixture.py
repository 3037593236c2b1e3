"""The tools of server/internal/e2e/barecontract, as an author writes them with this SDK."""

from __future__ import annotations

import asyncio
import itertools
from collections import defaultdict
from typing import Any, Literal

from pydantic import BaseModel

from toolhost.errors import Kind, ToolhostError
from toolhost.plugin import (
    AsyncContext,
    Content,
    Context,
    Effect,
    File,
    Image,
    Json,
    Operation,
    Plugin,
    Result,
    State,
    Text,
    ToolError,
    Usage,
)

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
    "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
)
UNIT = "0123456789 äöü € 😀 "  # of large texts; it has letters of one to four bytes

plugin = Plugin("bare", "1.2.3", description="A fixture.", default_tags=["fixture"])


@plugin.tool(read_only=True)
def echo(ctx: Context, **arguments: Any) -> Json:
    """Do what the test of echo needs."""
    return Json.from_text(ctx.arguments)


@plugin.tool(read_only=True, context_keys=["colour"], requires_auth=[])
async def describe_call(ctx: AsyncContext) -> dict[str, Any]:
    """Do what the test of describe_call needs."""
    return {
        "call_id": ctx.call_id,
        "attempt": ctx.attempt,
        "session": ctx.session,
        "workspace": str(ctx.workspace or ""),
        "values": ctx.context,
        "secrets": dict(ctx.secrets),
        "traceparent": ctx.traceparent,
    }


class Block(BaseModel):
    kind: Literal["text", "json", "file"]
    units: int


@plugin.tool(read_only=True)
def large(blocks: list[Block]) -> list[Content]:
    """Do what the test of large needs."""
    content: list[Content] = []
    for block in blocks:
        match block.kind:
            case "text":
                content.append(Text(UNIT * block.units))
            case "json":
                content.append(Json(UNIT * block.units))
            case "file":
                content.append(File(bytes(range(256)) * block.units, name="large.bin"))
    return content


@plugin.tool(read_only=True)
def fail(message: str) -> None:
    """Do what the test of fail needs."""
    raise ToolError(message)


@plugin.tool(read_only=True)
async def break_down(kind: str, message: str, retry_after: float = 0) -> None:
    """Do what the test of break_down needs."""
    if kind == "BUG":
        raise RuntimeError(message)
    raise ToolhostError.of(Kind[kind])(message, retry_after=retry_after)


@plugin.tool(read_only=True, effect_keys=["plan", "seen", "tree"])
def effects() -> Result:
    """Do what the test of effects needs."""
    return Result(
        effects=[
            Effect("plan", "walk"),
            Effect("seen", {"n": 7}, Operation.APPEND),
            Effect("tree", {"leaf": None}, Operation.MERGE),
        ],
        metadata={"source": "fixture"},
        cost=0.25,
        usage=Usage(input_tokens=11, output_tokens=5),
    )


@plugin.tool(read_only=True)
def image() -> Image:
    """Do what the test of image needs."""
    return Image(PIXEL, name="pixel.png")


@plugin.tool(read_only=True)
def steps(ctx: Context) -> str:
    """Do what the test of steps needs."""
    ctx.status("about to begin", state=State.WAIT, parameters={"a": {"x": 1}, "n": 1})
    ctx.status("at work", state=State.DOING, parameters={"a": {"y": 2}})
    ctx.progress(1, 3, "a third")
    ctx.logger.warning("halfway", extra={"left": 2})
    ctx.progress(3, 3)
    ctx.status("done", state=State.SUCCESS, parameters={"n": 2}, result={"rows": 3})
    return "stepped"


opened = itertools.count(1)


@plugin.tool(read_only=True)
class draft:  # noqa: N801
    """Do what the test of draft needs."""

    def __init__(self) -> None:
        self.number = next(opened)
        self.previews: list[str] = []

    async def preview(self, so_far: dict[str, Any], ctx: AsyncContext) -> None:
        seen = so_far.get("text")
        if seen and seen not in self.previews:
            self.previews.append(seen)
            await ctx.status(state=State.WAIT, parameters={"text": seen, "object": self.number})

    async def call(self, text: str) -> dict[str, Any]:
        return {"text": text, "previews": self.previews, "object": self.number}


@plugin.tool(read_only=True)
async def wait(ctx: AsyncContext) -> None:
    """Do what the test of wait needs."""
    await ctx.status("waiting", state=State.DOING)
    await asyncio.Event().wait()


class Meeting:
    def __init__(self) -> None:
        self.came = 0
        self.all_there = asyncio.Event()


meetings: defaultdict[str, Meeting] = defaultdict(Meeting)


@plugin.tool(read_only=True)
async def meet(room: str, count: int) -> str:
    """Do what the test of meet needs."""
    meeting = meetings[room]
    meeting.came += 1
    if meeting.came == count:
        meeting.all_there.set()
    await meeting.all_there.wait()
    return f"met {count}"


@plugin.tool(read_only=True)
def chatter(ctx: Context, count: int) -> str:
    """Log more than the credit of a call at once, and return the number of records."""
    for n in range(count):
        ctx.logger.debug("line %d %s", n, "x" * 300)
    return f"said {count}"


if __name__ == "__main__":
    plugin.run()
