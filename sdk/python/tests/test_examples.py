"""The examples print what their last lines show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Server

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(example: Path, **environment: str) -> None:
    expected = example.read_text().split("# Output:\n")[1].replace("# ", "", 1).replace("\n# ", "\n")
    environment = {**os.environ, **environment}
    ran = subprocess.run([sys.executable, example], capture_output=True, text=True, check=False, env=environment)
    assert (ran.stdout, ran.returncode) == (expected, 0), ran.stderr


@pytest.mark.parametrize("example", sorted((EXAMPLES / "author").glob("*.py")), ids=lambda path: path.stem)
def test_author(example: Path) -> None:
    run(example)


@pytest.mark.parametrize("example", sorted((EXAMPLES / "caller").glob("*.py")), ids=lambda path: path.stem)
def test_caller(example: Path, toolhost: Server) -> None:
    run(example, TOOLHOST_ADDR=toolhost.address)
