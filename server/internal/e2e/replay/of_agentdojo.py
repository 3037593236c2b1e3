"""AgentDojo's user tasks, from the package of that name."""

import sys
import types
from pathlib import Path

from benchmark import Action, Benchmark, ToolFailure, without_init

VERSION = "v1.2.2"
READS = ("get_", "list_", "search_", "read_", "check_", "find_", "next_")


def load(site: Path, domain: str) -> Benchmark:
    without_init("agentdojo.agent_pipeline", site)
    without_init("agentdojo.agent_pipeline.llms", site)
    google = types.ModuleType("agentdojo.agent_pipeline.llms.google_llm")
    google.EMPTY_FUNCTION_NAME = "<empty-function>"  # all that the tasks need of it
    sys.modules[google.__name__] = google
    from agentdojo.functions_runtime import FunctionsRuntime
    from agentdojo.task_suite.load_suites import get_suite

    suite = get_suite(VERSION, domain)
    runtime = FunctionsRuntime(suite.tools)

    def fresh(task):
        return suite.user_tasks[task].init_environment(suite.load_and_inject_default_environment({}))

    def run(environment, name, arguments):
        result, problem = runtime.run_function(environment, name, arguments)
        if problem:
            raise ToolFailure(problem)
        return result

    return Benchmark(
        tasks={
            name: [Action(c.function, dict(c.args), turn) for turn, c in enumerate(task.ground_truth(fresh(name)))]
            for name, task in suite.user_tasks.items()
        },
        functions={f.name: f.run for f in suite.tools},
        reads={f.name for f in suite.tools if f.name.startswith(READS)},
        fresh=fresh,
        run=run,
        dump=lambda state: state.model_dump(mode="json"),
        hidden={f.name: set(f.dependencies) for f in suite.tools},
        typed=True,
    )


sys.setrecursionlimit(10_000)  # pickles of environments
