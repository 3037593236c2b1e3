"""A plugin: its tools and filters, and how it is run."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, overload

from typing_extensions import Unpack

from toolhost import _wire
from toolhost.errors import Unavailable
from toolhost.plugin import _declare, _docstring, _serve
from toolhost.plugin._declare import Describe, Function, Options, Tool, Viewer, check_name
from toolhost.plugin._filter import Filter, check_phases
from toolhost.plugin._run import Runner
from toolhost.plugin._signature import DeclarationError
from toolhost.proto.toolhost.plugin.v1 import plugin_pb2
from toolhost.spec import Permissions, Spec

_logger = logging.getLogger("toolhost.plugin")


class Plugin:
    """An executable that ships tools, filters or both.

    Args:
        name: 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter.
        version: Free text; semantic versioning is usual. May be empty.
        description: One line on what the plugin is. May be empty.
        default_tags: Tags for the tools that declare none.
        permissions: What it asks to be allowed, such as the network.
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
                raise DeclarationError(f"tags are given as a list, such as [{default_tags!r}]")
        except DeclarationError as problem:
            raise DeclarationError(f"the plugin: {problem}") from None
        self.name = name
        self.version = version
        self.description = description
        self.default_tags = tuple(default_tags)
        self.permissions = permissions or Permissions()
        self._tools: dict[str, Tool] = {}
        self._filters: dict[str, Filter] = {}

    # What it ships.

    @overload
    def tool(self, function: Function, /) -> Function: ...

    @overload
    def tool(
        self, /, *, describe: Describe | None = None, **options: Unpack[Options]
    ) -> Callable[[Function], Function]: ...

    def tool(self, function: Any = None, /, *, describe: Describe | None = None, **options: Unpack[Options]) -> Any:
        """Make a tool of a function, which stays what it is.

        Its parameters are the arguments: their type hints become the JSON Schema, and a description comes from the
        docstring, or stands in `Annotated[int, "how many days"]` or in a pydantic `Field`. If there is only one, of a
        pydantic model, the model's fields are the arguments. `**arguments: Any` takes them as they come. A parameter of
        type `Context`, or `AsyncContext` in an async function, is given the call.

        What it returns is what the model reads: a str as text; a Result, a block of content or a list of blocks as they
        are; None as nothing; anything else as one block of JSON. A ToolError is read by the model, too. A ToolhostError
        says that the machinery failed. Any other exception is the tool's bug: the call ends as internal.

        An async function runs on the loop, any other in a thread of its own. Both run beside other calls.

        A class becomes a tool, too: for each call there is one object, and its method `call` is the function. It may
        have a method `preview(self, so_far, context)`, which is shown the arguments while the model still writes them,
        as a dict in which strings may be cut and parts be missing; it is for previews alone, such as a status, and must
        have no effect. It may have a method `close(self)`, which is called at the end of the call, however that ended.

        Args:
            function: The function or class.
            describe: Describes the tool to one session, which makes it dynamic. It is asked when tools are listed and
                before calls, so that it must be quick and without effects.
            **options: What else is declared of the tool, as in toolhost.spec.Spec.
        """

        def declare(function: Function) -> Function:
            tool = _declare.tool_of(function, options, describe)
            self._claim("tool", tool.spec.name)
            self._tools[tool.spec.name] = tool
            return function

        return declare if function is None else declare(function)

    @overload
    def before(self, function: Function, /) -> Function: ...

    @overload
    def before(self, /, *, name: str = "", description: str = "") -> Callable[[Function], Function]: ...

    def before(self, function: Any = None, /, *, name: str = "", description: str = "") -> Any:
        """Make a filter of a function that is asked before calls, of any plugin's tools.

        It takes a FilterCall, and returns None to leave all as it is, Deny(reason), the arguments that take the place
        of those given, or a Result that ends the call, so that the tool is not called. The operator's configuration
        says for which calls it is asked. An exception says that the filter failed.

        Args:
            function: The function.
            name: The filter's name; without it, that of the function. `after` may make the other half of it.
            description: What it does, for operators; without it, what the docstring says.
        """
        declare = self._filter("before", name, description)
        return declare if function is None else declare(function)

    @overload
    def after(self, function: Function, /) -> Function: ...

    @overload
    def after(self, /, *, name: str = "", description: str = "") -> Callable[[Function], Function]: ...

    def after(self, function: Any = None, /, *, name: str = "", description: str = "") -> Any:
        """Make a filter of a function that is asked when a tool has answered.

        It takes a FilterCall, and returns None to leave all as it is, or a Result. See `before`.
        """
        declare = self._filter("after", name, description)
        return declare if function is None else declare(function)

    def _filter(self, phase: str, name: str, description: str) -> Callable[[Function], Function]:
        def declare(function: Function) -> Function:
            if not callable(function):
                raise DeclarationError(f"a filter is made of a function, not of {function!r}; give a name as name=…")
            called = name or getattr(function, "__name__", "")
            known = self._filters.get(called)
            if known is None:
                self._claim("filter", called)
                known = Filter(called, description or _docstring.parse(function.__doc__)[0])
            elif getattr(known, phase) is not None:
                raise DeclarationError(f'filter "{called}": another filter of the plugin has that name')
            asked = dataclasses.replace(known)
            setattr(asked, phase, function)
            check_phases(called, asked.before, asked.after)
            self._filters[called] = asked
            return function

        return declare

    def _claim(self, kind: str, name: str) -> None:
        check_name(name)
        if name in self._tools or name in self._filters:
            raise DeclarationError(f'{kind} "{name}": another tool or filter of the plugin has that name')

    # What it says of itself.

    @property
    def tools(self) -> Mapping[str, Spec]:
        """What the tools declare, by their names."""
        return {name: tool.spec for name, tool in self._tools.items()}

    def describe(self, request: plugin_pb2.DescribeRequest | None = None) -> plugin_pb2.DescribeResponse:
        """Return what the plugin says of itself to toolhost."""
        asked = request or plugin_pb2.DescribeRequest()
        tools = [t for t in self._tools.values() if not asked.tools or t.spec.name in asked.tools]
        return plugin_pb2.DescribeResponse(
            name=self.name,
            version=self.version,
            description=self.description,
            tools=[_wire.from_spec(_seen_by(tool, asked)) for tool in tools],
            default_tags=self.default_tags,
            permissions=_wire.from_permissions(self.permissions),
            filters=[
                plugin_pb2.FilterSpec(
                    name=f.name, description=f.description, before=f.before is not None, after=f.after is not None
                )
                for f in self._filters.values()
            ],
        )

    def runners(self, threads: Executor) -> dict[str, Runner]:
        """Return what runs calls, by name. It is for toolhost.testing."""
        tools = {name: tool.runner(threads) for name, tool in self._tools.items()}
        return {**tools, **{name: Runner(name, f.open, threads) for name, f in self._filters.items()}}

    # How it is run.

    def run(self) -> None:
        """Run the plugin: it is the whole of main, and does not return.

        It exits with code 0 when toolhost has told the plugin to end, or is gone. Until then, what is printed is kept
        by toolhost as the plugin's log, and so is what is logged.

        A plugin that was started by a person says so on standard error and exits with code 1. With the argument
        --describe it prints, as JSON, what toolhost sees of it, and serves nothing.
        """
        sys.exit(self._run(sys.argv[1:]))

    def _run(self, arguments: Sequence[str]) -> int:
        if not self._tools and not self._filters:
            print(f'The plugin "{self.name}" cannot be served: it has no tools', file=sys.stderr)
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
        return _serve.serve(self.name, self.describe, self.runners)

    def _as_json(self) -> dict[str, Any]:
        from google.protobuf import json_format  # noqa: PLC0415 - plugins start without it

        described = json_format.MessageToDict(self.describe(), preserving_proto_field_name=True)
        for tool, spec in zip(described.get("tools", []), self._tools.values(), strict=True):
            # Schemas and examples as what they are, not as bytes.
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


def _seen_by(tool: Tool, asked: plugin_pb2.DescribeRequest) -> Spec:
    """Return a tool as a session sees it; as it was declared, where what its author wrote fails."""
    if tool.describe is None:
        return tool.spec
    wanted = {key: value for key, value in asked.context.items() if key in tool.spec.context_keys}
    if not asked.session and not wanted:
        return tool.spec
    try:
        variant = tool.describe(Viewer(asked.session, _wire.values(wanted)))
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
    except Unavailable:  # the tool expects that, such as where nothing is set up for it
        _logger.debug(
            "a dynamic tool stays as it is declared",
            extra={"tool": tool.spec.name, "session": asked.session},
            exc_info=True,
        )
        return tool.spec
    except Exception:
        _logger.warning(
            "a dynamic tool stays as it is declared",
            extra={"tool": tool.spec.name, "session": asked.session},
            exc_info=True,
        )
        return tool.spec
    return seen
