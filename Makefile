# `make run` starts the server, `make test` checks everything. Both set up all they need.

# The first Python that runs and is new enough.
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; \
	done)
VENV := .venv
BIN := $(VENV)/bin
REFERENCE := thudmud thudmud.rules thudmud.play thudmud.language thudmud.text \
	thudmud.text.premises thudmud.script

.PHONY: run test fast soak fuzz lint bench docs clients clean

run: $(VENV)/.run
	$(BIN)/thudmud serve $(ARGS)

test: lint clients
	$(BIN)/pytest -q -m "" -n auto

fast: $(VENV)/.dev
	$(BIN)/pytest -q

# A server is killed 200 times in the middle of play; "make test" does it less often.
soak: $(VENV)/.dev
	THUDMUD_SOAK_ROUNDS=200 $(BIN)/pytest -q -m "" tests/soak

# Each target is fuzzed by coverage for so many seconds. What breaks one gets into build/fuzz.
FUZZ_SECONDS ?= 60

fuzz: $(VENV)/.fuzz
	for each in bytes lines house; do \
		$(BIN)/python -m tests.fuzz.run $$each -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	for each in benchmarks/*.py; do $(BIN)/python $$each || exit 1; done

# The reference of the library, from its docstrings: build/api/index.html.
docs: $(VENV)/.dev
	$(BIN)/pdoc --docformat google --output-directory build/api $(REFERENCE)

# The end to end tests drive real clients; this installs those that are missing.
clients:
	sh tests/clients.sh

$(VENV)/.run: WHAT = .
$(VENV)/.dev: WHAT = '.[dev]'
$(VENV)/.fuzz: WHAT = '.[dev,fuzz]'
$(VENV)/.run $(VENV)/.dev $(VENV)/.fuzz: pyproject.toml
	@test -n "$(PYTHON)" || { echo "thudmud needs Python 3.11 or newer." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable $(WHAT)
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
