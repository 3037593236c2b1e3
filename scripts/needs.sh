#!/bin/sh
# Prints which programs `make check` needs beyond Go, and which of them are missing.
#
#   needs.sh           print the list, and fail if a program is missing
#   needs.sh install   install missing programs, as root: from Debian packages, and Node from npm's packages
set -eu
cd "$(dirname "$0")"

missing=
debian=

# need NAME,PURPOSE,TEST,SOURCE,PACKAGES prints whether TEST succeeds. If it fails, need records NAME, and Debian's
# PACKAGES.
need() {
	if (eval "$3") >/dev/null 2>&1; then
		printf '    %-22s there, for %s\n' "$1" "$2"
	else
		printf '    %-22s MISSING, for %s (%s: %s)\n' "$1" "$2" "$4" "$5"
		missing="${missing:+$missing, }$1"
		[ "$4" != Debian ] || debian="$debian $5"
	fi
}

new_node='node -e "process.exit(Number(parseInt(process.versions.node) < 22))"'

look() {
	missing=
	debian=
	need 'a C compiler' 'the race detector' 'command -v cc' Debian 'gcc libc6-dev'
	need 'Python 3.11 or later' "the Python SDK's tests" \
		'python3 -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"' Debian 'python3 python3-venv'
	need 'npm' "the TypeScript SDK's tests" 'command -v npm' Debian 'nodejs npm'
	need 'Node 22 or later' "the TypeScript SDK's tests" "$new_node" npm 'scripts/node22/package.json'
	need 'PostgreSQL' 'the tests of query_db and of state in PostgreSQL' \
		'command -v initdb || ls /usr/lib/postgresql/*/bin/initdb' Debian 'postgresql'
	need 'Prometheus, promtool' 'the tests of alert rules and dashboards' \
		'command -v prometheus && command -v promtool' Debian 'prometheus'
	need 'Chromium' "the tests of agentd's pages" 'command -v chromium' Debian 'chromium'
	need 'ip, nsenter, openssl' 'the pages about several machines' \
		'command -v ip && command -v nsenter && command -v unshare && command -v openssl' Debian 'iproute2 util-linux openssl'
}

# Debian 12 has Node 18. npm has the programs that Node's project builds, as packages without scripts. The lock file
# pins their content. The program does not replace one of /usr/local/bin that something else installed.
install_node() {
	if [ -e /usr/local/bin/node ]; then
		echo "/usr/local/bin/node is older than Node 22; replace it" >&2
		exit 1
	fi
	scratch=$(mktemp -d)
	cp node22/package.json node22/package-lock.json node22/.npmrc "$scratch/"
	(cd "$scratch" && HOME=$scratch npm ci --ignore-scripts --no-audit --no-fund --loglevel error)
	install -m 755 "$scratch"/node_modules/node-linux-*/bin/node /usr/local/bin/node
	rm -rf "$scratch"
}

echo 'make check needs, besides what make test needs:'
look
if [ "${1:-}" = install ] && [ -n "$missing" ]; then
	if [ -n "$debian" ]; then
		apt-get update -qq
		# shellcheck disable=SC2086 # a list of packages
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $debian
	fi
	(eval "$new_node") || install_node
	echo 'after the installation:'
	look
fi
if [ -n "$missing" ]; then
	echo "missing: $missing; scripts/needs.sh install installs them, as root on Debian" >&2
	exit 1
fi
