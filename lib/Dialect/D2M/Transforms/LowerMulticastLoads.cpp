//===- LowerMulticastLoads.cpp - loads that many cores share --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::tt::d2m {
#define GEN_PASS_DEF_D2MLOWERMULTICASTLOADS
#include "ttmlir/Dialect/D2M/Transforms/Passes.h.inc"
} // namespace mlir::tt::d2m

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

namespace {
struct LowerMulticastLoads : d2m::impl::D2MLowerMulticastLoadsBase<LowerMulticastLoads> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<RemoteLoadOp> loads;
    getOperation()->walk([&](RemoteLoadOp load) {
      if (!load.getMcastDims().empty())
        loads.push_back(load);
    });
    for (RemoteLoadOp load : loads)
      if (failed(lower(load)))
        return signalPassFailure();
  }

private:
  /// The group of a core consists of those that differ in the grid dimensions that are not named; its first one reads.
  LogicalResult lower(RemoteLoadOp load) {
    auto generic = load->getParentOfType<GenericOp>();
    ArrayRef<int64_t> grid = generic ? generic.getGrid().getShape() : ArrayRef<int64_t>();
    SmallVector<bool> isFixed(grid.size());
    for (Value dim : load.getMcastDims()) {
      APInt number;
      if (!matchPattern(dim, m_ConstantInt(&number)) || number.getZExtValue() >= grid.size())
        return load.emitOpError() << "has a multicast dimension that is no constant below " << grid.size()
                                  << ", the dimensions of the grid";
      isFixed[number.getZExtValue()] = true;
    }
    OpBuilder builder(load);
    Location loc = load.getLoc();
    const auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
    SmallVector<Value> start, shape;
    int64_t cores = 1;
    for (auto [dim, size] : llvm::enumerate(grid)) {
      cores *= isFixed[dim] ? 1 : size;
      shape.push_back(index(isFixed[dim] ? 1 : size));
      start.push_back(isFixed[dim]
                          ? CoreIndexOp::create(builder, loc, builder.getIndexType(),
                                                builder.getI64IntegerAttr(static_cast<int64_t>(dim)), AffineMapAttr())
                                .getResult()
                          : index(0));
    }
    load.getMcastDimsMutable().clear();
    if (enableMulticastInference && cores > 1 && grid.size() == 2) {
      load.getMcastStartIndexMutable().assign(start);
      load.getMcastShapeMutable().assign(shape);
    }
    return success();
  }
};
} // namespace
