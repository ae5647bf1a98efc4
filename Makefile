# `make run` starts the server, `make test` checks everything. Both install their dependencies.

# The first Python on the PATH that is at least 3.11.
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; \
	done)
# Evennia 6 needs Python 3.12: PYTHON if it is new enough, or the first on the PATH, or one of pyenv's.
# Without any, uv installs one.
PYTHON_EVENNIA6 ?= $(shell for each in $(PYTHON) python3 python3.14 python3.13 python3.12 \
	~/.pyenv/versions/*/bin/python3; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo $$each && break; \
	done)
VENV := .venv
BIN := $(VENV)/bin
EVENNIA := build/evennia
EVENNIA6 := build/evennia6
LOWEST := build/lowest
RANVIER := build/ranvier
# The system's CA bundle; npm's own may lack locally installed CAs.
CERTIFICATES := $(wildcard /etc/ssl/certs/ca-certificates.crt)
# Tests start hundreds of programs, so keep compiled modules.
export PYTHONDONTWRITEBYTECODE :=
# Two workers more than the number of processors: tests spend a third of their time waiting.
TESTERS = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)
USING_PACKAGES = tests/accounts tests/features/analysis tests/features/notifications tests/gateway \
	tests/language tests/pictures tests/server/test_config.py tests/server/test_metrics.py \
	tests/server/test_session.py tests/store/test_events.py tests/store/test_postgres.py \
	tests/telnet tests/test_values.py $(wildcard tests/web/test_http*.py) tests/web/test_sharing.py
LONGER = $(shell grep -rlw --include='test_*.py' SOAKING tests)
PROPERTIES = $(shell grep -rl --include='test_*.py' '@given' tests)
REFERENCE := thudmud thudmud.rules thudmud.game thudmud.language thudmud.views \
	thudmud.service thudmud.house thudmud.script

.PHONY: run test fast soak fuzz lint collect bench bench-check docs mudlet viewer release clients \
	evennia ranvier lowest debian clean

run: $(VENV)/.run
	$(BIN)/thudmud serve $(ARGS)

# Linting runs while Evennia is installed. Idle workers steal tests: a few tests take as long as a
# thousand others.
test:
	@$(MAKE) --no-print-directory --jobs=4 lint collect clients evennia ranvier
	@echo "Running all tests, on all processors ..."
	@$(BIN)/pytest -q -m "" -n $(TESTERS) --dist worksteal

# Tests of the code that uses other packages, with the lowest versions that pyproject.toml allows.
# Run it with the oldest Python: many of those versions have no wheels for newer ones.
lowest: $(LOWEST)/.installed
	@echo "Running tests with the lowest versions of other packages ..."
	@$(LOWEST)/bin/pytest -q -n $(TESTERS) --dist worksteal $(USING_PACKAGES)

fast: $(VENV)/.dev
	$(BIN)/pytest -q

# Kill a server 200 times (during play, start and shutdown), then 200 times one of two servers on a
# database, the database, or a gateway; "make test" does it less often. Property tests try new
# examples, and randomized tests run longer.
soak: $(VENV)/.dev
	THUDMUD_SOAK_ROUNDS=200 $(BIN)/pytest -q -m "" tests/soak tests/gateway/test_killed.py $(LONGER)
	$(BIN)/pytest -q -n $(TESTERS) --hypothesis-profile=explore $(PROPERTIES)
	$(BIN)/python -m tests.simulation 0 $(SEEDS)
	@test "$$(id -u)" != 0 || $(MAKE) --no-print-directory debian

# Follow docs/operating.md, by its own commands, on a bare Debian under systemd. This takes root on
# Debian 12, with the packages debootstrap and systemd-container.
debian: $(VENV)/.dev
	$(BIN)/python -m tests.soak.bare_debian

# Number of simulation seeds for the soak.
SEEDS ?= 2000

# Seconds of coverage-guided fuzzing for each target. Crashing inputs are saved in build/fuzz.
FUZZ_SECONDS ?= 60

fuzz: $(VENV)/.fuzz
	for each in bytes lines house; do \
		$(BIN)/python -m tests.fuzz.run $$each -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

# Types are checked for the oldest and the newest Python in pyproject.toml, since the newest no longer
# accepts some of them.
NEWEST = $(shell sed -n 's/.*Python :: \(3\.[0-9]*\)",/\1/p' pyproject.toml | tail -1)

lint: $(VENV)/.dev
	@echo "Checking style and types ..."
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy --python-version $(NEWEST) thudmud pytest_thudmud

# Compile the tests with pytest's rewritten assertions, once for all of its processes.
collect: $(VENV)/.dev
	@$(BIN)/pytest -q -m "" --collect-only >/dev/null

# Benchmarks that take an hour, and those that need other programs, have to be run by hand.
bench: $(VENV)/.dev $(EVENNIA)/.installed
	for each in $(filter-out $(addprefix benchmarks/,hour.py bots.py tune.py outcomes.py blunders.py factors.py growth.py flames.py),$(wildcard benchmarks/*.py)); do $(BIN)/python $$each || exit 1; done

# Compare with the last release, and list the rows that are worse. For a release, save a new table:
#     python benchmarks/server.py --quick --no-uvloop --save benchmarks/last_release.json
bench-check: $(VENV)/.dev
	@$(BIN)/python benchmarks/server.py --quick --no-uvloop --against benchmarks/last_release.json

# The API reference, generated from docstrings: build/api/index.html; docs/gmcp-reference.md, from
# docs/gmcp.toml and recorded packets; and the manual page of the wheel, from the parsers.
docs: $(VENV)/.dev
	$(BIN)/thudmud manual >deploy/thudmud.1
	$(BIN)/python -m docs.gmcp_reference
	$(BIN)/python docs/reference.py build/api $(REFERENCE)

# The Mudlet package that the server offers at /thudmud.mpackage.
mudlet: $(VENV)/.run
	@mkdir -p build
	@$(BIN)/python -c 'import sys; from thudmud.web.mpackage import mpackage; \
		sys.stdout.buffer.write(mpackage())' >build/thudmud.mpackage
	@echo build/thudmud.mpackage

# The npm package of <thud-game>.
viewer: $(VENV)/.run
	@cd examples/viewer && PYTHON=$(abspath $(BIN)/python) npm pack --silent

# The wheel, the source distribution, and thudmud.pyz, a server in one file. Each is tried in an empty
# environment.
release: $(VENV)/.dev
	@$(BIN)/python deploy/release.py

# Install missing clients for the end-to-end tests.
clients:
	@sh tests/clients.sh

# Evennia needs its own environments: one of its dependencies installs a package called "tests".
evennia: $(EVENNIA)/.installed $(EVENNIA6)/.installed $(EVENNIA)/client/.installed

$(VENV)/.run: EXTRAS = [server,pictures]
$(VENV)/.run: NEEDS = its dependencies
$(VENV)/.dev $(VENV)/.fuzz: EXTRAS = [server,postgres,notify,pictures,completion]
$(VENV)/.dev: GROUPS = --group dev
$(VENV)/.dev: NEEDS = its development dependencies
$(VENV)/.fuzz: GROUPS = --group dev --group fuzz
$(VENV)/.fuzz: NEEDS = its fuzzing dependencies
$(VENV)/.dev $(VENV)/.fuzz: COMPILE = --no-compile
$(VENV)/.run $(VENV)/.dev $(VENV)/.fuzz: pyproject.toml
	@test -n "$(PYTHON)" || { echo "thudmud needs Python 3.11 or newer." >&2; exit 1; }
	@echo "Making a virtual environment in $(@D) ..."
	@$(PYTHON) -m venv $(@D)
	@echo "Installing thudmud and $(NEEDS) (a minute or so) ..."
	@test -z "$(GROUPS)" || sh tools/progress.sh $(@D)/bin/pip install --disable-pip-version-check \
		--upgrade 'pip>=25.1'
	@sh tools/progress.sh $(@D)/bin/pip install --disable-pip-version-check $(COMPILE) \
		--editable '.$(EXTRAS)' $(GROUPS)
	@test -z "$(GROUPS)" || sh tools/install_hook.sh
	@touch $@

# Only thudmud's dependencies are installed here; tests import thudmud from the checkout. Modules are
# compiled on import, since few of Evennia's are needed.
$(EVENNIA)/.installed: WITH = $(PYTHON)
$(EVENNIA)/.installed: RELEASE = evennia<6
$(EVENNIA6)/.installed: WITH = $(PYTHON_EVENNIA6)
$(EVENNIA6)/.installed: RELEASE = evennia>=6
$(EVENNIA)/.installed $(EVENNIA6)/.installed: pyproject.toml | $(VENV)/.dev
	@echo "Installing $(RELEASE) in $(@D) ..."
	@with="$(WITH)"; if test -z "$$with"; then \
		echo "Installing Python 3.12 in build/python, since $(PYTHON) is too old for Evennia 6 ..."; \
		sh tools/progress.sh $(BIN)/pip install --disable-pip-version-check uv && \
		sh tools/progress.sh $(BIN)/uv python install --no-bin --install-dir build/python 3.12 || \
		{ echo "Install Python 3.12, or name it: make PYTHON_EVENNIA6=/path/to/python3" >&2; exit 1; }; \
		with=$$(ls build/python/*/bin/python3 | head -n 1); \
	fi; "$$with" -m venv --without-pip $(@D)
	@$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		print(*project["dependencies"], *project["optional-dependencies"]["evennia"], sep="\n")' \
		>$(@D)/needs.txt
	@echo "$(RELEASE)" >$(@D)/release.txt
	@sh tools/progress.sh $(BIN)/pip --python $(@D)/bin/python install --disable-pip-version-check \
		--no-compile --requirement $(@D)/needs.txt --constraint $(@D)/release.txt
	@touch $@

$(LOWEST)/.installed: pyproject.toml tests/lowest.py | $(VENV)/.dev
	@echo "Installing the lowest versions of other packages in $(@D) ..."
	@$(PYTHON) -m venv --without-pip $(@D)
	@$(BIN)/python -m tests.lowest >$(@D)/lowest.txt
	@sh tools/progress.sh $(BIN)/pip --python $(@D)/bin/python install --disable-pip-version-check \
		--no-compile --constraint $(@D)/lowest.txt --editable '.[server,fast,metrics,postgres,notify,pictures]' \
		--group dev
	@touch $@

# Scripts that Evennia's web client loads from other hosts; the tests serve them to the browser.
$(EVENNIA)/client/.installed: Makefile | clients $(EVENNIA)/.installed
	@NODE_EXTRA_CA_CERTS=$(CERTIFICATES) sh tools/progress.sh npm install --no-audit --no-fund \
		--fetch-retries=1 --fetch-retry-mintimeout=1000 --prefix $(@D) bootstrap@4.0.0-beta \
		favico.js@0.3.10 golden-layout@1.5.9 jquery@3.2.1 popper.js@1.11.0
	@touch $@

# The MUD engine of examples/ranvier.
ranvier: $(RANVIER)/.installed

$(RANVIER)/.installed: examples/ranvier/package.json | clients
	@mkdir -p $(@D) && cp $< $(@D)/
	@NODE_EXTRA_CA_CERTS=$(CERTIFICATES) sh tools/progress.sh npm install --no-audit --no-fund \
		--fetch-retries=1 --prefix $(@D)
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
