"""What a function returns, as a result."""

from __future__ import annotations

import inspect
from typing import Any

from toolhost.errors import Internal
from toolhost.result import Content, Effect, Json, Result, Text


def result_of(value: Any) -> Result:
    """Return a result. Raises Internal if the value has no JSON form, which is the tool's fault.

    A Result, a block of content and a list of blocks are what they are, a text is a block of text, None is nothing, and
    anything else is one block of JSON.
    """
    match value:
        case None:
            return Result()
        case Result():
            return _well_formed(value)
        case str():
            return Result(Text(value))
        case list() | tuple() if value and all(isinstance(block, Content) for block in value):
            return _well_formed(Result(value))
        case _ if isinstance(value, Content):
            return _well_formed(Result(value))
    if inspect.iscoroutine(value):
        value.close()  # else Python complains that nobody awaits it
        raise Internal("the tool returned a coroutine and not its result: make the function async, and await it there")
    try:
        return Result(Json(value))
    except (ValueError, TypeError) as problem:
        raise Internal(
            f"encoding the result of type {type(value).__name__}: {problem}; "
            "return text, blocks of content, or what pydantic can write as JSON"
        ) from problem


def _well_formed(result: Result) -> Result:
    """Check what a result holds. One that says that the call failed carries no effects."""
    for number, block in enumerate(result.content, 1):
        if not isinstance(block, Content):
            raise Internal(f"block {number} of the result is of type {type(block).__name__}, which is no content")
    effects = [] if result.is_error else result.effects
    for number, effect in enumerate(effects, 1):
        if not isinstance(effect, Effect) or not effect.key:
            raise Internal(f"effect {number} of the result has no key")
    return Result(
        result.content,
        is_error=result.is_error,
        effects=effects,
        usage=result.usage,
        cost=result.cost,
        metadata=result.metadata,
        duration=result.duration,
    )
