"""Declarations: what a tool and its plugin state about themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Example", "Permissions", "Retry", "Spec"]


@dataclass(frozen=True)
class Example:
    """An example call."""

    arguments: Mapping[str, Any]
    description: str = ""
    """What the example demonstrates. May be empty."""


@dataclass(frozen=True)
class Permissions:
    """The permissions that a plugin requests.

    Only the configuration of the operator grants them.
    """

    network: bool = False
    workspace: Literal["none", "read", "write"] = "none"
    """The access to the workspace that the plugin requests."""
    read: Sequence[str] = ()
    """Absolute paths of further files and folders that the plugin reads."""
    write: Sequence[str] = ()
    """Absolute paths of further files and folders that the plugin changes."""

    def __post_init__(self) -> None:
        """Raise ValueError or TypeError for an invalid request, at the place of the declaration."""
        if self.workspace not in ("none", "read", "write"):
            raise ValueError(f'the workspace may be asked for with "none", "read" or "write", not {self.workspace!r}')
        for paths in (self.read, self.write):
            if isinstance(paths, str):
                raise TypeError(f"paths must be a list, such as [{paths!r}]")


@dataclass(frozen=True)
class Retry:
    """How often, and with which pauses, a failed call is tried again.

    In a tool's declaration, toolhost retries only where that is safe: the call never started, or
    the tool is read-only or idempotent. `toolhost.client` says which failures a client retries.
    """

    max_attempts: int = 1
    """The number of attempts, including the first."""
    initial_backoff: float | None = None
    """The pause before the second attempt, in seconds. It doubles for each further attempt. None
    means 0.2 s."""
    max_backoff: float | None = None
    """The longest pause, in seconds. None means 5 s."""


@dataclass(frozen=True)
class Spec:
    """The declaration of a tool. proto/toolhost/tool/v1/spec.proto documents every field."""

    name: str
    description: str = ""
    version: str = ""
    display_name: str = ""
    category: str = ""
    tags: Sequence[str] = ()
    input_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    """The JSON Schema of the arguments. Its type must be object."""
    output_schema: Mapping[str, Any] | None = None
    """The JSON Schema of the structured result. None if the tool declares no output schema."""
    examples: Sequence[Example] = ()
    timeout: float | None = None
    """The longest duration of one call, in seconds. None means the default of toolhost."""
    progress_extends_timeout: bool = False
    retry: Retry = field(default_factory=Retry)
    rate_limit_per_minute: int | None = None
    """The most calls that may start in 60 seconds, per session. None means no limit."""
    memory_limit_bytes: int | None = None
    """The memory that the process of the tool needs, in bytes. None means the default of the
    operator."""
    cost_per_use: float = 0.0
    """The cost of one call, in the unit of the operator. 0 means free."""
    requires_auth: Sequence[str] = ()
    """The names of the secrets that the tool needs."""
    sandbox_exempt: bool = False
    """Whether the tool requests to run outside the sandbox. Only the operator can grant this, and
    only for the whole plugin, because the tools of a plugin share processes. Put such a tool into a
    separate plugin."""
    partial_arguments: bool = False
    """Whether the tool receives its arguments while the model still writes them."""
    dangerous: bool = False
    read_only: bool = False
    idempotent: bool = False
    serial: bool = False
    """Whether the tool must not run at the same time as another call of the same response."""
    return_direct: bool = False
    strict: bool = False
    dynamic: bool = False
    """Whether the declaration depends on the session."""
    settles: bool = False
    """Whether the tool can say later whether a call happened."""
    context_keys: Sequence[str] = ()
    """The keys of the run context that the tool reads."""
    effect_keys: Sequence[str] = ()
    """The keys of the run context that effects of the tool may change. toolhost rejects effects on
    other keys."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    parallel: bool = False
    """Whether the order of its effects with other calls of the same response does not matter. Without
    it, calls that are not read_only run one after the other."""
    seals: bool = False
    """Whether its check seals: what it says did not happen has no effect later either."""
