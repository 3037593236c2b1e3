"""The version of a running toolhost or agentd, as the program reports it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Contracts", "VersionInfo"]


@dataclass(frozen=True)
class Contracts:
    """The contracts of a version, by the names of their protobuf packages.

    Each name ends with the major version of the contract. toolhost and agentd both report all
    three. An empty name means that the program does not report it.
    """

    plugin: str = ""
    """Between toolhost and plugins, such as `toolhost.plugin.v1`."""
    host: str = ""
    """Between toolhost and its callers, such as `toolhost.v1`."""
    agent: str = ""
    """Between agentd and its callers, such as `agentd.v1`."""


@dataclass(frozen=True)
class VersionInfo:
    """Identifies the build of a running toolhost or agentd.

    The version of this SDK is `toolhost.__version__`. It may differ from the version of the
    program.
    """

    version: str
    """A semantic version, such as 1.2.3."""
    commit: str
    """The commit that the program was built from, with "-dirty" if files were changed. "unknown" if
    the program does not contain it."""
    contracts: Contracts
