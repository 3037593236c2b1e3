"""Tools as toolhost.testing runs them: arguments, results, errors, statuses, previews, the end."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import PATIENCE
from sample import RAISED, RETURNED, closed, plugin, previewed

from toolhost.errors import Cancelled, Internal, NotFound, Timeout, ToolhostError
from toolhost.plugin import (
    Content,
    Context,
    Denied,
    Image,
    Json,
    Plugin,
    Progress,
    RateLimited,
    State,
    Status,
    Text,
    Unavailable,
)
from toolhost.plugin._relative import relative_to
from toolhost.testing import Host


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with Host(plugin) as host:
        yield host


@pytest.mark.parametrize(
    ("arguments", "got"),
    [
        ({"n": 3}, [3, None, False, None]),
        ('{"n":3.0,"point":{"x":1},"flag":true,"many":["ä"]}', [3, {"x": 1, "label": "?"}, True, ["ä"]]),
    ],
)
def test_arguments(host: Host, arguments: Any, got: Any) -> None:
    result = host.call("typed", arguments).result
    assert result is not None
    assert result.content == [Json(got)]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("typed", "{}", "the arguments do not fit the tool:\n- n: is missing"),
        ("typed", '{"n":1,"x":2}', "the arguments do not fit the tool:\n- x: is not one of the tool's arguments"),
        (
            "typed",
            '{"n":"3.5","point":{"x":[1]}}',
            "the arguments do not fit the tool:\n- n: must be a valid integer, unable to parse string as an integer, "
            'but is "3.5"\n- point.x: must be a valid integer, but is [1]',
        ),
        (
            "typed",
            '{"n":1,"many":["a",7]}',
            "the arguments do not fit the tool:\n- many[1]: must be a valid string, but is 7",
        ),
        ("typed", "[]", "the arguments do not fit the tool:\n- arguments: must be an object, but is []"),
        ("typed", '{"n":', "the arguments do not fit the tool:\n- arguments: Invalid JSON: "),
        ("strict", '{"n":"3"}', 'the arguments do not fit the tool:\n- n: must be a valid integer, but is "3"'),
    ],
)
def test_arguments_that_do_not_fit(host: Host, tool: str, arguments: str, words: str) -> None:
    ended = host.call(tool, arguments)
    assert ended.result is not None, ended.error
    assert ended.result.is_error
    assert ended.text.startswith(words)


def test_a_model_is_all_arguments(host: Host) -> None:
    assert host.call("model", {"x": 7}).text == '{"x":7,"label":"?"}'


@pytest.mark.parametrize(
    ("what", "content"),
    [
        ("text", [Text("naïve 漢字 😀")]),
        ("nothing", []),
        ("value", [Json({"ключ": [1, 2.5, None, True]})]),
        ("list", [Json([])]),
        ("model", [Json({"x": 1, "label": "?"})]),
        ("dataclass", [Json({"size": "1.5"})]),
        ("block", [Image(b"\x00\xff", name="p.png")]),
        ("blocks", [Text("a"), Json([1])]),
        ("surrogate", [Text("half \ufffd")]),
    ],
)
def test_results(host: Host, what: str, content: list[Content]) -> None:
    result = host.call("returns", {"what": what}).result
    assert result is not None
    assert result.content == content
    assert not result.is_error


def test_a_whole_result(host: Host) -> None:
    assert host.call("returns", {"what": "result"}).result == RETURNED["result"]
    failed = host.call("returns", {"what": "failed"}).result
    assert failed is not None
    assert failed.is_error
    assert failed.effects == []


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("coroutine", "make the function async and await the coroutine in it"),
        ("odd block", "block 1 of the result is of type object"),
        ("no key", "effect 1 of the result has no key"),
        ("odd effect", 'tool "returns": encoding the result: '),
    ],
)
def test_results_that_are_none(host: Host, what: str, words: str) -> None:
    error = host.call("returns", {"what": what}).error
    assert isinstance(error, Internal)
    assert words in error.message


@pytest.mark.parametrize("tool", ["raises", "raises_async"])
@pytest.mark.parametrize(
    ("what", "kind", "words"),
    [
        ("unavailable", Unavailable, "down"),
        ("denied", Denied, "no"),
        ("rate", RateLimited, "slowly"),
        ("exit", Internal, "SystemExit: 3"),
        ("interrupt", Internal, "KeyboardInterrupt"),
        ("cancel", Internal, "ancelled"),
    ],
)
def test_failures(host: Host, tool: str, what: str, kind: type[ToolhostError], words: str) -> None:
    ended = host.call(tool, {"what": what})
    assert type(ended.error) is kind
    assert words in ended.error.message
    if what == "unavailable":
        assert ended.error.retry_after == 1.5


@pytest.mark.parametrize("tool", ["raises", "raises_async"])
@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("bug", "ZeroDivisionError: by zero"),
        ("timeout", "TimeoutError: a socket's"),
        ("wordless", "the tool failed with an error of type KeyError without a message"),
    ],
)
def test_an_exception_is_what_the_model_reads(host: Host, tool: str, what: str, words: str) -> None:
    ended = host.call(tool, {"what": what})
    assert ended.result is not None
    assert ended.result.is_error
    assert ended.text == words
    (log,) = ended.logs
    assert log.level == logging.ERROR
    assert type(RAISED[what]).__name__ in log.attributes["exception"]


def test_paths_in_errors_are_relative(host: Host, tmp_path: Path) -> None:
    """Neither the model nor the caller is told where the workspace is."""
    read = host.call("opens", {"name": "sub/none.txt"}, workspace=tmp_path)
    assert read.text == "FileNotFoundError: [Errno 2] No such file or directory: 'sub/none.txt'"
    told = host.call("opens", {"name": "none.txt", "machinery": True}, workspace=tmp_path).error
    assert isinstance(told, Unavailable)
    assert told.message == "there is no none.txt"


def test_the_rule_of_relative_paths(tmp_path: Path) -> None:
    """All SDKs hold the same texts against it."""
    cases = json.loads((Path(__file__).parents[2] / "testdata" / "relative.json").read_text())
    assert cases
    for case in cases:
        assert relative_to(case["folder"], case["text"]) == case["want"], case
    real = tmp_path.resolve()
    link = real / "link"
    link.symlink_to(real)
    assert relative_to(str(link), f"{real}/a and {link}/b") == "a and b"


def test_the_only_failure_of_a_group(host: Host) -> None:
    ended = host.call("raises_async", {"what": "group"})
    assert ended.result is not None
    assert ended.result.is_error
    assert ended.text == "within a group"
    both = host.call("raises_async", {"what": "groups"})
    assert both.result is not None
    assert both.result.is_error
    assert both.text == "ExceptionGroup (2 errors)\n- within a group\n- ValueError"


def test_a_generator_is_read_where_the_tool_runs(host: Host) -> None:
    assert host.call("generates").value == ["call"]


def test_only_what_is_not_async_has_a_thread() -> None:
    with Host(plugin) as fresh:
        before = set(threading.enumerate())
        fresh.call("raises_async", {"what": "tool"})
        assert set(threading.enumerate()) <= before
        fresh.call("strict", {"n": 3})
        assert len(set(threading.enumerate()) - before) == 1


def test_values(host: Host) -> None:
    assert host.call("strict", {"n": 3}).value == 3
    for what in ("text", "block"):
        with pytest.raises(ValueError, match="has 0 blocks of JSON, not one; it says: "):
            _ = host.call("returns", {"what": what}).value
    with pytest.raises(Internal):
        _ = host.call("returns", {"what": "coroutine"}).value


def test_options_of_a_call(host: Host, tmp_path: Path) -> None:
    assert host.call("knows", workspace=tmp_path).value["workspace"] == str(tmp_path)
    with pytest.raises(TypeError, match="a call has no option 'time_out'; did you mean 'timeout'"):
        host.call("knows", time_out=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'timeout' must be a number, but is '3s'"):
        host.stream("knows", timeout="3s")  # type: ignore[arg-type]


def test_stop_iteration_is_an_exception_like_any_other(host: Host) -> None:
    assert host.call("raises", {"what": "stop"}).text == "StopIteration: 1"


def test_tool_errors(host: Host) -> None:
    for what, words in (("tool", "no such street"), ("silent", "an error of type ToolError without a message")):
        ended = host.call("raises", {"what": what})
        assert ended.result is not None
        assert ended.result.is_error
        assert words in ended.text


def test_no_such_tool(host: Host) -> None:
    error = host.call("nosuch").error
    assert isinstance(error, NotFound)
    assert error.message == 'the plugin "tools" has no tool "nosuch"'


def test_statuses(host: Host) -> None:
    ended = host.call("reports")
    assert ended.statuses == [
        Status(State.DOING, "began", {"a": {"x": 1}}),
        Status(None, "back"),
        Status(progress=Progress(1, 2, "half")),
        Status(result=[1]),
        Status(State.SUCCESS),
    ]
    (log,) = ended.logs
    assert (log.level, log.message, log.attributes) == (logging.WARNING, "careful: 7", {"left": 2, "odd": [1]})


def test_nothing_is_shown_after_a_terminal_state(host: Host) -> None:
    ended = host.call("reports_end")
    assert ended.statuses == [Status(State.SUCCESS)]
    assert "ValueError: why" in ended.logs[0].attributes["exception"]


def test_previews(host: Host) -> None:
    closed.clear()
    stream = host.stream("Draft")
    stream.append('{"te')
    stream.append('xt":"hö'.encode()[:-1])
    stream.wait_status(lambda s: s.parameters == {"text": "h"})
    stream.append("ö".encode()[1:] + b'her","n":1')
    stream.wait_status(lambda s: s.parameters == {"text": "höher"})
    stream.append("2}")
    stream.wait_status(lambda s: s.parameters == {"text": "höher", "n": 12})
    stream.complete()
    ended = stream.wait()
    assert ended.result is not None
    value = ended.result.content[0].value  # type: ignore[union-attr]
    assert (value["text"], value["n"]) == ("höher", 12)
    assert value["seen"] >= 3
    states = [s.state for s in ended.statuses if s.state is not None]
    assert states == [State.WAIT, State.DOING, State.SUCCESS]
    assert closed == ["draft"]


def test_arguments_that_replace(host: Host) -> None:
    stream = host.stream("Draft")
    stream.append('{"text":"x"')
    stream.complete({"text": "y"})
    assert '"text":"y"' in stream.wait().text


def test_arguments_are_described(host: Host) -> None:
    assert host.describe()["Draft"].input_schema["properties"]["text"]["description"] == "What to draft."
    assert host.describe()["Draft"].partial_arguments


def test_a_preview_in_a_thread(host: Host) -> None:
    stream = host.stream("Blocking")
    stream.append('{"text":"a')
    stream.wait_status(lambda s: s.parameters == {"text": "a"})
    stream.complete({"text": "ab"})
    assert stream.wait().text == "ab"


def test_a_preview_that_fails_is_lost_alone(host: Host) -> None:
    stream = host.stream("Blocking")
    stream.append('{"text":"bug')
    assert previewed.wait(PATIENCE)
    stream.complete({"text": "bug"})
    ended = stream.wait()
    assert ended.text == "bug"
    assert [log.message for log in ended.logs] == ["the preview of tool 'Blocking' raised"]


def test_an_object_that_does_not_open(host: Host) -> None:
    ended = host.call("Unopened")
    assert ended.result is not None
    assert ended.result.is_error
    assert ended.text == "not today"


@pytest.mark.parametrize("tool", ["waits", "waits_in_a_thread"])
def test_cancel(host: Host, tool: str) -> None:
    stream = host.stream(tool)
    stream.complete({})
    stream.wait_status(lambda s: s.message == "waiting")
    stream.cancel("enough")
    ended = stream.wait()
    assert isinstance(ended.error, Cancelled)
    assert ended.error.message == "the call was cancelled: enough"
    assert ended.statuses[-1].state is State.ERROR


def test_an_answer_after_cancel_counts(host: Host) -> None:
    stream = host.stream("yields_late")
    stream.complete({})
    stream.wait_status(lambda s: s.message == "waiting")
    stream.cancel()
    assert stream.wait().text == "at least this"


def test_abandoned_arguments(host: Host) -> None:
    closed.clear()
    stream = host.stream("Draft")
    stream.append('{"text":"ha')
    stream.wait_status(lambda s: s.parameters == {"text": "ha"})
    stream.cancel()
    assert isinstance(stream.wait().error, Cancelled)
    assert closed == ["draft"]


@pytest.mark.parametrize("tool", ["waits", "waits_in_a_thread"])
def test_deadline(host: Host, tool: str) -> None:
    error = host.call(tool, timeout=0.05).error
    assert isinstance(error, Timeout)
    assert error.message == "the deadline of the call has passed"


def test_context(host: Host) -> None:
    got = host.call(
        "knows",
        call_id="c-1",
        attempt=2,
        session="s",
        workspace="/w",
        context={"user": {"name": "Ä"}, "other": 1},
        secrets={"token": "t", "other": "x"},
        traceparent="00-x",
        timeout=50,
    ).result
    assert got is not None
    assert got.content == [
        Json(
            {
                "id": "c-1",
                "attempt": 2,
                "session": "s",
                "workspace": "/w",
                "values": {"user": {"name": "Ä"}},
                "secrets": {"token": "t"},
                "trace": "00-x",
                "arguments": "{}",
                "limited": True,
                "thread": True,
            }
        )
    ]


def test_artifacts(host: Host) -> None:
    text = Text("ab" * 100_000)
    assert host.call("reads", {"handle": "h"}, artifacts={"h": text}).text == '[200000,200000,"text/plain","","ab"]'
    assert host.call("reads", {"handle": "h", "offset": 1, "limit": 3}, artifacts={"h": text}).text.startswith("[3,")
    ended = host.call("reads", {"handle": "h"})
    assert ended.result is not None
    assert ended.result.is_error
    assert ended.text == "there is no artifact 'h'"


def test_a_context_that_blocks_is_refused_on_the_loop() -> None:
    own = Plugin("own")
    kept = threading.Event()

    @own.tool
    class Mixed:
        """Use a blocking context where it must not."""

        def preview(self, so_far: dict[str, Any], ctx: Context) -> None:
            self.ctx = ctx
            kept.set()

        async def call(self) -> None:
            self.ctx.status("never")

    with Host(own) as host:
        stream = host.stream("Mixed")
        stream.append("{")
        assert kept.wait(PATIENCE)
        stream.complete({})
        ended = stream.wait()
    assert ended.result is not None
    assert ended.result.is_error
    assert "use an AsyncContext" in ended.text
