"""Access to asyncio code from blocking code.

The process has one event loop for this, in a daemon thread. The first portal creates it, and it
runs until the process ends. It is never closed: gRPC delivers events to every loop that has used
it, and an event for a closed loop would raise an error in the poller thread that all loops share.
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
    """Return the loop of a process.

    A forked process needs another loop, because fork copies no threads.
    """
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=f"toolhost-{process}", daemon=True).start()
    return loop


class Portal:
    """Runs coroutines on the shared loop.

    Its methods may be called from any thread except that of the loop.
    """

    def __init__(self) -> None:
        self._loop = _loop_of(os.getpid())
        self._shutting = threading.Lock()
        self._shut = False

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine and wait for its result.

        An exception during the wait, such as an interrupt, cancels it.
        """
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
        """Schedule a function on the loop, and do not wait for it."""
        self._loop.call_soon_threadsafe(step)

    def iterate(self, items: AsyncIterator[_T]) -> Iterator[_T]:
        """Yield the items of an async iterator. Leaving the `for` loop closes it."""
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
        """Run a closing coroutine, and reject all later work. Further calls do nothing."""
        with self._shutting:
            if not self._shut:
                self.run(close())
                self._shut = True


async def _next(items: AsyncIterator[_T]) -> _T:
    return await items.__anext__()
