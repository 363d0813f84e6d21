#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MLIR 22.1.8, pass `arith-expand`: the maximum of +0.0 and -0.0 is -0.0 after it.
#
# `arith.maximumf` treats -0.0 as less than +0.0, and MLIR's own folder computes +0.0 for maximumf(+0.0, -0.0). The pass
# expands the op to a comparison `ugt` and a select. Zeros of both signs compare equal, so the second operand is
# selected whatever its sign is: lowering changes the sign of a zero, and 1 / max(x, y) changes between +Inf and -Inf.
# `arith.minimumf` is expanded alike.
#
# Prints the folded and the expanded result. Exits with 1 when they are not those that were seen.
set -euo pipefail
version=1:22.1.8-1~deb12u1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq mlir-22-tools="$version" libmlir-22="$version" libllvm22="$version" >/dev/null
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/llvm-22/lib:$folder/root/usr/lib/x86_64-linux-gnu
opt=$folder/root/usr/lib/llvm-22/bin/mlir-opt

cat >operands.mlir <<'MLIR'
func.func @maximum() -> f32 {
  %plus = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %0 = func.call @of(%plus, %minus) : (f32, f32) -> f32
  return %0 : f32
}
func.func private @of(%a: f32, %b: f32) -> f32 {
  %0 = arith.maximumf %a, %b : f32
  return %0 : f32
}
MLIR
result() { "$opt" "$@" | sed -n 's/.*arith.constant \([-0-9.e+]*\) : f32.*/\1/p' | head -1; }
"$opt" --version | grep -i version
folded=$(result operands.mlir --inline --canonicalize)
expanded=$(result operands.mlir --arith-expand --inline --canonicalize)
echo "maximumf(+0.0, -0.0): folded $folded, expanded by arith-expand $expanded"
[ "$folded" = 0.000000e+00 ] && [ "$expanded" = -0.000000e+00 ]
