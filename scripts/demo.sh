#!/bin/sh
# Runs toolhost with the shipped plugins, and agentd with a scripted model. The answer must contain a random
# number that only a tool can have read. BIN is the folder with the programs of `make build`; the default
# is bin.
set -eu
cd "$(dirname "$0")/.."
bin=${BIN:-bin}

work=$(mktemp -d)
# A socket's path has at most 103 bytes.
sockets=$work
[ "$(printf %s "$work/socket" | wc -c)" -le 103 ] || sockets=$(TMPDIR=/tmp mktemp -d)
toolhost_pid=
stop() {
	status=$?
	trap - EXIT
	if [ -n "$toolhost_pid" ]; then
		kill "$toolhost_pid" 2>/dev/null || true
		wait "$toolhost_pid" 2>/dev/null || true
	fi
	rm -rf "$work" "$sockets"
	exit "$status"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
	printf 'demo: %s\n' "$1" >&2
	sed 's/^/    toolhost: /' "$work/toolhost.log" >&2
	exit 1
}

say() { printf '\n--> %s\n' "$1"; }

number=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
mkdir "$work/workspace"
printf '%s' "$number" >"$work/workspace/note.txt"
say "a random number is in note.txt: $number"

say "toolhost starts, with the plugins in $bin/plugins"
"$bin/toolhost" serve --plugins "$bin/plugins" --listen "unix://$sockets/socket" --state "$work/state" \
	--workspace "$work/workspace" >"$work/toolhost.log" 2>&1 </dev/null &
toolhost_pid=$!
export TOOLHOST_ADDR="unix://$sockets/socket"
tries=0
until "$bin/toolhost" tools >"$work/tools" 2>/dev/null; do
	kill -0 "$toolhost_pid" 2>/dev/null || fail "toolhost ended before it was ready"
	tries=$((tries + 1))
	[ "$tries" -lt 150 ] || fail "toolhost does not answer"
	sleep 0.2
done
cat "$work/tools"

say "agentd runs a scripted model, which calls tools and answers with what they say"
"$bin/agentd" run --model scripted:scripts/demo.yaml --toolhost "$TOOLHOST_ADDR" --journal "$work/journal.db" \
	"What does the note say?" >"$work/answer" 2>&1 </dev/null || { cat "$work/answer"; fail "agentd failed"; }
cat "$work/answer"

say "the plugins ran in processes of their own, started when they were first needed"
"$bin/toolhost" ps

grep -q "The note says $number; its square is" "$work/answer" || fail "the answer does not hold the number"
[ "$(cat "$work/workspace/results/answer.txt")" = "seen $number" ] || fail "results/answer.txt does not hold the number"

kill "$toolhost_pid"
wait "$toolhost_pid" || fail "toolhost ended with status $?"
toolhost_pid=
[ ! -e "$sockets/socket" ] || fail "toolhost left its socket behind"
say "everything is stopped; the answer held the number, so the tools really ran"
