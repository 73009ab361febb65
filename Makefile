# Everything runs in .venv, made from requirements.lock; `make help` lists the targets.

PYTHON ?= python3
BIN := .venv/bin
ENV := .venv/.ready
FULL := .venv/.ready-full
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

test-full: $(FULL) ## all tests but the soak, with real services, browsers and other environments
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

UV_COMPILE := .venv-tools/bin/uv pip compile pyproject.toml --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --no-header --no-emit-index-url --no-strip-extras --system-certs --quiet

lock: .venv-tools/.uv-$(UV_VERSION) ## write both locks again (all newer: make lock UPGRADE=1)
	$(UV_COMPILE) --extra dev $(if $(UPGRADE),--upgrade) --output-file requirements.lock
	$(UV_COMPILE) --extra full --constraint requirements.lock $(if $(UPGRADE),--upgrade) \
		--output-file requirements-full.lock
	@! grep -n '://' requirements.lock requirements-full.lock

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

# What only the full tests need, on top of it; pyspark is published as source alone, which is a copy of its files.
$(FULL): $(ENV) requirements-full.lock
	$(BIN)/python $(PIP_INSTALL) --only-binary :all: --no-binary pyspark --no-build-isolation --require-hashes \
		-r requirements-full.lock
	@touch $@

.venv-tools/.uv-$(UV_VERSION):
	$(PYTHON) -m venv .venv-tools
	.venv-tools/bin/python $(PIP_INSTALL) uv==$(UV_VERSION)
	@touch $@
