#!/usr/bin/env bash
# Checks formatting and style of C++ and Python; --fix mends what can be mended.
#
# usage: scripts/lint.sh [--fix]
set -euo pipefail
case ${1:-} in
  "" | --fix) ;;
  -h | --help) sed -n '2,/^set/s/^# \?//p' "$0"; exit ;;
  *) echo "lint: unknown option $1; known: --fix" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
mapfile -t cpp < <(git ls-files '*.cpp' '*.h')
if [ "${1:-}" = --fix ]; then
  clang-format-22 -i "${cpp[@]}"
  .venv/bin/ruff check --fix .
  .venv/bin/ruff format .
else
  clang-format-22 --dry-run --Werror "${cpp[@]}"
  .venv/bin/ruff check .
  .venv/bin/ruff format --check .
  echo "lint: clean"
fi
