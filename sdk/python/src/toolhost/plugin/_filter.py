"""Filters: functions that toolhost asks around calls of tools, also of other plugins' tools."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolhost import _wire
from toolhost.errors import Internal
from toolhost.plugin._call import Call
from toolhost.plugin._output import result_of
from toolhost.plugin._run import Bound
from toolhost.plugin._signature import DeclarationError
from toolhost.proto.toolhost.tool.v1 import result_pb2
from toolhost.result import Json, Result

_RESERVED = "toolhost."


@dataclass(frozen=True)
class FilterCall:
    """A call as a filter sees it. What it does to the fields changes nothing; what it returns does."""

    call_id: str
    """The id of the call that is filtered. Empty if it has none."""
    principal: str
    """Who calls."""
    session: str
    """Empty if there is none."""
    tool: str
    plugin: str
    """The plugin that ships the tool."""
    arguments: Any
    """Before the call as the caller, or the filter before, gave them; after it as they were executed."""
    result: Result
    """What the tool answered. Empty before the call."""


@dataclass(frozen=True)
class Deny:
    """Keeps a call from being made: it ends with an error of kind denied. The caller is told the reason."""

    reason: str


@dataclass
class Filter:
    """A filter: a function for each phase in which it is asked."""

    name: str
    description: str
    before: Callable[[FilterCall], Any] | None = None
    after: Callable[[FilterCall], Any] | None = None

    def open(self, call: Call) -> Bound:
        """Return what serves one question."""
        question: dict[str, Any] = {}

        def bind(text: bytes) -> dict[str, Any]:
            try:
                question.update(json.loads(text))
            except ValueError as problem:
                raise Internal(f"decoding a filter's question: {problem}") from problem
            if question.get("phase") not in ("before", "after"):
                raise Internal(f"decoding a filter's question: there is no phase {question.get('phase')!r}")
            return {}

        if inspect.iscoroutinefunction(self.before) or inspect.iscoroutinefunction(self.after):

            async def ask_async() -> Result:
                function = self.before if question["phase"] == "before" else self.after
                answer = function(_call_of(question)) if function else None
                if inspect.isawaitable(answer):
                    answer = await answer
                return _answer(question["phase"], answer)

            return Bound(ask_async, bind)

        def ask() -> Result:
            function = self.before if question["phase"] == "before" else self.after
            return _answer(question["phase"], function(_call_of(question)) if function else None)

        return Bound(ask, bind)


def check_phases(name: str, before: Any, after: Any) -> None:
    """Refuse a filter whose functions take something else, or of which one function is async and the other is not."""
    for function in (before, after):
        try:
            _ = function and inspect.signature(function).bind(None)
        except TypeError as problem:
            raise DeclarationError(f'filter "{name}": its function must take one FilterCall ({problem})') from None
    if before and after and inspect.iscoroutinefunction(before) != inspect.iscoroutinefunction(after):
        raise DeclarationError(f'filter "{name}": of its functions one is async and the other is not')


def _call_of(question: Mapping[str, Any]) -> FilterCall:
    result = Result()
    if question.get("result") is not None:
        from google.protobuf import json_format  # noqa: PLC0415 - plugins start without it

        try:
            message = json_format.ParseDict(question["result"], result_pb2.Result(), ignore_unknown_fields=True)
        except json_format.ParseError as problem:
            raise Internal(f"decoding a filter's question: {problem}") from problem
        result = _wire.to_result(message)
    words = {key: question.get(key, "") for key in ("call_id", "principal", "session", "tool", "plugin")}
    return FilterCall(**words, arguments=question.get("arguments"), result=result)


def _answer(phase: str, answer: Any) -> Result:
    """Return the result of a filter's call, for what its function returned."""
    match answer:
        case None:
            return Result()
        case Deny() if phase == "before":
            return Result(Json({"deny": answer.reason}))
        case Result():
            return Result(Json({"answer" if phase == "before" else "result": _as_json(answer)}))
        case Mapping() if phase == "before":
            return Result(Json({"arguments": answer}))
    allowed = "None, a Deny, a Result or the arguments, a mapping" if phase == "before" else "None or a Result"
    raise Internal(f"the filter returned {type(answer).__name__}; {phase} the call it returns {allowed}")


def _as_json(result: Result) -> Any:
    from google.protobuf import json_format  # noqa: PLC0415 - plugins start without it

    well_formed = result_of(result)
    for key in [key for key in well_formed.metadata if key.startswith(_RESERVED)]:
        del well_formed.metadata[key]
    return json_format.MessageToDict(_wire.from_result(well_formed))
