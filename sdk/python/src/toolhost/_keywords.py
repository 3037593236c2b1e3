"""Checks of keyword options at run time.

Python itself does not check the TypedDict of `**options`.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from typing import Any


def checked(given: Mapping[str, Any], known: Any, what: str) -> dict[str, Any]:
    """Return the options whose value is not None.

    Raises TypeError if the TypedDict `known` lacks an option, or if the type of a value is wrong.
    `what` names the function or object that takes the options, for the error message.
    """
    hints = _hints_of(known)
    for name, value in given.items():
        if name not in hints:
            raise TypeError(f"{what} has no option {name!r}{_meant(name, hints)}")
        if value is not None and not _fits(value, hints[name]):
            raise TypeError(f"the option {name!r} must be {_described(hints[name])}, but is {value!r}")
    return {name: value for name, value in given.items() if value is not None}


@functools.cache
def _hints_of(known: Any) -> dict[str, Any]:
    return typing.get_type_hints(known)


def _meant(name: str, hints: Mapping[str, Any]) -> str:
    import difflib  # noqa: PLC0415 - only a misspelt option needs it

    near = difflib.get_close_matches(name, hints, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(sorted(hints))}"


def _fits(value: Any, hint: Any) -> bool:
    origin = typing.get_origin(hint) or hint
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, choice) for choice in typing.get_args(hint))
    if origin in (int, float):
        return isinstance(value, int | float if origin is float else int) and not isinstance(value, bool)
    if origin is Sequence:
        # A str is a Sequence[str] as well. Passing one is always a mistake.
        (item,) = typing.get_args(hint)
        return _is_list(value) and all(_fits(each, item) for each in value)
    return isinstance(value, origin)


def _is_list(value: Any) -> typing.TypeGuard[Collection[Any]]:
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _described(hint: Any) -> str:
    """Describe a type for an error message."""
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(map(_described, arguments))
    if origin is Sequence:
        return f"a list of {arguments[0].__name__}"
    if origin is float:
        return "a number"
    return "a mapping" if origin is Mapping else f"of type {origin.__name__}"
