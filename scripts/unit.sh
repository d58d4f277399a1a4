#!/usr/bin/env bash
# The unit tests, in two processes at once: what runs on people's machines and the planner, and the rest.
set -uo pipefail
bin=.venv/bin
first=(tests/controller tests/metrics tests/wire tests/scheduling)

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$bin/pytest" -q "${first[@]}" >"$log" 2>&1 &
other=$!
"$bin/pytest" -q tests "${first[@]/#/--ignore=}"
rest=$?
wait "$other"
code=$?
cat "$log"
exit $((rest > code ? rest : code))
