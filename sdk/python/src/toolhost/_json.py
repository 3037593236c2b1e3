"""JSON as the protocol requires it: UTF-8, compact, without NaN and without lone surrogates."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from pydantic_core import to_jsonable_python

_LONE = re.compile("[\ud800-\udfff]")


def valid_text(text: str) -> str:
    """Return the text with each lone surrogate replaced by U+FFFD, so that UTF-8 can encode it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _LONE.sub("\ufffd", text)
    return text


def encode(value: Any) -> bytes:
    """Return a value as JSON text. Raises ValueError or TypeError if JSON cannot represent it."""
    plain = value if isinstance(value, str) else to_jsonable_python(value, by_alias=True, bytes_mode="base64")
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return valid_text(text).encode()


def is_object(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Report whether a decoded value is a JSON object."""
    return isinstance(value, Mapping)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Report whether a decoded value is a JSON array."""
    return isinstance(value, list)


def decode(text: bytes) -> Any:
    """Return the value of JSON text. Raises ValueError if the text is not JSON."""
    return json.loads(text)
