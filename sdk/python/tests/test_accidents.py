"""What becomes of calls when a plugin or a toolhost goes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable

import pytest
from conftest import PATIENCE, Server, first, program, serve_toolhost, short_folder

from toolhost.client import Client, Started, Status
from toolhost.errors import Crashed, Denied, OutcomeUnknown, Unavailable


def test_killed_in_the_middle(own_toolhost: Callable[..., Server]) -> None:
    server = own_toolhost("extras")
    with Client(server.address) as client:
        with pytest.raises(OutcomeUnknown) as raised:
            client.call("die")
        assert raised.value.exit is not None
        assert raised.value.exit.signal == "SIGKILL"
        assert raised.value.plugin == "extras"
        assert client.call("forecast", {"city": "Oslo"}).text, "the next call has a new process"


def test_crash_of_a_read_only_call(own_toolhost: Callable[..., Server]) -> None:
    server = own_toolhost("extras")
    with Client(server.address) as client, client.open("wait_in_a_thread") as execution:
        first(execution, Status)
        listed = subprocess.run(
            [program("toolhost"), "ps", "-o", "json", "--addr", server.address], check=True, capture_output=True
        )
        (pid,) = re.findall(rb'"pid": *([0-9]+)', listed.stdout)
        os.kill(int(pid), 9)
        with pytest.raises(Crashed):
            execution.outcome()


def test_stop(own_toolhost: Callable[..., Server]) -> None:
    server = own_toolhost("fixture", "extras")
    with Client(server.address) as client:
        client.call("echo")
        client.call("forecast", {"city": "Oslo"})
        server.process.terminate()
        server.process.wait(PATIENCE)
    ends = [line for line in server.log.splitlines() if "instance exited" in line]
    assert len(ends) == 2
    assert all('exit="exit code 0' in line for line in ends), ends


def test_no_toolhost_answers(own_toolhost: Callable[..., Server]) -> None:
    with short_folder() as home, Client(f"unix://{home}/none.sock") as client:
        with pytest.raises(Unavailable, match=r"no toolhost answers at unix://.*/none\.sock"):
            client.list_tools()
        with pytest.raises(Unavailable, match="no toolhost answers"):
            client.call("echo", call_id="named")


def test_a_connection_that_is_lost(own_toolhost: Callable[..., Server]) -> None:
    with short_folder() as home:
        server = serve_toolhost(home, "fixture")
        with (
            Client(server.address) as client,
            client.open("wait", call_id="lost") as execution,
            client.open("draft", "{", complete=False) as half,
        ):
            for running in (execution, half):
                first(running, Started, Status)
            server.process.kill()
            server.process.wait(PATIENCE)
            with pytest.raises(OutcomeUnknown, match="sent again with the same call id"):
                execution.outcome()
            with pytest.raises(Unavailable, match="not executed"):
                half.outcome()
        server.release()


def test_filters(own_toolhost: Callable[..., Server]) -> None:
    server = own_toolhost("extras", config="filters:\n  - filter: guard\n    tools: [forecast]\n")
    with Client(server.address) as client:
        with pytest.raises(Denied, match="there is no Atlantis"):
            client.call("forecast", {"city": "Atlantis"})
        changed = client.call("forecast", {"city": "Christiania"})
        assert changed.text == '{"city":"Oslo","days":[0,1]}\nseen by the guard of forecast'
        assert client.call("forecast", {"city": "Null Island"}).text == "it is wet"
        assert client.call("chatty", {"text": "x"}).text == "x"
