#!/bin/sh
# Runs one step of a test run, and records its result for the report: step.sh NAME COMMAND. COMMAND is a line
# of shell. In the folder REPORT (default .build/report), `steps` gets a line with the name, the result, the
# seconds, and the file with the output.
set -u
name=$1
folder=${REPORT:-.build/report}
log=$(printf %s "$name" | tr -cs 'A-Za-z0-9\n' '-').log
mkdir -p "$folder"
printf '\n==> %s\n' "$name"
begin=$(date +%s)
{
	# The limit names a step that hangs. The tests in it have lower limits.
	limit=$(command -v timeout || true)
	${limit:+"$limit" --kill-after=30 50m} sh -c "$2" 2>&1
	echo $? >"$folder/$log.status"
} | tee "$folder/$log"
seconds=$(($(date +%s) - begin))
status=$(cat "$folder/$log.status")
rm -f "$folder/$log.status"
result=FAILED
[ "$status" != 0 ] || result=ok
printf '%s\t%s\t%s\t%s\n' "$name" "$result" "$seconds" "$log" >>"$folder/steps"
if [ "$status" != 0 ]; then
	printf '    %s: FAILED after %ds\n' "$name" "$seconds" >&2
	exit 1
fi
printf '    %s: ok, %ds\n' "$name" "$seconds"
