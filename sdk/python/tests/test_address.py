from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from toolhost import _address
from toolhost.client import Client
from toolhost.errors import InvalidArgument


@pytest.mark.parametrize(
    "address",
    [
        "unix:///run/t.sock",
        "127.0.0.1:7070",
        "[::1]:7070",
        "127.9.9.9:1",
        "8.8.8.8:7070",
        "[2001:db8::1]:443",
        "localhost:1",
        "a.example:65535",
    ],
)
def test_addresses(address: str) -> None:
    assert _address.find(address, "toolhost") == address


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("unix://run/t.sock", "is not absolute"),
        ("unix:///" + "x" * 120, "the kernel takes 103"),
        ("127.0.0.1", "is malformed"),
        ("300.0.0.1:7", "is malformed"),
        ("0.0.0.0:7", "is malformed"),
        ("-name:7", "is malformed"),
        ("a..b:7", "is malformed"),
        ("host:0", "is malformed"),
        ("host:65536", "is malformed"),
        ("http://host:7", "is malformed"),
        ("user@host:7", "is malformed"),
    ],
)
def test_what_is_refused(address: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        Client(address)
    monkeypatch.setenv("TOOLHOST_ADDR", address)
    with pytest.raises(InvalidArgument, match=f"the environment's TOOLHOST_ADDR: .*{problem}"):
        Client()


def test_where_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_address, "_RUNTIMES", str(tmp_path))
    monkeypatch.delenv("AGENTD_ADDR", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert _address.find("", "agentd") == "unix:///run/user/7/agentd/agentd.sock"
    for unusable in ("relative", "/" + "x" * 120, ""):
        monkeypatch.setenv("XDG_RUNTIME_DIR", unusable)
        assert _address.find("", "agentd") == f"unix:///tmp/agentd-{os.getuid()}/agentd.sock"
    folder = tmp_path / str(os.getuid()) / "agentd"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)  # the path may be too long for a socket
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("agentd.sock")
        assert _address.find("", "agentd") == f"unix://{folder}/agentd.sock"
    monkeypatch.setenv("AGENTD_ADDR", "127.0.0.1:1")
    assert _address.find("", "agentd") == "127.0.0.1:1"


def test_a_default_socket_of_a_stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "toolhost"
    folder.mkdir(mode=0o700)
    path = folder / "toolhost.sock"
    path.touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("TOOLHOST_ADDR", raising=False)
    address = _address.find("", "toolhost")
    assert _address.is_default("", "toolhost")
    assert _address.stranger(address, default=True) is None
    folder.chmod(0o777)
    assert "can be written by others" in (_address.stranger(address, default=True) or "")
    assert _address.stranger(address, default=False) is None
    folder.chmod(0o700)
    me = os.getuid()
    monkeypatch.setattr(Path, "lstat", lambda self: _of(os.lstat(self), me + 7))
    assert f"belongs to another user (uid {me + 7}); if you trust" in (_address.stranger(address, default=True) or "")


def _of(found: os.stat_result, uid: int) -> os.stat_result:
    return os.stat_result([uid if i == 4 else value for i, value in enumerate(found[:10])])


def test_a_named_socket_is_not_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLHOST_ADDR", "unix:///a")
    assert not _address.is_default("", "toolhost")
    monkeypatch.delenv("TOOLHOST_ADDR")
    assert not _address.is_default("unix:///a", "toolhost")
