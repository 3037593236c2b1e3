"""The asyncio client of a toolhost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from typing_extensions import Unpack

from toolhost import _wire
from toolhost._link import Link
from toolhost._proto.toolhost.decision.v1 import decision_service_pb2 as decision_pb
from toolhost._proto.toolhost.tool.v1 import principal_pb2
from toolhost._proto.toolhost.v1 import resources_pb2
from toolhost._proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost._proto.toolhost.v1 import tool_service_pb2_grpc as pb_grpc
from toolhost._question_wire import from_answer
from toolhost._wire import MAX_MESSAGE
from toolhost.agent._convert import to_decide_request
from toolhost.agent._inbox import make_decision, read_changes, read_decision, read_pages
from toolhost.agent._runs import InboxChange, InboxDecision, Verdict
from toolhost.caller import CallerInfo
from toolhost.client._events import Event, Format, Joiner, Match, Outcome, Rendered, ToolInfo, to_info
from toolhost.client._execution import AsyncExecution
from toolhost.client._options import (
    Arguments,
    CallOptions,
    Principal,
    Selection,
    argument_text,
    call_options,
    principal_message,
    selection_fields,
)
from toolhost.client._resources import (
    Completion,
    Prompt,
    PromptText,
    Resource,
    ResourceChange,
    ResourceContent,
    ResourceTemplate,
    to_message,
    to_part,
    to_prompt,
    to_resource,
    to_template,
)
from toolhost.client._retry import pause_before_retry
from toolhost.client._stream import CallStreams
from toolhost.credentials import CredentialOptions
from toolhost.errors import InvalidArgument, ToolhostError, Unavailable
from toolhost.question import Answer
from toolhost.result import File
from toolhost.spec import Retry
from toolhost.version import VersionInfo

_PIECE = 1 << 20  # bytes of an artifact per request: the limit of toolhost

_FORMATS = {
    Format.OPENAI: pb.TOOL_FORMAT_OPENAI,
    Format.OPENAI_RESPONSES: pb.TOOL_FORMAT_OPENAI_RESPONSES,
    Format.ANTHROPIC: pb.TOOL_FORMAT_ANTHROPIC,
    Format.GEMINI: pb.TOOL_FORMAT_GEMINI,
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
        address: unix:///PATH or HOST:PORT, or those of several toolhosts with one ledger, separated by
            commas: the client uses one, and the next one when that one accepts no connection. None means
            the environment variable TOOLHOST_ADDR, else the default socket of this user.
        session: The default session of all methods. None means the default session of this user.
        context: The default run context of calls and of dynamic tools.
        timeout: The default timeout of calls, in seconds. None means the timeout of each tool.
        retry: How often and with which pauses `call` repeats a call. None means never. A call is
            repeated only if that cannot execute it twice: after `rate_limited`; after
            `unavailable`, if the call reached no plugin or the error has a `retry_after`; and after
            `outcome_unknown`, if the call has a call id. The pause is at least the `retry_after` of
            the error.
        on_behalf_of: The principal for which the client makes requests by default. None means the
            client itself. toolhost refuses requests for another principal with Denied, unless the
            client has the right to delegate in the tenant of that principal.
        rpc_timeout: The deadline of every request except calls and `watch_call`, in seconds. None
            means no deadline.
        credentials: How to verify the server, and what to present to it; see `CredentialOptions`.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        session: str | None = None,
        context: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        retry: Retry | None = None,
        on_behalf_of: Principal | None = None,
        rpc_timeout: float | None = 30.0,
        **credentials: Unpack[CredentialOptions],
    ) -> None:
        self._link = Link(address, "toolhost", MAX_MESSAGE, rpc_timeout, credentials)
        self._streams = CallStreams(self._link)
        self._session = session
        self._context = context
        self._timeout = timeout
        self._retry = retry
        self._on_behalf_of = on_behalf_of

    @property
    def address(self) -> str:
        """The address of the toolhost. Of several, it is the one that the client uses now."""
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

    def _principal(self, principal: Principal | None) -> principal_pb2.Principal | None:
        return principal_message(principal or self._on_behalf_of)

    def _options(self, options: CallOptions) -> pb.CallOptions:
        defaults = {
            "session": self._session,
            "context": self._context,
            "timeout": self._timeout,
            "on_behalf_of": self._on_behalf_of,
        }
        return call_options({**defaults, **options})  # type: ignore[typeddict-item]

    async def version(self) -> VersionInfo:
        """Return the version, the commit and the contracts of the running toolhost."""
        return _wire.to_version((await self._unary("GetVersion", pb.GetVersionRequest())).version)

    async def who_am_i(self) -> CallerInfo:
        """Return how toolhost identified this client, and what the client may do.

        Every client that toolhost has identified may ask.
        """
        answer: pb.WhoAmIResponse = await self._unary("WhoAmI", pb.WhoAmIRequest())
        return _wire.to_caller(answer.caller)

    # Tools.

    async def list_tools(self, **selection: Unpack[Selection]) -> list[ToolInfo]:
        """Return the matching tools, ordered by name."""
        request = pb.ListToolsRequest(
            page_size=1000,  # the most that toolhost answers with: fewer requests
            selection=pb.ToolSelection(**self._selection(selection)),
            on_behalf_of=self._principal(selection.get("on_behalf_of")),
        )
        tools: list[ToolInfo] = []
        while True:
            page = await self._unary("ListTools", request)
            tools += [to_info(tool) for tool in page.tools]
            if not page.next_page_token:
                return tools
            request.page_token = page.next_page_token

    async def get_tool(
        self,
        name: str,
        *,
        session: str | None = None,
        context: Mapping[str, Any] | None = None,
        on_behalf_of: Principal | None = None,
    ) -> ToolInfo:
        """Return one tool, as it is declared for a session and its context. Raises NotFound."""
        encoded = _wire.encoded_values(context or self._context or {})
        request = pb.GetToolRequest(
            name=name,
            session=self._session_of(session),
            context=encoded,
            on_behalf_of=self._principal(on_behalf_of),
        )
        return to_info((await self._unary("GetTool", request)).tool)

    async def search_tools(self, words: str, **selection: Unpack[Selection]) -> list[Match]:
        """Return the matching tools that contain at least one of the words, the best match first.

        The result has at most `max_tools` tools, and at most 10 without that option.
        """
        request = pb.SearchToolsRequest(
            query=words,
            selection=pb.ToolSelection(**self._selection(selection)),
            on_behalf_of=self._principal(selection.get("on_behalf_of")),
        )
        found = await self._unary("SearchTools", request)
        return [Match(to_info(match.tool), match.score) for match in found.matches]

    async def render_tools(self, format: Format | str, **selection: Unpack[Selection]) -> Rendered:  # noqa: A002
        """Return the available tools in the format of a model API or of a prompt.

        Raises InvalidArgument for an unknown format.
        """
        if format not in _FORMATS:
            raise InvalidArgument(f'there is no format "{format}"; there are: {", ".join(f.value for f in Format)}')
        request = pb.RenderToolsRequest(
            format=_FORMATS[Format(format)],
            selection=pb.ToolSelection(**self._selection(selection)),
            on_behalf_of=self._principal(selection.get("on_behalf_of")),
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
        attempt, renewable = 1, True
        while True:
            once = pb.StartCall()
            once.CopyFrom(start)  # an execution changes its start
            execution = AsyncExecution(self._streams, once)
            try:
                async with execution:
                    return await execution.outcome()
            except ToolhostError as failure:
                refused = isinstance(failure, Unavailable) and failure.plugin is None
                if refused and renewable and await execution._renewed():
                    renewable = False
                    continue
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

    async def watch_call(
        self,
        call_id: str,
        *,
        session: str | None = None,
        after: int = 0,
        on_behalf_of: Principal | None = None,
    ) -> AsyncIterator[Event]:
        """Yield the events of an existing call after a `seq`, up to its outcome.

        Leaving the loop does not cancel the call. Raises NotFound.
        """
        request = pb.WatchCallRequest(
            call_id=call_id,
            session=self._session_of(session),
            after_seq=after,
            on_behalf_of=self._principal(on_behalf_of),
        )
        joiner = Joiner()
        async for response in self._link.stream(pb_grpc.ToolServiceStub, "WatchCall", request):
            event = joiner.add(response.event)
            if event is not None:
                yield event

    # Resources and prompts.

    async def list_resources(
        self, *, plugin: str = "", session: str | None = None, on_behalf_of: Principal | None = None
    ) -> list[Resource]:
        """Return the resources that plugins offer, ordered by plugin and URI.

        It may start instances. Plugins that cannot be listed are left out.
        """
        request = resources_pb2.ListResourcesRequest(
            plugin=plugin, session=self._session_of(session), page_size=1000, on_behalf_of=self._principal(on_behalf_of)
        )
        found: list[Resource] = []
        while True:
            page = await self._unary("ListResources", request)
            found += [to_resource(r) for r in page.resources]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def list_resource_templates(
        self, *, plugin: str = "", session: str | None = None, on_behalf_of: Principal | None = None
    ) -> list[ResourceTemplate]:
        """Return the templates of resources that plugins offer, ordered by plugin and template."""
        request = resources_pb2.ListResourceTemplatesRequest(
            plugin=plugin, session=self._session_of(session), page_size=1000, on_behalf_of=self._principal(on_behalf_of)
        )
        found: list[ResourceTemplate] = []
        while True:
            page = await self._unary("ListResourceTemplates", request)
            found += [to_template(t) for t in page.resource_templates]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def read_resource(
        self,
        uri: str,
        *,
        plugin: str = "",
        max_shown_bytes: int = 0,
        session: str | None = None,
        on_behalf_of: Principal | None = None,
    ) -> list[ResourceContent]:
        """Return the content of a resource. Content that is too large is an artifact.

        Raises NotFound, InvalidArgument if several plugins offer the URI, and Denied.
        """
        request = resources_pb2.ReadResourceRequest(
            plugin=plugin,
            uri=uri,
            max_shown_bytes=max_shown_bytes,
            session=self._session_of(session),
            on_behalf_of=self._principal(on_behalf_of),
        )
        read = await self._unary("ReadResource", request)
        return [to_part(part) for part in read.contents]

    async def list_prompts(
        self, *, plugin: str = "", session: str | None = None, on_behalf_of: Principal | None = None
    ) -> list[Prompt]:
        """Return the prompts that plugins offer, ordered by plugin and name."""
        request = resources_pb2.ListPromptsRequest(
            plugin=plugin, session=self._session_of(session), page_size=1000, on_behalf_of=self._principal(on_behalf_of)
        )
        found: list[Prompt] = []
        while True:
            page = await self._unary("ListPrompts", request)
            found += [to_prompt(p) for p in page.prompts]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        plugin: str = "",
        session: str | None = None,
        on_behalf_of: Principal | None = None,
    ) -> PromptText:
        """Return a prompt with its arguments filled in.

        Raises NotFound, InvalidArgument if several plugins offer the name, and Denied.
        """
        request = resources_pb2.GetPromptRequest(
            plugin=plugin,
            name=name,
            arguments=dict(arguments or {}),
            session=self._session_of(session),
            on_behalf_of=self._principal(on_behalf_of),
        )
        text = await self._unary("GetPrompt", request)
        return PromptText(text.plugin, text.description, tuple(to_message(m) for m in text.messages))

    async def complete_argument(
        self,
        argument: str,
        value: str,
        *,
        prompt: str | None = None,
        uri_template: str | None = None,
        arguments: Mapping[str, str] | None = None,
        plugin: str = "",
        session: str | None = None,
        on_behalf_of: Principal | None = None,
    ) -> Completion:
        """Return values of an argument of either a prompt or a template."""
        request = resources_pb2.CompleteArgumentRequest(
            plugin=plugin,
            prompt=prompt,
            uri_template=uri_template,
            argument=argument,
            value=value,
            arguments=dict(arguments or {}),
            session=self._session_of(session),
            on_behalf_of=self._principal(on_behalf_of),
        )
        found = await self._unary("CompleteArgument", request)
        return Completion(tuple(found.values), found.total, found.more)

    async def watch_resources(
        self,
        uris: Sequence[str] = (),
        *,
        plugin: str = "",
        session: str | None = None,
        on_behalf_of: Principal | None = None,
    ) -> AsyncIterator[ResourceChange]:
        """Yield notices of changes: of lists, and of the resources with these URIs.

        The first notice is empty: from then on, no change is missed. With `plugin`, only its lists
        and resources count.
        """
        request = resources_pb2.WatchResourcesRequest(
            plugin=plugin,
            resources=[resources_pb2.ResourceName(plugin=plugin, uri=uri) for uri in uris],
            session=self._session_of(session),
            on_behalf_of=self._principal(on_behalf_of),
        )
        async for c in self._link.stream(pb_grpc.ToolServiceStub, "WatchResources", request):
            yield ResourceChange(c.plugin, c.resources_changed, c.prompts_changed, c.uri)

    async def cancel_call(
        self,
        call_id: str,
        *,
        session: str | None = None,
        reason: str = "",
        on_behalf_of: Principal | None = None,
    ) -> None:
        """Request cancellation of a call of any caller, without waiting for its end.

        Raises NotFound.
        """
        request = pb.CancelCallRequest(
            call_id=call_id,
            session=self._session_of(session),
            reason=reason,
            on_behalf_of=self._principal(on_behalf_of),
        )
        await self._unary("CancelCall", request)

    async def answer_question(
        self,
        call_id: str,
        question: int,
        answer: Answer,
        *,
        session: str | None = None,
        on_behalf_of: Principal | None = None,
    ) -> None:
        """Answer a question that the tool of a call has asked. Only the first answer counts.

        `question` is the id of a Question. Raises NotFound if the question is not open any more, and
        InvalidArgument if the answer does not fit it; the question then stays open.
        """
        request = pb.AnswerQuestionRequest(
            call_id=call_id,
            session=self._session_of(session),
            question=question,
            answer=from_answer(answer),
            on_behalf_of=self._principal(on_behalf_of),
        )
        await self._unary("AnswerQuestion", request)

    async def read_artifact(
        self,
        handle: str,
        *,
        session: str | None = None,
        offset: int = 0,
        limit: int | None = None,
        on_behalf_of: Principal | None = None,
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
                    on_behalf_of=self._principal(on_behalf_of),
                ),
            )
            data += piece.data
            if not piece.data or offset + len(data) >= piece.size or (limit is not None and len(data) >= limit):
                return File(bytes(data[:limit]), name=piece.name, media_type=piece.media_type)

    # Calls that wait for a person.

    async def inbox(
        self, *, tenants: Sequence[str] = (), on_behalf_of: Principal | None = None
    ) -> AsyncIterator[InboxDecision]:
        """Yield the calls that toolhost holds until a person approves them, and that this client may see.

        These are its own, and with the right calls.list or calls.approve those of a tenant. That which
        ends first comes first. Raises Unsupported for a toolhost of before.

        Args:
            tenants: The tenants whose calls to include. Empty means all that the client may see.
            on_behalf_of: The principal for which the client makes the request. None means that of the client.
        """
        request = decision_pb.ListDecisionsRequest(tenants=tenants, on_behalf_of=self._principal(on_behalf_of))
        async for decision in read_pages(self._link, request):
            yield decision

    async def watch_inbox(
        self, *, tenants: Sequence[str] = (), position: str = "", on_behalf_of: Principal | None = None
    ) -> AsyncIterator[InboxChange]:
        """Yield what `inbox` yields, and what becomes of it, until the loop is left.

        `AsyncAgentClient.watch_inbox` says how to continue, and what it raises.

        Args:
            tenants: The tenants whose calls to include. Empty means all that the client may see.
            position: `InboxChange.position` to continue after. Empty means from the beginning.
            on_behalf_of: The principal for which the client makes the request. None means that of the client.
        """
        request = decision_pb.WatchDecisionsRequest(
            tenants=tenants, position=position, on_behalf_of=self._principal(on_behalf_of)
        )
        async for change in read_changes(self._link, request):
            yield change

    async def inbox_decision(self, name: str, *, on_behalf_of: Principal | None = None) -> InboxDecision:
        """Return one held call as a whole, also for some time after the decision was made. Raises NotFound."""
        request = decision_pb.GetDecisionRequest(name=name, on_behalf_of=self._principal(on_behalf_of))
        return await read_decision(self._link, request)

    async def decide(
        self,
        name: str,
        etag: str,
        verdict: Verdict,
        *,
        text: str = "",
        by: str = "",
        request_id: str = "",
        on_behalf_of: Principal | None = None,
    ) -> InboxDecision:
        """Approve or reject a held call, and return it with the verdict.

        To reject a call of its own, a client needs no right. Raises NotFound, Conflict if the decision is
        not what the person has seen any more, or another verdict came first, InvalidArgument if the
        verdict does not fit, and Denied.

        Args:
            name: The name of the decision.
            etag: `InboxDecision.etag` of what the person has seen.
            verdict: APPROVE or REJECT.
            text: The reason, which the caller reads. It may be empty.
            by: The person who decides. Nobody verifies it.
            request_id: Makes the request safe to repeat: 1 to 64 of A-Z a-z 0-9 _ -. Empty means that
                a repeated request raises Conflict.
            on_behalf_of: The principal that decides. None means that of the client.
        """
        request = to_decide_request(name, etag, verdict, text, None, by, request_id)
        principal = self._principal(on_behalf_of)
        if principal is not None:
            request.on_behalf_of.CopyFrom(principal)
        return await make_decision(self._link, request)
