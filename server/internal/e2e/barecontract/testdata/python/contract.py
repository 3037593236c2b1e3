"""The plugin's half of toolhost.plugin.v1, written from the comments of plugin.proto alone.

serve() is the whole life of a plugin: cookie, socket, handshake line, health, the stream of calls, and the end. A tool
is a coroutine that gets a Call and returns a Result; everything that it may say meanwhile is a method of the Call.
"""

import asyncio
import os
import sys
import traceback

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from toolhost.plugin.v1 import plugin_pb2, plugin_pb2_grpc
from toolhost.tool.v1 import error_pb2, result_pb2, status_pb2

COOKIE = ("TOOLHOST_PLUGIN", "f0c4a1f2-8c1e-4d0b-9a57-2f6f6f4b7d11")
VERSION = "1"
PIECE = 64 << 10  # the most payload that a chunk may carry, and what the blocks of an end may have together


class Failure(Exception):
    """The machinery of a tool failed, which is no result. kind is a name of ErrorKind without its prefix."""

    def __init__(self, kind, message, retry_after=0.0):
        super().__init__(message)
        self.error = error_pb2.Error(kind=error_pb2.ErrorKind.Value("ERROR_KIND_" + kind), message=message)
        if retry_after:
            self.error.retry_after.FromMilliseconds(int(retry_after * 1000))


class Credit:
    """How much a call may still send, in bytes."""

    def __init__(self, size):
        self._size = size
        self._more = asyncio.Condition()

    async def grant(self, size):
        async with self._more:
            self._size += size
            self._more.notify_all()

    async def take(self, size):
        """Waits until the credit is positive; a frame may then take it below zero."""
        async with self._more:
            await self._more.wait_for(lambda: self._size > 0)
            self._size -= size


class Call:
    """One call, from its start to its end."""

    def __init__(self, stream, number, start):
        self.id, self.tool, self.context = start.call_id, start.tool, start.context
        self.attempt = start.attempt or 1
        self.settle = start.settle
        self.timeout = start.timeout.ToNanoseconds() / 1e9 if start.HasField("timeout") else None
        self._stream, self._number, self._credit = stream, number, Credit(start.credit)
        self._text, self._complete, self._more = start.arguments, start.complete, asyncio.Event()
        self._more.set()
        self.reason = None  # of the cancel

    async def prefixes(self):
        """Yields the argument text so far, each time that it has grown, until it is complete."""
        while not self._complete:
            await self._more.wait()
            self._more.clear()
            if not self._complete:
                yield self._text

    async def arguments(self):
        """Returns the complete argument text."""
        async for _ in self.prefixes():
            pass
        return self._text

    async def status(self, **fields):
        state = status_pb2.StatusState.Value("STATUS_STATE_" + fields.pop("state", "UNSPECIFIED"))
        await self._send(status=status_pb2.Status(state=state, **fields))

    async def progress(self, **fields):
        await self._send(progress=status_pb2.Progress(**fields))

    async def log(self, level, message, **attributes):
        level = status_pb2.LogLevel.Value("LOG_LEVEL_" + level)
        await self._send(log=status_pb2.LogRecord(level=level, message=message, attributes=attributes))

    async def send_ahead(self, result):
        """Sends the payloads that are too large for the end, and leaves their blocks empty."""
        room = PIECE
        for index, block in enumerate(result.content):
            kind = block.WhichOneof("block")
            holder, field = (getattr(block, kind), "data") if kind in ("image", "file") else (block, kind)
            payload = getattr(holder, field) if kind != "artifact" else b""
            payload = payload.encode() if kind == "text" else payload
            if len(payload) <= room:
                room -= len(payload)
                continue
            for at in range(0, len(payload), PIECE):
                await self._send(chunk=plugin_pb2.ContentChunk(index=index, data=payload[at : at + PIECE]))
            setattr(holder, field, "" if kind == "text" else b"")
        return result

    async def _send(self, **frame):
        response = plugin_pb2.ConnectResponse(call=self._number, **frame)
        await self._credit.take(response.ByteSize())
        await self._stream.write(response)

    async def take(self, request):
        """Takes a frame of toolhost's."""
        kind = request.WhichOneof("frame")
        if kind == "credit":
            await self._credit.grant(request.credit.bytes)
        elif kind == "append" and not self._complete:
            self._text += request.append.text
            self._more.set()
        elif kind == "complete" and not self._complete:
            self._text = request.complete.arguments or self._text
            self._complete = True
            self._more.set()


class Stream:
    """One Connect stream: its calls by their numbers."""

    def __init__(self, tools, context):
        self._tools, self._context = tools, context
        self._calls = {}  # number -> (Call, its work, who waits for that), those without an end
        self._turn = asyncio.Lock()  # gRPC takes one message at a time

    async def write(self, response):
        async with self._turn:
            await self._context.write(response)

    async def run(self, requests):
        try:
            async for request in requests:
                await self._dispatch(request)
        finally:
            for call, work, _ in self._calls.values():
                call.reason = "toolhost is gone"
                work.cancel()

    async def _dispatch(self, request):
        kind = request.WhichOneof("frame")
        if kind == "start":
            call = Call(self, request.call, request.start)
            work = asyncio.create_task(self._outcome(call))
            self._calls[request.call] = call, work, asyncio.create_task(self._execute(request.call, call, work))
        elif request.call in self._calls:
            call, work, _ = self._calls[request.call]
            if kind == "cancel":
                call.reason = request.cancel.reason or "the call was cancelled"
                work.cancel()
            else:
                await call.take(request)

    async def _execute(self, number, call, work):
        """Waits for the work and says how it ended. Only the work is ever cancelled, so that there is always an end."""
        end = plugin_pb2.CallEnd()
        try:
            end.result.CopyFrom(await asyncio.wait_for(work, call.timeout))
        except Failure as failure:
            end.error.CopyFrom(failure.error)
        except asyncio.TimeoutError:
            end.error.CopyFrom(Failure("TIMEOUT", "the call's time is up").error)
        except asyncio.CancelledError:
            end.error.CopyFrom(Failure("CANCELLED", call.reason or "the plugin ends").error)
        except Exception as bug:
            traceback.print_exc()
            end.error.CopyFrom(Failure("INTERNAL", f"{call.tool}: {bug!r}").error)
        del self._calls[number]
        await self.write(plugin_pb2.ConnectResponse(call=number, end=end))

    async def _outcome(self, call):
        if call.tool not in self._tools:
            raise Failure("NOT_FOUND", f"there is no tool {call.tool!r}")
        if call.settle:
            raise Failure("UNSUPPORTED", f"{call.tool!r} cannot say what became of a call")
        return await call.send_ahead(await self._tools[call.tool](call))


class Plugin(plugin_pb2_grpc.ToolPluginServiceServicer):
    """What toolhost calls. over is set when the stream of calls has ended."""

    def __init__(self, description, tools, over):
        self._description, self._tools, self._over = description, tools, over

    async def Describe(self, request, context):
        answer = plugin_pb2.DescribeResponse()
        answer.CopyFrom(self._description)
        if request.tools:
            del answer.tools[:]
            answer.tools.extend(t for t in self._description.tools if t.name in request.tools)
        return answer

    async def Connect(self, requests, context):
        try:
            await Stream(self._tools, context).run(requests)
        finally:
            self._over.set()


def controller(over):
    """go-plugin's controller. Its messages have no fields, so that it needs no .proto."""

    async def shutdown(request, context):
        over.set()
        return b""

    methods = {"Shutdown": grpc.unary_unary_rpc_method_handler(shutdown)}
    return grpc.method_handlers_generic_handler("plugin.GRPCController", methods)


async def pump(reader, writer):
    """Passes on what is heard until there is no more."""
    while data := await reader.read(PIECE):
        writer.write(data)
        await writer.drain()


async def listen(path, inner, over):
    """Listens at a path and passes on to where gRPC listens, which does not tell when a connection ends. There is one
    connection, and it is all of toolhost."""

    async def relay(reader, writer):
        from_grpc, to_grpc = await asyncio.open_unix_connection(inner)
        ways = [asyncio.create_task(pump(reader, to_grpc)), asyncio.create_task(pump(from_grpc, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        over.set()
        for end in (to_grpc, writer):
            end.close()
        await asyncio.gather(*ways, return_exceptions=True)

    return await asyncio.start_unix_server(relay, path)


async def run(description, tools):
    over = asyncio.Event()
    server = grpc.aio.server()
    plugin_pb2_grpc.add_ToolPluginServiceServicer_to_server(Plugin(description, tools, over), server)
    alive = health.aio.HealthServicer()
    await alive.set("plugin", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(alive, server)
    server.add_generic_rpc_handlers((controller(over),))
    path, inner = (os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], name) for name in ("s", "grpc"))
    server.add_insecure_port("unix:" + inner)
    await server.start()
    await listen(path, inner, over)
    print(f"1|{VERSION}|unix|{path}|grpc", flush=True)
    await over.wait()
    await server.stop(grace=1)


def serve(description, tools):
    """Runs the plugin until toolhost ends it or is gone. tools are coroutines by name."""
    if os.environ.get(COOKIE[0]) != COOKIE[1]:
        sys.exit(f"{description.name} is a plugin of toolhost, which runs it; it does nothing by itself")
    if VERSION not in os.environ.get("PLUGIN_PROTOCOL_VERSIONS", VERSION).split(","):
        sys.exit(f"{description.name} speaks version {VERSION} of toolhost's contract, and toolhost does not")
    asyncio.run(run(description, tools))
