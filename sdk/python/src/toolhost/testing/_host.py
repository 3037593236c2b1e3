"""The blocking host of a plugin in a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from typing_extensions import Unpack

from toolhost._portal import Portal
from toolhost.client._options import Arguments
from toolhost.plugin import Plugin, Settlement, Spec
from toolhost.status import Status
from toolhost.testing._async import AsyncHost, AsyncStream
from toolhost.testing._call import CallResult, HostCallOptions
from toolhost.testing._client import HostClient


class Stream:
    """A call whose arguments arrive in pieces. One thread at a time may use it."""

    def __init__(self, portal: Portal, stream: AsyncStream) -> None:
        self._portal = portal
        self._stream = stream

    def append(self, text: str | bytes) -> None:
        """Send the next piece of argument text. A piece may end at any byte."""
        self._portal.soon(lambda: self._stream.append(text))

    def complete(self, arguments: Arguments = None) -> None:
        """Mark the arguments as complete.

        If `arguments` is given, it replaces the text that was appended.
        """
        self._portal.soon(lambda: self._stream.complete(arguments))

    def cancel(self, reason: str = "") -> None:
        """Request cancellation of the call."""
        self._portal.soon(lambda: self._stream.cancel(reason))

    def wait(self) -> CallResult:
        """Wait for the end of the call.

        Raises AssertionError if its result does not fit the output schema.
        """
        return self._portal.run(self._stream.wait())

    def wait_status(self, wanted: Callable[[Status], bool]) -> Status:
        """Wait for a status for which `wanted` returns True, such as one that a preview reports.

        Raises AssertionError if the call ends without such a status.
        """
        return self._portal.run(self._stream.wait_status(wanted))


class Host:
    """Runs the tools of a plugin in a test: `with Host(plugin) as host`. Any thread may use it.

    The constructor runs the startup hooks of the plugin. `close` cancels the remaining calls and
    runs the shutdown hooks. Async functions run on one loop in a separate thread, and all other
    functions in threads of their own.
    """

    def __init__(self, plugin: Plugin) -> None:
        self._host = AsyncHost(plugin)
        self._portal = Portal()
        self._portal.run(self._host.__aenter__())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Cancel the remaining calls, wait for them and run the shutdown hooks.

        Further calls do nothing.
        """
        self._portal.shut(lambda: self._host.__aexit__(None, None, None))

    @property
    def client(self) -> HostClient:
        """A client for code under test that takes a `toolhost.client.ToolCaller`."""
        return HostClient(self._portal, self._host.client)

    def describe(self, session: str | None = None, context: Mapping[str, Any] | None = None) -> dict[str, Spec]:
        """Return the declarations of the tools by name, as a session and its context see them."""
        return self._host.describe(session, context)

    def call(self, tool: str, arguments: Arguments = None, **options: Unpack[HostCallOptions]) -> CallResult:
        """Run a tool and wait for the end of the call.

        Arguments are JSON text, or a value to encode as JSON. The call passes the filters that the
        plugin applies to the tool. `stream` runs the tool alone.
        """
        return self._portal.run(self._host.call(tool, arguments, **options))

    def settle(self, tool: str, arguments: Arguments = None, **options: Unpack[HostCallOptions]) -> Settlement:
        """Ask a tool what became of the call with `call_id` and these arguments.

        It executes nothing. Raises ToolhostError if the tool gives no answer.
        """
        return self._portal.run(self._host.settle(tool, arguments, **options))

    def stream(self, tool: str, **options: Unpack[HostCallOptions]) -> Stream:
        """Start a call whose arguments arrive in pieces."""
        return Stream(self._portal, self._portal.run(self._opened(tool, options)))

    async def _opened(self, tool: str, options: HostCallOptions) -> AsyncStream:
        return self._host.stream(tool, **options)
