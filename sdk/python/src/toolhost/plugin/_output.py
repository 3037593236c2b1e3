"""Conversion of the return value of a tool to a result."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard, cast

from pydantic import BaseModel, TypeAdapter

from toolhost._json import decode, encode
from toolhost.errors import Internal
from toolhost.result import Artifact, Content, Effect, File, Image, Json, Result, Text

_MAX_DEPTH = 64  # of the parts of a value that cannot be encoded
_MAX_OPENED = 1000  # parts of it that are taken apart
_MAX_NAMED = 5  # parts that a warning names
_logger = logging.getLogger(__name__)


def result_of(
    value: Any, *, returns: TypeAdapter[Any] | None = None, warn: Callable[..., None] = _logger.warning
) -> Result:
    """Convert a return value. Raises Internal for a coroutine.

    A Result, a block and a list of blocks stay as they are. A str becomes a block of text, None an
    empty result, and any other value one block of JSON. `returns` is the type that the output schema
    was derived from. What JSON cannot represent becomes its text, and `warn` names it: the tool has
    been executed, so an error would lose what it says about its effects.
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
    return Result(_encoded(value, returns, warn))


def _encoded(value: Any, returns: TypeAdapter[Any] | None, warn: Callable[..., None]) -> Json | Text:
    try:
        return Json(_typed(value, returns))
    except Exception as problem:  # noqa: BLE001 - serializers run the author's code
        places: list[str] = []
        plain = _plain(value, "", places, 0, {})
        named = ", ".join(places[:_MAX_NAMED]) or "a part of it"
        warn(
            "the result of type %s cannot be encoded as JSON, so that %s became text: %s",
            *(type(value).__name__, named, problem),
        )
        return Text(plain) if isinstance(plain, str) else Json(plain)


def _typed(value: Any, returns: TypeAdapter[Any] | None) -> Any:
    """Return a value as its declared type encodes it.

    A dict or dataclass knows nothing of the serializers and aliases that its type declares, and that the
    schema has. A model knows its own.
    """
    if returns is None or isinstance(value, BaseModel):
        return value
    return returns.dump_python(value, mode="json", by_alias=True, warnings=False)


def _plain(value: Any, path: str, places: list[str], depth: int, opened: dict[int, Any]) -> Any:
    """Return a value that JSON can represent: the parts that can be encoded, and the text of the others.

    `places` receives the paths of those. `opened` has the values that were taken apart, by id: each is
    taken apart once, so that objects that refer to each other take no longer than their number.
    """
    with contextlib.suppress(Exception):  # serializers run the author's code
        return decode(encode(value))
    parts = None
    if depth < _MAX_DEPTH and len(opened) < _MAX_OPENED and id(value) not in opened:
        parts = _parts(value)
        opened[id(value)] = value  # kept, so that no other value gets its id
    if isinstance(parts, Mapping):
        return {k: _plain(v, f"{path}.{k}" if path else k, places, depth + 1, opened) for k, v in parts.items()}
    if parts is not None:
        return [_plain(v, f"{path}[{i}]", places, depth + 1, opened) for i, v in enumerate(parts)]
    places.append(path or "the whole")
    try:
        return str(value)
    except Exception:  # noqa: BLE001
        return f"a value of type {type(value).__name__}"


def _parts(value: Any) -> Mapping[str, Any] | Sequence[Any] | None:
    if isinstance(value, BaseModel):
        fields = {n: f for n, f in type(value).model_fields.items() if not f.exclude}
        return {f.serialization_alias or f.alias or name: getattr(value, name, None) for name, f in fields.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): v for k, v in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return list(cast("Sequence[Any]", value))
    return None


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
