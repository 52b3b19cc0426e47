# Everything for users and developers; `make help` lists it. Needs Python 3.11 or later with pip,
# Rust (with rustfmt and clippy for `make test`), a C compiler, and make.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
PYTHON_PATH = $(shell $(PYTHON) -c 'import sys; print(sys.executable)')
UV_VERSION := 0.13.8
UV := .tools/bin/uv
BIN := .venv/bin
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
export VIRTUAL_ENV := $(CURDIR)/.venv
# The extension leaves Python's symbols to the interpreter that loads it.
export PYO3_BUILD_EXTENSION_MODULE := 1
export CARGO_TERM_PROGRESS_WHEN ?= never
# With Polars, which reads the tables that a test in Rust writes.
export SOJOURN_POLARS_PYTHON := $(PYO3_PYTHON)
# Without compiled modules each command would take seconds more to start.
export PYTHONDONTWRITEBYTECODE :=
# The same random cases in every run; another number tries others.
export PROPTEST_RNG_SEED ?= 2003
TARGET := $(or $(CARGO_TARGET_DIR),target)

# Not with make's job slots: cargo counts its own.
CARGO := env -u MAKEFLAGS -u MFLAGS cargo
ALL := --locked --quiet --profile quick --workspace --all-features

# Modules that a macro declares, and what is outside of the workspace: cargo fmt does not find them.
LISTED := $(wildcard $(addsuffix /*.rs,crates/qdisc/src crates/qdisc/tests/it/sequences \
    crates/fluid/src/queues crates/tcp/src/congestion tests/mutants/switch/src))

# What the extension is made of: it is built again only when one of these has changed.
SOURCES := Cargo.toml Cargo.lock pyproject.toml \
    $(shell find crates -name '*.rs' -o -name Cargo.toml) \
    $(wildcard hardware/*.v hardware/*.toml hardware/bench/*)

.PHONY: help install demo wasm check test test-long mutants mutants-rust lint format readme docs
.PHONY: bench gates wheel crates clean lint-rust lint-python compile tools
.PHONY: .module .interpreted .instrumented .mutated

help: ## Show this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

# `make install PGO=yes` compiles the engines twice, the second time for the ways that packets went
# in runs of packaging/train.py: faster, with the same results. It takes llvm-profdata (rustup
# component add llvm-tools).
PROFILED := $(if $(filter yes,$(PGO)),--pgo)

install: .venv/.extension $(BIN)/sojourn-router ## Build everything, .venv/bin/sojourn first of all

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or later is needed; try make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
	  --upgrade --target .tools uv==$(UV_VERSION)

.venv/pyvenv.cfg: | $(UV)
	@$(UV) venv --quiet --allow-existing --python "$(PYTHON_PATH)" .venv

.venv/.packages: requirements.lock | .venv/pyvenv.cfg
	@echo "installing Python packages"
	@$(UV) pip install --quiet -r requirements.lock
	@touch $@

.venv/.extension: $(SOURCES) .venv/.packages
	@echo "building the engines (a few minutes the first time)"
	@PATH="$(CURDIR)/.tools/bin:$$PATH" env -u MAKEFLAGS -u MFLAGS \
	  $(BIN)/maturin develop --quiet --release --uv $(PROFILED) \
	  > .venv/build.log 2>&1 || { cat .venv/build.log; exit 1; }
	@echo "$(PROFILED)" > .venv/.profiled
	@touch $@ .venv/.checked

# Only Linux has the devices that real packets need; anywhere else there is no such command.
$(BIN)/sojourn-router: $(SOURCES) .venv/.extension
ifeq ($(shell uname -s),Linux)
	@echo "building the router"
	@$(CARGO) build --locked --quiet --profile router -p sojourn-router
	@cp -f $(TARGET)/router/sojourn-router $@
endif

DEMO := {kind="droptail",limit=240},{kind="ared",min_th=30,max_th=90,ecn=true}
DEMO := $(DEMO),{kind="pi",qref=60},{kind="pi",qref=60,ecn=true}
demo: install ## Compare queue disciplines under web traffic, ten seeds each: about a minute
	$(BIN)/sojourn compare scenarios/demo.toml --vary 'bottleneck.qdisc=$(DEMO)' \
	  --repeat 10 --out runs/demo --report runs/demo/report.html

wasm: ## Build the engines for browsers, target/browser: docs/how-to/browser.md
	@crates/wasm/build.sh

test: ## Check the style, then run all tests but the long ones: Rust, Python, pages in a browser
	@$(MAKE) -j4 lint .venv/.checked tools
	@echo "== cargo test"
	@{ $(CARGO) test $(ALL) --tests && $(CARGO) test $(ALL) --doc; } \
	  > $(TARGET)/cargo-test.log 2>&1 || { cat $(TARGET)/cargo-test.log; exit 1; }
	@awk '/^test result:/ { suites++; passed += $$4; failed += $$6; ignored += $$8 } END { \
	  printf "test result: %d passed; %d failed; %d ignored in %d suites\n", \
	    passed, failed, ignored, suites; \
	  exit !(passed > 0 && failed == 0) }' $(TARGET)/cargo-test.log
	@echo "== pytest"
	@$(BIN)/pytest -m "not alone and not long" --numprocesses auto --dist loadfile
	@$(BIN)/pytest -m "alone and not long"

# What keeps one core busy has something else beside it. Files of tests come in their order: those
# with few tests take long here, and would come last.
test-long: ## Run the tests that are long by nature, with the engines as they are shipped
	@$(MAKE) -j2 install .module
	@tests/tools.sh long
	@echo "== pytest, long"
	@$(BIN)/pytest -m long --numprocesses auto --dist loadfile --no-loadscope-reorder
	@$(MAKE) -j2 --output-sync=target .interpreted .instrumented .mutated

.module:
	@timeout 1800 crates/wasm/build.sh \
	  || echo "!! NO WEBASSEMBLY: THE TESTS OF IT WILL BE SKIPPED." >&2

.interpreted:
	@echo "== miri"
	@tests/miri.sh

.instrumented:
	@echo "== AddressSanitizer"
	@tests/asan.sh
	@echo "== aarch64"
	@tests/aarch64.sh

# Two parts of the package, others with each commit: what their tests reach takes minutes to find.
.mutated:
	@echo "== mutants"
	@PYTHONPATH=tests $(BIN)/python -m mutants --number 200 --seconds 150 --parts 2 \
	  --seed "$$(git rev-list --count HEAD 2>/dev/null || echo 1)"
	@PYTHONPATH=tests $(BIN)/python -m mutants.rust --crate base --number 10 --seconds 150

# With the engine that is there, whatever it was built from.
QUICK := $(addprefix tests/test_,defaults.py diagnoses.py measures.py metadata.py new.py run.py \
  scenario.py statistics.py statistics_closed_forms.py store.py sweep.py verdict.py)

check: lint ## The quick part of the tests, in a minute or two: style, types, the tests of every day
	@[ -e python/sojourn/_engine.abi3.so ] || $(MAKE) .venv/.checked
	@echo "== pytest, quick"
	@$(BIN)/pytest -m "not alone and not long and not browser" $(QUICK)

SAMPLE = --number $(or $(MUTANTS),40) --seed $(or $(SEED),1)
mutants: install ## Break Python code in 40 places (MUTANTS=…, SEED=…) and see whether tests notice
	@PYTHONPATH=tests $(BIN)/python -m mutants $(SAMPLE)

mutants-rust: .venv/.packages ## The same for Rust code, of one crate (CRATE=qdisc)
	@PYTHONPATH=tests $(BIN)/python -m mutants.rust --crate $(or $(CRATE),qdisc) $(SAMPLE)

# Everything of Rust that tests need in one go, so that nothing is compiled twice: their binaries,
# and the engines and the router with the same profile, quick to compile and with its checks.
compile: | .venv/pyvenv.cfg
	@echo "== cargo build"
	@$(CARGO) build $(ALL) --lib --bins --tests

# What `make install` has built serves the tests as well. If it is out of date, the profile of the
# tests takes its place until the next `make install`.
.venv/.checked: $(SOURCES) .venv/.packages | compile
ifeq ($(shell uname -s),Linux)
	@install -m 755 $(TARGET)/quick/lib_engine.so python/sojourn/_engine.abi3.so
	@install -m 755 $(TARGET)/quick/sojourn-router $(BIN)
	@echo "$(CURDIR)/python" > \
	  "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/sojourn.pth"
	@printf '#!%s\nimport sys\nfrom sojourn.cli import main\nsys.exit(main())\n' "$$PYO3_PYTHON" \
	  > $(BIN)/sojourn
	@chmod +x $(BIN)/sojourn
else
	@$(BIN)/maturin develop --quiet --profile quick --uv
endif
	@rm -f .venv/.extension
	@touch $@

tools:
	@tests/tools.sh

lint: lint-rust lint-python ## Check formatting, lints, types, imports and spelling

lint-rust: | .venv/pyvenv.cfg
	@echo "== rustfmt, clippy"
	@cargo fmt --all --check
	@rustfmt --edition 2024 --check $(LISTED)
	@$(CARGO) clippy $(ALL) --all-targets -- -D warnings
	@if cargo deny --version >/dev/null 2>&1; then echo "== cargo-deny"; \
	  cargo deny --locked --log-level error check licenses bans sources; fi

lint-python: .venv/.packages
	@echo "== ruff, mypy"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { $(BIN)/ruff format --check .; exit 1; }
	@$(BIN)/mypy --no-error-summary
	@echo "== spelling, lines"
	@$(BIN)/typos --format brief *.md docs benches python
	@$(BIN)/python tests/lines.py
	@echo "== imports"
	@PYTHONPATH=python $(BIN)/lint-imports --no-cache > .venv/imports.log \
	  || { cat .venv/imports.log; exit 1; }
	@$(BIN)/python tests/rust_circles.py

format: install ## Format all code, and write what is made from the schema
	@$(BIN)/python -m sojourn._typegen
	@$(BIN)/python docs/builder/fields.py
	@cargo fmt --all
	@rustfmt --edition 2024 $(LISTED)
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .

readme: install ## Write the outputs that README.md and the tutorial show, as they come now
	@$(BIN)/python tests/readme.py
	@$(BIN)/python tests/tutorial.py

docs: install ## Build the documentation as HTML, docs/site/index.html, and check its links
	@$(BIN)/python docs/builder

bench: install ## Measure speed beside what else is installed, for docs/explanation/performance.md
	@$(BIN)/python benches/run.py --keep

gates: ## Synthesize, place and route the banks in hardware/; the study pi-hardware shows the cost
	@$(PYTHON) hardware/cost.py docs/studies/results/hardware-cost.json docs/studies/pi-hardware.md

# For Linux with this version of the C library or a later one; elsewhere for this machine.
GLIBC ?= 2.17
ifeq ($(shell uname -s),Linux)
wheel: export SOJOURN_GLIBC := $(GLIBC)
endif
# Where the compiler has its tool for profiles, for the ways that packets go: twice the time.
# PGO=no leaves it.
wheel: export SOJOURN_PGO := $(or $(PGO),$(if $(wildcard \
    $(shell rustc --print sysroot 2>/dev/null)/lib/rustlib/*/bin/llvm-profdata),yes))
wheel: export CARGO_TARGET_DIR := $(abspath $(TARGET))
wheel: $(UV) ## Build dist/: a source distribution, and from that a wheel that needs no compiler
	@rm -rf dist
	@mkdir -p $(TARGET)
	@crates/wasm/build.sh \
	  || echo "!! NO WEBASSEMBLY: THE WHEEL HAS NO PAGE THAT COMPUTES (sojourn lab --export)." >&2
	@$(UV) build --build-constraints requirements.lock --out-dir dist \
	  --python "$(PYTHON_PATH)" \
	  > $(TARGET)/wheel.log 2>&1 || { cat $(TARGET)/wheel.log; exit 1; }
	@ls -l dist

# What other programs may take, and of that what needs an allocator only, built for a machine
# without a system.
CRATES := $(addprefix -p sojourn-,base qdisc tcp quic traffic records scenario link packets)
BARE := thumbv7em-none-eabihf
crates: ## Check the crates that others may take: without a system, documentation, packages built
	@echo "== $(BARE)"
	@[ -e "$$(rustc --print sysroot)/lib/rustlib/$(BARE)/lib" ] || rustup -q target add $(BARE)
	@$(CARGO) build --locked --quiet --profile quick --target $(BARE) --no-default-features \
	  -p sojourn-base -p sojourn-qdisc -p sojourn-tcp -p sojourn-quic
	@echo "== cargo doc"
	@RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --quiet --profile quick --no-deps $(CRATES)
	@echo "== cargo package"
	@$(CARGO) package --locked --quiet --allow-dirty $(CRATES)

clean: ## Remove what make has made
	rm -rf .venv .tools target dist docs/site runs/demo .pytest_cache .mypy_cache .ruff_cache
	rm -rf python/sojourn/lab/engine
	rm -f python/sojourn/_engine*.so
	find python tests benches docs -name __pycache__ -prune -exec rm -rf {} +
