"""An event loop in a thread of its own, so that what is async can be used by what is not.

There is one for the whole process, made when it is first needed, and it lasts as long as the process: gRPC hands events
to whatever loops there are, and those for a loop that is closed would be in the way of others'.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from toolhost.errors import Cancelled

_T = TypeVar("_T")


@functools.cache
def _loop_of(process: int) -> asyncio.AbstractEventLoop:
    """Return the loop of a process: a thread does not outlive a fork."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=f"toolhost-{process}", daemon=True).start()
    return loop


class Portal:
    """The way to the loop for one who uses it. Its methods may be called from any other thread."""

    def __init__(self) -> None:
        self._loop = _loop_of(os.getpid())
        self._shutting = threading.Lock()
        self._shut = False

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine, and wait for it. Whatever interrupts the wait cancels it."""
        if self._shut:
            work.close()
            raise Cancelled("the client is closed; make another one")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def soon(self, step: Callable[[], None]) -> None:
        """Have the loop take a step, and do not wait for it."""
        self._loop.call_soon_threadsafe(step)

    def iterate(self, items: AsyncIterator[_T]) -> Iterator[_T]:
        """Yield what an async generator yields. Leaving the loop ends it."""
        try:
            while True:
                try:
                    yield self.run(_next(items))
                except StopAsyncIteration:
                    return
        finally:
            close = getattr(items, "aclose", None)
            if close is not None and not self._shut:
                self.run(close())

    def shut(self, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Close what is used on the loop; nothing is run from then on. It may be called more than once."""
        with self._shutting:
            if not self._shut:
                self.run(close())
                self._shut = True


async def _next(items: AsyncIterator[_T]) -> _T:
    return await items.__anext__()
