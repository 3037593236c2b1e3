"""The asyncio client of a toolhost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self

from typing_extensions import Unpack

from toolhost import _wire
from toolhost._link import Link
from toolhost._proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost._proto.toolhost.v1 import tool_service_pb2_grpc as pb_grpc
from toolhost._wire import MAX_MESSAGE
from toolhost.client._events import Event, Format, Joiner, Match, Outcome, Rendered, ToolInfo, to_info
from toolhost.client._execution import AsyncExecution
from toolhost.client._options import Arguments, CallOptions, Selection, argument_text, call_options, selection_fields
from toolhost.client._retry import pause_before_retry
from toolhost.client._stream import CallStreams
from toolhost.errors import InvalidArgument, ToolhostError
from toolhost.result import File
from toolhost.spec import Retry

_PIECE = 1 << 20  # bytes of an artifact per request: the limit of toolhost

_FORMATS = {
    Format.OPENAI: pb.TOOL_FORMAT_OPENAI,
    Format.OPENAI_RESPONSES: pb.TOOL_FORMAT_OPENAI_RESPONSES,
    Format.ANTHROPIC: pb.TOOL_FORMAT_ANTHROPIC,
    Format.MCP: pb.TOOL_FORMAT_MCP,
    Format.MARKDOWN: pb.TOOL_FORMAT_MARKDOWN,
}


class AsyncClient:
    """A client of a toolhost.

    It connects on first use, and connects again after the connection is lost. It belongs to the
    event loop of its first use, and any number of tasks may use it at the same time. Use it as an
    async context manager, or call `close`. All methods raise a ToolhostError for infrastructure
    errors, and TypeError for an unknown option.

    Args:
        address: unix:///PATH, 127.0.0.1:PORT or [::1]:PORT. None means the environment variable
            TOOLHOST_ADDR, else the default socket of this user.
        session: The default session of all methods. None means the default session of this user.
        context: The default run context of calls and of dynamic tools.
        timeout: The default timeout of calls, in seconds. None means the timeout of each tool.
        retry: How often and with which pauses `call` repeats a call. None means never. A call is
            repeated only if that cannot execute it twice: after `rate_limited`; after
            `unavailable`, if the call reached no plugin or the error has a `retry_after`; and after
            `outcome_unknown`, if the call has a call id. The pause is at least the `retry_after` of
            the error.
        rpc_timeout: The deadline of every request except calls and `watch_call`, in seconds. None
            means no deadline.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        session: str | None = None,
        context: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        retry: Retry | None = None,
        rpc_timeout: float | None = 30.0,
    ) -> None:
        self._link = Link(address, "toolhost", MAX_MESSAGE, rpc_timeout)
        self._streams = CallStreams(self._link)
        self._session = session
        self._context = context
        self._timeout = timeout
        self._retry = retry

    @property
    def address(self) -> str:
        """The address of the toolhost."""
        return self._link.address

    async def close(self) -> None:
        """Close the connection.

        The client cannot be used again, and requests in progress raise Cancelled.

        Calls in progress end as if the connection was lost. Further calls of `close` do nothing.
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

    def _session_of(self, session: str | None) -> str:
        return session or self._session or ""

    def _selection(self, selection: Selection) -> dict[str, Any]:
        return selection_fields({"session": self._session, "context": self._context, **selection})  # type: ignore[typeddict-item]

    def _options(self, options: CallOptions) -> pb.CallOptions:
        defaults = {"session": self._session, "context": self._context, "timeout": self._timeout}
        return call_options({**defaults, **options})  # type: ignore[typeddict-item]

    # Tools.

    async def list_tools(self, **selection: Unpack[Selection]) -> list[ToolInfo]:
        """Return the matching tools, ordered by name."""
        request = pb.ListToolsRequest(
            page_size=1000,  # the most that toolhost answers with: fewer requests
            selection=pb.ToolSelection(**self._selection(selection)),
        )
        tools: list[ToolInfo] = []
        while True:
            page = await self._unary("ListTools", request)
            tools += [to_info(tool) for tool in page.tools]
            if not page.next_page_token:
                return tools
            request.page_token = page.next_page_token

    async def get_tool(
        self, name: str, *, session: str | None = None, context: Mapping[str, Any] | None = None
    ) -> ToolInfo:
        """Return one tool, as it is declared for a session and its context. Raises NotFound."""
        encoded = _wire.encoded_values(context or self._context or {})
        request = pb.GetToolRequest(name=name, session=self._session_of(session), context=encoded)
        return to_info((await self._unary("GetTool", request)).tool)

    async def search_tools(self, words: str, **selection: Unpack[Selection]) -> list[Match]:
        """Return the matching tools that contain at least one of the words, the best match first.

        The result has at most `max_tools` tools, and at most 10 without that option.
        """
        request = pb.SearchToolsRequest(query=words, selection=pb.ToolSelection(**self._selection(selection)))
        found = await self._unary("SearchTools", request)
        return [Match(to_info(match.tool), match.score) for match in found.matches]

    async def render_tools(self, format: Format | str, **selection: Unpack[Selection]) -> Rendered:  # noqa: A002
        """Return the available tools in the format of a model API or of a prompt.

        Raises InvalidArgument for an unknown format.
        """
        if format not in _FORMATS:
            raise InvalidArgument(f'there is no format "{format}"; there are: {", ".join(f.value for f in Format)}')
        request = pb.RenderToolsRequest(
            format=_FORMATS[Format(format)], selection=pb.ToolSelection(**self._selection(selection))
        )
        rendered = await self._unary("RenderTools", request)
        omitted = {o.name: o.reason for o in rendered.omitted}
        return Rendered(rendered.content, rendered.media_type, tuple(rendered.tools), omitted)

    # Calls.

    async def call(self, tool: str, arguments: Arguments = None, **options: Unpack[CallOptions]) -> Outcome:
        """Execute a call and wait for its outcome.

        A failure that the tool reports raises nothing: the result has `is_error`. Cancelling the
        task that waits also cancels the call, with or without a call id. A client with `retry` may
        make several attempts, each of which has the whole timeout.
        """
        start = pb.StartCall(
            tool=tool, arguments=argument_text(arguments), complete=True, options=self._options(options)
        )
        start.options.outcome_only = True
        attempt = 1
        while True:
            once = pb.StartCall()
            once.CopyFrom(start)  # an execution changes its start
            try:
                async with AsyncExecution(self._streams, once) as execution:
                    return await execution.outcome()
            except ToolhostError as failure:
                named = bool(start.options.call_id)
                pause = pause_before_retry(self._retry, attempt, failure, named)
                if pause is None:
                    raise
            await asyncio.sleep(pause)
            attempt += 1

    def open(
        self, tool: str, arguments: Arguments = None, *, complete: bool = True, **options: Unpack[CallOptions]
    ) -> AsyncExecution:
        """Return a call whose events can be read: `async with client.open(…) as execution`.

        With `complete=False`, the arguments are the beginning of JSON text, and
        `AsyncExecution.send` and `complete` supply the rest. A client never repeats such a call.
        """
        text = b"" if arguments is None and not complete else argument_text(arguments)
        start = pb.StartCall(tool=tool, arguments=text, complete=complete, options=self._options(options))
        return AsyncExecution(self._streams, start)

    async def watch_call(self, call_id: str, *, session: str | None = None, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events of an existing call after a `seq`, up to its outcome.

        Leaving the loop does not cancel the call. Raises NotFound.
        """
        request = pb.WatchCallRequest(call_id=call_id, session=self._session_of(session), after_seq=after)
        joiner = Joiner()
        async for response in self._link.stream(pb_grpc.ToolServiceStub, "WatchCall", request):
            event = joiner.add(response.event)
            if event is not None:
                yield event

    async def cancel_call(self, call_id: str, *, session: str | None = None, reason: str = "") -> None:
        """Request cancellation of a call of any caller, without waiting for its end.

        Raises NotFound.
        """
        request = pb.CancelCallRequest(call_id=call_id, session=self._session_of(session), reason=reason)
        await self._unary("CancelCall", request)

    async def read_artifact(
        self, handle: str, *, session: str | None = None, offset: int = 0, limit: int | None = None
    ) -> File:
        """Read at most `limit` bytes of an artifact from an offset in bytes.

        None means up to the end. Raises NotFound.
        """
        data = bytearray()
        while True:
            wanted = _PIECE if limit is None else min(_PIECE, limit - len(data))
            piece = await self._unary(
                "ReadArtifact",
                pb.ReadArtifactRequest(
                    handle=handle,
                    session=self._session_of(session),
                    offset=offset + len(data),
                    limit=max(1, wanted),
                ),
            )
            data += piece.data
            if not piece.data or offset + len(data) >= piece.size or (limit is not None and len(data) >= limit):
                return File(bytes(data[:limit]), name=piece.name, media_type=piece.media_type)
