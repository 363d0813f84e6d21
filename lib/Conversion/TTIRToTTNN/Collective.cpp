//===- Collective.cpp - distribution to a mesh and aggregation ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AllToAllOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CollectiveBroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CollectivePermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AllToAllOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/CollectivePermuteOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/PointToPointOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Distribution.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

namespace {
struct LowerMeshShard : OpConversionPattern<ttir::MeshShardOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::MeshShardOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    std::string reason;
    Value result = createMeshShard(rewriter, op, adaptor.getInput(), op.getResult().getType(), device, reason);
    if (!result)
      return notifyMatchFailure(rewriter, op, reason);
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Transfers from chip to chip
//===----------------------------------------------------------------------===//

/// Refuses chips that the mesh lacks, and returns the mesh; -1 stands for none.
static FailureOr<SmallVector<int64_t>> meshFor(Operation *op, DenseIntElementsAttr chips,
                                               ConversionPatternRewriter &rewriter) {
  ttcore::DeviceOp device = ttcore::lookupDevice(op);
  SmallVector<int64_t> mesh;
  if (device)
    llvm::append_range(mesh, device.getDeviceAttr().getMeshShape());
  if (mesh.size() != 2)
    return notifyMatchFailure(rewriter, op, "there is no mesh of rows and columns to send over");
  for (const APInt &chip : chips)
    if (chip.getSExtValue() < -1 || chip.getSExtValue() >= mesh[0] * mesh[1])
      return notifyMatchFailure(rewriter, op,
                                "it names chip " + Twine(chip.getSExtValue()) + " but the mesh " + Twine(mesh[0]) +
                                    "x" + Twine(mesh[1]) + " has " + Twine(mesh[0] * mesh[1]));
  return mesh;
}

/// One row after another.
static DenseI64ArrayAttr listOf(Builder &builder, DenseIntElementsAttr chips) {
  return builder.getDenseI64ArrayAttr(
      llvm::map_to_vector(chips, [](const APInt &chip) { return chip.getSExtValue(); }));
}

namespace {
struct LowerCollectivePermute : OpConversionPattern<ttir::CollectivePermuteOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::CollectivePermuteOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (failed(meshFor(op, op.getSourceTargetPairs(), rewriter)))
      return failure();
    rewriter.replaceOpWithNewOp<CollectivePermuteOp>(op, op.getType(), adaptor.getInput(),
                                                     listOf(rewriter, op.getSourceTargetPairs()));
    return success();
  }
};

struct LowerAllToAll : OpConversionPattern<ttir::AllToAllOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::AllToAllOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (failed(meshFor(op, op.getReplicaGroups(), rewriter)))
      return failure();
    rewriter.replaceOpWithNewOp<AllToAllOp>(op, op.getType(), adaptor.getInput(), op.getSplitDimAttr(),
                                            op.getConcatDimAttr(), op.getSplitCountAttr(),
                                            listOf(rewriter, op.getReplicaGroups()));
    return success();
  }
};

/// TTNN has no such op: a tensor is sent to one chip after another, into one distributed tensor; the parts of chips
/// that received nothing are zero.
struct LowerCollectiveBroadcast : OpConversionPattern<ttir::CollectiveBroadcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::CollectiveBroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<SmallVector<int64_t>> mesh = meshFor(op, op.getReplicaGroups(), rewriter);
    if (failed(mesh))
      return failure();
    const int64_t columns = (*mesh)[1], width = op.getReplicaGroups().getType().getDimSize(1);
    auto place = [&](int64_t chip) { return rewriter.getDenseI64ArrayAttr({chip / columns, chip % columns}); };
    Value received;
    int64_t first = -1;
    for (auto [index, entry] : llvm::enumerate(op.getReplicaGroups())) {
      const int64_t chip = entry.getSExtValue();
      if (static_cast<int64_t>(index) % width == 0)
        first = -1;
      if (chip < 0)
        continue;
      first = first < 0 ? chip : first;
      received = PointToPointOp::create(rewriter, op.getLoc(), op.getType(), adaptor.getInput(), received, place(first),
                                        place(chip));
    }
    if (!received)
      return notifyMatchFailure(rewriter, op, "its groups are empty");
    rewriter.replaceOp(op, received);
    return success();
  }
};
} // namespace

void ttnn::addMeshPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerAllToAll, LowerCollectiveBroadcast, LowerCollectivePermute, LowerMeshShard>(patterns.getContext());
}
