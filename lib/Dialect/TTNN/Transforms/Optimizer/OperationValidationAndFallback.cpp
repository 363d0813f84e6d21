//===- OperationValidationAndFallback.cpp - layouts that ops refuse -------===//
// SPDX-License-Identifier: Apache-2.0

#include "Overrides.h"

#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNOPERATIONVALIDATIONANDFALLBACK
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

using ::ttmlir::cost::Memory;
using ::ttmlir::cost::PlacedTensor;
using ::ttmlir::cost::Shards;

/// Returns the error in the shards of a tensor; empty if there is none. As the runtime's sim::footprint.
static std::string problemOf(RankedTensorType type, const ChipMemory &chip) {
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(type);
  std::optional<PlacedTensor> lies = placedTensor(type);
  if (!lies || lies->memory != Memory::L1 || lies->shards == Shards::None || lies->shards == Shards::Other)
    return {};
  if (lies->shardRows <= 0 || lies->shardColumns <= 0)
    return llvm::formatv("has shards of {0}x{1}", lies->shardRows, lies->shardColumns).str();
  std::optional<std::array<int64_t, 2>> matrix = collapsedShape(type.getShape(), layout.getLayout());
  const int64_t cores = lies->gridRows * lies->gridColumns;
  if (!matrix || cores > chip.cores())
    return llvm::formatv("is sharded over {0} cores; the chip has {1}", cores, chip.cores()).str();
  const int64_t rows = llvm::divideCeil((*matrix)[0], lies->shardRows),
                columns = llvm::divideCeil((*matrix)[1], lies->shardColumns);
  const bool isHeight = lies->shards == Shards::Height, isBlock = lies->shards == Shards::Block;
  const int64_t mostRows = isBlock    ? lies->gridRows
                           : isHeight ? cores
                                      : 1,
                mostColumns = isBlock    ? lies->gridColumns
                              : isHeight ? 1
                                         : cores;
  if (rows > mostRows || columns > mostColumns)
    return llvm::formatv("has {0}x{1} shards; there is room for {2}x{3}", rows, columns, mostRows, mostColumns).str();
  return {};
}

namespace {
struct OperationValidationAndFallback
    : ttnn::impl::TTNNOperationValidationAndFallbackBase<OperationValidationAndFallback> {
  using Base::Base;

  void runOnOperation() override {
    ttcore::ChipDescAttr desc = chipOf(getOperation());
    if (!desc)
      return signalPassFailure();
    const ChipMemory chip(desc);
    FailureOr<Overrides> overrides = Overrides::parse(getOperation(), overrideOutputLayout, insertMemReconfig, "");
    if (failed(overrides))
      return signalPassFailure();
    uint32_t attempts = 0;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.getBody().hasOneBlock())
        continue;
      for (Operation &op : function.getBody().front().without_terminator()) {
        if (familyOf(&op) == Family::None)
          continue;
        while (true) {
          std::string problem = validate(&op, chip);
          if (problem.empty())
            break;
          if (attempts == maxFallbackAttempts) {
            op.emitOpError() << problem << "; max-fallback-attempts, " << maxFallbackAttempts.getValue()
                             << ", is used up";
            return signalPassFailure();
          }
          ++attempts;
          if (takeConfig(&op))
            continue;
          if (!takePlaces(&op)) {
            op.emitOpError() << problem << ", and its results cannot lie elsewhere";
            return signalPassFailure();
          }
          overrides->warnOfMove(&op, problem);
        }
      }
    }
  }

private:
  /// Returns why the op is not possible; empty if it is.
  static std::string validate(Operation *op, const ChipMemory &chip) {
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        if (std::string problem = problemOf(type, chip); !problem.empty())
          return llvm::formatv("result {0} {1}", index, problem).str();
    OpTensors tensors(op);
    int64_t bytes = 0;
    SmallPtrSet<Value, 4> seen;
    for (Value value : op->getOperands())
      if (std::optional<PlacedTensor> lies = placedTensor(value.getType()); lies && seen.insert(value).second)
        bytes += l1BytesOfBank(chip, *lies);
    for (const PlacedTensor &out : tensors.outs)
      bytes += l1BytesOfBank(chip, out);
    const int64_t circular = OpCost::circularBytes(op, tensors, chip.without(bytes));
    if (bytes + circular > chip.usable())
      return llvm::formatv("needs {0} bytes of each core for tensors and {1} for circular buffers; there are {2}",
                           bytes, circular, chip.usable())
          .str();
    return {};
  }

  /// Removes the attribute that may be the reason: the program config, then the placement in L1. Returns false if there
  /// is none.
  static bool takeConfig(Operation *op) { return static_cast<bool>(op->removeAttr("matmul_program_config")); }
  static bool takePlaces(Operation *op) {
    bool changed = false;
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      TTNNLayoutAttr layout = TTNNLayoutAttr::of(type);
      if (!layout || !layout.isOnDevice() || layout.getBufferType() == BufferType::DRAM ||
          llvm::any_of(result.getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); }))
        continue;
      result.setType(withLayout(type, layout.withBufferType(type.getShape(), BufferType::DRAM)));
      changed = true;
    }
    return changed;
  }
};
} // namespace
