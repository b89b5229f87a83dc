# nodeb: build, run, test. Needs Python >= 3.11, a Rust toolchain and make; all else goes into .venv.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# pip looks for the maturin of .venv on the path, and maturin for the zig of .venv by the Python that it finds there.
WITH_BIN := PATH="$(CURDIR)/$(BIN):$$PATH"
PIP    := $(WITH_BIN) $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
EXT    := python/nodeb/_core.abi3.so
RUST   := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
MANYLINUX := manylinux_2_17
TYPES  := python/nodeb/scenario_types.py
SLOW   := -m "not slow"
CASES  := 64
PARTS  := --tests
# Processes that run tests in Python: more than there are processors, because half of the time tests wait.
TESTERS = $(shell $(PYTHON) -c 'import os; print((3 * (os.cpu_count() or 1) + 1) // 2)')
# Tests fill the processors: threads of linear algebra would wait for one another.
test-python test-programs: export OPENBLAS_NUM_THREADS := 1

.PHONY: help build run test test-all test-rust test-python test-programs plugins properties check lint types licences bench instructions playground fairness numbers consoles gallery trust docs wheel smoke clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: $(EXT) ## make .venv with the nodeb command in it (quick when nothing changed)

run: build ## set everything up, then a first download explained, two channels compared, a published study repeated
	@$(BIN)/python tools/first_run.py out

test: test-rust test-python ## run the tests (some ten minutes on two cores)

test-all: SLOW :=
test-all: CASES := 256
test-all: PARTS :=
test-all: test ## run the slow tests too: many more random scenarios, whole studies, kills at any moment, documentation

# With a fixed seed the property tests draw the same scenarios every time, so that a failure belongs to the change that
# is tested; `make properties` draws new ones.
test-rust: export CARGO_PROFILE_DEV_DEBUG := none
test-rust:
	PROPTEST_RNG_SEED=1 PROPTEST_CASES=$(CASES) cargo test --workspace --quiet $(PARTS)

plugins: ## build components of one's own outside the workspace, test them and run their scenarios
	cd examples/plugins && export CARGO_TARGET_DIR="$(CURDIR)/target" && cargo fmt --check && cargo test --locked --quiet && \
	  cargo run --locked --quiet -- scenarios/*.toml

properties: ## run the simulator's property tests in many more scenarios, new ones every time (minutes)
	PROPTEST_CASES=5000 cargo test -p nodeb-sim --test all properties --release

test-python: build $(VENV)/dev.stamp
	$(BIN)/python -m pytest --numprocesses $(TESTERS) --dist loadfile $(SLOW)

test-programs: build $(VENV)/dev.stamp ## run the tests that need further programs, such as tshark, nft and Chromium
	$(BIN)/python -m pytest --numprocesses $(TESTERS) --dist loadfile -m "needs and not slow"

check: lint test-all ## everything that a change must pass: formats, lints, types, all tests

lint: build $(VENV)/dev.stamp ## the static part of check
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff check --output-format concise .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest nodeb._core
	$(BIN)/python tools/generate_types.py --check $(TYPES)
	$(BIN)/python tools/third_party.py --check THIRD-PARTY.txt

types: build $(VENV)/dev.stamp ## regenerate the Python scenario types from the schema
	$(BIN)/python tools/generate_types.py $(TYPES)

licences: ## collect the licences of what a wheel holds again (needs npm); writes THIRD-PARTY.txt
	cd web && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	$(PYTHON) tools/third_party.py THIRD-PARTY.txt

bench: build ## run the benchmarks, side by side with ns-2 and IT++ where they are installed
	cargo build --release --quiet -p nodeb-phy -p nodeb-radio -p nodeb-sim \
	  --example turbo_speed --example grid_speed --example lte_speed --example simulate
	$(BIN)/python benches/speed.py

instructions: ## count instructions and memory, compare with benches/instructions.tsv (WRITE=1: write that)
	$(PYTHON) benches/instructions.py $(if $(WRITE),--write)

playground: ## build the page that simulates in a browser (needs node and Rust's WebAssembly target); `nodeb play` opens it
	tools/playground.sh

fairness: build ## measure how congestion controls share a bottleneck (minutes); writes docs/fairness.json
	$(BIN)/python validation/fairness.py docs/fairness.json

numbers: build ## measure the numbers of the documentation again (a minute); writes docs/numbers.json
	$(BIN)/python docs/refresh.py numbers

consoles: build ## run the commands on the pages again; writes their outputs
	$(BIN)/python docs/refresh.py consoles

gallery: build $(VENV)/dev.stamp ## draw the examples and README's picture again (minutes, needs Chromium); writes docs/images
	$(BIN)/python docs/refresh.py front
	$(BIN)/python docs/refresh.py gallery

trust: build ## compare with every reference again: studies, ns-2, Linux, decoders, closed forms (hours); writes docs/trust.json
	$(BIN)/python validation/trust.py $(if $(QUICK),--quick) $(if $(TRACES),--traces $(TRACES))

docs: build $(VENV)/docs.stamp ## build the documentation site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Tagged for old distributions too, as zig links against the oldest C library that its tag allows. Paths of this machine
# stay out of it.
PLAIN  := --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=cargo --remap-path-prefix=$(CURDIR)=nodeb
wheel: $(VENV)/wheel.stamp ## make dist/: a wheel for this kind of machine (manylinux) and the sources
	rm -rf dist
	$(WITH_BIN) RUSTFLAGS="$(PLAIN)" maturin build --release --zig --compatibility $(MANYLINUX) --out dist --quiet
	$(BIN)/maturin sdist --out dist > $(VENV)/sdist.log 2>&1 || { cat $(VENV)/sdist.log >&2; exit 1; }

smoke: wheel ## install what is in dist/ where there is nothing, not even Rust, and run an example
	tools/smoke.sh

clean: ## remove everything that was built (results in out/ stay)
	rm -rf $(VENV) target site dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -f python/nodeb/_core*.so python/nodeb/play/{play.html,live.js}
	rm -rf web/node_modules
	find python tests tools benches docs validation -name __pycache__ -type d -prune -exec rm -rf {} +

# --- what the targets above are made of ---

# The first install builds the extension too (release mode); later changes of Rust only rebuild it.
$(VENV)/core.stamp: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: $(PYTHON) is too old, nodeb needs Python >= 3.11 (make PYTHON=...)" >&2; exit 1; }
	@echo 'first build: installing Python packages into $(VENV) and compiling the simulator (a few minutes)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) pip maturin
	@$(PIP) --no-build-isolation --editable .
	@touch $@

$(EXT): $(RUST) | $(VENV)/core.stamp
	@echo 'building the simulator'
	@$(BIN)/maturin develop --release --skip-install --quiet > $(VENV)/build.log 2>&1 \
	  || { cat $(VENV)/build.log >&2; exit 1; }
	@touch $@

$(VENV)/dev.stamp: $(VENV)/core.stamp
	@$(PIP) --no-build-isolation --editable '.[dev]'
	@touch $@

$(VENV)/wheel.stamp: $(VENV)/core.stamp
	@$(PIP) ziglang
	@touch $@

$(VENV)/docs.stamp: $(VENV)/core.stamp
	@$(PIP) --no-build-isolation --editable '.[docs]'
	@touch $@
