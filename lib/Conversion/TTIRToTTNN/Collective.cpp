//===- Collective.cpp - distribution to a mesh and aggregation ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AllToAllOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CollectiveBroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CollectivePermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AggregateTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AllToAllOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/CollectivePermuteOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DistributeTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/PointToPointOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

/// The dimension that each axis of the mesh splits, -1 for none; with fewer than two entries, those of the last axes.
static FailureOr<SmallVector<int64_t>> splitDims(ttir::MeshShardOp shard, ArrayRef<int64_t> mesh,
                                                 ConversionPatternRewriter &rewriter) {
  SmallVector<int64_t> dims(shard.getShardDims());
  if (dims.size() > mesh.size())
    return notifyMatchFailure(rewriter, shard,
                              "shard_dims names " + Twine(dims.size()) + " mesh axes but the mesh has " +
                                  Twine(mesh.size()));
  dims.insert(dims.begin(), mesh.size() - dims.size(), -1);
  if (shard.getShardType() == ttcore::MeshShardType::Replicate)
    dims.assign(mesh.size(), -1);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    if (dim < 0)
      continue;
    ArrayRef<int64_t> counts = shard.getShardShape();
    if (dim >= static_cast<int64_t>(counts.size()))
      return notifyMatchFailure(
          rewriter, shard, "shard_dims names dimension " + Twine(dim) + " but shard_shape has " + Twine(counts.size()));
    int64_t along = 1;
    for (auto [otherAxis, otherDim] : llvm::enumerate(dims))
      if (otherDim == dim)
        along *= mesh[otherAxis];
    if (counts[dim] != along)
      return notifyMatchFailure(rewriter, shard,
                                "shard_shape splits dimension " + Twine(dim) + " into " + Twine(counts[dim]) +
                                    " parts but the mesh axes it is split along have " + Twine(along) + " devices");
  }
  return dims;
}

static MeshMapperConfigAttr mapperFor(ArrayRef<int64_t> dims, Builder &builder) {
  MLIRContext *context = builder.getContext();
  SmallVector<PlacementAttr> placements;
  for (int64_t dim : dims)
    placements.push_back(dim < 0 ? PlacementAttr::get(context, PlacementType::Replicate, {})
                                 : PlacementAttr::get(context, PlacementType::Shard, builder.getI64IntegerAttr(dim)));
  return MeshMapperConfigAttr::get(context, placements, {});
}

/// Devices along an axis that splits nothing hold equal values: only the first one is read, as the override of the mesh
/// shape states; its dimension is then any one that no other axis has, or -1.
static MeshComposerConfigAttr composerFor(ArrayRef<int64_t> dims, ArrayRef<int64_t> mesh, int64_t rank,
                                          Builder &builder) {
  SmallVector<IntegerAttr> joined, devices;
  bool whole = true;
  SmallVector<int64_t> taken(dims);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    int64_t along = dim;
    if (dim < 0) {
      along = 0;
      while (llvm::is_contained(taken, along))
        ++along;
      if (along >= rank)
        along = -1;
      taken.push_back(along);
      whole &= mesh[axis] == 1;
    }
    joined.push_back(builder.getI32IntegerAttr(along));
    devices.push_back(builder.getI32IntegerAttr(dim < 0 ? 1 : mesh[axis]));
  }
  if (whole)
    devices.clear();
  return MeshComposerConfigAttr::get(builder.getContext(), joined, devices);
}

namespace {
struct LowerMeshShard : OpConversionPattern<ttir::MeshShardOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::MeshShardOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getResult().getType());
    if (!type || !isa<RankedTensorType>(op.getInput().getType()))
      return notifyMatchFailure(rewriter, op, "it works on buffers; expected tensors");
    if (op.getShardType() == ttcore::MeshShardType::Identity)
      return notifyMatchFailure(rewriter, op,
                                "an identity stands for an argument or result that is distributed "
                                "outside, but it is used as neither; run ttir-localize-presharded first");
    if (op.getShardType() == ttcore::MeshShardType::Maximal)
      return notifyMatchFailure(rewriter, op, "shard_type maximal, one device holding the tensor, is not supported");
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ArrayRef<int64_t> mesh = ttcore::lookupDevice(op).getDeviceAttr().getMeshShape();
    FailureOr<SmallVector<int64_t>> dims = splitDims(op, mesh, rewriter);
    if (failed(dims))
      return failure();
    if (op.getShardDirection() == ttcore::MeshShardDirection::FullToShard)
      rewriter.replaceOpWithNewOp<DistributeTensorOp>(op, type, adaptor.getInput(), device, mapperFor(*dims, rewriter),
                                                      /*cq_id=*/nullptr);
    else
      rewriter.replaceOpWithNewOp<AggregateTensorOp>(op, type, adaptor.getInput(), device,
                                                     composerFor(*dims, mesh, type.getRank(), rewriter));
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
