#!/bin/sh
# Runs Go tests five times, while two other processes keep two processors busy, and prints each test that failed,
# with its number of failures: flaky.sh MODULE PACKAGES. It fails if a test failed.
set -eu
cd "$(dirname "$0")/.."
go=${GO:-go}
results=$PWD/.build/flaky.jsonl
mkdir -p .build
rm -f "$results"
$go build -C tools -o "$PWD/.build/tools/" gotest.tools/gotestsum ./cmd/report
busy() { while :; do :; done; }
busy & first=$!
busy & second=$!
trap 'kill $first $second 2>/dev/null || true' EXIT INT TERM
(cd "$1" && "$OLDPWD/.build/tools/gotestsum" --format pkgname --format-icons text --format-hide-empty-pkg --hide-summary skipped \
	--jsonfile "$results" --packages "$2" -- -timeout 60m -shuffle=on -vet=off -count=5) || true
.build/tools/report rates "$results"
