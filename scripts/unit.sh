#!/usr/bin/env bash
# The unit tests, in five processes at once: what runs on people's machines often waits, and the others work meanwhile.
set -uo pipefail
pytest=(.venv/bin/pytest -q)
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

"${pytest[@]}" tests/controller/test_[ab]*.py >"$logs/1" 2>&1 &
"${pytest[@]}" tests/controller/test_[c-l]*.py tests/accounts tests/api >"$logs/2" 2>&1 &
"${pytest[@]}" tests/controller/test_[!a-l]*.py tests/metrics tests/wire >"$logs/3" 2>&1 &
"${pytest[@]}" tests/scheduling >"$logs/4" 2>&1 &
"${pytest[@]}" tests --ignore=tests/{accounts,api,controller,metrics,scheduling,wire}
code=$?
for job in $(jobs -p); do
  wait "$job" || code=1
done
cat "$logs"/*
exit "$code"
