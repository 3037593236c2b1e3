"""The process of a plugin: socket, handshake, health check, the stream of calls, and shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import grpc

from toolhost._proto.toolhost.plugin.v1 import plugin_pb2, plugin_pb2_grpc
from toolhost._wire import MAX_MESSAGE
from toolhost.plugin import _log
from toolhost.plugin._hooks import Hooks
from toolhost.plugin._lifeline import toolhost_gone
from toolhost.plugin._run import Runner
from toolhost.plugin._session import Session

COOKIE = ("TOOLHOST_PLUGIN", "f0c4a1f2-8c1e-4d0b-9a57-2f6f6f4b7d11")
VERSION = 1
"""The version of the plugin protocol that this SDK implements."""

_GRACE = 4.0  # seconds: how long calls may take to end; toolhost sends a signal after five
_LAST_WORDS = 0.5  # seconds: how long the last frames may take to reach toolhost
_BATCH = ("toolhost-batch", "1")  # metadata: the sender accepts several frames in one message
_BATCH_BYTES = 32 << 10  # bytes of frames that one message combines; a larger frame is a message by itself
_MANY = 1 << 16  # threads: enough for every call, so that a blocked call delays no other

Describe = Callable[[plugin_pb2.DescribeRequest], plugin_pb2.DescribeResponse]
_logger = logging.getLogger("toolhost.plugin")


def speaks(versions: str | None) -> bool:
    """Report whether the comma-separated versions of toolhost include that of this SDK."""
    return versions is None or str(VERSION) in [version.strip() for version in versions.split(",")]


def serve(
    name: str, describe: Describe, runners: Callable[[ThreadPoolExecutor], Mapping[str, Runner]], hooks: Hooks
) -> int:
    """Serve until toolhost ends the plugin or is gone, and return the exit code."""
    parent = os.getppid()  # read before the handshake, because toolhost may be gone immediately after it
    handshake = _claim_stdout()
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a replaced sys.stderr may have no descriptor
        faulthandler.enable()  # a crash of the interpreter prints the stacks of all threads
    logging.basicConfig(level=logging.INFO, handlers=[_log.ProcessHandler(sys.stderr)])
    threads = ThreadPoolExecutor(_MANY, thread_name_prefix="call")
    code = asyncio.run(_serve(name, describe, runners(threads), hooks, handshake, threads, parent))
    threads.shutdown()
    return code


def _leave() -> NoReturn:
    """End the process while calls are running.

    Python cannot end their threads, and would wait for them.
    """
    _logger.warning("the plugin ends while calls are running")
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _claim_stdout() -> int:
    """Redirect standard output to standard error, and return a descriptor of the original.

    toolhost requires the handshake as the first line. Output that the plugin printed or buffered
    earlier becomes log.
    """
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
    """The gRPC service of the plugin."""

    def __init__(
        self, name: str, describe: Describe, runners: Mapping[str, Runner], threads: ThreadPoolExecutor
    ) -> None:
        self._name = name
        self._describe = describe
        self._runners = runners
        self._threads = threads
        self.connected = False
        """Whether toolhost has connected or sent a request."""
        self.streaming = asyncio.Event()
        """Set when the stream is open."""
        self.over = asyncio.Event()
        """Set when the plugin must end."""
        self.endings: list[asyncio.Future[bool]] = []
        """The ends of the streams. Each result says whether all calls of the stream have ended."""

    async def Describe(  # noqa: N802
        self, request: plugin_pb2.DescribeRequest, context: Any
    ) -> plugin_pb2.DescribeResponse:
        """Return the declaration of the plugin.

        The `describe` functions of dynamic tools run in a thread.
        """
        self.connected = True
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._describe, request)

    async def Connect(  # noqa: N802
        self, request_iterator: AsyncIterator[plugin_pb2.ConnectRequest], context: Any
    ) -> None:
        """Run the calls of a stream until it ends."""
        # The queue needs no limit, because every frame except the end of a call needs credit.
        outbox: _Outbox = asyncio.Queue()
        session = Session(self._name, self._runners, outbox.put_nowait)
        accepts_batches = _BATCH in map(tuple, context.invocation_metadata() or ())
        await context.send_initial_metadata((_BATCH,))
        self.streaming.set()
        reading, over = (asyncio.ensure_future(work) for work in (_read(request_iterator, session), self.over.wait()))
        writing = asyncio.ensure_future(_write(outbox, context, _BATCH_BYTES if accepts_batches else 0))
        # gRPC cancels the handler of a broken stream, and logs an error if the handler raises
        # CancelledError.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({reading, over}, return_when=asyncio.FIRST_COMPLETED)
        self.over.set()
        reading.cancel()
        ending = asyncio.ensure_future(_end(session, outbox, writing))
        self.endings.append(ending)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(ending)

    async def check(self, request: bytes, context: Any) -> bytes:
        """Answer grpc.health.v1.Health/Check for the service `plugin`, which go-plugin requests."""
        self.connected = True
        if request not in (b"", b"\x0a\x06plugin"):  # HealthCheckRequest{service: "plugin"}
            await context.abort(grpc.StatusCode.NOT_FOUND, "the plugin has no such service")
        return b"\x08\x01"  # HealthCheckResponse{status: SERVING}

    async def shutdown(self, request: bytes, context: Any) -> bytes:
        """Answer plugin.GRPCController/Shutdown of go-plugin: end the plugin."""
        self.over.set()
        return b""


async def _read(requests: AsyncIterator[plugin_pb2.ConnectRequest], session: Session) -> None:
    async for request in requests:
        session.take(request)
        for frame in request.batch:
            session.take(frame)


_Outbox = asyncio.Queue[plugin_pb2.ConnectResponse | None]  # None marks the end


async def _write(outbox: _Outbox, context: Any, batch_bytes: int) -> None:
    """Write frames until the end of the queue or of the stream.

    Queued frames are combined to messages of about `batch_bytes` bytes, because each write has a high
    fixed cost.
    """
    with contextlib.suppress(grpc.RpcError, asyncio.InvalidStateError, grpc.aio.UsageError):
        while (frame := await outbox.get()) is not None:
            over = gather(frame, outbox, batch_bytes)
            await context.write(frame)
            if over:
                return


def gather(frame: plugin_pb2.ConnectResponse, outbox: _Outbox, batch_bytes: int) -> bool:
    """Add queued frames to the message of a frame, and report whether the queue has ended."""
    if not batch_bytes or outbox.empty():
        return False
    size = frame.ByteSize()
    while size < batch_bytes and not outbox.empty():
        following = outbox.get_nowait()
        if following is None:
            return True
        size += following.ByteSize()
        frame.batch.append(following)
    return False


async def _end(session: Session, outbox: _Outbox, writing: asyncio.Future[None]) -> bool:
    """End the calls of a stream, write their last frames, and report whether all have ended."""
    ended = await session.close(_GRACE)
    outbox.put_nowait(None)
    await asyncio.wait({writing}, timeout=_LAST_WORDS)
    writing.cancel()
    return ended


def _of_go_plugin(service: _Service) -> list[grpc.GenericRpcHandler]:
    """Return the handlers of the two services of go-plugin.

    Their messages are small enough to encode by hand.
    """
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
    hooks: Hooks,
    handshake: int,
    threads: ThreadPoolExecutor,
    parent: int,
) -> int:
    """Run the startup hooks, serve, run the shutdown hooks, and return the exit code."""
    try:
        await hooks.start(threads)
    except Exception:
        _logger.exception("a startup hook failed, and the plugin cannot be served", extra={"plugin": name})
        return 1
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
    loop.add_signal_handler(
        signal.SIGINT, lambda: None
    )  # Ctrl-C reaches the whole process group, and toolhost ends its plugins itself
    _shake_hands(path, handshake)
    watch = asyncio.create_task(toolhost_gone(path, parent, service))
    watch.add_done_callback(lambda _: None if service.streaming.is_set() else service.over.set())
    await service.over.wait()
    watch.cancel()
    # From here on gRPC logs errors about RPCs that the shutdown interrupts.
    logging.getLogger("grpc").setLevel(logging.CRITICAL)
    await server.stop(grace=_GRACE + _LAST_WORDS)
    if not all(await asyncio.gather(*service.endings)):
        _leave()
    await hooks.stop(threads)
    # gRPC still has tasks of its own, and prints a traceback for each task that the end of the loop
    # cancels.
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        await asyncio.wait(left, timeout=_LAST_WORDS)
    return 0
