"""The words in which a model reads an exception of the author's code."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import cast

from toolhost.errors import ToolError

_MAX_ERRORS = 10  # of a group that are named
_MAX_COUNTED = 1000  # of a group that are counted
_MAX_DEPTH = 8  # of groups in each other
_MAX_CAUSES = 3  # of causes of causes, also between groups
_MAX_TEXT = 500  # characters of one error of a group, and of a cause
_TASK_GROUP = "unhandled errors in a TaskGroup"  # what asyncio.TaskGroup says about every failure


def message_of(failure: BaseException) -> str:
    """Return the type and message of an exception, of its causes, and of the exceptions in a group.

    The text of a group names up to ten exceptions, each on a line, also those of groups within it. A
    cause follows unless the message says it already. A ToolError has only its message, because the
    author wrote that for the model.
    """
    if not isinstance(failure, BaseExceptionGroup):
        return _described(failure, _MAX_CAUSES) or silent(failure)
    group = cast("BaseExceptionGroup[BaseException]", failure)
    errors = _errors(group, _MAX_CAUSES)
    return f"{_head(group, len(errors))}\n- " + "\n- ".join(_named(errors, _MAX_CAUSES)) + _cause(group, _MAX_CAUSES)


def silent(failure: BaseException) -> str:
    return f"the tool failed with an error of type {type(failure).__name__} without a message"


def _described(failure: BaseException, depth: int) -> str:
    """Describe an exception in one text; empty if neither it nor a cause has a message."""
    if isinstance(failure, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", failure)
        errors = _errors(group, depth)
        return f"{_head(group, len(errors))}: {'; '.join(_named(errors, depth))}"
    if isinstance(failure, ToolError) and str(failure):
        return str(failure)
    name, text, cause = type(failure).__name__, _text(failure), _cause(failure, depth)
    if text:
        return f"{name}: {text}{cause}"
    return f"{name}{cause}" if cause else ""


def _text(failure: BaseException) -> str:
    try:
        return str(failure)
    except Exception:  # noqa: BLE001 - it runs the author's code
        return ""


def _cause(failure: BaseException, depth: int) -> str:
    cause = failure.__cause__
    if cause is None or depth <= 0:
        return ""
    text = _described(cause, depth - 1) or type(cause).__name__
    message = _text(cause)
    if message and message in _text(failure):
        return ""
    return f" (caused by {_cut(text)})"


def _head(group: BaseExceptionGroup[BaseException], count: int) -> str:
    many = f"{_MAX_COUNTED} errors or more" if count >= _MAX_COUNTED else f"{count} errors"
    return f"{type(group).__name__}: {group.message} ({many})" if group.message else f"{type(group).__name__} ({many})"


def _errors(group: BaseExceptionGroup[BaseException], causes: int) -> list[str | BaseException]:
    """Return the exceptions of a group in their order; a text for those of a group with a message of its own."""
    return list(islice(_leaves(group, "", _MAX_DEPTH, causes), _MAX_COUNTED))


def _leaves(
    group: BaseExceptionGroup[BaseException], around: str, depth: int, causes: int
) -> Iterator[str | BaseException]:
    for failure in group.exceptions:
        if not isinstance(failure, BaseExceptionGroup):
            yield f"{around}{_line(failure, causes)}" if around else failure
            continue
        inner = cast("BaseExceptionGroup[BaseException]", failure)
        message = "" if inner.message == _TASK_GROUP else inner.message
        if depth <= 0:
            yield f"{around}{type(inner).__name__}: {inner}"
        else:
            yield from _leaves(inner, f"{around}{_cut(message)}: " if message else around, depth - 1, causes)


def _line(failure: BaseException, causes: int) -> str:
    return _described(failure, causes) or type(failure).__name__


def _named(errors: list[str | BaseException], causes: int) -> list[str]:
    lines = [_cut(error if isinstance(error, str) else _line(error, causes)) for error in errors[:_MAX_ERRORS]]
    if len(errors) > _MAX_ERRORS:
        lines.append(f"and {len(errors) - _MAX_ERRORS} more")
    return lines


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
