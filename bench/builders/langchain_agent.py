"""The agent with LangChain's create_agent on LangGraph. Usage: start | approve | resume"""

import os
import sys

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from pydantic import BaseModel

from tools import add_note, find_order, refund


class Answer(BaseModel):
    order: str
    refunded: float
    reason: str


with SqliteSaver.from_conn_string("runs.db") as saver:
    agent = create_agent(
        ChatOpenAI(model="m", base_url=os.environ["MODEL_URL"], api_key="none"),
        tools=[find_order, refund, add_note],
        system_prompt="You handle refunds.",
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"refund": True})],
        response_format=Answer,
        checkpointer=saver,
    )
    todo = {
        "start": {"messages": [{"role": "user", "content": "Refund order-17 if it arrived broken."}]},
        "approve": Command(resume={"decisions": [{"type": "approve"}]}),
        "resume": None,
    }[sys.argv[1]]
    state = agent.invoke(todo, {"configurable": {"thread_id": "run-1"}}, durability="sync")
    print(state.get("__interrupt__") or state["structured_response"])
