//===- HostArguments.cpp - arguments and results of host functions --------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::tt {
#define GEN_PASS_DEF_PREPAREHOSTARGUMENTS
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

/// Returns the type that replaces a tensor without elements at the boundary; null for a tensor with elements.
static RankedTensorType emptied(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  const bool isEmpty = tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
  return isEmpty ? RankedTensorType::get({0}, tensor.getElementType()) : RankedTensorType();
}

namespace {
struct PrepareHostArguments : tt::impl::PrepareHostArgumentsBase<PrepareHostArguments> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return markAllAnalysesPreserved();
    OpBuilder builder(&getContext());
    auto empty = [&](Location loc, RankedTensorType type) -> Value {
      return tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
    };
    builder.setInsertionPointToStart(&function.getBody().front());
    for (BlockArgument argument : function.getArguments()) {
      if (!isa<TensorType>(argument.getType()))
        continue;
      if (RankedTensorType type = emptied(argument.getType())) {
        argument.replaceAllUsesWith(empty(argument.getLoc(), cast<RankedTensorType>(argument.getType())));
        argument.setType(type);
      }
      function.setArgAttr(argument.getArgNumber(), bufferization::BufferizationDialect::kWritableAttrName,
                          builder.getBoolAttr(false));
    }
    SmallVector<Type> results(function.getResultTypes());
    for (Type &result : results)
      if (RankedTensorType type = emptied(result))
        result = type;
    function.walk([&](func::ReturnOp end) {
      builder.setInsertionPoint(end);
      for (OpOperand &operand : end->getOpOperands())
        if (RankedTensorType type = emptied(operand.get().getType()))
          operand.set(empty(end.getLoc(), type));
    });
    function.setFunctionType(builder.getFunctionType(function.getBody().front().getArgumentTypes(), results));
  }
};
} // namespace
