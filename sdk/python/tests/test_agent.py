"""Callers of this SDK at a real agentd, which calls plugins of this SDK."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator

import pytest
from conftest import PATIENCE, Server, program, short_folder

from toolhost.agent import (
    Agent,
    AsyncAgent,
    DecisionKind,
    PendingDecision,
    People,
    RunEvent,
    RunState,
    StartRunRequest,
    StopReason,
    answer,
    approve,
    reject,
)
from toolhost.errors import Conflict, InvalidArgument, NotFound, Unavailable

SCRIPT = """
turns:
  - text: I ask.
    calls:
      - {id: weather, tool: forecast, arguments: {city: Oslo, days: 3}}
      - {id: erase, tool: erase, arguments: {path: old}}
      - {id: ask, tool: ask_user, arguments: {question: Which one?}}
    chunks: 3
  - text: 'weather {{result "weather"}}; {{result "erase"}}; {{result "ask"}}'
  - text: 'again {{prompt}}'
"""


@pytest.fixture(scope="module")
def agentd(toolhost: Server) -> Iterator[Server]:
    with short_folder() as home:
        (home / "script.yaml").write_text(SCRIPT)
        agentd = Server(
            program("agentd"),
            "serve",
            "--model",
            f"scripted:{home}/script.yaml",
            "--toolhost",
            toolhost.address,
            "--journal",
            home / "runs.db",
            home=home,
            address=f"unix://{home}/a.sock",
        )
        yield agentd
        agentd.stop()


ATTENDED = StartRunRequest(people=People(attended=True))
ALONE = StartRunRequest(people=People(attended=False))


def decisions(events: Iterator[RunEvent], count: int = 2) -> dict[int, PendingDecision]:
    """Read until decisions are wanted, and return them by their kind."""
    wanted: dict[int, PendingDecision] = {}
    for event in events:
        if event.HasField("decision_requested"):
            wanted[event.decision_requested.decision.kind] = event.decision_requested.decision
        if len(wanted) == count:
            return wanted
    raise AssertionError(f"the run ended, and only {wanted} were wanted")


@pytest.mark.parametrize(
    ("decide", "erased"),
    [
        (approve, "erased old"),
        (lambda decision: approve(decision, {"path": "new"}), "erased new"),
        (lambda decision: reject(decision, "not the old one"), "not the old one"),
    ],
)
def test_a_run(agentd: Server, decide: Callable[[str], object], erased: str) -> None:
    with Agent(agentd.address) as agent:
        run = agent.start("Work.", request=ATTENDED, context={"user": "Ä"})
        wanted = decisions(agent.watch(run))
        approval, question = (
            wanted[kind] for kind in (DecisionKind.DECISION_KIND_APPROVAL, DecisionKind.DECISION_KIND_QUESTION)
        )
        assert approval.tool == "erase"
        assert json.loads(agent.get(run).pending_decisions[0].arguments or "{}") is not None
        assert agent.get(run).state == RunState.RUN_STATE_WAITING
        agent.respond(run, answer(question.decision_id, "the second"), by="a test")
        agent.respond(run, decide(approval.decision_id), by="a test")  # type: ignore[arg-type]
        finished = agent.wait(run)
        assert finished.stop_reason == StopReason.STOP_REASON_END_TURN
        assert '{"city":"Oslo","days":[0,1,2]}' in finished.text
        assert erased in finished.text
        assert "the second" in finished.text
        seqs = [event.seq for event in agent.watch(run)]
        assert [event.seq for event in agent.watch(run, after=seqs[-2])] == [seqs[-1]]
        agent.send(run, "More.")
        assert agent.wait(run).text == "again More."
        assert run in [r.run_id for r in agent.list()]


def test_errors(agentd: Server) -> None:
    with Agent(agentd.address) as agent:
        with pytest.raises(InvalidArgument):
            agent.start("")
        with pytest.raises(NotFound):
            agent.get("nosuch")
        with pytest.raises(NotFound):
            list(agent.watch("nosuch"))
        run = agent.start("Work.", run_id="taken", request=ATTENDED)
        with pytest.raises(Conflict):
            agent.start("Play.", run_id=run)
        with pytest.raises(NotFound):
            agent.respond(run, approve("nosuch"))
        agent.cancel(run, "enough")
        assert agent.wait(run).stop_reason == StopReason.STOP_REASON_CANCELLED
    with short_folder() as home, Agent(f"unix://{home}/none") as agent, pytest.raises(Unavailable, match="no agentd"):
        agent.run("Work.")


def test_asyncio(agentd: Server) -> None:
    async def run() -> None:
        async with AsyncAgent(agentd.address) as agent:
            finished = await asyncio.wait_for(agent.run("Work.", request=ALONE), PATIENCE)
            assert "weather" in finished.text
            assert len([r async for r in agent.list()]) >= 1

    asyncio.run(run())
