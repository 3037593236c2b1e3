"""Filters: functions that toolhost runs before and after calls of tools of any plugin."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Mapping, Sequence
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
_MAX_OWN = 8  # filters of its own plugin that calls of a tool may pass


@dataclass(frozen=True)
class FilterCall:
    """A call that a filter examines.

    Modifying the fields has no effect; the return value of the filter has.
    """

    call_id: str | None
    """The id of the filtered call. None if it has none."""
    principal: str
    """The identity of the caller.

    For a tool in `tools` of the filter, it is empty unless the tool declares the context key
    `toolhost.principal`.
    """
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
    tools: tuple[str, ...] = ()
    """The tools of the same plugin whose calls always pass the filter."""

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


def tools_of(known: Filter, tools: Sequence[str]) -> tuple[str, ...]:
    """Return the tools of a filter, one of whose functions names tools.

    Raises DeclarationError if it names them wrongly, or names others than the other function.
    """
    if isinstance(tools, str):
        raise DeclarationError(f'filter "{known.name}": tools must be a list, such as [{tools!r}]')
    named = tuple(tools)
    if len(set(named)) < len(named):
        raise DeclarationError(f'filter "{known.name}": tools names a tool twice')
    if known.tools and named and known.tools != named:
        raise DeclarationError(f'filter "{known.name}": its functions name different tools; name them once')
    return known.tools or named


def check_tools(filters: Collection[Filter], tools: Collection[str]) -> None:
    """Raise DeclarationError if a filter names a tool that the plugin does not have, or a tool has too many."""
    counts: dict[str, int] = {}
    for known in filters:
        for name in known.tools:
            if name not in tools:
                raise DeclarationError(
                    f'filter "{known.name}": it applies to the tool "{name}", which the plugin does not have'
                )
            counts[name] = counts.get(name, 0) + 1
            if counts[name] > _MAX_OWN:
                raise DeclarationError(f'more than {_MAX_OWN} filters of the plugin apply to its tool "{name}"')


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
        case _:
            pass
    allowed = "None, a DenyCall, a Result, or a mapping of arguments" if phase == "before" else "None or a Result"
    raise Internal(f"the filter returned {type(answer).__name__}; {phase} the call it must return {allowed}")


def _as_json(result: Result) -> Any:
    from google.protobuf import json_format  # noqa: PLC0415 - only filters need it

    well_formed = result_of(result)
    for key in [key for key in well_formed.metadata if key.startswith(_RESERVED)]:
        del well_formed.metadata[key]
    return json_format.MessageToDict(_wire.from_result(well_formed))
