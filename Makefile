# `make` alone lists what there is. Every target makes .venv by itself; only Python 3.11 or newer and make are needed.

VENV := .venv
PYTHON := $(VENV)/bin/python
RUNTIME := $(VENV)/runtime.stamp
DEVELOPMENT := $(VENV)/development.stamp
# Test processes: one a core.
WORKERS ?= auto
PACKAGES := flashcards accounts review sqlgate mcp_bridge bench tests
# The first Python that is new enough; PYTHON_BASE=… names another.
PYTHON_BASE ?= $(shell for name in python3.11 python3 python3.12 python3.13 python3.14 python; do \
	$$name -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$name && break; done)
PIP := $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.PHONY: help install demo run test check static bench docs clean python

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 14

demo: $(RUNTIME) ## a sample deck, a server, and one whole agent session, step by step (KEEP=1 leaves the server up)
	@DATA_DIR=var/demo $(PYTHON) manage.py demo

run: $(RUNTIME) ## serve on your own data (PORT=9000 for another port)
	@exec $(PYTHON) manage.py serve $(if $(PORT),--port $(PORT))

test: $(DEVELOPMENT) ## run the tests on the configured database (T=tests/ops for some of them, WORKERS=0 for one process)
	$(PYTHON) -m pytest -n $(WORKERS) $(T)

static: $(DEVELOPMENT)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy $(PACKAGES)
	$(VENV)/bin/lint-imports
	$(PYTHON) manage.py makemigrations --check --dry-run

check: static test ## all that CI runs: lint, format, types, import layers, migrations, tests

bench: $(DEVELOPMENT) ## measure the service (see bench/)
	$(PYTHON) -m bench $(ARGS)

docs: $(RUNTIME) ## write the pages that are made from the code
	$(PYTHON) manage.py show_config --table > docs/settings.md
	$(PYTHON) manage.py show_config --env > .env.example

install: $(RUNTIME) ## the environment alone, brought up to date

python: # the interpreter that would be used, or nothing
	@echo $(PYTHON_BASE)

clean: ## remove the environment and caches; your data in var/ stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(PYTHON):
	@test -n "$(PYTHON_BASE)" || { echo "Python 3.11 or newer with its venv module is needed (Debian: apt install python3-venv)." >&2; exit 1; }
	$(PYTHON_BASE) -m venv $(VENV)

$(RUNTIME): requirements.txt | $(PYTHON)
	$(PIP) -r requirements.txt
	@touch $@

$(DEVELOPMENT): requirements-dev.txt $(RUNTIME) | $(PYTHON)
	$(PIP) -r requirements-dev.txt
	@touch $@
