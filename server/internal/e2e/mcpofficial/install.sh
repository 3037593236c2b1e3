#!/bin/sh
# Installs the packages of the lock files in this folder, and again only after they have changed. The tests of this folder
# need no network afterwards.
set -eu
cd "$(dirname "$0")"
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
wanted=$(python3 -VV && cat requirements.lock)
if [ "$(cat .venv/.installed 2>/dev/null || true)" != "$wanted" ]; then
	rm -rf .venv
	python3 -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes \
		--requirement requirements.lock
	printf '%s\n' "$wanted" >.venv/.installed
fi
