"""Declaration of a tool from a function or a class."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict, is_typeddict

from toolhost._json import encode
from toolhost._keywords import checked
from toolhost.errors import ToolError
from toolhost.plugin import _docstring
from toolhost.plugin._call import Call
from toolhost.plugin._check import Settle, chosen, parameters_of
from toolhost.plugin._context import AsyncContext, Context
from toolhost.plugin._run import Bound, Runner
from toolhost.plugin._signature import DeclarationError, Signature, hints_of, schema_of, signature_of
from toolhost.result import Result
from toolhost.spec import Example, Retry, Spec

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")


class Options(TypedDict, total=False):
    """The options of `Plugin.tool`. `toolhost.spec.Spec` documents the fields."""

    name: str
    """Without it, the name of the function."""
    description: str
    """Without it, the text of the docstring."""
    version: str
    display_name: str
    category: str
    tags: Sequence[str]
    input_schema: Mapping[str, Any]
    """Replaces the schema that the type hints define. The arguments must still fit the type
    hints."""
    output_schema: Mapping[str, Any]
    examples: Sequence[Example]
    timeout: float
    progress_extends_timeout: bool
    retry: Retry
    rate_limit_per_minute: int
    memory_limit_bytes: int
    cost_per_use: float
    requires_auth: Sequence[str]
    sandbox_exempt: bool
    dangerous: bool
    read_only: bool
    idempotent: bool
    serial: bool
    parallel: bool
    seals: bool
    """The check `settle` seals: see `Plugin.tool`."""
    return_direct: bool
    strict: bool
    context_keys: Sequence[str]
    effect_keys: Sequence[str]
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class Viewer:
    """The session for which a dynamic tool declares itself."""

    session: str | None
    """The id of the session. None if there is none."""
    context: Mapping[str, Any]
    """The run context, with only the keys that the tool declares."""


@dataclass(frozen=True)
class Variant:
    """The declaration of a dynamic tool for one session.

    A field that is empty or None keeps the original declaration.
    """

    display_name: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] | None = None
    """The JSON Schema of the arguments. The function must accept all arguments that fit it."""
    output_schema: Mapping[str, Any] | None = None
    examples: Sequence[Example] | None = None


Describe = Callable[[Viewer], Variant]
"""Declares a dynamic tool for a session. It must be fast, have no side effects, and not be
async."""


@dataclass(frozen=True)
class Tool:
    """A tool: its declaration and its code."""

    spec: Spec
    open: Callable[[Call], Bound]
    describe: Describe | None = None
    opens_object: bool = False
    check: Callable[[Call], Bound] | None = None
    """Returns the function that says what became of an earlier call."""
    returns: TypeAdapter[Any] | None = None
    """The type that the output schema was derived from. None if it was not derived."""

    def runner(self, threads: Executor) -> Runner:
        """Return the runner of its calls."""
        return Runner(self.spec.name, self.open, threads, self.opens_object, self.check, self.returns, self.spec.seals)


def check_name(name: str) -> None:
    """Raise DeclarationError if a name is malformed."""
    if not name:
        raise DeclarationError("the name is empty; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter")
    if not _NAME.match(name):
        raise DeclarationError(
            f'the name "{name}" is malformed; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter'
        )


def tool_of(
    target: Callable[..., Any], options: Options, describe: Describe | None, settle: Settle | None = None
) -> Tool:
    """Return the tool for a function, or for a class with a method `call`.

    Raises DeclarationError.
    """
    if not callable(target):
        raise DeclarationError(f"a tool needs a function or a class, not {target!r}; pass a name as name=…")
    label = options.get("name", getattr(target, "__name__", ""))
    try:
        given = checked(options, Options, "it")
        return _tool_of(target, label, typing.cast("Options", given), describe, settle)
    except TypeError as problem:
        raise DeclarationError(f'tool "{label}": {problem}') from None
    except DeclarationError as problem:
        raise DeclarationError(f'tool "{label}": {problem}') from problem.__cause__


def _tool_of(
    target: Callable[..., Any], name: str, options: Options, describe: Describe | None, settle: Settle | None
) -> Tool:
    if not name:
        raise DeclarationError("the function has no name; pass one as name=…")
    check_name(name)
    work = target
    if isinstance(target, type):
        work = getattr(target, "call", None)  # type: ignore[assignment]
        if work is None:
            raise DeclarationError("its class has no method `call`")
        try:
            inspect.signature(target).bind()
        except TypeError as problem:
            raise DeclarationError(f"its class must have a constructor without arguments: {problem}") from None
    description, parameters = _docstring.parse(target.__doc__)
    if isinstance(target, type):
        parameters = {**parameters, **_docstring.parse(work.__doc__)[1]}
    signature = signature_of(work, parameters, strict=options.get("strict", False), method=isinstance(target, type))
    _check_context(work, signature)
    preview = _method(target, "preview")
    derived, returns = _output(work)
    declared: dict[str, Any] = {
        "input_schema": signature.schema,
        "output_schema": derived,
        **options,
        "name": name,
        "description": options.get("description") or description,
    }
    spec = Spec(
        **declared,
        partial_arguments=preview is not None,
        dynamic=describe is not None,
        settles=settle is not None,
    )
    if "output_schema" in options:
        returns = None
    _check_spec(spec, signature)
    check = None if settle is None else _checker(settle, work, signature, method=isinstance(target, type))
    if isinstance(target, type):
        return Tool(spec, _opener(target, signature, preview), describe, True, check, returns)
    return Tool(spec, lambda call: _bound(target, signature, call), describe, False, check, returns)


def _checker(check: Settle, work: Callable[..., Any], signature: Signature, *, method: bool) -> Callable[[Call], Bound]:
    """Return a function that binds the check of a tool to an earlier call."""
    taken, name, kind = parameters_of(check, work, method=method)
    own = dataclasses.replace(signature, context=name, context_type=kind)
    _check_context(check, own)
    return lambda call: Bound(check, lambda text: {**chosen(taken, signature, text), **_context(own, call)})


def _bound(work: Callable[..., Any], signature: Signature, call: Call) -> Bound:
    return Bound(work, lambda text: {**signature.bind(text), **_context(signature, call)})


def _context(signature: Signature, call: Call) -> dict[str, Any]:
    return {signature.context: signature.context_type(call)} if signature.context_type else {}


def _method(target: Callable[..., Any], name: str) -> Callable[..., Any] | None:
    return getattr(target, name, None) if isinstance(target, type) else None


def _opener(target: type, signature: Signature, preview: Callable[..., Any] | None) -> Callable[[Call], Bound]:
    """Return a function that creates an object for a call and binds its methods."""
    shown: Signature | None = None
    if preview is not None:
        shown = _preview_signature(preview)

    def open_object(call: Call) -> Bound:
        o = target()
        bound = _bound(o.call, signature, call)
        show = None
        if shown is not None:
            show = _previewer(o.preview, _context(shown, call))
        return dataclasses.replace(bound, preview=show, close=getattr(o, "close", None))

    return open_object


def _previewer(preview: Callable[..., Any], context: Mapping[str, Any]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(preview):

        async def show_async(so_far: Any) -> None:
            await preview(so_far, **context)

        return show_async

    def show(so_far: Any) -> None:
        preview(so_far, **context)

    return show


def _preview_signature(preview: Callable[..., Any]) -> Signature:
    parameters = list(inspect.signature(preview).parameters)[1:]
    hints = hints_of(preview)
    contexts = [name for name in parameters if hints.get(name) in (Context, AsyncContext)]
    if len(parameters) - len(contexts) != 1 or len(contexts) > 1 or parameters[0] in contexts:
        raise DeclarationError("the method preview must be preview(self, so_far) or preview(self, so_far, context)")
    name = contexts[0] if contexts else ""
    signature = Signature({}, lambda _: {}, name, hints[name] if name else None)
    _check_context(preview, signature)
    return signature


def _check_context(function: Callable[..., Any], signature: Signature) -> None:
    """Raise DeclarationError for a context of the wrong class."""
    if signature.context_type is None:
        return
    wanted = AsyncContext if inspect.iscoroutinefunction(function) else Context
    if signature.context_type is not wanted:
        kind = "async" if wanted is AsyncContext else "not async"
        raise DeclarationError(
            f"its parameter {signature.context!r} must be of type {wanted.__name__}: {function.__name__} is {kind}"
        )


def _output(function: Callable[..., Any]) -> tuple[dict[str, Any] | None, TypeAdapter[Any] | None]:
    """Return the output schema for a return type that is a model, dataclass or TypedDict, and that type.

    Returns None for others.
    """
    returned = hints_of(function).get("return")
    if not isinstance(returned, type) or issubclass(returned, Result):
        return None, None
    declared = cast("type[Any]", returned)
    fields = issubclass(declared, BaseModel) or dataclasses.is_dataclass(declared) or is_typeddict(declared)
    if not fields or declared.__module__ == Result.__module__:
        return None, None
    adapter = TypeAdapter[Any](declared)
    schema = schema_of(adapter)
    return (schema, adapter) if schema.get("type") == "object" else (None, None)


def _check_spec(spec: Spec, signature: Signature) -> None:
    if not spec.description.strip():
        raise DeclarationError(
            "its description is empty; add a docstring: its purpose, when not to use it, and what it returns"
        )
    if any((seconds or 0) < 0 for seconds in (spec.timeout, spec.retry.initial_backoff, spec.retry.max_backoff)):
        raise DeclarationError("a duration is negative")
    if spec.read_only and spec.settles:
        raise DeclarationError(
            "it is read_only and has a check of unknown outcomes; a call that changes nothing needs none"
        )
    if spec.seals and not spec.settles:
        raise DeclarationError("it declares seals, but has no check; pass one as settle=…")
    if spec.cost_per_use < 0:
        raise DeclarationError("its cost per use is negative")
    if spec.input_schema.get("type") != "object":
        raise DeclarationError('its input schema must have "type": "object"')
    for number, example in enumerate(spec.examples, 1):
        try:
            signature.bind(encode(example.arguments))
        except (ToolError, ValueError, TypeError) as problem:
            raise DeclarationError(f"its input example {number}: {problem}") from problem


Function = typing.TypeVar("Function", bound=Callable[..., Any])
"""The function that a decorator receives and returns unchanged."""
