"""Extraction of the descriptions of a function and of its parameters from a docstring."""

from __future__ import annotations

import inspect
import re

# Google style: a line `Args:` followed by indented lines `name: description` or `name (type):
# description`.
_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns?|Yields?|Raises|Examples?|Notes?):\s*$")
_ENTRY = re.compile(r"^(\s+)\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")
# Sphinx style: `:param name: description` or `:param type name: description`.
_FIELD = re.compile(r"^:(param(?:eter)?|arg(?:ument)?)\s+(?:\S+\s+)?(\w+):\s*(.*)$")


def parse(docstring: str | None) -> tuple[str, dict[str, str]]:
    """Return the description of the function, and those of its parameters by name."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    kept: list[str] = []
    parameters: dict[str, str] = {}
    at = 0
    while at < len(lines):
        field = _FIELD.match(lines[at])
        section = _SECTION.match(lines[at])
        if field:
            end = _indented(lines, at + 1)
            parameters[field[2]] = _joined([field[3], *lines[at + 1 : end]])
        elif section and section[1] in ("Args", "Arguments", "Parameters"):
            end = _indented(lines, at + 1)
            parameters.update(_entries(lines[at + 1 : end]))
        else:
            end = at + 1
            kept.append(lines[at])
        at = end
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip(), parameters


def _indented(lines: list[str], at: int) -> int:
    """Return the end of the block of indented and blank lines that starts at an index."""
    end = at
    for i in range(at, len(lines)):
        if lines[i].strip() and not lines[i][0].isspace():
            break
        if lines[i].strip():
            end = i + 1
    return end


def _entries(lines: list[str]) -> dict[str, str]:
    entries: dict[str, list[str]] = {}
    margin, name = None, ""
    for line in lines:
        entry = _ENTRY.match(line)
        if entry and (margin is None or len(entry[1]) <= margin):
            margin, name = len(entry[1]), entry[2]
            entries[name] = [entry[3]]
        elif name:
            entries[name].append(line)
    return {name: _joined(words) for name, words in entries.items()}


def _joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines if line.strip())
