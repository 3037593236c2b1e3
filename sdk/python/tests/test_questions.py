"""Tools that ask a person or a model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from toolhost.errors import NotFound, RateLimited, ToolhostError, Unsupported
from toolhost.plugin import AsyncContext, Context, ModelMessage, ModelQuestion, ModelRole, Plugin, Text, ToolError
from toolhost.question import Action, Answer, ModelAnswer, PersonAnswer, PersonQuestion
from toolhost.testing import AsyncHost, Host

plugin = Plugin("asking", "1.0.0")

SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@plugin.tool
async def pick(call: AsyncContext) -> str:
    """Ask which one."""
    answer = await call.ask("Which one?", SCHEMA, timeout=60)
    return "nothing" if answer is None else f"picked {answer['name']}"


@plugin.tool
def pick_blocking(call: Context) -> str:
    """Ask which one, in a thread."""
    answer = call.ask("Which one?", SCHEMA)
    return "nothing" if answer is None else f"picked {answer['name']}"


@plugin.tool
async def summarize(call: AsyncContext, text: str) -> str:
    """Summarize with the caller's model."""
    message = ModelMessage(ModelRole.USER, [Text(text)])
    return (await call.complete(ModelQuestion([message], system="Be brief.", max_tokens=10))).text


@plugin.tool
async def pick_both(call: AsyncContext) -> str:
    """Ask two questions at the same time."""
    first, second = await asyncio.gather(call.ask("first"), call.ask("second"))
    if first is None or second is None:
        raise ToolError("no answer")
    return f"{first['answer']} {second['answer']}"


def test_a_person_answers() -> None:
    asked: list[Any] = []

    def answer(question: Any) -> Answer:
        asked.append(question)
        return PersonAnswer(Action.ACCEPT, {"name": "red"})

    with Host(plugin) as host:
        assert host.call("pick", answer=answer).text == "picked red"
        assert host.call("pick_blocking", answer=answer).text == "picked red"
        assert host.call("pick", answer=lambda _: PersonAnswer(Action.DECLINE)).text == "nothing"
        assert host.call("pick", answer=lambda _: PersonAnswer(Action.DISMISS)).text == "nothing"
    assert asked[0] == PersonQuestion("Which one?", SCHEMA, 60)


def test_a_model_answers() -> None:
    def answer(question: Any) -> Answer:
        assert (question.system, question.max_tokens) == ("Be brief.", 10)
        return ModelAnswer([Text(question.messages[0].content[0].text.upper())], "m1")

    with Host(plugin) as host:
        assert host.call("summarize", {"text": "long"}, answer=answer).text == "LONG"


def test_two_questions_at_once() -> None:
    async def run() -> str:
        async with AsyncHost(plugin) as host:

            def answer(question: Any) -> Answer:
                return PersonAnswer(Action.ACCEPT, {"answer": question.message})

            return (await host.call("pick_both", answer=answer)).text

    assert asyncio.run(run()) == "first second"


@pytest.mark.parametrize("failure", [RateLimited("the budget is used up"), NotFound("gone")])
def test_an_error_reaches_the_tool(failure: ToolhostError) -> None:
    with Host(plugin) as host:
        assert isinstance(host.call("pick", answer=lambda _: failure).error, type(failure))


def test_a_call_that_may_not_ask() -> None:
    with Host(plugin) as host:
        for tool, arguments in {"pick": {}, "pick_blocking": {}, "summarize": {"text": "a"}}.items():
            assert isinstance(host.call(tool, arguments).error, Unsupported)
