#!/bin/sh
# Runs the tests with the lowest and the highest versions of the dependencies that pyproject.toml accepts: bounds.sh SCRATCH.
# The lowest run with the oldest Python on this machine that the package supports, and the highest with the newest, each in
# its own virtual environment in SCRATCH. BIN is the folder with toolhost and agentd.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
scratch=$1
export PYTHONDONTWRITEBYTECODE=1

# pythons prints the path and version of each supported interpreter, the oldest first.
pythons() {
	for candidate in python3 python3.11 python3.12 python3.13 python3.14 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
		"$candidate" -c 'import sys, venv, ensurepip
if sys.version_info >= (3, 11): print("%d %d %s" % (*sys.version_info[:2], sys.executable))' 2>/dev/null || true
	done | sort -n -k 1,1 -k 2,2
}

# check NAME,PYTHON runs the tests with the versions in requirements-NAME.lock.
check() {
	lock=$here/requirements-$1.lock
	venv=$scratch/$1
	wanted=$({ "$2" -VV && cat "$lock"; } | cksum)
	if [ "$(cat "$venv.stamp" 2>/dev/null)" != "$wanted $here" ]; then
		rm -rf "$venv" "$venv.stamp"
		"$2" -m venv "$venv"
		"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes --requirement "$lock" || {
			printf '    the %s versions of the dependencies are not tested: they cannot be installed\n' "$1" >&2
			[ "${CI:-}" != true ] # without a package registry, the tests of a developer pass
			return
		}
		# The package is imported from the checkout.
		printf '%s\n' "$here/src" >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/toolhost.pth"
		printf '%s' "$wanted $here" >"$venv.stamp"
	fi
	printf '    the %s versions with %s: ' "$1" "$("$2" -V)"
	(cd "$here" && "$venv/bin/python" -m pytest -q -o faulthandler_timeout=600 --reruns 2 >"$scratch/$1.tested" 2>&1) || {
		printf 'FAILED\n'
		cat "$scratch/$1.tested" >&2
		return 1
	}
	tail -n 1 "$scratch/$1.tested"
	! grep -q '^FLAKY ' "$scratch/$1.tested" || cat "$scratch/$1.tested"
}

mkdir -p "$scratch"
check lowest "$(pythons | head -n 1 | cut -d ' ' -f 3-)"
check highest "$(pythons | tail -n 1 | cut -d ' ' -f 3-)"
