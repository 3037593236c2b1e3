"""An event loop in a thread of its own, so that what is async can be used by what is not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from toolhost.errors import Cancelled

_T = TypeVar("_T")


class Portal:
    """A loop in a daemon thread. Its methods may be called from any other thread."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()
        self._shutting = threading.Lock()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine, and wait for it. Whatever interrupts the wait cancels it."""
        if self._loop.is_closed():
            work.close()
            raise Cancelled("the client is closed")
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
                    yield self.run(anext_of(items))
                except StopAsyncIteration:
                    return
        finally:
            close = getattr(items, "aclose", None)
            if close is not None and not self._loop.is_closed():
                self.run(close())

    def shut(self, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Close what is used on the loop, end that, and wait for its thread. It may be called more than once."""
        with self._shutting:
            if self._loop.is_closed():
                return
            self.run(close())
            self.run(self._settle())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _settle(self) -> None:
        """Cancel what is still under way, and wait for it."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def anext_of(items: AsyncIterator[_T]) -> _T:
    """Return the next item. Raises StopAsyncIteration."""
    return await items.__anext__()
