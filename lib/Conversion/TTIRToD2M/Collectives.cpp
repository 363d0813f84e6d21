//===- Collectives.cpp - exchange of values between chips -----------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Every chip writes its elements to the memories of other chips, over the
// fabric. Chips that combine values first send them to each other and then
// reduce what they have received.
//
//===----------------------------------------------------------------------===//

#include "DataMovement.h"
#include "TileExpressions.h"

#include "ttmlir/Dialect/D2M/IR/D2M.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllGatherOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllReduceAsyncOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllReduceOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllToAllOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CollectiveBroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CollectivePermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DistributedLayerNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DistributedRMSNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshPartitionOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ProdOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceScatterOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SumOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tt;

using Groups = SmallVector<SmallVector<int64_t>>;

//===----------------------------------------------------------------------===//
// Groups of chips
//===----------------------------------------------------------------------===//

/// Returns the chips along an axis of the mesh: those of a column for 0, of a row for 1.
static Groups groupsAlong(std::array<int64_t, 2> mesh, uint32_t axis) {
  Groups groups(static_cast<size_t>(axis == 0 ? mesh[1] : mesh[0]));
  for (int64_t chip = 0; chip < mesh[0] * mesh[1]; ++chip)
    groups[static_cast<size_t>(axis == 0 ? chip % mesh[1] : chip / mesh[1])].push_back(chip);
  return groups;
}

/// Returns the rows of an attribute; none, with a refusal, where one names no chip of the mesh.
static Groups rowsOf(DenseIntElementsAttr table, StringRef name, int64_t chips, std::string &refusal) {
  Groups rows;
  const int64_t columns = std::max<int64_t>(1, table.getType().getShape().back());
  for (auto [number, value] : llvm::enumerate(table.getValues<APInt>())) {
    if (static_cast<int64_t>(number) % columns == 0)
      rows.emplace_back();
    rows.back().push_back(value.getSExtValue());
    if (rows.back().back() < 0 || rows.back().back() >= chips) {
      refusal = (name + " has chip " + Twine(rows.back().back()) + "; the mesh has " + Twine(chips)).str();
      return {};
    }
  }
  return rows;
}

static Exchange exchangeOf(std::array<int64_t, 2> mesh) {
  Exchange exchange{mesh, {}, {}, {}};
  exchange.positions.assign(static_cast<size_t>(mesh[0] * mesh[1]), 0);
  return exchange;
}

/// Every chip of a group sends to all of the group.
static Exchange toAll(std::array<int64_t, 2> mesh, const Groups &groups) {
  Exchange exchange = exchangeOf(mesh);
  exchange.targets.resize(exchange.positions.size());
  for (const auto &group : groups)
    for (auto [position, chip] : llvm::enumerate(group)) {
      exchange.positions[static_cast<size_t>(chip)] = static_cast<int64_t>(position);
      exchange.targets[static_cast<size_t>(chip)] = group;
    }
  return exchange;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

static Tensor exchanged(Tensor x, ArrayRef<int64_t> shape, ArrayRef<AffineExpr> map, const Exchange &exchange) {
  Expressions &e = *x.e;
  auto type = RankedTensorType::get(shape, x.type().getElementType());
  Value tiles =
      UnrealizedConversionCastOp::create(e.builder, e.loc, placeOf(typesOf(e), x.type()).tiled, x.value).getResult(0);
  const auto rank = static_cast<unsigned>(exchange.targets.empty() ? type.getRank() : x.rank());
  Value received = exchanged(e.builder, e.loc, typesOf(e), tiles, x.type(), type,
                             AffineMap::get(rank + 1, 0, map, e.builder.getContext()), exchange);
  return e(UnrealizedConversionCastOp::create(e.builder, e.loc, type, received).getResult(0));
}

/// The indices of a tensor, and behind them the position of a chip.
static SmallVector<AffineExpr> indicesOf(int64_t rank, MLIRContext *context) {
  SmallVector<AffineExpr> indices;
  for (int64_t dim = 0; dim <= rank; ++dim)
    indices.push_back(getAffineDimExpr(static_cast<unsigned>(dim), context));
  return indices;
}

/// The values that a chip receives, [chips of a group, ...], combined.
static SmallVector<Tensor> combined(Tensor received, ttcore::ReduceType kind, std::string &refusal) {
  Expressions &e = *received.e;
  auto type = RankedTensorType::get(received.shape().drop_front(), received.type().getElementType());
  const auto reduce = [&](auto tag) {
    using Op = typename decltype(tag)::type;
    return SmallVector<Tensor>{
        e(Op::create(e.builder, e.loc, type, received.value, /*keep_dim=*/false, e.builder.getI32ArrayAttr({0})))};
  };
  switch (kind) {
  case ttcore::ReduceType::Sum:
    return reduce(std::type_identity<ttir::SumOp>());
  case ttcore::ReduceType::Max:
    return reduce(std::type_identity<ttir::MaxOp>());
  case ttcore::ReduceType::Min:
    return reduce(std::type_identity<ttir::MinOp>());
  case ttcore::ReduceType::Prod:
    return reduce(std::type_identity<ttir::ProdOp>());
  default:
    refusal = "it reduces by " + ttcore::stringifyReduceType(kind).str() + "; expected sum, max, min or prod";
    return {};
  }
}

static SmallVector<Tensor> resultsOf(ttir::AllGatherOp op, Expressions &e, std::string &) {
  Tensor x = e(op.getInput());
  const int64_t chips = typesOf(e).options.chipsAlong(op.getClusterAxis());
  if (chips == 1)
    return {x};
  const int64_t dim = x.dim(op.getAllGatherDim());
  SmallVector<AffineExpr> indices = indicesOf(x.rank(), op.getContext());
  AffineExpr position = indices.pop_back_val();
  indices[dim] = indices[dim] + position * x.shape()[dim];
  SmallVector<int64_t> shape(x.shape());
  shape[dim] *= chips;
  return {exchanged(x, shape, indices,
                    toAll(typesOf(e).options.mesh, groupsAlong(typesOf(e).options.mesh, op.getClusterAxis())))};
}

template <class Op> static SmallVector<Tensor> reduced(Op op, Expressions &e, std::string &refusal) {
  Tensor x = e(op.getInput());
  const int64_t chips = typesOf(e).options.chipsAlong(op.getClusterAxis());
  if (chips == 1)
    return {x};
  SmallVector<AffineExpr> indices = indicesOf(x.rank(), op.getContext());
  indices.insert(indices.begin(), indices.pop_back_val());
  SmallVector<int64_t> shape(x.shape());
  shape.insert(shape.begin(), chips);
  return combined(exchanged(x, shape, indices,
                            toAll(typesOf(e).options.mesh, groupsAlong(typesOf(e).options.mesh, op.getClusterAxis()))),
                  op.getReduceType(), refusal);
}
static SmallVector<Tensor> resultsOf(ttir::AllReduceOp op, Expressions &e, std::string &refusal) {
  return reduced(op, e, refusal);
}
static SmallVector<Tensor> resultsOf(ttir::AllReduceAsyncOp op, Expressions &e, std::string &refusal) {
  return reduced(op, e, refusal);
}

static SmallVector<Tensor> resultsOf(ttir::ReduceScatterOp op, Expressions &e, std::string &refusal) {
  Tensor x = e(op.getInput());
  const int64_t chips = typesOf(e).options.chipsAlong(op.getClusterAxis());
  if (chips == 1)
    return {x};
  const int64_t dim = x.dim(op.getScatterDim());
  const int64_t part = x.shape()[dim] / chips;
  SmallVector<AffineExpr> indices = indicesOf(x.rank(), op.getContext());
  Exchange exchange = toAll(typesOf(e).options.mesh, groupsAlong(typesOf(e).options.mesh, op.getClusterAxis()));
  exchange.target = AffineMap::get(static_cast<unsigned>(x.rank() + 1), 0, indices[dim].floorDiv(part));
  indices[dim] = indices[dim] % part;
  indices.insert(indices.begin(), indices.pop_back_val());
  SmallVector<int64_t> shape(x.shape());
  shape[dim] = part;
  shape.insert(shape.begin(), chips);
  return combined(exchanged(x, shape, indices, exchange), op.getReduceType(), refusal);
}

static SmallVector<Tensor> resultsOf(ttir::AllToAllOp op, Expressions &e, std::string &refusal) {
  Tensor x = e(op.getInput());
  auto groups =
      rowsOf(cast<DenseIntElementsAttr>(op.getReplicaGroups()), "replica_groups", typesOf(e).options.chips(), refusal);
  if (groups.empty())
    return {};
  const int64_t split = x.dim(op.getSplitDim()), joined = x.dim(op.getConcatDim());
  const int64_t part = x.shape()[split] / static_cast<int64_t>(groups.front().size());
  SmallVector<AffineExpr> indices = indicesOf(x.rank(), op.getContext());
  Exchange exchange = toAll(typesOf(e).options.mesh, groups);
  exchange.target = AffineMap::get(static_cast<unsigned>(x.rank() + 1), 0, indices[split].floorDiv(part));
  AffineExpr position = indices.pop_back_val();
  indices[split] = indices[split] % part;
  indices[joined] = indices[joined] + position * (joined == split ? part : x.shape()[joined]);
  return {exchanged(x, op.getType().getShape(), indices, exchange)};
}

static SmallVector<Tensor> resultsOf(ttir::CollectiveBroadcastOp op, Expressions &e, std::string &refusal) {
  Tensor x = e(op.getInput());
  auto groups =
      rowsOf(cast<DenseIntElementsAttr>(op.getReplicaGroups()), "replica_groups", typesOf(e).options.chips(), refusal);
  if (groups.empty())
    return {};
  Exchange exchange = exchangeOf(typesOf(e).options.mesh);
  exchange.targets.resize(exchange.positions.size());
  for (const auto &group : groups)
    exchange.targets[static_cast<size_t>(group.front())] = group;
  SmallVector<AffineExpr> indices = indicesOf(x.rank(), op.getContext());
  return {exchanged(x, x.shape(), ArrayRef(indices).drop_back(), exchange)};
}

static SmallVector<Tensor> resultsOf(ttir::CollectivePermuteOp op, Expressions &e, std::string &refusal) {
  Tensor x = e(op.getInput());
  auto pairs = rowsOf(cast<DenseIntElementsAttr>(op.getSourceTargetPairs()), "source_target_pairs",
                      typesOf(e).options.chips(), refusal);
  if (pairs.empty() && !refusal.empty())
    return {};
  if (pairs.empty())
    return {e.full(0, x)};
  Exchange exchange = exchangeOf(typesOf(e).options.mesh);
  exchange.targets.resize(exchange.positions.size());
  for (const auto &pair : pairs)
    exchange.targets[static_cast<size_t>(pair[0])].push_back(pair[1]);
  SmallVector<AffineExpr> indices = indicesOf(x.rank(), op.getContext());
  return {exchanged(x, x.shape(), ArrayRef(indices).drop_back(), exchange)};
}

static SmallVector<Tensor> resultsOf(ttir::MeshPartitionOp op, Expressions &e, std::string &) {
  Tensor x = e(op.getInput());
  const std::array<int64_t, 2> mesh = typesOf(e).options.mesh;
  Groups groups(1);
  if (std::optional<uint32_t> axis = op.getClusterAxis())
    groups = groupsAlong(mesh, *axis);
  else
    groups.front() = llvm::to_vector(llvm::seq<int64_t>(0, typesOf(e).options.chips()));
  if (groups.front().size() == 1)
    return {x};
  Exchange exchange = toAll(mesh, groups);
  exchange.targets.clear(); // each chip reads its part
  const int64_t dim = x.dim(op.getDim());
  SmallVector<int64_t> shape(x.shape());
  shape[dim] /= static_cast<int64_t>(groups.front().size());
  SmallVector<AffineExpr> indices = indicesOf(x.rank(), op.getContext());
  AffineExpr position = indices.pop_back_val();
  indices[dim] = indices[dim] + position * shape[dim];
  return {exchanged(x, shape, indices, exchange)};
}

/// Returns the mean over the last dimension, of which the chips along an axis have a part each.
static Tensor meanOfParts(Tensor x, uint32_t axis) {
  Expressions &e = *x.e;
  const int64_t chips = typesOf(e).options.chipsAlong(axis);
  Tensor sum = x.sum({x.rank() - 1});
  if (chips > 1)
    sum = e(ttir::AllReduceOp::create(e.builder, e.loc, sum.type(), sum.value, ttcore::ReduceType::Sum, axis));
  return sum * (1.0 / static_cast<double>(x.shape().back() * chips));
}

/// Returns the input, with the residual added, in f32.
template <class Op> static Tensor summedInput(Op op, Expressions &e) {
  Tensor x = e(op.getInput()).wide();
  return op.getResidual() ? x + e(op.getResidual()).wide() : x;
}

static SmallVector<Tensor> resultsOf(ttir::DistributedRMSNormOp op, Expressions &e, std::string &) {
  Tensor x = summedInput(op, e);
  Tensor scaled = x * (meanOfParts(x * x, op.getClusterAxis()) + op.getEpsilon().convertToDouble()).rsqrt();
  return {op.getWeight() ? scaled * e(op.getWeight()).wide() : scaled};
}

static SmallVector<Tensor> resultsOf(ttir::DistributedLayerNormOp op, Expressions &e, std::string &) {
  Tensor x = summedInput(op, e);
  x = x - meanOfParts(x, op.getClusterAxis());
  Tensor scaled = x * (meanOfParts(x * x, op.getClusterAxis()) + op.getEpsilon().convertToDouble()).rsqrt();
  if (op.getWeight())
    scaled = scaled * e(op.getWeight()).wide();
  return {op.getBias() ? scaled + e(op.getBias()).wide() : scaled};
}

//===----------------------------------------------------------------------===//
// Between the host and the chips
//===----------------------------------------------------------------------===//

namespace {
/// Values of the host are divided before the chips get them, and joined behind.
struct LowerMeshShard : TilePattern<ttir::MeshShardOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::MeshShardOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Placement from = placeOf(types, op->getOperand(0).getType()), to = placeOf(types, op->getResult(0).getType());
    const bool keepsShape = from.host == to.host;
    if (op.getShardType() == ttcore::MeshShardType::Identity || types.options.chips() == 1) {
      if (!keepsShape)
        return notifyMatchFailure(rewriter, op, [&](Diagnostic &reason) {
          reason << "it changes " << op->getOperand(0).getType() << " to " << op->getResult(0).getType()
                 << " within the program";
        });
      rewriter.replaceOp(op, adaptor.getInput());
      return success();
    }
    Value host = hostOf(rewriter, op.getLoc(), types, adaptor.getInput(), from);
    Value result = d2m::MeshShardOp::create(rewriter, op.getLoc(), to.host, host, op.getShardType(),
                                            op.getShardDirection(), op.getShardShape(), op.getShardDims());
    rewriter.replaceOp(op, toDevice(rewriter, op.getLoc(), result, to));
    return success();
  }
};
} // namespace

void tt::addCollectivePatterns(RewritePatternSet &patterns, const TileTypes &types) {
  patterns.add<LowerMeshShard>(types, patterns.getContext());
}

void tt::addCollectiveComposites(CompositeTable &table) {
  addComposite<ttir::AllGatherOp>(table, resultsOf);
  addComposite<ttir::AllReduceAsyncOp>(table, resultsOf);
  addComposite<ttir::AllReduceOp>(table, resultsOf);
  addComposite<ttir::AllToAllOp>(table, resultsOf);
  addComposite<ttir::CollectiveBroadcastOp>(table, resultsOf);
  addComposite<ttir::CollectivePermuteOp>(table, resultsOf);
  addComposite<ttir::DistributedLayerNormOp>(table, resultsOf);
  addComposite<ttir::DistributedRMSNormOp>(table, resultsOf);
  addComposite<ttir::MeshPartitionOp>(table, resultsOf);
  addComposite<ttir::ReduceScatterOp>(table, resultsOf);
}
