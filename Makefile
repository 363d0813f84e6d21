# The commands of the project; each sets up what it needs first.
.PHONY: help setup build demo test test-all bench lint format docs clean

python := .venv/bin/python

help:
	@echo "make demo      set up, build, and run a trained network on a simulated chip"
	@echo "make build     set up and build all; the demo needs a part"
	@echo "make test      set up, build, and run the tests"
	@echo "make test SINCE=REV  the tests of what differs from a revision, like HEAD or origin/main"
	@echo "make test-all  also the slow ones (sanitizers, fuzzing at full length)"
	@echo "make bench     compare with PyTorch, OpenVINO and oneDNN, with ratios and a plot"
	@echo "make lint      check formatting, style and words;  make format  mend it"
	@echo "make docs      reference pages of the dialects and passes, in build/docs"
	@echo "make setup | clean"

setup:
	@scripts/setup.sh

build:
	@scripts/build.sh

demo:
	@scripts/build.sh --demo

test:
	@scripts/build.sh --tests
	@scripts/test.sh $(if $(SINCE),--since $(SINCE))

test-all:
	@scripts/setup.sh --sanitize packages
	@scripts/build.sh --tests
	@scripts/test.sh --all

bench: build
	@scripts/setup.sh --bench python
	@cmake --build --preset dev --target ttrt-bench-kernels
	@$(python) -m bench

docs: build
	@$(python) scripts/reference.py

lint format:
	@scripts/setup.sh packages build-python python
	@scripts/lint.sh $(if $(filter format,$@),--fix)

clean:
	rm -rf build build-sanitize build-wheel-*
