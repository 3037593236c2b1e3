"""The connection of a client to a server, and the conversion of its failures."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any

import grpc

from toolhost import _address, _grpc_errors
from toolhost._credentials import Credentials
from toolhost.credentials import Token
from toolhost.errors import Cancelled, Unavailable

_LOOK_EVERY = 1.0  # seconds between two looks at the files of TLS
_CONNECT_LIMIT = 5.0  # seconds in which one of several servers must accept a connection


class Connection:
    """A gRPC channel, and how many RPCs use it. `with connection as channel` counts one."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel
        self.retired = False  # whether new RPCs use another connection
        self._users = 0
        self._closing: asyncio.Task[None] | None = None

    def __enter__(self) -> grpc.aio.Channel:
        self._users += 1
        return self.channel

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._users -= 1
        self.close_if_unused()

    def close_if_unused(self) -> bool:
        """Begin to close a retired connection without RPCs, and report whether it is closed."""
        if self.retired and self._users == 0 and self._closing is None:
            self._closing = asyncio.ensure_future(self.channel.close())
        return self._closing is not None and self._closing.done()

    def takes_streams(self) -> bool:
        """Report whether a stream on the connection should take further calls.

        It should not after the server has announced that it closes the connection. The channel is
        not READY then.
        """
        return not self.retired and self.channel.get_state() is grpc.ChannelConnectivity.READY


async def _accepts(channel: grpc.aio.Channel) -> bool:
    """Wait until a channel is connected, or report that the server does not accept it."""
    with contextlib.suppress(asyncio.TimeoutError):
        async with asyncio.timeout(_CONNECT_LIMIT):
            while (state := channel.get_state(try_to_connect=True)) is not grpc.ChannelConnectivity.READY:
                if state in (grpc.ChannelConnectivity.TRANSIENT_FAILURE, grpc.ChannelConnectivity.SHUTDOWN):
                    return False
                await channel.wait_for_state_change(state)
            return True
    return False


def authorization(token: Token | None) -> tuple[tuple[str, str], ...]:
    """Return the metadata that carries a token."""
    return () if token is None else (("authorization", f"Bearer {token.value}"),)


def refuses_token(failure: grpc.aio.AioRpcError) -> bool:
    """Report whether the server refused an RPC before executing it, because of the credentials.

    Details come from the code that executes RPCs.
    """
    trailers = failure.trailing_metadata() or ()
    detailed = any(key == "grpc-status-details-bin" for key, _ in trailers)
    return failure.code() is grpc.StatusCode.UNAUTHENTICATED and not detailed


def unverified(details: str) -> str | None:
    """Return why the client did not accept the certificate of the server, or None.

    gRPC says so only in the text of the status. With another text, the caller gets all of it.
    """
    if "Hostname Verification Check failed" in details:
        return "it is for another name"
    found = re.search(r"CERTIFICATE_VERIFY_FAILED(?:: ([a-z][^:()]*))?", details)
    return None if found is None else (found[1] or "it is not valid").strip()


def closes_plain(details: str) -> bool:
    """Report whether the server closes each connection before it has sent anything.

    A server with TLS does so to a client without. gRPC says so only in the text of the status.
    """
    return "failed to connect to all addresses" in details and details.endswith(("Socket closed", "reset by peer"))


class Link:
    """The connections of a client to a server, bound to one event loop.

    It connects on first use, and connects again after the connection is lost. `limit` is the
    largest message in bytes. `rpc_timeout` is the deadline of one unary RPC in seconds, and None
    means none. Streams have no deadline.

    With several addresses, the client is connected to one server. While that one accepts no
    connection, `token`, which precedes each RPC, goes to the next one.
    """

    def __init__(
        self,
        address: str | None,
        program: str,
        limit: int,
        rpc_timeout: float | None,
        credentials: Mapping[str, Any],
    ) -> None:
        addresses = _address.find_all(address, program)
        self._places = [(a, Credentials(program, a, credentials)) for a in addresses]
        self._place = 0  # of the current server
        self._default = _address.is_default(address, program)
        self._tokens = self._places[0][1].tokens
        self._program = program
        self._limit = limit
        self._rpc_timeout = rpc_timeout
        self._current: Connection | None = None
        self._retired: set[Connection] = set()
        self._looked = 0.0  # when the files of TLS were looked at
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closed: bool = False

    @property
    def address(self) -> str:
        """The address of the current server."""
        return self._places[self._place][0]

    @property
    def _credentials(self) -> Credentials:
        return self._places[self._place][1]

    async def _reach(self) -> None:
        """Go to a server that accepts a connection, unless there is none or only one address."""
        if len(self._places) == 1:
            return
        failed: Exception | None = None
        for _ in self._places:
            place = self._place
            try:
                if await _accepts(self.connection().channel):
                    return
            except Unavailable as problem:  # of another user
                failed = problem
            if self._place == place:  # no other task has gone on
                self._retire()
                self._place = (place + 1) % len(self._places)
        if failed is not None:
            raise failed

    def _retire(self) -> None:
        """Use another connection for new RPCs. RPCs in progress keep theirs."""
        if self._current is not None:
            self._current.retired = True
            self._retired.add(self._current)
            self._current = None
        self._retired = {old for old in self._retired if not old.close_if_unused()}

    def connection(self) -> Connection:
        """Return the connection for new RPCs. It belongs to the loop of the first use.

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
        self._look()
        if self._current is None:
            self._current = Connection(self._channel())
        return self._current

    def _look(self) -> None:
        """Retire the connection if the files of TLS have changed. RPCs in progress keep it."""
        tls, now = self._credentials.tls, time.monotonic()
        if tls is None or now - self._looked < _LOOK_EVERY:
            return
        self._looked = now
        if tls.renewed():
            self._retire()
        self._retired = {old for old in self._retired if not old.close_if_unused()}

    def _channel(self) -> grpc.aio.Channel:
        options: list[tuple[str, Any]] = [
            ("grpc.max_receive_message_length", self._limit),
            ("grpc.max_send_message_length", self._limit),
            ("grpc.enable_http_proxy", 0),
            ("grpc.enable_retries", 0),
            # The defaults wait up to two minutes. A restarted server must be found within a
            # second.
            ("grpc.initial_reconnect_backoff_ms", 100),
            # Despite its name, the time that one attempt to connect has. A busy machine may
            # need long for the handshake.
            ("grpc.min_reconnect_backoff_ms", 5000),
            ("grpc.max_reconnect_backoff_ms", 1000),
        ]
        tls = self._credentials.tls
        if tls is None:
            return grpc.aio.insecure_channel(self.address.replace("unix://", "unix:", 1), options=options)
        # Channels with the same address share connections otherwise, whatever their credentials.
        options.append(("grpc.use_local_subchannel_pool", 1))
        if tls.server_name is not None:
            options.append(("grpc.ssl_target_name_override", tls.server_name))
        return grpc.aio.secure_channel(self.address, tls.credentials, options=options)

    async def token(self) -> Token | None:
        """Return the current token, or None if the client sends none. Raises Unavailable."""
        await self._reach()
        tokens = self._tokens
        if tokens is None:
            return None
        try:
            return await tokens.get()
        except Exception as problem:
            raise Unavailable(f"there is no token for the {self._program} at {self.address}: {problem}") from problem

    async def renew(self, refused: Token | None) -> bool:
        """Report whether there is another token than one that the server refused."""
        tokens = self._tokens
        return tokens is not None and refused is not None and await tokens.renew(refused)

    async def _renewed(self, refused: Token | None, failure: grpc.aio.AioRpcError) -> bool:
        return refuses_token(failure) and await self.renew(refused)

    async def close(self) -> None:
        """Close the connection for good. RPCs in progress raise Cancelled."""
        self.closed = True
        connections = [*self._retired, *([self._current] if self._current is not None else [])]
        self._current, self._retired = None, set()
        for connection in connections:
            await connection.channel.close()

    def ended(self) -> Cancelled:
        """Return the error of every use after `close`."""
        return Cancelled(f"the client of {self._program} is closed; make another one")

    def given_up(self) -> bool:
        """Report whether `close`, not a cancellation of the task, caused its CancelledError."""
        task = asyncio.current_task()
        cancelling = getattr(task, "cancelling", None)  # Python 3.11
        return self.closed and not (cancelling and cancelling())

    async def unary(self, stub: type[Any], method: str, request: Any) -> Any:
        """Make a unary RPC. Repeat it once with another token if the server refuses the token."""
        try:
            token = await self.token()
            try:
                return await self._unary(stub, method, request, token)
            except grpc.aio.AioRpcError as failure:
                if not await self._renewed(token, failure):
                    raise
            return await self._unary(stub, method, request, await self.token())
        except grpc.aio.AioRpcError as failure:
            raise self.failure(failure) from failure
        except asyncio.CancelledError:
            if self.given_up():
                raise self.ended() from None
            raise

    async def _unary(self, stub: type[Any], method: str, request: Any, token: Token | None) -> Any:
        with self.connection() as channel:
            rpc = getattr(stub(channel), method)
            return await rpc(request, timeout=self._rpc_timeout, metadata=authorization(token))

    async def stream(self, stub: type[Any], method: str, request: Any) -> AsyncIterator[Any]:
        """Make a server-streaming RPC. Closing the generator ends the RPC.

        Repeat it once with another token if the server refuses the token.
        """
        token = await self.token()
        again = True
        while True:
            with self.connection() as channel:
                call = getattr(stub(channel), method)(request, metadata=authorization(token))
                try:
                    async for message in call:
                        again = False
                        yield message
                    return
                except grpc.aio.AioRpcError as failure:
                    if not again or not await self._renewed(token, failure):
                        raise self.failure(failure) from failure
                except asyncio.CancelledError:
                    if self.given_up():
                        raise self.ended() from None
                    raise
                finally:
                    call.cancel()
            again = False
            token = await self.token()

    def failure(self, failure: grpc.aio.AioRpcError) -> Exception:
        """Convert the failure of an RPC to a ToolhostError."""
        self._looked = 0.0  # a server that restarts may have certificates of another CA
        trailers = list(failure.trailing_metadata() or ())
        detailed = any(key == "grpc-status-details-bin" for key, _ in trailers)
        if failure.code() is grpc.StatusCode.UNAVAILABLE and not detailed:
            reason = unverified(failure.details() or "")
            if reason is not None:
                return Unavailable(
                    f"the certificate of the {self._program} at {self.address} cannot be verified: {reason}; "
                    f"TLS(ca=…) or {self._program.upper()}_TLS_CA names the file with its CA, and "
                    f"TLS(server_name=…) or {self._program.upper()}_TLS_SERVER_NAME the name in it"
                )
            plain = self._credentials.tls is None and not self.address.startswith("unix:")
            if plain and closes_plain(failure.details() or ""):
                return Unavailable(
                    f"the server at {self.address} closes connections without TLS, so its port probably speaks TLS; "
                    f"TLS(ca=…) or {self._program.upper()}_TLS_CA names the file with its CA ({failure.details()})"
                )
            return Unavailable(
                f"no {self._program} answers at {self.address}; is `{self._program} serve` running there? "
                f"({failure.details()})"
            )
        message = failure.details() or ""
        if refuses_token(failure):
            message = f"the {self._program} at {self.address} does not accept the credentials of this client: {message}"
        return _grpc_errors.of_status(failure.code(), message, trailers)
