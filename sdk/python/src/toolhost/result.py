"""What a call answers: blocks of content, effects, and what the call used and cost."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from toolhost._json import decode, encode

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
    """A block that holds one JSON value: anything that pydantic can encode."""

    encoded: bytes = field(repr=False)
    """The value as JSON text."""

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, "encoded", encode(value))

    @classmethod
    def from_text(cls, text: bytes | str) -> Json:
        """Return a block of JSON text, which is handed on as it is. Raises ValueError if it is not JSON."""
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
        """The value, decoded anew each time."""
        return decode(self.encoded)

    def __repr__(self) -> str:
        return f"Json({self.value!r})"


@dataclass(frozen=True)
class Image:
    """A picture for models that can see."""

    data: bytes = field(repr=False)
    media_type: str = field(default="image/png", kw_only=True)
    """The IANA media type."""
    name: str = field(default="", kw_only=True)
    """A file name without folders. May be empty."""


@dataclass(frozen=True)
class File:
    """Any other bytes."""

    data: bytes = field(repr=False)
    name: str = field(default="", kw_only=True)
    """A file name without folders. May be empty."""
    media_type: str = field(default="application/octet-stream", kw_only=True)
    """The IANA media type."""


@dataclass(frozen=True)
class Artifact:
    """Content that toolhost keeps, because it is too large to be shown, and that is read by its handle."""

    handle: str
    media_type: str = ""
    """The IANA media type of the whole."""
    size: int = 0
    """The size of the whole, in bytes."""
    head: str = ""
    """The beginning of a text; empty for other media."""
    tail: str = ""
    """The end of a text; empty for other media, or where `head` is the whole."""
    name: str = ""
    """A file name without folders. May be empty."""


_MAX_QUOTE = 500  # characters of a result that is not what was expected

Content: TypeAlias = Text | Json | Image | File | Artifact
"""One block of a result."""


class Operation(enum.StrEnum):
    """How an effect's value joins the value that its key has."""

    REPLACE = "replace"
    """The value takes the place of the old one."""
    APPEND = "append"
    """The old value is a list, or absent; the value becomes its last element."""
    MERGE = "merge"
    """Both are objects: a JSON merge patch (RFC 7396)."""


@dataclass(frozen=True)
class Effect:
    """A change to the run's context that a tool returns instead of making it."""

    key: str
    """The key of the run's context that changes."""
    value: Any
    """Anything that pydantic can encode as JSON."""
    operation: Operation = Operation.REPLACE


@dataclass(frozen=True)
class Usage:
    """Tokens of a model that a call used."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    """Of the tokens read, those that came from the provider's cache."""
    cache_write_tokens: int = 0
    """Tokens that the call added to the provider's cache."""


@dataclass(init=False)
class Result:
    """What a call answers to the model.

    `content` is one block or several; a text may stand for a block of text. It may be empty: a tool that has only
    effects.
    """

    content: list[Content]
    is_error: bool
    """Whether the tool says that it failed. Such a result carries no effects."""
    effects: list[Effect]
    """Changes to the run's context, folded in call order."""
    usage: Usage
    cost: float
    """What the call cost, in the unit of the tool's `cost_per_use`. 0 means that."""
    metadata: dict[str, Any]
    """Whatever else is to be said of the result. Keys that begin with `toolhost.` are toolhost's."""
    duration: float
    """How long the tool ran, in seconds. toolhost sets it."""

    def __init__(
        self,
        content: Content | str | Sequence[Content | str] = (),
        *,
        is_error: bool = False,
        effects: Sequence[Effect] = (),
        usage: Usage | None = None,
        cost: float = 0.0,
        metadata: Mapping[str, Any] | None = None,
        duration: float = 0.0,
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
        """What the result says in text: JSON as JSON, and a line for each block that has no text."""
        return "\n".join(_as_text(block) for block in self.content)

    @property
    def value(self) -> Any:
        """The value of the one block of JSON that is in the result. Raises ValueError if there is none, or another."""
        blocks = [block for block in self.content if isinstance(block, Json)]
        if len(blocks) != 1:
            raise ValueError(
                f"the result has {len(blocks)} blocks of JSON, not one; it says: {self.text[:_MAX_QUOTE]!r}"
            )
        return blocks[0].value


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
