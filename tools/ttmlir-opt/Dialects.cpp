//===- Dialects.cpp - loads all dialects at once --------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// For tests: contexts of Python load every registered dialect, those of the tools one after the other.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/InitAll.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  mlir::DialectRegistry registry;
  mlir::tt::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  for (mlir::Dialect *dialect : context.getLoadedDialects())
    llvm::outs() << dialect->getNamespace() << '\n';
}
