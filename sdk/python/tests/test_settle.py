"""Checks: what became of an earlier call."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from toolhost._proto.toolhost.plugin.v1 import plugin_pb2 as pb
from toolhost.errors import Cancelled, Internal, NotFound, Timeout, ToolhostError, Unavailable, Unsupported
from toolhost.plugin import (
    AsyncContext,
    Context,
    DeclarationError,
    ModelQuestion,
    Plugin,
    Result,
    Settlement,
    Text,
    ToolError,
    Verdict,
)
from toolhost.testing import AsyncHost, Host, HostCallOptions

CALL: HostCallOptions = {"call_id": "c-1", "session": "s", "workspace": "/w", "secrets": {"bank": "key", "other": "x"}}


def payer(check: Any, **options: Any) -> Plugin:
    """A plugin with a tool that must not be executed, and with one that has no check."""
    plugin = Plugin("bank", "1.0.0")

    @plugin.tool(settle=check, requires_auth=["bank"], **options)
    def pay(amount: int, to: str = "ada") -> str:
        """Pay."""
        raise AssertionError(f"the call was executed: {amount} {to}")

    @plugin.tool
    def gamble(amount: int) -> str:
        """Pay too."""
        raise AssertionError(f"the call was executed: {amount}")

    return plugin


def seen(context: Context | AsyncContext) -> None:
    assert (context.call_id, context.session, str(context.workspace)) == ("c-1", "s", "/w")
    assert dict(context.secrets) == {"bank": "key"}


def test_a_check_answers() -> None:
    says = Settlement()

    def check(amount: int, to: str, context: Context) -> Settlement:
        assert (amount, to) == (3, "ada")
        seen(context)
        context.status("nobody sees this")
        return says

    async def check_async(context: AsyncContext, amount: int) -> Settlement:
        assert amount == 3
        seen(context)
        await context.progress(1)
        return says

    for function in (check, check_async):
        with Host(payer(function)) as host:
            specs = host.describe()
            assert specs["pay"].settles
            assert not specs["gamble"].settles
            for says in (
                Settlement.happened(reason="found"),
                Settlement.did_not_happen(reason="not found"),
                Settlement.unknown(reason="half"),
                Settlement(),
            ):
                assert host.settle("pay", {"amount": 3}, **CALL) == says
            for result in ("paid", Text("paid"), Result("paid")):
                says = Settlement.happened(result)
                assert cast("Result", host.settle("pay", {"amount": 3}, **CALL).result).text == "paid"
            says = Settlement(Verdict.UNKNOWN, "paid")
            assert host.settle("pay", {"amount": 3}, **CALL).result is None


def test_the_answer_has_bounds() -> None:
    plugin = payer(lambda: Settlement.happened("x" * (2 << 20), reason="ä" * 5000))
    with Host(plugin) as host:
        got = host.settle("pay", {"amount": 3})
    assert got.verdict is Verdict.HAPPENED
    assert got.result is None
    assert len(got.reason.encode()) <= 1 << 10


def paid() -> Settlement:
    return Settlement.happened()


def fails() -> Settlement:
    raise ValueError("no line")


def leaves() -> Settlement:
    raise SystemExit(3)


def unavailable() -> Settlement:
    raise Unavailable("no line")


def refuses() -> Settlement:
    raise ToolError("no line")


def asks(context: Context) -> Settlement:
    context.ask("Did it?")
    return Settlement.happened()


def asks_model(context: Context) -> Settlement:
    context.complete(ModelQuestion([]))
    return Settlement.happened()


def reads(context: Context) -> Settlement:
    context.read_artifact("a")
    return Settlement.happened()


@pytest.mark.parametrize(
    ("check", "failure", "says"),
    [
        (fails, Internal, "no line"),
        (leaves, Internal, "SystemExit"),
        (unavailable, Unavailable, "no line"),
        (refuses, Internal, "no line"),
        (lambda: "happened", Internal, "it returned str"),
        (lambda: None, Internal, "it returned NoneType"),
        (lambda: asyncio.sleep(0), Internal, "a coroutine"),
        (lambda: Settlement(cast("Any", "happened")), Internal, "of a wrong type"),
        (asks, Unsupported, "cannot ask"),
        (asks_model, Unsupported, "cannot ask"),
        (reads, Unsupported, "cannot read artifacts"),
    ],
)
def test_a_check_fails(check: Callable[..., Any], failure: type[ToolhostError], says: str) -> None:
    with Host(payer(check)) as host, pytest.raises(failure, match=says):
        host.settle("pay", {"amount": 3}, artifacts={"a": Text("x")}, answer=lambda _: NotFound("no"))


def test_no_check_executes_nothing() -> None:
    plugin = payer(paid)

    @plugin.before
    def guard(call: Any) -> None:
        raise AssertionError("the filter ran")

    with Host(plugin) as host:
        for name in ("gamble", "guard"):
            with pytest.raises(Unsupported, match=name):
                host.settle(name, {"amount": 3})
        with pytest.raises(NotFound):
            host.settle("other", {})
        with pytest.raises(Internal, match="amount"):
            host.settle("pay", {"amount": "much"})


def test_a_check_that_hangs() -> None:
    begun = threading.Event()

    async def hangs_async() -> Settlement:
        begun.set()
        await asyncio.Event().wait()
        return Settlement.happened()

    def hangs(context: Context) -> Settlement:
        begun.set()
        context.cancelled.wait()
        context.raise_if_cancelled()
        return Settlement.happened()

    for check in (hangs_async, hangs):
        with Host(payer(check)) as host, pytest.raises(Timeout):
            host.settle("pay", {"amount": 3}, timeout=0.01)

    async def cancelled(check: Any) -> None:
        begun.clear()
        async with AsyncHost(payer(check)) as host:
            asked = asyncio.create_task(host.settle("pay", {"amount": 3}))
            await asyncio.to_thread(begun.wait)
            host._opened().take(pb.ConnectRequest(call=1, cancel=pb.CancelCall()))
            with pytest.raises(Cancelled):
                await asked

    for check in (hangs_async, hangs):
        asyncio.run(cancelled(check))


def test_a_class_and_any_arguments() -> None:
    plugin = Plugin("p", "1.0.0")

    def check(text: str) -> Settlement:
        return Settlement.unknown(reason=text)

    @plugin.tool(settle=check, name="edit")
    class Edit:
        """Edit."""

        def __init__(self) -> None:
            raise AssertionError("an object was made")

        def call(self, text: str, at: int = 0) -> str:
            return f"{text} {at}"

    def check_any(**arguments: Any) -> Settlement:
        return Settlement.unknown(reason=",".join(arguments))

    @plugin.tool(settle=check_any)
    def anything(**arguments: Any) -> str:
        """Take anything."""
        raise AssertionError(arguments)

    with Host(plugin) as host:
        assert host.settle("edit", {"text": "hello"}).reason == "hello"
        assert host.settle("anything", {"a": 1, "b": 2}).reason == "a,b"


def wrong_parameter(amount: int, color: str) -> Settlement:
    return Settlement.unknown(reason=f"{amount}{color}")


def wrong_context(context: AsyncContext) -> Settlement:
    return Settlement.unknown(reason=context.call_id)


@pytest.mark.parametrize(
    ("check", "options", "says"),
    [
        (paid, {"read_only": True}, "a call that changes nothing needs none"),
        (wrong_parameter, {}, "'color', which the tool does not have"),
        (wrong_context, {}, "must be of type Context"),
        (7, {}, "settle must be a function"),
    ],
)
def test_a_wrong_declaration(check: Any, options: Any, says: str) -> None:
    with pytest.raises(DeclarationError, match=says):
        payer(check, **options)


def test_a_check_seals() -> None:
    keys: list[str] = []

    def check(context: Context) -> Settlement:
        keys.append(context.effect_key)
        return Settlement.did_not_happen()

    plugin = payer(check, seals=True)
    with Host(plugin) as host:
        specs = host.describe()
        assert (specs["pay"].seals, specs["gamble"].seals) == (True, False)
        assert host.settle("pay", {"amount": 3}, **CALL).verdict is Verdict.DID_NOT_HAPPEN
    assert keys == ["c-1"]


def test_only_a_check_seals() -> None:
    plugin = Plugin("bank", "1.0.0")
    with pytest.raises(DeclarationError, match="seals, but has no check"):

        @plugin.tool(seals=True)
        def pay() -> None:
            """Pay."""
