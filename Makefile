# `make demo` and `make test` need Python 3.11+, Java 17+, make and git; the rest they fetch.

VENV := .venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready
CODE := $(wildcard src tests examples bench docs)
WORKERS := 2
UNIT := --fast -m "not (spark or kill or slow or soak)"

# Spark's workers must be this Python: one without pyarrow only says "failed to connect back".
export PYSPARK_PYTHON := $(CURDIR)/$(PYTHON)
export PYSPARK_DRIVER_PYTHON := $(CURDIR)/$(PYTHON)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Hundreds of processes are started by the tests: compiled code is kept, out of the way.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache

.PHONY: help setup archive lint unit check test failed demo docs bench bench-smoke soak format lock clean

help: ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 13

setup: $(READY) ## build .venv from requirements.lock

$(READY): requirements.lock pyproject.toml
	@test -x $(PYTHON) || { \
	  for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	    if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	      echo "making $(VENV) with $$name"; \
	      $$name -m venv $(VENV) && exit 0; rm -rf $(VENV); exit 1; \
	    fi; \
	  done; \
	  echo "Penstock needs Python 3.11 or newer on PATH." >&2; exit 1; }
	@# The lock pins uv as well: its entry, hashes and all, is what pip is given.
	@awk '/^[^ #]/ { wanted = /^uv==/ } wanted' requirements.lock > $(VENV)/uv.txt
	$(PYTHON) -m pip install --quiet --require-hashes --requirement $(VENV)/uv.txt
	$(VENV)/bin/uv pip sync --compile-bytecode --python $(PYTHON) --require-hashes requirements.lock
	$(VENV)/bin/uv pip install --python $(PYTHON) --no-deps --no-build-isolation --editable .
	@touch $@

archive: $(READY) ## the class-data archive of Spark's JVM: each start takes 3 to 4 CPU-seconds less
	@$(PYTHON) -m penstock.spark.make_archive || true

lint: $(READY)
	$(VENV)/bin/ruff format --check $(CODE)
	$(VENV)/bin/ruff check $(CODE)
	$(VENV)/bin/mypy $(CODE)
	$(VENV)/bin/lint-imports

unit: $(READY)
	$(PYTHON) -m pytest -q -n $(WORKERS) $(UNIT)

check: lint unit ## the fast loop: format, lint, types, imports, unit tests

test: $(READY) ## everything but the soak; WORKERS=3 where cores wait
	@$(MAKE) --no-print-directory --jobs=2 lint archive
	$(PYTHON) -m pytest -n $(WORKERS) --dist worksteal --durations=25 --durations-min=10 -m "not soak"

failed: $(READY) ## the tests that failed in the last run, one after the other
	$(PYTHON) -m pytest --last-failed --last-failed-no-failures none -m "not soak"

demo: $(READY) ## the page-view platform, live on a local port; SECONDS=60 RATE=500 PORT=9000 FRESH=1
	@$(PYTHON) -m examples.demo $(if $(SECONDS),--seconds $(SECONDS)) $(if $(RATE),--rate $(RATE)) \
	  $(if $(PORT),--port $(PORT)) $(if $(FRESH),--fresh)

docs: $(READY) ## the pages as a site in build/docs
	@$(PYTHON) -m docs.site

bench: $(READY) ## the numbers of docs/performance.md
	$(PYTHON) -m bench

bench-smoke: $(READY) ## two minutes of Nexmark beside plain PySpark; tells, never fails
	@$(PYTHON) -m bench.nexmark.smoke

soak: $(READY) ## the long fault and property runs
	$(PYTHON) -m pytest -m soak --hypothesis-profile=soak -o timeout=0

format: $(READY) ## write the code as `check` wants it
	$(VENV)/bin/ruff format $(CODE)
	$(VENV)/bin/ruff check --fix $(CODE)

lock: $(READY) ## resolve pyproject.toml anew; UPGRADE=--upgrade for newer versions
	$(VENV)/bin/uv pip compile pyproject.toml --all-extras --group dev --universal \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --quiet $(UPGRADE) \
	  --output-file requirements.lock

clean: ## remove .venv and what tools left behind
	rm -rf $(VENV) .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +
