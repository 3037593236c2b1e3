"""The blocking client of an agentd."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from typing_extensions import Unpack

from toolhost._portal import Portal
from toolhost.agent._async import AsyncAgentClient
from toolhost.agent._events import RunEvent, RunFinished
from toolhost.agent._runs import (
    Attachment,
    Decision,
    InboxChange,
    InboxDecision,
    InboxPage,
    Run,
    RunOptions,
    RunState,
    Verdict,
)
from toolhost.caller import CallerInfo
from toolhost.credentials import CredentialOptions
from toolhost.version import VersionInfo


class AgentClient:
    """A client of an agentd whose methods block. Any thread may call them.

    Use it as a context manager, or call `close`. The arguments are those of `AsyncAgentClient`.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        rpc_timeout: float | None = 30.0,
        **credentials: Unpack[CredentialOptions],
    ) -> None:
        self._client = AsyncAgentClient(address, rpc_timeout=rpc_timeout, **credentials)
        self._portal = Portal()

    @property
    def address(self) -> str:
        """The address of the agentd."""
        return self._client.address

    def close(self) -> None:
        """Close the connection. Runs continue. Further calls do nothing."""
        self._portal.shut(self._client.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def version(self) -> VersionInfo:
        """Return the version, the commit and the contracts of the running agentd."""
        return self._portal.run(self._client.version())

    def who_am_i(self) -> CallerInfo:
        """Return how agentd identified this client; see `AsyncAgentClient.who_am_i`."""
        return self._portal.run(self._client.who_am_i())

    def start(self, prompt: str, **options: Unpack[RunOptions]) -> str:
        """Start a run and return its id immediately; see `AsyncAgentClient.start`."""
        return self._portal.run(self._client.start(prompt, **options))

    def run(self, prompt: str, **options: Unpack[RunOptions]) -> RunFinished:
        """Start a run and wait for its end; see `AsyncAgentClient.run`."""
        return self._portal.run(self._client.run(prompt, **options))

    def wait(self, run_id: str) -> RunFinished:
        """Wait for the end of a run; see `AsyncAgentClient.wait`."""
        return self._portal.run(self._client.wait(run_id))

    def watch(self, run_id: str, *, after: int = 0) -> Iterator[RunEvent]:
        """Yield the events of a run until it finishes; see `AsyncAgentClient.watch`."""
        return self._portal.iterate(self._client.watch(run_id, after=after))

    def send(self, run_id: str, text: str, *, attachments: Sequence[Attachment] = (), message_id: str = "") -> int:
        """Send a message of the user; see `AsyncAgentClient.send`."""
        return self._portal.run(self._client.send(run_id, text, attachments=attachments, message_id=message_id))

    def respond(self, run_id: str, *decisions: Decision, by: str = "") -> int:
        """Make decisions that a run waits for; see `AsyncAgentClient.respond`."""
        return self._portal.run(self._client.respond(run_id, *decisions, by=by))

    def cancel(self, run_id: str, reason: str = "") -> None:
        """Request that a run stops; see `AsyncAgentClient.cancel`."""
        self._portal.run(self._client.cancel(run_id, reason))

    def delete(self, run_id: str) -> tuple[str, ...]:
        """Delete a finished run with its sub-runs; see `AsyncAgentClient.delete`."""
        return self._portal.run(self._client.delete(run_id))

    def get(self, run_id: str) -> Run:
        """Return the summary of a run; see `AsyncAgentClient.get`."""
        return self._portal.run(self._client.get(run_id))

    def inbox(self, *, tenants: Sequence[str] = ()) -> Iterator[InboxDecision]:
        """Yield the decisions that wait for a person; see `AsyncAgentClient.inbox`."""
        return self._portal.iterate(self._client.inbox(tenants=tenants))

    def inbox_page(self, *, tenants: Sequence[str] = (), page_size: int = 0, page_token: str = "") -> InboxPage:
        """Return one page of the inbox; see `AsyncAgentClient.inbox_page`."""
        return self._portal.run(self._client.inbox_page(tenants=tenants, page_size=page_size, page_token=page_token))

    def watch_inbox(self, *, tenants: Sequence[str] = (), position: str = "") -> Iterator[InboxChange]:
        """Yield what waits, and what becomes of it; see `AsyncAgentClient.watch_inbox`."""
        return self._portal.iterate(self._client.watch_inbox(tenants=tenants, position=position))

    def inbox_decision(self, name: str) -> InboxDecision:
        """Return one decision of the inbox as a whole; see `AsyncAgentClient.inbox_decision`."""
        return self._portal.run(self._client.inbox_decision(name))

    def decide(
        self,
        name: str,
        etag: str,
        verdict: Verdict,
        *,
        text: str = "",
        arguments: Mapping[str, Any] | None = None,
        by: str = "",
        request_id: str = "",
    ) -> InboxDecision:
        """Make one decision of the inbox; see `AsyncAgentClient.decide`."""
        return self._portal.run(
            self._client.decide(name, etag, verdict, text=text, arguments=arguments, by=by, request_id=request_id)
        )

    def list(self, *, states: Sequence[RunState] = (), parent_run_id: str | None = None) -> Iterator[Run]:
        """Yield the summaries of runs, the newest first; see `AsyncAgentClient.list`."""
        return self._portal.iterate(self._client.list(states=states, parent_run_id=parent_run_id))
