# Everything for users and developers; `make help` lists it. Needs Python 3.11 or later with pip,
# Rust (with rustfmt and clippy for `make test`), a C compiler, and make.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
UV_VERSION := 0.13.8
UV := .tools/bin/uv
BIN := .venv/bin
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
export VIRTUAL_ENV := $(CURDIR)/.venv
export CARGO_TERM_PROGRESS_WHEN ?= never
# The same random cases in every run; another number tries others.
export PROPTEST_RNG_SEED ?= 2003
TARGET := $(or $(CARGO_TARGET_DIR),target)

# What the extension is made of: it is built again only when one of these has changed.
SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: help install demo test lint format docs bench clean

help: ## Show this
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

install: .venv/.extension $(BIN)/sojourn-router ## Build everything; the command is then .venv/bin/sojourn

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; try make PYTHON=python3.11")'
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
	  --upgrade --target .tools uv==$(UV_VERSION)

.venv/.packages: requirements.lock | $(UV)
	@echo "installing Python packages"
	@$(UV) venv --quiet --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv
	@$(UV) pip install --quiet -r requirements.lock
	@touch $@

.venv/.extension: $(SOURCES) .venv/.packages
	@echo "building the engines (a few minutes the first time)"
	@PATH="$(CURDIR)/.tools/bin:$$PATH" $(BIN)/maturin develop --quiet --release --uv \
	  > .venv/build.log 2>&1 || { cat .venv/build.log; exit 1; }
	@touch $@

# Only Linux has the devices that real packets need; anywhere else there is no such command.
$(BIN)/sojourn-router: $(SOURCES) .venv/.extension
ifeq ($(shell uname -s),Linux)
	@echo "building the router"
	@cargo build --locked --quiet --profile router -p sojourn-router
	@cp -f $(TARGET)/router/sojourn-router $@
endif

demo: install ## Compare queue disciplines under web traffic, at reduced scale: about a minute
	$(BIN)/sojourn compare scenarios/web.toml \
	  --vary 'bottleneck.qdisc={kind="droptail",limit=240},{kind="ared",min_th=12,max_th=36},{kind="ared",min_th=12,max_th=36,ecn=true},{kind="pi",qref=24,queue_in_bytes=true},{kind="pi",qref=24,queue_in_bytes=true,ecn=true},{kind="rem",qref=24,queue_in_bytes=true},{kind="rem",qref=24,queue_in_bytes=true,ecn=true}' \
	  --vary load=0.90,0.98 --repeat 3 --out runs/demo --report runs/demo/report.html

test: lint ## Check the style, then run all tests: Rust, Python, and the report in a browser
	@echo "== cargo test"
	@mkdir -p $(TARGET)
	@cargo test --locked --quiet --workspace --exclude sojourn-python --all-features \
	  > $(TARGET)/cargo-test.log 2>&1 || { cat $(TARGET)/cargo-test.log; exit 1; }
	@awk '/^test result:/ { suites++; passed += $$4; failed += $$6; ignored += $$8 } END { \
	  printf "test result: %d passed; %d failed; %d ignored in %d suites\n", passed, failed, ignored, suites; \
	  exit !(passed > 0 && failed == 0) }' $(TARGET)/cargo-test.log
	@tests/browser.sh
	@tests/kernel.sh
	@tests/bpf.sh
	@echo "== pytest"
	@$(BIN)/pytest -m "not alone" --numprocesses auto --dist loadfile
	@$(BIN)/pytest -m alone

lint: install ## Check formatting, lints and types
	@echo "== rustfmt, clippy"
	@cargo fmt --all --check
	@cargo clippy --locked --quiet --workspace --all-targets --all-features -- -D warnings
	@echo "== ruff, mypy"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { $(BIN)/ruff format --check .; exit 1; }
	@$(BIN)/mypy --no-error-summary

format: install ## Format all code, and write what is made from the schema
	@$(BIN)/python -m sojourn._typegen
	@cargo fmt --all
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .

docs: install ## Build the documentation as HTML, docs/site/index.html, and check its links
	@$(BIN)/python docs/builder

bench: install ## Measure speed, side by side with what else is installed
	@$(BIN)/python benches/run.py

clean: ## Remove what make has made
	rm -rf .venv .tools target docs/site runs/demo .pytest_cache .mypy_cache .ruff_cache
	rm -f python/sojourn/_engine*.so
	find python tests benches docs -name __pycache__ -prune -exec rm -rf {} +
