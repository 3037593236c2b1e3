"""Tools for further tests: threads, artifacts, filters, dynamic tools, crashes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Annotated, Any

from toolhost.plugin import (
    AsyncContext,
    Context,
    DenyCall,
    FilterCall,
    Plugin,
    Result,
    State,
    Text,
    Variant,
    Viewer,
)

print("printed before the handshake")

plugin = Plugin("extras", "0.1.0", description="What the fixture has not.")


@plugin.tool(read_only=True)
def wait_in_a_thread(ctx: Context) -> None:
    """Wait as a function does that is not async."""
    ctx.status("waiting", state=State.DOING)
    ctx.cancelled.wait()
    ctx.raise_if_cancelled()


@plugin.tool(read_only=True)
async def burst(ctx: AsyncContext) -> None:
    """Say many things at once."""
    for n in range(100):
        ctx.logger.info("line %d", n)


@plugin.tool(read_only=True)
def stuck(ctx: Context, seconds: float) -> str:
    """Heed nothing."""
    ctx.status("stuck", state=State.DOING)
    time.sleep(seconds)
    return "awake"


@plugin.tool(read_only=True)
def read_back(ctx: Context, handle: str) -> list[Any]:
    """Say what is in an artifact."""
    read = ctx.read_artifact(handle)
    return [read.size, read.media_type, len(read.data), read.data.decode()[-2:]]


@plugin.tool
def die(number: int = signal.SIGKILL) -> None:
    """End the process by a signal, in the middle of a call."""
    signal.raise_signal(number)


@plugin.tool(read_only=True)
def exit_politely() -> None:
    """Call sys.exit, which must end the call alone."""
    sys.exit(3)


@plugin.tool(read_only=True)
def chatty(text: str) -> str:
    """Print on both streams, through Python and around it."""
    print("on stdout:", text)
    print("on stderr:", text, file=sys.stderr)
    subprocess.run(["/bin/echo", "by a child:", text], check=True)
    return text


@plugin.tool(dangerous=True)
def erase(path: str) -> str:
    """Erase what a person agreed to."""
    return f"erased {path}"


@dataclass
class Weather:
    city: str
    days: list[int]


@plugin.tool(read_only=True)
def forecast(city: Annotated[str, "the city's name"], days: int = 2) -> Weather:
    """Say how warm it will be."""
    return Weather(city, list(range(days)))


plugin.tool(read_only=True, name="guarded", description="Say it behind the guard's back.")(forecast)


def query_for(viewer: Viewer) -> Variant:
    tables = viewer.context.get("tables", ["none"])
    schema = {"type": "object", "properties": {"table": {"type": "string", "enum": tables}}, "required": ["table"]}
    return Variant(description=f"Read one of {len(tables)} tables.", input_schema=schema)


@plugin.tool(read_only=True, context_keys=["tables"], describe=query_for)
def query(table: str) -> str:
    """Read a table."""
    return f"rows of {table}"


@plugin.before()
def guard(call: FilterCall) -> DenyCall | dict[str, Any] | Result | None:
    """Keep calls from being made."""
    match call.arguments.get("city"):
        case "Atlantis":
            return DenyCall("there is no Atlantis")
        case "Christiania":
            return {**call.arguments, "city": "Oslo"}
        case "Null Island":
            return Result("it is wet")
    return None


@plugin.after(name="guard")
def mark(call: FilterCall) -> Result | None:
    """Mark results."""
    return Result([*call.result.content, Text(f"seen by the guard of {call.tool}")])


@plugin.tool(read_only=True)
def account(number: str) -> str:
    """Read an account."""
    return f"account {number}"


@plugin.after(name="mask", tools=["account"])
def mask(call: FilterCall) -> Result:
    """Keep numbers out of results."""
    return Result(f"masked {call.tool}")


if __name__ == "__main__":
    plugin.run()
