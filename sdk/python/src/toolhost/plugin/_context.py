"""What a tool knows of the call that it serves, and what it may say meanwhile."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolhost.status import Progress, State, Status

if TYPE_CHECKING:
    from toolhost.plugin._call import Call

__all__ = ["ArtifactData", "AsyncContext", "Context"]


@dataclass(frozen=True)
class ArtifactData:
    """What was read of an artifact."""

    data: bytes
    media_type: str
    """The IANA media type of the whole."""
    size: int
    """The size of the whole, in bytes."""
    name: str
    """A file name without folders. May be empty."""


class _CallContext:
    """What both contexts have."""

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    def call_id(self) -> str:
        """The call's id: the idempotency key, the same in every attempt."""
        return self._call.start.call_id

    @property
    def attempt(self) -> int:
        """Which try of the call this is, from 1."""
        return self._call.start.attempt or 1

    @property
    def session(self) -> str:
        """The session's id. Empty if there is none."""
        return self._call.start.context.session

    @property
    def workspace(self) -> Path | None:
        """The folder that the tool may work in, or None. A path that a model chose may lead out of it."""
        folder = self._call.start.context.workspace
        return Path(folder) if folder else None

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of the run's context, of the keys that the tool declares in `context_keys`."""
        return self._call.values

    @property
    def secrets(self) -> Mapping[str, str]:
        """The secrets that the tool declares in `requires_auth`. What it sends elsewhere is the tool's to guard."""
        return self._call.start.context.secrets

    @property
    def traceparent(self) -> str:
        """The W3C trace context of the call. Empty if there is none."""
        return self._call.start.context.traceparent

    @property
    def arguments(self) -> bytes:
        """The arguments as JSON text, as they came. Empty while they are not complete."""
        return self._call.complete_text

    @property
    def deadline(self) -> float | None:
        """When the call's time is up, on the clock of `time.monotonic`, or None."""
        return self._call.deadline

    def remaining(self) -> float | None:
        """Return how many seconds the call has left, or None if nothing limits it."""
        return None if self._call.deadline is None else max(0.0, self._call.deadline - time.monotonic())

    @property
    def cancelled(self) -> threading.Event:
        """Is set when the call was cancelled or its time is up: the tool should stop then, and return or raise."""
        return self._call.cancelled

    def raise_if_cancelled(self) -> None:
        """Raise what ends the call, Cancelled or Timeout, if it is cancelled or its time is up."""
        if self._call.stopped is not None:
            raise self._call.stopped

    @property
    def logger(self) -> logging.Logger:
        """A logger whose records travel with the call, with what they have in `extra` as attributes."""
        return self._call.logger


class Context(_CallContext):
    """The call that a function serves which is not async; it runs in a thread of its own.

    Its methods block while the receiver is slow, at most until the call is cancelled or out of time, and may be called
    from any thread; after the call has ended, they do nothing.
    """

    def status(
        self,
        tip: str = "",
        *,
        state: State | None = None,
        parameters: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        result: Any = None,
    ) -> None:
        """Show people how the call stands; the model never sees it. See AsyncContext.status."""
        self._call.from_thread(self._call.report(Status(state, tip, parameters, progress, result)))

    def progress(self, done: float, total: float = 0.0, message: str = "") -> None:
        """Show people how far the work is. See AsyncContext.progress."""
        self._call.from_thread(self._call.report(Status(progress=Progress(done, total, message))))

    def read_artifact(self, handle: str, offset: int = 0, limit: int | None = None) -> ArtifactData:
        """Read an artifact whose handle is in the arguments. See AsyncContext.read_artifact."""
        read = self._call.from_thread(self._call.read_artifact(handle, offset, limit))
        if read is None:
            raise RuntimeError("an artifact is read after the plugin has ended")
        return read


class AsyncContext(_CallContext):
    """The call that an async function serves. Its task is cancelled when the call is, or is out of time."""

    async def status(
        self,
        tip: str = "",
        *,
        state: State | None = None,
        parameters: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        result: Any = None,
    ) -> None:
        """Show people how the call stands; the model never sees it.

        A tool that reports nothing shows nothing. Once it has reported something, the states are kept in order for it:
        the first report without a state counts as DOING, or as WAIT in a preview; the execution after a preview is
        DOING; and the end of the call is SUCCESS or ERROR, as its outcome is, unless the tool has said so itself. A
        state that goes back is left out, and nothing is shown after a terminal state.

        It waits while the receiver is slow.
        """
        await self._call.report(Status(state, tip, parameters, progress, result))

    async def progress(self, done: float, total: float = 0.0, message: str = "") -> None:
        """Show people how far the work is, in units of the tool's choice.

        done must not fall, and total is 0 if it is not known. It is a status with progress alone.
        """
        await self._call.report(Status(progress=Progress(done, total, message)))

    async def read_artifact(self, handle: str, offset: int = 0, limit: int | None = None) -> ArtifactData:
        """Read an artifact whose handle is in the arguments: another tool's result that was too large to be shown.

        It reads from an offset, in bytes, to a limit or else to the end. Raises ToolError, which tells the model, if
        the call may not see such an artifact, or it is too old.
        """
        return await self._call.read_artifact(handle, offset, limit)
