"""How a server is reached: a channel, and its failures as errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, TypeVar

import grpc

from toolhost import _address, _grpc_errors
from toolhost.errors import Cancelled, Unavailable

_T = TypeVar("_T")


class Link:
    """A channel to a server, of one loop: it connects when it is first used, and anew when the connection was lost."""

    def __init__(self, address: str, program: str, limit: int) -> None:
        self.address = _address.find(address, program)
        self._default = _address.is_default(address, program)
        self._program = program
        self._limit = limit
        self._channel: grpc.aio.Channel | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closed = False

    @property
    def channel(self) -> grpc.aio.Channel:
        """The channel. It belongs to the loop on which it was first asked for.

        Raises RuntimeError on another one, Cancelled after the end, and Unavailable if the server is a stranger's.
        """
        if self.closed:
            raise self.ended()
        loop = asyncio.get_running_loop()
        if self._loop not in (None, loop):
            raise RuntimeError(
                f"the client of {self._program} was used on another event loop; "
                "make one in each asyncio.run, or use the client that is not async"
            )
        self._loop = loop
        reason = _address.stranger(self.address, self._default)
        if reason is not None:
            raise Unavailable(reason)
        if self._channel is None:
            self._channel = grpc.aio.insecure_channel(
                self.address.replace("unix://", "unix:", 1),
                options=[
                    ("grpc.max_receive_message_length", self._limit),
                    ("grpc.max_send_message_length", self._limit),
                    ("grpc.enable_http_proxy", 0),
                    ("grpc.enable_retries", 0),
                    # A server that comes back is to be found soon.
                    ("grpc.initial_reconnect_backoff_ms", 100),
                    ("grpc.min_reconnect_backoff_ms", 100),
                    ("grpc.max_reconnect_backoff_ms", 1000),
                ],
            )
        return self._channel

    async def close(self) -> None:
        """End the connection for good, and what is under way on it, which raises Cancelled."""
        self.closed = True
        if self._channel is not None:
            channel, self._channel = self._channel, None
            await channel.close()

    def ended(self) -> Cancelled:
        """Return what waits and comes too late are told once the connection is ended."""
        return Cancelled(f"the client of {self._program} is closed; make another one")

    def given_up(self) -> bool:
        """Say whether a wait is cancelled because the connection is ended, not because somebody cancels the task."""
        task = asyncio.current_task()
        cancelling = getattr(task, "cancelling", None)  # Python 3.11
        return self.closed and not (cancelling and cancelling())

    async def unary(self, stub: type[Any], method: str, request: Any) -> Any:
        """Make an RPC that answers once."""
        try:
            return await getattr(stub(self.channel), method)(request)
        except grpc.aio.AioRpcError as failure:
            raise self.failure(failure) from failure
        except asyncio.CancelledError:
            if self.given_up():
                raise self.ended() from None
            raise

    async def stream(self, stub: type[Any], method: str, request: Any) -> AsyncIterator[Any]:
        """Make an RPC that answers with a stream, and end it when nobody wants more."""
        call = getattr(stub(self.channel), method)(request)
        try:
            async for message in call:
                yield message
        except grpc.aio.AioRpcError as failure:
            raise self.failure(failure) from failure
        except asyncio.CancelledError:
            if self.given_up():
                raise self.ended() from None
            raise
        finally:
            call.cancel()

    def failure(self, failure: grpc.aio.AioRpcError) -> Exception:
        """Return what an RPC failed with as a ToolhostError."""
        trailers = list(failure.trailing_metadata() or ())
        detailed = any(key == "grpc-status-details-bin" for key, _ in trailers)
        if failure.code() is grpc.StatusCode.UNAVAILABLE and not detailed:
            return Unavailable(
                f"no {self._program} answers at {self.address}; is `{self._program} serve` running there? "
                f"({failure.details()})"
            )
        return _grpc_errors.of_status(failure.code(), failure.details() or "", trailers)
