#!/usr/bin/env bash
# Installs what building and testing need: Debian packages, the virtual environment .venv, and the sources of MLIR's
# Python bindings. Says what it does, skips what is done, and can be run again.
#
# usage: scripts/setup.sh [--bench] [--sanitize]
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22 clang-format-22
  libzstd-dev zlib1g-dev libxml2-dev libedit-dev libffi-dev
  flatbuffers-compiler libflatbuffers-dev libdnnl-dev libgtest-dev
  cmake ninja-build ccache dpkg-dev gcc g++ make git python3 python3-venv python3-dev
)
groups=(dev)
for option in "$@"; do
  case $option in
    -h | --help) sed -n '2,/^set/{/SPDX/d;s/^# \?//p}' "$0"; exit ;;
    --bench) groups+=(bench) ;;
    --sanitize) packages+=(libclang-rt-22-dev) ;;
    *) echo "setup: unknown option $option; known: --bench --sanitize" >&2; exit 2 ;;
  esac
done

say() { echo "== setup: $*"; }

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
# A browser is for tests of the profiler's page, which are skipped without one.
browser=
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
  browser=${browser:-$(command -v $name || true)}
done

install=(apt-get install -y --no-install-recommends)
sudo=()
may_install=true
if [ "$(id -u)" != 0 ]; then
  if sudo -n true 2>/dev/null; then sudo=(sudo); else may_install=false; fi
fi
if [ ${#missing[@]} -gt 0 ]; then
  if ! $may_install; then
    echo "setup: ${#missing[@]} Debian packages are missing and this is not root. Run:" >&2
    echo "    sudo apt-get update && sudo ${install[*]} ${missing[*]}" >&2
    exit 1
  fi
  say "installing ${missing[*]}"
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" "${missing[@]}" >/dev/null
else
  say "Debian packages: there"
fi
if [ -z "$browser" ]; then
  say "installing chromium-headless-shell, for tests of the profiler's page"
  if ! { $may_install && { [ ${#missing[@]} -gt 0 ] || "${sudo[@]}" apt-get update -qq; } &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" chromium-headless-shell fonts-dejavu-core >/dev/null; }; then
    say "no browser could be installed: tests of the profiler's page will be skipped"
  fi
fi

if [ ! -x .venv/bin/python ]; then
  say "creating .venv"
  python3 -m venv .venv
fi
stamp=.venv/.installed
want=$(sha256sum pyproject.toml | cut -d' ' -f1)" ${groups[*]}"
if [ "$(cat $stamp 2>/dev/null)" != "$want" ]; then
  say "installing Python packages (${groups[*]}) into .venv"
  .venv/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
  .venv/bin/python -m pip install --quiet "${groups[@]/#/--group=}"
  echo "$want" >$stamp
else
  say "Python packages: there"
fi

# Python in .venv sees the build tree and the sources.
site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\n' "$PWD/build/python_packages" "$PWD/tools" >"$site/ttmlir-dev.pth"
cat >.venv/bin/ttrt <<END
#!$PWD/.venv/bin/python
import sys
from ttrt.__main__ import main
sys.exit(main())
END
chmod +x .venv/bin/ttrt

sources=$(scripts/fetch-mlir-python.sh)
say "sources of MLIR's Python bindings: $sources"
