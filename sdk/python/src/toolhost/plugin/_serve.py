"""The life of a plugin's process: socket, handshake, health, the stream of calls, and the end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import grpc

from toolhost._wire import MAX_MESSAGE
from toolhost.plugin import _log
from toolhost.plugin._lifeline import toolhost_gone
from toolhost.plugin._run import Runner
from toolhost.plugin._session import Session
from toolhost.proto.toolhost.plugin.v1 import plugin_pb2, plugin_pb2_grpc

COOKIE = ("TOOLHOST_PLUGIN", "f0c4a1f2-8c1e-4d0b-9a57-2f6f6f4b7d11")
VERSION = 1
"""The version of the contract that this SDK speaks."""

_GRACE = 4.0  # how long calls may take to end once toolhost is gone, in seconds; after five it sends a signal
_LAST_WORDS = 0.5  # how long toolhost may take to hear what they say then, in seconds
_MORE = ("toolhost-batch", "1")  # is said by who reads several frames in one message
_TOGETHER = 32 << 10  # how many bytes of frames make one message; one that is larger has no others behind it
_MANY = 1 << 16  # threads: as many as there are calls, since one that waits must hold up no other

Describe = Callable[[plugin_pb2.DescribeRequest], plugin_pb2.DescribeResponse]
_logger = logging.getLogger("toolhost.plugin")


def speaks(versions: str | None) -> bool:
    """Say whether the versions that toolhost offers, separated by commas, are not all unknown."""
    return versions is None or str(VERSION) in [version.strip() for version in versions.split(",")]


def serve(name: str, describe: Describe, runners: Callable[[ThreadPoolExecutor], Mapping[str, Runner]]) -> int:
    """Serve until toolhost ends the plugin or is gone, and return the exit code."""
    parent = os.getppid()  # before the handshake: as soon as that is out, toolhost may be gone
    handshake = _claim_stdout()
    logging.basicConfig(level=logging.INFO, handlers=[_log.ProcessHandler(sys.stderr)])
    threads = ThreadPoolExecutor(_MANY, thread_name_prefix="call")
    asyncio.run(_serve(name, describe, runners(threads), handshake, threads, parent))
    threads.shutdown()
    return 0


def _leave() -> NoReturn:
    """End the process although calls have not ended: a thread cannot be, and Python would wait for it."""
    _logger.warning("the plugin ends although calls have not")
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _claim_stdout() -> int:
    """Return a file for the handshake line alone. What is printed from now on, and was not flushed yet, is log."""
    handshake = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True, errors="backslashreplace")
    return handshake


def _shake_hands(path: str, handshake: int) -> None:
    os.write(handshake, f"1|{VERSION}|unix|{path}|grpc\n".encode())
    os.dup2(handshake, 1)
    os.close(handshake)


class _Service(plugin_pb2_grpc.ToolPluginServiceServicer):
    """What toolhost calls."""

    def __init__(
        self, name: str, describe: Describe, runners: Mapping[str, Runner], threads: ThreadPoolExecutor
    ) -> None:
        self._name = name
        self._describe = describe
        self._runners = runners
        self._threads = threads
        self.connected = False
        """Whether toolhost has asked anything."""
        self.streaming = asyncio.Event()
        """Is set when the stream is open."""
        self.over = asyncio.Event()
        """Is set when the plugin is to end."""
        self.endings: list[asyncio.Future[bool]] = []
        """Streams that end, with whether all their calls have ended."""

    async def Describe(  # noqa: N802
        self, request: plugin_pb2.DescribeRequest, context: Any
    ) -> plugin_pb2.DescribeResponse:
        """Say what the plugin has. What its authors wrote for dynamic tools runs in a thread."""
        self.connected = True
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._describe, request)

    async def Connect(  # noqa: N802
        self, requests: AsyncIterator[plugin_pb2.ConnectRequest], context: Any
    ) -> None:
        """Carry calls until the stream ends."""
        # It needs no bound: but for ends, frames are sent only as far as there is credit.
        outbox: _Outbox = asyncio.Queue()
        session = Session(self._name, self._runners, outbox.put_nowait)
        said = _MORE in map(tuple, context.invocation_metadata() or ())
        await context.send_initial_metadata((_MORE,))
        self.streaming.set()
        reading, over = (asyncio.ensure_future(work) for work in (_read(requests, session), self.over.wait()))
        writing = asyncio.ensure_future(_write(outbox, context, _TOGETHER if said else 0))
        # gRPC cancels what handles a stream that broke, and would complain if that said so.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({reading, over}, return_when=asyncio.FIRST_COMPLETED)
        self.over.set()
        reading.cancel()
        ending = asyncio.ensure_future(_end(session, outbox, writing))
        self.endings.append(ending)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(ending)

    async def check(self, request: bytes, context: Any) -> bytes:
        """Say that the plugin is well: grpc.health.v1.Health of go-plugin's service."""
        self.connected = True
        if request not in (b"", b"\x0a\x06plugin"):  # HealthCheckRequest{service: "plugin"}
            await context.abort(grpc.StatusCode.NOT_FOUND, "the plugin has no such service")
        return b"\x08\x01"  # HealthCheckResponse{status: SERVING}

    async def shutdown(self, request: bytes, context: Any) -> bytes:
        """End: plugin.GRPCController of go-plugin."""
        self.over.set()
        return b""


async def _read(requests: AsyncIterator[plugin_pb2.ConnectRequest], session: Session) -> None:
    async for request in requests:
        session.take(request)
        for frame in request.batch:
            session.take(frame)


_Outbox = asyncio.Queue[plugin_pb2.ConnectResponse | None]  # None is the end


async def _write(outbox: _Outbox, context: Any, together: int) -> None:
    """Write frames until the end, or until the stream is gone: nobody hears the rest.

    Those that wait at the same time are one message, of about `together` bytes at most: each write costs much.
    """
    with contextlib.suppress(grpc.RpcError, asyncio.InvalidStateError, grpc.aio.UsageError):
        while (frame := await outbox.get()) is not None:
            over = gather(frame, outbox, together)
            await context.write(frame)
            if over:
                return


def gather(frame: plugin_pb2.ConnectResponse, outbox: _Outbox, together: int) -> bool:
    """Put what waits behind a frame into its message, as far as there is room, and say whether the end came."""
    if not together or outbox.empty():
        return False
    size = frame.ByteSize()
    while size < together and not outbox.empty():
        following = outbox.get_nowait()
        if following is None:
            return True
        size += following.ByteSize()
        frame.batch.append(following)
    return False


async def _end(session: Session, outbox: _Outbox, writing: asyncio.Future[None]) -> bool:
    """End a stream's calls, write what they say as far as somebody hears it, and return whether they have ended."""
    ended = await session.close(_GRACE)
    outbox.put_nowait(None)
    await asyncio.wait({writing}, timeout=_LAST_WORDS)
    writing.cancel()
    return ended


def _of_go_plugin(service: _Service) -> list[grpc.GenericRpcHandler]:
    """Return the two services of go-plugin, whose messages are so small that they need no generated code."""
    return [
        grpc.method_handlers_generic_handler(name, {method: grpc.unary_unary_rpc_method_handler(handler)})
        for name, method, handler in (
            ("grpc.health.v1.Health", "Check", service.check),
            ("plugin.GRPCController", "Shutdown", service.shutdown),
        )
    ]


async def _serve(
    name: str,
    describe: Describe,
    runners: Mapping[str, Runner],
    handshake: int,
    threads: ThreadPoolExecutor,
    parent: int,
) -> None:
    """Serve until the end."""
    server = grpc.aio.server(
        options=[("grpc.max_receive_message_length", MAX_MESSAGE), ("grpc.so_reuseport", 0)],
    )
    service = _Service(name, describe, runners, threads)
    plugin_pb2_grpc.add_ToolPluginServiceServicer_to_server(service, server)
    server.add_generic_rpc_handlers(tuple(_of_go_plugin(service)))
    path = os.path.join(os.environ.get("PLUGIN_UNIX_SOCKET_DIR") or tempfile.gettempdir(), f"p{os.getpid()}")
    server.add_insecure_port("unix:" + path)
    await server.start()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, service.over.set)
    loop.add_signal_handler(signal.SIGINT, lambda: None)  # a person interrupts toolhost, which ends its plugins
    _shake_hands(path, handshake)
    watch = asyncio.create_task(toolhost_gone(path, parent, service))
    watch.add_done_callback(lambda _: None if service.streaming.is_set() else service.over.set())
    await service.over.wait()
    watch.cancel()
    # What gRPC complains of from here on is that it ends in the middle of something.
    logging.getLogger("grpc").setLevel(logging.CRITICAL)
    await server.stop(grace=_GRACE + _LAST_WORDS)
    if not all(await asyncio.gather(*service.endings)):
        _leave()
    # gRPC is not done with its calls yet, and prints traces of those that are cancelled with the loop.
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        await asyncio.wait(left, timeout=_LAST_WORDS)
