#!/bin/sh
# Installs the packages of the lock file in the folder of the first argument, else in this one, and again only after it has
# changed. No package runs a script. The tests of the folder need no network afterwards.
set -eu
cd "${1:-$(dirname "$0")}"
if grep -n '"resolved": "http' package-lock.json >&2; then
	echo 'package-lock.json contains registry addresses; npm omits them with the .npmrc in this folder' >&2
	exit 1
fi
wanted=$(node --version && cat package.json package-lock.json)
if [ "$(cat node_modules/.installed 2>/dev/null || true)" != "$wanted" ]; then
	rm -f node_modules/.installed
	npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	printf '%s\n' "$wanted" >node_modules/.installed
fi
