//===- RulesCustomCalls.cpp - sharding rules of ops known by name ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::sdy;
namespace hlo = mlir::stablehlo;

static int64_t rankOf(ArrayRef<int64_t> shape) { return shape.size(); }

/// Calls are not verified: what is not there has size 1, and gets no factor.
static int64_t sizeOf(ArrayRef<int64_t> shape, int64_t dim) { return dim >= 0 && dim < rankOf(shape) ? shape[dim] : 1; }

static OpShardingRuleAttr pointwise(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  return builder.pointwise(builder.result(0)).build();
}

/// Dimensions that change are taken whole.
static OpShardingRuleAttr sameSizes(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0), out = builder.result(0);
  if (in.size() != out.size())
    return {};
  return builder
      .pointwise(in,
                 [&](int64_t dim) { return sizeOf(in, dim) == sizeOf(out, dim) ? kPassThrough : kBlockedReplication; })
      .build();
}

static OpShardingRuleAttr eigenvalues(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0);
  int64_t batch = rankOf(in) - 2;
  for (int64_t dim = 0; dim < batch; ++dim)
    builder.addAt({{0, dim}, {1, dim}, {2, dim}}, sizeOf(in, dim));
  return builder.addAt({{0, batch}, {1, batch}}, sizeOf(in, batch))
      .addAt({{0, batch + 1}, {1, batch + 1}, {2, batch}}, sizeOf(in, batch + 1))
      .build();
}

static OpShardingRuleAttr qrDecomposition(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0);
  int64_t batch = rankOf(in) - 2;
  for (int64_t dim = 0; dim < batch; ++dim)
    builder.addAt({{0, dim}, {1, dim}, {2, dim}}, sizeOf(in, dim));
  for (int64_t dim : {batch, batch + 1})
    builder.addAt({{0, dim}, {1, dim}}, sizeOf(in, dim), kNeedReplication);
  return builder.addAt({{2, batch}}, sizeOf(builder.result(1), batch), kNeedReplication).build();
}

static OpShardingRuleAttr householder(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0);
  int64_t batch = rankOf(in) - 2;
  for (int64_t dim = 0; dim < batch; ++dim)
    builder.addAt({{0, dim}, {1, dim}, {2, dim}}, sizeOf(in, dim));
  for (int64_t dim : {batch, batch + 1})
    builder.addAt({{0, dim}, {2, dim}}, sizeOf(in, dim), kNeedReplication);
  return builder.addAt({{1, batch}}, sizeOf(builder.operand(1), batch), kNeedReplication).build();
}

static OpShardingRuleAttr approximateTopK(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0), out = builder.result(0);
  int64_t first = builder.numOperands();
  for (int64_t dim = 0; dim < rankOf(in); ++dim) {
    if (sizeOf(in, dim) == sizeOf(out, dim)) {
      builder.addAt({{0, dim}, {1, dim}, {first, dim}, {first + 1, dim}}, sizeOf(in, dim));
      continue;
    }
    builder.addAt({{0, dim}, {1, dim}}, sizeOf(in, dim));
    builder.addAt({{first, dim}, {first + 1, dim}}, sizeOf(out, dim), kBlockedReplication);
  }
  return builder.build();
}

//===----------------------------------------------------------------------===//
// Ops of this compiler
//===----------------------------------------------------------------------===//

static OpShardingRuleAttr scaledDotProductAttention(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> query = builder.operand(0);
  int64_t out = builder.numOperands(), rank = rankOf(query);
  if (rank != 3 && rank != 4)
    return {};
  ArrayRef<int64_t> key = builder.operand(1);
  builder.addAt({{0, 0}, {1, 0}, {2, 0}, {out, 0}}, sizeOf(query, 0));
  // A group of query heads shares a head of keys: both are split alike, if the numbers go into each other.
  if (rank == 4 && sizeOf(key, 1) > 0 && sizeOf(query, 1) % sizeOf(key, 1) == 0)
    builder.addAt({{0, 1}, {1, 1}, {2, 1}, {out, 1}}, sizeOf(query, 1));
  return builder.addAt({{0, rank - 2}, {out, rank - 2}}, sizeOf(query, rank - 2), kBlockedReplication)
      .addAt({{1, rank - 2}, {2, rank - 2}}, sizeOf(key, rank - 2), kBlockedReplication)
      .addAt({{0, rank - 1}, {1, rank - 1}, {2, rank - 1}, {out, rank - 1}}, sizeOf(query, rank - 1),
             kBlockedReplication)
      .build();
}

static OpShardingRuleAttr pagedDecode(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> query = builder.operand(0);
  int64_t out = builder.numOperands();
  return builder.addAt({{0, 2}, {1, 1}, {2, 1}, {out, 2}}, sizeOf(query, 2))
      .addAt({{0, 1}, {3, 0}, {4, 0}, {out, 1}}, sizeOf(query, 1))
      .build();
}

static OpShardingRuleAttr chunkedAttention(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> query = builder.operand(0);
  int64_t out = builder.numOperands();
  return builder.addAt({{0, 1}, {1, 1}, {2, 1}, {out, 1}}, sizeOf(query, 1))
      .addAt({{0, 0}, {3, 0}, {out, 0}}, sizeOf(query, 0))
      .build();
}

static OpShardingRuleAttr pagedUpdateCache(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> cache = builder.operand(0), fill = builder.operand(1);
  int64_t out = builder.numOperands();
  return builder.addAt({{0, 1}, {1, 2}, {out, 1}}, sizeOf(cache, 1))
      .addAt({{1, 1}, {2, 0}, {3, 0}}, sizeOf(fill, 1))
      .build();
}

static OpShardingRuleAttr pagedFillCache(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> cache = builder.operand(0), fill = builder.operand(1);
  int64_t out = builder.numOperands();
  return builder.addAt({{0, 1}, {1, 1}, {out, 1}}, sizeOf(cache, 1))
      .addAt({{1, 0}, {2, 0}, {3, 0}}, sizeOf(fill, 0))
      .build();
}

/// Leading dimensions pass; the normalized ones, which are those of the weight, are taken whole.
static OpShardingRuleAttr rmsNorm(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0);
  int64_t out = builder.numOperands(), rank = rankOf(in);
  int64_t normalized = builder.numOperands() > 1 ? rankOf(builder.operand(1)) : 1;
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<std::pair<int64_t, int64_t>> places = {{0, dim}, {out, dim}};
    bool isNormalized = dim >= rank - normalized;
    for (int64_t operand = 1; operand < out && isNormalized; ++operand)
      places.emplace_back(operand, dim - (rank - normalized));
    builder.addAt(places, sizeOf(in, dim), isNormalized ? kBlockedReplication : kPassThrough);
  }
  return builder.build();
}

static OpShardingRuleAttr topK(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0);
  int64_t first = builder.numOperands();
  if (rankOf(in) != 2)
    return {};
  SmallVector<std::pair<int64_t, int64_t>> batch = {{0, 0}}, last;
  for (int64_t result = first; result < first + builder.numResults(); ++result) {
    batch.emplace_back(result, 0);
    last.emplace_back(result, 1);
  }
  return builder.addAt(batch, sizeOf(in, 0))
      .addAt({{0, 1}}, sizeOf(in, 1), kBlockedReplication)
      .addAt(last, sizeOf(builder.result(0), 1), kBlockedReplication)
      .build();
}

static OpShardingRuleAttr sampling(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0);
  SmallVector<std::pair<int64_t, int64_t>> batch;
  for (int64_t tensor = 0; tensor < static_cast<int64_t>(builder.numOperands() + builder.numResults()); ++tensor) {
    ArrayRef<int64_t> shape =
        tensor < builder.numOperands() ? builder.operand(tensor) : builder.result(tensor - builder.numOperands());
    if (!shape.empty() && !in.empty() && shape[0] == sizeOf(in, 0))
      batch.emplace_back(tensor, 0);
  }
  if (!in.empty())
    builder.addAt(batch, sizeOf(in, 0));
  if (rankOf(in) > 1)
    builder.addAt({{0, 1}, {1, 1}}, sizeOf(in, 1), kBlockedReplication);
  return builder.build();
}

namespace {
/// A rule, and what it reads of the op: the number of operands and results, and the rank of the first operand.
struct CustomCallRow {
  RuleFunction rule = nullptr;
  unsigned operands = 0, results = 0, rank = 0;
};
} // namespace

OpShardingRuleAttr sdy::customCallRule(Operation *op, RuleMode mode) {
  static const llvm::StringMap<CustomCallRow> table = {
      {"annotate_device_placement", {pointwise, 1, 1, 0}},
      {"Cholesky", {pointwise, 1, 1, 0}},
      {"CompactWyHelper", {pointwise, 1, 1, 0}},
      {"InspectSharding", {pointwise, 1, 1, 0}},
      {"InvertDiagBlocksLowerTriangular", {pointwise, 1, 1, 0}},
      {"InvertDiagBlocksUpperTriangular", {pointwise, 1, 1, 0}},
      {"LayoutConstraint", {pointwise, 1, 1, 0}},
      {"mhlo.erf", {pointwise, 1, 1, 0}},
      {"MoveToDevice", {pointwise, 1, 1, 0}},
      {"MoveToHost", {pointwise, 1, 1, 0}},
      {"X64Combine", {pointwise, 1, 1, 0}},
      {"X64SplitHigh", {pointwise, 1, 1, 0}},
      {"X64SplitLow", {pointwise, 1, 1, 0}},
      {"xla.megascale.provide_metadata", {pointwise, 1, 1, 0}},
      {"_SPMDInternalOp_MultiPad", {pointwise, 1, 1, 0}},
      {"_SPMDInternalOp_RotateRight", {pointwise, 1, 1, 0}},
      {"_SPMDInternalOp_MultiRotate", {pointwise, 1, 1, 0}},
      {"_SPMDInternalOp_MultiSlice", {pointwise, 1, 1, 0}},
      {"_SPMDInternalOp_Wrap", {pointwise, 1, 1, 0}},
      {"tt.mark_argument", {pointwise, 1, 1, 0}},
      {"Eigh", {eigenvalues, 1, 2, 2}},
      {"Qr", {qrDecomposition, 1, 2, 2}},
      {"QrDecompositionBlock", {qrDecomposition, 1, 2, 2}},
      {"ProductOfElementaryHouseholderReflectors", {householder, 2, 1, 2}},
      {"mhlo.topk", {sameSizes, 1, 1, 0}},
      {"ApproxTopK", {approximateTopK, 2, 2, 0}},
      {"PartialReduce", {approximateTopK, 2, 2, 0}},
      {"tt.scaled_dot_product_attention", {scaledDotProductAttention, 3, 1, 3}},
      {"tenstorrent.scaled_dot_product_attention", {scaledDotProductAttention, 3, 1, 3}},
      {"tt.paged_scaled_dot_product_attention_decode", {pagedDecode, 5, 1, 4}},
      {"tt.chunked_scaled_dot_product_attention", {chunkedAttention, 4, 1, 4}},
      {"tt.paged_update_cache", {pagedUpdateCache, 4, 1, 4}},
      {"tt.paged_fill_cache", {pagedFillCache, 4, 1, 4}},
      {"tt.sampling", {sampling, 1, 1, 0}},
      {"tenstorrent.rms_norm", {rmsNorm, 1, 1, 1}},
      {"tenstorrent.topk", {topK, 1, 1, 2}},
      {"tenstorrent.topk_values", {topK, 1, 1, 2}},
      {"tenstorrent.topk_indices", {topK, 1, 1, 2}},
  };
  CustomCallRow row = table.lookup(cast<hlo::CustomCallOp>(op).getCallTargetName());
  if (!row.rule || op->getNumOperands() < row.operands || op->getNumResults() < row.results)
    return {};
  if (row.rank > 0) {
    RankedTensorType first = getStaticTensor(op->getOperand(0).getType());
    if (!first || first.getRank() < row.rank)
      return {};
  }
  return row.rule(op, mode);
}
