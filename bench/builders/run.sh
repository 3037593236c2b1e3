#!/bin/sh
# Runs the agent of docs/builders.md with toolhost and with three frameworks, kills all of their processes
# while the refund is executed, continues, and counts the refunds. Needs Python 3.11, a package index, and
# the programs of `make build`. Stops everything that it starts.
set -eu
cd "$(dirname "$0")"
here=$PWD checkout=$(cd ../.. && pwd) work=$(mktemp -d)
started=
trap 'kill -9 $started 2>/dev/null; [ $? = 0 ] || cat "$work"/*/*.log; rm -rf "$work"' EXIT INT TERM
export MODEL_URL=http://127.0.0.1:18991/v1 PYTHONPATH=$here OPENAI_API_KEY=none
export XDG_RUNTIME_DIR=$work/run XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config

python3 -m venv "$work/python"
"$work/python/bin/pip" --quiet install --requirement requirements.txt "$checkout/sdk/python"
mkdir -m 700 "$work/run"
mkdir "$work/plugins"
go build -C .. -o "$work/plugins/refunds" ./builders/toolhost
"$work/python/bin/python" model.py 18991 &
started=$!

# serve starts toolhost and agentd in the current folder, which is the workspace, and waits for them.
serve() {
	"$checkout/bin/toolhost" serve --plugins "$work/plugins" >>toolhost.log 2>&1 &
	servers=$!
	until "$checkout/bin/toolhost" status >/dev/null 2>&1; do kill -0 $servers; done
	"$checkout/bin/agentd" serve --config "$here/toolhost/agentd.yaml" >>agentd.log 2>&1 &
	servers="$servers $!"
	until "$checkout/bin/agentd" status >/dev/null 2>&1; do kill -0 ${servers#* }; done
	started="$started $servers"
}

for product in toolhost langchain openai pydantic; do
	mkdir "$work/$product"
	cd "$work/$product"
	agent="$work/python/bin/python $here/${product}_agent.py"
	servers=
	[ $product = toolhost ] && serve
	until $agent start >start.log 2>&1; do
		kill -0 ${started%% *}
		rm -f run* # the server of the model was not ready
	done
	$agent approve >approve.log 2>&1 &
	killed=$!
	until [ -s refunds.log ]; do kill -0 $killed; done
	kill -9 $killed $servers
	wait $killed 2>/dev/null || true
	[ $product = toolhost ] && serve
	next=approve
	case $product in toolhost | langchain) next=resume ;; esac
	answer=$($agent $next 2>&1 | tail -n 1)
	printf '%-10s %s refund(s) of one order; %s\n' "$product" "$(wc -l <refunds.log)" "$answer"
done
