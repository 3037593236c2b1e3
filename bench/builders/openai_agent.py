"""The agent with the OpenAI Agents SDK. Usage: start | approve | resume"""

import asyncio
import os
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, RunState, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from pydantic import BaseModel

from tools import add_note, find_order, refund

set_tracing_disabled(True)


class Answer(BaseModel):
    order: str
    refunded: float
    reason: str


agent = Agent(
    name="refunds",
    instructions="You handle refunds.",
    model=OpenAIChatCompletionsModel("m", AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key="none")),
    tools=[function_tool(find_order), function_tool(refund, needs_approval=True), function_tool(add_note)],
    output_type=Answer,
)


async def main():
    todo = "Refund order-17 if it arrived broken."
    if sys.argv[1] != "start":
        with open("run-1.json") as file:
            todo = await RunState.from_string(agent, file.read())
        for item in todo.get_interruptions():
            todo.approve(item)
    result = await Runner.run(agent, todo)
    if result.interruptions:
        with open("run-1.json", "w") as file:
            file.write(result.to_state().to_string())
    print(result.interruptions or repr(result.final_output))


asyncio.run(main())
