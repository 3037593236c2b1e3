"""Certificates for tests, made with the program openssl."""

from __future__ import annotations

import ipaddress
import subprocess
from pathlib import Path


class CA:
    """A CA in a folder. Its certificate is in the file `path`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self.path = folder / "ca.pem"
        self._key = folder / "ca.key"
        _openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", f"/CN={folder.name}", "-keyout", self._key, "-out", self.path,
        )  # fmt: skip

    def issue(self, name: str) -> tuple[Path, Path]:
        """Return the files of a certificate for an IP address, a URI or a DNS name, and of its key."""
        stem = self._folder / name.replace("/", "_").replace(":", "_")
        certificate, key, extensions = stem.with_suffix(".pem"), stem.with_suffix(".key"), stem.with_suffix(".ext")
        request = stem.with_suffix(".csr")
        extensions.write_text(f"subjectAltName={_kind(name)}:{name}\n")
        _openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=leaf",
            "-keyout", key, "-out", request,
        )  # fmt: skip
        _openssl(
            "x509", "-req", "-in", request, "-CA", self.path, "-CAkey", self._key, "-CAcreateserial", "-days", "2",
            "-extfile", extensions, "-out", certificate,
        )  # fmt: skip
        return certificate, key


def _kind(name: str) -> str:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "URI" if "://" in name else "DNS"
    return "IP"


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def replace(path: Path, content: bytes) -> None:
    """Replace a file in one step."""
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.rename(path)
