#!/bin/sh
# Draws docs/terminal.svg, the picture in README.md: what a terminal shows after a short session with the
# programs of `make build`. It needs tmux, and on its first run the Go module proxy. BIN is the folder with the programs;
# the default is bin. No check draws the picture again: run the script after a change of what it shows, and look at it.
set -eu
cd "$(dirname "$0")/.."
bin=$(cd "${BIN:-bin}" && pwd)
picture=$PWD/docs/terminal.svg
columns=106
lines=50

# commands prints what the picture shows a person type. Comments are shown too. TestPicture checks that the programs have
# these commands, and that the picture shows them.
commands() {
	cat <<'END'
# An agent, on a scripted model. Each plugin runs in a process of its own.
agentd run --model scripted:demo.yaml "What does the note say?"
# A call with an id. Then the process of its plugin is killed.
toolhost call write_file --call-id ship-7 '{"path":"plan.txt","content":"Ship on Monday."}'
kill -9 "$(toolhost ps | awk '$2 == "fs" { print $4 }')"
# The next call starts another process.
toolhost call read_file '{"path":"note.txt"}'
# The same id again gets the first answer. It is not executed again.
rm plan.txt
toolhost call write_file --call-id ship-7 '{"path":"plan.txt","content":"Ship on Monday."}'
ls plan.txt
# What happened?
toolhost events fs
END
}

work=$(mktemp -d)
toolhost_pid=
stop() {
	status=$?
	trap - EXIT
	tmux -S "$work/tmux" kill-server 2>/dev/null || true
	if [ -n "$toolhost_pid" ]; then
		kill "$toolhost_pid" 2>/dev/null || true
		wait "$toolhost_pid" 2>/dev/null || true
	fi
	rm -rf "$work"
	exit "$status"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The folders of the go command, which would otherwise be in the home below.
GOPATH=$(go env GOPATH) GOCACHE=$(go env GOCACHE)
export GOPATH GOCACHE

# An empty home, so that no setting of the user has an effect, and the programs find each other without flags.
mkdir -p "$work/home" "$work/run" "$work/workspace"
chmod 700 "$work/run"
cp scripts/demo.yaml "$work/workspace/"
printf 4711 >"$work/workspace/note.txt"
cd "$work/workspace"
export HOME="$work/home" XDG_RUNTIME_DIR="$work/run" PATH="$bin:$PATH" TERM=xterm-256color LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR TOOLHOST_ADDR XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_HOME XDG_CACHE_HOME
toolhost serve --plugins "$bin/plugins" --workspace . >"$work/serve.out" 2>"$work/serve.log" </dev/null &
toolhost_pid=$!
until grep -q 'is ready' "$work/serve.out"; do
	kill -0 "$toolhost_pid" || { cat "$work/serve.log" >&2; exit 1; }
	sleep 0.1
done

# The session shows each command as if a person had typed it.
commands >"$work/commands"
cat >"$work/session" <<'END'
before=
while IFS= read -r line <&3; do
	case $line in
	\#*)
		printf '%s\033[38;5;245m%s\033[0m\n' "$before" "$line"
		before='
'
		;;
	*)
		printf '\033[38;5;75m$ \033[38;5;231m%s\033[0m\n' "$line"
		eval "$line" 3<&-
		;;
	esac
done 3<"$1"
touch "$2"
sleep 60
END
tmux -S "$work/tmux" -f /dev/null new-session -d -x "$columns" -y "$lines" "sh '$work/session' '$work/commands' '$work/done'"
until [ -e "$work/done" ]; do
	sleep 0.1
done
# Line by line, because freeze does not know that a color goes on in the next line, and not the code 39 either.
line=0
while [ "$line" -lt "$lines" ]; do
	tmux -S "$work/tmux" capture-pane -e -p -S "$line" -E "$line"
	line=$((line + 1))
done | sed 's/\x1b\[39m/\x1b[0m/g' >"$work/lines"
printf %s "$(cat "$work/lines")" >"$work/screen" # without the empty lines below
cat "$work/screen"
# The font of the reader: an embedded one would have 370 KB.
${FREEZE:-go run github.com/charmbracelet/freeze@v0.2.2} --language ansi --font.family monospace --padding 20,20,0,20 --border.radius 8 \
	--output "$picture" <"$work/screen"
