# Everything runs in .venv, made from requirements.lock; `make help` lists the targets.

PYTHON ?= python3
BIN := .venv/bin
ENV := .venv/.ready
UV_VERSION := 0.13.9

# The lock is complete, so nothing is resolved (--no-deps). Modules are compiled after the install, by all processors
# at once, rather than by pip: where PYTHONDONTWRITEBYTECODE is set, each process would compile them again.
PIP_INSTALL := -m pip --disable-pip-version-check --no-input install --quiet --no-deps --no-compile

.DEFAULT_GOAL := help
.PHONY: help build test test-full lint format soak bench docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

build: $(ENV) ## set up .venv and build the sample warehouse
	$(BIN)/mbw build --source sample

test: $(ENV) ## fast tests
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

test-full: $(ENV) ## all tests but the soak, with real services, browsers and other environments
	.ci/install-services
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not soak"

lint: $(ENV) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(ENV) ## put the code into the form that lint asks for
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .

soak: $(ENV) ## tests that run for minutes under load
	$(BIN)/python -m pytest -q -n 2 -m soak

bench: $(ENV) ## measure the build against its targets
	$(BIN)/python -m benchmarks

docs: $(ENV) ## write the generated pages of docs/ again
	$(BIN)/python -m pipelines.docs

lock: .venv-tools/.uv-$(UV_VERSION) ## write requirements.lock again (all newer: make lock UPGRADE=1)
	.venv-tools/bin/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
		--fork-strategy fewest --generate-hashes --no-header --no-emit-index-url --no-strip-extras --system-certs --quiet \
		$(if $(UPGRADE),--upgrade) --output-file requirements.lock
	@! grep -n '://' requirements.lock

clean: ## remove caches and build outputs; .venv and warehouse/ stay
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

$(ENV): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP_INSTALL) --only-binary :all: --require-hashes -r requirements.lock
	$(BIN)/python -m compileall -q -j 0 .venv/lib
	$(BIN)/python $(PIP_INSTALL) --no-build-isolation --editable .
	@touch $@

.venv-tools/.uv-$(UV_VERSION):
	$(PYTHON) -m venv .venv-tools
	.venv-tools/bin/python $(PIP_INSTALL) uv==$(UV_VERSION)
	@touch $@
