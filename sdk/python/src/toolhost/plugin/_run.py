"""Execution of the author's code for one call: previews, tool function and exceptions."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic_core import from_json

from toolhost._json import is_object
from toolhost.errors import Internal, ToolError, ToolhostError, Unsupported
from toolhost.plugin._call import Call
from toolhost.plugin._check import settlement_of
from toolhost.plugin._failure import message_of, silent
from toolhost.plugin._output import result_of
from toolhost.plugin._relative import relative_to
from toolhost.result import Result
from toolhost.settlement import Settlement

_NUMBER_CHARACTER = re.compile(rb"[-+.0-9eE]")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)  # a complete string
_OPEN_NUMBER = re.compile(rb"(?<=[\s:,\[])-?[0-9]*[-+.0-9eE]*\Z")  # a number that may continue

_Returned = tuple[Any, BaseException | None]  # the return value, or the exception


@dataclass(frozen=True)
class Bound:
    """The functions that handle one call. They never run at the same time."""

    work: Callable[..., Any]
    """The tool function, async or not. It runs at most once."""
    bind: Callable[[bytes], dict[str, Any]]
    """Converts argument text to keyword arguments. Raises ToolError."""
    preview: Callable[..., Any] | None = None
    """Receives incomplete arguments, async or not."""
    close: Callable[..., Any] | None = None
    """Runs once at the end, async or not."""


@dataclass(frozen=True)
class Runner:
    """Runs the calls of one tool."""

    name: str
    open: Callable[[Call], Bound]
    """Returns the functions that handle a call."""
    threads: Executor
    opens_object: bool = False
    """Whether `open` runs the constructor of the author, which then runs like the tool function."""
    check: Callable[[Call], Bound] | None = None
    """Returns the function that says what became of an earlier call. None if the tool has none."""
    returns: TypeAdapter[Any] | None = None
    """The type that the output schema was derived from. None if it was not derived."""
    seals: bool = False
    """Whether the check seals."""

    async def run(self, call: Call) -> Result:
        """Run a call to its end.

        Raises ToolhostError for an infrastructure error or a bug of the tool.
        """
        ok = False
        recorder = call.record()
        try:
            result = await self._outcome(call)
            ok = not result.is_error
            return result
        except ToolhostError as failure:
            failure.message = relative_to(call.start.context.workspace, failure.message)
            raise
        finally:
            if recorder is not None:
                recorder.close()
            await call.finish(ok)

    async def settle(self, call: Call) -> Settlement:
        """Say what became of an earlier call. The result of the settlement is a Result or None.

        Raises ToolhostError, also if the check raises anything else.
        """
        if self.check is None:
            raise Unsupported(f'the tool "{self.name}" cannot say what became of a call')
        if self.seals and not call.start.effect_key:
            return Settlement.unknown(reason="toolhost does not say which execution it asks about")
        try:
            bound = self.check(call)
            await self._arguments(call, bound)
            if call.stopped is not None:
                raise call.stopped
            keywords = bound.bind(call.complete_text)
            settlement: Settlement = await self._author(
                call,
                "the check of tool",
                bound.work,
                keywords=keywords,
                shape=functools.partial(settlement_of, **self._encoding(call)),
            )
            return settlement
        except ToolError as failure:
            message = f'the check of tool "{self.name}": {failure}'
            raise Internal(relative_to(call.start.context.workspace, message)) from failure
        except ToolhostError as failure:
            failure.message = relative_to(call.start.context.workspace, failure.message)
            raise
        finally:
            await call.finish(ok=True)

    async def _outcome(self, call: Call) -> Result:
        try:
            if self.opens_object:
                bound: Bound = await self._author(call, "opening tool", self.open, (call,))
            else:
                bound = self.open(call)
            try:
                return await self._served(call, bound)
            finally:
                if bound.close is not None:
                    with contextlib.suppress(ToolhostError, ToolError):
                        await self._author(call, "closing tool", bound.close, stops=False)
        except ToolError as failure:
            message = str(failure) or silent(failure)
            return Result(relative_to(call.start.context.workspace, message), is_error=True)

    async def _served(self, call: Call, bound: Bound) -> Result:
        await self._arguments(call, bound)
        if call.stopped is not None:
            raise call.stopped
        keywords = bound.bind(call.complete_text)
        await call.execute()
        shape = functools.partial(result_of, **self._encoding(call))
        result: Result = await self._author(call, "tool", bound.work, keywords=keywords, shape=shape)
        return result

    def _encoding(self, call: Call) -> dict[str, Any]:
        return {"returns": self.returns, "warn": call.logger.warning}

    async def _arguments(self, call: Call, bound: Bound) -> None:
        """Wait for the complete arguments, and run the preview while they are incomplete.

        If the preview raises, the call continues without previews, and the log contains the
        exception.
        """
        shown: asyncio.Task[None] | None = None
        try:
            while not call.complete and call.stopped is None:
                if bound.preview is not None and shown is None and call.text:
                    shown = asyncio.create_task(self._previews(call, bound.preview))
                await call.change()
        finally:
            if shown is not None:
                shown.cancel()
                await asyncio.wait({shown})
        if shown is not None and not shown.cancelled() and call.stopped is None:
            failure = shown.exception()
            if isinstance(failure, ToolhostError) or (isinstance(failure, ToolError) and failure.__cause__ is None):
                call.logger.warning("the preview of tool %r failed: %s", self.name, failure)

    async def _previews(self, call: Call, preview: Callable[..., Any]) -> None:
        """Run the preview with the latest text whenever its value changes.

        Text that arrives meanwhile is combined.
        """
        last: Any = None
        while not call.complete and call.stopped is None:
            size = len(call.text)
            value = so_far(bytes(call.text))
            if is_object(value) and value != last:
                last = value
                await self._author(call, "the preview of tool", preview, (value,))
            while len(call.text) == size and not call.complete and call.stopped is None:
                await call.change()

    async def _author(
        self,
        call: Call,
        what: str,
        function: Callable[..., Any],
        positional: tuple[Any, ...] = (),
        keywords: Mapping[str, Any] = MappingProxyType({}),
        *,
        stops: bool = True,
        shape: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Run async code as a task that is cancelled with the call, and other code in a thread.

        `shape` converts the return value, in the same task or thread, because reading a generator
        runs the author's code.

        Raises ToolError and ToolhostError unchanged. Any other Exception becomes a ToolError, with
        the traceback in the log. A BaseException that is not an Exception, such as SystemExit,
        becomes an Internal.
        """
        code = functools.partial(function, *positional, **keywords)
        work: asyncio.Future[_Returned]
        if inspect.iscoroutinefunction(function):
            work = asyncio.ensure_future(_caught(code, shape))
            if stops:
                call.stops(work)
        elif stops and call.stopped is not None:
            raise call.stopped
        else:
            work = self._in_thread(code, shape)
        over: asyncio.CancelledError | None = None
        while not work.done():
            try:
                await asyncio.wait({work})
            except (
                asyncio.CancelledError
            ) as cancelled:  # the arguments are complete; a failure of the preview is still reported
                over = cancelled
                if isinstance(work, asyncio.Task):
                    work.cancel()  # a thread cannot be cancelled, so the loop waits for it
        return self._value_of(call, what, work, over)

    def _value_of(
        self, call: Call, what: str, work: asyncio.Future[_Returned], over: asyncio.CancelledError | None
    ) -> Any:
        """Return the value that the author's code returned, or raise the converted exception."""
        if over is not None and (work.cancelled() or work.result()[1] is None):
            raise over
        if work.cancelled():
            raise call.stopped or Internal(f'{what} "{self.name}": the tool cancelled its own task')
        value, raised = work.result()
        failure = _only(raised)
        if failure is None:
            return value
        if isinstance(failure, ToolError | ToolhostError):
            raise failure
        if call.stopped is not None and isinstance(failure, TimeoutError | asyncio.TimeoutError):
            raise call.stopped
        call.logger.error("%s %r raised", what, self.name, exc_info=failure)
        if isinstance(failure, Exception):
            raise ToolError(message_of(failure)) from failure
        raise Internal(f'{what} "{self.name}": {message_of(failure)}') from failure

    def _in_thread(self, code: Callable[[], Any], shape: Callable[[Any], Any] | None) -> asyncio.Future[_Returned]:
        """Run code in a thread, and return a future of its return value or exception."""
        loop = asyncio.get_running_loop()
        returned: asyncio.Future[_Returned] = loop.create_future()

        def run() -> None:
            try:
                value = code()
                result: _Returned = (shape(value) if shape else value), None
            except BaseException as failure:  # noqa: BLE001
                result = None, failure
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(returned.set_result, result)

        self.threads.submit(contextvars.copy_context().run, run)
        return returned


async def _caught(code: Callable[[], Any], shape: Callable[[Any], Any] | None) -> _Returned:
    """Return the value or exception of async code.

    This includes SystemExit, which would otherwise end the plugin.
    """
    try:
        value = await code()
        return (shape(value) if shape else value), None
    except asyncio.CancelledError:
        raise
    except BaseException as failure:  # noqa: BLE001
        return None, failure


def _only(failure: BaseException | None) -> BaseException | None:
    """Return the only exception of a group. asyncio.TaskGroup wraps a single failure like this."""
    while isinstance(failure, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", failure)
        if len(group.exceptions) != 1:
            return group
        failure = group.exceptions[0]
    return failure


def so_far(text: bytes) -> Any:
    """Return the value of incomplete JSON text, or None if there is none yet.

    It omits every part that later text could change: a key without a value, a number at the end of
    the text, and an incomplete literal, escape sequence or character.
    """
    if _NUMBER_CHARACTER.match(text[-1:]) and b'"' not in _STRING.sub(b"", text):
        text = _OPEN_NUMBER.sub(b"", text)  # outside of strings only
    try:
        return from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return None
