"""The client of one toolhost, for code that is not async."""

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


class Execution:
    """AsyncExecution without async."""

    def __init__(self, portal: Portal, execution: AsyncExecution) -> None:
        self._portal = portal
        self._execution = execution

    @property
    def call_id(self) -> str:
        """The call's id; empty until toolhost has made one."""
        return self._execution.call_id

    def __enter__(self) -> Self:
        self._portal.run(self._execution.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._portal.run(self._execution.__aexit__(kind, failure, trace))

    def send(self, text: str | bytes, *, complete: bool = False) -> None:
        """Send more of the argument text. See AsyncExecution.send."""
        self._portal.run(self._execution.send(text, complete=complete))

    def complete(self) -> None:
        """Say that the arguments are complete. See AsyncExecution.complete."""
        self._portal.run(self._execution.complete())

    def cancel(self, reason: str = "") -> None:
        """Ask to stop the call. See AsyncExecution.cancel."""
        self._portal.run(self._execution.cancel(reason))

    def __iter__(self) -> Iterator[Event]:
        return self._portal.iterate(aiter(self._execution))

    def outcome(self) -> Outcome:
        """Read to the end, and return the outcome. See AsyncExecution.outcome."""
        return self._portal.run(self._execution.outcome())


class Client:
    """AsyncClient without async: its methods block, and may be called from any thread.

    It is used as a context manager, or closed in the end.
    """

    def __init__(self, address: str = "") -> None:
        self._client = AsyncClient(address)
        self._portal = Portal()

    @property
    def address(self) -> str:
        """The address of the toolhost."""
        return self._client.address

    def close(self) -> None:
        """End the connection. See AsyncClient.close. It may be called more than once."""
        self._portal.shut(self._client.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def list_tools(self, **selection: Unpack[Selection]) -> list[ToolInfo]:
        """Return the tools that match, ordered by name."""
        return self._portal.run(self._client.list_tools(**selection))

    def get_tool(self, name: str, *, session: str = "", context: Mapping[str, Any] | None = None) -> ToolInfo:
        """Return one tool. See AsyncClient.get_tool."""
        return self._portal.run(self._client.get_tool(name, session=session, context=context))

    def search_tools(self, words: str, **selection: Unpack[Selection]) -> list[Match]:
        """Return the tools that hold one of the words. See AsyncClient.search_tools."""
        return self._portal.run(self._client.search_tools(words, **selection))

    def render_tools(self, format: Format | str, **selection: Unpack[Selection]) -> Rendered:  # noqa: A002
        """Return tools as a model's API wants them. See AsyncClient.render_tools."""
        return self._portal.run(self._client.render_tools(format, **selection))

    def call(self, tool: str, arguments: Arguments = None, **options: Unpack[CallOptions]) -> Outcome:
        """Execute a call and wait for its end. See AsyncClient.call. An interrupt of the wait cancels the call."""
        return self._portal.run(self._client.call(tool, arguments, **options))

    def open(
        self, tool: str, arguments: Arguments = None, *, complete: bool = True, **options: Unpack[CallOptions]
    ) -> Execution:
        """Return a call to be followed: `with client.open(…) as execution`. See AsyncClient.open."""
        return Execution(self._portal, self._client.open(tool, arguments, complete=complete, **options))

    def watch_call(self, call_id: str, *, session: str = "", after: int = 0) -> Iterator[Event]:
        """Yield the events of a call that exists. See AsyncClient.watch_call."""
        return self._portal.iterate(self._client.watch_call(call_id, session=session, after=after))

    def cancel_call(self, call_id: str, *, session: str = "", reason: str = "") -> None:
        """Ask to stop a call. See AsyncClient.cancel_call."""
        self._portal.run(self._client.cancel_call(call_id, session=session, reason=reason))

    def read_artifact(self, handle: str, *, session: str = "", offset: int = 0, limit: int | None = None) -> File:
        """Read an artifact. See AsyncClient.read_artifact."""
        return self._portal.run(self._client.read_artifact(handle, session=session, offset=offset, limit=limit))
