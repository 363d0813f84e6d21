#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MLIR 22.1.8, `MLIRContext::getRegisteredOperationsByDialect`: finds no operations of some dialects that are loaded.
#
# The function promises the operations that are registered for a dialect. It looks for them in a sorted list with a
# predicate that is true for every name that differs, so that the search goes past dialects whose names come late in the
# list. Which dialects have an answer depends on what else is loaded. `getRegisteredOperations` lists all operations,
# and its result can be filtered.
#
# Prints for six dialects how many operations are registered and how many the function finds. Exits with 1 when they are
# not those that were seen.
set -euo pipefail
version=1:22.1.8-1~deb12u1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq libmlir-22-dev="$version" libmlir-22="$version" llvm-22-dev="$version" libllvm22="$version" \
  >/dev/null
for package in *.deb; do dpkg -x "$package" root; done
llvm=$folder/root/usr/lib/llvm-22
export LD_LIBRARY_PATH=$llvm/lib:$folder/root/usr/lib/x86_64-linux-gnu

cat >count.cpp <<'CPP'
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"

#include <cstdio>

int main() {
  mlir::MLIRContext context;
  context.loadDialect<mlir::arith::ArithDialect, mlir::complex::ComplexDialect, mlir::func::FuncDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect>();
  for (const char *dialect : {"arith", "builtin", "complex", "func", "math", "scf"}) {
    size_t registered = 0;
    for (mlir::RegisteredOperationName op : context.getRegisteredOperations())
      registered += op.getDialectNamespace() == dialect;
    std::printf("%s: %zu registered, %zu found\n", dialect, registered,
                context.getRegisteredOperationsByDialect(dialect).size());
  }
}
CPP
c++ -std=c++17 -fno-rtti -I"$llvm/include" -I"$folder/root/usr/include/llvm-22" -I"$folder/root/usr/include/llvm-c-22" \
  count.cpp -o count "$llvm/lib/libMLIR.so.22.1" -L"$folder/root/usr/lib/x86_64-linux-gnu" -lLLVM-22 \
  -Wl,--allow-shlib-undefined
./count | tee seen
diff seen - <<'SEEN'
arith: 51 registered, 51 found
builtin: 2 registered, 2 found
complex: 29 registered, 29 found
func: 5 registered, 0 found
math: 46 registered, 0 found
scf: 12 registered, 0 found
SEEN
