#!/usr/bin/env bash
# What `make test` runs after the unit tests: the server on PostgreSQL, short campaigns, the real engine, the browser.
set -euo pipefail
bin=.venv/bin

url=$("$bin/python" scripts/test_postgres.py)
if [ -n "$url" ]; then
  export TEST_DATABASE_URL=$url
  echo "== server tests on PostgreSQL"
  "$bin/pytest" -q tests/accounts tests/api tests/bench tests/house tests/scheduling
  databases="SQLite, PostgreSQL (${url##*@})"
else
  databases="SQLite only: no PostgreSQL to be had"
fi

echo "== short campaigns"
"$bin/pytest" -q -m campaign
unset TEST_DATABASE_URL

echo "== the real engine"
"$bin/pytest" -q -m engine

echo "== browser"
"$bin/pytest" -q -m browser

echo "Databases tested: $databases"
