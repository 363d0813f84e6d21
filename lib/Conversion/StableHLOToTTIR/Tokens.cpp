//===- Tokens.cpp - values that only order effects -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"

namespace mlir::tt {
#define GEN_PASS_DEF_STABLEHLOERASETOKENS
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

namespace {
struct EraseTokens : tt::impl::StableHLOEraseTokensBase<EraseTokens> {
  void runOnOperation() override {
    bool any = false;
    const Type empty = RankedTensorType::get({0}, IntegerType::get(&getContext(), 1));
    auto replaced = [&](Type type) { return isa<stablehlo::TokenType>(type) ? empty : type; };
    auto retype = [&](Value value) {
      if (isa<stablehlo::TokenType>(value.getType())) {
        value.setType(empty);
        any = true;
      }
    };
    getOperation()->walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), retype);
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        FunctionType type = function.getFunctionType();
        function.setFunctionType(FunctionType::get(&getContext(), llvm::map_to_vector(type.getInputs(), replaced),
                                                   llvm::map_to_vector(type.getResults(), replaced)));
      }
      if (!isa<stablehlo::CreateTokenOp, stablehlo::AfterAllOp>(op))
        return (void)llvm::for_each(op->getResults(), retype);
      OpBuilder builder(op);
      auto constant = stablehlo::ConstantOp::create(builder, op->getLoc(),
                                                    DenseElementsAttr::get(cast<ShapedType>(empty), ArrayRef<bool>()));
      op->getResult(0).replaceAllUsesWith(constant);
      op->erase();
      any = true;
    });
    if (!any)
      markAllAnalysesPreserved();
  }
};
} // namespace
