"""Addresses of servers: their syntax, the default sockets, and the check of socket owners."""

from __future__ import annotations

import ipaddress
import os
import re
import stat
from pathlib import Path

from toolhost.errors import InvalidArgument

_MAX_PATH = 103  # bytes of a socket path: the limit of macOS, the smallest of all supported systems
_PORT = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<name>[^\[\]:/@]+)):(?P<port>[0-9]{1,5})\Z")
_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)\Z")
_MAX_NAME = 253  # bytes of a DNS name
_MAX_PORT = 65535
_RUNTIMES = "/run/user"  # the folder of the runtime folders of users, which systemd makes for them alone
_FORMS = "use unix:///PATH or HOST:PORT"


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
        # A program that was started with the variable listens in the folder that systemd makes.
        there = f"{_RUNTIMES}/{os.getuid()}/{program}/{program}.sock"
        if not runtime and not _is_socket(path) and _is_socket(there):
            path = there
    return "unix://" + path


def find_all(given: str | None, program: str) -> list[str]:
    """Return the addresses of servers of which any will do, which are separated by commas.

    One address is that of `find`. Raises InvalidArgument if an address is malformed or given twice.
    """
    text = given or os.environ.get(_variable(program), "")
    if program != "toolhost" or not isinstance(text, str) or "," not in text:
        return [find(given, program)]
    addresses = [_checked(part) for part in text.split(",")]
    twice = next((a for i, a in enumerate(addresses) if a in addresses[:i]), None)
    if twice is not None:
        raise InvalidArgument(f"the list of addresses has {twice} twice")
    return addresses


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


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
    found = _PORT.match(address)
    if found is None or not 0 < int(found["port"]) <= _MAX_PORT or not _is_host(found["six"], found["name"]):
        raise InvalidArgument(f'the address "{address}" is malformed; {_FORMS}')
    return address


def _is_host(six: str | None, name: str | None) -> bool:
    """Report whether a text is an IP address or has the form of a DNS name."""
    try:
        version = 4 if six is None else 6
        ip = ipaddress.ip_address(six or name or "")
    except ValueError:
        pass
    else:
        return ip.version == version and not ip.is_unspecified
    labels = (name or "").removesuffix(".").split(".")
    # A name whose last label has only digits is a malformed IPv4 address.
    return len(name or "") <= _MAX_NAME and all(map(_LABEL.match, labels)) and not labels[-1].isdigit()


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
