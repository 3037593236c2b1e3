"""The blocking client of a toolhost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from typing_extensions import Unpack

from toolhost._portal import Portal
from toolhost.agent._runs import InboxChange, InboxDecision, Verdict
from toolhost.caller import CallerInfo
from toolhost.client._async import AsyncClient
from toolhost.client._events import Event, Format, Match, Outcome, Rendered, ToolInfo
from toolhost.client._execution import AsyncExecution
from toolhost.client._options import Arguments, CallOptions, Principal, Selection
from toolhost.client._resources import (
    Completion,
    Prompt,
    PromptText,
    Resource,
    ResourceChange,
    ResourceContent,
    ResourceTemplate,
)
from toolhost.credentials import CredentialOptions
from toolhost.question import Answer
from toolhost.result import File
from toolhost.spec import Retry
from toolhost.version import VersionInfo


class Execution:
    """A call in progress, for blocking code; see `AsyncExecution`."""

    def __init__(self, portal: Portal, execution: AsyncExecution) -> None:
        self._portal = portal
        self._execution = execution

    @property
    def call_id(self) -> str | None:
        """The id of the call. None until toolhost has generated one."""
        return self._execution.call_id

    def __enter__(self) -> Self:
        self._portal.run(self._execution.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._portal.run(self._execution.__aexit__(kind, failure, trace))

    def send(self, text: str | bytes, *, complete: bool = False) -> None:
        """Send the next piece of argument text; see `AsyncExecution.send`."""
        self._portal.run(self._execution.send(text, complete=complete))

    def complete(self) -> None:
        """Mark the arguments as complete; see `AsyncExecution.complete`."""
        self._portal.run(self._execution.complete())

    def cancel(self, reason: str = "") -> None:
        """Request cancellation of the call; see `AsyncExecution.cancel`."""
        self._portal.run(self._execution.cancel(reason))

    def __iter__(self) -> Iterator[Event]:
        return self._portal.iterate(aiter(self._execution))

    def outcome(self) -> Outcome:
        """Read all remaining events and return the outcome; see `AsyncExecution.outcome`."""
        return self._portal.run(self._execution.outcome())


class Client:
    """A client of a toolhost whose methods block. Any thread may call them.

    Use it as a context manager, or call `close`. The arguments are those of `AsyncClient`.
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
        self._client = AsyncClient(
            address,
            session=session,
            context=context,
            timeout=timeout,
            retry=retry,
            on_behalf_of=on_behalf_of,
            rpc_timeout=rpc_timeout,
            **credentials,
        )
        self._portal = Portal()

    @property
    def address(self) -> str:
        """The address of the toolhost. Of several, it is the one that the client uses now."""
        return self._client.address

    def close(self) -> None:
        """Close the connection; see `AsyncClient.close`."""
        self._portal.shut(self._client.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def version(self) -> VersionInfo:
        """Return the version, the commit and the contracts of the running toolhost."""
        return self._portal.run(self._client.version())

    def who_am_i(self) -> CallerInfo:
        """Return how toolhost identified this client; see `AsyncClient.who_am_i`."""
        return self._portal.run(self._client.who_am_i())

    def list_tools(self, **selection: Unpack[Selection]) -> list[ToolInfo]:
        """Return the matching tools, ordered by name."""
        return self._portal.run(self._client.list_tools(**selection))

    def get_tool(
        self,
        name: str,
        *,
        session: str | None = None,
        context: Mapping[str, Any] | None = None,
        on_behalf_of: Principal | None = None,
    ) -> ToolInfo:
        """Return one tool; see `AsyncClient.get_tool`."""
        return self._portal.run(
            self._client.get_tool(name, session=session, context=context, on_behalf_of=on_behalf_of)
        )

    def search_tools(self, words: str, **selection: Unpack[Selection]) -> list[Match]:
        """Return the tools that contain one of the words; see `AsyncClient.search_tools`."""
        return self._portal.run(self._client.search_tools(words, **selection))

    def render_tools(self, format: Format | str, **selection: Unpack[Selection]) -> Rendered:  # noqa: A002
        """Return tools in the format of a model API; see `AsyncClient.render_tools`."""
        return self._portal.run(self._client.render_tools(format, **selection))

    def call(self, tool: str, arguments: Arguments = None, **options: Unpack[CallOptions]) -> Outcome:
        """Execute a call and wait for its outcome; see `AsyncClient.call`.

        A KeyboardInterrupt cancels the call.
        """
        return self._portal.run(self._client.call(tool, arguments, **options))

    def open(
        self, tool: str, arguments: Arguments = None, *, complete: bool = True, **options: Unpack[CallOptions]
    ) -> Execution:
        """Return a call to follow: `with client.open(…) as execution`; see `AsyncClient.open`."""
        return Execution(self._portal, self._client.open(tool, arguments, complete=complete, **options))

    def watch_call(
        self,
        call_id: str,
        *,
        session: str | None = None,
        after: int = 0,
        on_behalf_of: Principal | None = None,
    ) -> Iterator[Event]:
        """Yield the events of an existing call; see `AsyncClient.watch_call`."""
        return self._portal.iterate(
            self._client.watch_call(call_id, session=session, after=after, on_behalf_of=on_behalf_of)
        )

    def list_resources(
        self, *, plugin: str = "", session: str | None = None, on_behalf_of: Principal | None = None
    ) -> list[Resource]:
        """Return the resources that plugins offer; see `AsyncClient.list_resources`."""
        return self._portal.run(self._client.list_resources(plugin=plugin, session=session, on_behalf_of=on_behalf_of))

    def list_resource_templates(
        self, *, plugin: str = "", session: str | None = None, on_behalf_of: Principal | None = None
    ) -> list[ResourceTemplate]:
        """Return the templates of resources; see `AsyncClient.list_resource_templates`."""
        return self._portal.run(
            self._client.list_resource_templates(plugin=plugin, session=session, on_behalf_of=on_behalf_of)
        )

    def read_resource(
        self,
        uri: str,
        *,
        plugin: str = "",
        max_shown_bytes: int = 0,
        session: str | None = None,
        on_behalf_of: Principal | None = None,
    ) -> list[ResourceContent]:
        """Return the content of a resource; see `AsyncClient.read_resource`."""
        return self._portal.run(
            self._client.read_resource(
                uri, plugin=plugin, max_shown_bytes=max_shown_bytes, session=session, on_behalf_of=on_behalf_of
            )
        )

    def list_prompts(
        self, *, plugin: str = "", session: str | None = None, on_behalf_of: Principal | None = None
    ) -> list[Prompt]:
        """Return the prompts that plugins offer; see `AsyncClient.list_prompts`."""
        return self._portal.run(self._client.list_prompts(plugin=plugin, session=session, on_behalf_of=on_behalf_of))

    def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        plugin: str = "",
        session: str | None = None,
        on_behalf_of: Principal | None = None,
    ) -> PromptText:
        """Return a prompt with its arguments filled in; see `AsyncClient.get_prompt`."""
        return self._portal.run(
            self._client.get_prompt(name, arguments, plugin=plugin, session=session, on_behalf_of=on_behalf_of)
        )

    def complete_argument(
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
        """Return values of an argument; see `AsyncClient.complete_argument`."""
        return self._portal.run(
            self._client.complete_argument(
                argument,
                value,
                prompt=prompt,
                uri_template=uri_template,
                arguments=arguments,
                plugin=plugin,
                session=session,
                on_behalf_of=on_behalf_of,
            )
        )

    def watch_resources(
        self,
        uris: Sequence[str] = (),
        *,
        plugin: str = "",
        session: str | None = None,
        on_behalf_of: Principal | None = None,
    ) -> Iterator[ResourceChange]:
        """Yield notices of changes; see `AsyncClient.watch_resources`."""
        return self._portal.iterate(
            self._client.watch_resources(uris, plugin=plugin, session=session, on_behalf_of=on_behalf_of)
        )

    def cancel_call(
        self,
        call_id: str,
        *,
        session: str | None = None,
        reason: str = "",
        on_behalf_of: Principal | None = None,
    ) -> None:
        """Request cancellation of a call; see `AsyncClient.cancel_call`."""
        self._portal.run(self._client.cancel_call(call_id, session=session, reason=reason, on_behalf_of=on_behalf_of))

    def answer_question(
        self,
        call_id: str,
        question: int,
        answer: Answer,
        *,
        session: str | None = None,
        on_behalf_of: Principal | None = None,
    ) -> None:
        """Answer a question of a tool; see `AsyncClient.answer_question`."""
        self._portal.run(
            self._client.answer_question(call_id, question, answer, session=session, on_behalf_of=on_behalf_of)
        )

    def read_artifact(
        self,
        handle: str,
        *,
        session: str | None = None,
        offset: int = 0,
        limit: int | None = None,
        on_behalf_of: Principal | None = None,
    ) -> File:
        """Read an artifact; see `AsyncClient.read_artifact`."""
        return self._portal.run(
            self._client.read_artifact(handle, session=session, offset=offset, limit=limit, on_behalf_of=on_behalf_of)
        )

    def inbox(self, *, tenants: Sequence[str] = (), on_behalf_of: Principal | None = None) -> Iterator[InboxDecision]:
        """Yield the calls that toolhost holds; see `AsyncClient.inbox`."""
        return self._portal.iterate(self._client.inbox(tenants=tenants, on_behalf_of=on_behalf_of))

    def watch_inbox(
        self, *, tenants: Sequence[str] = (), position: str = "", on_behalf_of: Principal | None = None
    ) -> Iterator[InboxChange]:
        """Yield the held calls, and what becomes of them; see `AsyncClient.watch_inbox`."""
        return self._portal.iterate(
            self._client.watch_inbox(tenants=tenants, position=position, on_behalf_of=on_behalf_of)
        )

    def inbox_decision(self, name: str, *, on_behalf_of: Principal | None = None) -> InboxDecision:
        """Return one held call as a whole; see `AsyncClient.inbox_decision`."""
        return self._portal.run(self._client.inbox_decision(name, on_behalf_of=on_behalf_of))

    def decide(
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
        """Approve or reject a held call; see `AsyncClient.decide`."""
        return self._portal.run(
            self._client.decide(name, etag, verdict, text=text, by=by, request_id=request_id, on_behalf_of=on_behalf_of)
        )
