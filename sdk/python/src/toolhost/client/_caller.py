"""The part of a client that code under test needs: find tools and call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from typing_extensions import Unpack

from toolhost.client._events import Outcome, ToolInfo
from toolhost.client._options import Arguments, CallOptions, Selection


class ToolCaller(Protocol):
    """Lists and calls tools, and blocks.

    `Client` implements it with a toolhost. `toolhost.testing.Host.client` implements it with the
    tools of one plugin, in the process of a test. Functions that take a ToolCaller run unchanged in
    production and in tests.
    """

    def list_tools(self, **selection: Unpack[Selection]) -> list[ToolInfo]:
        """Return the matching tools, ordered by name."""
        ...

    def get_tool(self, name: str, *, session: str | None = None, context: Mapping[str, Any] | None = None) -> ToolInfo:
        """Return one tool. Raises NotFound."""
        ...

    def call(self, tool: str, arguments: Arguments = None, **options: Unpack[CallOptions]) -> Outcome:
        """Execute a call and return its outcome. Raises ToolhostError for infrastructure errors."""
        ...


class AsyncToolCaller(Protocol):
    """ToolCaller for asyncio.

    `AsyncClient` and `toolhost.testing.AsyncHost.client` implement it.
    """

    async def list_tools(self, **selection: Unpack[Selection]) -> list[ToolInfo]:
        """Return the matching tools, ordered by name."""
        ...

    async def get_tool(
        self, name: str, *, session: str | None = None, context: Mapping[str, Any] | None = None
    ) -> ToolInfo:
        """Return one tool. Raises NotFound."""
        ...

    async def call(self, tool: str, arguments: Arguments = None, **options: Unpack[CallOptions]) -> Outcome:
        """Execute a call and return its outcome. Raises ToolhostError for infrastructure errors."""
        ...
