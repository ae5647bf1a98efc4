# `make run` starts the server, `make test` checks everything. Both set up all they need.

PYTHON ?= $(shell command -v python3.13 || command -v python3.12 || command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test fast lint bench clients clean

run: $(VENV)/.run
	$(BIN)/thudmud serve $(ARGS)

test: lint clients
	$(BIN)/pytest -q -m ""

fast: $(VENV)/.dev
	$(BIN)/pytest -q

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	for each in benchmarks/*.py; do $(BIN)/python $$each || exit 1; done

# The end to end tests drive a real telnet client.
clients:
	command -v telnet >/dev/null || sh tests/clients.sh

$(VENV)/.run: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
