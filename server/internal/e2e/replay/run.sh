#!/bin/sh
# Replays public benchmarks through agentd and toolhost: run.sh BIN [short]. BIN is the folder of the programs. `short`
# takes a few tasks of each. It installs the packages of requirements.txt into .build/replay of the checkout.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
bin=$(cd "$1" && pwd)
home=$root/.build/replay
tasks=${2:+--tasks 3}
python=$("$root/sdk/python/scripts/check.sh" setup)
[ -n "$python" ] || exit 0 # the script has said why
mkdir -p "$home"
wanted=$("$python" -VV && cat "$here/requirements.txt")
if [ "$(cat "$home/installed" 2>/dev/null || true)" != "$wanted" ]; then
	rm -rf "$home/site"
	"$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --target "$home/site" \
		--requirement "$here/requirements.txt"
	printf '%s\n' "$wanted" >"$home/installed"
fi
status=0
replay() {
	# shellcheck disable=SC2086 # no word, or two
	PYTHONDONTWRITEBYTECODE=1 "$python" "$here/replay.py" --bin "$bin" --site "$home/site" --work "$home/work" $tasks "$@" || status=1
}
for benchmark in tau2-airline tau2-retail bfcl agentdojo-banking agentdojo-slack agentdojo-travel agentdojo-workspace; do
	replay "$benchmark"
done
replay bfcl --together
for benchmark in tau2-airline tau2-retail; do
	replay "$benchmark" --kills 1
	replay "$benchmark" --kills 1 --unchecked
done
exit $status
