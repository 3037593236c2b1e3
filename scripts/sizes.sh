#!/bin/sh
# Measures, on Linux, the sizes of the programs of `make build`, and for each language: the time of the first build of a new
# plugin with empty caches, the size of an installed plugin, the size that the next one of the same language adds, and the
# memory of an idle instance. It prints tables in Markdown. BIN is the folder with the programs.
#
# The memory of an instance is shown twice. RSS counts each page of a library fully. PSS divides a page by the number of
# processes that map it, so that the sum over all processes is the memory that they take.
set -eu
cd "$(dirname "$0")/.."
bin=$(cd "${BIN:-bin}" && pwd)
work=$(mktemp -d)
server=
stop() {
	[ -z "$server" ] || { kill "$server" && wait "$server" || true; }
	chmod -R u+w "$work" # the go command makes its module cache read-only
	rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

# New plugins, caches, installed plugins and state are in an empty home.
mkdir -p "$work/home" "$work/run"
chmod 700 "$work/run"
export HOME="$work/home" XDG_RUNTIME_DIR="$work/run"
unset XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_HOME XDG_CACHE_HOME GOPATH GOCACHE GOMODCACHE PIP_CACHE_DIR
plugins=$HOME/.local/share/toolhost/plugins
state=$HOME/.local/state/toolhost
cd "$work"

# kilobytes prints the disk space of folders, or 0. It counts files with several names once.
kilobytes() {
	du -skc "$@" 2>/dev/null | tail -n 1 | cut -f 1
}

# megabytes prints kilobytes as MB.
megabytes() {
	awk -v k="$1" 'BEGIN { printf "%.1f MB", k * 1024 / 1e6 }'
}

# instance prints a field of /proc/PID/smaps_rollup, in kilobytes, of the instance for which it is largest.
instance() {
	"$bin/toolhost" ps -o json | tr ',' '\n' | sed -n 's/.*"pid":\([0-9]*\).*/\1/p' |
		while read -r pid; do sed -n "s/^$1: *\([0-9]*\) kB/\1/p" "/proc/$pid/smaps_rollup"; done | sort -n | tail -n 1
}

# timed prints the seconds that a command takes, and its output only if it fails.
timed() {
	begin=$(date +%s%N)
	"$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
	awk -v from="$begin" -v to="$(date +%s%N)" 'BEGIN { printf "%.1f", (to - from) / 1e9 }'
}

# The number of processes that compete for the processors.
load=$(cut -d ' ' -f 1 /proc/loadavg)
awk -v load="$load" -v processors="$(getconf _NPROCESSORS_ONLN)" 'BEGIN { exit load <= 0.25 * processors }' &&
	printf 'the load is %s: other processes make the times longer; wait until the machine is idle\n' "$load" >&2
printf '%s, %s, %s %s, %s processors, load %s, %s\n\n' "$("$bin/toolhost" --version | head -n 1)" \
	"$("$bin/toolhost" --version | sed -n 's/^commit *\(.......\).*/commit \1/p')" "$(uname -s)" "$(uname -m)" \
	"$(getconf _NPROCESSORS_ONLN)" "$load" "$(go env GOVERSION)"
printf '| program | size |\n| --- | --- |\n'
for program in "$bin/toolhost" "$bin/agentd" "$bin"/plugins/*; do
	printf '| %s | %s |\n' "${program#"$bin/"}" "$(megabytes $(($(wc -c <"$program") / 1024)))"
done

printf '\n| | first build | next build | SDK in the repository | installed | the next adds | copies of toolhost | the next adds |\n'
printf '| --- | --- | --- | --- | --- | --- | --- | --- |\n'
memory=
for language in go python typescript; do
	rm -rf "$plugins" "$state"
	mkdir -p "$plugins" "$state"
	line="| $language "
	sizes=
	memory="$memory| $language "
	before=$(kilobytes "$plugins") stored=$(kilobytes "$state")
	for number in one two; do
		name=$language-$number
		"$bin/toolhost" new "$name" --lang "$language" >/dev/null
		seconds=$(timed make -C "$name" build)
		line="$line| $seconds s "
		make -C "$name" install TOOLHOST="$bin/toolhost" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
		"$bin/toolhost" serve --plugins "$plugins" >"$work/serve.log" 2>&1 </dev/null &
		server=$!
		until "$bin/toolhost" call "$(printf '%s_count_words' "$name" | tr - _)" '{"text":"one two"}' >/dev/null 2>&1; do
			kill -0 "$server" 2>/dev/null || { cat "$work/serve.log" >&2; exit 1; }
			sleep 0.2
		done
		if [ "$number" = two ]; then # both are running: what they share counts once
			"$bin/toolhost" call "$(printf '%s-one_count_words' "$language" | tr - _)" '{"text":"one two"}' >/dev/null
		fi
		memory="$memory| $(megabytes "$(instance Pss)") "
		[ "$number" = two ] || memory="$memory| $(megabytes "$(instance Rss)") "
		kill "$server" && wait "$server"
		server=
		after=$(kilobytes "$plugins") copied=$(kilobytes "$state/store" "$state/shared")
		sizes="$sizes$((after - before)) $((copied - stored)) "
		before=$after stored=$copied
	done
	# shellcheck disable=SC2086 # four numbers
	set -- $sizes
	printf '%s| %s | %s | %s | %s | %s |\n' "$line" "$(megabytes "$(kilobytes "$language-one/third_party")")" \
		"$(megabytes "$1")" "$(megabytes "$3")" "$(megabytes "$2")" "$(megabytes "$4")"
	memory="$memory|
"
done
printf '\n| an idle instance | PSS | RSS | PSS of each of two plugins |\n| --- | --- | --- | --- |\n%s' "$memory"
