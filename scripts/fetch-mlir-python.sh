#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the sources of MLIR's Python bindings, which Debian's MLIR packages leave out, from Debian's own source
# package of the same version, and prints the folder that holds them.
#
# usage: scripts/fetch-mlir-python.sh [CACHE]     (default: ${XDG_CACHE_HOME:-~/.cache}/ttmlir)
set -euo pipefail

version=22.1.8
archive=llvm-toolchain-22_${version}.orig.tar.xz
sha256=b49b9277aef97616320b2da259e1f8174c65b0ce2fbe2e8629644a97693402fe
cache=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/ttmlir}
target=$cache/mlir-python-$version

if [ -f "$target/.complete" ]; then
  echo "$target"
  exit 0
fi

say() { echo "fetch-mlir-python: $*" >&2; }
fail() { say "error: $*"; exit 1; }
command -v apt-get >/dev/null || fail "apt-get is not on this machine; put the MLIR $version sources in $target by hand"

mkdir -p "$cache"
work=$(mktemp -d "$cache/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/parts"

# An apt configuration of its own: the machine's source list stays as it is, and no root is needed.
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=${TTMLIR_DEBIAN_MIRROR:-http://deb.debian.org/debian}
echo "deb-src [signed-by=$keyring] $mirror trixie main" >"$work/sources.list"
options=(-o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts="$work/parts"
         -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User="$(id -un)")

say "downloading Debian's source archive of LLVM $version (197 MB)"
apt-get "${options[@]}" update >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "apt-get update failed"; }
(cd "$work" && apt-get "${options[@]}" source --download-only --tar-only "llvm-toolchain-22=1:${version}*" \
  || apt-get "${options[@]}" source --download-only --tar-only llvm-toolchain-22) >>"$work/log" 2>&1 \
  || { cat "$work/log" >&2; fail "apt-get source failed"; }
tarball=$work/$archive
[ -f "$tarball" ] || { ls "$work" >&2; fail "expected $archive; the archive now serves another version"; }
echo "$sha256  $tarball" | sha256sum --check --quiet >&2 || fail "checksum of $archive is wrong"

say "extracting mlir/python and mlir/lib/Bindings/Python"
mkdir "$work/tree"
tar -xJf "$tarball" -C "$work/tree" --strip-components=2 --wildcards '*/mlir/python/*' '*/mlir/lib/Bindings/Python/*'
touch "$work/tree/.complete"
rm -rf "$target"
mv "$work/tree" "$target"
echo "$target"
