"""A plugin whose tools do whatever a test of toolhost.testing needs."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from toolhost.plugin import (
    AsyncContext,
    Context,
    Denied,
    Effect,
    Image,
    Json,
    Operation,
    Plugin,
    RateLimited,
    Result,
    State,
    Text,
    ToolError,
    Unavailable,
    Usage,
)

plugin = Plugin("tools")


class Point(BaseModel):
    x: int
    label: str = "?"


@dataclass
class Sized:
    size: Decimal


@plugin.tool
def typed(n: int, point: Point | None = None, flag: bool = False, many: list[str] | None = None) -> list[Any]:
    """Return what came."""
    return [n, None if point is None else point.model_dump(), flag, many]


@plugin.tool(strict=True)
def strict(n: int) -> int:
    """Return what came."""
    return n


@plugin.tool
def model(point: Point) -> Point:
    """Return what came."""
    return point


RETURNED: dict[str, Any] = {
    "text": "naïve 漢字 😀",
    "nothing": None,
    "value": {"ключ": [1, 2.5, None, True]},
    "list": [],
    "model": Point(x=1),
    "dataclass": Sized(Decimal("1.5")),
    "block": Image(b"\x00\xff", name="p.png"),
    "blocks": [Text("a"), Json([1])],
    "surrogate": "half \ud83d",
    "result": Result("x", cost=0.5, usage=Usage(1, 2), metadata={"k": [1]}, effects=[Effect("a", 1, Operation.APPEND)]),
    "failed": Result("x", is_error=True, effects=[Effect("a", 1)]),
    "nan": float("nan"),
    "object": object(),
    "odd block": Result([object()]),  # type: ignore[list-item]
    "no key": Result(effects=[Effect("", 1)]),
    "odd effect": Result(effects=[Effect("k", object())]),
}


async def never_awaited() -> None: ...


@plugin.tool
def returns(what: str) -> Any:
    """Return something."""
    return never_awaited() if what == "coroutine" else RETURNED[what]


@plugin.tool
def generates() -> Any:
    """Say in which threads the values are made."""
    return (threading.current_thread().name.split("_")[0] for _ in range(1))


RAISED: dict[str, BaseException] = {
    "tool": ToolError("no such street"),
    "silent": ToolError(),
    "unavailable": Unavailable("down", retry_after=1.5),
    "denied": Denied("no"),
    "rate": RateLimited("slowly"),
    "bug": ZeroDivisionError("by zero"),
    "wordless": KeyError(),
    "exit": SystemExit(3),
    "interrupt": KeyboardInterrupt(),
    "stop": StopIteration(1),
    "cancel": asyncio.CancelledError(),
    "timeout": TimeoutError("a socket's"),
}


@plugin.tool
def raises(what: str) -> None:
    """Raise something."""
    raise RAISED[what]


@plugin.tool
def opens(name: str, ctx: Context, machinery: bool = False) -> str:
    """Read a file of the workspace."""
    path = Path(ctx.workspace or "") / name
    if machinery:
        raise Unavailable(f"there is no {path}")
    return path.read_text()


@plugin.tool
async def raises_async(what: str) -> None:
    """Raise something."""
    if what in ("group", "groups"):
        group: Any = ExceptionGroup  # type: ignore[name-defined,unused-ignore]
        raise group("", [ToolError("within a group"), *([ValueError()] if what == "groups" else [])])
    raise RAISED[what]


@plugin.tool
def reports(ctx: Context) -> str:
    """Say how it stands."""
    ctx.status("began", parameters={"a": {"x": 1}})
    ctx.status(state=State.WAIT, message="back")
    ctx.progress(1, 2, "half")
    ctx.status(result=[1])
    ctx.logger.warning("careful: %d", 7, extra={"left": 2, "odd": {1}})
    return "done"


@plugin.tool
async def reports_end(ctx: AsyncContext) -> None:
    """Say how it ended."""
    await ctx.status(state=State.SUCCESS)
    await ctx.status("late")
    ctx.logger.error("it failed", exc_info=ValueError("why"))
    raise ToolError("failed all the same")


closed: list[str] = []


@plugin.tool
class Draft:
    """Draft a text."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    async def preview(self, so_far: dict[str, Any], ctx: AsyncContext) -> None:
        self.seen.append(so_far)
        await ctx.status(parameters=so_far)

    async def call(self, text: str, n: int = 0) -> Any:
        """Do it.

        Args:
            text: What to draft.
        """
        return {"text": text, "n": n, "seen": len(self.seen)}

    def close(self) -> None:
        closed.append("draft")


previewed = threading.Event()


@plugin.tool
class Blocking:
    """Draft in a thread."""

    def preview(self, so_far: dict[str, Any], ctx: Context) -> None:
        if so_far.get("text") == "bug":
            previewed.set()
            raise ZeroDivisionError
        ctx.status(parameters=so_far)

    def call(self, text: str, ctx: Context) -> str:
        return text


@plugin.tool
class Unopened:
    """Fail at once."""

    def __init__(self) -> None:
        raise ToolError("not today")

    def call(self) -> None: ...


@plugin.tool
async def waits(ctx: AsyncContext) -> None:
    """Wait."""
    await ctx.status("waiting")
    try:
        await asyncio.Event().wait()
    finally:
        closed.append("waits")


@plugin.tool
def waits_in_a_thread(ctx: Context) -> None:
    """Wait."""
    ctx.status("waiting")
    ctx.cancelled.wait()
    assert ctx.remaining() is None or ctx.remaining() == 0
    ctx.raise_if_cancelled()


@plugin.tool
async def yields_late(ctx: AsyncContext) -> str:
    """Answer although it is cancelled."""
    await ctx.status("waiting")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return "at least this"
    return ""


@plugin.tool(context_keys=["user"], requires_auth=["token"])
def knows(ctx: Context) -> dict[str, Any]:
    """Say what it knows."""
    return {
        "id": ctx.call_id,
        "attempt": ctx.attempt,
        "session": ctx.session,
        "workspace": str(ctx.workspace),
        "values": ctx.context,
        "secrets": dict(ctx.secrets),
        "trace": ctx.traceparent,
        "arguments": ctx.arguments.decode(),
        "limited": ctx.deadline is not None and 0 < ctx.deadline - time.monotonic() <= 50,
        "thread": threading.current_thread() is not threading.main_thread(),
    }


@plugin.tool
async def reads(ctx: AsyncContext, handle: str, offset: int = 0, limit: int | None = None) -> list[Any]:
    """Read an artifact."""
    first, second = await asyncio.gather(
        ctx.read_artifact(handle, offset, limit), ctx.read_artifact(handle, offset, limit)
    )
    assert first == second
    return [len(first.data), first.size, first.media_type, first.name, first.data[:2].decode()]
