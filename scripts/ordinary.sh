#!/bin/bash
# Runs the README's two commands as an ordinary user on a machine of their own would: ordinary.sh COMMAND... runs each
# COMMAND (default: `make demo`, `make test`) in a clone of the checkout. It needs root on Linux, for
# the user and for the owner of the files.
#
# The user has no privilege, an empty HOME, umask 002, another time zone, blanks in the path of the clone, and a TMPDIR
# in which the path of a socket would be too long. REPORT (default .build/report) gets the results. The folder of the
# user keeps only Go's caches, which a first run fills.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
user=toolhost-ordinary
place=${ORDINARY:-/var/cache/$user}
report=${REPORT:-$PWD/.build/report}

[ "$(id -u)" = 0 ] || { echo 'ordinary.sh: only root can become another user; run make demo and make test instead' >&2; exit 2; }
id "$user" >/dev/null 2>&1 || useradd --user-group --no-create-home --home-dir "$place/home" --shell /bin/sh "$user" || exit
chmod -R u+w "$place/home" "$place/temporary" 2>/dev/null
rm -rf "$place/home" "$place/my projects" "$place/temporary" || exit
clone="$place/my projects/tool host"
# 88 bytes: with the name of a test's folder, no socket fits into the 108 bytes of its address.
TMPDIR=$place/temporary/a-folder-with-a-long-name-as-some-build-machines-have-it
mkdir -p "$place"/{home,go-build,modules} "$place/my projects" "$TMPDIR" "$report" || exit
scripts/snapshot.sh "$clone" || exit
chown -R "$user:$user" "$place" "$report" || exit

# What the machine says about registries and certificates stays in the environment.
settings=(HOME="$place/home" USER="$user" LOGNAME="$user" TMPDIR="$TMPDIR" TZ=Asia/Kolkata REPORT="$report"
	GOCACHE="$place/go-build" GOMODCACHE="$place/modules"
	GOPROXY="$(go env GOPROXY)" GOSUMDB="$(go env GOSUMDB)" GOTOOLCHAIN="$(go env GOTOOLCHAIN)")
run() {
	(cd "$clone" && umask 002 &&
		setpriv --reuid="$user" --regid="$user" --init-groups --inh-caps=-all \
			env -u XDG_RUNTIME_DIR -u XDG_CONFIG_HOME -u XDG_STATE_HOME -u XDG_CACHE_HOME "${settings[@]}" sh -c "$1" </dev/null)
}
[ $# -gt 0 ] || set -- "scripts/step.sh 'make demo' 'make demo'" 'make --keep-going test'
status=0
for command; do
	run "$command" || status=1
done
exit $status
