# The commands of the project; each sets up what it needs first.
.PHONY: help setup build demo test test-all bench lint format docs clean

python := .venv/bin/python

help:
	@echo "make demo      set up, build, and run a trained network on a simulated chip"
	@echo "make test      set up, build, and run every test"
	@echo "make test-all  the same, with the slow ones (sanitizers, fuzzing at full length)"
	@echo "make bench     ours beside PyTorch, OpenVINO and oneDNN, with ratios and a plot"
	@echo "make lint      check formatting and style;  make format  mend it"
	@echo "make docs      reference pages of the dialects and passes, in build/docs"
	@echo "make build | setup | clean"

setup:
	@scripts/setup.sh

build: setup
	@cmake --preset dev -DTTMLIR_BUILD_TESTS=ON >build-configure.log 2>&1 || { cat build-configure.log; exit 1; }
	@mv build-configure.log build/configure.log
	@echo "== building (log of the configuration: build/configure.log)"
	@cmake --build --preset dev

demo: build
	@$(python) examples/digits/demo.py

test: build
	@scripts/test.sh

test-all: build
	@scripts/setup.sh --sanitize
	@scripts/test.sh --all

bench: build
	@scripts/setup.sh --bench
	@cmake --build --preset dev --target ttrt-bench-kernels
	@$(python) -m bench

docs: build
	@$(python) scripts/reference.py

lint: setup
	@scripts/lint.sh

format: setup
	@scripts/lint.sh --fix

clean:
	rm -rf build build-sanitize build-wheel-*
