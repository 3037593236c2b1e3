"""Functions that a plugin runs at the start and at the end of its process."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

_logger = logging.getLogger("toolhost.plugin")

Hook = Callable[[], Any]


class Hooks:
    """The startup and shutdown hooks of a plugin, in the order of their registration."""

    def __init__(self) -> None:
        self.startup: list[Hook] = []
        self.shutdown: list[Hook] = []

    async def start(self, threads: Executor) -> None:
        """Run the startup hooks in order.

        The exception of the first that fails propagates, and no further hook runs.
        """
        for hook in self.startup:
            await _run(hook, threads)

    async def stop(self, threads: Executor) -> None:
        """Run the shutdown hooks in reverse order.

        An exception is logged, and the remaining hooks still run.
        """
        for hook in reversed(self.shutdown):
            try:
                await _run(hook, threads)
            except Exception:
                _logger.exception("a shutdown hook failed", extra={"hook": getattr(hook, "__name__", repr(hook))})


async def _run(hook: Hook, threads: Executor) -> None:
    """Run an async hook on the loop, and any other in a thread."""
    if inspect.iscoroutinefunction(hook):
        await hook()
        return
    await asyncio.get_running_loop().run_in_executor(threads, functools.partial(hook))
