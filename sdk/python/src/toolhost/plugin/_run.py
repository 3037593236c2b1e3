"""Running the author's code for one call: previews, the work itself, and what becomes of what it raises."""

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
from typing import Any

from pydantic_core import from_json

from toolhost.errors import Internal, ToolError, ToolhostError
from toolhost.plugin._call import Call
from toolhost.plugin._output import result_of
from toolhost.plugin._relative import relative_to
from toolhost.result import Result

_NUMBER_CHARACTER = re.compile(rb"[-+.0-9eE]")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)  # a whole one
_OPEN_NUMBER = re.compile(rb"(?<=[\s:,\[])-?[0-9]*[-+.0-9eE]*\Z")  # one that may go on

_Told = tuple[Any, BaseException | None]  # what code returned, or what it raised


@dataclass(frozen=True)
class Bound:
    """What serves one call. The functions are never called at the same time."""

    work: Callable[..., Any]
    """Does the work, once; async or not."""
    bind: Callable[[bytes], dict[str, Any]]
    """Makes keywords of argument text. Raises ToolError."""
    preview: Callable[..., Any] | None = None
    """Is shown the arguments while they come; async or not."""
    close: Callable[..., Any] | None = None
    """Is called once at the end; async or not."""


@dataclass(frozen=True)
class Runner:
    """Runs calls of one tool."""

    name: str
    open: Callable[[Call], Bound]
    """Returns what serves a call."""
    threads: Executor
    opens_object: bool = False
    """Whether `open` makes an object of the author's, so that it is run like the work."""

    async def run(self, call: Call) -> Result:
        """Run a call to its end. Raises ToolhostError where the machinery, or the tool's code, failed."""
        ok = False
        try:
            result = await self._outcome(call)
            ok = not result.is_error
            return result
        except ToolhostError as failure:
            failure.message = relative_to(call.start.context.workspace, failure.message)
            raise
        finally:
            await call.finish(ok)

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
            words = str(failure) or _silent(failure)
            return Result(relative_to(call.start.context.workspace, words), is_error=True)

    async def _served(self, call: Call, bound: Bound) -> Result:
        await self._arguments(call, bound)
        if call.stopped is not None:
            raise call.stopped
        keywords = bound.bind(call.complete_text)
        await call.execute()
        result: Result = await self._author(call, "tool", bound.work, keywords=keywords, shape=result_of)
        return result

    async def _arguments(self, call: Call, bound: Bound) -> None:
        """Wait for the complete arguments, and show the preview what comes before them.

        A preview that fails is over. The log says why, and the call goes on without it.
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
        """Show the latest text each time that it says more. While it is looked at, newer text gathers."""
        last: Any = None
        while not call.complete and call.stopped is None:
            size = len(call.text)
            value = so_far(bytes(call.text))
            if isinstance(value, dict) and value != last:
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
        """Run the author's code: async code as a task that is cancelled with the call, other code in a thread.

        There, too, `shape` makes of what the code returns what is returned: that of a generator is the author's code.

        Raises ToolError and ToolhostError. Any other exception becomes a ToolError, with its trace in the log; what is
        no Exception, such as SystemExit, becomes an Internal.
        """
        code = functools.partial(function, *positional, **keywords)
        work: asyncio.Future[_Told]
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
            except asyncio.CancelledError as cancelled:  # a preview is over; what it failed with counts all the same
                over = cancelled
                if isinstance(work, asyncio.Task):
                    work.cancel()  # a thread cannot be, and the call has not ended before it has
        return self._said(call, what, work, over)

    def _said(self, call: Call, what: str, work: asyncio.Future[_Told], over: asyncio.CancelledError | None) -> Any:
        """Return what the author's code returned, or raise what becomes of its failure."""
        if over is not None and (work.cancelled() or work.result()[1] is None):
            raise over
        if work.cancelled():
            raise call.stopped or Internal(f'{what} "{self.name}": it was cancelled, but not by toolhost')
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
            raise ToolError(_words(failure)) from failure
        raise Internal(f'{what} "{self.name}": {type(failure).__name__}: {failure}') from failure

    def _in_thread(self, code: Callable[[], Any], shape: Callable[[Any], Any] | None) -> asyncio.Future[_Told]:
        """Run code that is not async, and return what becomes what it returns, or raises."""
        loop = asyncio.get_running_loop()
        told: asyncio.Future[_Told] = loop.create_future()

        def run() -> None:
            try:
                value = code()
                said: _Told = (shape(value) if shape else value), None
            except BaseException as failure:  # noqa: BLE001
                said = None, failure
            with contextlib.suppress(RuntimeError):  # the loop is closed, and so nobody waits
                loop.call_soon_threadsafe(told.set_result, said)

        self.threads.submit(contextvars.copy_context().run, run)
        return told


async def _caught(code: Callable[[], Any], shape: Callable[[Any], Any] | None) -> _Told:
    """Return what async code returns, or raises: also SystemExit, which would end the plugin."""
    try:
        value = await code()
        return (shape(value) if shape else value), None
    except asyncio.CancelledError:
        raise
    except BaseException as failure:  # noqa: BLE001
        return None, failure


def _words(failure: Exception) -> str:
    """Return what a model is told of an exception that was not written for it."""
    return f"{type(failure).__name__}: {failure}" if str(failure) else _silent(failure)


def _silent(failure: Exception) -> str:
    return f"the tool failed with an error of type {type(failure).__name__} that says nothing"


def _only(failure: BaseException | None) -> BaseException | None:
    """Return the only failure of a group, which is how asyncio.TaskGroup raises it."""
    while isinstance(failure, BaseExceptionGroup) and len(failure.exceptions) == 1:
        failure = failure.exceptions[0]
    return failure


def so_far(text: bytes) -> Any:
    """Return the value that the beginning of a JSON text holds, or None if there is none.

    What could still turn into something else is left out: a key without a value, a number until something follows it, a
    piece of a literal, of an escape or of a character.
    """
    if _NUMBER_CHARACTER.match(text[-1:]) and b'"' not in _STRING.sub(b"", text):
        text = _OPEN_NUMBER.sub(b"", text)  # which is not within a string
    try:
        return from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return None
