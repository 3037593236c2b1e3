"""Conversion of signatures to JSON Schemas, and of argument text to keyword arguments."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_json

from toolhost._json import is_array, valid_text
from toolhost.errors import ToolError
from toolhost.plugin._context import AsyncContext, Context

_WHOLE = "arguments"  # the name of the whole value in messages
_MAX_QUOTE = 100  # characters of a rejected value in a message


class DeclarationError(ValueError):
    """A declaration is invalid. The message says what is wrong with it."""


class _Untitled(GenerateJsonSchema):
    """Generates schemas without titles, which would only repeat the names of the fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class _Written(_Untitled):
    """Generates schemas of results, with only those formats that every value of the type keeps.

    pydantic names the format of a type. Some values are encoded in another form: a datetime or time
    without an offset, a negative duration or one with fractions of a second, an unusual URL. The schema
    of the keys of a dict is that of their type, and keys are encoded as texts.
    """

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        return {key: part for key, part in super().dict_schema(schema).items() if key != "propertyNames"}

    def datetime_schema(self, schema: Any) -> dict[str, Any]:
        found = super().datetime_schema(schema)
        return found if schema.get("tz_constraint") == "aware" else _formless(found)

    def time_schema(self, schema: Any) -> dict[str, Any]:
        return _formless(super().time_schema(schema))

    def timedelta_schema(self, schema: Any) -> dict[str, Any]:
        return _formless(super().timedelta_schema(schema))

    def url_schema(self, schema: Any) -> dict[str, Any]:
        return _formless(super().url_schema(schema))

    def multi_host_url_schema(self, schema: Any) -> dict[str, Any]:
        return _formless(super().multi_host_url_schema(schema))

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        # The pattern of newer versions of pydantic refuses the exponent that pydantic itself writes, as in 1E+5.
        return {key: value for key, value in super().decimal_schema(schema).items() if key != "pattern"}


def _formless(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "format"}


# A pattern of Python may be none of RE2, and an address may have a zone. Generators have no methods for them.
_UNKEPT = ("regex", "ipv6")


def _without_unkept(schema: Any) -> None:
    """Remove the formats in a derived schema that not every value keeps, in place."""
    if isinstance(schema, dict):
        members = cast("dict[str, Any]", schema)
        if members.get("type") == "string" and members.get("format") in _UNKEPT:
            del members["format"]
        for part in members.values():
            _without_unkept(part)
    elif is_array(schema):
        for part in schema:
            _without_unkept(part)


class _Closed(_Untitled):
    """Generates schemas whose objects reject unknown properties unless their type allows them."""

    def model_schema(self, schema: Any) -> dict[str, Any]:
        return _closed(super().model_schema(schema), schema["cls"].model_config)

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        return _closed(super().dataclass_schema(schema), getattr(schema["cls"], "__pydantic_config__", {}))

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
        return _closed(super().typed_dict_schema(schema), getattr(schema.get("cls"), "__pydantic_config__", {}))


_OPEN = "x-toolhost-open"  # temporary mark of objects whose type decides about unknown properties


def _closed(schema: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    if config.get("extra") is not None:
        return {**schema, _OPEN: config["extra"] != "forbid"}
    return {**schema, "additionalProperties": False} if "properties" in schema else schema


def _opened(schema: Any) -> bool:
    """Report whether an object in a schema accepts unknown properties, and remove all marks."""
    parts: Iterable[Any] = ()
    marked = False
    if isinstance(schema, dict):
        members = cast("dict[str, Any]", schema)
        marked = bool(members.pop(_OPEN, False))
        parts = members.values()
    elif is_array(schema):
        parts = schema
    opened = [_opened(part) for part in parts]  # a list, so that every mark is removed
    return marked or any(opened)


def schema_of(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """Return the JSON Schema of a return type. Raises DeclarationError if it has none."""
    schema = _schema_of(adapter, "serialization", _Written)
    _without_unkept(schema)
    return schema


@dataclass(frozen=True)
class _Reader:
    """Parses argument text as a type."""

    adapter: TypeAdapter[Any]
    strict: bool
    schema: dict[str, Any]
    """The JSON Schema of the arguments."""
    options: dict[str, Any]
    """Further options for `validate_json` of the adapter."""

    def read(self, text: bytes) -> Any:
        """Return the value. Raises ToolError with a message for the model."""
        try:
            return self.adapter.validate_json(text or b"{}", strict=self.strict or None, **self.options)
        except ValidationError as problem:
            lines = [_line(error) for error in problem.errors(include_url=False)]
            raise ToolError("the arguments do not fit the tool:\n" + "\n".join(lines)) from None


def _reader(adapter: TypeAdapter[Any], strict: bool) -> _Reader:
    schema = _schema_of(adapter, "validation", _Closed)
    # toolhost checks arguments against the schema. In tests there is no toolhost, so pydantic must
    # reject unknown properties. Its option applies to all types, so it is used only if no type
    # accepts unknown properties.
    return _Reader(adapter, strict, schema, {} if _opened(schema) else {"extra": "forbid"})


def _schema_of(
    adapter: TypeAdapter[Any], mode: typing.Literal["validation", "serialization"], form: type[GenerateJsonSchema]
) -> dict[str, Any]:
    try:
        schema = adapter.json_schema(schema_generator=form, mode=mode)
    except PydanticUserError as problem:
        raise DeclarationError(str(problem).split("\n", 1)[0]) from problem
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
    return schema


@dataclass(frozen=True)
class Signature:
    """The signature of a tool function."""

    schema: dict[str, Any]
    """The JSON Schema of the arguments."""
    bind: Callable[[bytes], dict[str, Any]]
    """Converts argument text to keyword arguments. Raises ToolError with a message for the
    model."""
    context: str
    """The name of the parameter that receives the context. Empty if there is none."""
    context_type: type[Context] | type[AsyncContext] | None


def signature_of(
    function: Callable[..., Any], descriptions: Mapping[str, str], *, strict: bool, method: bool = False
) -> Signature:
    """Return the signature of a function, or of a method without `self`. Raises DeclarationError.

    `descriptions` are the descriptions of the parameters by name.
    """
    if inspect.isasyncgenfunction(function):
        raise DeclarationError("it is a generator, but a tool returns one result; report progress with `status`")
    hints = hints_of(function)
    context, context_type = "", None
    parameters: dict[str, inspect.Parameter] = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[int(method) :]:
        if name == "self" and name not in hints:
            raise DeclarationError("it is a method; use a function, or a class with a method `call`")
        if any(choice in (Context, AsyncContext) for choice in typing.get_args(hints.get(name))):
            raise DeclarationError(
                f"its parameter {name!r} always receives the context; remove the other types from its type hint"
            )
        if hints.get(name) in (Context, AsyncContext):
            if context:
                raise DeclarationError("two of its parameters receive the context")
            context, context_type = name, hints[name]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise DeclarationError(f"its parameter {name!r} is positional-only, and arguments are passed by name")
        elif name not in hints:
            raise DeclarationError(f"its parameter {name!r} has no type hint")
        else:
            parameters[name] = parameter
    bind, schema = _binding(parameters, hints, descriptions, strict)
    return Signature(schema, bind, context, context_type)


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the type hints of a function. Raises DeclarationError if one cannot be read."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as problem:
        raise DeclarationError(f"its type hints cannot be read: {problem}") from problem


_Binding = tuple[Callable[[bytes], dict[str, Any]], dict[str, Any]]


def _binding(
    parameters: Mapping[str, inspect.Parameter], hints: Mapping[str, Any], descriptions: Mapping[str, str], strict: bool
) -> _Binding:
    rest = [name for name, parameter in parameters.items() if parameter.kind is parameter.VAR_KEYWORD]
    if rest:
        if len(parameters) > 1:
            raise DeclarationError(f"**{rest[0]} accepts all arguments, so there must be no other parameters")
        mapping: Any = dict  # a type checker rejects a variable as the type of the values
        anything: TypeAdapter[Any] = TypeAdapter(mapping[str, hints[rest[0]]])
        read_all = _reader(anything, strict)
        return read_all.read, read_all.schema
    if len(parameters) == 1:
        (name,) = parameters
        if isinstance(hints[name], type) and issubclass(hints[name], BaseModel):
            whole: TypeAdapter[Any] = TypeAdapter(hints[name])
            reader = _reader(whole, strict)
            return lambda text: {name: reader.read(text)}, reader.schema
    return _fields(parameters, hints, descriptions, strict)


def _fields(
    parameters: Mapping[str, inspect.Parameter], hints: Mapping[str, Any], descriptions: Mapping[str, str], strict: bool
) -> _Binding:
    # Generated field names avoid conflicts with the methods of BaseModel.
    fields: dict[str, Any] = {}
    places: dict[str, str] = {}
    for number, (name, parameter) in enumerate(parameters.items()):
        default = ... if parameter.default is parameter.empty else parameter.default
        hint = _described(hints[name], default, descriptions.get(name, ""))
        fields[f"field_{number}"] = (Annotated[hint, Field(alias=name)], default)
        places[name] = f"field_{number}"
    try:
        model = create_model(
            "Arguments", __config__=ConfigDict(extra="forbid", arbitrary_types_allowed=False), **fields
        )
    except PydanticUserError as problem:
        # The advice of pydantic is for authors of models.
        reason = str(problem).split("\n", 1)[0].split(". Set `arbitrary", 1)[0]
        raise DeclarationError(f"its parameters have no JSON Schema: {reason}") from problem
    reader = _reader(TypeAdapter(model), strict)
    _check_defaults(model, {places[name]: parameter for name, parameter in parameters.items()})

    def bind(text: bytes) -> dict[str, Any]:
        values = reader.read(text)
        return {name: getattr(values, place) for name, place in places.items()}

    return bind, reader.schema


def _check_defaults(model: type[BaseModel], parameters: Mapping[str, inspect.Parameter]) -> None:
    """Raise DeclarationError for a default that does not fit its type.

    toolhost inserts defaults into the arguments, so every call without that argument would fail.
    """
    empty = model.model_construct()
    for place, parameter in parameters.items():
        if parameter.default is parameter.empty or isinstance(parameter.default, FieldInfo):
            continue
        try:
            model.__pydantic_validator__.validate_assignment(empty, place, parameter.default)
        except ValidationError:
            hint = "; for an optional argument, use the type `… | None`" if parameter.default is None else ""
            raise DeclarationError(
                f"the default of its parameter {parameter.name!r}, {parameter.default!r}, is not of its type{hint}"
            ) from None


def _described(hint: Any, default: Any, documented: str) -> Any:
    """Add a description to a type hint: from a Field, else Annotated, else the docstring."""
    annotations = typing.get_args(hint)[1:] if typing.get_origin(hint) is Annotated else ()
    if any(isinstance(x, FieldInfo) and x.description for x in (*annotations, default)):
        return hint
    description = next((x for x in annotations if isinstance(x, str)), documented)
    return Annotated[hint, Field(description=description)] if description else hint


def _line(error: Any) -> str:
    """Describe one validation error for the model."""
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"]).lstrip(".")
    if error["type"] == "json_invalid":
        return f"- {_WHOLE}: {error['msg']}"
    if error["type"] == "missing":
        return f"- {path}: is missing"
    if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"- {path}: is not one of the tool's arguments"
    wanted = error["msg"].replace("Input should", "must", 1)
    given = valid_text(to_json(error["input"], fallback=repr).decode(errors="replace"))
    clipped = given if len(given) <= _MAX_QUOTE else given[:_MAX_QUOTE] + "…"
    return f"- {path or _WHOLE}: {wanted}, but is {clipped}"
