"""Clients whose toolhost is the plugin under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from toolhost._keywords import checked
from toolhost._portal import Portal
from toolhost.client._events import Outcome, ToolInfo
from toolhost.client._options import Arguments, CallOptions, Selection
from toolhost.errors import NotFound
from toolhost.result import Result
from toolhost.spec import Spec

if TYPE_CHECKING:
    from toolhost.testing._async import AsyncHost
    from toolhost.testing._call import HostCallOptions

_OF_A_CALL = ("call_id", "session", "timeout", "context", "traceparent")


class AsyncHostClient:
    """Implements `toolhost.client.AsyncToolCaller` with the tools of a plugin under test.

    It returns and raises what an AsyncClient does. `approval`, `max_shown_bytes`, `ledger_id`,
    `first_sent` and `on_behalf_of` have no effect, because no policy applies, no result becomes an
    artifact, and there is neither a ledger nor a principal.
    """

    def __init__(self, host: AsyncHost) -> None:
        self._host = host

    async def list_tools(self, **selection: Unpack[Selection]) -> list[ToolInfo]:
        """Return the matching tools, ordered by name."""
        given = checked(selection, Selection, "a selection of tools")
        specs = self._host.describe(given.get("session"), given.get("context"))
        infos = [self._info(spec) for _, spec in sorted(specs.items())]
        found = [info for info in infos if _matches(info, given)]
        return found[: given.get("max_tools")]

    async def get_tool(
        self, name: str, *, session: str | None = None, context: Mapping[str, Any] | None = None
    ) -> ToolInfo:
        """Return one tool. Raises NotFound."""
        spec = self._host.describe(session, context).get(name)
        if spec is None:
            raise NotFound(f'there is no tool "{name}"')
        return self._info(spec)

    async def call(self, tool: str, arguments: Arguments = None, **options: Unpack[CallOptions]) -> Outcome:
        """Execute a call and return its outcome. Raises ToolhostError for infrastructure errors."""
        given = checked(options, CallOptions, "a call")
        known: HostCallOptions = {key: given[key] for key in _OF_A_CALL if key in given}  # type: ignore[assignment]
        ended = await self._host.call(tool, arguments, **known)
        if ended.error is not None:
            raise ended.error
        plugin = self._host._plugin.name
        return Outcome(given.get("call_id", ""), plugin, f"{plugin}-test", ended.result or Result())

    def _info(self, spec: Spec) -> ToolInfo:
        plugin = self._host._plugin
        return ToolInfo(spec, plugin.name, plugin.version, None)


class HostClient:
    """Implements `toolhost.client.ToolCaller`; see `AsyncHostClient`."""

    def __init__(self, portal: Portal, client: AsyncHostClient) -> None:
        self._portal = portal
        self._client = client

    def list_tools(self, **selection: Unpack[Selection]) -> list[ToolInfo]:
        """Return the matching tools, ordered by name."""
        return self._portal.run(self._client.list_tools(**selection))

    def get_tool(self, name: str, *, session: str | None = None, context: Mapping[str, Any] | None = None) -> ToolInfo:
        """Return one tool. Raises NotFound."""
        return self._portal.run(self._client.get_tool(name, session=session, context=context))

    def call(self, tool: str, arguments: Arguments = None, **options: Unpack[CallOptions]) -> Outcome:
        """Execute a call and return its outcome. Raises ToolhostError for infrastructure errors."""
        return self._portal.run(self._client.call(tool, arguments, **options))


def _matches(info: ToolInfo, given: Mapping[str, Any]) -> bool:
    """Report whether a tool matches every option of a selection."""
    spec = info.spec
    return (
        spec.name not in given.get("excluded", ())
        and ("plugins" not in given or info.plugin in given["plugins"])
        and ("names" not in given or spec.name in given["names"])
        and ("categories" not in given or spec.category in given["categories"])
        and ("tags" not in given or bool(set(spec.tags) & set(given["tags"])))
        and ("dangerous" not in given or spec.dangerous == given["dangerous"])
        and ("max_cost_per_use" not in given or spec.cost_per_use <= given["max_cost_per_use"])
    )
