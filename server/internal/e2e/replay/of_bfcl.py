"""The multi-turn tasks of the Berkeley Function-Calling Leaderboard, from the package bfcl-eval."""

import ast
import importlib
import inspect
import json
from pathlib import Path

from benchmark import Action, Benchmark, ToolFailure

CLASSES = {
    "GorillaFileSystem": "gorilla_file_system", "MathAPI": "math_api", "MessageAPI": "message_api", "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot", "TravelAPI": "travel_booking", "TwitterAPI": "posting_api", "VehicleControlAPI": "vehicle_control",
}  # fmt: skip


def load(site: Path, domain: str) -> Benchmark:
    sources = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
    types = {c: getattr(importlib.import_module(f"{sources}.{m}"), c) for c, m in CLASSES.items()}
    owners: dict[str, dict] = {}
    for c, t in types.items():
        for name, function in inspect.getmembers(t, predicate=inspect.isfunction):
            if not name.startswith("_"):
                owners.setdefault(name, {})[c] = function
    entries = {e["id"]: e for e in rows(site / "bfcl_eval/data/BFCL_v4_multi_turn_base.json")}
    answers = rows(site / "bfcl_eval/data/possible_answer/BFCL_v4_multi_turn_base.json")

    def actions(task, turns):
        for turn, calls in enumerate(turns):
            for call in calls:
                name = call.split("(")[0].strip()
                owner = next(c for c in entries[task]["involved_classes"] if c in owners[name])
                yield Action(name, arguments(owners[name][owner], call), turn)

    def fresh(task):
        world = {}
        for c in entries[task]["involved_classes"]:
            world[c] = types[c]()
            if c != "MathAPI":  # it has no state
                scenario = json.loads(json.dumps(entries[task]["initial_config"].get(c, {})))
                world[c]._load_scenario(scenario, long_context=False)
        return world

    def run(world, name, given):
        owner = next((world[c] for c in world if c in owners[name]), None)
        if owner is None:
            raise ToolFailure(f"{name} is not available here")
        try:
            return getattr(owner, name)(**given)
        except Exception as problem:
            raise ToolFailure(f"Error during execution: {problem}") from None

    return Benchmark(
        tasks={a["id"]: list(actions(a["id"], a["ground_truth"])) for a in answers},
        functions={name: next(iter(of.values())) for name, of in owners.items()},
        reads={n for n, of in owners.items() if set(of) == {"MathAPI"}},
        fresh=fresh,
        run=run,
        dump=plain,
        hidden={name: {"self"} for name in owners},
    )


def rows(path: Path) -> list:
    return [json.loads(line) for line in path.open()]


def arguments(method, call: str) -> dict:
    """The arguments of a call that is written in Python."""
    node = ast.parse(call.strip(), mode="eval").body
    names = [n for n in inspect.signature(method).parameters if n != "self"]
    given = {n: ast.literal_eval(a) for n, a in zip(names, node.args, strict=False)}
    given |= {k.arg: ast.literal_eval(k.value) for k in node.keywords}
    return json.loads(json.dumps(given))


def plain(value):
    """Objects as what they have, without what they keep for themselves."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(v) for v in (sorted(value, key=str) if isinstance(value, set) else value)]
    if isinstance(value, str | int | float | bool | type(None)):
        return value
    if hasattr(value, "__dict__"):
        return {k: plain(v) for k, v in vars(value).items() if not k.startswith("_") and k != "parent"}
    return str(value)
