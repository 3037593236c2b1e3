"""What the tools did: the state of a task and its executed calls, in one SQLite file. Each call is one transaction."""

import json
import pickle
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark import Benchmark, ToolFailure


@dataclass
class Executed:
    """A call that the benchmark's tool has executed."""

    call_id: str
    tool: str
    arguments: str  # JSON with sorted keys
    ok: bool
    value: Any


class Effects:
    """The file of one task. An instance is used by one thread at a time; SQLite's lock orders processes."""

    def __init__(self, path: Path, task: str, benchmark: Benchmark) -> None:
        self.task, self.benchmark = task, benchmark
        self.db = sqlite3.connect(path, isolation_level=None, timeout=30)
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute("CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY, blob BLOB)")
        self.db.execute(
            "CREATE TABLE IF NOT EXISTS executed (call_id TEXT, tool TEXT, arguments TEXT, ok INTEGER, value BLOB)"
        )

    def close(self) -> None:
        self.db.close()

    def state(self) -> Any:
        row = self.db.execute("SELECT blob FROM state").fetchone()
        return pickle.loads(row[0]) if row else self.benchmark.fresh(self.task)

    def executed(self) -> list[Executed]:
        rows = self.db.execute("SELECT call_id, tool, arguments, ok, value FROM executed ORDER BY rowid")
        return [Executed(i, t, a, bool(ok), pickle.loads(v)) for i, t, a, ok, v in rows]

    def call(
        self, name: str, arguments: dict[str, Any], call_id: str, stage: Callable[[str], None] = lambda name: None
    ) -> Any:
        """Execute a call. `stage` is told where the call is, so that a kill can hit it there."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            state = self.state()
            stage("begin")
            given = json.dumps(
                arguments, sort_keys=True, default=lambda v: v.model_dump() if hasattr(v, "model_dump") else str(v)
            )
            try:
                ok, value = True, self.benchmark.run(state, name, arguments)
            except ToolFailure as problem:
                ok, value = False, str(problem)
            self.db.execute("INSERT OR REPLACE INTO state VALUES (1, ?)", (pickle.dumps(state),))
            self.db.execute(
                "INSERT INTO executed VALUES (?, ?, ?, ?, ?)", (call_id, name, given, ok, pickle.dumps(value))
            )
            stage("effect")
            self.db.execute("COMMIT")
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            raise
        stage("done")
        if not ok:
            raise ToolFailure(value)
        return value
