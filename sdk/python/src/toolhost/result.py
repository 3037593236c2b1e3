"""Results of calls: blocks of content, effects, token usage and cost."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from toolhost._json import decode, encode

_T = TypeVar("_T")

__all__ = [
    "Artifact",
    "Content",
    "Effect",
    "File",
    "Image",
    "Json",
    "Operation",
    "Result",
    "Text",
    "Usage",
]


@dataclass(frozen=True)
class Text:
    """A block of plain text or Markdown."""

    text: str


@dataclass(frozen=True, init=False)
class Json:
    """A block with one JSON value. pydantic encodes it."""

    encoded: bytes = field(repr=False)
    """The value as JSON text."""

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, "encoded", encode(value))

    @classmethod
    def from_text(cls, text: bytes | str) -> Json:
        """Return a block of JSON text that is sent byte for byte.

        Raises ValueError if the text is not JSON.
        """
        encoded = text.encode() if isinstance(text, str) else bytes(text)
        json.loads(encoded)
        return cls._raw(encoded)

    @classmethod
    def _raw(cls, encoded: bytes) -> Json:
        block = cls.__new__(cls)
        object.__setattr__(block, "encoded", encoded)
        return block

    @property
    def value(self) -> Any:
        """The decoded value. Each access decodes it again, so the caller may modify it."""
        return decode(self.encoded)

    def __repr__(self) -> str:
        return f"Json({self.value!r})"


@dataclass(frozen=True)
class Image:
    """An image for models that accept images."""

    data: bytes = field(repr=False)
    media_type: str = field(default="image/png", kw_only=True)
    """The IANA media type."""
    name: str = field(default="", kw_only=True)
    """A file name without folders. May be empty."""


@dataclass(frozen=True)
class File:
    """A file of any other media type."""

    data: bytes = field(repr=False)
    name: str = field(default="", kw_only=True)
    """A file name without folders. May be empty."""
    media_type: str = field(default="application/octet-stream", kw_only=True)
    """The IANA media type."""


@dataclass(frozen=True)
class Artifact:
    """Content that is too large for a result. toolhost stores it, and the handle reads it."""

    handle: str
    media_type: str = ""
    """The IANA media type of the complete content."""
    size: int = 0
    """The size of the complete content, in bytes."""
    head: str = ""
    """The beginning of a text. Empty for other media types."""
    tail: str = ""
    """The end of a text. Empty for other media types, or if `head` is the complete text."""
    name: str = ""
    """A file name without folders. May be empty."""


_MAX_QUOTE = 500  # characters of a result that an error message quotes

Content: TypeAlias = Text | Json | Image | File | Artifact
"""One block of a result."""


class Operation(enum.StrEnum):
    """How an effect combines its value with the existing value of its key."""

    REPLACE = "replace"
    """The new value replaces the old one."""
    APPEND = "append"
    """The old value is a list or absent. The new value is appended to the list."""
    MERGE = "merge"
    """Both values are objects. The new one is applied as a JSON merge patch (RFC 7396)."""


@dataclass(frozen=True)
class Effect:
    """A change to the run context that a tool requests in its result."""

    key: str
    """The key of the run context. The tool must declare it in `effect_keys`."""
    value: Any
    """A value that pydantic can encode as JSON."""
    operation: Operation = Operation.REPLACE


@dataclass(frozen=True)
class Usage:
    """The model tokens that a call used."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    """The input tokens that the cache of the provider supplied."""
    cache_write_tokens: int = 0
    """The tokens that the call added to the cache of the provider."""


@dataclass(init=False)
class Result:
    """The result of a call, which the model reads.

    The argument `content` is one block or a sequence of blocks. A str stands for a block of text.
    An empty result is valid, for example of a tool that only has effects.
    """

    content: list[Content]
    is_error: bool
    """Whether the tool reports a failure. The effects of such a result are discarded."""
    effects: list[Effect]
    """Changes to the run context, applied in the order of the calls."""
    usage: Usage
    cost: float | None
    """The cost of the call, in the unit of the tool's `cost_per_use`. None means `cost_per_use`
    itself."""
    metadata: dict[str, Any]
    """Further JSON values by key. Keys that begin with `toolhost.` are reserved."""
    duration: float | None
    """How long the tool ran, in seconds. toolhost sets it and ignores what a tool sets."""

    def __init__(
        self,
        content: Content | str | Sequence[Content | str] = (),
        *,
        is_error: bool = False,
        effects: Sequence[Effect] = (),
        usage: Usage | None = None,
        cost: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        duration: float | None = None,
    ) -> None:
        blocks = [content] if isinstance(content, Content | str) else content
        self.content = [Text(block) if isinstance(block, str) else block for block in blocks]
        self.is_error = is_error
        self.effects = list(effects)
        self.usage = usage or Usage()
        self.cost = cost
        self.metadata = dict(metadata or {})
        self.duration = duration

    @property
    def text(self) -> str:
        """All blocks as text. An image, file or artifact becomes a line that describes it."""
        return "\n".join(_as_text(block) for block in self.content)

    @property
    def value(self) -> Any:
        """The value of the only JSON block.

        Raises ValueError if the result does not have exactly one JSON block.
        """
        return self._only_json().value

    def value_as(self, type: type[_T]) -> _T:  # noqa: A002
        """Return the value of the only JSON block as a type, such as a model or dataclass.

        Raises ValueError if the result does not have exactly one JSON block, or if the value does
        not fit the type.
        """
        from pydantic import TypeAdapter  # noqa: PLC0415 - clients that do not call it start faster

        return TypeAdapter(type).validate_json(self._only_json().encoded)

    def _only_json(self) -> Json:
        blocks = [block for block in self.content if isinstance(block, Json)]
        if len(blocks) != 1:
            raise ValueError(
                f"the result has {len(blocks)} blocks of JSON, not one; it says: {self.text[:_MAX_QUOTE]!r}"
            )
        return blocks[0]


def _as_text(block: Content) -> str:
    match block:
        case Text():
            return block.text
        case Json():
            return block.encoded.decode(errors="replace")
        case Artifact():
            return _artifact_as_text(block)
        case _:
            kind = "image" if isinstance(block, Image) else "file"
            named = f" {block.name}" if block.name else ""
            return f"[{kind}{named}, {block.media_type}, {len(block.data)} bytes]"


_ADVICE = "A tool that takes the handle of an artifact can be given it, to read the rest or to work with the whole.]"


def _artifact_as_text(a: Artifact) -> str:
    shown = len(a.head.encode()) + len(a.tail.encode())
    if not shown:
        what = ", ".join(word for word in ("content", a.name, a.media_type) if word)
        return f"[{what}, {a.size} bytes, not shown: it is kept as artifact {a.handle}. {_ADVICE}"
    head = a.head if not a.head or a.head.endswith("\n") else a.head + "\n"
    hidden = max(0, a.size - shown)
    note = f"[Here {hidden} of {a.size} bytes are not shown. The whole is kept as artifact {a.handle}. {_ADVICE}"
    return f"{head}{note}\n{a.tail}"
