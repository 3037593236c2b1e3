"""List the public API in api.txt, or with --check report whether the file is up to date.

The list has every name in `__all__` of the public modules: the signature of each function, and the bases, fields,
properties and methods of each class. A change of the list is a change that callers and authors can notice.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import re
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODULES = ("agent", "client", "errors", "plugin", "result", "settlement", "spec", "status", "testing", "version")
LISTING = Path(__file__).resolve().parent.parent / "api.txt"


def lines() -> Iterator[str]:
    """Yield the lines of the list."""
    for name in MODULES:
        module = importlib.import_module(f"toolhost.{name}")
        for member in module.__all__:
            yield from described(f"toolhost.{name}.{member}", getattr(module, member))


def described(name: str, value: Any) -> Iterator[str]:
    """Yield the lines of one name."""
    if not isinstance(value, type):
        yield f"{name}{signature(value)}" if inspect.isroutine(value) else f"{name} = {cleaned(str(value))}"
        return
    home = f"{value.__module__}.{value.__qualname__}"
    public = ".".join(part for part in home.split(".") if not part.startswith("_"))
    if public != name:
        yield f"{name} is {public}"
        if public.rsplit(".", 1)[0] != name.rsplit(".", 1)[0]:
            return
    bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
    yield f"class {name}({bases})"
    yield from (f"    {line}" for line in members(value))


def members(value: type) -> Iterator[str]:
    """Yield the lines of the members of a class."""
    if issubclass(value, enum.Enum):
        yield from (f"{member.name} = {member.value!r}" for member in value)
        return
    fields = {field.name: field for field in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else {}
    for name, hint in inspect.get_annotations(value).items():
        if not name.startswith("_") and name not in fields:
            yield f"{name}: {cleaned(str(hint))}"
    if callable(value.__init__) and not typing.is_typeddict(value) and "Protocol" not in str(value.__bases__):
        yield f"__init__{signature(value.__init__)}"
    for name, member in sorted(vars(value).items()):
        if name.startswith("_") and name not in ("__enter__", "__aenter__", "__iter__", "__aiter__"):
            continue
        if isinstance(member, property):
            yield f"{name}: {signature(member.fget).rpartition(' -> ')[2]}"
        elif isinstance(member, classmethod | staticmethod) or inspect.isfunction(member):
            kind = "async " if inspect.iscoroutinefunction(member) else ""
            yield f"{kind}{name}{signature(getattr(value, name))}"


def signature(function: Any) -> str:
    """Return the signature of a function as it is written."""
    return cleaned(str(inspect.signature(function)))


def cleaned(text: str) -> str:
    """Return a text without quotes around hints and without the names of private modules."""
    unquoted = re.sub(r"ForwardRef\('([^']*)'[^)]*\)", r"\1", text)
    unquoted = re.sub(r"(: |-> )'([^']*)'", r"\1\2", unquoted)
    return re.sub(r"\b(?:\w+\.)*_\w+\.", "", unquoted)


def main() -> int:
    """Write the list, or check it."""
    listing = "".join(line + "\n" for line in lines())
    if "--check" not in sys.argv[1:]:
        LISTING.write_text(listing)
        return 0
    if LISTING.read_text() == listing:
        return 0
    print("the public API differs from api.txt; if this is intended, run scripts/check.sh api", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
