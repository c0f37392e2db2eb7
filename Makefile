# Two commands on a fresh machine: `make demo` and `make test`. `make` alone lists all.

PYTHON ?= python3
# A folder or wheel to take torch from first, where the registry's own build is not wanted (README: CPU builds).
TORCH ?= torch
VENV := .venv
BIN := $(VENV)/bin
STORE := .noctule/demo
SITE := public
NOCTULE := $(BIN)/noctule
INSTALL := .ci/install $(VENV)
INPUTS := pyproject.toml constraints.txt
SHELL := /bin/bash
.DEFAULT_GOAL := help

.PHONY: help demo check test lint types layers tests browser npm bundle man bench evaluate pictures torture duckdb fuzz clean

help: ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1	/' | expand -t 18

demo: $(VENV)/.installed ## install, index docs/, build its site, ask three questions
	@set -eu; start=$$SECONDS; \
	echo "== Indexing docs/ through the Prefect flow"; \
	$(NOCTULE) index docs --collection guide --store $(STORE); \
	echo "== Building the site"; \
	$(NOCTULE) site --store $(STORE) --out $(SITE); \
	for query in "how do I undo a bad night" "reciprocal rank fusion" "[[wikilinks]] and tags"; do \
	  echo; echo "== noctule search \"$$query\""; \
	  $(NOCTULE) search "$$query" --top-n 3 --store $(STORE); \
	done; \
	echo; echo "The site:      file://$(CURDIR)/$(SITE)/index.html"; \
	echo "Ask it more:   $(NOCTULE) search \"what survives a power cut\" --explain --store $(STORE)"; \
	echo "Over HTTP:     $(NOCTULE) serve --store $(STORE) --site $(SITE)"; \
	echo "For an agent:  claude mcp add guide -- $(CURDIR)/$(NOCTULE) mcp --store $(CURDIR)/$(STORE)"; \
	echo "Your own docs: $(NOCTULE) index PATH/TO/DOCS && $(NOCTULE) search \"…\""; \
	echo "demo took $$((SECONDS - start)) s after the install"

check: $(VENV)/.installed-test ## format, lint, types, layers and the tests of what changed: for every commit
	@set -eu; start=$$SECONDS; \
	$(MAKE) --no-print-directory lint types layers; \
	$(BIN)/python tests/changed.py | xargs -r $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -p no:cacheprovider; \
	echo "make check took $$((SECONDS - start)) s"

test: ## install the test extras and run every check
	@set -eu; $(MAKE) --no-print-directory -j3 $(VENV)/.installed-test browser npm; \
	start=$$SECONDS; \
	$(MAKE) --no-print-directory -j2 lint layers types tests; \
	echo "make test took $$((SECONDS - start)) s after the install"

# A third of their time tests wait for servers and for hangs to end, so two cores carry three workers.
WORKERS ?= 3

lint: $(VENV)/.installed-test ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-test ## mypy --strict
	$(BIN)/mypy

layers: $(VENV)/.installed-test ## imports go down only
	PYTHONPATH=. $(BIN)/lint-imports --no-cache

# Some machines set it: hundreds of processes would each compile the project.
tests check $(VENV)/.collected: export PYTHONDONTWRITEBYTECODE :=

tests: $(VENV)/.collected ## unit, golden, property, crash, client and end-to-end tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# Once, as each of the workers would compile the project and rewrite all tests.
$(VENV)/.collected: $(VENV)/.installed-test
	@$(BIN)/python -m pytest --collect-only -q > $@.log || { cat $@.log; exit 1; }
	@touch $@

browser: ## Chromium for the client tests, where this user may install it
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "== Installing chromium and chromium-driver"; \
	  (apt-get update -q && apt-get install -y -q --no-install-recommends chromium chromium-driver) >/dev/null 2>&1 \
	    || echo "chromium could not be installed: the client tests will be skipped"; \
	else echo "no chromium and chromedriver here: the client tests will be skipped (install them with your package manager)"; fi

npm: ## esbuild, prettier and TypeScript for the checks of the client's scripts, where npm is
	@for tool in esbuild prettier tsc; do test -x site/node_modules/.bin/$$tool || missing=1; done; test -z "$$missing" && exit 0; \
	if ! command -v npm >/dev/null; then echo "no npm here: the types and bundles of the client's scripts are not checked"; \
	elif npm install --silent --no-audit --no-fund --no-package-lock --prefix site >/dev/null; then :; \
	else echo "esbuild, prettier and TypeScript could not be installed: the types and bundles of the client's scripts are not checked"; fi

bundle: $(VENV)/.installed npm ## site/docsite/client/bundles of the client's modules (needs npm)
	$(BIN)/python -m noctule.docsite.search.format > site/docsite/client/search/.format.js
	mv site/docsite/client/search/.format.js site/docsite/client/search/format.js
	npm run --silent --prefix site bundle

man: $(VENV)/.installed ## configs/noctule.1, the man page, of the help
	PYTHONPATH=. $(BIN)/python -m noctule.flows.cli.man > configs/.noctule.1
	mv configs/.noctule.1 configs/noctule.1

bench: $(VENV)/.installed-test ## measure on real corpora (NOCTULE_CORPORA=folder): minutes to hours
	$(INSTALL) -e ".[build,bench]"
	$(BIN)/python -m bench

evaluate: $(VENV)/.installed-test ## every figure of docs/relevance.md (NOCTULE_CORPORA=folder): minutes to hours
	$(INSTALL) -e ".[build,bench]"
	$(BIN)/python -m bench relevance --write docs/relevance.md

pictures: $(VENV)/.installed-test demo ## the pictures of README.md, from the demo's site (needs chromium)
	$(BIN)/python -m bench.pictures $(SITE)

JOBS ?= 1
torture: $(VENV)/.installed-test ## 500 kills of a publish and 500 in every stage with live readers, every call and start refused, thousands of power cuts: hours (JOBS=16: on as many processors)
	NOCTULE_KILLS=500 NOCTULE_POWER_CUTS=2000 NOCTULE_PARTS=$(JOBS) $(BIN)/python -m pytest --timeout 14400 -n $(JOBS) -rP
	$(MAKE) --no-print-directory duckdb

duckdb: $(VENV)/.installed-test ## the tests that ask DuckDB, with each minor version from 1.3 to the newest (needs the registry)
	$(BIN)/python -m tests.duckdb_versions

SECONDS_EACH ?= 120
fuzz: $(VENV)/.installed-test ## generated input for every parser, pages, settings, queries, requests: SECONDS_EACH=120 for each target, most twice
	@$(INSTALL) -e ".[build,fuzz]" || echo "atheris or schemathesis could not be installed: only Hypothesis runs"
	PYTHONPATH=. $(BIN)/python -m tests.fuzz.run --seconds $(SECONDS_EACH) --found .fuzz
	PYTHONPATH=. $(BIN)/python -m tests.fuzz.service_api --seconds $(SECONDS_EACH)
	PYTHONPATH=. $(BIN)/python -m tests.fuzz.growth

clean: ## remove what make made
	rm -rf $(VENV) $(SITE) .noctule build *.egg-info site/node_modules

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' \
	  || { echo "noctule needs Python 3.11, 3.12 or 3.13; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)

# torch first, held to one version: any looser request may bring gigabytes of GPU libraries.
$(VENV)/.installed: $(INPUTS) | $(VENV)/bin/python
	@set -eu; start=$$SECONDS; \
	echo "== Installing into $(VENV)"; \
	$(INSTALL) $(TORCH); \
	$(INSTALL) -e ".[build,mcp]"; \
	echo "install took $$((SECONDS - start)) s"
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@set -eu; start=$$SECONDS; \
	echo "== Installing the test extras"; \
	$(INSTALL) -e ".[build,test]"; \
	echo "install of the test extras took $$((SECONDS - start)) s"
	@touch $@
