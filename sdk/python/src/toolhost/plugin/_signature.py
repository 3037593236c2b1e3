"""What a function's signature says: its JSON Schema, and how argument text becomes what it is called with."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_json

from toolhost._json import valid_text
from toolhost.errors import ToolError
from toolhost.plugin._context import AsyncContext, Context

_WHOLE = "arguments"  # what a value is called that is no part of another
_MAX_QUOTE = 100  # of a value that is refused


class DeclarationError(ValueError):
    """What is wrong with a declaration."""


class _Untitled(GenerateJsonSchema):
    """Schemas without titles that only repeat names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class _Closed(_Untitled):
    """Schemas of arguments: objects refuse properties that their types do not have, unless the types say otherwise."""

    def model_schema(self, schema: Any) -> dict[str, Any]:
        return _closed(super().model_schema(schema), schema["cls"].model_config)

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        return _closed(super().dataclass_schema(schema), getattr(schema["cls"], "__pydantic_config__", {}))

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
        return _closed(super().typed_dict_schema(schema), getattr(schema.get("cls"), "__pydantic_config__", {}))


_OPEN = "x-toolhost-open"  # marks an object whose type says what becomes of other properties; removed again


def _closed(schema: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    if config.get("extra") is not None:
        return {**schema, _OPEN: config["extra"] != "forbid"}
    return {**schema, "additionalProperties": False} if "properties" in schema else schema


def _opened(schema: Any) -> bool:
    """Report whether a type in a schema takes properties that it does not have, and remove the marks of that."""
    if isinstance(schema, dict):
        marked = bool(schema.pop(_OPEN, False))
        opened = [_opened(part) for part in schema.values()]  # all of them, for their marks
        return marked or any(opened)
    if isinstance(schema, list):
        opened = [_opened(part) for part in schema]
        return any(opened)
    return False


def schema_of(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """Return the JSON Schema of what a tool returns. Raises DeclarationError if the type has none."""
    return _schema_of(adapter, "serialization", _Untitled)


@dataclass(frozen=True)
class _Reader:
    """Reads argument text as a type."""

    adapter: TypeAdapter[Any]
    strict: bool
    schema: dict[str, Any]
    """The JSON Schema of the arguments."""
    options: dict[str, Any]
    """Further options of the adapter's validate_json."""

    def read(self, text: bytes) -> Any:
        """Return the value. Raises ToolError, written for a model."""
        try:
            return self.adapter.validate_json(text or b"{}", strict=self.strict or None, **self.options)
        except ValidationError as problem:
            lines = [_line(error) for error in problem.errors(include_url=False)]
            raise ToolError("the arguments do not fit the tool:\n" + "\n".join(lines)) from None


def _reader(adapter: TypeAdapter[Any], strict: bool) -> _Reader:
    schema = _schema_of(adapter, "validation", _Closed)
    # toolhost holds arguments against the schema. Where pydantic can, it refuses the same in tests, which have no
    # toolhost. Its option holds for all types, also for those that say otherwise.
    forbids = not _opened(schema) and "extra" in inspect.signature(adapter.validate_json).parameters
    return _Reader(adapter, strict, schema, {"extra": "forbid"} if forbids else {})


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
    """How a function is called with the arguments of a call."""

    schema: dict[str, Any]
    """The JSON Schema of the arguments."""
    bind: Callable[[bytes], dict[str, Any]]
    """Returns keywords for argument text. Raises ToolError, written for a model, if it does not fit."""
    context: str
    """The name of the parameter that takes the context. Empty if there is none."""
    context_type: type[Context] | type[AsyncContext] | None


def signature_of(
    function: Callable[..., Any], descriptions: Mapping[str, str], *, strict: bool, method: bool = False
) -> Signature:
    """Return a function's signature, of a method without its first parameter. Raises DeclarationError.

    descriptions are of its parameters.
    """
    if inspect.isasyncgenfunction(function):
        raise DeclarationError(
            "it yields, but a tool answers once: return the whole, and show people with `status` how the work goes"
        )
    hints = hints_of(function)
    context, context_type = "", None
    parameters: dict[str, inspect.Parameter] = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[int(method) :]:
        if name == "self" and name not in hints:
            raise DeclarationError("it is a method; make a tool of a class that has a method `call`, or of a function")
        if any(choice in (Context, AsyncContext) for choice in typing.get_args(hints.get(name))):
            raise DeclarationError(f"its parameter {name!r} is always given the call: let it be of type Context alone")
        if hints.get(name) in (Context, AsyncContext):
            if context:
                raise DeclarationError("two of its parameters take the context")
            context, context_type = name, hints[name]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise DeclarationError(f"its parameter {name!r} takes no keyword, and arguments have names")
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
            raise DeclarationError(f"**{rest[0]} takes all arguments as they come, so there must be no others")
        values: Any = hints[rest[0]]
        anything: TypeAdapter[Any] = TypeAdapter(dict[str, values])
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
    # The fields have names of their own: a parameter may be called like a method of BaseModel.
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
        # Its advice is for who writes a model.
        words = str(problem).split("\n", 1)[0].split(". Set `arbitrary", 1)[0]
        raise DeclarationError(f"its parameters have no JSON Schema: {words}") from problem
    reader = _reader(TypeAdapter(model), strict)
    _check_defaults(model, {places[name]: parameter for name, parameter in parameters.items()})

    def bind(text: bytes) -> dict[str, Any]:
        values = reader.read(text)
        return {name: getattr(values, place) for name, place in places.items()}

    return bind, reader.schema


def _check_defaults(model: type[BaseModel], parameters: Mapping[str, inspect.Parameter]) -> None:
    """Refuse defaults that do not fit: toolhost fills them in, and they would then be refused in every call."""
    empty = model.model_construct()
    for place, parameter in parameters.items():
        if parameter.default is parameter.empty or isinstance(parameter.default, FieldInfo):
            continue
        try:
            model.__pydantic_validator__.validate_assignment(empty, place, parameter.default)
        except ValidationError:
            hint = "; if it may be left out, its type is `… | None`" if parameter.default is None else ""
            raise DeclarationError(
                f"the default of its parameter {parameter.name!r}, {parameter.default!r}, is not of its type{hint}"
            ) from None


def _described(hint: Any, default: Any, documented: str) -> Any:
    """Return a hint with its description: a text of Annotated, else what the docstring says, unless a Field does."""
    said = typing.get_args(hint)[1:] if typing.get_origin(hint) is Annotated else ()
    if any(isinstance(x, FieldInfo) and x.description for x in (*said, default)):
        return hint
    words = next((x for x in said if isinstance(x, str)), documented)
    return Annotated[hint, Field(description=words)] if words else hint


def _line(error: Any) -> str:
    """Return what is wrong with one value, for a model."""
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
