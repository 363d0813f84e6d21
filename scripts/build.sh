#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up what is missing and builds, under one progress bar; logs are in build/log.
#
# usage: scripts/build.sh [--product | --tests] [--demo]
#
#   --product   what users call, and no tests
#   --tests     also what only tests need
#   --demo      what the demo needs (TTIR to TTNN, half of the compiler, and no tools), and then the demo under the same
#               bar
set -euo pipefail
cd "$(dirname "$0")/.."
target=all first=product tests=false demo=false
for option in "$@"; do
  case $option in
    -h | --help) sed -n '2,/^set/{/SPDX/d;s/^# \?//p}' "$0"; exit ;;
    --product) target=product ;;
    --tests) tests=true ;;
    --demo) target=demo first=demo demo=true ;;
    *) echo "build: unknown option $option; known: --product --tests --demo" >&2; exit 2 ;;
  esac
done
source scripts/progress.sh
export NINJA_STATUS="[%f/%t] "

# Ends of the steps on the bar, in thousandths: most is compiling.
if $demo; then built=900; elif [ $target = all ]; then built=700; else built=1000; fi

# The demo needs no StableHLO, D2M and emitted programs, and no tests; where the tree has them, they stay.
whole=ON python_packages=python packages=packages
if $demo && ! grep -qs '^TTMLIR_BUILD_OPTIONAL:BOOL=ON$' build/CMakeCache.txt; then
  whole=OFF python_packages=demo-python packages=demo-packages
fi

configure() {
  cmake --preset dev -DTTMLIR_BUILD_OPTIONAL=$whole -DTTMLIR_BUILD_TESTS=$whole -DTTRT_TESTS=$whole "$@"
}
build() { cmake --build --preset dev --target "$1"; }

# PyTorch and the sources of MLIR's bindings come while Debian's packages are installed and what needs neither is
# compiled; where those packages bring what fetches them, after the packages.
start_python() { start python "Python packages" scripts/setup.sh build-python $python_packages; }
start_sources() { start sources "sources of MLIR's bindings" scripts/setup.sh sources; }
python_early=false sources_early=false
if python3 -c 'import ensurepip, venv' 2>/dev/null; then python_early=true; start_python; fi
if command -v xz >/dev/null; then sources_early=true; start_sources; fi
step "Debian packages" 0 80
run packages scripts/setup.sh $packages
$python_early || start_python
$sources_early || start_sources
step "Python for the build" 80 100
wait_for_line python "== setup: .venv can build"
if $tests; then start browser "a browser" scripts/setup.sh browser; fi
sleep 1
check_jobs

if [ -n "${job_pid[sources]:-}" ]; then
  step "configuring" 100 110
  run configure configure -DTTMLIR_BUILD_PYTHON=OFF -DTTRT_PYTHON=ON
  step "compiling" 110 $((built - 150))
  run build build $first
  step "waiting for the sources of MLIR's bindings" $((built - 150)) $((built - 150))
  wait_for sources
  step "configuring" $((built - 150)) $((built - 140))
  run configure configure -DTTMLIR_BUILD_PYTHON=ON
  step "compiling" $((built - 140)) "$built"
else
  step "configuring" 100 110
  run configure configure -DTTMLIR_BUILD_PYTHON=ON
  step "compiling" 110 "$built"
fi
# Stubs for editors are made by importing what they describe, PyTorch with it.
if [ "$target" = all ]; then
  run build build product
  step "waiting for Python packages" "$built" "$built"
  wait_for python
  step "compiling tests and stubs" "$built" 1000
fi
run build build "$target"
for job in "${!job_pid[@]}"; do
  step "waiting for ${job_text[$job]}" 900 900
  wait_for "$job"
done
if $demo; then
  step "training and running" 900 1000
  if $bar_terminal; then
    FORCE_COLOR=1 COLUMNS=$(tput cols) && export FORCE_COLOR COLUMNS
  fi
  run demo .venv/bin/python -u examples/digits/demo.py --progress-lines
  bar_clear
  grep -v '^\[[0-9]*/[0-9]*\]' $logs/demo.log
  exit
fi
bar_clear
echo "built in $((SECONDS - bar_started)) s"
