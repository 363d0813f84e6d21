//===- DataFlowEdges.cpp - edges come and go ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Common/DataFlow.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"

namespace mlir::sdy {
#define GEN_PASS_DEF_SDYADDDATAFLOWEDGES
#define GEN_PASS_DEF_SDYSINKDATAFLOWEDGES
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"
} // namespace mlir::sdy

using namespace mlir;
using namespace mlir::sdy;

namespace {
struct AddDataFlowEdges : sdy::impl::SdyAddDataFlowEdgesBase<AddDataFlowEdges> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      OpBuilder builder(op);
      builder.setInsertionPointAfter(op);
      Block *block = nullptr;
      for (const Edge &edge : getEdges(op)) {
        Value owner = edge.owner();
        if (findEdgeOp(owner))
          continue;
        // Arguments first, in order, then results, after the op.
        if (isa<BlockArgument>(owner)) {
          if (block != owner.getParentBlock())
            builder.setInsertionPointToStart(block = owner.getParentBlock());
        } else if (block) {
          block = nullptr;
          builder.setInsertionPointAfter(op);
        }
        auto edgeOp = DataFlowEdgeOp::create(builder, owner.getLoc(), owner.getType(), owner, getOwnerSharding(edge));
        owner.replaceAllUsesExcept(edgeOp.getResult(), edgeOp);
      }
    });
  }
};

struct SinkDataFlowEdges : sdy::impl::SdySinkDataFlowEdgesBase<SinkDataFlowEdges> {
  using Base::Base;

  void runOnOperation() override {
    // An edge is the op after its owner: a walk that removed it would step on it.
    SmallVector<DataFlowEdgeOp> removed;
    getOperation().walk([&](Operation *op) {
      for (const Edge &edge : getEdges(op))
        if (DataFlowEdgeOp edgeOp = findEdgeOp(edge.owner())) {
          if (edgeOp.getSharding())
            setOwnerSharding(edge, *edgeOp.getSharding());
          removed.push_back(edgeOp);
        }
    });
    for (DataFlowEdgeOp edgeOp : removed) {
      edgeOp.replaceAllUsesWith(edgeOp.getInput());
      edgeOp.erase();
    }
    getOperation().walk([](FuncDataFlowEdgeOp edgeOp) {
      if (TensorShardingAttr sharding = getShardingAttr(edgeOp.getResult()))
        setShardingAttr(edgeOp.getOperand(), sharding);
      edgeOp.replaceAllUsesWith(edgeOp.getOperand());
      edgeOp.erase();
    });
  }
};
} // namespace
