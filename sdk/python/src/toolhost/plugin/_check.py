"""Checks: functions that say what became of an earlier call."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from toolhost.errors import Internal
from toolhost.plugin._context import AsyncContext, Context
from toolhost.plugin._output import result_of
from toolhost.plugin._signature import DeclarationError, Signature, hints_of
from toolhost.settlement import Settlement, Verdict

Settle = Callable[..., Settlement] | Callable[..., Awaitable[Settlement]]
"""Says what became of an earlier call; see `Plugin.tool`. It may be async."""


def parameters_of(check: Callable[..., Any], tool: Callable[..., Any], *, method: bool) -> tuple[list[str], str, Any]:
    """Return the arguments that a check takes, its parameter for the context, and the class of that.

    Raises DeclarationError if the check takes anything that the tool does not.
    """
    if not callable(check):
        raise DeclarationError(f"settle must be a function, not {check!r}")
    known = list(inspect.signature(tool).parameters.values())[int(method) :]
    anything = any(p.kind is p.VAR_KEYWORD for p in known)
    hints = hints_of(check)
    taken: list[str] = []
    context, context_type = "", None
    for name, parameter in inspect.signature(check).parameters.items():
        if hints.get(name) in (Context, AsyncContext):
            context, context_type = name, hints[name]
        elif parameter.kind is parameter.VAR_KEYWORD or anything or name in {p.name for p in known}:
            taken.append("*" if parameter.kind is parameter.VAR_KEYWORD else name)
        elif parameter.default is parameter.empty:
            raise DeclarationError(f"its check has the parameter {name!r}, which the tool does not have")
    return taken, context, context_type


def chosen(taken: list[str], signature: Signature, text: bytes) -> dict[str, Any]:
    """Return the arguments in a text that a check takes. Raises ToolError."""
    arguments = signature.bind(text)
    return arguments if "*" in taken else {name: value for name, value in arguments.items() if name in taken}


def settlement_of(value: Any, **encoding: Any) -> Settlement:
    """Return what a check returned, with a result that can be encoded. Raises Internal.

    `encoding` are the options of `result_of`.
    """
    if inspect.iscoroutine(value):
        value.close()  # otherwise Python warns about a coroutine without await
        raise Internal("it returned a coroutine; make it async and await the coroutine in it")
    if not isinstance(value, Settlement):
        raise Internal(f"it returned {type(value).__name__}; it must return a Settlement")
    if not isinstance(value.verdict, Verdict) or not isinstance(value.reason, str):
        raise Internal(f"it returned {value!r}, whose verdict or reason is of a wrong type")
    result = None
    if value.verdict is Verdict.HAPPENED and value.result is not None:
        result = result_of(value.result, **encoding)
    return Settlement(value.verdict, result, value.reason)
