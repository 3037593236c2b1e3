#!/bin/sh
# Checks the Python package as it is published: package.sh PYTHON SCRATCH. PYTHON is the interpreter of check.sh, which has
# all dependencies. The script builds the wheel, installs it in an empty virtual environment, and checks with pyright that
# the types of the public API are complete, and that the examples, which use all of it, pass the strict rules, with the
# oldest and with the newest supported Python. server/internal/toolhost/sdkarchive tests the source distribution.
set -eu
cd "$(dirname "$0")/.."
python=$1
out=$2/package
examples=$PWD/examples
rm -rf "$out"
mkdir -p "$out"
"$python" -m build --no-isolation --wheel --outdir "$out" . >"$out/log" 2>&1 || {
	cat "$out/log" >&2
	exit 1
}
"$python" -m venv --without-pip "$out/venv"
site=$("$out/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
# The dependencies come from the environment of the checks, and the package only from the wheel.
"$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/dependencies.pth"
"$python" -m zipfile -e "$out"/*.whl "$site"
(
	cd "$out"
	PYTHONSAFEPATH=1 "$out/venv/bin/python" -c '
import importlib, pathlib, sys
import toolhost
folder = pathlib.Path(toolhost.__file__).parent
assert folder.is_relative_to(sys.prefix), f"{folder} is not the package from the wheel"
assert (folder / "py.typed").exists(), "the wheel has no py.typed"
for name in "agent client errors plugin result spec status testing version".split():
    importlib.import_module(f"toolhost.{name}")
'
	# basedpyright is pyright with a bundled Node. It finds the interpreter of the empty environment in PATH.
	# --ignoreexternal leaves out the types of the dependencies.
	PATH=$out/venv/bin:$PATH "$python" -m basedpyright --ignoreexternal --verifytypes toolhost >"$out/types" 2>&1 || {
		cat "$out/types" >&2
		exit 1
	}
	printf '{"typeCheckingMode": "strict", "include": ["%s"]}\n' "$examples" >strict.json
	for version in 3.11 3.14; do
		PATH=$out/venv/bin:$PATH "$python" -m basedpyright --project strict.json --pythonversion "$version" >"$out/strict" 2>&1 || {
			cat "$out/strict" >&2
			exit 1
		}
	done
)
