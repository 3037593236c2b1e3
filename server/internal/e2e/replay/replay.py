"""Replays the gold actions of a public benchmark through agentd and toolhost, with a scripted model.

The state in the end, the arguments that the tools got, and the results that the model reads must be those of calling the
benchmark's tools directly. With --kills, the plugin, toolhost and agentd are killed with SIGKILL meanwhile; then every
difference must have been reported to the model as an unknown outcome, and no call may be executed twice.
"""

import argparse
import json
import os
import random
import re
import sys
import time
from pathlib import Path

import pydantic_core
from benchmark import NAMES, Action, Benchmark, ToolFailure, load
from effects import Effects
from servers import PATIENCE, Servers
from toolhost.agent import AgentClient, RunState

PAUSE = 0.08  # seconds at each stage of a call, so that kills hit it


def turns(actions: list[Action], together: bool) -> list[list[int]]:
    """The calls of each response of the model: one, or all of a turn of the user."""
    if not together:
        return [[i] for i in range(len(actions))]
    groups: dict[int, list[int]] = {}
    for i, a in enumerate(actions):
        groups.setdefault(a.turn, []).append(i)
    return list(groups.values())


def script(tasks: dict[str, list[Action]], together: bool) -> str:
    """The script of the model for all tasks; the prompt chooses one."""

    def call(i: int, a: Action) -> dict:
        return {"id": f"c{i}", "tool": a.name, "arguments_raw": json.dumps(a.arguments).replace("{{", '{{"{{"}}')}

    def of(actions: list[Action]) -> list[dict]:
        return [{"calls": [call(i, actions[i]) for i in group]} for group in turns(actions, together)] + [
            {"text": "done"}
        ]

    return json.dumps(
        {"turns": [{"text": "?"}], "tasks": [{"prompt": f"task {name};", "turns": of(a)} for name, a in tasks.items()]}
    )


def shown(value) -> str:
    """A value as the model reads it."""
    return value if isinstance(value, str) else pydantic_core.to_json(value, fallback=str).decode()


MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d+")


def timeless(text: str) -> str:
    """Text without the moments at which tools ran; times in the data have whole seconds."""
    return MOMENT.sub("now", text)


def spelled(value):
    """A value with its numbers and booleans as text: a repair of an argument changes the type, not what is written."""
    if isinstance(value, dict):
        return {k: spelled(v) for k, v in value.items()}
    if isinstance(value, list):
        return [spelled(v) for v in value]
    return str(float(value)) if re.fullmatch(r"-?\d+(\.\d+)?", str(value)) else str(value).lower()


def alike(got: str, want: str) -> bool:
    got, want = timeless(got), timeless(want)
    if got == want or got == "" and want == "null":
        return True
    try:
        return json.loads(got) == json.loads(want)
    except ValueError:
        return False


class Tally:
    """Counts, and what to look at."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.notes: list[str] = []

    def add(self, name: str, n: int = 1) -> None:
        if n:
            self.counts[name] = self.counts.get(name, 0) + n

    def wrong(self, name: str, *what) -> None:
        self.add(name)
        self.notes.append(f"{name}: " + " | ".join(str(w)[:300] for w in what))


def compare(
    tally: Tally,
    benchmark: Benchmark,
    task: str,
    actions: list[Action],
    groups: list[list[int]],
    servers: Servers,
    run: str,
) -> None:
    """Compare a run with direct calls of the same tools."""
    direct = Effects(servers.folder / f"direct-{task}.db", task, benchmark)
    through = Effects(servers.effects / f"{task}.db", task, benchmark)
    executed: dict[str, list] = {}
    for e in through.executed():
        executed.setdefault(e.call_id, []).append(e)
    results = {e["call_id"]: e for e in servers.events(run) if e["type"] == "call_result"}
    unreported, unknown = [], False
    for turn, group in enumerate(groups):
        for position, i in enumerate(group):
            a, call_id = actions[i], f"{run}.t{turn + 1}.c{position}"
            result, times = results.get(call_id, {}), executed.get(call_id, [])
            kind = (result.get("error") or {}).get("kind")
            tally.add("calls")
            if not times and result.get("text", "").startswith("the arguments do not fit the tool's schema"):
                # the action of the task has a value of another type than the tool declares, and the model reads that
                tally.add("actions that the tool's types refuse")
                continue
            given = a.arguments
            if times:
                got = json.loads(times[-1].arguments)
                tally.add("arguments in another form", int(got != given))
                if spelled(got) == spelled(given):
                    given = got  # 10 may have become 10.0
            try:
                ok, want = True, shown(direct.call(a.name, given, call_id))
            except ToolFailure as problem:
                ok, want = False, str(problem)
            if len(times) > 1 and a.name not in benchmark.reads:
                tally.wrong("doubled calls", task, call_id, a.name)
            if kind == "outcome_unknown" or "outcome_unknown" in str(result.get("text", "")):
                unknown = True
                tally.add("reported as unknown")
                continue
            if kind == "crashed" and (a.name in benchmark.reads or not times):
                tally.add("reported as crashed, without an effect")
                if a.name not in benchmark.reads:
                    unknown = True  # the call is missing from the state, and the model knows it
                continue
            if not times:
                unreported.append((call_id, a.name, "not executed", result.get("text", "")))
            text = result.get("text", "")
            same = alike(text, want)
            if any(c["kind"] == "artifact" for c in result.get("content", [])):  # too large to be shown as a whole
                tally.add("results shown in part")
                same = timeless(want).startswith(timeless(text[:1000]))
            if bool(result.get("is_error")) == ok or not same:
                unreported.append((call_id, a.name, text, want))
    ends = [timeless(json.dumps(benchmark.dump(e.state()), sort_keys=True, default=str)) for e in (direct, through)]
    if ends[0] != ends[1]:
        tally.add("states that differ")
        if not unknown:
            tally.wrong("states that differ without a report", task)
    if not unknown:  # what follows an unknown outcome may differ
        for what in unreported:
            tally.wrong("results that differ without a report", task, *what)
    direct.close()
    through.close()


def plan(seed: str, task: str, actions: list[Action], reads: set[str]) -> list[tuple[int, float, str]]:
    """Two to four kills: after the begin of which call, how many seconds later, and of what."""
    r = random.Random(f"{seed}/{task}")
    writes = [i + 1 for i, a in enumerate(actions) if a.name not in reads]
    wanted = min(r.randint(2, 4), len(actions))
    places: set[int] = set()
    while len(places) < wanted:
        places.add(r.choice(writes) if r.random() < 0.5 else r.randint(1, len(actions)))
    return [(p, r.uniform(0, 5.5 * PAUSE), r.choice(("plugin", "toolhost", "agentd"))) for p in sorted(places)]


def begun(trace: Path) -> int:
    try:
        return sum(line.startswith(b"begin") for line in trace.open("rb"))
    except FileNotFoundError:
        return 0


def under_kills(tally: Tally, servers: Servers, task: str, kills: list[tuple[int, float, str]]) -> str | None:
    """Make one run, kill meanwhile, and return its id if it ended."""
    agents = AgentClient(servers.address)
    run = agents.start(f"task {task};", session=task)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if kills and begun(servers.trace) >= kills[0][0]:
            _, later, victim = kills.pop(0)
            time.sleep(later)
            if victim == "plugin":
                tally.add("kills of plugin", servers.kill_plugin())
                continue
            servers.kill(victim)
            tally.add(f"kills of {victim}")
            servers.start(victim)
            if victim == "agentd":
                agents.close()
                agents = AgentClient(servers.address)
            continue
        time.sleep(0.02)
        try:
            if agents.get(run).state == RunState.FINISHED:
                agents.close()
                return run
        except Exception as problem:  # agentd is starting
            print(task, problem, file=sys.stderr)
    agents.close()
    return None


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("benchmark", choices=NAMES)
    p.add_argument("--bin", type=Path, required=True, help="the folder with toolhost and agentd")
    p.add_argument("--site", required=True, help="the folder with the benchmarks' packages")
    p.add_argument("--work", type=Path, required=True, help="a folder for servers and files; it is emptied")
    p.add_argument("--tasks", type=int, default=10**9, help="how many tasks (default: all)")
    p.add_argument("--together", action="store_true", help="put the calls of a user's turn into one response")
    p.add_argument("--kills", metavar="SEED", help="kill processes at moments that a seed determines")
    p.add_argument("--unchecked", action="store_true", help="let no tool say what became of a call")
    o = p.parse_args()
    benchmark, tally = load(o.benchmark, o.site), Tally()
    o.work, o.bin, o.site = o.work.resolve(), o.bin.resolve(), str(Path(o.site).resolve())
    options = {"check": not o.unchecked, "pause": PAUSE if o.kills else 0.0}
    tasks = {name: a for name, a in benchmark.tasks.items() if a}
    if o.kills:  # tasks in which something can be lost
        tasks = {n: a for n, a in tasks.items() if len(a) >= 3 and any(x.name not in benchmark.reads for x in a)}
    tasks = dict(list(tasks.items())[: o.tasks])

    def opened(folder: Path, of: dict[str, list[Action]]) -> Servers:
        servers = Servers(folder, o.bin, o.benchmark, o.site, **options)
        servers.script.write_text(script(of, o.together))
        servers.start("toolhost")
        servers.await_tools(len(benchmark.functions))
        servers.start("agentd")
        return servers

    servers = None if o.kills else opened(o.work, tasks)
    for task, actions in tasks.items():
        tally.add("tasks")
        if o.kills:
            servers = opened(o.work, {task: actions})
            run = under_kills(tally, servers, task, plan(o.kills, task, actions, benchmark.reads))
        else:
            with AgentClient(servers.address) as agents:
                run = agents.start(f"task {task};", session=task)
                agents.wait(run)
        if run is None:
            tally.wrong("stuck runs", task)
        else:
            compare(tally, benchmark, task, actions, turns(actions, o.together), servers, run)
        if o.kills:
            servers.close()
    if not o.kills:
        servers.close()
    for note in tally.notes[:40]:
        print(note)
    print(
        json.dumps(
            {
                "benchmark": o.benchmark,
                "together": o.together,
                "kills": o.kills,
                "check": not o.unchecked,
                **tally.counts,
            }
        )
    )
    return 1 if tally.notes else 0


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # a set of texts has the same order in the plugin
        os.execve(sys.executable, [sys.executable, "-B", *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
    sys.exit(main())
