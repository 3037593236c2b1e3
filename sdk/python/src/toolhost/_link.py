"""The connection of a client to a server, and the conversion of its failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, TypeVar

import grpc

from toolhost import _address, _grpc_errors
from toolhost.errors import Cancelled, Unavailable

_T = TypeVar("_T")


class Link:
    """A gRPC channel to a server, bound to one event loop.

    It connects on first use, and connects again after the connection is lost. `limit` is the
    largest message in bytes. `rpc_timeout` is the deadline of one unary RPC in seconds, and None
    means none. Streams have no deadline.
    """

    def __init__(self, address: str | None, program: str, limit: int, rpc_timeout: float | None) -> None:
        self.address: str = _address.find(address, program)
        self._default = _address.is_default(address, program)
        self._program = program
        self._limit = limit
        self._rpc_timeout = rpc_timeout
        self._channel: grpc.aio.Channel | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closed: bool = False

    @property
    def channel(self) -> grpc.aio.Channel:
        """The channel. It belongs to the loop of the first access.

        Raises RuntimeError on another loop, Cancelled after `close`, and Unavailable if the server
        is untrusted.
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
                    # The defaults wait up to two minutes. A restarted server must be found within a
                    # second.
                    ("grpc.initial_reconnect_backoff_ms", 100),
                    ("grpc.min_reconnect_backoff_ms", 100),
                    ("grpc.max_reconnect_backoff_ms", 1000),
                ],
            )
        return self._channel

    async def close(self) -> None:
        """Close the connection for good. RPCs in progress raise Cancelled."""
        self.closed = True
        if self._channel is not None:
            channel, self._channel = self._channel, None
            await channel.close()

    def ended(self) -> Cancelled:
        """Return the error of every use after `close`."""
        return Cancelled(f"the client of {self._program} is closed; make another one")

    def given_up(self) -> bool:
        """Report whether `close`, not a cancellation of the task, caused its CancelledError."""
        task = asyncio.current_task()
        cancelling = getattr(task, "cancelling", None)  # Python 3.11
        return self.closed and not (cancelling and cancelling())

    async def unary(self, stub: type[Any], method: str, request: Any) -> Any:
        """Make a unary RPC."""
        try:
            return await getattr(stub(self.channel), method)(request, timeout=self._rpc_timeout)
        except grpc.aio.AioRpcError as failure:
            raise self.failure(failure) from failure
        except asyncio.CancelledError:
            if self.given_up():
                raise self.ended() from None
            raise

    async def stream(self, stub: type[Any], method: str, request: Any) -> AsyncIterator[Any]:
        """Make a server-streaming RPC. Closing the generator ends the RPC."""
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
        """Convert the failure of an RPC to a ToolhostError."""
        trailers = list(failure.trailing_metadata() or ())
        detailed = any(key == "grpc-status-details-bin" for key, _ in trailers)
        if failure.code() is grpc.StatusCode.UNAVAILABLE and not detailed:
            return Unavailable(
                f"no {self._program} answers at {self.address}; is `{self._program} serve` running there? "
                f"({failure.details()})"
            )
        return _grpc_errors.of_status(failure.code(), failure.details() or "", trailers)
