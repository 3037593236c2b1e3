"""The agent with Pydantic AI. Usage: start | approve | resume"""

import os
import sys

from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelMessagesTypeAdapter, Tool
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tools import add_note, find_order, refund


class Answer(BaseModel):
    order: str
    refunded: float
    reason: str


agent = Agent(
    OpenAIChatModel("m", provider=OpenAIProvider(base_url=os.environ["MODEL_URL"], api_key="none")),
    instructions="You handle refunds.",
    output_type=[Answer, DeferredToolRequests],
    tools=[find_order, Tool(refund, requires_approval=True), add_note],
)
if sys.argv[1] == "start":
    result = agent.run_sync("Refund order-17 if it arrived broken.")
else:
    with open("run-1.json", "rb") as file:
        history = ModelMessagesTypeAdapter.validate_json(file.read())
    waiting = [part.tool_call_id for part in history[-1].parts if part.part_kind == "tool-call"]
    approved = DeferredToolResults(approvals={call: True for call in waiting})
    result = agent.run_sync(message_history=history, deferred_tool_results=approved)
if isinstance(result.output, DeferredToolRequests):
    with open("run-1.json", "wb") as file:
        file.write(result.all_messages_json())
print(repr(result.output))
