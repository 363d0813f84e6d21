//===- DecomposeComplexPermute.cpp - permutes as exchanges of two dimensions -===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRDECOMPOSECOMPLEXPERMUTE
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// Pairs of dimensions that are exchanged, one pair after the other, until dimension i is `permutation[i]`.
static SmallVector<std::pair<int64_t, int64_t>> exchangesOf(ArrayRef<int64_t> permutation) {
  SmallVector<std::pair<int64_t, int64_t>> exchanges;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(permutation.size()));
  for (int64_t place = 0, rank = order.size(); place < rank; ++place) {
    int64_t from = llvm::find(order, permutation[place]) - order.begin();
    if (from == place)
      continue;
    std::swap(order[place], order[from]);
    exchanges.emplace_back(place, from);
  }
  return exchanges;
}

namespace {
struct DecomposeComplexPermute : ttir::impl::TTIRDecomposeComplexPermuteBase<DecomposeComplexPermute> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](PermuteOp op) {
      SmallVector<std::pair<int64_t, int64_t>> exchanges = exchangesOf(op.getPermutation());
      auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
      if (exchanges.size() < 2 || !type || type.getEncoding())
        return;
      OpBuilder builder(op);
      Value value = op.getInput();
      for (auto [index, exchange] : llvm::enumerate(exchanges)) {
        SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
        std::swap(order[exchange.first], order[exchange.second]);
        SmallVector<int64_t> shape = llvm::map_to_vector(order, [&](int64_t dim) { return type.getDimSize(dim); });
        type = type.clone(shape);
        // The last step produces the value of the source op.
        Location location = index + 1 == exchanges.size() ? op.getLoc() : ttcore::withoutSourceNumber(op.getLoc());
        value = PermuteOp::create(builder, location, type, value, order);
      }
      op.replaceAllUsesWith(value);
      op.erase();
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
