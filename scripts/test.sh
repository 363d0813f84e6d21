#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every test of a built tree: C++ (ctest), MLIR (lit), the documents' programs, Python (pytest, last).
#
# usage: scripts/test.sh [--all]     --all: also the sanitizer build with the full count of mutations, and slow tests
set -euo pipefail
case ${1:-} in
  "" | --all) ;;
  -h | --help) sed -n '2,/^set/{/SPDX/d;s/^# \?//p}' "$0"; exit ;;
  *) echo "test: unknown option $1; known: --all" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
jobs=$(nproc)
all=${1:-}
# Importing PyTorch takes 5 s without bytecode and 2 s with it, and tests start hundreds of processes: the first one leaves
# it in the build folder, also where the environment wants none beside sources.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$PWD/build/pycache

echo "== C++ tests"
ctest --preset dev --parallel "$jobs" --output-on-failure
echo "== the op table and networks under every cap of vector units"
.venv/bin/python test/python/ops/run_under_units.py
echo "== MLIR tests"
.venv/bin/lit --quiet --workers "$jobs" test/ttmlir
acceptance=${TTMLIR_ACCEPTANCE:-../shared/acceptance}
if [ -d "$acceptance" ]; then
  echo "== programs of the documents"
  pattern=$(grep -v '^#' test/acceptance.txt | paste -sd'|')
  flags=$(PYTHONPATH=build/python_packages .venv/bin/python -c 'import ttnn; print(*ttnn.config.backend_flags())')
  programs=(.venv/bin/python "$acceptance/run_snippets.py" -j "$jobs" --path build/python_packages --path tools --repo-root .
    --cxxflags="$flags")
  "${programs[@]}" --only "^($pattern)"
  # One at a time, and in a folder of their own: they reset all chips of this user that they see.
  publish=$(mktemp -d)
  TTRT_PUBLISH=$publish "${programs[@]}" -j 1 --only "^tt_smi/1[12]"
  rm -rf "$publish"
  # Version 5 of transformers does not take an argument that these pass.
  "${programs[@]}" --only "^pybuda/test_transformers" --path .venv/transformers-4
  # By the environment: without TensorFlow the program would be skipped, which is looked for without --path.
  said=$(PYTHONPATH=$PWD/.venv/tensorflow-2 "${programs[@]}" --only "^pybuda_guide/10") || true
  echo "$said"
  [[ $said == *"1 passed, 0 failed" && $said != *skipped* ]]
  echo "== checks of what these programs compute"
  # They write into the working directory.
  checks=$(realpath "$acceptance/checks") python=$PWD/.venv/bin/python scratch=$(mktemp -d)
  (cd "$scratch" && "$python" -m pytest -q -p no:cacheprovider "$checks")
  rm -rf "$scratch"
else
  # Said by pytest at its end, where it is read (test/python/conftest.py).
  export TTMLIR_TESTS_LEFT_OUT="the programs of the documents: $acceptance is not there (TTMLIR_ACCEPTANCE names it)"
  echo "== NOT RUN: $TTMLIR_TESTS_LEFT_OUT"
fi
if [ "$all" = --all ]; then
  echo "== sanitizers"
  cmake --preset sanitize >/dev/null
  cmake --build --preset sanitize
  ctest --preset sanitize --parallel "$jobs" --output-on-failure
fi
echo "== Python tests"
.venv/bin/python -m pytest -q -n "$jobs" ${all:+--slow}
