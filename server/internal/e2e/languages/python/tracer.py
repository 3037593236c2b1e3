"""A Python plugin of server/internal/e2e/languages whose tools create spans with OpenTelemetry's API, as an author does."""

from __future__ import annotations

import asyncio

from opentelemetry import trace

from toolhost.plugin import Context, Plugin

tracer = trace.get_tracer("author")
plugin = Plugin("tracer_python")


def step(name: str) -> None:
    """Create the inner span."""
    with tracer.start_as_current_span(f"{name} inner") as span:
        span.set_attribute("language", "python")


@plugin.tool(read_only=True)
def trace_python(name: str, ctx: Context, wait: bool = False) -> str:
    """Creates spans."""
    with tracer.start_as_current_span(f"{name} outer"):
        step(name)
    if wait:
        ctx.cancelled.wait()
    return "traced"


@plugin.tool(read_only=True)
async def trace_python_async(name: str) -> str:
    """Creates spans."""
    with tracer.start_as_current_span(f"{name} outer"):
        await asyncio.to_thread(step, name)
    return "traced"


plugin.run()
