//===- GlobalDataFormatConversion.cpp - conversion to one float format ----===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/Places.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"
#include "ttmlir/Dialect/TTIR/Transforms/TargetFormats.h"

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
    if (!dataType || !llvm::is_contained(ttir::targetFormats, targetFormat.getValue())) {
      ArrayRef<llvm::StringLiteral> formats = ttir::targetFormats;
      InFlightDiagnostic error = getOperation().emitError();
      error << "target-format '" << targetFormat << "' is not a float format; expected ";
      llvm::interleaveComma(formats.drop_back(), error);
      error << " or " << formats.back();
      return signalPassFailure();
    }
    element = ttcore::isBlockFormat(*dataType) ? Type(ttcore::TileType::get(&getContext(), *dataType))
                                               : ttcore::dataTypeToElementType(&getContext(), *dataType);
    getOperation().walk([&](func::FuncOp function) {
      // Functions of the host keep the types for which they were compiled.
      if (!function.isExternal() && !function->getParentOfType<ttcore::CPUModuleOp>())
        convert(function);
    });
  }

private:
  /// `type` in the target format, or null if it already has it or holds no floats.
  RankedTensorType converted(Type type) const {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getElementType() == element || !isa<FloatType, ttcore::TileType>(tensor.getElementType()))
      return {};
    return RankedTensorType::get(tensor.getShape(), element, tensor.getEncoding());
  }

  void convert(func::FuncOp function) {
    const ttcore::Places places(function);
    auto isConverted = [&](Operation *op) {
      return op->getDialect() == op->getContext()->getLoadedDialect<ttir::TTIRDialect>() && !places.isComputedBy(op);
    };
    // The original type of each value, as calls, results of the function and places use it.
    llvm::DenseMap<Value, Type> original;
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (op == function)
        return;
      ops.push_back(op);
      for (Value operand : op->getOperands())
        original[operand] = operand.getType();
    });
    for (Operation *op : ops)
      if (isConverted(op))
        for (Value result : op->getResults())
          if (RankedTensorType type = converted(result.getType()))
            result.setType(type);
    llvm::DenseMap<std::pair<Value, Type>, Value> casts;
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    for (BlockArgument argument : function.getArguments())
      if (RankedTensorType type = converted(argument.getType()); type && llvm::any_of(argument.getUsers(), isConverted))
        casts[{argument, type}] = cast(builder, argument, type);
    for (Operation *op : ops) {
      for (OpOperand &operand : op->getOpOperands()) {
        Type target = original.at(operand.get());
        if (isConverted(op))
          if (RankedTensorType type = converted(target))
            target = type;
        if (operand.get().getType() == target)
          continue;
        if (op->hasTrait<OpTrait::IsTerminator>()) {
          builder.setInsertionPoint(op);
          operand.set(cast(builder, operand.get(), target));
          continue;
        }
        Value &known = casts[{operand.get(), target}];
        if (!known)
          known = inFormat(operand.get(), target);
        operand.set(known);
      }
    }
  }

  /// `value` as another type, for all users. A constant is cloned.
  static Value inFormat(Value value, Type type) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasTrait<trait::Creation>() || op->getNumOperands() || op->getNumResults() != 1)
      return cast(builder, value, type);
    Operation *other = builder.clone(*op);
    other->getResult(0).setType(type);
    return other->getResult(0);
  }

  static Value cast(OpBuilder &builder, Value value, Type type) {
    return ttir::TypecastOp::create(builder, ttcore::withoutSourceNumber(value.getLoc()), type, value,
                                    /*conservative_folding=*/false);
  }

  Type element;
};
} // namespace
