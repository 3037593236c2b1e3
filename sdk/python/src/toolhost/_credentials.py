"""Reading and renewing the credentials of a client."""

from __future__ import annotations

import asyncio
import base64
import binascii
import inspect
import json
import os
import signal
import ssl
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import grpc

from toolhost.credentials import TLS, CredentialOptions, Token
from toolhost.errors import InvalidArgument

_MAX_TOKEN = 16 << 10  # bytes; servers bound the headers of an RPC
_MAX_FILE = 4 << 20  # bytes of a file or of the output of a command
_COMMAND_LIMIT = 60.0  # seconds
_EARLIEST = 1.0  # seconds between two looks at the source of tokens
_MAX_MARGIN = 60.0  # seconds before its expiry at which a token is renewed at the latest
_MARGIN_SHARE = 5  # a token is renewed in the last fifth of its life
_JWT_PARTS = 3
# Where Debian, Fedora and macOS keep the CAs of the system. Python names only the file that its
# OpenSSL was built for.
_SYSTEM_CAS = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")


_TYPES: dict[str, tuple[type, ...]] = {
    "tls": (TLS,),
    "token_file": (str, os.PathLike),
    "token_command": (str,),
    "allow_plain_token": (bool,),
    "ignore_environment": (bool,),
}


class Credentials:
    """The credentials of a client at an address, completed from the environment."""

    def __init__(self, program: str, address: str, options: Mapping[str, Any]) -> None:
        given = _checked(options)
        prefix = program.upper() + "_"
        environment: Mapping[str, str] = {} if given.get("ignore_environment") else os.environ
        unix = address.startswith("unix:")
        tls: TLS | None = given.get("tls")
        if tls is not None and unix:
            raise InvalidArgument(f"TLS is configured, but {address} is a unix socket; use HOST:PORT")
        if tls is None and not unix:
            tls = _environment_tls(environment, prefix)
        if tls is None and not unix and not is_loopback(address):
            tls = TLS()
        self.tls = None if tls is None else TLSFiles(tls)
        source, origin = _source(given, "", "a token")
        if source is None:
            lower = {key: environment.get(prefix + key.upper()) for key in ("token", "token_file", "token_command")}
            source, origin = _source({k: v for k, v in lower.items() if v}, prefix, "a token in ")
        allow = given.get("allow_plain_token") or _flag(environment, prefix + "ALLOW_PLAIN_TOKEN")
        if source is not None and self.tls is None and not allow:
            raise InvalidArgument(
                f"there is {origin}, but the connection to {address} has no TLS, and a token is not sent without TLS "
                f"unless you allow it: use TLS, no token, or {prefix}ALLOW_PLAIN_TOKEN=1"
            )
        self.tokens = None if source is None else Tokens(source)


def is_loopback(address: str) -> bool:
    """Report whether an address is an IP address of loopback."""
    return address.startswith("127.") or address.startswith("[::1]")


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Check the types of options. The errors do not show values, which may be tokens."""
    for name, value in options.items():
        if name not in CredentialOptions.__annotations__:
            raise TypeError(
                f"a client has no option {name!r}; for credentials there are: "
                f"{', '.join(CredentialOptions.__annotations__)}"
            )
        if value is None:
            continue
        if name == "token":
            if not isinstance(value, str) and not callable(value):
                raise TypeError(f"the option 'token' must be a str or a function, but is a {type(value).__name__}")
        elif not isinstance(value, _TYPES[name]):
            raise TypeError(
                f"the option {name!r} must be a {_TYPES[name][0].__name__}, but is a {type(value).__name__}"
            )
    return {name: value for name, value in options.items() if value is not None}


def _environment_tls(environment: Mapping[str, str], prefix: str) -> TLS | None:
    tls = TLS(
        *(environment.get(prefix + name) or None for name in ("TLS_CA", "TLS_CERT", "TLS_KEY", "TLS_SERVER_NAME"))
    )
    return None if tls == TLS() else tls


def _flag(environment: Mapping[str, str], name: str) -> bool:
    text = environment.get(name, "")
    if text.lower() in ("1", "t", "true"):
        return True
    if text.lower() in ("", "0", "f", "false"):
        return False
    raise InvalidArgument(f'the environment\'s {name} is "{text}"; use 1 or 0')


def _source(given: Mapping[str, Any], prefix: str, origin: str) -> tuple[_Source | None, str]:
    """Return the only source of tokens among options, or None."""
    sources: dict[str, Callable[[Any], _Source]] = {
        "token": lambda token: _Function(token if callable(token) else lambda: token),
        "token_file": _File,
        "token_command": lambda line: _Function(lambda: _run(line)),
    }
    names = sorted(sources.keys() & given.keys())
    if not names:
        return None, ""
    if len(names) > 1:
        where = "the environment has" if prefix else "there is"
        shown = ", ".join(prefix + name.upper() if prefix else name for name in names)
        raise InvalidArgument(f"{where} more than one source of tokens; use one of {shown}")
    name = names[0]
    return sources[name](given[name]), origin + (prefix + name.upper() if prefix else "")


# Files of TLS.


class TLSFiles:
    """The files of TLS settings, and the gRPC credentials from them."""

    def __init__(self, tls: TLS) -> None:
        if (tls.certificate is None) != (tls.key is None):
            raise InvalidArgument("a client certificate needs its key, and a key needs the certificate")
        self.server_name = tls.server_name
        self._tls = tls
        self._versions = self._look()
        try:
            self.credentials: grpc.ChannelCredentials = self._read()
        except (OSError, ValueError) as problem:  # ssl.SSLError is an OSError
            raise InvalidArgument(f"the files of TLS cannot be used: {problem}") from None

    def renewed(self) -> bool:
        """Read the files again if they have changed, and report whether there are new credentials."""
        versions = self._look()
        if versions == self._versions:
            return False
        try:
            self.credentials = self._read()
        except (OSError, ValueError):
            return False  # a file is being replaced; the next connection looks again
        self._versions = versions
        return True

    def _look(self) -> tuple[Any, ...]:
        return tuple(
            _version(path) for path in (self._tls.ca, self._tls.certificate, self._tls.key) if path is not None
        )

    def _read(self) -> grpc.ChannelCredentials:
        ca, certificate, key = (
            None if path is None else _content(path) for path in (self._tls.ca, self._tls.certificate, self._tls.key)
        )
        check = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if ca is not None:
            check.load_verify_locations(cadata=ca.decode("ascii", "replace"))
        else:
            ca = _system_cas()
        if self._tls.certificate is not None:
            check.load_cert_chain(self._tls.certificate, self._tls.key, password="")
        return grpc.ssl_channel_credentials(ca, key, certificate)


def _system_cas() -> bytes | None:
    """Return the CAs of the system.

    None makes gRPC use those that it ships, or those that its environment variable names.
    """
    if os.environ.get("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"):
        return None
    for path in (ssl.get_default_verify_paths().cafile, *_SYSTEM_CAS):
        if path and os.path.isfile(path):
            return _content(path)
    return None


def _content(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        content = file.read(_MAX_FILE + 1)
    if len(content) > _MAX_FILE:
        raise ValueError(f"{os.fspath(path)} has more than {_MAX_FILE} bytes")
    return content


def _version(path: str | os.PathLike[str]) -> tuple[int, ...] | None:
    """Return what tells two contents of a file apart without reading them."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


# Tokens.


class _Function:
    """A function that returns a token."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function

    async def fetch(self) -> Token:
        if inspect.iscoroutinefunction(self._function):
            token = await self._function()
        else:
            token = await asyncio.to_thread(self._function)
            if inspect.isawaitable(token):
                token = await token
        return _usable(token if isinstance(token, Token) else Token(token))

    def changed(self) -> bool:
        return False


class _File:
    """A file with a token."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._read: tuple[int, ...] | None = None

    async def fetch(self) -> Token:
        version = _version(self._path)
        token = _parse(_content(self._path))
        self._read = version
        return token

    def changed(self) -> bool:
        version = _version(self._path)
        return version is not None and version != self._read


_Source = _Function | _File


class Tokens:
    """The current token of a source.

    One fetch serves all RPCs that need a token. It is a task of its own, so the cancellation of one
    RPC does not fail the others. It must be used on one event loop.
    """

    def __init__(self, source: _Source) -> None:
        self._source = source
        self._token: Token | None = None
        self._fetched = 0.0  # the time of the last fetch
        self._looked = 0.0  # when `changed` was called, or a fetch ended
        self._fetching: asyncio.Task[Token] | None = None

    async def get(self) -> Token:
        """Return the current token.

        It fetches one if there is none, if it expires soon, or if the source has changed. If that
        fails, the old token is returned until it expires.
        """
        old = self._token
        if old is not None and not self._due(old):
            return old
        try:
            return await self._fetch()
        except Exception:
            if old is not None and (old.expires is None or time.time() < old.expires.timestamp()):
                return old
            raise

    async def renew(self, refused: Token) -> bool:
        """Report whether there is another token than the refused one, after fetching one."""
        if self._token != refused and self._token is not None:
            return True  # another RPC has renewed it
        try:
            return (await self._fetch()).value != refused.value
        except Exception:  # noqa: BLE001 - the refusal is the error that the caller gets
            return False

    def _due(self, token: Token) -> bool:
        now = time.time()
        if 0 <= now - self._looked < _EARLIEST:
            return False
        if token.expires is not None:
            expires = token.expires.timestamp()
            margin = min(_MAX_MARGIN, max(0.0, (expires - self._fetched) / _MARGIN_SHARE))
            if now >= expires - margin:
                return True
        self._looked = now
        return self._source.changed()

    async def _fetch(self) -> Token:
        if self._fetching is None:
            self._fetching = asyncio.ensure_future(self._fetched_token())
            # A failure that no RPC waits for any more needs no report.
            self._fetching.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(self._fetching)

    async def _fetched_token(self) -> Token:
        try:
            self._token = await self._source.fetch()
            return self._token
        finally:
            self._fetching = None
            self._looked = self._fetched = time.time()


def _run(line: str) -> Token:
    """Run a token command. The error does not contain its output."""
    with subprocess.Popen(  # noqa: S603 - the user configured the command
        ["/bin/sh", "-c", line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=_COMMAND_LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise ValueError(f"the token command took more than {_COMMAND_LIMIT:.0f} s") from None
    if process.returncode != 0:
        raise ValueError(f"the token command failed with exit status {process.returncode}")
    return _parse(output)


def _parse(content: bytes) -> Token:
    """Return the token in a file or in the output of a command."""
    text = content.decode("utf-8", "replace").strip()
    if not text.startswith("{"):
        return _usable(Token(text))
    try:
        found = json.loads(text)
        expires = found.get("expires")
        return _usable(Token(found["token"], None if expires is None else datetime.fromisoformat(expires)))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(
            'the text is neither a token nor a JSON object such as {"token": "…", "expires": "2027-01-31T12:00:00Z"}'
        ) from None


def _usable(token: Token) -> Token:
    """Return a token without white space around its value. The errors do not contain the token."""
    if not isinstance(token.value, str):
        raise ValueError(f"the token must be a str, but is a {type(token.value).__name__}")
    value = token.value.strip()
    if not value:
        raise ValueError("the token is empty")
    if len(value) > _MAX_TOKEN:
        raise ValueError(f"the token has {len(value)} bytes, and the limit is {_MAX_TOKEN}")
    if any(not "!" <= character <= "~" for character in value):
        raise ValueError(
            "the token has a character that a header cannot carry: a space, a line break, or one outside ASCII"
        )
    return Token(value, token.expires or _expiry(value))


def _expiry(token: str) -> datetime | None:
    """Return the expiry of a JWT, which the server verifies, or None for another token."""
    parts = token.split(".")
    if len(parts) != _JWT_PARTS:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return datetime.fromtimestamp(claims["exp"], UTC)
    except (ValueError, TypeError, KeyError, OverflowError, OSError, binascii.Error):
        return None
