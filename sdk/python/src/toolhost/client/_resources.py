"""Resources and prompts that plugins offer besides tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toolhost import _wire
from toolhost._proto.toolhost.v1 import resources_pb2 as pb
from toolhost.result import Content, Text


@dataclass(frozen=True)
class Resource:
    """Data that a plugin offers by its URI. The plugin chose all texts."""

    plugin: str
    uri: str
    """The name within the plugin. Two plugins can offer the same URI."""
    name: str
    title: str = ""
    description: str = ""
    media_type: str = ""
    """The IANA media type. Empty means that it is unknown."""
    size: int = 0
    """The size in bytes, as the plugin says. 0 means that it is unknown."""


@dataclass(frozen=True)
class ResourceTemplate:
    """Resources whose URIs follow from arguments."""

    plugin: str
    uri_template: str
    """The template in the form of RFC 6570."""
    name: str
    title: str = ""
    description: str = ""
    media_type: str = ""
    """The IANA media type of all these resources. Empty means that it differs or is unknown."""


@dataclass(frozen=True)
class ResourceContent:
    """One part of the content of a resource."""

    uri: str
    """The URI of this part, which may differ from the URI that was read."""
    media_type: str
    content: Content
    """A text, a file, or an artifact in place of content that is too large."""


@dataclass(frozen=True)
class PromptArgument:
    """An argument of a prompt, which is a text."""

    name: str
    title: str = ""
    description: str = ""
    required: bool = False


@dataclass(frozen=True)
class Prompt:
    """A text that a plugin offers for a conversation with a model. The plugin chose all texts."""

    plugin: str
    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True)
class PromptMessage:
    """One message of a prompt."""

    role: Literal["user", "assistant"]
    content: Content | ResourceContent


@dataclass(frozen=True)
class PromptText:
    """A prompt with its arguments filled in. All messages are the words of the plugin."""

    plugin: str
    description: str
    messages: tuple[PromptMessage, ...]


@dataclass(frozen=True)
class Completion:
    """Values of an argument, the best ones first."""

    values: tuple[str, ...]
    total: int = 0
    """How many values there are. 0 means that the number is unknown."""
    more: bool = False
    """Whether there are more values."""


@dataclass(frozen=True)
class ResourceChange:
    """The notice of a change, which has to be read. The first notice of a watch has no plugin."""

    plugin: str = ""
    resources: bool = False
    """Whether the lists of resources and templates may have changed."""
    prompts: bool = False
    """Whether the list of prompts may have changed."""
    uri: str = ""
    """The resource that may have changed. Empty means none."""


def to_resource(r: pb.Resource) -> Resource:
    """Convert a message."""
    return Resource(r.plugin, r.uri, r.name, r.title, r.description, r.media_type, r.size)


def to_template(t: pb.ResourceTemplate) -> ResourceTemplate:
    """Convert a message."""
    return ResourceTemplate(t.plugin, t.uri_template, t.name, t.title, t.description, t.media_type)


def to_part(c: pb.ResourceContent) -> ResourceContent:
    """Convert a message."""
    return ResourceContent(c.uri, c.media_type, _wire.to_content(c.content) if c.HasField("content") else Text(""))


def to_prompt(p: pb.Prompt) -> Prompt:
    """Convert a message."""
    arguments = tuple(PromptArgument(a.name, a.title, a.description, a.required) for a in p.arguments)
    return Prompt(p.plugin, p.name, p.title, p.description, arguments)


def to_message(m: pb.PromptMessage) -> PromptMessage:
    """Convert a message. An unknown role becomes that of the user."""
    role: Literal["user", "assistant"] = "assistant" if m.role == pb.PROMPT_ROLE_ASSISTANT else "user"
    if m.HasField("resource"):
        return PromptMessage(role, to_part(m.resource))
    return PromptMessage(role, _wire.to_content(m.content))
