"""The calls of one stream, by number."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from toolhost._json import valid_text
from toolhost._proto.toolhost.plugin.v1 import plugin_pb2
from toolhost._wire import CHUNK, from_error
from toolhost.errors import Cancelled, Internal, NotFound, ToolhostError
from toolhost.plugin._call import Call
from toolhost.plugin._outflow import Emit
from toolhost.plugin._run import Runner

_logger = logging.getLogger("toolhost.plugin")


class Session:
    """The calls of one stream.

    `emit` sends a frame and must not block. It must be used on the thread of the loop.
    """

    def __init__(self, plugin: str, runners: Mapping[str, Runner], emit: Emit) -> None:
        self._plugin = plugin
        self._runners = runners
        self._emit = emit
        self._calls: dict[int, tuple[Call, asyncio.Task[None]]] = {}  # calls that have not ended

    def take(self, request: plugin_pb2.ConnectRequest) -> None:
        """Handle a frame of toolhost without waiting for the call."""
        number = request.call
        if request.WhichOneof("frame") == "start":
            if number in self._calls:
                _logger.error("toolhost used the number of a call that has not ended", extra={"call": number})
                return
            call = Call(number, request.start, self._emit)
            self._calls[number] = call, asyncio.create_task(self._run(call))
        elif number in self._calls:
            self._calls[number][0].take(request)

    async def close(self, grace: float) -> bool:
        """Cancel all calls, wait `grace` seconds for them, and report whether all have ended."""
        for call, _ in self._calls.values():
            call.stop(Cancelled("toolhost has closed the connection"))
        tasks = {task for _, task in self._calls.values()}
        if not tasks:
            return True
        _, left = await asyncio.wait(tasks, timeout=grace)
        return not left

    async def _run(self, call: Call) -> None:
        """Run one call and send its end."""
        try:
            end = await self._outcome(call)
        except ToolhostError as failure:
            end = _failed(failure)
        except Exception as bug:
            _logger.exception("the call ended by a bug of the SDK", extra={"call_id": call.start.call_id})
            end = _failed(Internal(f"tool {call.start.tool!r}: {type(bug).__name__}: {bug}"))
        del self._calls[call.number]
        call.release()
        self._emit(plugin_pb2.ConnectResponse(call=call.number, end=end))

    async def _outcome(self, call: Call) -> plugin_pb2.CallEnd:
        runner = self._runners.get(call.start.tool)
        if runner is None:
            raise NotFound(f'the plugin "{self._plugin}" has no tool "{call.start.tool}"')
        if call.start.settle:
            return call.settled(await runner.settle(call))
        return await call.send_ahead(await runner.run(call))


def _failed(failure: ToolhostError) -> plugin_pb2.CallEnd:
    """Return an error as the end of a call, with its message cut to the size limit."""
    message = from_error(failure)
    encoded = valid_text(failure.message).encode()
    if len(encoded) > CHUNK:
        message.message = encoded[: CHUNK - 3].decode(errors="ignore") + "…"
    return plugin_pb2.CallEnd(error=message)
