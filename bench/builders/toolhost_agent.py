"""The agent with toolhost and agentd, from a program in Python. Usage: start | approve | resume"""

import sys
import time

from pydantic import BaseModel
from toolhost.agent import AgentClient, People, RunState, approve


class Answer(BaseModel):
    order: str
    refunded: float
    reason: str


with AgentClient() as agentd:
    if sys.argv[1] == "start":
        agentd.start(
            "Refund order-17 if it arrived broken.",
            run_id="run-1",
            people=People(attended=True, ask_outcome=True),
            response_schema=Answer.model_json_schema(),
        )
    if sys.argv[1] == "approve":
        waiting = agentd.get("run-1").pending_decisions
        agentd.respond("run-1", *[approve(decision.decision_id) for decision in waiting])
    while (run := agentd.get("run-1")).state == RunState.RUNNING:
        time.sleep(0.1)
    if run.state == RunState.FINISHED:
        print(repr(Answer(**agentd.wait("run-1").result)))
    for decision in run.pending_decisions:
        print(decision.reason)
