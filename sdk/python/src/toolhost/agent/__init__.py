"""Start and follow runs of agentd: `AgentClient` blocks, and `AsyncAgentClient` is for asyncio.

    from toolhost.agent import AgentClient

    with AgentClient() as agentd:
        print(agentd.run("Which Go version does this project need?").text)

Infrastructure errors raise a subclass of ToolhostError; see `toolhost.errors`.
"""

from toolhost.agent._async import AsyncAgentClient
from toolhost.agent._events import (
    AssistantMessage,
    BudgetWarning,
    CallStarted,
    CallStatus,
    CancelRequested,
    Compacted,
    ContextChange,
    DecisionMade,
    DecisionRequested,
    RunEvent,
    RunFinished,
    RunPayload,
    RunResumed,
    RunStarted,
    SubRunStarted,
    SubRunWaiting,
    TextDelta,
    TodoChange,
    ToolCall,
    ToolCallResult,
    TurnReset,
    UserMessage,
)
from toolhost.agent._runs import (
    Completion,
    Decision,
    DecisionKind,
    Limits,
    PendingDecision,
    People,
    Run,
    RunOptions,
    RunState,
    StopReason,
    ToolChoice,
    Verdict,
    Window,
    answer,
    approve,
    reject,
)
from toolhost.agent._sync import AgentClient

__all__ = [
    "AgentClient",
    "AssistantMessage",
    "AsyncAgentClient",
    "BudgetWarning",
    "CallStarted",
    "CallStatus",
    "CancelRequested",
    "Compacted",
    "Completion",
    "ContextChange",
    "Decision",
    "DecisionKind",
    "DecisionMade",
    "DecisionRequested",
    "Limits",
    "PendingDecision",
    "People",
    "Run",
    "RunEvent",
    "RunFinished",
    "RunOptions",
    "RunPayload",
    "RunResumed",
    "RunStarted",
    "RunState",
    "StopReason",
    "SubRunStarted",
    "SubRunWaiting",
    "TextDelta",
    "TodoChange",
    "ToolCall",
    "ToolCallResult",
    "ToolChoice",
    "TurnReset",
    "UserMessage",
    "Verdict",
    "Window",
    "answer",
    "approve",
    "reject",
]
