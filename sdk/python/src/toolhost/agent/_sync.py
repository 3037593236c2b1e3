"""The client of one agentd, for code that is not async."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from toolhost._portal import Portal
from toolhost.agent._async import AsyncAgent
from toolhost.proto.agentd.v1 import agent_service_pb2 as pb


class Agent:
    """AsyncAgent without async: its methods block, and may be called from any thread.

    It is used as a context manager, or closed in the end.
    """

    def __init__(self, address: str = "") -> None:
        self._agent = AsyncAgent(address)
        self._portal = Portal()

    @property
    def address(self) -> str:
        """The address of the agentd."""
        return self._agent.address

    def close(self) -> None:
        """End the connection. Runs go on. It may be called more than once."""
        self._portal.shut(self._agent.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(
        self,
        prompt: str,
        *,
        run_id: str = "",
        system_prompt: str = "",
        session: str = "",
        context: Mapping[str, Any] | None = None,
        request: pb.StartRunRequest | None = None,
    ) -> str:
        """Begin a run, and return its id at once. See AsyncAgent.start."""
        return self._portal.run(
            self._agent.start(
                prompt, run_id=run_id, system_prompt=system_prompt, session=session, context=context, request=request
            )
        )

    def run(
        self,
        prompt: str,
        *,
        run_id: str = "",
        system_prompt: str = "",
        session: str = "",
        context: Mapping[str, Any] | None = None,
        request: pb.StartRunRequest | None = None,
    ) -> pb.RunFinished:
        """Begin a run, wait for its end, and return that. See AsyncAgent.run."""
        return self._portal.run(
            self._agent.run(
                prompt, run_id=run_id, system_prompt=system_prompt, session=session, context=context, request=request
            )
        )

    def wait(self, run_id: str) -> pb.RunFinished:
        """Wait for the end of a run, and return it. See AsyncAgent.wait."""
        return self._portal.run(self._agent.wait(run_id))

    def watch(self, run_id: str, *, after: int = 0) -> Iterator[pb.RunEvent]:
        """Yield a run's events after a seq, until it has finished. See AsyncAgent.watch."""
        return self._portal.iterate(self._agent.watch(run_id, after=after))

    def send(self, run_id: str, text: str) -> int:
        """Add a user's message. See AsyncAgent.send."""
        return self._portal.run(self._agent.send(run_id, text))

    def respond(self, run_id: str, *decisions: pb.Decision, by: str = "") -> int:
        """Make decisions that a run waits for. See AsyncAgent.respond."""
        return self._portal.run(self._agent.respond(run_id, *decisions, by=by))

    def cancel(self, run_id: str, reason: str = "") -> None:
        """Stop a run; its last event tells the end. See AsyncAgent.cancel."""
        self._portal.run(self._agent.cancel(run_id, reason))

    def get(self, run_id: str) -> pb.Run:
        """Return a run's summary. See AsyncAgent.get."""
        return self._portal.run(self._agent.get(run_id))

    def list(self, filter: pb.ListRunsRequest | None = None) -> Iterator[pb.Run]:  # noqa: A002
        """Yield the runs that a filter selects, the newest first. See AsyncAgent.list."""
        return self._portal.iterate(self._agent.list(filter))
