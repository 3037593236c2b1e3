"""TLS, client certificates and tokens, before a toolhost that checks them."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from certificates import CA, replace
from conftest import PATIENCE, short_folder

from toolhost._proto.toolhost.tool.v1 import error_pb2, result_pb2, version_pb2
from toolhost._proto.toolhost.v1 import tool_service_pb2 as pb
from toolhost._proto.toolhost.v1 import tool_service_pb2_grpc as pb_grpc
from toolhost.agent import AgentClient
from toolhost.client import TLS, Client, Token
from toolhost.errors import Denied, InvalidArgument, Unavailable


class Guarded(pb_grpc.ToolServiceServicer):
    """A toolhost that counts what it executes.

    It refuses RPCs without a token of `tokens`, and new calls on a stream whose token is no longer
    in `tokens`. The tool `hold` ends when the test says so.
    """

    def __init__(self) -> None:
        self.tokens: set[str] | None = None
        self.executed = 0
        self.refused = 0
        self.streams = 0
        self.bearers: set[str] = set()
        self.held: queue.Queue[None] = queue.Queue()
        self.release = threading.Event()

    def accepts(self, context: grpc.ServicerContext) -> bool:
        bearer = str(dict(context.invocation_metadata()).get("authorization", ""))
        self.bearers.add(bearer)
        fine = self.tokens is None or bearer.removeprefix("Bearer ") in self.tokens
        self.refused += not fine
        return fine

    def check(self, context: grpc.ServicerContext) -> None:
        if not self.accepts(context):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "no valid credential")

    def GetVersion(self, _: Any, context: grpc.ServicerContext) -> pb.GetVersionResponse:  # noqa: N802
        self.check(context)
        self.executed += 1
        return pb.GetVersionResponse(version=version_pb2.VersionInfo(version="9.9.9"))

    def WatchCall(self, _: Any, context: grpc.ServicerContext) -> Iterator[pb.WatchCallResponse]:  # noqa: N802
        self.check(context)
        yield pb.WatchCallResponse(event=ended())

    def Connect(self, messages: Any, context: grpc.ServicerContext) -> Iterator[pb.ConnectResponse]:  # noqa: N802
        self.check(context)
        self.streams += 1
        context.send_initial_metadata(())
        out: queue.Queue[pb.ConnectResponse | None] = queue.Queue()
        threading.Thread(target=self._read, args=(messages, context, out), daemon=True).start()
        yield from iter(out.get, None)

    def _read(self, messages: Any, context: grpc.ServicerContext, out: queue.Queue[pb.ConnectResponse | None]) -> None:
        with contextlib.suppress(grpc.RpcError):
            for message in messages:
                if not message.HasField("start"):
                    continue
                if not self.accepts(context):
                    expired = "the credential of this stream has expired; the call was not executed"
                    error = error_pb2.Error(kind=error_pb2.ERROR_KIND_UNAVAILABLE, message=expired)
                    out.put(pb.ConnectResponse(call=message.call, event=ended(error)))
                    continue
                self.executed += 1
                if message.start.tool == "hold":
                    threading.Thread(target=self._hold, args=(message.call, out), daemon=True).start()
                else:
                    out.put(pb.ConnectResponse(call=message.call, event=ended()))
        out.put(None)

    def _hold(self, call: int, out: queue.Queue[pb.ConnectResponse | None]) -> None:
        self.held.put(None)
        self.release.wait(PATIENCE)
        out.put(pb.ConnectResponse(call=call, event=ended()))


def ended(error: error_pb2.Error | None = None) -> pb.CallEvent:
    if error is not None:
        return pb.CallEvent(ended=pb.CallEnded(error=error))
    return pb.CallEvent(ended=pb.CallEnded(result=result_pb2.Result()))


@contextlib.contextmanager
def served(
    toolhost: Guarded,
    credentials: grpc.ServerCredentials | None,
    listen: str = "127.0.0.1:0",
    options: tuple[tuple[str, Any], ...] = (),
) -> Iterator[str]:
    server = grpc.server(ThreadPoolExecutor(20), options=[("grpc.so_reuseport", 0), *options])
    pb_grpc.add_ToolServiceServicer_to_server(toolhost, server)
    port = server.add_secure_port(listen, credentials) if credentials else server.add_insecure_port(listen)
    server.start()
    yield listen if listen.startswith("unix:") else f"127.0.0.1:{port}"
    toolhost.release.set()
    server.stop(None).wait(PATIENCE)


def server_tls(ca: CA, name: str, clients: CA | None = None) -> grpc.ServerCredentials:
    certificate, key = ca.issue(name)
    pair = (key.read_bytes(), certificate.read_bytes())
    return grpc.ssl_server_credentials([pair], clients.path.read_bytes() if clients else None, clients is not None)


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CA:
    return CA(tmp_path_factory.mktemp("tls") / "ca")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> CA:
    return CA(tmp_path_factory.mktemp("tls") / "other")


def test_tls(ca: CA, other: CA, monkeypatch: pytest.MonkeyPatch) -> None:
    toolhost = Guarded()
    with served(toolhost, server_tls(ca, "toolhost.test")) as address:
        with Client(address, tls=TLS(ca=ca.path, server_name="toolhost.test")) as client:
            assert client.version().version == "9.9.9"
            client.call("any")
        for tls, reason in (
            (TLS(ca=other.path, server_name="toolhost.test"), "[a-z ]*certificate.*"),
            (TLS(server_name="toolhost.test"), "[a-z ]*certificate.*"),
            (TLS(ca=ca.path, server_name="other.test"), "it is for another name"),
            (TLS(ca=ca.path), "it is for another name"),
        ):
            message = f"the certificate of the toolhost at {address} cannot be verified: {reason}; TLS"
            with Client(address, tls=tls, token="secret-1") as client, pytest.raises(Unavailable, match=message):
                client.call("any")
        monkeypatch.setenv("TOOLHOST_ADDR", address)
        monkeypatch.setenv("TOOLHOST_TLS_CA", str(ca.path))
        monkeypatch.setenv("TOOLHOST_TLS_SERVER_NAME", "toolhost.test")
        with Client() as client:
            client.call("any")
        with Client(ignore_environment=True) as client, pytest.raises(Unavailable):
            client.call("any")
    assert "Bearer secret-1" not in toolhost.bearers


def test_client_without_tls_at_a_port_with_tls(ca: CA) -> None:
    with served(Guarded(), server_tls(ca, "127.0.0.1")) as address:
        with Client(address) as client, pytest.raises(Unavailable) as refused:
            client.call("any")
        message = f"the server at {address} closes connections without TLS, so its port probably speaks TLS; TLS(ca="
        assert str(refused.value).startswith(message)
        assert "TOOLHOST_TLS_CA" in str(refused.value)
    with Client("127.0.0.1:1") as client, pytest.raises(Unavailable, match="no toolhost answers"):
        client.call("any")


def test_mutual_tls(ca: CA, other: CA, tmp_path: Path) -> None:
    certificate, key = ca.issue("spiffe://test/ada")
    with served(Guarded(), server_tls(ca, "127.0.0.1", ca)) as address:
        with Client(address, tls=TLS(ca.path, certificate, key)) as client:
            client.call("any")
        with Client(address, tls=TLS(ca.path)) as client, pytest.raises(Unavailable):
            client.call("any")
    broken = tmp_path / "broken"
    broken.write_text("no PEM")
    for tls in (
        TLS(certificate=certificate),
        TLS(key=key),
        TLS(ca="/absent"),
        TLS(ca=broken),
        TLS(certificate=certificate, key=other.issue("a")[1]),
    ):
        with pytest.raises(InvalidArgument):
            Client("127.0.0.1:1", tls=tls)
    with pytest.raises(InvalidArgument, match="is a unix socket"):
        Client("unix:///t.sock", tls=TLS())


def test_files_of_tls_are_read_again(ca: CA, other: CA, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    replace(file, ca.path.read_bytes())
    again = Guarded()
    with contextlib.ExitStack() as stack:
        with served(Guarded(), server_tls(ca, "127.0.0.1")) as address:
            client = stack.enter_context(Client(address, tls=TLS(file)))
            client.call("any")
        with served(again, server_tls(other, "127.0.0.1"), address):
            with pytest.raises(Unavailable):
                client.version()
            replace(file, b"half of a fi")
            with pytest.raises(Unavailable):
                client.version()
            replace(file, other.path.read_bytes())
            client.call("any")
            client.version()
    assert again.executed == 2


def test_a_token_is_not_sent_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as home:
        for listen in (f"unix://{home}/t.sock", "127.0.0.1:0"):
            toolhost = Guarded()
            toolhost.tokens = {"secret-2"}
            with served(toolhost, None, listen) as address:
                with pytest.raises(InvalidArgument, match="TOOLHOST_ALLOW_PLAIN_TOKEN") as refused:
                    Client(address, token="secret-2")
                assert "secret" not in str(refused.value)
                with Client(address, token="secret-2", allow_plain_token=True) as client:
                    client.call("any")
                with Client(address) as client, pytest.raises(Denied, match="no valid credential"):
                    client.call("any")
                with monkeypatch.context() as patched:
                    patched.setenv("TOOLHOST_TOKEN", "secret-2")
                    with pytest.raises(InvalidArgument, match="a token in TOOLHOST_TOKEN,"):
                        Client(address)
                    patched.setenv("TOOLHOST_ALLOW_PLAIN_TOKEN", "1")
                    with Client(address) as client:
                        client.call("any")


@pytest.mark.parametrize("source", ["file", "command", "function", "async function"])
def test_a_token_is_renewed_when_it_is_refused(ca: CA, tmp_path: Path, source: str) -> None:
    file = tmp_path / "token"
    fetched = 0

    def function() -> str:
        nonlocal fetched
        fetched += 1
        return file.read_text()

    async def coroutine() -> Token:
        return Token(function())

    sources: dict[str, dict[str, Any]] = {
        "file": {"token_file": file},
        "command": {"token_command": f"cat '{file}'"},
        "function": {"token": function},
        "async function": {"token": coroutine},
    }
    toolhost = Guarded()

    def rotate(token: str) -> None:
        replace(file, f"{token}\n".encode())
        toolhost.tokens = {token}

    with (
        served(toolhost, server_tls(ca, "127.0.0.1")) as address,
        Client(address, tls=TLS(ca.path), **sources[source]) as client,
    ):
        rotate("first")
        client.call("any")
        rotate("second")
        client.call("any")
        rotate("third")
        client.version()
        rotate("fourth")
        assert len(list(client.watch_call("x"))) == 1
        assert toolhost.executed == 3
        toolhost.tokens, before = {"unknown"}, toolhost.refused
        with pytest.raises(Denied, match="does not accept the credentials"):
            client.version()
        assert toolhost.refused == before + 1, "the source has no other token"
    assert fetched in (0, 5)


def test_an_expired_token_does_not_end_running_calls(ca: CA) -> None:
    tokens = iter(map(str, range(1, 9)))
    toolhost = Guarded()
    toolhost.tokens = {"1"}
    with (
        served(toolhost, server_tls(ca, "127.0.0.1")) as address,
        Client(address, tls=TLS(ca.path), token=lambda: next(tokens)) as client,
        ThreadPoolExecutor(1) as beside,
    ):
        running = beside.submit(client.call, "hold")
        toolhost.held.get(timeout=PATIENCE)
        toolhost.tokens = {"2"}
        client.call("any")
        toolhost.release.set()
        running.result(PATIENCE)
    assert (toolhost.streams, toolhost.executed) == (2, 2)


def test_a_token_is_renewed_before_it_expires(ca: CA) -> None:
    fetched = 0

    def source() -> Token:
        nonlocal fetched
        fetched += 1
        return Token(str(fetched), datetime.now(UTC) + timedelta(seconds=1.2) if fetched == 1 else None)

    toolhost = Guarded()
    toolhost.tokens = {"1", "2"}
    with (
        served(toolhost, server_tls(ca, "127.0.0.1")) as address,
        Client(address, tls=TLS(ca.path), token=source) as client,
    ):
        while fetched < 2:
            client.call("any")
        client.call("any")
    assert toolhost.refused == 0
    assert toolhost.streams == 2


def test_calls_survive_the_age_of_connections(ca: CA) -> None:
    toolhost = Guarded()
    age = (("grpc.max_connection_age_ms", 100), ("grpc.max_connection_age_grace_ms", 5000))
    with (
        served(toolhost, server_tls(ca, "127.0.0.1"), options=age) as address,
        Client(address, tls=TLS(ca.path)) as client,
    ):
        while toolhost.streams < 4:
            client.call("any")


def test_a_token_is_not_printed() -> None:
    assert "secret" not in repr(Token("secret-3")) + str(Token("secret-3"))
    with Client("127.0.0.1:1", token="secret-3", tls=TLS()) as client:
        assert "secret" not in repr(client) + repr(vars(client))
    sources: list[str | Callable[[], Any]] = ["", "secret 3", "secrét", "secret" * 10_000, lambda: b"secret"]
    for bad in sources:
        with (
            Client("127.0.0.1:1", token=bad, tls=TLS()) as client,
            pytest.raises(Unavailable, match="there is no token") as problem,
        ):
            client.version()
        assert "secr" not in str(problem.value)
    with Client("127.0.0.1:1", token_command="echo secret; exit 7", tls=TLS()) as client:
        with pytest.raises(Unavailable, match="exit status 7") as problem:
            client.version()
        assert "secret" not in str(problem.value)
    wrongs: list[dict[str, Any]] = [{"token": b"secret"}, {"token_file": 7}, {"tls": "ca.pem"}, {"tokn": "secret"}]
    for options in wrongs:
        with pytest.raises(TypeError) as wrong:
            Client("127.0.0.1:1", **options)
        assert "secret" not in str(wrong.value)


def test_one_source_of_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidArgument, match="token, token_file"):
        Client("h:1", token="a", token_file="b")
    monkeypatch.setenv("AGENTD_TOKEN", "a")
    monkeypatch.setenv("AGENTD_TOKEN_FILE", "b")
    with pytest.raises(InvalidArgument, match="AGENTD_TOKEN, AGENTD_TOKEN_FILE"):
        AgentClient("h:1")
