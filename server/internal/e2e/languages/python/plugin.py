"""The Python plugin of server/internal/e2e/languages."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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

plugin = Plugin("table", "1.0.0")


@plugin.tool(read_only=True)
def echo(ctx: Context, **arguments: Any) -> Json:
    """Does what the case of echo needs."""
    return Json.from_text(ctx.arguments)


@plugin.tool(read_only=True)
def say(text: str) -> str:
    """Does what the case of say needs."""
    return text


@plugin.tool(read_only=True)
def repeat(unit: str, times: int) -> str:
    """Does what the case of repeat needs."""
    return unit * times


@plugin.tool(read_only=True)
def value() -> Any:
    """Does what the case of value needs."""
    return {
        "text": 'naïve 漢字 😀 <a & b> "\\\t',
        "empty": {},
        "none": None,
        "list": [],
        "flags": [True, False],
        "half": 0.5,
        "minus": -3,
        "big": 2**64 - 1,
        "deep": [[{1: None}]],
    }


@plugin.tool(read_only=True)
def nothing() -> None:
    """Does what the case of nothing needs."""


@plugin.tool(read_only=True)
def blocks(file_bytes: int) -> list[Content]:
    """Does what the case of blocks needs."""
    return [
        Text("first"),
        Image(b"\x89PNG\r\n\x1a\n\x00\xff", name="pixel.png"),
        Json.from_text('{"n": 1.50}'),
        File(bytes(range(256)) * (file_bytes // 256), name="bytes.bin"),
        Text(""),
    ]


@plugin.tool(read_only=True)
def fail(message: str) -> None:
    """Does what the case of fail needs."""
    raise ToolError(message)


@plugin.tool(read_only=True)
async def break_down(kind: str, message: str, retry_after_ms: int = 0) -> None:
    """Does what the case of break_down needs."""
    raise ToolhostError.of(Kind(kind))(message, retry_after=retry_after_ms / 1000 or None)


@plugin.tool(read_only=True, effect_keys=["plan", "seen", "tree"])
def effects() -> Result:
    """Does what the case of effects needs."""
    return Result(
        "planned",
        effects=[
            Effect("plan", "walk"),
            Effect("seen", {"n": 7}, Operation.APPEND),
            Effect("tree", {"leaf": None, "ключ": []}, Operation.MERGE),
        ],
        cost=0.25,
        usage=Usage(input_tokens=11, output_tokens=5, cache_read_tokens=3, cache_write_tokens=2),
        metadata={"source": "fixture", "pages": {"first": 1, "last": [2, 3]}},
    )


@plugin.tool(read_only=True)
def steps(ctx: Context) -> str:
    """Does what the case of steps needs."""
    ctx.status("about to begin", state=State.WAIT, parameters={"a": {"x": 1}, "n": 1})
    ctx.status("at wörk", state=State.DOING, parameters={"a": {"y": 2}})
    ctx.progress(1, 3, "a third")
    ctx.logger.warning("halfway", extra={"left": 2})
    ctx.progress(2.5, 3)
    ctx.status("done", state=State.SUCCESS, parameters={"n": 2}, result={"rows": 3})
    return "stepped"


@plugin.tool(read_only=True)
async def wait(ctx: AsyncContext, quietly: bool = False) -> None:
    """Does what the case of wait needs."""
    if not quietly:
        await ctx.status("waiting")
    await asyncio.Event().wait()


@plugin.tool(read_only=True, context_keys=["colour"])
def about_the_call(ctx: Context) -> dict[str, Any]:
    """Does what the case of about_the_call needs."""
    return {"call_id": ctx.call_id, "attempt": ctx.attempt, "colour": ctx.context.get("colour")}


@plugin.tool(read_only=True)
class draft:  # noqa: N801
    """Does what the case of draft needs."""

    def __init__(self) -> None:
        self.shown = ""

    async def preview(self, so_far: dict[str, Any], ctx: AsyncContext) -> None:
        text = so_far.get("text", "")
        if text != self.shown and text.endswith("|"):
            self.shown = text
            await ctx.status("so far", parameters={"text": text})

    async def call(self, text: str) -> str:
        return f"{text} after {self.shown}"


class Address(BaseModel):
    """A nested parameter."""

    model_config = ConfigDict(extra="forbid")

    street: Annotated[str, Field(min_length=1)]
    zip: Annotated[str, Field(pattern="^[0-9]{5}$")]


@plugin.tool(read_only=True)
def parameters(
    count: Annotated[int, Field(ge=1, le=100)],
    price: Annotated[float, Field(ge=0.5)],
    color: Literal["red", "green", "blue"],
    resolution: Literal[72, 150, 300],
    code: Annotated[str, Field(pattern="^[a-z]+$")],
    tags: Annotated[list[str], Field(min_length=1, max_length=3)],
    address: Address,
    labels: dict[str, int],
    urgent: bool,
    when: datetime,
    note: Annotated[str, Field(max_length=20)] = "none",
    parent: int | None = None,
) -> str:
    """Has a parameter of each usual type."""
    return "fits"


if __name__ == "__main__":
    plugin.run()
