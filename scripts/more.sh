#!/bin/sh
# Prints which programs `make more` needs beyond Go, and which of them are missing.
#
#   more.sh           print the list, and fail if a program is missing
#   more.sh install   install missing programs from Debian packages, as root
set -eu

missing=

# need NAME,PURPOSE,TEST,PACKAGES prints whether TEST succeeds, and records the packages if it fails.
need() {
	if (eval "$3") >/dev/null 2>&1; then
		printf '    %-22s there, for %s\n' "$1" "$2"
	else
		printf '    %-22s MISSING, for %s (Debian: %s)\n' "$1" "$2" "$4"
		missing="$missing $4"
	fi
}

look() {
	missing=
	need 'Python 3.11 or later' "the Python SDK's tests" \
		'python3 -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"' 'python3 python3-venv'
	need 'Node 20 or later, npm' "the TypeScript SDK's tests" \
		'command -v npm && node -e "process.exit(Number(parseInt(process.versions.node) < 20))"' 'nodejs npm'
	need 'PostgreSQL' 'the tests of query_db' \
		'command -v initdb || ls /usr/lib/postgresql/*/bin/initdb' 'postgresql'
}

echo 'make more needs, besides what make test needs:'
look
if [ "${1:-}" = install ] && [ -n "$missing" ]; then
	apt-get update -qq
	# shellcheck disable=SC2086 # a list of packages
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing
	echo 'after the installation:'
	look
fi
if [ -n "$missing" ]; then
	echo "missing:$missing; scripts/more.sh install, as root, installs Debian's packages" >&2
	exit 1
fi
