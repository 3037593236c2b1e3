"""Noticing that toolhost is gone before it has opened the stream of calls; from then on the stream tells.

gRPC does not say when a connection ends. But the connection is one of the process's own open files, and there is only
one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from typing import Protocol

_INTERVAL = 0.05  # how often it is looked, in seconds; that takes a few looks, since toolhost connects at once
_ACCEPT = 5.0  # how long a connection may wait to be accepted, in seconds; until then it is no open file
_LIMIT = 300.0  # how long nobody may connect, in seconds; longer than this takes nothing but a toolhost that is gone


class Life(Protocol):
    """What is known of toolhost."""

    connected: bool
    """Whether it has asked anything."""
    streaming: asyncio.Event
    """Is set when it has opened the stream."""


async def toolhost_gone(path: str, parent: int, life: Life) -> None:
    """Return once toolhost is gone, or has opened the stream.

    path is where the plugin listens, parent the number of the process that started it.
    """
    began = time.monotonic()
    nameless: float | None = None  # since when the socket has no name
    while not life.streaming.is_set():
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            await asyncio.wait_for(life.streaming.wait(), _INTERVAL)
        now = time.monotonic()
        if is_connected(path):
            life.connected = True
        elif life.connected or os.getppid() != parent or now - began > _LIMIT:
            return
        # toolhost removes the socket's name when it has connected, which may be before the connection is accepted.
        elif nameless is None and not os.path.lexists(path):
            nameless = now
        elif nameless is not None and now - nameless > _ACCEPT:
            return


def is_connected(path: str) -> bool:
    """Say whether one of the process's open files is a connection that was made to the socket at a path."""
    for name in os.listdir("/dev/fd"):
        try:
            duplicate = os.dup(int(name))
        except OSError:
            continue  # closed meanwhile
        try:
            with socket.socket(fileno=duplicate) as opened:
                listens = opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
                if opened.family == socket.AF_UNIX and opened.getsockname() == path and not listens:
                    return True
        except OSError:
            os.close(duplicate)  # it is no socket
    return False
