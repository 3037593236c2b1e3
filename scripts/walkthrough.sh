#!/bin/sh
# Uses a release as two people do, with nothing but its files: walkthrough.sh DIST, as root on Linux.
#
# The author has an empty home. They check the checksums, unpack the archive, serve a shipped tool, and create a plugin in each
# language, which they test, verify, install and call. The colleague is another user with an empty home. They take the author's
# repositories without the environments and builds, in a folder whose name has blanks and quotes, and test, install and call the
# plugins. Both run in a mount namespace in which the checkout is empty. Dependencies come from the registries.
set -eu

# serve ARGUMENT... starts toolhost and waits until it is ready.
serve() {
	toolhost serve "$@" >"$HOME/serve.out" 2>"$HOME/serve.log" </dev/null &
	server=$!
	until grep -q 'is ready' "$HOME/serve.out"; do
		kill -0 "$server" 2>/dev/null || { cat "$HOME/serve.log" >&2; exit 1; }
		sleep 0.1
	done
}

stop() {
	kill "$server"
	wait "$server"
	server=
}

# step NAME COMMAND... runs a command and prints how long it took. It prints the output only if the command fails.
step() {
	name=$1
	shift
	begin=$(date +%s%N)
	"$@" >"$HOME/step.log" 2>&1 || { printf '    FAILED: %s\n' "$name"; cat "$HOME/step.log"; exit 1; } >&2
	awk -v from="$begin" -v to="$(date +%s%N)" -v name="$name" 'BEGIN { printf "    %6.1f s  %s\n", (to - from) / 1e9, name }'
}

# answers NAME WANTED TOOL ARGUMENTS calls a tool, whose answer must contain a text.
answers() {
	step "$1" sh -c 'answer=$(toolhost call "$1" "$2") && printf "%s\n" "$answer" && case $answer in *"$3"*) ;; *) exit 1 ;; esac' sh "$3" "$4" "$2"
}

counts() {
	answers "$1: call" 3 "count_$1_count_words" '{"text":"One two three."}'
}

author() {
	cd "$HOME/download"
	step 'check the checksums' sha256sum --check --ignore-missing SHA256SUMS
	step 'unpack the archive' tar -xzf toolhost-*.tar.gz
	cd "$(find . -mindepth 1 -maxdepth 1 -type d)"
	mkdir -p "$HOME/.local" "$HOME/work"
	cp -R bin libexec share "$HOME/.local/"
	cd "$HOME/work"
	toolhost --version
	serve --plugins "$HOME/.local/libexec/toolhost/plugins"
	answers 'call a shipped tool' 6227020800 calculator '{"expression":"13!"}'
	stop
	for language in go python typescript; do
		step "$language: new" toolhost new "count-$language" --lang "$language"
		for target in test verify install; do
			step "$language: make $target" make -C "count-$language" "$target"
		done
		step "$language: new caller" toolhost new "call-$language" --caller --lang "$language"
		step "$language: make the caller" make -C "call-$language" build test
	done
	serve
	for language in go python typescript; do
		counts "$language"
	done
	stop
}

colleague() {
	mkdir "$HOME/my \"work\" it's"
	cd "$HOME/my \"work\" it's"
	for language in go python typescript; do
		mkdir "count-$language"
		# What git would not have.
		(cd "$1/work/count-$language" && tar -c --exclude=./build --exclude=.venv --exclude=.dev --exclude=node_modules .) |
			tar -x --no-same-owner -C "count-$language"
		for target in test install; do
			step "$language: make $target" make -C "count-$language" "$target"
		done
	done
	serve
	for language in go python typescript; do
		counts "$language"
	done
	stop
}

server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
case "$1" in
# Each function stands alone, because set -e has no effect in a function on the left of &&.
--author)
	author
	exit
	;;
--colleague)
	colleague "$2"
	exit
	;;
--hidden)
	# The checkout is an empty folder in this namespace.
	mount -t tmpfs none "$2"
	cd /
	shift 2
	exec "$@"
	;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
dist=$(cd "$1" && pwd)
[ -e "$dist/SHA256SUMS" ] || { echo "$dist has no release; make release VERSION=… builds one" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "scripts/walkthrough.sh runs as two other users and hides the checkout, so it needs root" >&2; exit 1; }
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
esac
work=$(mktemp -d)
clean() {
	chmod -R u+w "$work" # the go command makes its module cache read-only
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cp "$root/scripts/walkthrough.sh" "$work/"

# as NAME UID ARGUMENT... runs this script as another user with the home $work/NAME, and with the registries of this user.
as() {
	name=$1 uid=$2
	shift 2
	printf '\n    %s, uid %s\n' "$name" "$uid"
	mkdir "$work/$name-run"
	chown -R "$uid:$uid" "$work/$name" "$work/$name-run"
	chmod 700 "$work/$name-run"
	# shellcheck disable=SC2046 # one word for each variable
	unshare --mount sh "$work/walkthrough.sh" --hidden "$root" \
		setpriv --reuid "$uid" --regid "$uid" --clear-groups env -i \
		$(env | grep -iE '^(PIP_[A-Z_]*|npm_config_[a-z_]*|https?_proxy|no_proxy|ssl_cert_(file|dir)|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE)=[^ ]*$' |
			grep -vi cache) \
		npm_config_registry="$(npm config get registry 2>/dev/null)" \
		GOPROXY="$(go env GOPROXY)" GONOSUMDB="$(go env GONOSUMDB)" GOSUMDB="$(go env GOSUMDB)" GOTOOLCHAIN="$(go env GOTOOLCHAIN)" \
		HOME="$work/$name" XDG_RUNTIME_DIR="$work/$name-run" LANG=C.UTF-8 \
		PATH="$work/author/.local/bin:$(dirname "$(command -v go)"):/usr/local/bin:/usr/bin:/bin" \
		sh "$work/walkthrough.sh" "$@"
}

mkdir -p "$work/author/download" "$work/colleague"
cp "$dist"/toolhost-*-linux-"$arch".tar.gz "$dist/SHA256SUMS" "$work/author/download/"
as author 65534 --author
chmod 755 "$work/author"
as colleague 65533 --colleague "$work/author"
