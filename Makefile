# Pratique: the targets. `make` alone lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CAPTURE ?=
CAPTURES ?=
POLICY ?= C4
PROFILE ?= full
FUZZ_SECONDS ?= 600
CONTRACT ?= 25
BASE ?=
MEMBERS := "./shared[tracing]" ./services/ingest ./services/privacy ./services/attack-sim ./clients/python ./deploy/local
# Every process of ours would compile all that it imports, each time anew.
unexport PYTHONDONTWRITEBYTECODE
UV = VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv

.DEFAULT_GOAL := help
.PHONY: help setup demo run test check e2e screenshots assure contract fuzz bench paper federation csar secrets images sbom
.PHONY: audit lock clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

setup: $(VENV)/.ready ## make the environment

$(VENV)/.ready: requirements/lock.txt requirements/members.txt requirements/uv.txt $(wildcard */pyproject.toml */*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Pratique needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/uv.txt
	$(UV) pip install --quiet --require-hashes --requirement requirements/lock.txt
	$(UV) pip install --quiet --no-deps --build-constraints requirements/lock.txt --requirement requirements/members.txt
	@touch $@

demo: setup ## a capture goes in, a measured release comes out (CAPTURE=file POLICY=name)
	$(BIN)/python -m pratique_local demo --policy $(POLICY) $(if $(CAPTURE),--capture "$(CAPTURE)")

run: setup ## keep it serving on 127.0.0.1:8080 (PRATIQUE_PORT, PRATIQUE_DATA)
	$(BIN)/python -m pratique_local run

test: setup ## run the tests, on every core
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

check: setup ## format, lint, types, walls, containers, manifests
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/docker-compose --file docker-compose.yml config --quiet
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec docker-compose.yml
	$(BIN)/hadolint deploy/docker/Dockerfile deploy/rapp/Dockerfile
	$(BIN)/kubernetes-validate --strict --quiet $(filter-out %kustomization.yaml %scaling.yaml,$(wildcard deploy/k8s/base/*.yaml))

assure: setup ## what must never happen, measured, into docs/assurance.md (PROFILE=full; PROFILE=ci: within 15 min, no page)
	$(BIN)/python -m tests.assurance --profile $(PROFILE) $(if $(filter full,$(PROFILE)),--report docs/assurance.md)

contract: setup ## requests made up from the OpenAPI document, CONTRACT=25 an operation and phase
	CONTRACT=$(CONTRACT) $(BIN)/python -m tests.assurance contract --profile full

e2e: setup ## the dashboard in a browser (installs Debian's Chromium where it is root and there is none)
	@test -x /usr/bin/chromium || { test "$$(id -u)" = 0 && apt-get install --yes --quiet chromium; } || \
		{ echo "there is no /usr/bin/chromium: install Debian's package chromium"; exit 1; }
	$(BIN)/python -m pytest tests/e2e

screenshots: setup ## a picture of every view, wide and narrow, light and dark (out/screenshots)
	$(BIN)/python -m tests.e2e.screenshots

fuzz: setup ## captures made by coverage, until FUZZ_SECONDS=600 are over; what fails is left in out/fuzz
	$(UV) pip install --quiet atheris==3.0.0
	mkdir -p out/fuzz
	$(BIN)/python -m tests.fuzz.fuzz_profile out/fuzz/corpus -max_total_time=$(FUZZ_SECONDS) -max_len=16384 \
		-timeout=20 -rss_limit_mb=4096 -artifact_prefix=out/fuzz/

bench: setup ## the benchmarks, each against its peer in the same run
	for each in benchmarks/bench_*.py; do $(BIN)/python $$each --quick || exit 1; done

paper: setup ## the paper's tables and figures on captures of your own or generated ones (CAPTURES=folder)
	$(BIN)/python -m pratique_local paper $(if $(CAPTURES),--captures "$(CAPTURES)")

federation: setup ## Flower on loopback: rounds that train, and rounds that the gate refuses (an environment of its own)
	PRATIQUE_FLOWER=1 $(BIN)/python -m pytest tests/integration/test_beside_flower.py
	$(BIN)/python examples/flower/federation.py

csar: ## the sample rApp as a package for the rApp manager (out/posture-watch.csar)
	$(PYTHON) deploy/rapp/csar.py

secrets: ## make the secrets of the containers, once
	deploy/docker/make-secrets.sh

images: setup ## build every image with buildah, start each as its user, make a release with them (BASE=image)
	$(BIN)/python deploy/docker/images.py $(BASE)

sbom: setup ## what the services are made of, by version and licence (out/sbom.cdx.json, out/licences.md)
	rm -rf out/installed
	$(BIN)/uv venv --quiet --python $(BIN)/python out/installed
	VIRTUAL_ENV=$(CURDIR)/out/installed $(BIN)/uv pip install --quiet --constraints requirements/lock.txt \
		--build-constraints requirements/lock.txt $(MEMBERS)
	$(BIN)/uvx --quiet --from cyclonedx-bom==7.5.0 cyclonedx-py environment --output-reproducible --validate \
		--output-file out/sbom.cdx.json out/installed
	$(BIN)/python deploy/supply/licences.py > out/licences.md

audit: setup ## ask the advisory database about every pinned version; it needs the network
	$(BIN)/python deploy/supply/audit.py

lock: setup ## pin every version anew, by the digests of its files
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes --no-emit-index-url --no-header \
		--no-annotate $(addprefix --no-emit-package ,pratique $(addprefix pratique-,shared ingest privacy attack-sim local)) \
		requirements/workspace.in --output-file requirements/lock.txt

clean: ## remove the environment and what the tools left
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis out
