"""Noticing that toolhost is gone before it has opened the stream of calls; from then on the stream tells.

gRPC does not say when a connection ends. But the connection is one of the process's own open files, and there is only
one.
"""

from __future__ import annotations

import asyncio
import os
import socket

_INTERVAL = 0.25  # how often it is looked, in seconds: toolhost leaves nothing behind for longer than one
_LIMIT = 300.0  # how long nobody may connect, in seconds; longer than this takes nothing but a toolhost that is gone


async def toolhost_gone(path: str, parent: int, streaming: asyncio.Event) -> None:
    """Return once toolhost is gone, or has opened the stream.

    path is where the plugin listens, parent the number of the process that started it.
    """
    connected = False
    waited = 0.0
    while not streaming.is_set():
        try:
            await asyncio.wait_for(streaming.wait(), _INTERVAL)
        except (TimeoutError, asyncio.TimeoutError):
            waited += _INTERVAL
        here = is_connected(path)
        if (connected and not here) or (not here and os.getppid() != parent) or (not connected and waited > _LIMIT):
            return
        connected = connected or here


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
