"""Detection of the end of toolhost before it has opened the stream of calls.

A plugin must not outlive its toolhost. Once the stream is open, its end shows that toolhost is
gone. Before that, the gRPC server of Python reports no connections. So this module looks for the
connection among the open files of the process: toolhost has exactly one connection to a plugin.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from typing import Protocol

_INTERVAL = 0.05  # seconds between two checks; toolhost connects immediately, so there are only a few
_ACCEPT = 5.0  # seconds: how long gRPC may take to accept a connection; before that it is not an open file
_LIMIT = 300.0  # seconds without any connection after which toolhost counts as gone


class Life(Protocol):
    """The state of the connection to toolhost."""

    connected: bool
    """Whether toolhost has connected or sent a request."""
    streaming: asyncio.Event
    """Set when toolhost has opened the stream."""


async def toolhost_gone(path: str, parent: int, life: Life) -> None:
    """Return when toolhost is gone or has opened the stream.

    `path` is the socket of the plugin, and `parent` is the process id of its parent at the start.
    """
    began = time.monotonic()
    nameless: float | None = None  # when the socket file disappeared
    while not life.streaming.is_set():
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            await asyncio.wait_for(life.streaming.wait(), _INTERVAL)
        now = time.monotonic()
        if is_connected(path):
            life.connected = True
        elif life.connected or os.getppid() != parent or now - began > _LIMIT:
            return
        # toolhost removes the socket file after it connects, possibly before gRPC accepts the
        # connection.
        elif nameless is None and not os.path.lexists(path):
            nameless = now
        elif nameless is not None and now - nameless > _ACCEPT:
            return


def is_connected(path: str) -> bool:
    """Report whether an open file of the process is a connection to the socket at a path."""
    for name in os.listdir("/dev/fd"):
        try:
            duplicate = os.dup(int(name))
        except OSError:
            continue  # closed since listdir
        try:
            with socket.socket(fileno=duplicate) as opened:
                listens = opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
                if opened.family == socket.AF_UNIX and opened.getsockname() == path and not listens:
                    return True
        except OSError:
            os.close(duplicate)  # not a socket
    return False
