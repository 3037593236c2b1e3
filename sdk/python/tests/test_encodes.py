"""Results: the schema that a type gives, and the JSON of its values, agree for every type."""

from __future__ import annotations

import collections
import dataclasses
import datetime as d
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import uuid
from typing import Annotated, Any, Literal, NamedTuple, cast

import pytest
from pydantic import (
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    BaseModel,
    ByteSize,
    ConfigDict,
    Field,
    HttpUrl,
    NaiveDatetime,
    PlainSerializer,
    PostgresDsn,
    SecretStr,
    TypeAdapter,
    computed_field,
    create_model,
)
from typing_extensions import TypedDict

from toolhost.plugin import Json, Plugin, Settlement
from toolhost.plugin._output import result_of
from toolhost.plugin._signature import schema_of
from toolhost.testing import Host
from toolhost.testing._schema import problems


class Color(enum.Enum):
    RED = "r"
    TWO = 2


class Level(enum.IntEnum):
    LOW = 1


class Pair(NamedTuple):
    x: int
    y: str = "a"


class Slow(BaseModel):
    model_config = ConfigDict(ser_json_timedelta="float", ser_json_bytes="hex")
    wait: d.timedelta = Field(default=d.timedelta(seconds=1.5), serialization_alias="waitSeconds")
    data: bytes = b"\xff"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def until(self) -> d.datetime:
        return NAIVE


Shouted = Annotated[int, PlainSerializer(lambda v: f"{v}!", return_type=str)]
NAIVE = d.datetime(2024, 5, 19, 12)
AWARE = [d.datetime(2024, 5, 19, 12, tzinfo=d.UTC), d.datetime(1, 1, 1, tzinfo=d.timezone(-d.timedelta(minutes=90)))]

TYPES: list[tuple[Any, list[Any]]] = [
    (d.datetime, [NAIVE, *AWARE, d.datetime.max]),
    (AwareDatetime, AWARE),
    (NaiveDatetime, [NAIVE, d.datetime.min]),
    (d.time, [d.time(1, 2), d.time(1, 2, 3, 4), d.time(1, tzinfo=d.UTC)]),
    (d.date, [d.date(24, 1, 1), d.date.max]),
    (d.timedelta, [d.timedelta(days=n) * sign for n in (0, 0.3, 1.5, 400) for sign in (1, -1)]),
    (uuid.UUID, [uuid.UUID(int=5)]),
    (decimal.Decimal, [decimal.Decimal(v) for v in ("1.50", "1E+5", "-0")]),
    (float, [0.1, -1e300]),
    (int, [0, 1 << 80]),
    (bool, [True]),
    (str, ["", "\ud800"]),
    (type(None), [None]),
    (Color, list(Color)),
    (Level, list(Level)),
    (Literal[Color.RED], [Color.RED]),
    (Pair, [Pair(1)]),
    (tuple[int, d.time], [(1, d.time(1))]),
    (bytes, [b"abc"]),
    (Base64Bytes, [b"\xff"]),
    (pathlib.Path, [pathlib.Path("a b")]),
    (re.Pattern[str], [re.compile("a(?=b)")]),
    (ipaddress.IPv4Address, [ipaddress.ip_address("1.2.3.4")]),
    (ipaddress.IPv6Address, [ipaddress.ip_address("fe80::1%eth0")]),
    (ipaddress.IPv6Network, [ipaddress.ip_network("::/8")]),
    (ipaddress.IPv4Interface, [ipaddress.ip_interface("1.0.0.0/8")]),
    (set[d.date], [{d.date(2024, 1, 1)}, set()]),
    (frozenset[str], [frozenset("ab")]),
    (collections.deque[int], [collections.deque([1])]),
    (collections.OrderedDict[str, int], [collections.OrderedDict(a=1)]),
    (AnyUrl, [AnyUrl("http://a.b/ö"), AnyUrl("http://a/%zz")]),
    (HttpUrl, [HttpUrl("http://bücher.de/ä b?x=|")]),
    (PostgresDsn, [PostgresDsn("postgres://a,b/c")]),
    (SecretStr, [SecretStr("s")]),
    (fractions.Fraction, [fractions.Fraction(1, 3)]),
    (ByteSize, [ByteSize(5)]),
    (Shouted, [7]),
    (Slow, [Slow()]),
    (Any, [NAIVE, {"at": NAIVE}]),
]


def shapes(inner: Any, value: Any) -> list[tuple[Any, Any]]:
    """Wrap a type and a value in everything that can hold it."""
    model = create_model("Model", v=(inner, ...))
    data = dataclasses.make_dataclass("Data", [("v", inner)])
    row = TypedDict("row", {"v": Annotated[inner, Field(serialization_alias="vV")]})  # noqa: UP013
    found: list[tuple[Any, Any]] = [
        (inner, value),
        (model, model.model_construct(v=value)),
        (data, data(v=value)),
        (row, {"v": value}),
        (list[inner], [value, value]),
        (dict[str, inner], {"k": value}),
        (inner | None, value),
        (cast("Any", list)[model], [model.model_construct(v=value)]),
    ]
    if isinstance(
        value, d.datetime | d.time | d.date | uuid.UUID | ipaddress.IPv4Address | ipaddress.IPv6Address | int
    ):
        found.append((dict[inner, int], {value: 1}))
    return found


CASES = [
    pytest.param(outer, wrapped, id=f"{getattr(inner, '__name__', inner)}-{number}-{shape}")
    for inner, values in TYPES
    for number, value in enumerate(values)
    for shape, (outer, wrapped) in enumerate(shapes(inner, value))
]


@pytest.mark.parametrize(("outer", "value"), CASES)
def test_schema_and_value_agree(outer: Any, value: Any) -> None:
    adapter = TypeAdapter[Any](outer)
    schema = schema_of(adapter)
    warnings: list[str] = []
    result = result_of(value, returns=adapter, warn=lambda text, *given: warnings.append(text % given))
    encoded = (
        result.value
        if any(isinstance(block, Json) for block in result.content)
        else (result.text if result.content else None)
    )
    assert list(problems(schema, encoded)) == [], (schema, encoded)
    assert warnings == []


class Odd:
    def __str__(self) -> str:
        return "odd"


class Mute:
    def __str__(self) -> str:
        raise RuntimeError


class Holder(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    odd: Any = Field(serialization_alias="Odd")


CYCLE: list[Any] = []
CYCLE.append(CYCLE)
UNKNOWN: list[tuple[Any, Any, list[str]]] = [
    (Odd(), "odd", ["the whole"]),
    (Mute(), "a value of type Mute", ["the whole"]),
    (float("nan"), "nan", ["the whole"]),
    ({"a": [1, Odd()], "at": NAIVE}, {"a": [1, "odd"], "at": "2024-05-19T12:00:00"}, ["a[1]"]),
    ({"a": {"b": float("inf")}, 1: Odd()}, {"a": {"b": "inf"}, "1": "odd"}, ["a.b", "1"]),
    (Holder(odd=Odd()), {"Odd": "odd"}, ["Odd"]),
    (dataclasses.make_dataclass("Data", [("v", Any)])(Odd()), {"v": "odd"}, ["v"]),
    ((1, {"x": {Odd: 1}}), [1, {"x": {str(Odd): 1}}], []),
    (CYCLE, ["[[...]]"], ["[0]"]),
]


@pytest.mark.parametrize(("value", "wanted", "places"), UNKNOWN)
def test_what_cannot_be_encoded_becomes_text(value: Any, wanted: Any, places: list[str]) -> None:
    plugin = Plugin("p")

    @plugin.tool(settle=lambda: Settlement.happened(value))
    def give() -> Any:
        """Give."""
        return value

    with Host(plugin) as host:
        ended = host.call("give")
        assert (ended.text if isinstance(wanted, str) else ended.value) == wanted
        (warned,) = [record for record in ended.logs if "cannot be encoded as JSON" in record.message]
        assert all(place in warned.message for place in places)
        assert host.settle("give").result == ended.result


def test_objects_that_refer_to_each_other_are_taken_apart_once() -> None:
    mesh: list[dict[str, Any]] = [{"n": n} for n in range(40)]
    for node in mesh:
        node["all"] = mesh
    plugin = Plugin("p")

    @plugin.tool
    def give() -> Any:
        """Give."""
        return mesh[0]

    with Host(plugin) as host:
        assert len(host.call("give").value["all"]) == len(mesh)


class Event(BaseModel):
    start: d.datetime


def test_a_host_in_a_test_validates_as_toolhost_does() -> None:
    plugin = Plugin("p")
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "at": {"type": "string", "format": "date-time"}},
    }
    current: Any = None

    @plugin.tool(output_schema={**schema, "required": ["n"]}, settle=lambda: Settlement.happened(current))
    def give() -> Any:
        """Give."""
        return current

    @plugin.tool
    def event() -> Event:
        """Give an event."""
        return Event(start=NAIVE)

    with Host(plugin) as host:
        assert host.call("event").value == {"start": "2024-05-19T12:00:00"}
        for given, fits in (
            ({"n": 1}, True),
            (None, True),
            (["x", Json({"n": 1})], False),  # a value, and no blocks
            ([Json({"n": 1}), Json("x")], True),
            ("text", False),
            ({"n": "1"}, False),
            ({"n": 1, "at": "2024-05-19T12:00:00"}, False),
        ):
            current = given
            for ask in (host.call, host.settle):
                if fits:
                    ask("give")
                    continue
                with pytest.raises(AssertionError, match="does not fit its output schema"):
                    ask("give")
