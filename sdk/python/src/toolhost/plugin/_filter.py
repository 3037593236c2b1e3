"""Filters: functions that toolhost runs before and after calls of tools of any plugin."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolhost import _wire
from toolhost._proto.toolhost.tool.v1 import result_pb2
from toolhost.errors import Internal
from toolhost.plugin._call import Call
from toolhost.plugin._output import result_of
from toolhost.plugin._run import Bound
from toolhost.plugin._signature import DeclarationError
from toolhost.result import Json, Result

_RESERVED = "toolhost."


@dataclass(frozen=True)
class FilterCall:
    """A call that a filter examines.

    Modifying the fields has no effect; the return value of the filter has.
    """

    call_id: str | None
    """The id of the filtered call. None if it has none."""
    principal: str
    """The identity of the caller."""
    session: str | None
    """The session of the filtered call. None if it has none."""
    tool: str
    plugin: str
    """The plugin that ships the tool."""
    arguments: Any
    """Before the call, the arguments of the caller or of the previous filter. After the call, the
    executed arguments."""
    result: Result
    """The result of the tool. Empty before the call."""


@dataclass(frozen=True)
class DenyCall:
    """Prevents the call, which then ends with an error of kind `denied`.

    The caller receives the reason.
    """

    reason: str


@dataclass
class Filter:
    """A filter: one function for each phase in which toolhost runs it."""

    name: str
    description: str
    before: Callable[[FilterCall], Any] | None = None
    after: Callable[[FilterCall], Any] | None = None

    def open(self, call: Call) -> Bound:
        """Return what handles one request."""
        question: dict[str, Any] = {}

        def bind(text: bytes) -> dict[str, Any]:
            try:
                question.update(json.loads(text))
            except ValueError as problem:
                raise Internal(f"decoding the request of a filter: {problem}") from problem
            if question.get("phase") not in ("before", "after"):
                raise Internal(f"decoding the request of a filter: there is no phase {question.get('phase')!r}")
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
    """Raise DeclarationError for wrong parameters, or if only one of the functions is async."""
    for function in (before, after):
        try:
            _ = function and inspect.signature(function).bind(None)
        except TypeError as problem:
            raise DeclarationError(f'filter "{name}": its function must take one FilterCall ({problem})') from None
    if before and after and inspect.iscoroutinefunction(before) != inspect.iscoroutinefunction(after):
        raise DeclarationError(
            f'filter "{name}": one of its functions is async and the other is not; make both the same'
        )


def _call_of(question: Mapping[str, Any]) -> FilterCall:
    result = Result()
    if question.get("result") is not None:
        from google.protobuf import json_format  # noqa: PLC0415 - only filters need it

        try:
            message = json_format.ParseDict(question["result"], result_pb2.Result(), ignore_unknown_fields=True)
        except json_format.ParseError as problem:
            raise Internal(f"decoding the request of a filter: {problem}") from problem
        result = _wire.to_result(message)
    return FilterCall(
        call_id=question.get("call_id") or None,
        principal=question.get("principal", ""),
        session=question.get("session") or None,
        tool=question.get("tool", ""),
        plugin=question.get("plugin", ""),
        arguments=question.get("arguments"),
        result=result,
    )


def _answer(phase: str, answer: Any) -> Result:
    """Convert the return value of a filter function to the result that toolhost expects."""
    match answer:
        case None:
            return Result()
        case DenyCall() if phase == "before":
            return Result(Json({"deny": answer.reason}))
        case Result():
            return Result(Json({"answer" if phase == "before" else "result": _as_json(answer)}))
        case Mapping() if phase == "before":
            return Result(Json({"arguments": answer}))
    allowed = "None, a DenyCall, a Result, or a mapping of arguments" if phase == "before" else "None or a Result"
    raise Internal(f"the filter returned {type(answer).__name__}; {phase} the call it must return {allowed}")


def _as_json(result: Result) -> Any:
    from google.protobuf import json_format  # noqa: PLC0415 - only filters need it

    well_formed = result_of(result)
    for key in [key for key in well_formed.metadata if key.startswith(_RESERVED)]:
        del well_formed.metadata[key]
    return json_format.MessageToDict(_wire.from_result(well_formed))
