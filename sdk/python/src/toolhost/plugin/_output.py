"""Conversion of the return value of a tool to a result."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, TypeGuard, cast

from toolhost.errors import Internal
from toolhost.result import Artifact, Content, Effect, File, Image, Json, Result, Text


def result_of(value: Any) -> Result:
    """Convert a return value. Raises Internal if JSON cannot represent it.

    A Result, a block and a list of blocks stay as they are. A str becomes a block of text, None an
    empty result, and any other value one block of JSON.
    """
    match value:
        case None:
            return Result()
        case Result():
            return _well_formed(value)
        case str():
            return Result(Text(value))
        case Text() | Json() | Image() | File() | Artifact():
            return _well_formed(Result(value))
        case _ if _are_blocks(value):
            return _well_formed(Result(value))
        case _:
            pass
    if inspect.iscoroutine(value):
        value.close()  # otherwise Python warns about a coroutine without await
        raise Internal(
            "the tool returned a coroutine instead of a result; make the function async and await the coroutine in it"
        )
    try:
        return Result(Json(value))
    except (ValueError, TypeError) as problem:
        raise Internal(
            f"encoding the result of type {type(value).__name__}: {problem}; "
            "return text, blocks of content, or a value that pydantic can encode as JSON"
        ) from problem


def _are_blocks(value: Any) -> TypeGuard[Sequence[Content]]:
    """Report whether a value is a list of blocks. An empty list is a value."""
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(isinstance(block, Content) for block in cast("Sequence[Any]", value))


def _well_formed(result: Result) -> Result:
    """Check the content and effects of a result, and discard the effects of a failed call."""
    for number, block in enumerate(result.content, 1):
        if not isinstance(block, Content):
            raise Internal(f"block {number} of the result is of type {type(block).__name__}, which is not content")
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
