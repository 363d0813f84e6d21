//===- Inline.cpp - a function's body in the place of a call --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Inline.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::tt;

SmallVector<Operation *> ttcore::inlineCall(func::CallOp call, func::FuncOp callee) {
  OpBuilder builder(call);
  IRMapping mapping;
  Block &body = callee.getBody().front();
  mapping.map(body.getArguments(), call.getOperands());
  SmallVector<Operation *> copies;
  for (Operation &op : body.without_terminator()) {
    Operation *copy = copies.emplace_back(builder.clone(op, mapping));
    copy->walk([&](Operation *inner) { inner->setLoc(CallSiteLoc::get(inner->getLoc(), call.getLoc())); });
  }
  for (auto [result, returned] : llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
  call.erase();
  return copies;
}
