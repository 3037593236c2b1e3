"""The state of one call in a plugin: the frames from toolhost, and the frames to it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import logging
import threading
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from toolhost import _question_wire, _settlement_wire, _wire
from toolhost._proto.toolhost.plugin.v1 import plugin_pb2
from toolhost._proto.toolhost.tool.v1 import question_pb2
from toolhost.errors import (
    Cancelled,
    Internal,
    InvalidArgument,
    NotFound,
    Timeout,
    ToolError,
    ToolhostError,
    Unsupported,
)
from toolhost.plugin import _log
from toolhost.plugin._context import ArtifactData
from toolhost.plugin._outflow import Emit, Outflow
from toolhost.plugin._spans import Recorder, record
from toolhost.question import ModelAnswer, ModelQuestion, PersonAnswer, PersonQuestion, QuestionKind
from toolhost.result import Result
from toolhost.settlement import Settlement
from toolhost.status import LogRecord, State, Status

_T = TypeVar("_T")

MAX_ARGUMENTS = 64 << 20
"""The largest argument text of one call, in bytes."""
_MAX_EVENT = 1 << 20  # bytes of one status or log record
_MAX_END = 1 << 20  # bytes of an end, because only content can be sent ahead in chunks
_MAX_BLOCKS = 4096  # blocks of one result
_MAX_WAITING = 1000  # frames that may wait for credit before further log records go to standard error


class Call:
    """One call, from its start to its end.

    The methods must be called on the thread of the loop. `from_thread` and read access are safe on
    any thread.
    """

    def __init__(self, number: int, start: plugin_pb2.StartCall, emit: Emit) -> None:
        self.number = number
        self.start = start
        self.context: dict[str, Any] = _wire.values(start.context.values)
        self.deadline: float | None = None
        self.text: bytearray = bytearray(start.arguments)
        """The argument text that has arrived."""
        self.complete_text: bytes = b""
        """The complete arguments. Empty before they are complete."""
        self.complete: bool = False
        self.stopped: ToolhostError | None = None
        """Why the call must stop. None while it may continue."""
        self.cancelled: threading.Event = threading.Event()
        self._work: set[asyncio.Future[Any]] = set()  # futures that `stop` cancels
        self._loop = asyncio.get_running_loop()
        self._changed: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.get_ident()
        self._out = Outflow(start.credit, emit)
        self._timer: asyncio.TimerHandle | None = None
        self._asking = asyncio.Lock()
        self._answer: asyncio.Future[plugin_pb2.ArtifactPiece] | None = None
        self._questions: dict[int, asyncio.Future[question_pb2.Answer]] = {}  # by number; those without an answer
        self._numbers = 0  # of questions
        self._phase = State.WAIT  # the state of a first status without a state
        self._state: State | None = None  # the last state that was sent
        self._finished = False
        if start.complete:
            self._completed(start.arguments)
        if start.HasField("timeout"):
            left = max(0.0, _wire.seconds(start.timeout) or 0.0)
            self.deadline = time.monotonic() + left
            self._timer = self._loop.call_later(left, self.stop, Timeout("the deadline of the call has passed"))

    # Frames from toolhost.

    def take(self, request: plugin_pb2.ConnectRequest) -> None:
        """Handle a frame of toolhost."""
        match request.WhichOneof("frame"):
            case "append" if not self.complete:
                self.text += request.append.text
                if len(self.text) > MAX_ARGUMENTS:
                    self.stop(InvalidArgument(f"the arguments have more than {MAX_ARGUMENTS} bytes"))
                self._change()
            case "complete" if not self.complete:
                self._completed(request.complete.arguments or bytes(self.text))
            case "cancel":
                reason = f": {request.cancel.reason}" if request.cancel.reason else ""
                self.stop(Cancelled("the call was cancelled" + reason))
            case "credit":
                self._out.grant(request.credit.bytes)
            case "artifact" if self._answer is not None and not self._answer.done():
                self._answer.set_result(request.artifact)
            case "answer":
                waiting = self._questions.pop(request.answer.number, None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(request.answer.answer)
            case _:
                pass  # a frame that comes too late, or of a later toolhost

    async def change(self) -> None:
        """Wait until more text arrives, the arguments become complete, or the call is stopped."""
        await asyncio.shield(self._changed)

    def _change(self) -> None:
        changed, self._changed = self._changed, self._loop.create_future()
        changed.set_result(None)

    def _completed(self, arguments: bytes) -> None:
        self.complete_text, self.complete = arguments or b"{}", True
        self.text = bytearray()
        self._change()

    def stop(self, reason: ToolhostError) -> None:
        """Stop the work. Only the first reason is kept."""
        if self.stopped is not None or self._finished:
            return
        self.stopped = reason
        self.cancelled.set()
        self._change()
        self._out.fail(reason)
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(reason)
        self._close_questions(reason)
        for work in self._work:
            work.cancel()

    def stops(self, work: asyncio.Future[Any]) -> None:
        """Register a future that is cancelled when the call is stopped, which may be now."""
        self._work.add(work)
        work.add_done_callback(self._work.discard)
        if self.stopped is not None:
            work.cancel()

    # Frames from the tool.

    async def report(self, status: Status) -> None:
        """Send a status, with the state that AsyncContext.status documents.

        A failure to send it is ignored, because the tool cannot react to it.
        """
        if self._finished or self.stopped is not None or self.start.settle:
            return
        frame = self._status_frame(status)
        if frame is not None:
            with contextlib.suppress(ToolhostError):
                await self._out.send(frame)

    def _status_frame(self, status: Status) -> plugin_pb2.ConnectResponse | None:
        if self._state is not None and self._state.terminal:
            return None
        message = _wire.from_status(status)
        state = status.state
        if state is None and self._state is None:
            state = self._phase
        if state is not None and self._state is not None and state.rank < self._state.rank:
            state = None  # the rank of the state must not decrease
        frame = plugin_pb2.ConnectResponse(call=self.number, status=message)
        if frame.ByteSize() > _MAX_EVENT:
            self.logger.warning("a status of %d bytes was not sent; the limit is %d", frame.ByteSize(), _MAX_EVENT)
            return None
        self._state = state or self._state
        frame.status.state = _wire.from_status(Status(state)).state
        return frame

    async def execute(self) -> None:
        """Record the end of the previews."""
        self._phase = State.DOING
        if self._state is State.WAIT:
            await self.report(Status(State.DOING))

    async def finish(self, ok: bool) -> None:
        """Send the terminal state, if the tool has reported a status, and all queued frames."""
        if self._state is not None:
            frame = self._status_frame(Status(State.SUCCESS if ok else State.ERROR))
            if frame is not None:
                with contextlib.suppress(ToolhostError):
                    await self._out.send(frame)
        with contextlib.suppress(ToolhostError):
            await self._out.drain()

    async def log(self, record: LogRecord) -> bool:
        """Send a log record, and report whether it was sent."""
        frame = self._log_frame(record)
        if frame is None:
            return False
        try:
            await self._out.send(frame)
        except ToolhostError:
            return False
        return True

    def log_soon(self, record: LogRecord) -> bool:
        """Queue a log record, and report whether it was accepted."""
        frame = self._log_frame(record)
        if frame is None or len(self._out) >= _MAX_WAITING:
            return False
        try:
            self._out.put(frame)
        except ToolhostError:
            return False
        return True

    def _log_frame(self, record: LogRecord) -> plugin_pb2.ConnectResponse | None:
        if self._finished:
            return None
        frame = plugin_pb2.ConnectResponse(call=self.number, log=_wire.from_log(record))
        return frame if frame.ByteSize() <= _MAX_EVENT else None

    @functools.cached_property
    def logger(self) -> logging.Logger:
        """The logger of the call."""
        return _log.logger_of(self, self._thread)

    async def read_artifact(self, handle: str, offset: int, limit: int | None) -> ArtifactData:
        """Read an artifact in pieces, from an offset."""
        if self.start.settle:
            raise Unsupported("a check of an unknown outcome cannot read artifacts")
        data = bytearray()
        while True:
            wanted = _wire.CHUNK if limit is None else min(_wire.CHUNK, limit - len(data))
            # The request must stay open until toolhost answers it, even if the tool is cancelled: a
            # call may have only one request open.
            piece = await asyncio.shield(self._loop.create_task(self._ask(handle, offset + len(data), max(1, wanted))))
            data += piece.data
            if not piece.data or offset + len(data) >= piece.size or (limit is not None and len(data) >= limit):
                return ArtifactData(bytes(data[:limit]), piece.media_type, piece.size, piece.name)

    async def _ask(self, handle: str, offset: int, limit: int) -> plugin_pb2.ArtifactPiece:
        async with self._asking:
            if self.stopped is not None or self._finished:
                raise self.stopped or Cancelled("the call has ended")
            self._answer = self._loop.create_future()
            request = plugin_pb2.ReadArtifact(handle=handle, offset=offset, limit=limit)
            await self._out.send(plugin_pb2.ConnectResponse(call=self.number, read_artifact=request))
            piece = await self._answer
        if piece.HasField("error"):
            failure = _wire.to_error(piece.error)
            raise ToolError(failure.message) if isinstance(failure, NotFound) else failure
        return piece

    async def ask(self, question: PersonQuestion | ModelQuestion) -> PersonAnswer | ModelAnswer:
        """Ask the caller of the tool, and return the answer."""
        if self.start.settle:
            raise Unsupported("a check of an unknown outcome cannot ask")
        person = isinstance(question, PersonQuestion)
        kind = QuestionKind.PERSON if person else QuestionKind.MODEL
        if kind not in _question_wire.to_kinds(self.start.context.answers):
            raise Unsupported(
                f"no {kind} can be asked in this call: "
                "the caller does not answer such questions, or the operator does not permit them"
            )
        if self.stopped is not None or self._finished:
            raise self.stopped or Cancelled("the call has ended")
        self._numbers += 1
        number = self._numbers
        frame = plugin_pb2.ConnectResponse(call=self.number)
        try:
            if isinstance(question, PersonQuestion):
                message = _question_wire.from_person_question(question)
                frame.ask_person.CopyFrom(plugin_pb2.AskPerson(number=number, question=message))
            else:
                conversation = _question_wire.from_model_question(question)
                frame.ask_model.CopyFrom(plugin_pb2.AskModel(number=number, question=conversation))
        except (ValueError, TypeError) as problem:
            raise InvalidArgument(f"encoding the question: {problem}") from problem
        if frame.ByteSize() > _MAX_EVENT:
            raise InvalidArgument(f"a question of {frame.ByteSize()} bytes; the limit is {_MAX_EVENT}")
        waiting: asyncio.Future[question_pb2.Answer] = self._loop.create_future()
        self._questions[number] = waiting
        try:
            await self._out.send(frame)
            return _question_wire.to_answer(await waiting)
        finally:
            self._questions.pop(number, None)

    def _close_questions(self, reason: ToolhostError) -> None:
        for waiting in self._questions.values():
            if not waiting.done():
                waiting.set_exception(reason)
                waiting.exception()  # the tool may not wait for it any more

    def from_thread(self, work: Coroutine[Any, Any, _T]) -> _T | None:
        """Run a coroutine for a tool in another thread, and return its result.

        Returns None if the plugin has ended.
        """
        if threading.get_ident() == self._thread:
            work.close()
            raise RuntimeError("a Context blocks the loop; use an AsyncContext in async functions")
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except concurrent.futures.CancelledError:
            return None
        except RuntimeError:
            if not self._loop.is_closed():
                raise
            work.close()
            return None

    def record(self) -> Recorder | None:
        """Record the author's spans in the current task. The caller must close the recorder."""
        return record(self.start, self.number, self._out)

    # The end.

    async def send_ahead(self, result: Result) -> plugin_pb2.CallEnd:
        """Send large blocks in chunks, and return the end of the call with the rest."""
        if len(result.content) > _MAX_BLOCKS:
            raise Internal(f"the result of the tool has {len(result.content)} blocks; the limit is {_MAX_BLOCKS}")
        try:
            message = _wire.from_result(result)
        except (ValueError, TypeError) as problem:
            raise Internal(f'tool "{self.start.tool}": encoding the result: {problem}') from problem
        room = _wire.CHUNK
        for index, block in enumerate(message.content):
            kind = block.WhichOneof("block")
            if kind in (None, "artifact"):
                continue
            holder, field = (getattr(block, kind), "data") if kind in ("image", "file") else (block, kind)
            payload = getattr(holder, field)
            data = payload.encode() if kind == "text" else payload
            if len(data) <= room:
                room -= len(data)
                continue
            setattr(holder, field, "" if kind == "text" else b"")
            for at in range(0, len(data), _wire.CHUNK):
                chunk = plugin_pb2.ContentChunk(index=index, data=data[at : at + _wire.CHUNK])
                await self._out.send(plugin_pb2.ConnectResponse(call=self.number, chunk=chunk))
        size = message.ByteSize()
        if size > _MAX_END:
            raise Internal(
                f"the effects, metadata and artifacts of the result have {size} bytes; the limit is {_MAX_END}"
            )
        return plugin_pb2.CallEnd(result=message)

    def settled(self, settlement: Settlement) -> plugin_pb2.CallEnd:
        """Return the end of the call that says what became of the earlier call."""
        try:
            message = _settlement_wire.from_settlement(self.start.call_id, settlement)
        except (ValueError, TypeError) as problem:
            raise Internal(f'the check of tool "{self.start.tool}": encoding the result: {problem}') from problem
        return plugin_pb2.CallEnd(settlement=message)

    def release(self) -> None:
        """Release the timer and all waiting work. Nothing is sent for the call afterwards."""
        self._finished = True
        if self._timer is not None:
            self._timer.cancel()
        over = Cancelled("the call has ended")
        self._out.fail(over)
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(over)
            self._answer.exception()
        self._close_questions(over)
