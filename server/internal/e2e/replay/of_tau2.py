"""tau2-bench's airline and retail domains, from the package inspect-evals."""

import asyncio
import copy
import importlib
import json
from pathlib import Path

from benchmark import Action, Benchmark, ToolFailure, without_init

READS = {
    "calculate", "find_user_id_by_email", "find_user_id_by_name_zip", "get_flight_status", "get_item_details", "get_order_details",
    "get_product_details", "get_reservation_details", "get_user_details", "list_all_airports", "list_all_product_types",
    "search_direct_flight", "search_onestop_flight", "transfer_to_human_agents",
}  # fmt: skip


def load(site: Path, domain: str) -> Benchmark:
    without_init("inspect_evals", site)
    without_init("inspect_evals.tau2", site)
    tools = importlib.import_module(f"inspect_evals.tau2.{domain}.tools")
    kits = importlib.import_module(f"inspect_evals.tau2.{domain}.{domain.capitalize()}AgentTools")
    refusal = importlib.import_module("inspect_ai.tool").ToolError
    kit = getattr(kits, f"{domain.capitalize()}AgentTools")(instance=domain)
    kit.initialize()
    begin = kit.db
    setattr(tools, f"get_{domain}_tools", lambda: kit)
    functions = {f.__name__: f() for f in getattr(tools, f"all_{domain}_tools")}

    def run(state, name, arguments):
        kit.db = state
        try:
            return asyncio.run(functions[name](**arguments))
        except refusal as problem:
            raise ToolFailure(str(problem)) from None

    tasks = json.loads((site / f"inspect_evals/tau2/data/domains/{domain}/tasks.json").read_text())
    return Benchmark(
        tasks={
            str(t["id"]): [Action(a["name"], a["arguments"]) for a in t["evaluation_criteria"]["actions"] or []]
            for t in tasks
            if t["evaluation_criteria"]
        },
        functions=functions,
        reads=READS,
        fresh=lambda task: copy.deepcopy(begin),
        run=run,
        dump=lambda state: state.model_dump(mode="json"),
    )
