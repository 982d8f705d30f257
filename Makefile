# Pratique: the targets. `make` alone lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CAPTURE ?=
CAPTURES ?=
POLICY ?= C4
KILLS ?= 200
MUTATIONS ?= 100000
FUZZ_SECONDS ?= 600

.DEFAULT_GOAL := help
.PHONY: help setup demo run test check e2e screenshots assure fuzz bench paper csar secrets lock clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

setup: $(VENV)/.ready ## make the environment

$(VENV)/.ready: requirements/lock.txt $(wildcard */pyproject.toml */*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Pratique needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.9
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --requirement requirements/lock.txt
	@touch $@

demo: setup ## a capture goes in, a measured release comes out (CAPTURE=file POLICY=name)
	$(BIN)/python -m pratique_local demo --policy $(POLICY) $(if $(CAPTURE),--capture "$(CAPTURE)")

run: setup ## keep it serving on 127.0.0.1:8080 (PRATIQUE_PORT, PRATIQUE_DATA)
	$(BIN)/python -m pratique_local run

test: setup ## run the tests
	$(BIN)/python -m pytest

check: setup ## format, lint, types, walls, compose file
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/docker-compose --file docker-compose.yml config --quiet

assure: setup ## many releases under many kills (KILLS=200), many damaged captures (MUTATIONS=100000)
	PRATIQUE_KILLS=$(KILLS) $(BIN)/python -m pytest -m slow tests/integration/test_kills.py
	$(BIN)/python -m tests.assurance.mutations --count $(MUTATIONS) --processes 2

e2e: setup ## the dashboard in a browser (installs Debian's Chromium where it is root and there is none)
	@test -x /usr/bin/chromium || { test "$$(id -u)" = 0 && apt-get install --yes --quiet chromium; } || \
		{ echo "there is no /usr/bin/chromium: install Debian's package chromium"; exit 1; }
	$(BIN)/python -m pytest tests/e2e

screenshots: setup ## a picture of every view, wide and narrow, light and dark (out/screenshots)
	$(BIN)/python -m tests.e2e.screenshots

fuzz: setup ## captures made by coverage, until FUZZ_SECONDS=600 are over; what fails is left in out/fuzz
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet atheris==3.0.0
	mkdir -p out/fuzz
	$(BIN)/python -m tests.fuzz.fuzz_profile out/fuzz/corpus -max_total_time=$(FUZZ_SECONDS) -max_len=16384 \
		-timeout=20 -rss_limit_mb=4096 -artifact_prefix=out/fuzz/

bench: setup ## the benchmarks, each against its peer in the same run
	for each in benchmarks/bench_*.py; do $(BIN)/python $$each --quick || exit 1; done

paper: setup ## the paper's tables and figures on captures of your own or generated ones (CAPTURES=folder)
	$(BIN)/python -m pratique_local paper $(if $(CAPTURES),--captures "$(CAPTURES)")

csar: ## the sample rApp as a package for the rApp manager (out/posture-watch.csar)
	$(PYTHON) deploy/rapp/csar.py

secrets: ## make the secrets of the containers, once
	deploy/docker/make-secrets.sh

lock: setup ## pin every version anew
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade --no-emit-index-url --no-header --no-annotate \
		requirements/workspace.in --output-file requirements/lock.txt

clean: ## remove the environment and what the tools left
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis out
