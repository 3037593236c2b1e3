#!/bin/sh
# Fails if a version is released: unreleased.sh VERSION. The promises that were recorded for a released version must stay as they
# are, because tests compare later versions with them.
#
# A version is released if its tag exists, or if the heading of its section in CHANGELOG.md does not say "not published yet". A
# clone without tags still has the heading.
set -eu
cd "$(dirname "$0")/.."
heading=$(awk -v version="$1" '$1 == "##" && $2 == version { print; exit }' CHANGELOG.md)
case $heading in
'' | *'not published yet'*) ;;
*) reason="its heading in CHANGELOG.md is \"$heading\"" ;;
esac
if git rev-parse --quiet --verify "refs/tags/v$1" >/dev/null 2>&1; then
	reason="the tag v$1 exists"
fi
[ -z "${reason:-}" ] || {
	echo "$1 is released: $reason. Its baseline and fixtures stay as they are. Set the next version first: see docs/release.md" >&2
	exit 1
}
