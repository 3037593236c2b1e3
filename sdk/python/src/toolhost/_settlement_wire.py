"""Conversion between settlements and protobuf messages."""

from __future__ import annotations

from toolhost import _wire
from toolhost._json import valid_text
from toolhost._proto.toolhost.plugin.v1 import plugin_pb2
from toolhost.settlement import Settlement, Verdict

_MAX_REASON = 1 << 10  # bytes
_MAX_RESULT = 1 << 20  # bytes, because no chunks come before a settlement

_VERDICTS = {
    Verdict.HAPPENED: plugin_pb2.SETTLEMENT_VERDICT_HAPPENED,
    Verdict.DID_NOT_HAPPEN: plugin_pb2.SETTLEMENT_VERDICT_DID_NOT_HAPPEN,
    Verdict.UNKNOWN: plugin_pb2.SETTLEMENT_VERDICT_UNKNOWN,
}
_NAMES = {number: verdict for verdict, number in _VERDICTS.items()}


def from_settlement(call_id: str, settlement: Settlement) -> plugin_pb2.Settlement:
    """Convert a settlement, whose result is a Result or None, to its message.

    It leaves out a result that is too large: that the call happened is worth more than its result.

    Raises ValueError or TypeError if JSON cannot represent a value in the result.
    """
    message = plugin_pb2.Settlement(
        call_id=call_id, verdict=_VERDICTS[settlement.verdict], reason=_clipped(settlement.reason)
    )
    if settlement.verdict is Verdict.HAPPENED and settlement.result is not None:
        result = _wire.from_result(settlement.result)
        if result.ByteSize() <= _MAX_RESULT:
            message.result.CopyFrom(result)
    return message


def to_settlement(m: plugin_pb2.Settlement) -> Settlement:
    """Convert a message to a settlement."""
    verdict = _NAMES.get(m.verdict, Verdict.UNKNOWN)
    return Settlement(verdict, _wire.to_result(m.result) if m.HasField("result") else None, m.reason)


def _clipped(reason: str) -> str:
    encoded = valid_text(reason).encode()
    if len(encoded) <= _MAX_REASON:
        return encoded.decode()
    return encoded[: _MAX_REASON - 3].decode(errors="ignore") + "…"
