"""The decisions of the inbox, from a server that answers in pages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from toolhost._proto.toolhost.decision.v1 import decision_service_pb2 as pb
from toolhost._proto.toolhost.decision.v1 import decision_service_pb2_grpc as pb_grpc
from toolhost.agent import AgentClient, AsyncAgentClient, DecisionKind, Verdict
from toolhost.client import AsyncClient, Client, Principal
from toolhost.errors import Conflict, InvalidArgument, NotFound

WAITING = pb.Decision(
    name="r1/d1",
    kind=pb.DECISION_KIND_APPROVAL,
    state=pb.DECISION_STATE_WAITING,
    run_id="r1",
    decision_id="d1",
    tenant="acme",
    arguments='{"path": "old"}',
    not_allowed="four eyes",
    four_eyes=True,
)
MADE = pb.Decision(
    name="r2/d2",
    kind=99,  # type: ignore[arg-type]  # a kind of a later version
    state=pb.DECISION_STATE_MADE,
    run_id="r2",
    decision_id="d2",
    verdict=pb.VERDICT_REJECT,
    decided_by="uid:7",
    decided_by_name="A person",
    text="No.",
)
MADE.decide_time.FromSeconds(1)
HELD = pb.Decision(
    name="calls/abcdefghijklmnop",
    kind=pb.DECISION_KIND_APPROVAL,
    state=pb.DECISION_STATE_WAITING,
    tenant="acme",
    tool="pay",
    agent="writer",
    session="s",
    context='{"a": 1}',
)


class _Decisions(pb_grpc.DecisionServiceServicer):
    def ListDecisions(self, request: Any, context: Any) -> pb.ListDecisionsResponse:  # noqa: N802
        assert list(request.tenants) == ["acme"]
        if request.HasField("on_behalf_of"):
            assert (request.on_behalf_of.tenant, request.on_behalf_of.name) == ("red", "ada")
            return pb.ListDecisionsResponse(decisions=[HELD])
        if request.page_size == 7:
            return pb.ListDecisionsResponse(
                decisions=[HELD], next_page_token="more", unavailable=["it hangs"], position="p0"
            )
        if request.page_token == "":
            return pb.ListDecisionsResponse(decisions=[WAITING], next_page_token="empty")
        if request.page_token == "empty":
            return pb.ListDecisionsResponse(next_page_token="last")
        return pb.ListDecisionsResponse(decisions=[MADE])

    def WatchDecisions(self, request: Any, context: Any) -> Iterator[pb.WatchDecisionsResponse]:  # noqa: N802
        assert list(request.tenants) == ["acme"]
        if request.position == "other":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "another watch")
        if not request.position:
            yield pb.WatchDecisionsResponse(restart=True, source="r1", decisions=[WAITING])
            yield pb.WatchDecisionsResponse(complete=True, position="p1", unavailable=["it hangs"])
        yield pb.WatchDecisionsResponse(source="r1" + request.on_behalf_of.name, position="p2")

    def GetDecision(self, request: Any, context: Any) -> pb.GetDecisionResponse:  # noqa: N802
        if request.name == HELD.name and request.on_behalf_of.name == "ada":
            return pb.GetDecisionResponse(decision=HELD)
        if request.name != MADE.name:
            context.abort(grpc.StatusCode.NOT_FOUND, "no such decision")
        return pb.GetDecisionResponse(decision=MADE)

    def Decide(self, request: Any, context: Any) -> pb.DecideResponse:  # noqa: N802
        if request.etag != "seen":
            context.abort(grpc.StatusCode.ALREADY_EXISTS, "something else is asked")
        decision = pb.Decision(state=pb.DECISION_STATE_MADE)
        decision.CopyFrom(WAITING)
        decision.state = pb.DECISION_STATE_MADE
        decision.verdict, decision.text = request.verdict, request.text
        decision.arguments, decision.decided_by_name = request.arguments.decode(), request.decided_by_name
        decision.decided_by = request.request_id + request.on_behalf_of.name
        return pb.DecideResponse(decision=decision)


@pytest.fixture
def address() -> Iterator[str]:
    server = grpc.server(ThreadPoolExecutor(2))
    pb_grpc.add_DecisionServiceServicer_to_server(_Decisions(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()


def test_inbox(address: str) -> None:
    with AgentClient(address) as agentd:
        waiting, unknown = agentd.inbox(tenants=["acme"])
        assert (waiting.name, waiting.tenant, waiting.waiting) == ("r1/d1", "acme", True)
        assert waiting.pending.kind is DecisionKind.APPROVAL
        assert (waiting.pending.run_id, waiting.pending.decision_id) == ("r1", "d1")
        assert (waiting.pending.arguments, waiting.four_eyes) == ('{"path": "old"}', True)
        assert waiting.not_allowed == "four eyes"
        assert (waiting.verdict, waiting.decide_time, waiting.principal) == (None, None, None)
        assert unknown.pending.kind is None

        made = agentd.inbox_decision("r2/d2")
        assert (made.waiting, made.verdict, made.text) == (False, Verdict.REJECT, "No.")
        assert (made.decided_by, made.decided_by_principal) == ("A person", "uid:7")
        assert made.decide_time is not None
        with pytest.raises(NotFound):
            agentd.inbox_decision("r1/none")


def test_decide(address: str) -> None:
    with AgentClient(address) as agentd:
        made = agentd.decide(
            "r1/d1", "seen", Verdict.APPROVE, text="fine", arguments={"path": "new"}, by="A person", request_id="q1"
        )
        assert (made.waiting, made.verdict, made.text, made.decided_by) == (False, Verdict.APPROVE, "fine", "A person")
        assert (made.pending.arguments, made.decided_by_principal) == ('{"path":"new"}', "q1")
        with pytest.raises(Conflict):
            agentd.decide("r1/d1", "old", Verdict.REJECT)
        with pytest.raises(InvalidArgument):
            agentd.decide("r1/d1", "seen", Verdict.EXPIRED)


def test_inbox_asyncio(address: str) -> None:
    async def names() -> list[str]:
        async with AsyncAgentClient(address) as agentd:
            assert (await agentd.inbox_decision("r2/d2")).name == "r2/d2"
            return [decision.name async for decision in agentd.inbox(tenants=["acme"])]

    assert asyncio.run(names()) == ["r1/d1", "r2/d2"]


def test_watch_inbox(address: str) -> None:
    with AgentClient(address) as agentd, Client(address) as toolhost:
        first, second, third = agentd.watch_inbox(tenants=["acme"])
        assert (first.restart, first.source, first.complete, first.position) == (True, "r1", False, "")
        assert [decision.name for decision in first.decisions] == ["r1/d1"]
        assert (second.complete, second.position, second.unavailable) == (True, "p1", ("it hangs",))
        assert (third.restart, third.source, third.decisions, third.position) == (False, "r1", (), "p2")
        (after,) = agentd.watch_inbox(tenants=["acme"], position="p1")
        assert after == third
        with pytest.raises(InvalidArgument):
            list(agentd.watch_inbox(tenants=["acme"], position="other"))
        (held,) = toolhost.watch_inbox(tenants=["acme"], position="p1", on_behalf_of=Principal("ada", tenant="red"))
        assert held.source == "r1ada"


def test_inbox_page(address: str) -> None:
    with AgentClient(address) as agentd:
        page = agentd.inbox_page(tenants=["acme"], page_size=7, page_token="x")
        assert (page.next_page_token, page.unavailable, page.position) == ("more", ("it hangs",), "p0")
        (held,) = page.decisions
        assert (held.agent, held.session, held.context) == ("writer", "s", '{"a": 1}')


def test_inbox_of_toolhost(address: str) -> None:
    ada = Principal("ada", tenant="red")
    with Client(address) as toolhost:
        assert [decision.name for decision in toolhost.inbox(tenants=["acme"])] == ["r1/d1", "r2/d2"]
        (held,) = toolhost.inbox(tenants=["acme"], on_behalf_of=ada)
        assert (held.name, held.pending.tool, held.pending.run_id) == (HELD.name, "pay", "")
        assert toolhost.inbox_decision(HELD.name, on_behalf_of=ada) == held
        with pytest.raises(NotFound):
            toolhost.inbox_decision(HELD.name)
        made = toolhost.decide(
            HELD.name, "seen", Verdict.REJECT, text="no", by="A person", request_id="q", on_behalf_of=ada
        )
        assert (made.verdict, made.text, made.decided_by, made.decided_by_principal) == (
            Verdict.REJECT,
            "no",
            "A person",
            "qada",
        )
        with pytest.raises(Conflict):
            toolhost.decide(HELD.name, "old", Verdict.REJECT)


def test_inbox_of_toolhost_asyncio(address: str) -> None:
    async def names() -> list[str]:
        async with AsyncClient(address, on_behalf_of=Principal("ada", tenant="red")) as toolhost:
            made = await toolhost.decide(HELD.name, "seen", Verdict.APPROVE)
            assert made.decided_by_principal == "ada"
            return [decision.name async for decision in toolhost.inbox(tenants=["acme"])]

    assert asyncio.run(names()) == [HELD.name]
