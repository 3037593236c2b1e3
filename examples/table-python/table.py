"""A plugin of toolhost that knows tables."""

from __future__ import annotations

import csv
import statistics
from dataclasses import dataclass
from pathlib import Path

from toolhost.plugin import Context, Permissions, Plugin, ToolError

plugin = Plugin("table", "1.0.0", description="Statistics of tables.", permissions=Permissions(workspace="read"))


@dataclass
class Column:
    """A column of numbers."""

    name: str
    count: int
    least: float
    greatest: float
    mean: float
    median: float


@dataclass
class Statistics:
    """What the tool answers."""

    rows: int
    columns: list[Column]


@plugin.tool(read_only=True)
def table_statistics(path: str, ctx: Context) -> Statistics:
    """Count the rows of a CSV file and describe its columns of numbers.

    Use it instead of reading a table and computing by yourself. The first line names the columns. Columns with anything
    but numbers are left out; empty cells are not counted.

    Args:
        path: The file, relative to the workspace.
    """
    with file_in(ctx.workspace, path).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = rows[0].keys() if rows else []
    columns = [column for name in names if (column := described(name, [row[name] for row in rows]))]
    return Statistics(len(rows), columns)


def file_in(workspace: Path | None, path: str) -> Path:
    """Return a file, or tell the model that there is none. A path that a model chose may lead out of the workspace."""
    if workspace is None:
        raise ToolError("there is no workspace, and so no file can be read")
    file = (workspace / path).resolve()
    if not file.is_relative_to(workspace.resolve()) or not file.is_file():
        raise ToolError(f"there is no file {path!r} in the workspace")
    return file


def described(name: str, cells: list[str | None]) -> Column | None:
    """Return what is to be said of a column, or None if it has no numbers, or other things."""
    try:
        numbers = [float(cell) for cell in cells if cell]
    except ValueError:
        return None
    if not numbers:
        return None
    return Column(name, len(numbers), min(numbers), max(numbers), statistics.fmean(numbers), statistics.median(numbers))


if __name__ == "__main__":
    plugin.run()
