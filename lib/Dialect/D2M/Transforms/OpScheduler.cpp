//===- OpScheduler.cpp - order of tile ops --------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "DstRegisters.h"

namespace mlir::tt::d2m {
#define GEN_PASS_DEF_D2MOPSCHEDULER
#include "ttmlir/Dialect/D2M/Transforms/Passes.h.inc"
} // namespace mlir::tt::d2m

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

namespace {
struct OpScheduler : d2m::impl::D2MOpSchedulerBase<OpScheduler> {
  using Base::Base;

  void runOnOperation() override {
    if (!enableOpScheduler)
      return;
    SmallVector<memref::StoreOp> stores;
    getOperation()->walk([&](GenericOp generic) {
      generic.walk([&](memref::StoreOp store) {
        if (isInSection(store)) // with assigned registers
          return;
        Operation *made = store.getValueToStore().getDefiningOp();
        if (made && made->getBlock() == store->getBlock() && isTileOp(*made))
          stores.push_back(store);
      });
    });
    for (memref::StoreOp store : stores)
      scheduleTiles(store);
  }
};
} // namespace
