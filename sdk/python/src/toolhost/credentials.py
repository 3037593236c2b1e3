"""What a client presents to a server, and how it verifies the server: TLS and bearer tokens."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Awaitable, Callable
from datetime import datetime

from typing_extensions import TypedDict

__all__ = ["TLS", "CredentialOptions", "Token"]


@dataclasses.dataclass(frozen=True)
class TLS:
    """How a client verifies a server, and the certificate that it presents.

    The client reads the files when it is created, and again for a new connection after they have
    changed. While a file is incomplete because it is being replaced, the client uses the previous
    content.
    """

    ca: str | os.PathLike[str] | None = None
    """The file with the CAs of the server, in PEM. None means those of the system."""
    certificate: str | os.PathLike[str] | None = None
    """The file with the certificate of the client and its intermediates, in PEM. None means no
    certificate."""
    key: str | os.PathLike[str] | None = None
    """The file with the private key of the certificate, in PEM."""
    server_name: str | None = None
    """The name that the certificate of the server must have. None means the host of the address."""


@dataclasses.dataclass(frozen=True)
class Token:
    """A bearer token. Its repr hides the value."""

    value: str = dataclasses.field(repr=False)
    expires: datetime | None = None
    """The client renews the token before. None means that it is unknown, or the `exp` of a JWT."""


class CredentialOptions(TypedDict, total=False):
    """The credentials of a client.

    Options of one sort, TLS or tokens, replace the environment variables of that sort: TOOLHOST_TLS_CA,
    TOOLHOST_TLS_CERT, TOOLHOST_TLS_KEY and TOOLHOST_TLS_SERVER_NAME, and TOOLHOST_TOKEN,
    TOOLHOST_TOKEN_FILE and TOOLHOST_TOKEN_COMMAND. Those of a client of agentd begin with AGENTD_.

    A client uses TLS for every address except unix sockets and IP addresses of loopback, and for
    the latter as well if there are settings for TLS. It does not send a token without TLS, unless
    that is allowed.
    """

    tls: TLS
    """How to verify the server. Raises InvalidArgument for a unix socket or an unusable file."""
    token: str | Callable[[], str | Token | Awaitable[str | Token]]
    """A bearer token, or a function that returns one. The client calls the function when it needs a
    token, again before the token expires, and once after the server has refused it. A function that
    is not async runs in another thread. Its exceptions must not contain a token."""
    token_file: str | os.PathLike[str]
    """A file with a bearer token, which the client reads again when it has changed. It contains the
    token alone, or a JSON object with `token` and `expires`, an RFC 3339 time."""
    token_command: str
    """A line of shell that prints a token, in the form of a token file. The client runs it when it
    needs a token, like a function. A command that takes more than a minute fails."""
    allow_plain_token: bool
    """Permits sending the token over a unix socket, and over loopback without TLS. The environment
    variable TOOLHOST_ALLOW_PLAIN_TOKEN=1 does the same."""
    ignore_environment: bool
    """Take no credentials from the environment: the variables are meant for another server."""
