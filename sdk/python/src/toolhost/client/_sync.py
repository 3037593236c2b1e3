"""The blocking client of a toolhost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from typing_extensions import Unpack

from toolhost._portal import Portal
from toolhost.client._async import AsyncClient
from toolhost.client._events import Event, Format, Match, Outcome, Rendered, ToolInfo
from toolhost.client._execution import AsyncExecution
from toolhost.client._options import Arguments, CallOptions, Selection
from toolhost.result import File
from toolhost.spec import Retry


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
        rpc_timeout: float | None = 30.0,
    ) -> None:
        self._client = AsyncClient(
            address, session=session, context=context, timeout=timeout, retry=retry, rpc_timeout=rpc_timeout
        )
        self._portal = Portal()

    @property
    def address(self) -> str:
        """The address of the toolhost."""
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

    def list_tools(self, **selection: Unpack[Selection]) -> list[ToolInfo]:
        """Return the matching tools, ordered by name."""
        return self._portal.run(self._client.list_tools(**selection))

    def get_tool(self, name: str, *, session: str | None = None, context: Mapping[str, Any] | None = None) -> ToolInfo:
        """Return one tool; see `AsyncClient.get_tool`."""
        return self._portal.run(self._client.get_tool(name, session=session, context=context))

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

    def watch_call(self, call_id: str, *, session: str | None = None, after: int = 0) -> Iterator[Event]:
        """Yield the events of an existing call; see `AsyncClient.watch_call`."""
        return self._portal.iterate(self._client.watch_call(call_id, session=session, after=after))

    def cancel_call(self, call_id: str, *, session: str | None = None, reason: str = "") -> None:
        """Request cancellation of a call; see `AsyncClient.cancel_call`."""
        self._portal.run(self._client.cancel_call(call_id, session=session, reason=reason))

    def read_artifact(
        self, handle: str, *, session: str | None = None, offset: int = 0, limit: int | None = None
    ) -> File:
        """Read an artifact; see `AsyncClient.read_artifact`."""
        return self._portal.run(self._client.read_artifact(handle, session=session, offset=offset, limit=limit))
