"""The filters that a plugin applies to its own tools, around a call in a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import json_format

from toolhost import _wire
from toolhost._json import decode, encode
from toolhost._proto.toolhost.tool.v1 import result_pb2
from toolhost.errors import Denied, Internal, ToolhostError, Unavailable
from toolhost.plugin._filter import Filter
from toolhost.result import Result
from toolhost.testing._call import CallResult, HostCallOptions

if TYPE_CHECKING:
    from toolhost.testing._async import AsyncHost


class _Stopped(Exception):
    """A filter ends the call with an error."""

    def __init__(self, error: ToolhostError) -> None:
        self.error = error


class FilteredCall:
    """A call of a tool with the filters that its plugin applies to it."""

    def __init__(
        self, host: AsyncHost, plugin: str, filters: list[Filter], tool: str, options: HostCallOptions
    ) -> None:
        self._host = host
        self._filters = filters
        self._tool = tool
        self._options = options
        self._question: dict[str, Any] = {
            "tool": tool,
            "plugin": plugin,
            "call_id": options.get("call_id", ""),
            "session": options.get("session", ""),
        }

    async def run(self, text: bytes) -> CallResult:
        """Run the filters and the tool. Arguments that are not JSON reach no filter."""
        try:
            self._question["arguments"] = decode(text)
        except ValueError:
            return await self._host._call_alone(self._tool, text, self._options)
        try:
            for known in self._filters:
                if known.before is not None:
                    await self._before(known)
        except _Stopped as stopped:
            return CallResult(error=stopped.error)
        ended = await self._host._call_alone(self._tool, encode(self._question["arguments"]), self._options)
        try:
            for known in reversed(self._filters):
                if known.after is not None and ended.result is not None:
                    ended.result = await self._after(known, ended.result)
        except _Stopped as stopped:
            ended.result, ended.error = None, stopped.error
        return ended

    async def _before(self, known: Filter) -> None:
        answer = await self._ask(known, {"phase": "before"})
        if "deny" in answer:
            raise _Stopped(Denied(f'the filter "{known.name}" denied the call: {answer["deny"]}'))
        if "answer" in answer:
            raise _Stopped(
                Internal(
                    f'the filter "{known.name}" returned a Result before the call of the tool "{self._tool}", '
                    "to which its plugin applies it"
                )
            )
        self._question["arguments"] = answer.get("arguments", self._question["arguments"])

    async def _after(self, known: Filter, result: Result) -> Result:
        shown = json_format.MessageToDict(_wire.from_result(result))
        answer = await self._ask(known, {"phase": "after", "result": shown})
        if "result" not in answer:
            return result
        return _wire.to_result(json_format.ParseDict(answer["result"], result_pb2.Result()))

    async def _ask(self, known: Filter, more: dict[str, Any]) -> dict[str, Any]:
        asked = await self._host._call_alone(known.name, encode({**self._question, **more}), {})
        if asked.result is None or asked.result.is_error:
            reason = asked.error or asked.text
            raise _Stopped(Unavailable(f'the filter "{known.name}" failed: {reason}'))
        answer: dict[str, Any] = asked.value if asked.result.content else {}
        return answer
