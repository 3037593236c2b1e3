"""A check of JSON values against a JSON Schema, for the results of tools in tests.

It covers the keywords that describe structure and bounds. It accepts a value if only an unsupported
keyword, such as `unevaluatedProperties` or a rare format, could reject it. toolhost itself checks every
keyword.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolhost._json import is_array, is_object

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": is_object,
    "array": is_array,
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "integer": lambda v: isinstance(v, int | float) and not isinstance(v, bool) and v == int(v),
}
_BOUNDS: dict[str, tuple[type | tuple[type, ...], Callable[[Any, Any], bool], str]] = {
    "minimum": ((int, float), lambda v, b: v >= b, "must be at least {}"),
    "maximum": ((int, float), lambda v, b: v <= b, "must be at most {}"),
    "exclusiveMinimum": ((int, float), lambda v, b: v > b, "must be greater than {}"),
    "exclusiveMaximum": ((int, float), lambda v, b: v < b, "must be less than {}"),
    "minLength": (str, lambda v, b: len(v) >= b, "must have at least {} characters"),
    "maxLength": (str, lambda v, b: len(v) <= b, "must have at most {} characters"),
    "pattern": (str, lambda v, b: re.search(b, v) is not None, "must match the pattern {}"),
    "minItems": (list, lambda v, b: len(v) >= b, "must have at least {} items"),
    "maxItems": (list, lambda v, b: len(v) <= b, "must have at most {} items"),
}

_DATE, _CLOCK = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?"
_OFFSET = r"([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)"
_PERIOD = r"P(\d+W|(?=.)(\d+Y)?(\d+M)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+S)?)?)"
_FORMATS: dict[str, Callable[[str], object]] = {
    "date-time": re.compile(f"{_DATE}[Tt]{_CLOCK}{_OFFSET}", re.ASCII).fullmatch,
    "date": re.compile(_DATE, re.ASCII).fullmatch,
    "time": re.compile(_CLOCK + _OFFSET, re.ASCII).fullmatch,
    "duration": re.compile(_PERIOD, re.ASCII).fullmatch,
    "uuid": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}").fullmatch,
    "email": re.compile(r"[^@]+@[^@\s]+").fullmatch,
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]*").fullmatch,
    "ipv4": lambda v: _parses(ipaddress.IPv4Address, v),
    "ipv6": lambda v: "%" not in v and _parses(ipaddress.IPv6Address, v),
}


def _parses(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def problems(schema: Any, value: Any, root: Any = None, path: str = "") -> Iterator[str]:
    """Yield one line for each violation.

    `root` is the schema that `$ref` refers to; None means the schema itself.
    """
    root = schema if root is None else root
    place = path or "the value"
    if schema is False:
        yield f"{place}: is not allowed"
    if not is_object(schema):
        return
    if isinstance(schema.get("$ref"), str):
        yield from problems(_resolve(root, schema["$ref"]), value, root, path)
    types = schema.get("type")
    names: list[str] = [types] if isinstance(types, str) else types or []
    if names and not any(_TYPES[name](value) for name in names if name in _TYPES):
        yield f"{place}: must be of type {' or '.join(names)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: must be one of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{place}: must be {schema['const']!r}"
    for keyword, (types_of_value, holds, words) in _BOUNDS.items():
        applies = keyword in schema and isinstance(value, types_of_value) and not isinstance(value, bool)
        if applies and not holds(value, schema[keyword]):
            yield f"{place}: {words.format(schema[keyword])}"
    form = _FORMATS.get(schema.get("format", ""))
    if form is not None and isinstance(value, str) and not form(value):
        yield f"{place}: must be a valid {schema['format']}, but is {value!r}"
    yield from _combined(schema, value, root, path)
    if is_object(value):
        yield from _members(schema, value, root, path)
    if is_array(value):
        yield from _items(schema, value, root, path)


def _combined(schema: Mapping[str, Any], value: Any, root: Any, path: str) -> Iterator[str]:
    for part in schema.get("allOf", ()):
        yield from problems(part, value, root, path)
    for keyword in ("anyOf", "oneOf"):
        choices = schema.get(keyword)
        if choices and all(any(True for _ in problems(part, value, root, path)) for part in choices):
            yield f"{path or 'the value'}: fits none of the {len(choices)} alternatives"


def _members(schema: Mapping[str, Any], value: Mapping[str, Any], root: Any, path: str) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path + '.' if path else ''}{name}: is missing"
    declared = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name, member in value.items():
        below = f"{path}.{name}" if path else name
        yield from problems(schema.get("propertyNames", True), name, root, below)
        matching = [part for pattern, part in patterns.items() if re.search(pattern, name)]
        if name in declared:
            matching.append(declared[name])
        for part in matching or [schema.get("additionalProperties", True)]:
            yield from problems(part, member, root, below)


def _items(schema: Mapping[str, Any], value: list[Any], root: Any, path: str) -> Iterator[str]:
    first = schema.get("prefixItems", ())
    for number, item in enumerate(value):
        part = first[number] if number < len(first) else schema.get("items", True)
        yield from problems(part, item, root, f"{path}[{number}]")


def _resolve(root: Any, reference: str) -> Any:
    """Return the schema that a local reference such as `#/$defs/Name` names.

    An unknown one accepts every value.
    """
    target = root
    for step in reference.removeprefix("#").split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if not is_object(target) or key not in target:
            return True
        target = target[key]
    return target
