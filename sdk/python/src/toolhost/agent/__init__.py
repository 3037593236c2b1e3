"""Let agentd work on tasks: `Agent` blocks, `AsyncAgent` is for asyncio.

    from toolhost.agent import Agent

    with Agent() as agentd:
        print(agentd.run("Which Go version does this project need?").text)

Runs and their events are the messages of agentd.v1; proto/agentd/v1/agent_service.proto says what each field means.
What the machinery fails with is a ToolhostError; see `toolhost.errors`.
"""

from toolhost.agent._async import AsyncAgent, answer, approve, reject
from toolhost.agent._sync import Agent
from toolhost.proto.agentd.v1.agent_service_pb2 import (
    Decision,
    DecisionKind,
    Limits,
    ListRunsRequest,
    PendingDecision,
    People,
    Run,
    RunEvent,
    RunFinished,
    RunState,
    StartRunRequest,
    StopReason,
    SystemTools,
    ToolChoice,
    Verdict,
    Window,
)

__all__ = [
    "Agent",
    "AsyncAgent",
    "Decision",
    "DecisionKind",
    "Limits",
    "ListRunsRequest",
    "PendingDecision",
    "People",
    "Run",
    "RunEvent",
    "RunFinished",
    "RunState",
    "StartRunRequest",
    "StopReason",
    "SystemTools",
    "ToolChoice",
    "Verdict",
    "Window",
    "answer",
    "approve",
    "reject",
]
