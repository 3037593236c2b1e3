"""JSON as the contracts have it: UTF-8, compact, without NaN, and never a lone surrogate."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic_core import to_jsonable_python

_LONE = re.compile("[\ud800-\udfff]")


def valid_text(text: str) -> str:
    """Return a text that UTF-8 can encode: lone surrogates become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _LONE.sub("\ufffd", text)
    return text


def encode(value: Any) -> bytes:
    """Return the JSON form of a value. Raises ValueError or TypeError if it has none."""
    plain = value if isinstance(value, str) else to_jsonable_python(value, by_alias=True, bytes_mode="base64")
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return valid_text(text).encode()


def decode(text: bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError if it is none."""
    return json.loads(text)
