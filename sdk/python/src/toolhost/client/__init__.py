"""List and call tools of a toolhost: `Client` blocks, `AsyncClient` is for asyncio.

    from toolhost.client import Client

    with Client() as toolhost:
        print(toolhost.call("forecast", {"city": "Oslo"}).text)

Infrastructure errors raise a subclass of ToolhostError; see `toolhost.errors`.
"""

from toolhost.agent._runs import InboxDecision, Verdict
from toolhost.caller import CallerInfo, GrantedRight, GrantedRole
from toolhost.client._async import AsyncClient
from toolhost.client._caller import AsyncToolCaller, ToolCaller
from toolhost.client._events import (
    Approval,
    Event,
    Format,
    Match,
    Outcome,
    Payload,
    Rendered,
    Started,
    ToolInfo,
)
from toolhost.client._execution import AsyncExecution
from toolhost.client._options import Arguments, CallOptions, Principal, Selection
from toolhost.client._resources import (
    Completion,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptText,
    Resource,
    ResourceChange,
    ResourceContent,
    ResourceTemplate,
)
from toolhost.client._sync import Client, Execution
from toolhost.credentials import TLS, CredentialOptions, Token
from toolhost.question import (
    Action,
    Answer,
    ModelAnswer,
    ModelMessage,
    ModelQuestion,
    ModelRole,
    PersonAnswer,
    PersonQuestion,
    Question,
    QuestionClosed,
    QuestionEnd,
    QuestionKind,
)
from toolhost.result import Artifact, Content, Effect, File, Image, Json, Operation, Result, Text, Usage
from toolhost.spec import Example, Retry, Spec
from toolhost.status import LogRecord, Progress, State, Status
from toolhost.version import Contracts, VersionInfo

__all__ = [
    "TLS",
    "Action",
    "Answer",
    "Approval",
    "Arguments",
    "Artifact",
    "AsyncClient",
    "AsyncExecution",
    "AsyncToolCaller",
    "CallOptions",
    "CallerInfo",
    "Client",
    "Completion",
    "Content",
    "Contracts",
    "CredentialOptions",
    "Effect",
    "Event",
    "Example",
    "Execution",
    "File",
    "Format",
    "GrantedRight",
    "GrantedRole",
    "Image",
    "InboxDecision",
    "Json",
    "LogRecord",
    "Match",
    "ModelAnswer",
    "ModelMessage",
    "ModelQuestion",
    "ModelRole",
    "Operation",
    "Outcome",
    "Payload",
    "PersonAnswer",
    "PersonQuestion",
    "Principal",
    "Progress",
    "Prompt",
    "PromptArgument",
    "PromptMessage",
    "PromptText",
    "Question",
    "QuestionClosed",
    "QuestionEnd",
    "QuestionKind",
    "Rendered",
    "Resource",
    "ResourceChange",
    "ResourceContent",
    "ResourceTemplate",
    "Result",
    "Retry",
    "Selection",
    "Spec",
    "Started",
    "State",
    "Status",
    "Text",
    "Token",
    "ToolCaller",
    "ToolInfo",
    "Usage",
    "Verdict",
    "VersionInfo",
]
