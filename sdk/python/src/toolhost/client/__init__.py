"""List and call tools of a toolhost: `Client` blocks, `AsyncClient` is for asyncio.

    from toolhost.client import Client

    with Client() as toolhost:
        print(toolhost.call("forecast", {"city": "Oslo"}).text)

Infrastructure errors raise a subclass of ToolhostError; see `toolhost.errors`.
"""

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
from toolhost.client._options import Arguments, CallOptions, Selection
from toolhost.client._sync import Client, Execution
from toolhost.result import Artifact, Content, Effect, File, Image, Json, Operation, Result, Text, Usage
from toolhost.spec import Example, Retry, Spec
from toolhost.status import LogRecord, Progress, State, Status

__all__ = [
    "Approval",
    "Arguments",
    "Artifact",
    "AsyncClient",
    "AsyncExecution",
    "AsyncToolCaller",
    "CallOptions",
    "Client",
    "Content",
    "Effect",
    "Event",
    "Example",
    "Execution",
    "File",
    "Format",
    "Image",
    "Json",
    "LogRecord",
    "Match",
    "Operation",
    "Outcome",
    "Payload",
    "Progress",
    "Rendered",
    "Result",
    "Retry",
    "Selection",
    "Spec",
    "Started",
    "State",
    "Status",
    "Text",
    "ToolCaller",
    "ToolInfo",
    "Usage",
]
