#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks formatting and style of C++ and Python, types of Python, licence lines, and
# words (docs/glossary.md, docstrings, subjects of commits); --fix mends what can be mended.
#
# usage: scripts/lint.sh [--fix]
set -euo pipefail
case ${1:-} in
  "" | --fix) ;;
  -h | --help) sed -n '2,/^set/{/SPDX/d;s/^# \?//p}' "$0"; exit ;;
  *) echo "lint: unknown option $1; known: --fix" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
mapfile -t cpp < <(git ls-files '*.cpp' '*.h')
if [ "${1:-}" = --fix ]; then
  clang-format-22 -i "${cpp[@]}"
  .venv/bin/ruff check --fix .
  .venv/bin/ruff format .
  scripts/spdx.py --fix
else
  clang-format-22 --dry-run --Werror "${cpp[@]}"
  .venv/bin/ruff check .
  .venv/bin/ruff format --check .
  [ -e build/python_packages/ttmlir/ir.pyi ] || { echo "lint: type stubs are not there; run make build" >&2; exit 1; }
  .venv/bin/mypy
  .venv/bin/mypy scripts/spdx.py
  for folder in digits meshes models torch ttnn; do # some have programs of the same name
    .venv/bin/mypy examples/$folder/*.py
  done
  scripts/spdx.py
  scripts/words.py
  echo "lint: clean"
fi
