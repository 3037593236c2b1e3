"""The author's own spans: which toolhost receives, and which it does not."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.context import Context as TraceContext

from toolhost._proto.toolhost.plugin.v1 import plugin_pb2 as pb
from toolhost.plugin import Plugin
from toolhost.plugin._session import Session
from toolhost.plugin._spans import MAX_ATTRIBUTES, MAX_EVENTS, MAX_SPANS, MAX_TEXT

TRACE, CALL = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
plugin = Plugin("spans")
tracer = trace.get_tracer("author")  # before the SDK sets its provider


@plugin.tool
def work() -> str:
    """Work in a thread."""
    with tracer.start_as_current_span("outer", kind=trace.SpanKind.CLIENT, attributes={"a": "1"}) as outer:
        with tracer.start_as_current_span("inner") as inner:
            inner.set_attributes({"n": 1, "f": 1.5, "b": True, "list": ["x", 1], "none": None, "big": 1 << 70})
            inner.set_attribute("n", 2)
            inner.add_event("found", {"rows": 3}, timestamp=7)
            inner.update_name("renamed")
        outer.set_status(trace.StatusCode.OK)
        outer.set_status(trace.StatusCode.ERROR, "too late")
    outer.set_attribute("late", 1)
    return f"{outer.get_span_context().trace_id:032x}"


@tracer.start_as_current_span("helped")
async def help_out() -> None:
    with pytest.raises(KeyError):
        await fail()


async def fail() -> None:
    with tracer.start_span("fails"):
        await asyncio.sleep(0)
        raise KeyError("k")


@plugin.tool
async def work_async() -> None:
    """Work on the loop, in a task, and in a thread."""
    with tracer.start_as_current_span("async"):
        await asyncio.create_task(help_out())
        await asyncio.to_thread(lambda: tracer.start_span("thread").end())
        tracer.start_span("elsewhere", context=TraceContext()).end()  # a context without the call


@plugin.tool
async def many(count: int) -> None:
    """Start many spans, each below the one before, and end all but the last that is recorded."""
    spans = [trace.get_current_span()]
    for _ in range(count):
        spans.append(tracer.start_span("s" * 1000, context=trace.set_span_in_context(spans[-1])))
        spans[-1].set_attributes({f"{n}": "ä" * MAX_TEXT for n in range(2 * MAX_ATTRIBUTES)})
        for _ in range(2 * MAX_EVENTS):
            spans[-1].add_event("e")
    for span in [*spans[:MAX_SPANS], *spans[MAX_SPANS + 1 :]]:
        span.end()


@plugin.tool
async def early() -> None:
    """End a span, and wait."""
    tracer.start_span("lone \ud800").end()
    await asyncio.Event().wait()


class Wire:
    """toolhost's end of a stream."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self.heard: list[pb.ConnectResponse] = []
        self._news = asyncio.Event()
        self.session = Session(plugin.name, plugin._runners(threads), self._hear)

    def _hear(self, frame: pb.ConnectResponse) -> None:
        self.heard.append(frame)
        self._news.set()

    def start(self, tool: str, arguments: str = "{}", *, span_bytes: int = 128 << 10, credit: int = 1 << 30) -> None:
        context = pb.CallContext(traceparent=f"00-{TRACE}-{CALL}-01", span_bytes=span_bytes)
        start = pb.StartCall(tool=tool, arguments=arguments.encode(), complete=True, credit=credit, context=context)
        self.session.take(pb.ConnectRequest(call=1, start=start))

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 60)

    @property
    def spans(self) -> list[pb.Span]:
        return [span for frame in self.heard for span in frame.spans.spans]

    @property
    def dropped(self) -> int:
        return sum(frame.spans.dropped for frame in self.heard)

    async def call(self, tool: str, arguments: str = "{}", **more: Any) -> dict[str, pb.Span]:
        """Make a call, and return its spans by name."""
        self.start(tool, arguments, **more)
        await self.until(lambda: self.heard[-1:] != [] and self.heard[-1].HasField("end"))
        assert not self.heard[-1].end.HasField("error")
        return {span.name: span for span in self.spans}


def on_wire(test: Callable[[Wire], Awaitable[None]]) -> None:
    async def run() -> None:
        with ThreadPoolExecutor(8) as threads:
            wire = Wire(threads)
            await test(wire)
            assert await wire.session.close(60)

    asyncio.run(run())


def attributes(span: pb.Span) -> dict[str, Any]:
    return {a.key: getattr(a, str(a.WhichOneof("value"))) for a in span.attributes}


def test_spans_nest() -> None:
    async def test(wire: Wire) -> None:
        got = await wire.call("work")
        assert wire.heard[-1].end.result.content[0].text == TRACE
        assert set(got) == {"outer", "renamed"}
        outer, inner = got["outer"], got["renamed"]
        assert outer.parent_span_id.hex() == CALL
        assert inner.parent_span_id == outer.span_id
        assert (outer.kind, inner.kind) == (pb.SPAN_KIND_CLIENT, pb.SPAN_KIND_INTERNAL)
        assert attributes(outer) == {"a": "1"}
        assert attributes(inner) == {"n": 2, "f": 1.5, "b": True, "list": '["x",1]', "big": str(1 << 70)}
        assert [(e.name, e.time_unix_nano, e.attributes[0].integer) for e in inner.events] == [("found", 7, 3)]
        assert outer.status == pb.SPAN_STATUS_OK
        assert outer.start_time_unix_nano <= inner.start_time_unix_nano <= inner.end_time_unix_nano
        assert inner.end_time_unix_nano <= outer.end_time_unix_nano
        assert wire.dropped == 0

    on_wire(test)


def test_the_context_reaches_tasks_and_threads() -> None:
    async def test(wire: Wire) -> None:
        got = await wire.call("work_async")
        assert set(got) == {"async", "helped", "fails", "thread"}
        assert got["async"].parent_span_id.hex() == CALL
        assert got["helped"].parent_span_id == got["thread"].parent_span_id == got["async"].span_id
        failed = got["fails"]
        assert failed.parent_span_id == got["helped"].span_id
        assert (failed.status, failed.status_message) == (pb.SPAN_STATUS_ERROR, "KeyError: 'k'")
        assert failed.events[0].name == "exception"

    on_wire(test)


def test_spans_are_bounded() -> None:
    async def test(wire: Wire) -> None:
        room = 128 << 10
        await wire.call("many", '{"count": 500}', span_bytes=room)
        frames = [frame for frame in wire.heard if frame.HasField("spans")]
        assert 0 < sum(frame.ByteSize() for frame in frames) <= room
        assert len(wire.spans) + wire.dropped == 500
        for span in wire.spans:
            assert (len(span.name), len(span.attributes), len(span.events)) == (128, MAX_ATTRIBUTES, MAX_EVENTS)
            assert span.attributes[0].text == "ä" * (MAX_TEXT // 2)

    on_wire(test)


def test_only_the_first_spans_are_recorded() -> None:
    async def test(wire: Wire) -> None:
        await wire.call("many", f'{{"count": {MAX_SPANS + 10}}}', span_bytes=1 << 30)
        assert len(wire.spans) == MAX_SPANS - 1
        assert wire.dropped == 11  # one has not ended
        known = {CALL, *(span.span_id.hex() for span in wire.spans)}
        assert all(span.parent_span_id.hex() in known for span in wire.spans)

    on_wire(test)


def test_a_span_is_sent_before_the_call_ends() -> None:
    async def test(wire: Wire) -> None:
        wire.start("early")
        await wire.until(lambda: len(wire.spans) == 1)
        assert wire.spans[0].name == "lone \ufffd"

    on_wire(test)


def test_a_call_that_is_not_recorded_sends_nothing() -> None:
    async def test(wire: Wire) -> None:
        assert await wire.call("work", span_bytes=0) == {}
        assert wire.dropped == 0

    on_wire(test)


def test_without_credit_spans_wait_and_the_tool_does_not() -> None:
    async def test(wire: Wire) -> None:
        wire.start("work", credit=0)
        await asyncio.sleep(0)
        wire.session.take(pb.ConnectRequest(call=1, cancel=pb.CancelCall()))
        await wire.until(lambda: bool(wire.heard))
        assert wire.heard[0].HasField("end")

    on_wire(test)


SCRIPT = """
import asyncio, sys
sys.path[:0] = {path!r}
{before}
from test_spans import Wire, on_wire, trace

async def test(wire):
    print(sorted(await wire.call("work")), type(trace.get_tracer_provider()).__module__)

on_wire(test)
"""


def run(before: str) -> str:
    script = SCRIPT.format(path=sys.path, before=before)
    done = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_provider_of_the_author_stays() -> None:
    own = "from opentelemetry import trace; trace.set_tracer_provider(trace.NoOpTracerProvider())"
    assert run(own) == "[] opentelemetry.trace\n"
    assert run("") == "['outer', 'renamed'] toolhost.plugin._tracing\n"


def test_opentelemetry_is_neither_required_nor_imported() -> None:
    script = f"""
import asyncio, sys
sys.path[:0] = {sys.path!r}
sys.modules["opentelemetry"] = None  # as if it were not installed
from concurrent.futures import ThreadPoolExecutor
from toolhost._proto.toolhost.plugin.v1 import plugin_pb2 as pb
from toolhost.plugin import Plugin
from toolhost.plugin._session import Session

plugin = Plugin("p")

@plugin.tool
def say() -> str:
    "Say it."
    return "said"

async def main():
    heard = asyncio.Queue()
    with ThreadPoolExecutor(1) as threads:
        session = Session("p", plugin._runners(threads), heard.put_nowait)
        context = pb.CallContext(traceparent="00-{TRACE}-{CALL}-01", span_bytes=1000)
        start = pb.StartCall(tool="say", arguments=b"{{}}", complete=True, context=context)
        session.take(pb.ConnectRequest(call=1, start=start))
        print((await heard.get()).end.result.content[0].text)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "said\n"), done.stderr
