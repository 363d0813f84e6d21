//===- Lowering.cpp - ops of other dialects, one by one to TTIR -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tt;

Operation *ToTTIR::make(StringRef name, TypeRange results, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
  OperationState state(op->getLoc(), ("ttir." + name).str(), operands, results, attributes);
  return b.create(state);
}

LogicalResult ToTTIR::replaceBy(StringRef name, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
  b.replaceOp(op, make(name, op->getResultTypes(), operands, attributes));
  return success();
}

LogicalResult ToTTIR::replaceBy(ValueRange values) {
  b.replaceOp(op, values);
  return success();
}

bool tt::hasTTIROp(StringRef name, MLIRContext *context) {
  return RegisteredOperationName::lookup(("ttir." + name).str(), context).has_value();
}

LogicalResult tt::lowerAll(Operation *root, StringRef dialect, function_ref<LogicalResult(ToTTIR &)> lower,
                           function_ref<bool(Operation *)> dropped) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (op->getName().getDialectNamespace() == dialect)
      ops.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  bool failedAny = false;
  SmallVector<Operation *> rest;
  for (Operation *op : ops) {
    if (dropped(op)) {
      rest.push_back(op);
      continue;
    }
    rewriter.setInsertionPoint(op);
    ToTTIR lowering(op, rewriter);
    auto isStatic = [](Type type) {
      auto shaped = dyn_cast<ShapedType>(type);
      return !shaped || (isa<RankedTensorType>(type) && shaped.hasStaticShape());
    };
    const bool known = llvm::all_of(op->getOperandTypes(), isStatic) && llvm::all_of(op->getResultTypes(), isStatic);
    LogicalResult lowered =
        known ? lower(lowering) : lowering.refuse("it has a tensor whose shape is not static, which TTIR has not");
    if (succeeded(lowered))
      continue;
    failedAny = true;
    op->emitError() << "'" << op->getName() << "' is not converted to TTIR: " << lowering.reason;
  }
  // Users come before what they use.
  for (Operation *op : llvm::reverse(rest)) {
    if (op->use_empty()) {
      rewriter.eraseOp(op);
    } else if (!failedAny) {
      failedAny = true;
      op->emitError() << "'" << op->getName() << "' is not converted to TTIR: something still uses it";
    }
  }
  return failure(failedAny);
}
