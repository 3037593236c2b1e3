"""The public API: it changes only together with api.txt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_the_api_is_that_of_the_listing() -> None:
    script = HERE.parent / "scripts" / "api.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
