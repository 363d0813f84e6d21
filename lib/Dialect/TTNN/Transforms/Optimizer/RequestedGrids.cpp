//===- RequestedGrids.cpp - grids of cores that are requested -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "LegalLayouts.h"
#include "MatmulConfigs.h"

#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToMemoryConfigOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNREQUESTEDGRIDS
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

using ::ttmlir::cost::PlacedTensor;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Passes a value to some of its users through a copy in another layout.
static Value moveFor(Value value, TTNNLayoutAttr layout, function_ref<bool(OpOperand &)> isMoved) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto moved = ToMemoryConfigOp::create(builder, ttcore::withoutSourceNumber(value.getLoc()),
                                        withLayout(typeOf(value), layout), value);
  value.replaceUsesWithIf(moved.getResult(), [&](OpOperand &use) {
    return use.getOwner() != moved && !isa<DeallocateOp>(use.getOwner()) && isMoved(use);
  });
  return moved.getResult();
}

/// Whether a user takes an operand in its placement, given the placement of its own results.
static bool takes(OpOperand &use, const PlacedTensor &lies) {
  const auto before = use.getOwner()->getOperands().take_front(use.getOperandNumber());
  const auto place = llvm::count_if(before, [](Value each) { return isa<RankedTensorType>(each.getType()); });
  return accepts(use.getOwner(), place, lies, OpTensors(use.getOwner()).outs);
}

/// Gives the result of an op the shards of the grid. Returns why that is not possible, or nothing.
static std::string place(Operation *op, int64_t rows, int64_t columns, const ChipMemory &chip) {
  if (op->getNumResults() != 1)
    return llvm::formatv("the op has {0} results", op->getNumResults()).str();
  Value result = op->getResult(0);
  const TTNNLayoutAttr before = TTNNLayoutAttr::of(result.getType());
  if (!isTiledInDram(before))
    return "the result does not lie in tiles in DRAM";
  Value moved;
  // Values that leave the program, or that other chips or the host read, are copied to DRAM.
  if (!isPlaceable(op))
    moved = moveFor(result, before, [](OpOperand &) { return true; });
  auto refuse = [&](const std::string &why) {
    if (moved) {
      moved.replaceAllUsesWith(result);
      moved.getDefiningOp()->erase();
    }
    return why;
  };
  if (!isPlaceable(op))
    return refuse("the place of its result is no choice");
  const TTNNLayoutAttr layout = layoutOnGrid(op, rows, columns, chip);
  if (!layout)
    return refuse("its kernel has no shards of whole tiles for each of these cores");
  OpTensors tensors(op);
  tensors.outs[0] = *placedTensor(result.getType(), layout);
  const int64_t bytes = l1BytesOfBank(chip, tensors.outs[0]),
                circular = OpCost::circularBytes(op, tensors, chip.without(bytes));
  if (bytes + circular > chip.usable())
    return refuse(llvm::formatv("the result needs {0} bytes of each core, and circular buffers {1}; there are {2}",
                                bytes, circular, chip.usable())
                      .str());
  if (Attribute config = matmulConfigOf(op, chip, {{rows, columns}}))
    op->setAttr("matmul_program_config", config);
  result.setType(withLayout(typeOf(result), layout));
  return {};
}

namespace {
struct RequestedGrids : ttnn::impl::TTNNRequestedGridsBase<RequestedGrids> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> requested;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (choosesLayouts(function))
        for (Operation &op : function.getBody().front())
          // Ops that move values go with those that compute.
          if (op.hasAttr(ttcore::gridName) && familyOf(&op) != Family::None && !op.hasTrait<trait::MovesValues>())
            requested.push_back(&op);
    if (requested.empty())
      return markAllAnalysesPreserved();
    ttcore::ChipDescAttr desc = chipOf(getOperation());
    if (!desc)
      return signalPassFailure();
    const ChipMemory chip(desc);
    SmallVector<std::pair<Value, TTNNLayoutAttr>> placed; // and where they lay before
    for (Operation *op : requested) {
      FailureOr<ttcore::GridAttr> grid = ttcore::requestedGrid(op);
      if (failed(grid))
        return signalPassFailure();
      const int64_t rows = grid->getShape()[0], columns = grid->getShape()[1];
      if (rows > chip.gridRows || columns > chip.gridColumns) {
        op->emitOpError() << ttcore::gridName << " is " << rows << 'x' << columns << "; the chip has " << chip.gridRows
                          << 'x' << chip.gridColumns << " cores";
        return signalPassFailure();
      }
      const TTNNLayoutAttr before = op->getNumResults() ? TTNNLayoutAttr::of(op->getResult(0).getType()) : nullptr;
      // Running the pass twice changes nothing.
      if (before && before.isSharded() && before.getGridShape() == grid->getShape())
        continue;
      if (std::string why = place(op, rows, columns, chip); why.empty())
        placed.emplace_back(op->getResult(0), before);
      else
        op->emitWarning() << ttcore::gridName << " is " << rows << 'x' << columns << ", and " << why
                          << "; the op has the cores that its kernel takes";
    }
    for (auto [value, before] : placed) {
      const PlacedTensor lies = *placedTensor(value.getType());
      auto isMoved = [&](OpOperand &use) { return !takes(use, lies); };
      if (llvm::any_of(value.getUses(),
                       [&](OpOperand &use) { return !isa<DeallocateOp>(use.getOwner()) && isMoved(use); }))
        moveFor(value, before, isMoved);
    }
  }
};
} // namespace
