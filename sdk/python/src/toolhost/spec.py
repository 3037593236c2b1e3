"""What a tool declares of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Example", "Permissions", "Retry", "Spec"]


@dataclass(frozen=True)
class Example:
    """One call as its author imagines it."""

    arguments: Mapping[str, Any]
    description: str = ""
    """What the example shows. May be empty."""


@dataclass(frozen=True)
class Permissions:
    """What a plugin asks to be allowed. To ask opens nothing: only the operator's configuration does."""

    network: bool = False
    workspace: Literal["none", "read", "write"] = "none"
    """What it wants to do in the workspace."""
    read: Sequence[str] = ()
    """Absolute paths of further files and folders that it wants to read."""
    write: Sequence[str] = ()
    """Absolute paths of further files and folders that it wants to change."""

    def __post_init__(self) -> None:
        """Refuse what cannot be asked for, where it is written."""
        if self.workspace not in ("none", "read", "write"):
            raise ValueError(f'the workspace may be asked for with "none", "read" or "write", not {self.workspace!r}')
        for paths in (self.read, self.write):
            if isinstance(paths, str):
                raise TypeError(f"paths are given as a list, such as [{paths!r}]")


@dataclass(frozen=True)
class Retry:
    """How a failed call may be tried again, where that is safe: it never started, or is read-only or idempotent."""

    max_attempts: int = 1
    """How many tries in all, the first included."""
    initial_backoff: float = 0.0
    """The pause before the second try, in seconds; it doubles for each further one. 0 means 200 ms."""
    max_backoff: float = 0.0
    """The longest pause, in seconds. 0 means 5 s."""


@dataclass(frozen=True)
class Spec:
    """What a tool declares of itself. proto/toolhost/tool/v1/spec.proto is the reference."""

    name: str
    description: str = ""
    version: str = ""
    display_name: str = ""
    category: str = ""
    tags: Sequence[str] = ()
    input_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    """A JSON Schema of the arguments, an object."""
    output_schema: Mapping[str, Any] | None = None
    """A JSON Schema of the structured result. None means that the tool promises none."""
    examples: Sequence[Example] = ()
    timeout: float = 0.0
    """How long one call may take, in seconds. 0 means toolhost's default."""
    progress_extends_timeout: bool = False
    retry: Retry = field(default_factory=Retry)
    rate_limit_per_minute: int = 0
    memory_limit_bytes: int = 0
    cost_per_use: float = 0.0
    requires_auth: Sequence[str] = ()
    """The names of the secrets that the tool needs."""
    sandbox_exempt: bool = False
    """Whether it asks to run outside the sandbox. Only the operator can grant it, and only to the whole plugin, whose
    tools share processes: ship such a tool in a plugin of its own."""
    partial_arguments: bool = False
    """Whether it sees its arguments while the model still writes them."""
    dangerous: bool = False
    read_only: bool = False
    idempotent: bool = False
    serial: bool = False
    return_direct: bool = False
    strict: bool = False
    dynamic: bool = False
    """Whether it looks different to each session."""
    context_keys: Sequence[str] = ()
    """The keys of the run's context that the tool wants."""
    effect_keys: Sequence[str] = ()
    """The keys of the run's context that the tool's effects may change. Effects on other keys are refused."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
