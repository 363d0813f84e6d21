//===- GlobalDataFormatConversion.cpp - conversion to one float format ----===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRGLOBALDATAFORMATCONVERSION
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

namespace {
struct GlobalDataFormatConversion : ttir::impl::TTIRGlobalDataFormatConversionBase<GlobalDataFormatConversion> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<ttcore::DataType> dataType = ttcore::symbolizeDataType(targetFormat);
    if (!dataType || !isa<FloatType>(ttcore::dataTypeToElementType(&getContext(), *dataType))) {
      getOperation().emitError() << "target-format '" << targetFormat
                                 << "' is not a float format; expected f32, f16, bf16, bfp_bf8, bfp_bf4, bfp_bf2, "
                                    "bfp_f8, bfp_f4 or bfp_f2";
      return signalPassFailure();
    }
    element = ttcore::isBlockFormat(*dataType) ? Type(ttcore::TileType::get(&getContext(), *dataType))
                                               : ttcore::dataTypeToElementType(&getContext(), *dataType);
    getOperation().walk([&](func::FuncOp function) {
      // Those of the host keep the types that they were made for.
      if (!function.isExternal() && !function->getParentOfType<ttcore::CPUModuleOp>())
        convert(function);
    });
  }

private:
  /// `type` in the target format, or null if it is that or holds no floats.
  RankedTensorType converted(Type type) const {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getElementType() == element || !isa<FloatType, ttcore::TileType>(tensor.getElementType()))
      return {};
    return RankedTensorType::get(tensor.getShape(), element, tensor.getEncoding());
  }

  void convert(func::FuncOp function) {
    // Calls pass signatures on; their results are cast like arguments.
    function.walk([&](Operation *op) {
      if (op->getDialect() == op->getContext()->getLoadedDialect<ttir::TTIRDialect>())
        for (Value result : op->getResults())
          if (RankedTensorType type = converted(result.getType()))
            result.setType(type);
    });
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    for (BlockArgument argument : function.getArguments())
      castAllUses(builder, argument);
    function.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        castOperands(op, originalTypes(call));
        builder.setInsertionPointAfter(op);
        for (Value result : call.getResults())
          castAllUses(builder, result);
      } else if (isa<func::ReturnOp>(op)) {
        castOperands(op, op->getParentOfType<func::FuncOp>().getResultTypes());
      }
    });
  }

  static TypeRange originalTypes(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    return callee ? TypeRange(callee.getArgumentTypes()) : TypeRange(call.getOperandTypes());
  }

  static Value cast(OpBuilder &builder, Value value, Type type) {
    return ttir::TypecastOp::create(builder, ttcore::withoutSourceNumber(value.getLoc()), type, value,
                                    /*conservative_folding=*/false);
  }

  void castAllUses(OpBuilder &builder, Value value) const {
    RankedTensorType type = converted(value.getType());
    if (!type || value.use_empty())
      return;
    Value inside = cast(builder, value, type);
    value.replaceAllUsesExcept(inside, inside.getDefiningOp());
  }

  static void castOperands(Operation *op, TypeRange wanted) {
    OpBuilder builder(op);
    for (auto [operand, type] : llvm::zip(op->getOpOperands(), wanted))
      if (operand.get().getType() != type)
        operand.set(cast(builder, operand.get(), type));
  }

  Type element;
};
} // namespace
