//===- DeviceProgram.cpp - what each device runs of a program -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_DEVICEPROGRAM
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

namespace {
struct DeviceProgram : shlo::impl::DeviceProgramBase<DeviceProgram> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(inlineComputations(function)))
        return signalPassFailure();
    for (sdy::MeshOp mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
      mesh.erase();
    module.walk(removeOurs);
  }

private:
  static bool isOurs(NamedAttribute attribute) {
    StringRef name = attribute.getName();
    return name.starts_with("ttcore.") || name.starts_with("sdy.");
  }

  static void removeOurs(Operation *op) {
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      if (isOurs(attribute))
        op->removeDiscardableAttr(attribute.getName());
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function)
      return;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (NamedAttribute attribute : llvm::to_vector(function.getArgAttrs(i)))
        if (isOurs(attribute))
          function.removeArgAttr(i, attribute.getName());
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      for (NamedAttribute attribute : llvm::to_vector(function.getResultAttrs(i)))
        if (isOurs(attribute))
          function.removeResultAttr(i, attribute.getName());
  }

  static LogicalResult inlineComputations(func::FuncOp function) {
    Block &block = function.front();
    for (sdy::ManualComputationOp op : llvm::make_early_inc_range(block.getOps<sdy::ManualComputationOp>())) {
      Block &body = op.getBody().front();
      for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
        FailureOr<Value> part = partOf(op, index, argument.getType());
        if (failed(part))
          return failure();
        argument.replaceAllUsesWith(*part);
      }
      Operation *terminator = body.getTerminator();
      for (auto [result, value] : llvm::zip_equal(op.getResults(), terminator->getOperands()))
        result.replaceAllUsesWith(value);
      terminator->erase();
      block.getOperations().splice(op->getIterator(), body.getOperations());
      SetVector<Value> operands(op.getTensors().begin(), op.getTensors().end());
      op.erase();
      for (Value operand : operands)
        if (auto constant = operand.getDefiningOp<stablehlo::ConstantOp>(); constant && constant->use_empty())
          constant.erase();
    }
    function.setType(
        FunctionType::get(function.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
    return success();
  }

  /// Returns a device's part of an operand: an argument becomes its part, as does the result of another computation.
  static FailureOr<Value> partOf(sdy::ManualComputationOp op, unsigned index, Type type) {
    Value value = op.getTensors()[index];
    if (value.getType() == type)
      return value;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      argument.setType(type);
      return value;
    }
    auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
    auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    if (!elements || !elements.isSplat())
      return op.emitOpError() << "takes parts of operand " << index << ", of type " << value.getType()
                              << ", which is neither an argument nor the same everywhere";
    OpBuilder builder(op);
    return Value(
        stablehlo::ConstantOp::create(builder, constant.getLoc(), type, elements.resizeSplat(cast<ShapedType>(type))));
  }
};
} // namespace
