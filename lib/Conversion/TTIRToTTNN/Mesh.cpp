//===- Mesh.cpp - distribution to a mesh and aggregation ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AllToAllOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CollectiveBroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CollectivePermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AggregateTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DistributeTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/PointToPointOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

/// The dimension that each axis of the mesh splits, -1 for none; fewer than two
/// entries name the last axes.
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

/// An axis that splits nothing holds equal values: only its first device is
/// read, which the override of the mesh shape says; its dimension is then any
/// that no other axis has, or -1.
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

/// Rows of chips, -1 for none.
static SmallVector<SmallVector<int64_t>> groupsOf(DenseIntElementsAttr attr) {
  SmallVector<SmallVector<int64_t>> groups(attr.getType().getDimSize(0));
  int64_t size = attr.getType().getDimSize(1);
  for (auto [index, chip] : llvm::enumerate(attr))
    if (int64_t id = chip.getSExtValue(); id >= 0)
      groups[index / size].push_back(id);
  return groups;
}

/// Refuses chips that the mesh, which is returned, does not have; -1 stands for none.
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

namespace {
/// Sends tensors from chip to chip, one after another into one distributed tensor; what nothing was sent to is zero.
class Sender {
public:
  Sender(ImplicitLocOpBuilder &builder, ArrayRef<int64_t> mesh) : builder(builder), columns(mesh[1]) {}

  /// `received` with the tensor that `from` has in `value` at chip `to`; `received` may be null.
  Value send(Value value, Value received, int64_t from, int64_t to, RankedTensorType type) {
    auto place = [&](int64_t chip) { return builder.getDenseI64ArrayAttr({chip / columns, chip % columns}); };
    return PointToPointOp::create(builder, type, value, received, place(from), place(to));
  }

private:
  ImplicitLocOpBuilder &builder;
  int64_t columns;
};

struct LowerCollectivePermute : OpConversionPattern<ttir::CollectivePermuteOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::CollectivePermuteOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<SmallVector<int64_t>> mesh = meshFor(op, op.getSourceTargetPairs(), rewriter);
    if (failed(mesh))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Sender sender(builder, *mesh);
    Value received;
    for (ArrayRef<int64_t> pair : groupsOf(op.getSourceTargetPairs()))
      if (pair.size() == 2)
        received = sender.send(adaptor.getInput(), received, pair[0], pair[1], op.getType());
    if (!received)
      return notifyMatchFailure(rewriter, op, "it sends nothing");
    rewriter.replaceOp(op, received);
    return success();
  }
};

struct LowerCollectiveBroadcast : OpConversionPattern<ttir::CollectiveBroadcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::CollectiveBroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<SmallVector<int64_t>> mesh = meshFor(op, op.getReplicaGroups(), rewriter);
    if (failed(mesh))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Sender sender(builder, *mesh);
    Value received;
    for (ArrayRef<int64_t> group : groupsOf(op.getReplicaGroups()))
      for (int64_t chip : group)
        received = sender.send(adaptor.getInput(), received, group[0], chip, op.getType());
    if (!received)
      return notifyMatchFailure(rewriter, op, "its groups are empty");
    rewriter.replaceOp(op, received);
    return success();
  }
};

/// Chip i of a group gets part i of every chip of the group.
struct LowerAllToAll : OpConversionPattern<ttir::AllToAllOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::AllToAllOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<SmallVector<int64_t>> mesh = meshFor(op, op.getReplicaGroups(), rewriter);
    if (failed(mesh))
      return failure();
    SmallVector<SmallVector<int64_t>> groups = groupsOf(op.getReplicaGroups());
    const int64_t parts = op.getSplitCount();
    if (groups.empty() || parts < 1)
      return notifyMatchFailure(rewriter, op, "it has no groups");
    for (ArrayRef<int64_t> group : groups)
      if (static_cast<int64_t>(group.size()) != parts)
        return notifyMatchFailure(
            rewriter, op, "a group has " + Twine(group.size()) + " chips; expected split_count " + Twine(parts));
    auto positive = [&](int64_t dim) { return dim < 0 ? dim + typeOf(op.getResult()).getRank() : dim; };
    const int64_t split = positive(op.getSplitDim()), joined = positive(op.getConcatDim());
    Value input = adaptor.getInput();
    SmallVector<int64_t> shape(shapeOf(input));
    shape[split] /= parts;

    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Sender sender(builder, *mesh);
    SmallVector<Value> slices, pieces(parts);
    for (int64_t i = 0; i < parts; ++i)
      slices.push_back(slice(builder, input, typeLike(input, shape), split, i * shape[split], (i + 1) * shape[split]));
    for (auto [source, piece] : llvm::enumerate(pieces))
      for (ArrayRef<int64_t> group : groups)
        for (auto [target, chip] : llvm::enumerate(group))
          piece = sender.send(slices[target], piece, group[source], chip, typeLike(op.getResult(), shape));
    rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), pieces, static_cast<int32_t>(joined));
    return success();
  }
};
} // namespace

void ttnn::addMeshPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerAllToAll, LowerCollectiveBroadcast, LowerCollectivePermute, LowerMeshShard>(patterns.getContext());
}
