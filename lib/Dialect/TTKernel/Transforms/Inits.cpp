//===- Inits.cpp - where kernels set units up -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTKernel/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OperationSupport.h"

#include <array>

namespace mlir::tt::ttkernel {
#define GEN_PASS_DEF_TTKERNELDEDUPINITS
#define GEN_PASS_DEF_TTKERNELHOISTINITS
#include "ttmlir/Dialect/TTKernel/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttkernel

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttkernel;

namespace {
/// The unit that an init configures: unpacker and matrix unit, or the vector unit.
enum Unit { Matrix, Vector, unitCount };
} // namespace

/// The unit of an init; nothing for other ops. Inits of the vector unit take no circular buffers.
static std::optional<Unit> unitOf(Operation *op) {
  if (!op->hasTrait<trait::ConfiguresUnit>())
    return std::nullopt;
  const bool hasBuffers = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<CBType>);
  return hasBuffers || isa<ReduceUninitOp>(op) ? Matrix : Vector;
}

static bool isSame(Operation *a, Operation *b) {
  return OperationEquivalence::isEquivalentTo(a, b, OperationEquivalence::IgnoreLocations);
}

namespace {
struct HoistInits : ttkernel::impl::TTKernelHoistInitsBase<HoistInits> {
  void runOnOperation() override {
    // Inner loops come first.
    getOperation().walk<WalkOrder::PostOrder>([](scf::ForOp loop) {
      std::array<SmallVector<Operation *>, unitCount> inits;
      loop.walk([&](Operation *op) {
        if (std::optional<Unit> unit = unitOf(op))
          inits[*unit].push_back(op);
      });
      for (ArrayRef<Operation *> ofUnit : inits) {
        if (ofUnit.empty() || !llvm::all_of(ofUnit, [&](Operation *op) {
              return isSame(op, ofUnit.front()) && llvm::all_of(op->getOperands(), [&](Value operand) {
                       return loop.isDefinedOutsideOfLoop(operand);
                     });
            }))
          continue;
        ofUnit.front()->moveBefore(loop);
        for (Operation *op : ofUnit.drop_front())
          op->erase();
      }
    });
  }
};

struct DedupInits : ttkernel::impl::TTKernelDedupInitsBase<DedupInits> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      visit(block, {});
  }

private:
  using State = std::array<Operation *, unitCount>; // the init in force, if it is known

  /// Returns the state at the end of a block.
  static State visit(Block &block, State state) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (op.getNumRegions()) {
        // A loop begins with its final state, or with the state before it: only units that it does not configure are
        // known.
        op.walk([&](Operation *inner) {
          if (std::optional<Unit> unit = unitOf(inner))
            state[*unit] = nullptr;
        });
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            visit(inner, state);
        continue;
      }
      std::optional<Unit> unit = unitOf(&op);
      if (!unit)
        continue;
      Operation *&known = state[*unit];
      // The setup of a single op among several is not a state with which another init is compared.
      if (known && isSame(known, &op) && !isa<ReduceUninitOp>(op))
        op.erase();
      else
        known = &op;
    }
    return state;
  }
};
} // namespace
