"""How a running toolhost or agentd identified its client, as the program reports it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

__all__ = ["CallerInfo", "GrantedRight", "GrantedRole"]


@dataclass(frozen=True)
class GrantedRole:
    """A role that one binding of the server gives to a principal."""

    role: str
    """The name of the role, such as `caller`."""
    tenants: tuple[str, ...]
    """The tenants in which the principal has the role. Empty if `all_tenants` is true."""
    all_tenants: bool
    """Whether the principal has the role in every tenant."""
    tools: tuple[str, ...]
    """The patterns of names of tools to which the binding is limited. Empty: all tools."""


@dataclass(frozen=True)
class GrantedRight:
    """A right of a caller."""

    right: str
    """The name of the right, such as `tools.call`."""
    tenants: tuple[str, ...]
    """The tenants in which the caller has the right. Empty if `all_tenants` is true."""
    all_tenants: bool
    """Whether the caller has the right in every tenant."""


@dataclass(frozen=True)
class CallerInfo:
    """How a server identified a client, and what the client may do there."""

    principal: str
    """The key of the principal: its name in the tenant default, and TENANT/NAME in another tenant or
    if the name contains a slash."""
    tenant: str
    """The tenant of the principal."""
    groups: tuple[str, ...]
    """The groups of the principal, in no order."""
    credential: str
    """`peer` (the user of a unix socket), `certificate`, `token`, `jwt`, or `none` (an anonymous
    caller)."""
    credential_id: str
    """The name of the credential, such as the id of a token. Empty: it has no name."""
    expires: datetime | None
    """When the credential expires, in UTC. None: it does not expire."""
    address: str
    """From where the client reached the server: an IP address, or `unix`."""
    scope_roles: tuple[str, ...]
    """The roles to which the token is limited. Empty: the token has no such limit."""
    scope_tools: tuple[str, ...]
    """The patterns of names of tools to which the token is limited. Empty: the token has no such
    limit."""
    roles: tuple[GrantedRole, ...]
    """The roles that bindings give to the principal. `rights` takes the limits of the token into
    account, and this tuple does not."""
    rights: tuple[GrantedRight, ...]
    """The rights that the client has, limited to those that the server knows a use for."""
