# `make run` starts the server, `make test` checks everything. Both set up all they need.

# The first Python that runs and is new enough.
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; \
	done)
VENV := .venv
BIN := $(VENV)/bin
EVENNIA := build/evennia
LOWEST := build/lowest
# Whom the machine trusts; npm goes by a list of its own, which may know less.
CERTIFICATES := $(wildcard /etc/ssl/certs/ca-certificates.crt)
# Tests start hundreds of programs: what Python compiles is kept, or each would compile it all.
export PYTHONDONTWRITEBYTECODE :=
# One process more than there are processors: for a third of its time a test waits for a program.
TESTERS = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
USING_PACKAGES = tests/accounts tests/features/analysis tests/features/notifications tests/gateway \
	tests/language tests/pictures tests/server/test_config.py tests/server/test_metrics.py \
	tests/server/test_session.py tests/store/test_events.py tests/store/test_postgres.py \
	tests/telnet tests/test_values.py $(wildcard tests/web/test_http*.py) tests/web/test_sharing.py
LONGER = $(shell grep -rlw --include='test_*.py' SOAKING tests)
PROPERTIES = $(shell grep -rl --include='test_*.py' '@given' tests)
REFERENCE := thudmud thudmud.rules thudmud.game thudmud.language thudmud.views \
	thudmud.service thudmud.house thudmud.script

.PHONY: run test fast soak fuzz lint collect bench bench-check docs mudlet viewer release clients \
	evennia lowest clean

run: $(VENV)/.run
	$(BIN)/thudmud serve $(ARGS)

# Style and types are checked while Evennia is installed. Who runs out of tests takes some of the
# others', since a few take as long as a thousand of the rest.
test:
	@$(MAKE) --no-print-directory --jobs=4 lint collect clients evennia
	@echo "Running all tests, on all processors ..."
	@$(BIN)/pytest -q -m "" -n $(TESTERS) --dist worksteal

# What uses other packages, with the lowest versions of them that pyproject.toml allows. That is for
# the lowest Python: many of them have nothing for the newest.
lowest: $(LOWEST)/.installed
	@echo "Running tests with the lowest versions of other packages ..."
	@$(LOWEST)/bin/pytest -q -n $(TESTERS) --dist worksteal $(USING_PACKAGES)

fast: $(VENV)/.dev
	$(BIN)/pytest -q

# A server is killed 200 times, while people play, while it starts and while it shuts down, and 200
# times one of two servers on one database, or the database, and a gateway; "make test" does it less
# often.
# Properties are tried with examples that nobody has tried before; other tests by chance have more of
# it.
soak: $(VENV)/.dev
	THUDMUD_SOAK_ROUNDS=200 $(BIN)/pytest -q -m "" tests/soak tests/gateway/test_killed.py $(LONGER)
	$(BIN)/pytest -q -n $(TESTERS) --hypothesis-profile=explore $(PROPERTIES)
	$(BIN)/python -m tests.simulation 0 $(SEEDS)

# How many seeds of the simulated world the soak plays.
SEEDS ?= 2000

# Each target is fuzzed by coverage for so many seconds. What breaks one gets into build/fuzz.
FUZZ_SECONDS ?= 60

fuzz: $(VENV)/.fuzz
	for each in bytes lines house; do \
		$(BIN)/python -m tests.fuzz.run $$each -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

# Types are checked as the oldest Python has them, and as the newest that pyproject.toml names: it no
# longer takes some things.
NEWEST = $(shell sed -n 's/.*Python :: \(3\.[0-9]*\)",/\1/p' pyproject.toml | tail -1)

lint: $(VENV)/.dev
	@echo "Checking style and types ..."
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy --python-version $(NEWEST) thudmud pytest_thudmud

# Compiles the tests, with their assertions rewritten: else each process of pytest's does so.
collect: $(VENV)/.dev
	@$(BIN)/pytest -q -m "" --collect-only >/dev/null

# What takes an hour is run by hand.
bench: $(VENV)/.dev $(EVENNIA)/.installed
	for each in $(filter-out $(addprefix benchmarks/,hour.py bots.py tune.py),$(wildcard benchmarks/*.py)); do $(BIN)/python $$each || exit 1; done

# What is worse than at the last release. A release keeps its own table:
#     python benchmarks/server.py --quick --no-uvloop --save benchmarks/last_release.json
bench-check: $(VENV)/.dev
	@$(BIN)/python benchmarks/server.py --quick --no-uvloop --against benchmarks/last_release.json

# The reference of the library, from its docstrings: build/api/index.html.
docs: $(VENV)/.dev
	$(BIN)/python docs/reference.py build/api $(REFERENCE)

# The package that Mudlet installs, as the server has it at /thudmud.mpackage.
mudlet: $(VENV)/.run
	@mkdir -p build
	@$(BIN)/python -c 'import sys; from thudmud.web.mpackage import mpackage; \
		sys.stdout.buffer.write(mpackage())' >build/thudmud.mpackage
	@echo build/thudmud.mpackage

# <thud-game>, as npm takes it.
viewer: $(VENV)/.run
	@cd examples/viewer && PYTHON=$(abspath $(BIN)/python) npm pack --silent

# A wheel, the source, and thudmud.pyz: all that a server needs in one file. Each is tried where
# nothing else is installed.
release: $(VENV)/.dev
	@$(BIN)/python deploy/release.py

# The end to end tests drive real clients; this installs those that are missing.
clients:
	@sh tests/clients.sh

# Other tests drive a MUD of Evennia's. It has an environment of its own: what it needs brings along
# a package called "tests".
evennia: $(EVENNIA)/.installed $(EVENNIA)/client/.installed

$(VENV)/.run: EXTRAS = [server]
$(VENV)/.run: NEEDS = what it needs
$(VENV)/.dev $(VENV)/.fuzz: EXTRAS = [server,postgres,notify,pictures]
$(VENV)/.dev: GROUPS = --group dev
$(VENV)/.dev: NEEDS = what its checks and tests need
$(VENV)/.fuzz: GROUPS = --group dev --group fuzz
$(VENV)/.fuzz: NEEDS = what its fuzzer needs
$(VENV)/.dev $(VENV)/.fuzz: COMPILE = --no-compile
$(VENV)/.run $(VENV)/.dev $(VENV)/.fuzz: pyproject.toml
	@test -n "$(PYTHON)" || { echo "thudmud needs Python 3.11 or newer." >&2; exit 1; }
	@echo "Making a virtual environment in $(@D) ..."
	@$(PYTHON) -m venv $(@D)
	@echo "Installing thudmud and $(NEEDS) (a minute or so) ..."
	@test -z "$(GROUPS)" || sh progress.sh $(@D)/bin/pip install --disable-pip-version-check \
		--upgrade 'pip>=25.1'
	@sh progress.sh $(@D)/bin/pip install --disable-pip-version-check $(COMPILE) \
		--editable '.$(EXTRAS)' $(GROUPS)
	@touch $@

# Tests find thudmud in the checkout, so what it needs is enough. What is imported is compiled then:
# that is a small part of all.
$(EVENNIA)/.installed: pyproject.toml | $(VENV)/.dev
	@echo "Installing Evennia in $(@D) ..."
	@$(PYTHON) -m venv --without-pip $(@D)
	@$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		print(*project["dependencies"], *project["optional-dependencies"]["evennia"], sep="\n")' \
		>$(@D)/needs.txt
	@sh progress.sh $(BIN)/pip --python $(@D)/bin/python install --disable-pip-version-check \
		--no-compile --requirement $(@D)/needs.txt
	@touch $@

$(LOWEST)/.installed: pyproject.toml tests/lowest.py | $(VENV)/.dev
	@echo "Installing the lowest versions of other packages in $(@D) ..."
	@$(PYTHON) -m venv --without-pip $(@D)
	@$(BIN)/python -m tests.lowest >$(@D)/lowest.txt
	@sh progress.sh $(BIN)/pip --python $(@D)/bin/python install --disable-pip-version-check \
		--no-compile --constraint $(@D)/lowest.txt --editable '.[server,fast,metrics,postgres,notify,pictures]' \
		--group dev
	@touch $@

# What the page of its web client loads from other hosts: the tests give these to the browser.
$(EVENNIA)/client/.installed: Makefile | clients $(EVENNIA)/.installed
	@NODE_EXTRA_CA_CERTS=$(CERTIFICATES) sh progress.sh npm install --no-audit --no-fund \
		--fetch-retries=1 --fetch-retry-mintimeout=1000 --prefix $(@D) bootstrap@4.0.0-beta \
		favico.js@0.3.10 golden-layout@1.5.9 jquery@3.2.1 popper.js@1.11.0
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
