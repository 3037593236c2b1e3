"""The asyncio host of a plugin in a test."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

from typing_extensions import Unpack

from toolhost import _settlement_wire, _wire
from toolhost._json import decode
from toolhost._keywords import checked
from toolhost._proto.toolhost.plugin.v1 import plugin_pb2 as pb
from toolhost.client._options import Arguments, argument_text
from toolhost.plugin import Plugin, Spec
from toolhost.plugin._session import Session
from toolhost.question import Answer
from toolhost.result import Content, Json, Result
from toolhost.settlement import Settlement
from toolhost.status import Status
from toolhost.testing._call import CallResult, HostCallOptions, artifact_piece, question_answer, start_call
from toolhost.testing._client import AsyncHostClient
from toolhost.testing._filters import FilteredCall
from toolhost.testing._schema import problems

_THREADS = 1 << 10
_GRACE = 5.0  # seconds: how long `close` waits for calls


class AsyncStream:
    """A call whose arguments arrive in pieces. It must be used on the loop of its host."""

    def __init__(self, host: AsyncHost, number: int, spec: Spec, given: Mapping[str, Any]) -> None:
        self._host = host
        self._number = number
        self._spec = spec
        self._artifacts: Mapping[str, Content] = given.get("artifacts", {})
        self._answer: Callable[[Any], Answer] | None = given.get("answer")
        self._changed = asyncio.Event()
        self._reported = CallResult()
        self._settlement = Settlement()
        self._over = False
        self._chunks: dict[int, bytearray] = {}

    def append(self, text: str | bytes) -> None:
        """Send the next piece of argument text. A piece may end at any byte."""
        piece = text.encode() if isinstance(text, str) else text
        self._take(pb.ConnectRequest(append=pb.AppendArguments(text=piece)))

    def complete(self, arguments: Arguments = None) -> None:
        """Mark the arguments as complete.

        If `arguments` is given, it replaces the text that was appended.
        """
        text = b"" if arguments is None else argument_text(arguments)
        self._take(pb.ConnectRequest(complete=pb.CompleteArguments(arguments=text)))

    def cancel(self, reason: str = "") -> None:
        """Request cancellation of the call."""
        self._take(pb.ConnectRequest(cancel=pb.CancelCall(reason=reason)))

    def _take(self, frame: pb.ConnectRequest) -> None:
        frame.call = self._number
        self._host._opened().take(frame)

    async def wait(self) -> CallResult:
        """Wait for the end of the call.

        Raises AssertionError if its result does not fit the output schema.
        """
        while not self._over:
            self._changed.clear()
            await self._changed.wait()
        self._check_output(self._reported.result)
        return self._reported

    async def wait_status(self, wanted: Callable[[Status], bool]) -> Status:
        """Wait for a status for which `wanted` returns True, such as one that a preview reports.

        Raises AssertionError if the call ends without such a status.
        """
        while True:
            for status in self._reported.statuses:
                if wanted(status):
                    return status
            if self._over:
                raise AssertionError(f"the call ended without such a status; it had {self._reported.statuses}")
            self._changed.clear()
            await self._changed.wait()

    def _check_output(self, result: Result | None) -> None:
        """Raise AssertionError if a result violates the output schema, as toolhost checks it.

        The first block of JSON counts, or null if there is none. A result without content fits.
        """
        schema = self._spec.output_schema
        if result is None or result.is_error or schema is None or not result.content:
            return
        value = next((decode(block.encoded) for block in result.content if isinstance(block, Json)), None)
        lines = list(problems(schema, value))
        if lines:
            raise AssertionError(
                f'the result of tool "{self._spec.name}" does not fit its output schema:\n' + "\n".join(lines)
            )

    def _receive(self, response: pb.ConnectResponse) -> None:
        match response.WhichOneof("frame"):
            case "status":
                self._reported.statuses.append(_wire.to_status(response.status))
            case "log":
                self._reported.logs.append(_wire.to_log(response.log))
            case "chunk":
                self._chunks.setdefault(response.chunk.index, bytearray()).extend(response.chunk.data)
            case "read_artifact":
                self._take(pb.ConnectRequest(artifact=artifact_piece(self._artifacts, response.read_artifact)))
            case "ask_person" | "ask_model" if self._answer is not None:
                self._take(pb.ConnectRequest(answer=question_answer(self._answer, response)))
            case "end":
                self._end(response.end)
            case _:
                pass  # a frame that tests do not see, such as spans
        self._changed.set()

    def _end(self, end: pb.CallEnd) -> None:
        if end.HasField("error"):
            self._reported.error = _wire.to_error(end.error)
        elif end.HasField("settlement"):
            self._settlement = _settlement_wire.to_settlement(end.settlement)
        else:
            _wire.join(end.result, self._chunks)
            self._reported.result = _wire.to_result(end.result)
        self._over = True


class AsyncHost:
    """Runs the tools of a plugin in an asyncio test: `async with AsyncHost(plugin) as host`.

    Entering it runs the startup hooks of the plugin, and leaving it cancels the remaining calls and
    runs the shutdown hooks. It belongs to the loop on which it was entered.
    """

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._numbers = itertools.count(1)
        self._streams: dict[int, AsyncStream] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="call")
        self._session: Session | None = None

    async def __aenter__(self) -> Self:
        await self._plugin._hooks.start(self._threads)
        self._session = Session(self._plugin.name, self._plugin._runners(self._threads), self._receive)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.close(_GRACE)
            await self._plugin._hooks.stop(self._threads)
        self._threads.shutdown(wait=False)

    def _opened(self) -> Session:
        if self._session is None:
            raise RuntimeError("the host is not open; use it inside `async with AsyncHost(plugin) as host`")
        return self._session

    def _receive(self, response: pb.ConnectResponse) -> None:
        self._streams[response.call]._receive(response)

    @property
    def client(self) -> AsyncHostClient:
        """A client for code under test that takes a `toolhost.client.AsyncToolCaller`."""
        return AsyncHostClient(self)

    def describe(self, session: str | None = None, context: Mapping[str, Any] | None = None) -> dict[str, Spec]:
        """Return the declarations of the tools by name, as a session and its context see them."""
        request = pb.DescribeRequest(session=session or "", context=_wire.encoded_values(context or {}))
        return {tool.name: _wire.to_spec(tool) for tool in self._plugin._describe(request).tools}

    async def call(self, tool: str, arguments: Arguments = None, **options: Unpack[HostCallOptions]) -> CallResult:
        """Run a tool and wait for the end of the call.

        Arguments are JSON text, or a value to encode as JSON. The call passes the filters that the
        plugin applies to the tool. If the arguments do not fit the schema, the filters after the call
        see the result that says so; a toolhost does not ask them. `stream` runs the tool alone.
        """
        text = argument_text(arguments)
        own = [known for known in self._plugin._filters.values() if tool in known.tools]
        if own:
            return await FilteredCall(self, self._plugin.name, own, tool, options).run(text)
        return await self._call_alone(tool, text, options)

    async def _call_alone(self, tool: str, text: bytes, options: HostCallOptions) -> CallResult:
        return await self._start(tool, text, True, options).wait()

    async def settle(self, tool: str, arguments: Arguments = None, **options: Unpack[HostCallOptions]) -> Settlement:
        """Ask a tool what became of the call with `call_id` and these arguments.

        It executes nothing. Raises ToolhostError if the tool gives no answer, and AssertionError if
        the result in its answer does not fit the output schema.
        """
        stream = self._start(tool, argument_text(arguments), True, options, settle=True)
        failure = (await stream.wait()).error
        if failure is not None:
            raise failure
        stream._check_output(stream._settlement.result)
        return stream._settlement

    def stream(self, tool: str, **options: Unpack[HostCallOptions]) -> AsyncStream:
        """Start a call whose arguments arrive in pieces."""
        return self._start(tool, b"", False, options)

    def _start(
        self, tool: str, text: bytes, complete: bool, options: HostCallOptions, *, settle: bool = False
    ) -> AsyncStream:
        given = checked(options, HostCallOptions, "a call")
        session = self._opened()
        number = next(self._numbers)
        spec = self.describe(given.get("session"), given.get("context")).get(tool) or Spec(tool)
        stream = AsyncStream(self, number, spec, given)
        self._streams[number] = stream
        start = start_call(number, tool, text, complete, spec, given)
        start.settle = settle
        session.take(pb.ConnectRequest(call=number, start=start))
        return stream
