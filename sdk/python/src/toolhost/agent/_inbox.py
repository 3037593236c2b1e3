"""The requests about decisions, which agentd and toolhost serve alike."""

from __future__ import annotations

from collections.abc import AsyncIterator

from toolhost._link import Link
from toolhost._proto.toolhost.decision.v1 import decision_service_pb2 as pb
from toolhost._proto.toolhost.decision.v1 import decision_service_pb2_grpc as pb_grpc
from toolhost.agent._convert import to_inbox_decision
from toolhost.agent._runs import InboxChange, InboxDecision, InboxPage


async def read_page(link: Link, request: pb.ListDecisionsRequest) -> InboxPage:
    """Return one page of decisions."""
    page: pb.ListDecisionsResponse = await link.unary(pb_grpc.DecisionServiceStub, "ListDecisions", request)
    decisions = tuple(to_inbox_decision(d) for d in page.decisions)
    return InboxPage(decisions, page.next_page_token, tuple(page.unavailable), page.position)


async def read_pages(link: Link, request: pb.ListDecisionsRequest) -> AsyncIterator[InboxDecision]:
    """Yield the decisions of all pages."""
    while True:
        page = await read_page(link, request)
        for decision in page.decisions:
            yield decision
        request.page_token = page.next_page_token
        if not request.page_token:
            return


async def read_changes(link: Link, request: pb.WatchDecisionsRequest) -> AsyncIterator[InboxChange]:
    """Yield what waits, and then what becomes of it."""
    async for m in link.stream(pb_grpc.DecisionServiceStub, "WatchDecisions", request):
        decisions = tuple(to_inbox_decision(d) for d in m.decisions)
        yield InboxChange(m.restart, m.source, decisions, m.complete, m.position, tuple(m.unavailable))


async def read_decision(link: Link, request: pb.GetDecisionRequest) -> InboxDecision:
    """Return one decision as a whole."""
    got: pb.GetDecisionResponse = await link.unary(pb_grpc.DecisionServiceStub, "GetDecision", request)
    return to_inbox_decision(got.decision)


async def make_decision(link: Link, request: pb.DecideRequest) -> InboxDecision:
    """Make one decision, and return it as it was made."""
    made: pb.DecideResponse = await link.unary(pb_grpc.DecisionServiceStub, "Decide", request)
    return to_inbox_decision(made.decision)
