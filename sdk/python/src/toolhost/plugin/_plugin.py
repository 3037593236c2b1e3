"""A plugin: its tools, filters and hooks, and its command line."""

from __future__ import annotations

import dataclasses
import inspect
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, overload

from typing_extensions import Unpack

from toolhost import __version__, _wire
from toolhost._proto.toolhost.plugin.v1 import plugin_pb2
from toolhost._proto.toolhost.tool.v1 import version_pb2
from toolhost.errors import Unavailable
from toolhost.plugin import _declare, _docstring, _serve
from toolhost.plugin._check import Settle
from toolhost.plugin._declare import Describe, Function, Options, Tool, Viewer, check_name
from toolhost.plugin._filter import Filter, check_phases, check_tools, tools_of
from toolhost.plugin._hooks import Hooks
from toolhost.plugin._run import Runner
from toolhost.plugin._signature import DeclarationError
from toolhost.spec import Permissions, Spec

_logger = logging.getLogger("toolhost.plugin")


class Plugin:
    """An executable with tools, filters or both.

    Args:
        name: 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter.
        version: Any text, usually a semantic version. It may be empty.
        description: One line for operators. It may be empty.
        default_tags: The tags of tools that declare none.
        permissions: The permissions that the plugin requests, such as the network. None requests
            none.
    """

    def __init__(
        self,
        name: str,
        version: str = "",
        *,
        description: str = "",
        default_tags: Sequence[str] = (),
        permissions: Permissions | None = None,
    ) -> None:
        try:
            check_name(name)
            if permissions is not None and not isinstance(permissions, Permissions):
                raise DeclarationError(f"permissions must be Permissions(…), but is {permissions!r}")
            if isinstance(default_tags, str):
                raise DeclarationError(f"default_tags must be a list, such as [{default_tags!r}]")
        except DeclarationError as problem:
            raise DeclarationError(f"the plugin: {problem}") from None
        self.name = name
        self.version = version
        self.description = description
        self.default_tags: tuple[str, ...] = tuple(default_tags)
        self.permissions: Permissions = permissions or Permissions()
        self._tools: dict[str, Tool] = {}
        self._filters: dict[str, Filter] = {}
        self._hooks = Hooks()

    # Tools and filters.

    @overload
    def tool(self, function: Function, /) -> Function: ...

    @overload
    def tool(
        self, /, *, describe: Describe | None = None, settle: Settle | None = None, **options: Unpack[Options]
    ) -> Callable[[Function], Function]: ...

    def tool(
        self,
        function: Any = None,
        /,
        *,
        describe: Describe | None = None,
        settle: Settle | None = None,
        **options: Unpack[Options],
    ) -> Any:
        """Register a function as a tool, and return the function unchanged.

        The parameters are the arguments of the tool. Their type hints define the JSON Schema. The
        description of a parameter comes from the docstring, from `Annotated[int, "how many days"]`
        or from a pydantic `Field`. If the only parameter is a pydantic model, the fields of the
        model are the arguments. `**arguments: Any` accepts any arguments. A parameter of type
        `Context`, or `AsyncContext` in an async function, receives the context of the call.

        The model reads the return value: a str becomes text, a Result, a block and a list of blocks
        stay as they are, None becomes an empty result, and any other value becomes one block of
        JSON. The model also reads the message of a ToolError, and the type and message of any other
        exception. A ToolhostError is an infrastructure error, which the caller handles.

        An async function runs on the loop, and any other function in a separate thread. Calls run
        concurrently.

        A class also becomes a tool: each call has one object, whose method `call` is the function.
        The optional method `preview(self, so_far, context)` receives the incomplete arguments while
        the model writes them, as a dict in which strings may be cut off and members may be missing.
        It may report statuses and must have no side effects. The optional method `close(self)` runs
        at the end of every call.

        Args:
            function: The function or class.
            describe: Declares the tool for one session, which makes the tool dynamic. It runs when
                tools are listed and before calls, so it must be fast and have no side effects.
            settle: Says what became of an earlier call whose outcome is unknown, because the plugin or
                toolhost ended while it ran. It is a function, async or not, that has some of the
                parameters of the tool, and returns a Settlement. The context has the call id, the
                session, the workspace and the secrets of the call. It must be fast and change
                nothing, and cannot report statuses, ask questions or read artifacts. toolhost runs
                it only when the call no longer runs. An exception means that the tool does not know.
                With `seals=True`, it promises more: what it says did not happen has no effect later
                either, also if it still runs. It ensures that with `effect_key` of the context.
            **options: The rest of the declaration; see `toolhost.spec.Spec`.

        Raises:
            DeclarationError: The declaration is invalid.
        """

        def declare(function: Function) -> Function:
            tool = _declare.tool_of(function, options, describe, settle)
            self._claim("tool", tool.spec.name)
            self._tools[tool.spec.name] = tool
            return function

        return declare if function is None else declare(function)

    @overload
    def before(self, function: Function, /) -> Function: ...

    @overload
    def before(
        self, /, *, name: str = "", description: str = "", tools: Sequence[str] = ()
    ) -> Callable[[Function], Function]: ...

    def before(
        self, function: Any = None, /, *, name: str = "", description: str = "", tools: Sequence[str] = ()
    ) -> Any:
        """Register a filter function that runs before calls of tools of any plugin.

        It receives a FilterCall. It returns None to allow the call unchanged, `DenyCall(reason)` to
        prevent it, a mapping that replaces the arguments, or a Result that ends the call without
        running the tool. The configuration of the operator selects the calls. An exception means
        that the filter failed.

        With `tools`, calls of these tools of the same plugin always pass the filter, and the
        operator configures nothing. Such a call fails if the filter fails. The function runs before
        the rules of the operator and the approval of a person, which decide about the arguments
        that it returns. So it must have no side effects, and must not return a Result.

        Args:
            function: The function.
            name: The name of the filter. Without it, the name of the function. A function that
                `after` registers under the same name belongs to the same filter.
            description: What the filter does, for operators. Without it, the text of the docstring.
            tools: Names of tools of the same plugin. If a filter has two functions, one of them
                names the tools.
        """
        declare = self._filter("before", name, description, tools)
        return declare if function is None else declare(function)

    @overload
    def after(self, function: Function, /) -> Function: ...

    @overload
    def after(
        self, /, *, name: str = "", description: str = "", tools: Sequence[str] = ()
    ) -> Callable[[Function], Function]: ...

    def after(
        self, function: Any = None, /, *, name: str = "", description: str = "", tools: Sequence[str] = ()
    ) -> Any:
        """Register a filter function that runs after calls of tools of any plugin.

        It receives a FilterCall with the result. It returns None to keep the result, or a Result
        that replaces it. The arguments are those of `before`.
        """
        declare = self._filter("after", name, description, tools)
        return declare if function is None else declare(function)

    def _filter(self, phase: str, name: str, description: str, tools: Sequence[str]) -> Callable[[Function], Function]:
        def declare(function: Function) -> Function:
            if not callable(function):
                raise DeclarationError(f"a filter needs a function, not {function!r}; pass a name as name=…")
            called = name or getattr(function, "__name__", "")
            known = self._filters.get(called)
            if known is None:
                self._claim("filter", called)
                known = Filter(called, description or _docstring.parse(function.__doc__)[0])
            elif getattr(known, phase) is not None:
                raise DeclarationError(f'filter "{called}": another filter of the plugin has that name')
            asked = dataclasses.replace(known, tools=tools_of(known, tools))
            setattr(asked, phase, function)
            check_phases(called, asked.before, asked.after)
            self._filters[called] = asked
            return function

        return declare

    # Hooks.

    def on_startup(self, function: Function) -> Function:
        """Register a function, async or not, that runs once before the plugin serves calls.

        Use it to open what all calls share, such as a connection pool. Hooks run in the order of
        their registration, and async hooks run on the loop of the async tools. If a hook raises,
        the plugin logs the exception and exits with code 1, and toolhost reports it as unavailable.
        """
        self._hooks.startup.append(_hook(function))
        return function

    def on_shutdown(self, function: Function) -> Function:
        """Register a function, async or not, that runs once after all calls have ended.

        Hooks run in reverse order of their registration. An exception is logged, and the other
        hooks still run. Hooks do not run if the process crashes, or if calls do not end within the
        four seconds that toolhost grants them.
        """
        self._hooks.shutdown.append(_hook(function))
        return function

    def _claim(self, kind: str, name: str) -> None:
        check_name(name)
        if name in self._tools or name in self._filters:
            raise DeclarationError(f'{kind} "{name}": another tool or filter of the plugin has that name')

    # Declarations.

    @property
    def tools(self) -> Mapping[str, Spec]:
        """The declarations of the tools, by name."""
        return {name: tool.spec for name, tool in self._tools.items()}

    def _describe(self, request: plugin_pb2.DescribeRequest | None = None) -> plugin_pb2.DescribeResponse:
        """Return the declaration of the plugin for toolhost."""
        asked = request or plugin_pb2.DescribeRequest()
        tools = [t for t in self._tools.values() if not asked.tools or t.spec.name in asked.tools]
        return plugin_pb2.DescribeResponse(
            name=self.name,
            version=self.version,
            description=self.description,
            tools=[_wire.from_spec(_seen_by(tool, asked)) for tool in tools],
            default_tags=self.default_tags,
            permissions=_wire.from_permissions(self.permissions),
            sdk=version_pb2.SdkInfo(name="toolhost-python", version=__version__),
            filters=[
                plugin_pb2.FilterSpec(
                    name=f.name,
                    description=f.description,
                    before=f.before is not None,
                    after=f.after is not None,
                    tools=f.tools,
                )
                for f in self._filters.values()
            ],
        )

    def _runners(self, threads: Executor) -> dict[str, Runner]:
        """Return the runners of tools and filters, by name.

        Raises DeclarationError if a filter names a tool that the plugin does not have.
        """
        check_tools(self._filters.values(), self._tools)
        tools = {name: tool.runner(threads) for name, tool in self._tools.items()}
        return {**tools, **{name: Runner(name, f.open, threads) for name, f in self._filters.items()}}

    # Running.

    def run(self) -> None:
        """Serve the plugin until toolhost ends it, and exit the process.

        It is the last statement of the main module.

        The process exits with code 0 when toolhost requests it or is gone. Until then toolhost
        stores everything that the process prints or logs as the log of the plugin.

        If a person starts the plugin by hand, it prints a description to standard error and exits
        with code 1. With the argument --describe it prints its declaration as JSON and exits with
        code 0.
        """
        sys.exit(self._run(sys.argv[1:]))

    def _run(self, arguments: Sequence[str]) -> int:
        try:
            if not self._tools and not self._filters:
                raise DeclarationError("it has no tools")
            check_tools(self._filters.values(), self._tools)
        except DeclarationError as problem:
            print(f'The plugin "{self.name}" cannot be served: {problem}', file=sys.stderr)
            return 1
        if "--describe" in arguments:
            print(json.dumps(self._as_json(), ensure_ascii=False, indent=2))
            return 0
        if "--help" in arguments or "-h" in arguments:
            print(self._introduction(), end="")
            return 0
        if os.environ.get(_serve.COOKIE[0]) != _serve.COOKIE[1]:
            print(self._introduction(), end="", file=sys.stderr)
            return 1
        if not _serve.speaks(os.environ.get("PLUGIN_PROTOCOL_VERSIONS")):
            offered = os.environ.get("PLUGIN_PROTOCOL_VERSIONS")
            print(
                f"{self.name} speaks version {_serve.VERSION} of toolhost's contract, and toolhost speaks {offered}",
                file=sys.stderr,
            )
            return 1
        return _serve.serve(self.name, self._describe, self._runners, self._hooks)

    def _as_json(self) -> dict[str, Any]:
        from google.protobuf import json_format  # noqa: PLC0415 - only --describe needs it

        described = json_format.MessageToDict(self._describe(), preserving_proto_field_name=True)
        for tool, spec in zip(described.get("tools", []), self._tools.values(), strict=True):
            # In the message, schemas and examples are bytes.
            tool["input_schema"] = spec.spec.input_schema
            if spec.spec.output_schema is not None:
                tool["output_schema"] = spec.spec.output_schema
            if spec.spec.metadata:
                tool["metadata"] = spec.spec.metadata
            for shown, example in zip(tool.get("input_examples", []), spec.spec.examples, strict=True):
                shown["arguments"] = example.arguments
        return described

    def _introduction(self) -> str:
        ships = "tools for language models" if self._tools else "filters of tool calls"
        program = sys.argv[0]
        label = f"{self.name} {self.version}".strip()
        lines = [f"{label} is a plugin of toolhost: it ships {ships}, and toolhost runs it."]
        if self.description:
            lines.append(self.description)
        for title, entries in (
            ("Tools", [(t.spec.name, t.spec.description) for t in self._tools.values()]),
            ("Filters", [(f.name, f.description) for f in self._filters.values()]),
        ):
            if entries:
                lines += ["", f"{title}:"]
                lines += [
                    f"  {name:<20} {words.strip().splitlines()[0] if words.strip() else ''}".rstrip()
                    for name, words in entries
                ]
        lines += ["", "To use it, put it into a folder and serve that folder:", "", "  toolhost serve --plugins DIR"]
        if self._tools:
            lines.append(f"  toolhost call {next(iter(self._tools))} '{{…}}'")
        lines += ["", "To see all that it declares:", "", f"  {program} --describe", ""]
        return "\n".join(lines)


def _hook(function: Any) -> Any:
    """Return a hook.

    Raises DeclarationError if it is not a function without required parameters.
    """
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError) as problem:
        raise DeclarationError(f"a hook must be a function that can be called without arguments ({problem})") from None
    return function


def _seen_by(tool: Tool, asked: plugin_pb2.DescribeRequest) -> Spec:
    """Return the declaration of a tool for a session.

    If `describe` fails, this is the original declaration.
    """
    if tool.describe is None:
        return tool.spec
    wanted = {key: value for key, value in asked.context.items() if key in tool.spec.context_keys}
    if not asked.session and not wanted:
        return tool.spec
    try:
        variant = tool.describe(Viewer(asked.session or None, _wire.values(wanted)))
        seen = dataclasses.replace(
            tool.spec,
            display_name=variant.display_name or tool.spec.display_name,
            description=variant.description or tool.spec.description,
            input_schema=tool.spec.input_schema if variant.input_schema is None else variant.input_schema,
            output_schema=tool.spec.output_schema if variant.output_schema is None else variant.output_schema,
            examples=tool.spec.examples if variant.examples is None else variant.examples,
        )
        if seen.input_schema.get("type") != "object":
            raise DeclarationError('its input schema must have "type": "object"')
        _wire.from_spec(seen)
    except Unavailable:  # an expected failure, for example if the tool is not configured for the session
        _logger.debug(
            "a dynamic tool keeps its original declaration",
            extra={"tool": tool.spec.name, "session": asked.session},
            exc_info=True,
        )
        return tool.spec
    except Exception:
        _logger.warning(
            "a dynamic tool keeps its original declaration",
            extra={"tool": tool.spec.name, "session": asked.session},
            exc_info=True,
        )
        return tool.spec
    return seen
