"""What a public benchmark is for the replay: tasks with their gold actions, and tools over the state of a task."""

import importlib
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NAMES = (
    "tau2-airline", "tau2-retail", "bfcl", "agentdojo-banking", "agentdojo-slack", "agentdojo-travel", "agentdojo-workspace",
)  # fmt: skip


class ToolFailure(Exception):
    """A tool refuses a call, in the benchmark's own words."""


@dataclass
class Action:
    """A gold action. `turn` counts the turns of the user."""

    name: str
    arguments: dict[str, Any]
    turn: int = 0


@dataclass
class Benchmark:
    """One benchmark. `functions` are declared as tools by their signatures and docstrings, without `hidden` parameters."""

    tasks: dict[str, list[Action]]
    functions: dict[str, Callable[..., Any]]
    reads: set[str]
    fresh: Callable[[str], Any]  # the state in which a task begins
    run: Callable[[Any, str, dict[str, Any]], Any]  # executes a call on a state, and may raise ToolFailure
    dump: Callable[[Any], Any]  # a state as JSON, to compare it with another one
    hidden: dict[str, set[str]] = field(default_factory=dict)
    typed: bool = False  # the tools declare the types of their results, too


def load(name: str, site: str) -> Benchmark:
    """Load a benchmark from the packages in the folder site."""
    if site not in sys.path:
        sys.path += [str(HERE / "stub"), site]
    module, _, domain = name.partition("-")
    return importlib.import_module("of_" + module).load(Path(site), domain)


def without_init(package: str, site: Path) -> None:
    """Let modules of a package be imported without its __init__, which imports SDKs of model providers."""
    module = types.ModuleType(package)
    module.__path__ = [str(site / package.replace(".", "/"))]
    sys.modules[package] = module
