"""A plugin with the tools of a benchmark, declared by their own signatures and docstrings."""

import inspect
import json
import os
import random
import sys
import time
import typing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from benchmark import ToolFailure, load  # noqa: E402
from effects import Effects  # noqa: E402
from toolhost.plugin import Context, Plugin, Settlement, ToolError  # noqa: E402
from toolhost.result import Result, Text  # noqa: E402

settings = json.loads(Path(sys.argv[1]).read_text())
sys.argv = sys.argv[:1]
benchmark = load(settings["benchmark"], settings["site"])
plugin = Plugin(settings["name"], "1.0.0", description=f"The tools of {settings['benchmark']}.")


def effects(ctx: Context) -> Effects:
    """The file of a call's task. The driver names sessions after tasks."""
    return Effects(Path(settings["effects"], f"{ctx.session}.db"), ctx.session, benchmark)


def stages(call_id: str, name: str):
    """Write each stage into a file in one write, and let the kill of the driver hit it."""

    def stage(at: str) -> None:
        file = os.open(settings["trace"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, f"{at} {call_id} {name}\n".encode())
        os.close(file)
        time.sleep(settings["pause"] * random.uniform(0.5, 1.0))

    return stage


def settle(ctx: Context) -> Settlement:
    """Say from the file whether a call was executed."""
    for done in effects(ctx).executed():
        if done.call_id == ctx.call_id:
            return Settlement.happened(done.value if done.ok else Result([Text(done.value)], is_error=True))
    return Settlement.did_not_happen(reason="the file has no such call")


def offer(name: str, function: typing.Callable) -> None:
    def call(ctx: Context, **arguments: typing.Any):
        file = effects(ctx)
        try:
            return file.call(name, arguments, ctx.call_id, stages(ctx.call_id, name))
        except ToolFailure as problem:
            raise ToolError(str(problem)) from None
        finally:
            file.close()

    hidden = benchmark.hidden.get(name, set())
    signature = inspect.signature(function)
    hints = {k: v for k, v in typing.get_type_hints(function, include_extras=True).items() if k not in hidden}
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=Context)
    shown = [p for n, p in signature.parameters.items() if n not in hidden]
    call.__name__, call.__doc__ = name, inspect.cleandoc(function.__doc__ or name)
    call.__signature__ = signature.replace(parameters=[*shown, context])
    if not benchmark.typed:
        hints.pop("return", None)
        call.__signature__ = call.__signature__.replace(return_annotation=inspect.Signature.empty)
    call.__annotations__ = {**hints, "ctx": Context}
    options = {"read_only": True} if name in benchmark.reads else {}
    check = settle if settings["check"] and name not in benchmark.reads else None
    plugin.tool(name=name, settle=check, **options)(call)


for name, function in benchmark.functions.items():
    offer(name, function)

if __name__ == "__main__":
    plugin.run()
