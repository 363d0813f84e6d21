#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of a built tree: C++ (ctest), MLIR (lit), the documents' programs, Python (pytest, shown last).
#
# usage: scripts/test.sh [--since REV | --all]
#
#   --since REV  the tests of the files that differ from REV, as scripts/choose_tests.py lists them
#   --all        also the slow tests, and the sanitizer build with the full count of mutations
set -euo pipefail
sanitizers=false since= chosen=()
case ${1:-} in
  --since)
    since=${2:-}
    [ -n "$since" ] || { echo "test: --since takes a revision" >&2; exit 2; }
    shift ;;
  "") ;;
  --all) chosen=(--slow) sanitizers=true ;;
  -h | --help) sed -n '2,/^set/{/SPDX/d;/^set/d;s/^# \?//p}' "$0"; exit ;;
  *) echo "test: unknown option $1; known: --since --all" >&2; exit 2 ;;
esac
[ $# -le 1 ] || { echo "test: one option at a time, not also $2" >&2; exit 2; }
cd "$(dirname "$0")/.."
jobs=$(nproc)
# Importing PyTorch takes 5 s without bytecode and 2 s with it, and tests start hundreds of processes: the first one leaves
# it in the build folder, also where the environment keeps none next to sources.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$PWD/build/pycache
# Each process has as many threads as there are processors, and there are several processes: threads that spin while they
# wait take more than half of the processors from those that compute.
export OMP_WAIT_POLICY=passive
acceptance=${TTMLIR_ACCEPTANCE:-../shared/acceptance}
# Each Python that it starts is a fork of a process that has imported PyTorch, which saves the seconds of the import.
forked_python=(.venv/bin/python test/python/installing/forked_python.py)

# named KIND: those of a kind that scripts/choose_tests.py lists.
named() { sed -n "s/^$1 //p" <<<"$choice"; }

chosen_native_tests() {
  local names
  for names in $(named cpp); do
    echo "== C++ tests: $names"
    build/bin/"$names" --gtest_brief=1 || return
  done
  mapfile -t names < <(named lit)
  if [ -n "${names[*]}" ]; then
    echo "== MLIR tests: ${names[*]}"
    .venv/bin/lit --quiet --workers "$jobs" "${names[@]/#/test/ttmlir/}" || return
  fi
}

chosen_python_tests() {
  local names
  mapfile -t names < <(named python)
  if [ -n "${names[*]}" ]; then
    echo "== Python tests: ${names[*]}"
    .venv/bin/python -m pytest -q -n "$jobs" "${names[@]/#/test/python/}" || return
  fi
  mapfile -t names < <(named units)
  if [ -n "${names[*]}" ]; then
    echo "== the op table under every cap of vector units: ${names[*]}"
    .venv/bin/python test/python/ops/run_under_units.py --only "${names[@]}" || return
  fi
  names=$(named programs | paste -sd'|')
  if [ -n "$names" ] && [ -d "$acceptance" ]; then
    echo "== programs of the documents: $names"
    "${forked_python[@]}" "$acceptance/run_snippets.py" -j "$jobs" --path build/python_packages --path tools \
      --repo-root . --timeout 1200 --only "^($names)" || return
  fi
}

source scripts/progress.sh

# in_parallel JOB...: functions, so that nothing waits for programs that sleep and for the last of each. Their output is
# shown one after the other; fails where one fails.
in_parallel() {
  local each
  for each in "$@"; do start "$each" "" "$each"; done
  for each in "$@"; do
    tail --pid="${job_pid[$each]}" -n +1 -f "$logs/$each.log"
    wait "${job_pid[$each]}" || true
  done
  check_jobs
}

if [ -n "$since" ]; then
  choice=$(.venv/bin/python scripts/choose_tests.py "$since")
  if [ "$choice" = all ]; then
    echo "== a file that differs from $since concerns all tests"
  else
    [ -n "$choice" ] || { echo "== nothing that has tests differs from $since"; exit; }
    in_parallel chosen_native_tests chosen_python_tests
    exit
  fi
fi

if $sanitizers; then
  echo "== sanitizers"
  cmake --preset sanitize >/dev/null
  cmake --build --preset sanitize
  ctest --preset sanitize --parallel "$jobs" --output-on-failure
fi

cpp_tests() {
  # ctest knows each test by name, and starts a process for each: all tests of a program in one process take a third of
  # the time. Without a cap, kernels use the best units, so that ctest leaves out the cap that allows all of them.
  local each best
  for each in shapes-tests ttrt-tests ttnn-tests; do
    echo "== C++ tests: $each"
    TTRT_POISON=1 build/bin/$each --gtest_brief=1 || return
  done
  best=$(PYTHONPATH=build/python_packages .venv/bin/python -c \
    'import _ttmlir_runtime as rt; print(*rt.runtime.get_available_units()[-1:])') || return
  echo "== C++ tests under every other cap of vector units, and damaged flatbuffers"
  ctest --preset dev --output-on-failure --exclude-regex "^(runtime|ttnn|shapes)\.[A-Z]|\.units\.${best:-none}\$"
}

units_and_passes() {
  echo "== the op table and networks under every cap of vector units"
  .venv/bin/python test/python/ops/run_under_units.py || return
  echo "== MLIR tests"
  .venv/bin/lit --quiet --workers "$jobs" test/ttmlir
}

native_tests() { cpp_tests && units_and_passes; }

python_tests() {
  echo "== Python tests ${chosen[*]}"
  # run_under_units.py compares the rows of the op table, also with all vector units of the CPU. The tests of a file go to
  # one process as long as both have work, so that what they share is made once. The slowest are listed at the end.
  .venv/bin/python -m pytest -q -n "$jobs" --dist worksteal --durations=40 --durations-min=3 "${chosen[@]}" \
    --deselect 'test/python/ops/test_op_tables.py::test_agrees_with_golden['
}

if [ ! -d "$acceptance" ]; then
  # Said by pytest at its end, where it is read (test/python/conftest.py).
  export TTMLIR_TESTS_LEFT_OUT="the programs of the documents: $acceptance is not there (TTMLIR_ACCEPTANCE names it)"
  echo "== NOT RUN: $TTMLIR_TESTS_LEFT_OUT"
  in_parallel native_tests python_tests
  exit
fi

scratch=$PWD/build/tests
rm -rf "$scratch"
mkdir -p "$scratch"/{checks,chips,reset}
flags=$(PYTHONPATH=build/python_packages .venv/bin/python -c 'import ttnn; print(*ttnn.config.backend_flags())')
# One more than there are processors: some wait for seconds.
# Its limits are of wall time, which other work on the machine uses up.
programs=("$acceptance/run_snippets.py" -j $((jobs + 1)) --path build/python_packages --path tools --repo-root .
  --cxxflags="$flags" --timeout 1200)

most_programs() {
  echo "== programs of the documents"
  # A folder of its own: tt-smi would see the chips of the Python tests.
  local pattern
  pattern=$(grep -v '^#' test/acceptance.txt | paste -sd'|')
  TTRT_PUBLISH=$scratch/chips "${forked_python[@]}" "${programs[@]}" --only "^($pattern)"
}

other_programs() {
  echo "== programs of the documents that need something else"
  # One at a time, where they see no others: they reset all chips.
  TTRT_PUBLISH=$scratch/reset .venv/bin/python "${programs[@]}" -j 1 --only "^tt_smi/1[12]" || return
  # Version 5 of transformers does not take an argument that these pass.
  .venv/bin/python "${programs[@]}" --only "^pybuda/test_transformers" --path .venv/transformers-4 || return
  # By the environment: without TensorFlow the program would be skipped, which is looked for without --path.
  local said
  said=$(PYTHONPATH=$PWD/.venv/tensorflow-2 .venv/bin/python "${programs[@]}" --only "^pybuda_guide/10") || true
  echo "$said"
  [[ $said == *"1 passed, 0 failed" && $said != *skipped* ]] || return
  echo "== checks of what these programs compute"
  local checks python=$PWD/.venv/bin/python
  checks=$(realpath "$acceptance/checks")
  (cd "$scratch/checks" && "$python" -m pytest -q -p no:cacheprovider "$checks") # they write into the working directory
}

in_parallel native_tests most_programs other_programs python_tests
