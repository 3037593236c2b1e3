"""An implementation of OpenTelemetry's tracing API whose spans a Recorder sends to toolhost.

It needs the package `opentelemetry-api` only. Importing this module sets the global TracerProvider,
unless the author's code has set one.
"""

from __future__ import annotations

import base64
import os
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, cast

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.util._decorator import _agnosticcontextmanager

from toolhost._json import encode
from toolhost._proto.toolhost.plugin.v1 import plugin_pb2
from toolhost.plugin._spans import (
    MAX_ATTRIBUTES,
    MAX_EVENT_ATTRIBUTES,
    MAX_EVENTS,
    MAX_NAME,
    MAX_TEXT,
    Recorder,
    cut,
)

_RECORDER = contexts.create_key("toolhost-recorder")
_INT64 = 1 << 63
_PARENT_PARTS = 4  # version, trace id, span id, flags

Attributes = Mapping[str, Any] | None


def attach(traceparent: str, recorder: Recorder) -> bool:
    """Make a recorder and the call's span current in this task, and report whether that is possible."""
    parts = traceparent.split("-")
    if len(parts) != _PARENT_PARTS:
        return False
    try:
        parent = SpanContext(int(parts[1], 16), int(parts[2], 16), True, TraceFlags(TraceFlags.SAMPLED))
    except ValueError:
        return False
    if not parent.is_valid:
        return False
    current = contexts.set_value(_RECORDER, recorder)
    contexts.attach(trace.set_span_in_context(NonRecordingSpan(parent), current))  # the task of the call ends with it
    return True


class _Provider(trace.TracerProvider):
    """Creates spans for the recorder in their context. toolhost sets their instrumentation scope."""

    def get_tracer(
        self,
        instrumenting_module_name: str,
        instrumenting_library_version: str | None = None,
        schema_url: str | None = None,
        attributes: Attributes = None,
    ) -> trace.Tracer:
        return _TRACER


class _Tracer(trace.Tracer):
    def start_span(
        self,
        name: str,
        context: contexts.Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Attributes = None,
        links: Sequence[trace.Link] | None = None,
        start_time: int | None = None,
        record_exception: bool = True,
        set_status_on_exception: bool = True,
    ) -> trace.Span:
        parent = trace.get_current_span(context)
        recorder = contexts.get_value(_RECORDER, context)
        if isinstance(recorder, Recorder) and recorder.start():
            span = _Span(recorder, parent.get_span_context(), name, kind, start_time or time.time_ns())
            span.record_exceptions, span.fail_on_exceptions = record_exception, set_status_on_exception
            span.set_attributes(attributes or {})
            return span
        return NonRecordingSpan(parent.get_span_context()) if parent.is_recording() else parent

    @_agnosticcontextmanager
    def start_as_current_span(
        self,
        name: str,
        context: contexts.Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Attributes = None,
        links: Sequence[trace.Link] | None = None,
        start_time: int | None = None,
        record_exception: bool = True,
        set_status_on_exception: bool = True,
        end_on_exit: bool = True,
    ) -> Iterator[trace.Span]:
        span = self.start_span(name, context, kind, attributes, links, start_time)
        with trace.use_span(span, end_on_exit, record_exception, set_status_on_exception):
            yield span


_TRACER = _Tracer()


class _Span(trace.Span):
    """A span that is recorded. It is bounded from its start. The contract has no links."""

    record_exceptions = True
    fail_on_exceptions = True

    def __init__(self, recorder: Recorder, parent: SpanContext, name: str, kind: SpanKind, start: int) -> None:
        span_id = os.urandom(8)
        self._recorder = recorder
        self._context = SpanContext(parent.trace_id, int.from_bytes(span_id), False, TraceFlags(TraceFlags.SAMPLED))
        self._lock = threading.Lock()
        self._over = False
        self._data = plugin_pb2.Span(
            span_id=span_id,
            parent_span_id=parent.span_id.to_bytes(8),
            name=cut(name, MAX_NAME),
            start_time_unix_nano=max(0, start),
            kind=f"SPAN_KIND_{kind.name}",
        )

    def end(self, end_time: int | None = None) -> None:
        with self._lock:
            if self._over:
                return
            self._over = True
        self._data.end_time_unix_nano = max(0, end_time or time.time_ns())
        self._recorder.end(self._data)

    def get_span_context(self) -> SpanContext:
        return self._context

    def is_recording(self) -> bool:
        return not self._over

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        with self._lock:
            if not self._over:
                _set(self._data.attributes, attributes, MAX_ATTRIBUTES)

    def set_attribute(self, key: str, value: Any) -> None:
        self.set_attributes({key: value})

    def add_event(self, name: str, attributes: Attributes = None, timestamp: int | None = None) -> None:
        with self._lock:
            if self._over or len(self._data.events) >= MAX_EVENTS:
                return
            event = self._data.events.add(name=cut(name, MAX_NAME), time_unix_nano=max(0, timestamp or time.time_ns()))
            _set(event.attributes, attributes or {}, MAX_EVENT_ATTRIBUTES)

    def add_link(self, context: SpanContext, attributes: Attributes = None) -> None:
        pass

    def update_name(self, name: str) -> None:
        with self._lock:
            if not self._over:
                self._data.name = cut(name, MAX_NAME)

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        if isinstance(status, Status):
            description, status = status.description, status.status_code
        with self._lock:
            if self._over or self._data.status == plugin_pb2.SPAN_STATUS_OK:
                return
            if status is StatusCode.OK:
                self._data.status, self._data.status_message = plugin_pb2.SPAN_STATUS_OK, ""
            elif status is StatusCode.ERROR:
                self._data.status = plugin_pb2.SPAN_STATUS_ERROR
                self._data.status_message = cut(description or "", MAX_TEXT)

    def record_exception(
        self,
        exception: BaseException,
        attributes: Attributes = None,
        timestamp: int | None = None,
        escaped: bool = False,
    ) -> None:
        described = {
            "exception.type": type(exception).__name__,
            "exception.message": str(exception),
            "exception.stacktrace": "".join(traceback.format_exception(exception)),
        }
        self.add_event("exception", {**described, **(attributes or {})}, timestamp)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        if isinstance(exc_val, Exception):
            if self.record_exceptions:
                self.record_exception(exc_val)
            if self.fail_on_exceptions:
                self.set_status(StatusCode.ERROR, f"{type(exc_val).__name__}: {exc_val}")
        self.end()


def _set(attributes: Any, more: Mapping[str, Any], most: int) -> None:
    """Set attributes in a repeated field, which never gets more than `most`."""
    for key, value in more.items():
        if not key or value is None:
            continue
        name = cut(str(key), MAX_NAME)
        attribute = next((a for a in attributes if a.key == name), None)
        if attribute is None:
            if len(attributes) >= most:
                continue
            attribute = attributes.add(key=name)
        match value:
            case bool():
                attribute.truth = value
            case int() if -_INT64 <= value < _INT64:
                attribute.integer = value
            case float():
                attribute.number = value
            case _:
                attribute.text = cut(_text_of(value), MAX_TEXT)


def _text_of(value: Any) -> str:
    """Return the text of a value. A list or mapping becomes JSON."""
    match value:
        case str():
            return value
        case bytes():
            return base64.b64encode(value).decode()
        case Sequence() | Mapping():
            try:
                return encode(value).decode()
            except (ValueError, TypeError):
                return repr(cast(Any, value))
        case _:
            return str(value)


if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
    trace.set_tracer_provider(_Provider())
