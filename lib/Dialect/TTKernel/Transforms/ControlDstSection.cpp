//===- ControlDstSection.cpp - handover of the destination registers ------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTKernel/Transforms/Passes.h"

namespace mlir::tt::ttkernel {
#define GEN_PASS_DEF_TTKERNELCONTROLDSTSECTION
#include "ttmlir/Dialect/TTKernel/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttkernel

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttkernel;

namespace {
struct ControlDstSection : ttkernel::impl::TTKernelControlDstSectionBase<ControlDstSection> {
  void runOnOperation() override {
    SmallVector<TileRegsAcquireOp> sections;
    getOperation().walk([&](TileRegsAcquireOp acquire) { sections.push_back(acquire); });
    for (TileRegsAcquireOp acquire : sections) {
      Block &block = *acquire->getBlock();
      if (!block.getOps<TileRegsCommitOp>().empty())
        continue;
      auto packs = llvm::to_vector(block.getOps<PackTileOp>());
      if (packs.empty()) {
        acquire.emitOpError("is in a block that packs no tile");
        return signalPassFailure();
      }
      OpBuilder builder(packs.front());
      TileRegsCommitOp::create(builder, packs.front().getLoc());
      TileRegsWaitOp::create(builder, packs.front().getLoc());
      builder.setInsertionPointAfter(packs.back());
      TileRegsReleaseOp::create(builder, packs.back().getLoc());
    }
  }
};
} // namespace
