from __future__ import annotations

import dataclasses
import datetime
import functools
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from toolhost._proto.toolhost.tool.v1 import permissions_pb2
from toolhost.plugin import (
    Aliases,
    AsyncContext,
    Context,
    DeclarationError,
    Example,
    FilterCall,
    Permissions,
    Plugin,
    Result,
    Spec,
    Variant,
)
from toolhost.testing import Host


def declared(function: Callable[..., Any], **options: Any) -> Spec:
    plugin = Plugin("p")
    plugin.tool(**options)(function)
    (spec,) = plugin.tools.values()
    return spec


class Point(BaseModel):
    x: float
    y: float = Field(0, description="how high", ge=-1)


class Row(TypedDict):
    id: int


def plain(city: str, days: int = 1) -> str:
    """Say what the weather will be.

    In any city.

    Args:
        city: The city's name,
            in English.
        days (int): How many days.

    Returns:
        words.
    """
    return f"{city} {days}"


def sphinx(city: str) -> str:
    """Say what the weather will be.

    :param city: The city's name.
    :returns: words
    """
    return city


def hinted(
    kind: Literal["a", "b"],
    many: Annotated[list[int], "some numbers"],
    when: datetime.date | None = None,
    size: Annotated[int, Field(ge=1, le=9, description="how large")] = 3,
    schema: str = "",
    model_config: str = "",
    *,
    where: Point | None = None,
) -> None:
    """Take everything."""


class Place(BaseModel):
    lat: Annotated[float, Aliases("latitude")]


def aliased(
    path: Annotated[str, Aliases("file_path", "filename"), "the file"],
    at: Annotated[Place, Aliases("where")],
    many: Annotated[list[Place] | None, Aliases("all")] = None,
) -> None:
    """Take other names."""


def test_other_names() -> None:
    schema = declared(aliased).input_schema
    assert schema["properties"]["path"] == {
        "type": "string",
        "description": "the file",
        "x-toolhost-aliases": ["file_path", "filename"],
    }
    assert schema["properties"]["at"] == {"$ref": "#/$defs/Place", "x-toolhost-aliases": ["where"]}
    assert schema["properties"]["many"]["x-toolhost-aliases"] == ["all"]
    assert schema["$defs"]["Place"]["properties"]["lat"] == {"type": "number", "x-toolhost-aliases": ["latitude"]}
    for names in ([], [""]):
        with pytest.raises(DeclarationError, match="one name or more"):
            Aliases(*names)


def test_a_plain_function() -> None:
    spec = declared(plain)
    assert spec.name == "plain"
    assert spec.description == "Say what the weather will be.\n\nIn any city.\n\nReturns:\n    words."
    assert spec.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["city"],
        "properties": {
            "city": {"type": "string", "description": "The city's name, in English."},
            "days": {"type": "integer", "default": 1, "description": "How many days."},
        },
    }
    assert spec.output_schema is None


def test_sphinx_fields() -> None:
    spec = declared(sphinx)
    assert spec.description == "Say what the weather will be.\n\n:returns: words"
    assert spec.input_schema["properties"]["city"]["description"] == "The city's name."


def test_hints() -> None:
    schema = declared(hinted).input_schema
    assert schema["required"] == ["kind", "many"]
    assert schema["properties"] == {
        "kind": {"enum": ["a", "b"], "type": "string"},
        "many": {"type": "array", "items": {"type": "integer"}, "description": "some numbers"},
        "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
        "size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3, "description": "how large"},
        "schema": {"type": "string", "default": ""},
        "model_config": {"type": "string", "default": ""},
        "where": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}], "default": None},
    }
    assert "title" not in schema["$defs"]["Point"]


def test_one_model_is_all_arguments() -> None:
    def at(point: Point, ctx: Context) -> None:
        """Go there."""

    schema = declared(at).input_schema
    assert list(schema["properties"]) == ["x", "y"]
    assert schema["properties"]["y"] == {"type": "number", "default": 0, "minimum": -1, "description": "how high"}


def test_arguments_as_they_come() -> None:
    def anything(**arguments: Any) -> None:
        """Take anything."""

    assert declared(anything).input_schema == {"type": "object", "additionalProperties": True}


def test_output_schemas() -> None:
    def model() -> Point:
        """Return a model."""
        raise NotImplementedError

    def typed() -> Row:
        """Return a typed dict."""
        raise NotImplementedError

    def result() -> Result:
        """Return a result."""
        raise NotImplementedError

    def several() -> list[Point]:
        """Return several."""
        raise NotImplementedError

    assert (declared(model).output_schema or {})["properties"].keys() == {"x", "y"}
    assert declared(typed).output_schema == {
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "required": ["id"],
    }
    assert declared(result).output_schema is None
    assert declared(several).output_schema is None


def test_options() -> None:
    spec = declared(
        plain,
        name="other",
        description="Something else.",
        tags=["a"],
        timeout=2.5,
        dangerous=True,
        examples=[Example({"city": "Oslo"}, "one city")],
        input_schema={"type": "object"},
        metadata={"team": [1]},
    )
    assert (spec.name, spec.description, spec.tags, spec.timeout) == ("other", "Something else.", ["a"], 2.5)
    assert spec.dangerous
    assert not spec.read_only
    assert spec.input_schema == {"type": "object"}
    assert declared(plain, timeout=None) == declared(plain)


def test_the_function_stays_what_it_is() -> None:
    assert Plugin("p").tool(plain) is plain
    assert Plugin("p").tool(read_only=True)(plain) is plain


def no_hint(city) -> None:  # type: ignore[no-untyped-def]
    """Do something."""


def no_name(*cities: str) -> None:
    """Do something."""


def no_words(city: str) -> None:
    pass


def no_json(what: object, then: Callable[[], None]) -> None:
    """Do something."""


def unreadable(city: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Do something."""


def wrong_context(ctx: AsyncContext) -> None:
    """Do something."""


async def wrong_async_context(ctx: Context) -> None:
    """Do something."""


def more_than_rest(city: str, **rest: Any) -> None:
    """Do something."""


def any_class(who: Callable[..., Any]) -> None:
    """Do something."""


any_class.__annotations__["who"] = Plugin


def odd_default(days: int = "three") -> None:  # type: ignore[assignment]
    """Do something."""


def no_default(days: int = None) -> None:  # type: ignore[assignment]  # noqa: RUF013
    """Do something."""


def perhaps_a_context(ctx: Context | None = None) -> None:
    """Do something."""


async def yields(n: int) -> AsyncIterator[int]:
    """Do something."""
    yield n


class Shelf:
    def method(self, city: str) -> None:
        """Do something."""


class NoCall:
    """Do something."""


class WantsMore:
    """Do something."""

    def __init__(self, city: str) -> None: ...

    def call(self) -> None: ...


class OddPreview:
    """Do something."""

    def call(self) -> None: ...

    def preview(self) -> None: ...


@pytest.mark.parametrize(
    ("target", "options", "problem"),
    [
        (no_hint, {}, "its parameter 'city' has no type hint"),
        (no_name, {}, "its parameter 'cities' is positional-only"),
        (no_words, {}, "its description is empty"),
        (no_json, {}, "Cannot generate a JsonSchema"),
        (any_class, {}, "its parameters have no JSON Schema: Unable to generate pydantic-core schema for"),
        (odd_default, {}, "the default of its parameter 'days', 'three', is not of its type"),
        (perhaps_a_context, {}, "remove the other types from its type hint"),
        (yields, {}, "a tool returns one result"),
        (Shelf.method, {}, "it is a method"),
        (functools.partial(plain, days=1), {}, "pass one as name="),
        ("forecast", {}, "not 'forecast'; pass a name as name="),
        (WantsMore, {}, "must have a constructor without arguments: missing a required argument: 'city'"),
        (plain, {"read_onyl": True}, "it has no option 'read_onyl'; did you mean 'read_only'?"),
        (plain, {"colour": 1}, "it has no option 'colour'; there are: category, context_keys,"),
        (plain, {"requires_auth": "TOKEN"}, "the option 'requires_auth' must be a list of str, but is 'TOKEN'"),
        (plain, {"timeout": "3s"}, "the option 'timeout' must be a number"),
        (plain, {"dangerous": 1}, "the option 'dangerous' must be of type bool"),
        (plain, {"memory_limit_bytes": True}, "the option 'memory_limit_bytes' must be of type int"),
        (plain, {"examples": [{"city": "Oslo"}]}, "must be a list of Example"),
        (plain, {"metadata": "x"}, "must be a mapping"),
        (unreadable, {}, "type hints cannot be read: name 'Nowhere' is not defined"),
        (wrong_context, {}, "must be of type Context"),
        (wrong_async_context, {}, "must be of type AsyncContext"),
        (more_than_rest, {}, "there must be no other parameters"),
        (NoCall, {}, "no method `call`"),
        (OddPreview, {}, "must be preview(self, so_far)"),
        (plain, {"name": "1"}, 'the name "1" is malformed'),
        (plain, {"timeout": -1}, "a duration is negative"),
        (plain, {"cost_per_use": -1}, "its cost per use is negative"),
        (plain, {"input_schema": {"type": "string"}}, 'must have "type": "object"'),
        (
            plain,
            {"examples": [Example({"days": 1})]},
            "its input example 1: the arguments do not fit the tool:\n- city",
        ),
    ],
)
def test_what_is_wrong(target: Any, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(DeclarationError, match=r"(a tool needs|tool \")") as raised:
        declared(target, **options)
    assert problem in str(raised.value)


def test_a_default_of_none() -> None:
    with pytest.raises(DeclarationError, match=r"for an optional argument, use the type `… \| None`"):
        declared(no_default)


def test_names_are_unique() -> None:
    plugin = Plugin("p")
    plugin.tool(plain)
    with pytest.raises(DeclarationError, match="another tool or filter"):
        plugin.tool(plain)
    with pytest.raises(DeclarationError, match="another tool or filter"):
        plugin.before(name="plain")(lambda call: None)
    plugin.before(name="f")(lambda call: None)
    plugin.after(name="f")(lambda call: None)
    with pytest.raises(DeclarationError, match="another filter"):
        plugin.after(name="f")(lambda call: None)

    async def late(call: FilterCall) -> None: ...

    plugin.before(name="g")(lambda call: None)
    with pytest.raises(DeclarationError, match="one of its functions is async"):
        plugin.after(name="g")(late)
    with pytest.raises(DeclarationError, match="the plugin: the name"):
        Plugin("a b")


def test_what_is_wrong_of_filters_and_plugins() -> None:
    plugin = Plugin("p")
    with pytest.raises(DeclarationError, match='filter "f": its function must take one FilterCall'):
        plugin.before(name="f")(lambda: None)
    with pytest.raises(DeclarationError, match="a filter needs a function, not 'f'; pass a name as name="):
        plugin.after("f")  # type: ignore[call-overload]
    with pytest.raises(DeclarationError, match="the plugin: permissions must be Permissions"):
        Plugin("p", permissions={"network": True})  # type: ignore[arg-type]
    with pytest.raises(DeclarationError, match=r"must be a list, such as \['t'\]"):
        Plugin("p", default_tags="t")
    with pytest.raises(ValueError, match='"none", "read" or "write", not \'readonly\''):
        Permissions(workspace="readonly")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"must be a list, such as \['/etc'\]"):
        Permissions(read="/etc")


def asks(call: FilterCall) -> None: ...


def test_filters_without_options() -> None:
    plugin = Plugin("p")
    plugin.before(asks)
    plugin.after(asks)
    (declared,) = plugin._describe().filters
    assert (declared.name, declared.before, declared.after) == ("asks", True, True)


def test_describe_says_it_all() -> None:
    asked = Permissions(network=True, workspace="read", read=["/etc/hosts"])
    plugin = Plugin("p", "1", description="d", default_tags=["t"], permissions=asked)
    plugin.tool(describe=lambda viewer: Variant(description=viewer.session or ""))(plain)
    plugin.before(description="asks")(asks)
    described = plugin._describe()
    assert (described.name, described.version, described.description) == ("p", "1", "d")
    assert list(described.default_tags) == ["t"]
    assert described.tools[0].dynamic
    assert (described.permissions.network, described.permissions.workspace) == (True, permissions_pb2.ACCESS_READ)
    assert list(described.permissions.read) == ["/etc/hosts"]
    assert not Plugin("p")._describe().HasField("permissions")
    assert (described.filters[0].name, described.filters[0].before, described.filters[0].after) == (
        "asks",
        True,
        False,
    )


class Loose(BaseModel, extra="allow"):
    x: int = 0


class Careless(BaseModel, extra="ignore"):
    x: int = 0


@dataclasses.dataclass
class Box:
    point: Point


def nested(box: Box, row: Row, many: list[Point] | None = None) -> str:
    """Take types in types."""
    return f"{box} {row} {many}"


def open_ended(loose: Loose, careless: Careless) -> str:
    """Take what says itself what becomes of other properties."""
    return f"{loose.model_dump()} {careless.model_dump()}"


def test_unknown_properties_are_refused_at_every_depth() -> None:
    schema = declared(nested).input_schema
    assert schema is not None
    assert {name: part["additionalProperties"] for name, part in schema["$defs"].items()} == {
        "Box": False,
        "Point": False,
        "Row": False,
    }
    plugin = Plugin("p")
    plugin.tool(nested)
    good: dict[str, Any] = {"box": {"point": {"x": 1}}, "row": {"id": 1}, "many": [{"x": 2}]}
    with Host(plugin) as host:
        assert host.call("nested", good).text.startswith("Box(")
        for path, bad in {
            "box.pointe": {**good, "box": {"point": {"x": 1}, "pointe": 1}},
            "box.point.z": {**good, "box": {"point": {"x": 1, "z": 1}}},
            "row.ids": {**good, "row": {"id": 1, "ids": 2}},
            "many[0].z": {**good, "many": [{"x": 1, "z": 1}]},
        }.items():
            assert host.call("nested", bad).text == (
                f"the arguments do not fit the tool:\n- {path}: is not one of the tool's arguments"
            )


def test_a_type_may_say_that_it_takes_other_properties() -> None:
    spec = declared(open_ended)
    assert spec.input_schema is not None
    assert "x-toolhost" not in str(spec.input_schema)
    assert spec.input_schema["$defs"]["Loose"]["additionalProperties"] is True
    plugin = Plugin("p")
    plugin.tool(open_ended)
    with Host(plugin) as host:
        ended = host.call("open_ended", {"loose": {"y": 1}, "careless": {"y": 1}})
    assert ended.text == "{'x': 0, 'y': 1} {'x': 0}"
