#!/bin/sh
# All checks and tests of the Python SDK. The script installs its dependencies from requirements.lock in .build/python of the
# checkout. Without Python or a package registry it prints a message and succeeds, unless CI is true.
#
#   check.sh setup      only set up, and print the Python interpreter of the virtual environment
#   check.sh generate   regenerate src/toolhost/_proto
#   check.sh api        update api.txt, the list of the public API, after an intended change
#   check.sh            all checks and tests; further arguments are passed to pytest
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
root=$(cd "$here/../.." && pwd)
home=$root/.build/python
python=$home/venv/bin/python
export PYTHONDONTWRITEBYTECODE=1

skip() {
	printf '    python: skipped: %s\n' "$1" >&2
	if [ "${CI:-}" = true ]; then
		exit 1
	fi
	exit 0
}

# setup creates the virtual environment, unless one with the same dependencies exists.
setup() {
	system=$(command -v python3) || skip "there is no python3"
	"$system" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
		skip "$system is older than 3.11, or has no venv"
	mkdir -p "$home"
	wanted=$({ "$system" -VV && cat "$here/requirements.lock"; } | cksum)
	if [ "$(cat "$home/stamp" 2>/dev/null)" = "$wanted $here" ]; then
		return
	fi
	rm -rf "$home/venv" "$home/stamp"
	{
		"$system" -m venv "$home/venv" &&
			"$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes \
				--requirement "$here/requirements.lock"
	} >"$home/log" 2>&1 || skip "the dependencies cannot be installed; see $home/log"
	# The package is imported from the checkout.
	printf '%s\n' "$here/src" >"$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/toolhost.pth"
	printf '%s' "$wanted $here" >"$home/stamp"
}

# compiled compiles the package once, because most of the processes that import it have no write permission.
compiled() {
	env -u PYTHONDONTWRITEBYTECODE "$python" -m compileall -q "$here/src"
}

# Only one process at a time sets up.
mkdir -p "$home"
if command -v flock >/dev/null; then
	exec 9>"$home/lock"
	flock 9
fi
setup
compiled
exec 9>&-

cd "$here"
case "${1:-}" in
setup)
	printf '%s\n' "$python"
	exit 0
	;;
generate)
	exec "$python" scripts/generate.py
	;;
api)
	exec "$python" scripts/api.py
	;;
esac
"$python" scripts/generate.py --check
"$python" -m ruff format --quiet --no-cache --check . || { echo 'not formatted; run ruff format' >&2; exit 1; }
"$python" -m ruff check --quiet --no-cache .
# mypy and ruff check for Python 3.11, the oldest version. The newest one may be missing on this machine.
"$python" -m mypy --cache-dir "$home/mypy" --no-error-summary
"$python" -m mypy --cache-dir "$home/mypy" --no-error-summary --python-version 3.14
# basedpyright is pyright with a bundled Node. pyproject.toml says which rules are off.
"$python" -m basedpyright --pythonpath "$python" >"$home/pyright.log" 2>&1 || { cat "$home/pyright.log" >&2; exit 1; }
scripts/package.sh "$python" "$home"
if [ $# -gt 0 ]; then
	exec "$python" -m pytest -q "$@"
fi
# A test that fails runs again, once. If it passes then, tests/conftest.py prints it as FLAKY.
# Most tests wait for processes, so the tests that share a toolhost run concurrently with the others.
shared='tests/test_accidents.py tests/test_agent.py tests/test_examples.py tests/test_toolhost.py'
# shellcheck disable=SC2086 # the names are separate words
"$python" -m pytest -q -o faulthandler_timeout=600 --reruns 1 $shared >"$home/tested" 2>&1 &
beside=$!
failed=
# shellcheck disable=SC2046
"$python" -m pytest -q -o faulthandler_timeout=600 --reruns 1 $(printf -- '--ignore=%s ' $shared) || failed=yes
wait "$beside" || failed=yes
cat "$home/tested"
[ -z "$failed" ]
scripts/bounds.sh "$home/bounds"
