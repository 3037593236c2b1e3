#!/bin/sh
# Runs Go tests in the current folder: gotest.sh NAME PACKAGES FLAG.... NAME is the name of the run in the
# report, and FLAGs are those of go test.
#
# A failed test runs again alone, once. If it passes then, the script prints it as FLAKY and succeeds, except in
# packages whose tests must pass the first time (tools/cmd/report).
# If more than ten tests fail, none runs again, because they have a common cause. None runs again after a data
# race. With CI=true a skipped
# test fails the run.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
name=$1 packages=$2
shift 2
go=${GO:-go}
case ${REPORT:-.build/report} in
/*) folder=$REPORT ;;
*) folder=$root/${REPORT:-.build/report} ;;
esac
results=$folder/$name.jsonl
mkdir -p "$folder"
CGO_ENABLED=0 $go build -C "$root/tools" -o "$root/.build/tools/" gotest.tools/gotestsum ./cmd/report
status=0
"$root/.build/tools/gotestsum" --format pkgname --format-icons text --format-hide-empty-pkg --hide-summary skipped \
	--rerun-fails=1 --rerun-fails-max-failures=10 --rerun-fails-run-root-test --rerun-fails-abort-on-data-race \
	--jsonfile "$results" --packages "$packages" -- -timeout 20m -shuffle=on -vet=off "$@" || status=$?
"$root/.build/tools/report" tests "$results" || status=1
exit "$status"
