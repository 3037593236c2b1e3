"""Addresses of servers: their syntax, the default sockets, and the check of socket owners."""

from __future__ import annotations

import ipaddress
import os
import re
import stat
from pathlib import Path

from toolhost.errors import InvalidArgument

_MAX_PATH = 103  # bytes of a socket path: the limit of macOS, the smallest of all supported systems
_PORT = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<four>[0-9.]+)):(?P<port>[0-9]{1,5})\Z")
_FORMS = "use unix:///PATH, 127.0.0.1:PORT or [::1]:PORT"


def find(given: str | None, program: str) -> str:
    """Return the address at which a client finds a program.

    This is the given address, else the environment variable PROGRAM_ADDR, else the default socket
    of this user. Raises InvalidArgument if the address is malformed.
    """
    variable = _variable(program)
    if given is not None and not isinstance(given, str):
        raise TypeError(f"the address must be a str, but is {given!r}; {_FORMS}")
    if given:
        return _checked(given)
    if os.environ.get(variable):
        try:
            return _checked(os.environ[variable])
        except InvalidArgument as problem:
            raise InvalidArgument(f"the environment's {variable}: {problem}") from None
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    path = os.path.join(runtime, program, f"{program}.sock")
    if not os.path.isabs(path) or len(path.encode()) > _MAX_PATH:
        path = f"/tmp/{program}-{os.getuid()}/{program}.sock"  # noqa: S108 - the server checks the owner of this folder
    return "unix://" + path


def is_default(given: str | None, program: str) -> bool:
    """Report whether `find` returns the default socket because no address is configured."""
    return not given and not os.environ.get(_variable(program))


def _variable(program: str) -> str:
    return f"{program.upper()}_ADDR"


def _checked(address: str) -> str:
    if address.startswith("unix://"):
        path = address.removeprefix("unix://")
        if not path.startswith("/"):
            raise InvalidArgument(f'the socket path "{path}" is not absolute; use unix:///PATH with three slashes')
        if len(path.encode()) > _MAX_PATH:
            raise InvalidArgument(
                f'the socket path "{path}" has {len(path.encode())} bytes and the kernel takes {_MAX_PATH}; '
                "use a shorter one"
            )
        return address
    port = _PORT.match(address)
    try:
        loopback = port is not None and ipaddress.ip_address(port["six"] or port["four"]).is_loopback
    except ValueError:
        port = None
    if port is None:
        raise InvalidArgument(f'the address "{address}" is malformed; {_FORMS}')
    if not loopback:
        raise InvalidArgument(
            f'the address "{address}" is not on loopback, and other machines must not reach this API; {_FORMS}'
        )
    return address


def stranger(address: str, default: bool) -> str | None:
    """Return the reason against connecting to a socket that another user may have created, or None.

    A socket of this user or of root is trusted. Root may connect to any socket that is configured
    explicitly. For a default socket the check is stricter: it applies to root as well, and no other
    user may have write permission on the folder of the socket. Otherwise another user could create
    a socket at the predictable path and receive the calls.
    """
    me = os.getuid()
    if not address.startswith("unix://") or (me == 0 and not default):
        return None
    path = Path(address.removeprefix("unix://"))
    advice = "; if you trust that user, name the address" if default else ""
    try:
        for look in (path.parent.lstat, path.parent.stat) if default else ():
            folder = look()
            if folder.st_uid not in (0, me):
                return f"the socket's folder {path.parent} belongs to another user (uid {folder.st_uid}){advice}"
            if stat.S_ISDIR(folder.st_mode) and folder.st_mode & 0o022 and not folder.st_mode & stat.S_ISVTX:
                return f"the socket's folder {path.parent} can be written by others; run: chmod go-w {path.parent}"
        owner = path.stat().st_uid
    except OSError:
        return None
    return f"the server at {address} belongs to another user (uid {owner}){advice}" if owner not in (0, me) else None
