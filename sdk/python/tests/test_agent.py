"""Callers of this SDK at a real agentd, which calls plugins of this SDK."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Callable, Iterator

import pytest
from conftest import PATIENCE, Server, program, short_folder

from toolhost import __version__
from toolhost.agent import (
    AgentClient,
    AsyncAgentClient,
    Attachment,
    Contracts,
    Decision,
    DecisionKind,
    DecisionRequested,
    PendingDecision,
    People,
    RunEvent,
    RunState,
    StopReason,
    UserMessage,
    answer,
    approve,
    reject,
)
from toolhost.errors import Conflict, InvalidArgument, NotFound, Unavailable

SCRIPT = """
attachments: [image/png, text/*]
turns:
  - text: I ask.
    calls:
      - {id: weather, tool: forecast, arguments: {city: Oslo, days: 3}}
      - {id: erase, tool: erase, arguments: {path: old}}
      - {id: ask, tool: ask_user, arguments: {question: Which one?}}
    chunks: 3
  - text: 'weather {{result "weather"}}; {{result "erase"}}; {{result "ask"}}'
  - text: 'again {{prompt}} {{attachments}}'
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


ATTENDED = People(attended=True)
ALONE = People(attended=False)


def decisions(events: Iterator[RunEvent], count: int = 2) -> dict[DecisionKind | None, PendingDecision]:
    """Read events up to a number of open decisions, and return these by kind."""
    wanted: dict[DecisionKind | None, PendingDecision] = {}
    for event in events:
        if isinstance(event.payload, DecisionRequested):
            wanted[event.payload.decision.kind] = event.payload.decision
        if len(wanted) == count:
            return wanted
    raise AssertionError(f"the run ended, and asked only for {wanted}")


@pytest.mark.parametrize(
    ("decide", "erased"),
    [
        (approve, "erased old"),
        (lambda decision: approve(decision, {"path": "new"}), "erased new"),
        (lambda decision: reject(decision, "not the old one"), "not the old one"),
    ],
)
def test_a_run(agentd: Server, decide: Callable[[str], Decision], erased: str) -> None:
    with AgentClient(agentd.address) as agent:
        run = agent.start("Work.", people=ATTENDED, context={"user": "Ä"})
        wanted = decisions(agent.watch(run))
        approval, question = (wanted[kind] for kind in (DecisionKind.APPROVAL, DecisionKind.QUESTION))
        assert approval.tool == "erase"
        assert json.loads(agent.get(run).pending_decisions[0].arguments or "{}") is not None
        assert agent.get(run).state == RunState.WAITING
        agent.respond(run, answer(question.decision_id, "the second"), by="a test")
        agent.respond(run, decide(approval.decision_id), by="a test")
        finished = agent.wait(run)
        assert finished.stop_reason == StopReason.END_TURN
        assert '{"city":"Oslo","days":[0,1,2]}' in finished.text
        assert erased in finished.text
        assert "the second" in finished.text
        seqs = [event.seq for event in agent.watch(run)]
        assert [event.seq for event in agent.watch(run, after=seqs[-2])] == [seqs[-1]]
        said = agent.send(run, "More.", message_id="m1")
        assert agent.wait(run).text == "again More. "
        assert agent.send(run, "More.", message_id="m1") == said
        assert [e.payload.text for e in agent.watch(run) if isinstance(e.payload, UserMessage)] == ["More."]
        assert run in [r.run_id for r in agent.list()]


ANSWERS = """
turns:
  - calls: [{tool: final_answer, arguments: {colour: 4711}}]
  - calls: [{tool: final_answer, arguments: {colour: mauve}}]
"""


def test_a_structured_answer(toolhost: Server) -> None:
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
    with short_folder() as home:
        (home / "script.yaml").write_text(ANSWERS)
        server = Server(
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
        try:
            with AgentClient(server.address) as agent:
                run = agent.start("Which colour?", response_schema=schema)
                finished = agent.wait(run)
                assert finished.stop_reason == StopReason.COMPLETED
                assert finished.result == {"colour": "mauve"}
                assert finished.turns == 2
                with pytest.raises(InvalidArgument):
                    agent.start("Which colour?", response_schema={"type": "string"})
        finally:
            server.stop()


def test_attachments(agentd: Server) -> None:
    note, more = "Grüße\n".encode(), b"a,b\n"
    with AgentClient(agentd.address) as agent:
        run = agent.start(
            "Work.", people=ALONE, attachments=[Attachment(note, name="note.txt", mime_type="text/plain")]
        )
        agent.wait(run)
        agent.send(run, "More.", attachments=[Attachment(more, name="t.csv")])
        text = agent.wait(run).text
        for data in (note, more):
            assert f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}" in text
        kept = [a for event in agent.watch(run) for a in getattr(event.payload, "attachments", ())]
        assert [(a.name, a.mime_type, a.size, a.artifact) for a in kept] == [
            ("note.txt", "text/plain", len(note), None),
            ("t.csv", "text/plain", len(more), None),
        ]
        with pytest.raises(InvalidArgument, match="it reads image/png"):
            agent.start("Work.", attachments=[Attachment(b"%PDF-1.7", name="a.pdf")])
        with pytest.raises(InvalidArgument, match="not image/png"):
            agent.send(run, "More.", attachments=[Attachment(note, name="a.png", mime_type="image/png")])
        with pytest.raises(InvalidArgument, match="both"):
            agent.start("Work.", attachments=[Attachment(note, artifact="h")])


def test_version(agentd: Server) -> None:
    with AgentClient(agentd.address) as agent:
        version = agent.version()
    assert version.version == __version__  # the programs and the SDK are built from one tree
    assert version.commit
    assert version.contracts == Contracts("toolhost.plugin.v1", "toolhost.v1", "agentd.v1")


def test_who_am_i(agentd: Server) -> None:
    with AgentClient(agentd.address) as agent:
        me = agent.who_am_i()
    assert (me.principal, me.credential) == (f"uid:{os.getuid()}", "peer")
    assert "runs.start" in [right.right for right in me.rights]


def test_errors(agentd: Server) -> None:
    with AgentClient(agentd.address) as agent:
        with pytest.raises(InvalidArgument):
            agent.start("")
        with pytest.raises(NotFound):
            agent.get("nosuch")
        with pytest.raises(NotFound):
            list(agent.watch("nosuch"))
        run = agent.start("Work.", run_id="taken", people=ATTENDED)
        with pytest.raises(Conflict):
            agent.start("Play.", run_id=run)
        with pytest.raises(NotFound):
            agent.respond(run, approve("nosuch"))
        with pytest.raises(Conflict, match="has not finished"):
            agent.delete(run)
        agent.cancel(run, "enough")
        assert agent.wait(run).stop_reason == StopReason.CANCELLED
        assert agent.delete(run) == (run,)
        with pytest.raises(NotFound):
            agent.delete(run)
        with pytest.raises(Conflict, match="was deleted"):
            agent.start("Work.", run_id=run, people=ATTENDED)
    with (
        short_folder() as home,
        AgentClient(f"unix://{home}/none") as agent,
        pytest.raises(Unavailable, match="no agentd"),
    ):
        agent.run("Work.")


def test_asyncio(agentd: Server) -> None:
    async def run() -> None:
        async with AsyncAgentClient(agentd.address) as agent:
            finished = await asyncio.wait_for(agent.run("Work.", people=ALONE), PATIENCE)
            assert "weather" in finished.text
            assert len([r async for r in agent.list()]) >= 1
            assert (await agent.version()).version == __version__

    asyncio.run(run())
