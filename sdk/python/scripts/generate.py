"""Generate toolhost._proto from the .proto files, or with --check report whether it is up to date.

The imports of the generated modules are rewritten to `toolhost._proto`, so that they need no top-level
package `agentd` and do not conflict with another `toolhost.v1`.
"""

from __future__ import annotations

import argparse
import filecmp
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
# A source distribution has its own copy of the contracts.
PROTOS = HERE / "proto" if (HERE / "proto").is_dir() else HERE.parent.parent / "proto"
TARGET = HERE / "src" / "toolhost" / "_proto"

# protoc writes `from toolhost.tool.v1 import x` and `from agentd.v1 import x`.
IMPORT = re.compile(r"^from (toolhost|agentd)\.", re.MULTILINE)

# protoc leaves out the type arguments of mappings, and type checkers report them as unknown.
MAPPING = re.compile(r"(?<!as )\b_Mapping\b(?!\[)")


def generate(into: Path) -> None:
    """Generate the modules of every .proto file into a folder."""
    files = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    out = [f"--{kind}_out={into}" for kind in ("python", "pyi", "grpc_python")]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTOS}", *out, *files], check=True)
    for path in [*into.rglob("*.py"), *into.rglob("*.pyi")]:
        path.write_text(MAPPING.sub(r"\g<0>[str, object]", IMPORT.sub(r"from toolhost._proto.\1.", path.read_text())))
    for path in into.rglob("*_grpc.py"):
        if "unary" not in path.read_text():
            path.unlink()  # the file has no service
    for folder in [path for path in into.rglob("*") if path.is_dir()]:
        (folder / "__init__.py").touch()


def differences(left: Path, right: Path) -> list[str]:
    """Return the files that differ between two folders."""
    names = {
        str(path.relative_to(root))
        for root in (left, right)
        for path in root.rglob("*.py*")
        if path.suffix in (".py", ".pyi") and path != root / "__init__.py"
    }
    _, mismatch, errors = filecmp.cmpfiles(left, right, sorted(names), shallow=False)
    return sorted([*mismatch, *errors])


def main() -> int:
    """Generate, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the code is not up to date")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch)
        generate(fresh)
        if arguments.check:
            stale = differences(TARGET, fresh)
            if stale:
                print(
                    "src/toolhost/_proto differs from what proto/ generates; run scripts/generate.py:",
                    *stale,
                    sep="\n  ",
                )
            return 1 if stale else 0
        for child in [path for path in TARGET.iterdir() if path.is_dir()]:
            shutil.rmtree(child)
        for child in fresh.iterdir():
            shutil.copytree(child, TARGET / child.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
