"""A host of one plugin, in the process of a test."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from typing_extensions import TypedDict, Unpack

from toolhost import _wire
from toolhost._keywords import checked
from toolhost._portal import Portal
from toolhost.client._options import Arguments, argument_text
from toolhost.errors import ToolhostError
from toolhost.plugin import Content, Plugin, Spec
from toolhost.plugin._session import Session
from toolhost.proto.toolhost.plugin.v1 import plugin_pb2 as pb
from toolhost.proto.toolhost.tool.v1 import error_pb2
from toolhost.result import Artifact, File, Image, Json, Result, Text
from toolhost.status import LogRecord, Status

_CREDIT = 1 << 30  # in bytes: a test reads all
_THREADS = 1 << 10
_GRACE = 5.0  # for calls that a test left, in seconds


class Options(TypedDict, total=False):
    """What may be said of a call."""

    call_id: str
    """Without it, each call has an id of its own."""
    attempt: int
    session: str
    workspace: str | os.PathLike[str]
    values: Mapping[str, Any]
    """The run's context. As under a toolhost, only the keys reach the tool that it declares."""
    secrets: Mapping[str, str]
    """As under a toolhost, only those reach the tool that it declares."""
    traceparent: str
    timeout: float
    """How long the call may take, in seconds."""
    artifacts: Mapping[str, Content]
    """Blocks of content that the tool may read as artifacts, by their handles."""


@dataclass
class Ended:
    """A call that has ended."""

    result: Result | None = None
    """What the tool answered, if there is no error."""
    error: ToolhostError | None = None
    """The failure of the machinery, if there is no result."""
    statuses: list[Status] = field(default_factory=list)
    """What people were shown, in order."""
    logs: list[LogRecord] = field(default_factory=list)
    """What the tool logged, in order."""

    @property
    def text(self) -> str:
        """What the result says in text. Raises the error if there is one."""
        return self._answered().text

    @property
    def value(self) -> Any:
        """The value of the result's JSON, as Result.value. Raises the error if there is one."""
        return self._answered().value

    def _answered(self) -> Result:
        if self.error is not None:
            raise self.error
        return self.result or Result()


class Stream:
    """A call whose arguments arrive piece by piece. Its methods are called from one thread."""

    def __init__(self, host: Host, number: int, artifacts: Mapping[str, Content]) -> None:
        self._host = host
        self._number = number
        self._artifacts = artifacts
        self._changed = threading.Condition()
        self._told = Ended()
        self._over = False
        self._pieces: dict[int, bytearray] = {}

    def append(self, text: str | bytes) -> None:
        """Hand the tool the next piece of argument text, which may end anywhere."""
        piece = text.encode() if isinstance(text, str) else text
        self._host._take(pb.ConnectRequest(call=self._number, append=pb.AppendArguments(text=piece)))

    def complete(self, arguments: Arguments = None) -> None:
        """Have the tool execute: with these arguments, or without them with what was appended."""
        text = b"" if arguments is None else argument_text(arguments)
        self._host._take(pb.ConnectRequest(call=self._number, complete=pb.CompleteArguments(arguments=text)))

    def cancel(self, reason: str = "") -> None:
        """Ask to stop the call."""
        self._host._take(pb.ConnectRequest(call=self._number, cancel=pb.CancelCall(reason=reason)))

    def wait(self) -> Ended:
        """Wait until the call has ended, and return how."""
        with self._changed:
            self._changed.wait_for(lambda: self._over)
            return self._told

    def wait_status(self, wanted: Callable[[Status], bool]) -> Status:
        """Wait until a status was reported for which wanted holds, and return it.

        Raises AssertionError if the call ends without one. It is how a test sees what a preview shows.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._over or any(map(wanted, self._told.statuses)))
            found = next((status for status in self._told.statuses if wanted(status)), None)
        if found is None:
            raise AssertionError(f"the call ended without such a status; there were {self._told.statuses}")
        return found

    def _heard(self, response: pb.ConnectResponse) -> None:
        """Take a frame of the plugin's, on the loop."""
        with self._changed:
            match response.WhichOneof("frame"):
                case "status":
                    self._told.statuses.append(_wire.to_status(response.status))
                case "log":
                    self._told.logs.append(_wire.to_log(response.log))
                case "chunk":
                    self._pieces.setdefault(response.chunk.index, bytearray()).extend(response.chunk.data)
                case "read_artifact":
                    piece = _piece(self._artifacts, response.read_artifact)
                    self._host._take(pb.ConnectRequest(call=self._number, artifact=piece))
                case "end":
                    self._end(response.end)
            self._changed.notify_all()

    def _end(self, end: pb.CallEnd) -> None:
        if end.HasField("error"):
            self._told.error = _wire.to_error(end.error)
        else:
            _wire.join(end.result, self._pieces)
            self._told.result = _wire.to_result(end.result)
        self._over = True


class Host:
    """Runs the tools of one plugin. It is used as a context manager, and may be used from any thread.

    Functions that are async run on a loop that all calls share, in a thread beside the test's.
    """

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._numbers = itertools.count(1)
        self._streams: dict[int, Stream] = {}
        self._portal = Portal()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="call")
        self._session = self._portal.run(self._open())

    async def _open(self) -> Session:
        return Session(self._plugin.name, self._plugin.runners(self._threads), self._heard)

    def _heard(self, response: pb.ConnectResponse) -> None:
        self._streams[response.call]._heard(response)

    def _take(self, request: pb.ConnectRequest) -> None:
        self._portal.soon(lambda: self._session.take(request))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Cancel the calls that are left, and wait for them. It may be called more than once."""
        self._portal.shut(self._close)
        self._threads.shutdown(wait=False)

    async def _close(self) -> None:
        await self._session.close(_GRACE)

    def describe(self, session: str = "", values: Mapping[str, Any] | None = None) -> dict[str, Spec]:
        """Return what the tools declare, by name, as a session sees them."""
        request = pb.DescribeRequest(session=session, context=_wire.encoded_values(values or {}))
        return {tool.name: _wire.to_spec(tool) for tool in self._plugin.describe(request).tools}

    def call(self, tool: str, arguments: Arguments = None, **options: Unpack[Options]) -> Ended:
        """Run a tool, and wait for its end. Arguments are JSON text, or a value that is encoded as such."""
        return self._start(tool, argument_text(arguments), True, options).wait()

    def stream(self, tool: str, **options: Unpack[Options]) -> Stream:
        """Begin a call of a tool, whose arguments are to come."""
        return self._start(tool, b"", False, options)

    def _start(self, tool: str, text: bytes, complete: bool, options: Options) -> Stream:
        given = checked(options, Options, "a call")
        number = next(self._numbers)
        stream = Stream(self, number, given.get("artifacts", {}))
        self._streams[number] = stream
        spec = self._plugin.tools.get(tool) or Spec(tool)
        values = {k: v for k, v in given.get("values", {}).items() if k in spec.context_keys}
        start = pb.StartCall(
            call_id=given.get("call_id", f"call-{number}"),
            tool=tool,
            arguments=text,
            complete=complete,
            timeout=_wire.duration(given.get("timeout", 0.0)),
            credit=_CREDIT,
            attempt=given.get("attempt", 1),
            context=pb.CallContext(
                session=given.get("session", ""),
                workspace=os.fspath(given.get("workspace", "")),
                values=_wire.encoded_values(values),
                secrets={k: v for k, v in given.get("secrets", {}).items() if k in spec.requires_auth},
                traceparent=given.get("traceparent", ""),
            ),
        )
        self._take(pb.ConnectRequest(call=number, start=start))
        return stream


def _piece(artifacts: Mapping[str, Content], asked: pb.ReadArtifact) -> pb.ArtifactPiece:
    match artifacts.get(asked.handle):
        case Text(text):
            data, media_type, name = text.encode(), "text/plain", ""
        case Json() as block:
            data, media_type, name = block.encoded, "application/json", ""
        case Image() | File() as block:
            data, media_type, name = block.data, block.media_type, block.name
        case Artifact() | None:
            kind = error_pb2.ERROR_KIND_NOT_FOUND
            return pb.ArtifactPiece(error=error_pb2.Error(kind=kind, message=f"there is no artifact {asked.handle!r}"))
    limit = asked.limit if 0 < asked.limit <= _wire.CHUNK else _wire.CHUNK
    return pb.ArtifactPiece(
        data=data[asked.offset : asked.offset + limit], media_type=media_type, size=len(data), name=name
    )
