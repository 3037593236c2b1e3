"""The spans that the author's code creates during a call with OpenTelemetry's API."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from types import ModuleType

from toolhost._json import valid_text
from toolhost._proto.toolhost.plugin.v1 import plugin_pb2
from toolhost.errors import ToolhostError
from toolhost.plugin._outflow import Outflow

MAX_SPANS = 128
"""The spans of one call that toolhost accepts."""
MAX_NAME = 128
"""The bytes of the name of a span, an event or an attribute."""
MAX_TEXT = 1024
"""The bytes of a text value."""
MAX_ATTRIBUTES = 32
"""The attributes of a span."""
MAX_EVENTS = 32
"""The events of a span."""
MAX_EVENT_ATTRIBUTES = 8
"""The attributes of an event."""

_FRAME = 32 << 10  # bytes from which on a further frame begins, so that spans do not block other calls for long
_FRAME_BYTES = 32  # at least the size of a frame without its spans
_FIELD_BYTES = 6  # at least what a span in a frame adds to its own size


class Recorder:
    """Collects the finished spans of one call and sends them to toolhost.

    The problem: a plugin has no network, and only toolhost knows whether a call is recorded. So the
    global TracerProvider creates spans for the recorder in their context, and the recorder sends
    them in frames of the call. It sends a span soon after its end, so that the trace of a call that
    crashes or times out shows what the tool had done before.

    At most MAX_SPANS spans of a call are recorded. The bound applies to starts, not to ends. A
    parent starts before its children, so a recorded span never loses its parent to the bound.

    `start` and `end` are safe on any thread. `close` must be called on the thread of the loop.
    """

    def __init__(self, number: int, span_bytes: int, out: Outflow) -> None:
        self._number = number
        self._out = out
        self._loop = asyncio.get_running_loop()
        self._room = span_bytes - _FRAME_BYTES  # bytes that toolhost still accepts
        self._lock = threading.Lock()  # for the fields below
        self._finished: list[plugin_pb2.Span] = []
        self._started = 0
        self._ended = 0
        self._dropped = 0  # spans that were not recorded and not yet reported
        self._scheduled = False  # whether `_flush` will run
        self._closed = False

    def start(self) -> bool:
        """Report whether one more span is recorded."""
        with self._lock:
            room = not self._closed and self._started < MAX_SPANS
            self._started += room
            self._dropped += not room
            return room

    def end(self, span: plugin_pb2.Span) -> None:
        """Take a span that has ended."""
        with self._lock:
            if self._closed:
                return
            self._ended += 1
            self._finished.append(span)
            if self._scheduled:
                return
            self._scheduled = True
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._flush)

    def _flush(self) -> None:
        with self._lock:
            finished, dropped = self._finished, self._dropped
            self._finished, self._dropped, self._scheduled = [], 0, False
        self._send(finished, dropped)

    def close(self) -> None:
        """Send the remaining spans. Spans that have not ended are reported as dropped."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._dropped += self._started - self._ended
        self._flush()

    def _send(self, finished: list[plugin_pb2.Span], dropped: int) -> None:
        batch, size = plugin_pb2.FinishedSpans(), 0
        for span in finished:
            cost = span.ByteSize() + _FIELD_BYTES
            if cost > self._room:
                dropped += 1
                continue
            if batch.spans and size + cost > _FRAME:
                self._put(batch)
                batch, size = plugin_pb2.FinishedSpans(), 0
            batch.spans.append(span)
            size += cost
            self._room -= cost
        batch.dropped = dropped
        if finished or dropped:
            self._put(batch)

    def _put(self, batch: plugin_pb2.FinishedSpans) -> None:
        self._room -= _FRAME_BYTES
        with contextlib.suppress(ToolhostError):  # the call is stopped, and there is no credit
            self._out.put(plugin_pb2.ConnectResponse(call=self._number, spans=batch))


def record(start: plugin_pb2.StartCall, number: int, out: Outflow) -> Recorder | None:
    """Record the spans of a call in the current task, and in its tasks and threads.

    Returns None if toolhost does not record the call, or if OpenTelemetry is not installed. Only a
    recorded call imports OpenTelemetry.
    """
    if not start.context.span_bytes:
        return None
    tracing = _tracing()
    if tracing is None:
        return None
    recorder = Recorder(number, start.context.span_bytes, out)
    return recorder if tracing.attach(start.context.traceparent, recorder) else None


@functools.cache
def _tracing() -> ModuleType | None:
    """Return the module that implements OpenTelemetry's API, or None if the API is missing."""
    try:
        from toolhost.plugin import _tracing as tracing  # noqa: PLC0415 - only recorded calls need it
    except ImportError:
        return None
    return tracing


def cut(text: str, size: int) -> str:
    """Return the beginning of a text, at most `size` bytes in UTF-8."""
    valid = valid_text(text)
    encoded = valid.encode()
    return valid if len(encoded) <= size else encoded[:size].decode(errors="ignore")
