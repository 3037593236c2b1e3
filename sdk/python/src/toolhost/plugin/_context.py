"""The context of a call: what a tool can read about the call, and what it can report."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolhost.errors import Internal
from toolhost.question import Action, ModelAnswer, ModelQuestion, PersonAnswer, PersonQuestion
from toolhost.status import Progress, State, Status

if TYPE_CHECKING:
    from toolhost.plugin._call import Call

__all__ = ["ArtifactData", "AsyncContext", "Context"]


@dataclass(frozen=True)
class ArtifactData:
    """A part of an artifact."""

    data: bytes
    media_type: str
    """The IANA media type of the artifact."""
    size: int
    """The size of the whole artifact, in bytes."""
    name: str
    """A file name without folders. May be empty."""


class _CallContext:
    """The members that Context and AsyncContext share."""

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    def call_id(self) -> str:
        """The call id.

        It is the same in every attempt, so a tool can use it as an idempotency key.
        """
        return self._call.start.call_id

    @property
    def effect_key(self) -> str:
        """A key of this execution of the call, for the place where its effect happens.

        It is the same in every attempt. If a check says that the call did not happen, the call may be
        executed again with the same `call_id`, and has another key. So a tool whose check seals passes
        along this key, and not the id. If toolhost is too old to give one, it is the id.
        """
        return self._call.start.effect_key or self._call.start.call_id

    @property
    def attempt(self) -> int:
        """The number of the attempt, from 1."""
        return self._call.start.attempt or 1

    @property
    def session(self) -> str | None:
        """The id of the session. None if the call has no session."""
        return self._call.start.context.session or None

    @property
    def workspace(self) -> Path | None:
        """The folder that the tool may work in. None if there is none.

        A path from a model may lead out of the folder, for example with `..`. Check it before use.
        """
        folder = self._call.start.context.workspace
        return Path(folder) if folder else None

    @property
    def context(self) -> Mapping[str, Any]:
        """The run context, with only the keys that the tool declares in `context_keys`."""
        return self._call.context

    @property
    def secrets(self) -> Mapping[str, str]:
        """The secrets that the tool declares in `requires_auth`, by name.

        The tool must not disclose them.
        """
        return self._call.start.context.secrets

    @property
    def traceparent(self) -> str | None:
        """The W3C traceparent of the call. None if the call has none."""
        return self._call.start.context.traceparent or None

    @property
    def arguments(self) -> bytes:
        """The arguments as the JSON text that arrived. Empty while they are incomplete."""
        return self._call.complete_text

    @property
    def deadline(self) -> float | None:
        """The deadline of the call on the clock of `time.monotonic`. None if there is none."""
        return self._call.deadline

    def remaining(self) -> float | None:
        """Return the seconds until the deadline, at least 0.

        Returns None if there is no deadline.
        """
        return None if self._call.deadline is None else max(0.0, self._call.deadline - time.monotonic())

    @property
    def cancelled(self) -> threading.Event:
        """Set when the call is cancelled or its deadline passes.

        The tool should then return or raise soon.
        """
        return self._call.cancelled

    def raise_if_cancelled(self) -> None:
        """Raise Cancelled or Timeout if the call is cancelled or its deadline has passed."""
        if self._call.stopped is not None:
            raise self._call.stopped

    @property
    def logger(self) -> logging.Logger:
        """A logger whose records become events of the call.

        The entries of `extra` become their attributes.
        """
        return self._call.logger


class Context(_CallContext):
    """The context of a call for a function that is not async.

    The methods may be called from any thread. They block while toolhost accepts no more events, at
    most until the call is cancelled or its deadline passes. After the end of the call they do
    nothing.
    """

    def status(
        self,
        message: str | None = None,
        *,
        state: State | None = None,
        parameters: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        result: Any = None,
    ) -> None:
        """Report the status of the call to people; see `AsyncContext.status`."""
        self._call.from_thread(self._call.report(Status(state, message, parameters, progress, result)))

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report the progress of the call to people; see `AsyncContext.progress`."""
        self._call.from_thread(self._call.report(Status(progress=Progress(done, total, message))))

    def read_artifact(self, handle: str, offset: int = 0, limit: int | None = None) -> ArtifactData:
        """Read an artifact whose handle is in the arguments; see `AsyncContext.read_artifact`."""
        read = self._call.from_thread(self._call.read_artifact(handle, offset, limit))
        if read is None:
            raise RuntimeError("the plugin has ended; read artifacts during the call")
        return read

    def ask(
        self, message: str, schema: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> Mapping[str, Any] | None:
        """Ask a person who uses the caller of the tool; see `AsyncContext.ask`."""
        return _values(self._asked(PersonQuestion(message, schema, timeout)))

    def complete(self, question: ModelQuestion) -> ModelAnswer:
        """Ask the language model of the caller; see `AsyncContext.complete`."""
        return _response(self._asked(question))

    def _asked(self, question: PersonQuestion | ModelQuestion) -> PersonAnswer | ModelAnswer:
        answer = self._call.from_thread(self._call.ask(question))
        if answer is None:
            raise RuntimeError("the plugin has ended; ask during the call")
        return answer


class AsyncContext(_CallContext):
    """The context of a call for an async function.

    When the call is cancelled or its deadline passes, the task of the function is cancelled.
    """

    async def status(
        self,
        message: str | None = None,
        *,
        state: State | None = None,
        parameters: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        result: Any = None,
    ) -> None:
        """Report the status of the call to people. The model never receives it.

        Reporting is optional. The SDK completes the states of a call that reports anything: a first
        report without a state gets DOING, or WAIT in a preview. The execution after a preview gets
        DOING, and the end of the call SUCCESS or ERROR. A state of a lower rank is omitted, and
        nothing is sent after a terminal state.

        It waits while toolhost accepts no more events.
        """
        await self._call.report(Status(state, message, parameters, progress, result))

    async def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report the progress of the call to people, in a unit that the tool chooses.

        `done` must not decrease. `total` is None if it is unknown.
        """
        await self._call.report(Status(progress=Progress(done, total, message)))

    async def read_artifact(self, handle: str, offset: int = 0, limit: int | None = None) -> ArtifactData:
        """Read an artifact, a large result of another tool, by a handle from the arguments.

        It reads at most `limit` bytes from an offset in bytes, or up to the end. Raises ToolError,
        which informs the model, if the artifact does not exist, belongs to another session or has
        expired.
        """
        return await self._call.read_artifact(handle, offset, limit)

    async def ask(
        self, message: str, schema: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> Mapping[str, Any] | None:
        """Ask a person who uses the caller of the tool, and return the values that the person gave.

        `schema` is a JSON Schema of type object for the values; use few properties of plain types.
        Without it, the result has one text, `answer`. `timeout` is how many seconds to wait. The
        deadline of the call pauses meanwhile.

        Returns None if the person declined or dismissed the question. Raises Unsupported if the
        operator does not permit the plugin to ask or the caller has no person, and Timeout if no
        answer came in time.
        """
        return _values(await self._call.ask(PersonQuestion(message, schema, timeout)))

    async def complete(self, question: ModelQuestion) -> ModelAnswer:
        """Ask the language model of the caller for one response.

        The caller chooses the model and counts the tokens. The deadline of the call pauses
        meanwhile. Raises Unsupported if the operator does not permit the plugin to ask a model or
        the caller has none, and RateLimited if the budget of the caller is used up.
        """
        return _response(await self._call.ask(question))


def _values(answer: PersonAnswer | ModelAnswer) -> Mapping[str, Any] | None:
    if not isinstance(answer, PersonAnswer):
        raise Internal("toolhost did not send the answer of a person")
    return (answer.content or {}) if answer.action is Action.ACCEPT else None


def _response(answer: PersonAnswer | ModelAnswer) -> ModelAnswer:
    if not isinstance(answer, ModelAnswer):
        raise Internal("toolhost did not send the response of a model")
    return answer
