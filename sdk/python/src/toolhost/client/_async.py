"""The client of one toolhost, for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self

from typing_extensions import Unpack

from toolhost import _wire
from toolhost._link import Link
from toolhost._wire import MAX_MESSAGE
from toolhost.client._events import Event, Format, Joiner, Match, Outcome, Rendered, ToolInfo, to_info
from toolhost.client._execution import AsyncExecution
from toolhost.client._options import Arguments, CallOptions, Selection, argument_text, call_options, selection_fields
from toolhost.client._stream import CallStreams
from toolhost.errors import InvalidArgument
from toolhost.proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost.proto.toolhost.v1 import tool_service_pb2_grpc as pb_grpc
from toolhost.result import File

_PIECE = 1 << 20  # of an artifact, in bytes: the most that toolhost answers

_FORMATS = {
    Format.OPENAI: pb.TOOL_FORMAT_OPENAI,
    Format.OPENAI_RESPONSES: pb.TOOL_FORMAT_OPENAI_RESPONSES,
    Format.ANTHROPIC: pb.TOOL_FORMAT_ANTHROPIC,
    Format.MCP: pb.TOOL_FORMAT_MCP,
    Format.MARKDOWN: pb.TOOL_FORMAT_MARKDOWN,
}


class AsyncClient:
    """A client of one toolhost.

    It connects when it is first used, and anew when the connection was lost. It is used on one loop, as an async
    context manager, or closed in the end. All methods raise a ToolhostError where the machinery fails, and TypeError
    for options that there are not.

    Args:
        address: unix:///PATH, 127.0.0.1:PORT or [::1]:PORT. Empty means the environment's TOOLHOST_ADDR, else the
            default socket of this user.
    """

    def __init__(self, address: str = "") -> None:
        self._link = Link(address, "toolhost", MAX_MESSAGE)
        self._streams = CallStreams(self._link)

    @property
    def address(self) -> str:
        """The address of the toolhost."""
        return self._link.address

    async def close(self) -> None:
        """End the connection; the client cannot be used again. What waits for an answer raises Cancelled.

        Calls that are under way end as if the connection was lost. It may be called more than once.
        """
        await self._link.close()
        await self._streams.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _unary(self, method: str, request: Any) -> Any:
        return await self._link.unary(pb_grpc.ToolServiceStub, method, request)

    # Tools.

    async def list_tools(self, **selection: Unpack[Selection]) -> list[ToolInfo]:
        """Return the tools that match, ordered by name."""
        request = pb.ListToolsRequest(selection=pb.ToolSelection(**selection_fields(selection)))
        tools: list[ToolInfo] = []
        while True:
            page = await self._unary("ListTools", request)
            tools += [to_info(tool) for tool in page.tools]
            if not page.next_page_token:
                return tools
            request.page_token = page.next_page_token

    async def get_tool(self, name: str, *, session: str = "", context: Mapping[str, Any] | None = None) -> ToolInfo:
        """Return one tool, as a session and its context see it. Raises NotFound."""
        request = pb.GetToolRequest(name=name, session=session, context=_wire.encoded_values(context or {}))
        return to_info((await self._unary("GetTool", request)).tool)

    async def search_tools(self, words: str, **selection: Unpack[Selection]) -> list[Match]:
        """Return the tools that match and hold one of the words, the best first: 10 unless `max_tools` is given."""
        request = pb.SearchToolsRequest(query=words, selection=pb.ToolSelection(**selection_fields(selection)))
        found = await self._unary("SearchTools", request)
        return [Match(to_info(match.tool), match.score) for match in found.matches]

    async def render_tools(self, format: Format | str, **selection: Unpack[Selection]) -> Rendered:  # noqa: A002
        """Return tools exactly as a model's API, or a prompt, wants them. Those that cannot be called are left out."""
        if format not in _FORMATS:
            raise InvalidArgument(f'there is no format "{format}"; there are: {", ".join(f.value for f in Format)}')
        request = pb.RenderToolsRequest(
            format=_FORMATS[Format(format)], selection=pb.ToolSelection(**selection_fields(selection))
        )
        rendered = await self._unary("RenderTools", request)
        omitted = {o.name: o.reason for o in rendered.omitted}
        return Rendered(rendered.content, rendered.media_type, tuple(rendered.tools), omitted)

    # Calls.

    async def call(self, tool: str, arguments: Arguments = None, **options: Unpack[CallOptions]) -> Outcome:
        """Execute a call and wait for its end.

        A tool that says that it failed raises nothing: its result has `is_error`. Where the wait is cancelled, the call
        is, too, whether it has an id or not.
        """
        start = pb.StartCall(
            tool=tool, arguments=argument_text(arguments), complete=True, options=call_options(options)
        )
        start.options.outcome_only = True
        async with AsyncExecution(self._streams, start) as execution:
            return await execution.outcome()

    def open(
        self, tool: str, arguments: Arguments = None, *, complete: bool = True, **options: Unpack[CallOptions]
    ) -> AsyncExecution:
        """Return a call to be followed: `async with client.open(…) as execution`.

        If not complete, the arguments are the beginning of JSON text, and `send` and `complete` bring the rest.
        """
        text = b"" if arguments is None and not complete else argument_text(arguments)
        start = pb.StartCall(tool=tool, arguments=text, complete=complete, options=call_options(options))
        return AsyncExecution(self._streams, start)

    async def watch_call(self, call_id: str, *, session: str = "", after: int = 0) -> AsyncIterator[Event]:
        """Yield the events of a call that exists, after a seq, to its outcome. Leaving the loop does not cancel it."""
        request = pb.WatchCallRequest(call_id=call_id, session=session, after_seq=after)
        joiner = Joiner()
        async for response in self._link.stream(pb_grpc.ToolServiceStub, "WatchCall", request):
            event = joiner.add(response.event)
            if event is not None:
                yield event

    async def cancel_call(self, call_id: str, *, session: str = "", reason: str = "") -> None:
        """Ask to stop a call, whoever follows it, and do not wait for its end. Raises NotFound."""
        await self._unary("CancelCall", pb.CancelCallRequest(call_id=call_id, session=session, reason=reason))

    async def read_artifact(self, handle: str, *, session: str = "", offset: int = 0, limit: int | None = None) -> File:
        """Read an artifact from an offset, in bytes, to a limit or else to the end. Raises NotFound."""
        data = bytearray()
        while True:
            wanted = _PIECE if limit is None else min(_PIECE, limit - len(data))
            piece = await self._unary(
                "ReadArtifact",
                pb.ReadArtifactRequest(handle=handle, session=session, offset=offset + len(data), limit=max(1, wanted)),
            )
            data += piece.data
            if not piece.data or offset + len(data) >= piece.size or (limit is not None and len(data) >= limit):
                return File(bytes(data[:limit]), name=piece.name, media_type=piece.media_type)
