#!/bin/sh
# temporal.sh PROGRAM COMMAND… starts Temporal's server, runs the command with its address as the last argument, and
# stops the server.
set -eu
program=$1
shift
address=127.0.0.1:7299
log=$(mktemp)
"$program" --address "$address" >"$log" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -f "$log"' EXIT
until grep -q ready "$log"; do
	kill -0 "$server" || exit 1
	sleep 0.1
done
"$@" "$address"
