//===- KVCacheDtypeConversion.cpp - block formats for key/value caches ----===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNKVCACHEDTYPECONVERSION
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

static bool isCache(BlockArgument argument) {
  return llvm::any_of(argument.getUses(), [](OpOperand &use) {
    return use.getOperandNumber() == 0 && use.getOwner()->hasTrait<trait::WritesCache>();
  });
}

namespace {
struct KVCacheDtypeConversion : ttnn::impl::TTNNKVCacheDtypeConversionBase<KVCacheDtypeConversion> {
  using Base::Base;

  void runOnOperation() override {
    if (targetDtype == BFPDtype::None)
      return;
    const ttcore::DataType format = toDataType(targetDtype);
    WalkResult result = getOperation()->walk([&](func::FuncOp function) {
      if (function.isExternal())
        return WalkResult::advance();
      bool changed = false;
      for (BlockArgument argument : function.getArguments())
        if (isCache(argument)) {
          if (failed(convert(function, argument, format)))
            return WalkResult::interrupt();
          changed = true;
        }
      if (changed)
        function.setFunctionType(FunctionType::get(&getContext(), function.getBody().getArgumentTypes(),
                                                   function.getBody().back().getTerminator()->getOperandTypes()));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  static LogicalResult convert(func::FuncOp function, BlockArgument argument, ttcore::DataType format) {
    auto type = cast<RankedTensorType>(argument.getType());
    TTNNLayoutAttr layout = TTNNLayoutAttr::of(type);
    auto refuse = [&](StringRef why) {
      return function.emitOpError() << "argument " << argument.getArgNumber() << " is a cache of type " << type << "; "
                                    << why;
    };
    if (!layout)
      return refuse("expected a #ttnn.ttnn_layout (run ttnn-layout first)");
    if (!isa<FloatType>(type.getElementType()))
      return refuse("only floats have block formats");
    if (!layout.isTiled())
      return refuse("block formats exist only as tiles");
    argument.setType(withLayout(type, layout.withDataType(format)));
    return success();
  }
};
} // namespace
