"""What a model reads of the exceptions that a tool raises."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

import pytest

from toolhost.errors import ToolError
from toolhost.plugin._failure import message_of


def caused(failure: Exception, cause: BaseException) -> Exception:
    failure.__cause__ = cause
    return failure


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("cannot speak")


GROUP: Callable[[str, list[Exception]], Exception] = ExceptionGroup


@pytest.mark.parametrize(
    ("failure", "want"),
    [
        (ValueError("bad"), "ValueError: bad"),
        (ValueError(), "the tool failed with an error of type ValueError without a message"),
        (Mute(), "the tool failed with an error of type Mute without a message"),
        (ToolError("say this"), "say this"),
        (caused(ToolError("say this"), KeyError("id")), "say this"),
        (caused(ValueError("bad"), KeyError("id")), "ValueError: bad (caused by KeyError: 'id')"),
        (caused(ValueError(), KeyError("id")), "ValueError (caused by KeyError: 'id')"),
        (caused(ValueError("no: disk full"), OSError("disk full")), "ValueError: no: disk full"),
        (caused(ValueError("bad"), TimeoutError()), "ValueError: bad (caused by TimeoutError)"),
        (
            GROUP("sync", [ValueError("a"), OSError("b"), TimeoutError()]),
            "ExceptionGroup: sync (3 errors)\n- ValueError: a\n- OSError: b\n- TimeoutError",
        ),
        (
            GROUP("in a task", [ToolError("a"), caused(ValueError("b"), KeyError("c"))]),
            "ExceptionGroup: in a task (2 errors)\n- a\n- ValueError: b (caused by KeyError: 'c')",
        ),
        (
            GROUP("all", [GROUP("eu", [ValueError("a"), OSError("b")]), GROUP("", [KeyError("c")])]),
            "ExceptionGroup: all (3 errors)\n- eu: ValueError: a\n- eu: OSError: b\n- KeyError: 'c'",
        ),
        (
            caused(ValueError("bad"), GROUP("sync", [OSError("a"), OSError("b")])),
            "ValueError: bad (caused by ExceptionGroup: sync (2 errors): OSError: a; OSError: b)",
        ),
        (
            BaseExceptionGroup("", [SystemExit(3), ValueError("a")]),
            "BaseExceptionGroup (2 errors)\n- SystemExit: 3\n- ValueError: a",
        ),
    ],
)
def test_messages(failure: BaseException, want: str) -> None:
    assert message_of(failure) == want


def test_messages_are_bounded() -> None:
    many = message_of(GROUP("sync", [ValueError("x" * 10_000) for _ in range(2000)]))
    assert len(many) < 6000
    assert many.startswith("ExceptionGroup: sync (1000 errors or more)\n- ValueError: xxx")
    assert many.endswith("…\n- and 990 more")
    deep: Exception = ValueError("inmost")
    for _ in range(sys.getrecursionlimit() // 2):
        deep = GROUP("g", [deep, OSError("a")])
    assert len(message_of(deep)) < 6000


def test_cycles_end() -> None:
    one, other = ValueError("one"), OSError("other")
    caused(one, other)
    caused(other, one)
    assert message_of(one).startswith("ValueError: one (caused by OSError: other (caused by ")
    inner = ValueError("inner")
    group = GROUP("sync", [inner, inner])
    caused(inner, group)
    assert len(message_of(group)) < 6000


def test_what_a_task_group_raises() -> None:
    async def fail(failure: Exception) -> None:
        await asyncio.sleep(0)
        raise failure

    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fail(ValueError("a")))
            tasks.create_task(fail(OSError("b")))

    with pytest.raises(ExceptionGroup) as raised:
        asyncio.run(work())
    assert message_of(raised.value).endswith("(2 errors)\n- ValueError: a\n- OSError: b")
