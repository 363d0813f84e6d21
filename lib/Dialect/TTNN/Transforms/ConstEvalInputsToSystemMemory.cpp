//===- ConstEvalInputsToSystemMemory.cpp - weights stay on the host -------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToLayoutOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNCONSTEVALINPUTSTOSYSTEMMEMORY
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// The type with the values in system memory, or null if they are already there, or sharded.
static RankedTensorType onHost(Type type) {
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(type);
  if (!layout || !layout.isOnDevice() || layout.isSharded())
    return {};
  auto tensor = cast<RankedTensorType>(type);
  // Block formats are tiled in any memory.
  const Layout order = ttcore::isBlockFormat(layout.getDataType()) ? Layout::Tile : Layout::RowMajor;
  auto host = TTNNLayoutAttr::get(type.getContext(), tensor.getShape(), layout.getDataType(), order,
                                  BufferType::SystemMemory, layout.getTensorMesh());
  // Tiles of a block format hold values of any float type.
  return host ? RankedTensorType::get(tensor.getShape(), tensor.getElementType(), host) : RankedTensorType();
}

static void updateType(func::FuncOp function) {
  function.setFunctionType(FunctionType::get(function.getContext(), function.getBody().front().getArgumentTypes(),
                                             function.getFunctionType().getResults()));
}

namespace {
struct ConstEvalInputsToSystemMemory
    : ttnn::impl::TTNNConstEvalInputsToSystemMemoryBase<ConstEvalInputsToSystemMemory> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection symbols;
    // One walk over the module: a model has as many evaluated weights as calls.
    const SymbolUserMap users(symbols, module);
    bool changed = false;
    for (auto function : module.getOps<func::FuncOp>()) {
      // The callers of a function have created its arguments on the device.
      if (function.isExternal() || !users.useEmpty(function))
        continue;
      for (BlockArgument argument : function.getArguments())
        changed |= toHost(argument, users, symbols);
      updateType(function);
    }
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  /// Returns the function that evaluates the input of a call, if nothing else calls it.
  static func::FuncOp evaluator(Operation *user, const SymbolUserMap &users, SymbolTableCollection &symbols) {
    auto call = dyn_cast<ttcore::LoadCachedOp>(user);
    auto callee = call ? symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()) : func::FuncOp();
    if (!callee || callee.isExternal())
      return {};
    return users.getUsers(callee).size() == 1 ? callee : func::FuncOp();
  }

  static bool toHost(BlockArgument argument, const SymbolUserMap &users, SymbolTableCollection &symbols) {
    const RankedTensorType host = onHost(argument.getType());
    if (!host || argument.use_empty())
      return false;
    SmallVector<std::pair<func::FuncOp, unsigned>> inputs;
    for (OpOperand &use : argument.getUses()) {
      func::FuncOp callee = evaluator(use.getOwner(), users, symbols);
      if (!callee)
        return false;
      inputs.emplace_back(callee, use.getOperandNumber());
    }
    const Type device = argument.getType();
    for (auto [callee, index] : inputs) {
      BlockArgument input = callee.getArgument(index);
      input.setType(host);
      OpBuilder builder = OpBuilder::atBlockBegin(&callee.getBody().front());
      auto sent = ToLayoutOp::create(builder, ttcore::withoutSourceNumber(input.getLoc()), device, input);
      input.replaceAllUsesExcept(sent.getResult(), sent);
      updateType(callee);
    }
    argument.setType(host);
    return true;
  }
};
} // namespace
