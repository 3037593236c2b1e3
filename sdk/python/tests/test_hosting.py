"""The test hosts: hooks, output schemas, asyncio, and the client for code under test."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from toolhost.client import AsyncToolCaller, ToolCaller
from toolhost.errors import NotFound, Unavailable
from toolhost.plugin import AsyncContext, DeclarationError, Json, Plugin
from toolhost.testing import AsyncHost, Host


@dataclass
class Forecast:
    city: str
    days: int


def weather() -> tuple[Plugin, list[str]]:
    """A plugin with hooks, and what its hooks recorded."""
    plugin, happened = Plugin("weather", "1.0.0"), list[str]()

    @plugin.on_startup
    async def open_pool() -> None:
        happened.append("open pool")

    @plugin.on_startup
    def read_file() -> None:
        happened.append("read file")

    @plugin.on_shutdown
    async def close_pool() -> None:
        happened.append("close pool")

    @plugin.on_shutdown
    def breaks() -> None:
        raise OSError("the disk is gone")

    @plugin.tool(read_only=True, tags=["sky"])
    def forecast(city: str, days: int = 1) -> Forecast:
        """Return a forecast."""
        if city == "Atlantis":
            raise Unavailable("the station is down", retry_after=2)
        return Forecast(city, days)

    @plugin.tool(output_schema={"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}})
    def count(n: int) -> Json:
        """Return a number."""
        return Json({"n": n})

    @plugin.tool
    async def waits(ctx: AsyncContext) -> None:
        """Wait for the end of the call."""
        await ctx.status("waiting")
        await asyncio.Event().wait()

    return plugin, happened


def test_hooks_run_around_the_calls() -> None:
    plugin, happened = weather()
    with Host(plugin) as host:
        assert happened == ["open pool", "read file"]
        assert host.call("forecast", {"city": "Oslo"}).value_as(Forecast) == Forecast("Oslo", 1)
    assert happened == ["open pool", "read file", "close pool"]


def test_a_startup_hook_that_fails() -> None:
    plugin = Plugin("weather")

    @plugin.on_startup
    def fails() -> None:
        raise OSError("there is no disk")

    with pytest.raises(OSError, match="there is no disk"):
        Host(plugin)


def test_a_hook_with_parameters_is_no_hook() -> None:
    with pytest.raises(DeclarationError, match="without arguments"):
        Plugin("weather").on_startup(lambda city: city)


def test_a_result_must_fit_the_output_schema() -> None:
    plugin, _ = weather()
    with Host(plugin) as host:
        assert host.call("count", {"n": 1}).value == {"n": 1}
        with pytest.raises(AssertionError, match="n: must be at least 1"):
            host.call("count", {"n": 0})


def advise(toolhost: ToolCaller, city: str) -> str:
    """A function under test: it takes any client."""
    names = [tool.name for tool in toolhost.list_tools(tags=["sky"])]
    outcome = toolhost.call(names[0], {"city": city}, call_id="c-1", session="s")
    return f"{outcome.plugin} {outcome.call_id} {outcome.value_as(Forecast).city}"


async def advise_async(toolhost: AsyncToolCaller, city: str) -> str:
    info = await toolhost.get_tool("forecast")
    return f"{info.plugin_version} {(await toolhost.call('forecast', {'city': city})).value_as(Forecast).city}"


def test_the_client_for_code_under_test() -> None:
    plugin, _ = weather()
    with Host(plugin) as host:
        assert advise(host.client, "Oslo") == "weather c-1 Oslo"
        with pytest.raises(Unavailable) as raised:
            advise(host.client, "Atlantis")
        assert raised.value.retry_after == 2
        with pytest.raises(NotFound):
            host.client.get_tool("nosuch")


def test_asyncio() -> None:
    async def test() -> None:
        plugin, happened = weather()
        async with AsyncHost(plugin) as host:
            assert await advise_async(host.client, "Oslo") == "1.0.0 Oslo"
            results = await asyncio.gather(*(host.call("forecast", {"city": "Oslo", "days": n}) for n in range(3)))
            assert [result.value_as(Forecast).days for result in results] == [0, 1, 2]
            waiting = host.stream("waits")
            waiting.complete({})
            await waiting.wait_status(lambda status: status.message == "waiting")
            waiting.cancel("enough")
            assert str((await waiting.wait()).error) == "the call was cancelled: enough"
        assert happened[-1] == "close pool"

    asyncio.run(test())
