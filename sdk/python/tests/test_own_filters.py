"""Filters that a plugin applies to its own tools."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from toolhost.errors import Denied, Internal, Unavailable
from toolhost.plugin import DeclarationError, DenyCall, FilterCall, Plugin, Result
from toolhost.testing import AsyncHost, Host


def bank() -> Plugin:
    """Return a plugin whose filters change what its tool gets and returns."""
    plugin = Plugin("bank")

    @plugin.before(name="outer", tools=["read"])
    def number(call: FilterCall) -> DenyCall | dict[str, Any] | Result | None:
        assert (call.tool, call.plugin, call.session) == ("read", "bank", "s")
        match call.arguments.get("number"):
            case "root":
                return DenyCall("not this one")
            case "cached":
                return Result("from the cache")
            case "broken":
                raise ValueError("no idea")
            case str() as given:
                return {"number": given.lstrip("#")}
            case _:
                return None

    @plugin.after(name="outer")
    def outer(call: FilterCall) -> Result:
        return Result(f"{call.result.text} outer")

    @plugin.after(name="inner", tools=["read"])
    def inner(call: FilterCall) -> Result | None:
        assert call.arguments != {"number": "late"}
        return Result(f"{call.result.text} inner")

    @plugin.after(name="free")
    def free(call: FilterCall) -> Result:
        raise AssertionError("no configuration names this filter")

    @plugin.tool
    def read(number: str) -> str:
        """Read an account."""
        if number == "closed":
            raise Unavailable("the bank is closed")
        return f"account {number}"

    @plugin.tool
    def ping() -> str:
        """Say that it is there."""
        return "there"

    return plugin


def test_calls_pass_own_filters() -> None:
    with Host(bank()) as host:
        assert host.call("read", {"number": "#7"}, session="s").text == "account 7 inner outer"
        assert host.call("ping").text == "there"
        assert host.call("read", "{", session="s").is_error  # what is not JSON reaches no filter
        for number, error, message in (
            ("root", Denied, 'the filter "outer" denied the call: not this one'),
            ("cached", Internal, 'the filter "outer" returned a Result before the call of the tool "read"'),
            ("broken", Unavailable, 'the filter "outer" failed: .*no idea'),
            ("late", Unavailable, 'the filter "inner" failed: .*'),
            ("closed", Unavailable, "the bank is closed"),
        ):
            with pytest.raises(error, match=message):
                _ = host.call("read", {"number": number}, session="s").text


def test_calls_of_an_async_host_pass_own_filters() -> None:
    async def call() -> str:
        async with AsyncHost(bank()) as host:
            return (await host.call("read", {"number": "#7"}, session="s")).text

    assert asyncio.run(call()) == "account 7 inner outer"


def test_a_declaration_names_the_tools() -> None:
    described = {known.name: list(known.tools) for known in bank()._describe().filters}
    assert described == {"outer": ["read"], "inner": ["read"], "free": []}


def look(call: FilterCall) -> None: ...


def test_what_is_wrong_with_the_tools_of_filters() -> None:
    plugin = Plugin("p")
    with pytest.raises(DeclarationError, match=r"filter \"f\": tools must be a list, such as \['read'\]"):
        plugin.before(name="f", tools="read")(look)
    with pytest.raises(DeclarationError, match='filter "f": tools names a tool twice'):
        plugin.before(name="f", tools=["read", "read"])(look)
    plugin.before(name="g", tools=["read"])(look)
    with pytest.raises(DeclarationError, match='filter "g": its functions name different tools; name them once'):
        plugin.after(name="g", tools=["write"])(look)


def test_a_filter_of_a_tool_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    plugin = bank()
    plugin.after(name="wrong", tools=["raed"])(look)
    problem = 'filter "wrong": it applies to the tool "raed", which the plugin does not have'
    with pytest.raises(DeclarationError, match=problem):
        Host(plugin)
    assert plugin._run(["--describe"]) == 1
    assert problem in capsys.readouterr().err


def test_too_many_filters_of_a_tool() -> None:
    plugin = Plugin("p")

    @plugin.tool
    def read() -> str:
        """Read."""
        return ""

    for number in range(8):
        plugin.after(name=f"f{number}", tools=["read"])(look)
    with Host(plugin) as host:
        assert host.call("read").text == ""
    plugin.after(name="one_more", tools=["read"])(look)
    with pytest.raises(DeclarationError, match='more than 8 filters of the plugin apply to its tool "read"'):
        Host(plugin)
