"""Logging: records of a call are its events, and other records go to standard error."""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from toolhost._json import encode, valid_text
from toolhost.status import LogRecord

if TYPE_CHECKING:
    from toolhost.plugin._call import Call

# The attributes of every record. Any other attribute comes from `extra`.
_ALWAYS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"), (logging.NOTSET, "debug"))


def attributes_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the `extra` attributes and the exception of a record.

    A value without a JSON form becomes its repr.
    """
    attributes = {key: value for key, value in record.__dict__.items() if key not in _ALWAYS}
    if record.exc_info and record.exc_info[1] is not None:
        attributes["exception"] = "".join(traceback.format_exception(record.exc_info[1]))
    for key, value in attributes.items():
        try:
            encode(value)
        except (ValueError, TypeError):
            attributes[key] = repr(value)
    return attributes


class ProcessHandler(logging.Handler):
    """Writes each record as one line of JSON. toolhost parses the line and keeps its level."""

    def __init__(self, stream: TextIO, call_id: str = "") -> None:
        super().__init__()
        self._stream = stream
        self._call_id = {"call_id": call_id} if call_id else {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        try:
            line = {
                "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
                "level": next(name for least, name in _LEVELS if record.levelno >= least),
                "msg": record.getMessage(),
                **self._call_id,
                "logger": record.name,
                **json.loads(encode(attributes_of(record))),
            }
            self._stream.write(valid_text(json.dumps(line, ensure_ascii=False)) + "\n")
            self._stream.flush()
        except Exception:  # noqa: BLE001 - a logging handler must not raise
            self.handleError(record)


class _CallHandler(logging.Handler):
    """Sends records as events of a call."""

    def __init__(self, call: Call, thread: int) -> None:
        super().__init__()
        self._call = call
        self._thread = thread
        self._fallback = ProcessHandler(sys.stderr, call.start.call_id)

    def handle(self, record: logging.LogRecord) -> bool:
        """Emit a record without the lock of the handler.

        `emit` waits for the loop, and the loop may log to the same handler.
        """
        if not self.filter(record):
            return False
        self.emit(record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record as an event.

        After the end of the call, write it to standard error instead.
        """
        try:
            line = LogRecord(
                record.getMessage(),
                record.levelno,
                datetime.fromtimestamp(record.created, UTC),
                attributes_of(record),
            )
            if threading.get_ident() == self._thread:
                taken: bool | None = self._call.log_soon(line)
            else:
                taken = self._call.from_thread(self._call.log(line))
        except Exception:  # noqa: BLE001 - a logging handler must not raise
            self.handleError(record)
            return
        if not taken:
            self._fallback.emit(record)


def logger_of(call: Call, thread: int) -> logging.Logger:
    """Return a logger whose records are events of the call. `thread` is the thread of the loop."""
    logger = logging.Logger("toolhost.call", logging.DEBUG)  # getLogger would keep it for the life of the process
    logger.addHandler(_CallHandler(call, thread))
    return logger
