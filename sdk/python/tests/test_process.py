"""The life of a plugin's process, by hand: without any of toolhost's supervision, nothing but the plugin ends it."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from conftest import PATIENCE, short_folder
from sample import plugin

from toolhost._proto.toolhost.plugin.v1 import plugin_pb2 as pb
from toolhost._proto.toolhost.plugin.v1 import plugin_pb2_grpc as pb_grpc

PLUGINS = Path(__file__).parent / "plugins"
COOKIE = {"TOOLHOST_PLUGIN": "f0c4a1f2-8c1e-4d0b-9a57-2f6f6f4b7d11"}


class Served:
    """A plugin that has printed its handshake, and what it says from then on."""

    def __init__(self, name: str, folder: Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, PLUGINS / f"{name}.py"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PATH": "/usr/bin:/bin", "PLUGIN_UNIX_SOCKET_DIR": str(folder), **COOKIE, **environment},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        fields = line.rstrip("\n").split("|")
        assert fields[:3] == ["1", "1", "unix"], (line, self.process.stderr and self.process.stderr.read())
        assert fields[4:] == ["grpc"]
        self.path = fields[3]
        assert os.path.dirname(self.path) == str(folder)
        assert len(os.path.basename(self.path)) <= 16
        self.channel = grpc.insecure_channel("unix:" + self.path)
        self.stub = pb_grpc.ToolPluginServiceStub(self.channel)

    def unary(self, method: str, request: bytes = b"") -> bytes:
        call: Any = self.channel.unary_unary(method)
        answer: bytes = call(request, timeout=PATIENCE)
        return answer

    def ends(self) -> tuple[int, str, str]:
        stdout, stderr = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, stdout, stderr


@contextlib.contextmanager
def served(name: str = "fixture", **environment: str) -> Iterator[Served]:
    with short_folder() as folder:
        plugin = Served(name, folder, **environment)
        try:
            yield plugin
        finally:
            plugin.channel.close()
            plugin.process.kill()
            plugin.process.communicate()


class Stream:
    """An open stream of calls."""

    def __init__(self, plugin: Served, *metadata: tuple[str, str]) -> None:
        self._requests: Any = queue.SimpleQueue()
        self.responses = plugin.stub.Connect(iter(self._requests.get, None), metadata=metadata)

    def start(self, tool: str, arguments: str = "{}", number: int = 1) -> None:
        start = pb.StartCall(tool=tool, arguments=arguments.encode(), complete=True, credit=1 << 20)
        self._requests.put(pb.ConnectRequest(call=number, start=start))

    def start_together(self, *tools: str) -> None:
        first, *more = (
            pb.ConnectRequest(call=number, start=pb.StartCall(tool=tool, complete=True, credit=1 << 20))
            for number, tool in enumerate(tools, 1)
        )
        first.batch.extend(more)
        self._requests.put(first)

    def half_close(self) -> None:
        self._requests.put(None)

    def until_status(self) -> None:
        next(frame for frame in self.responses if frame.HasField("status"))


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs a plugin as a process would, but in this one, as far as nobody serves it."""

    def run(*arguments: str, **environment: str) -> int:
        monkeypatch.setattr(sys, "argv", ["sample.py", *arguments])
        for name in (*COOKIE, "PLUGIN_PROTOCOL_VERSIONS"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            plugin.run()
        assert isinstance(ended.value.code, int)
        return ended.value.code

    return run


Alone = Callable[..., int]


@pytest.mark.parametrize("environment", [{}, {"TOOLHOST_PLUGIN": "other"}])
def test_started_by_a_person(environment: dict[str, str], alone: Alone, capsys: pytest.CaptureFixture[str]) -> None:
    assert alone(**environment) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("tools is a plugin of toolhost")


def test_described_to_a_person(alone: Alone, capsys: pytest.CaptureFixture[str]) -> None:
    assert alone("--describe") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["name"] == "tools"
    assert printed.err == ""


def test_no_version_in_common(alone: Alone, capsys: pytest.CaptureFixture[str]) -> None:
    assert alone(**COOKIE, PLUGIN_PROTOCOL_VERSIONS="2,3") == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "version 1" in printed.err


def test_health_and_shutdown() -> None:
    with served(PLUGIN_PROTOCOL_VERSIONS="2,1") as plugin:
        assert plugin.stub.Describe(pb.DescribeRequest(tools=["echo", "nosuch"])).tools[0].name == "echo"
        assert plugin.unary("/grpc.health.v1.Health/Check", b"\x0a\x06plugin") == b"\x08\x01"
        with pytest.raises(grpc.RpcError) as raised:
            plugin.unary("/grpc.health.v1.Health/Check", b"\x0a\x05other")
        assert raised.value.code() is grpc.StatusCode.NOT_FOUND
        with pytest.raises(grpc.RpcError) as raised:
            plugin.unary("/plugin.GRPCStdio/StreamStdio")
        assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert plugin.unary("/plugin.GRPCController/Shutdown") == b""
        assert plugin.ends() == (0, "", "")


@pytest.mark.parametrize(
    ("tool", "way"),
    [
        ("wait_in_a_thread", "shutdown"),
        ("wait_in_a_thread", "half-close"),
        ("wait_in_a_thread", "hang up"),
        ("wait_in_a_thread", "SIGTERM"),
        ("stuck", "shutdown"),
    ],
)
def test_the_end_in_the_middle_of_a_call(tool: str, way: str) -> None:
    with served("extras") as plugin:
        stream = Stream(plugin)
        stream.start(tool, '{"seconds":600}' if tool == "stuck" else "{}")
        stream.until_status()
        match way:
            case "shutdown":
                plugin.unary("/plugin.GRPCController/Shutdown")
            case "half-close":
                stream.half_close()
            case "hang up":
                plugin.channel.close()
            case "SIGTERM":
                plugin.process.terminate()
        code, _, stderr = plugin.ends()
        assert code == 0, stderr
        assert ("the plugin ends while calls are running" in stderr) == (tool == "stuck")
        assert "Traceback" not in stderr, stderr


def test_toolhost_goes_before_the_stream() -> None:
    with served() as plugin:
        plugin.unary("/grpc.health.v1.Health/Check", b"\x0a\x06plugin")
        plugin.channel.close()
        assert plugin.ends() == (0, "", "")


def test_toolhost_goes_without_a_word() -> None:
    with served() as plugin:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(plugin.path)
        os.unlink(plugin.path)  # as toolhost does when it has connected
        connection.close()
        assert plugin.ends() == (0, "", "")


@pytest.mark.parametrize("announced", [True, False])
def test_frames_in_one_message(announced: bool) -> None:
    with served("extras") as plugin:
        stream = Stream(plugin, *([("toolhost-batch", "1")] if announced else []))
        stream.start_together("burst", "burst")
        assert ("toolhost-batch", "1") in [(key, value) for key, value in stream.responses.initial_metadata()]
        ended: set[int] = set()
        logs: dict[int, list[str]] = {1: [], 2: []}
        most = 0
        for message in stream.responses:
            frames = [message, *message.batch]
            most = max(most, len(frames))
            for frame in frames:
                if frame.HasField("log"):
                    logs[frame.call].append(frame.log.message)
            ended |= {frame.call for frame in frames if frame.HasField("end")}
            if ended == {1, 2}:
                break
        assert logs[1] == logs[2] == [f"line {n}" for n in range(100)]
        assert (most > 1) == announced


# A process that starts another one, and ends when nobody writes to it any more.
PARENT = "import subprocess, sys; subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL); sys.stdin.read()"


def test_the_parent_is_gone() -> None:
    """A plugin whose parent goes before anybody has connected exits by itself."""
    with short_folder() as folder:
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, sys.executable, PLUGINS / "fixture.py"],
            env={"PATH": "/usr/bin:/bin", "PLUGIN_UNIX_SOCKET_DIR": str(folder), **COOKIE},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert parent.stdout is not None
        assert parent.stdout.readline().startswith("1|1|unix|")
        # Its standard output is at its end when both are gone that hold it.
        rest, _ = parent.communicate("", PATIENCE)
        assert rest == ""


def test_what_is_printed() -> None:
    with served("extras") as plugin:
        stream = Stream(plugin)
        stream.start("chatty", '{"text":"Ähre"}')
        assert next(f for f in stream.responses if f.HasField("end")).end.result.content[0].text == "Ähre"
        plugin.unary("/plugin.GRPCController/Shutdown")
        code, stdout, stderr = plugin.ends()
    assert code == 0
    assert stdout.splitlines() == ["on stdout: Ähre", "by a child: Ähre"]
    assert stderr.splitlines() == ["printed before the handshake", "on stderr: Ähre"]
