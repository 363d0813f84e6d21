//===- CustomCalls.cpp - factors of calls known by name -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::tt;
using namespace ::ttmlir::shapes;
namespace hlo = mlir::stablehlo;

static int64_t rankOf(View shape) { return static_cast<int64_t>(shape.size()); }

/// Calls are not verified: a missing dimension has size 1, and gets no factor.
static int64_t sizeOf(View shape, int64_t dim) { return dim >= 0 && dim < rankOf(shape) ? shape[dim] : 1; }

/// Dimensions that change are taken whole.
static std::optional<Factors> sameSizes(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View in = factors.operand(0), out = factors.result(0);
  if (in.size() != out.size())
    return {};
  return factors
      .pointwise(in,
                 [&](int64_t dim) { return sizeOf(in, dim) == sizeOf(out, dim) ? kPassThrough : kBlockedReplication; })
      .finish();
}

static std::optional<Factors> eigenvalues(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View in = factors.operand(0);
  int64_t batch = rankOf(in) - 2;
  for (int64_t dim = 0; dim < batch; ++dim)
    factors.addAt({{0, dim}, {1, dim}, {2, dim}}, sizeOf(in, dim));
  return factors.addAt({{0, batch}, {1, batch}}, sizeOf(in, batch))
      .addAt({{0, batch + 1}, {1, batch + 1}, {2, batch}}, sizeOf(in, batch + 1))
      .finish();
}

static std::optional<Factors> qrDecomposition(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View in = factors.operand(0);
  int64_t batch = rankOf(in) - 2;
  for (int64_t dim = 0; dim < batch; ++dim)
    factors.addAt({{0, dim}, {1, dim}, {2, dim}}, sizeOf(in, dim));
  for (int64_t dim : {batch, batch + 1})
    factors.addAt({{0, dim}, {1, dim}}, sizeOf(in, dim), kNeedReplication);
  return factors.addAt({{2, batch}}, sizeOf(factors.result(1), batch), kNeedReplication).finish();
}

static std::optional<Factors> householder(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View in = factors.operand(0);
  int64_t batch = rankOf(in) - 2;
  for (int64_t dim = 0; dim < batch; ++dim)
    factors.addAt({{0, dim}, {1, dim}, {2, dim}}, sizeOf(in, dim));
  for (int64_t dim : {batch, batch + 1})
    factors.addAt({{0, dim}, {2, dim}}, sizeOf(in, dim), kNeedReplication);
  return factors.addAt({{1, batch}}, sizeOf(factors.operand(1), batch), kNeedReplication).finish();
}

static std::optional<Factors> approximateTopK(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View in = factors.operand(0), out = factors.result(0);
  auto first = static_cast<int64_t>(factors.numOperands());
  for (int64_t dim = 0; dim < rankOf(in); ++dim) {
    if (sizeOf(in, dim) == sizeOf(out, dim)) {
      factors.addAt({{0, dim}, {1, dim}, {first, dim}, {first + 1, dim}}, sizeOf(in, dim));
      continue;
    }
    factors.addAt({{0, dim}, {1, dim}}, sizeOf(in, dim));
    factors.addAt({{first, dim}, {first + 1, dim}}, sizeOf(out, dim), kBlockedReplication);
  }
  return factors.finish();
}

//===----------------------------------------------------------------------===//
// Ops of this compiler
//===----------------------------------------------------------------------===//

static std::optional<Factors> scaledDotProductAttention(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View query = factors.operand(0);
  int64_t out = static_cast<int64_t>(factors.numOperands()), rank = rankOf(query);
  if (rank != 3 && rank != 4)
    return {};
  View key = factors.operand(1);
  factors.addAt({{0, 0}, {1, 0}, {2, 0}, {out, 0}}, sizeOf(query, 0));
  // A group of query heads shares a head of keys: both are split alike, if one number divides the other.
  if (rank == 4 && sizeOf(key, 1) > 0 && sizeOf(query, 1) % sizeOf(key, 1) == 0)
    factors.addAt({{0, 1}, {1, 1}, {2, 1}, {out, 1}}, sizeOf(query, 1));
  return factors.addAt({{0, rank - 2}, {out, rank - 2}}, sizeOf(query, rank - 2), kBlockedReplication)
      .addAt({{1, rank - 2}, {2, rank - 2}}, sizeOf(key, rank - 2), kBlockedReplication)
      .addAt({{0, rank - 1}, {1, rank - 1}, {2, rank - 1}, {out, rank - 1}}, sizeOf(query, rank - 1),
             kBlockedReplication)
      .finish();
}

static std::optional<Factors> pagedDecode(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View query = factors.operand(0);
  auto out = static_cast<int64_t>(factors.numOperands());
  return factors.addAt({{0, 2}, {1, 1}, {2, 1}, {out, 2}}, sizeOf(query, 2))
      .addAt({{0, 1}, {3, 0}, {4, 0}, {out, 1}}, sizeOf(query, 1))
      .finish();
}

static std::optional<Factors> chunkedAttention(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View query = factors.operand(0);
  auto out = static_cast<int64_t>(factors.numOperands());
  return factors.addAt({{0, 1}, {1, 1}, {2, 1}, {out, 1}}, sizeOf(query, 1))
      .addAt({{0, 0}, {3, 0}, {out, 0}}, sizeOf(query, 0))
      .finish();
}

static std::optional<Factors> pagedUpdateCache(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View cache = factors.operand(0), fill = factors.operand(1);
  auto out = static_cast<int64_t>(factors.numOperands());
  return factors.addAt({{0, 1}, {1, 2}, {out, 1}}, sizeOf(cache, 1))
      .addAt({{1, 1}, {2, 0}, {3, 0}}, sizeOf(fill, 1))
      .finish();
}

static std::optional<Factors> pagedFillCache(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View cache = factors.operand(0), fill = factors.operand(1);
  auto out = static_cast<int64_t>(factors.numOperands());
  return factors.addAt({{0, 1}, {1, 1}, {out, 1}}, sizeOf(cache, 1))
      .addAt({{1, 0}, {2, 0}, {3, 0}}, sizeOf(fill, 0))
      .finish();
}

/// Leading dimensions pass; the normalized ones, which are those of the weight, must be unsplit.
static std::optional<Factors> rmsNorm(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View in = factors.operand(0);
  int64_t out = static_cast<int64_t>(factors.numOperands()), rank = rankOf(in);
  int64_t normalized = factors.numOperands() > 1 ? rankOf(factors.operand(1)) : 1;
  for (int64_t dim = 0; dim < rank; ++dim) {
    std::vector<Factors::Place> places = {{0, dim}, {out, dim}};
    bool isNormalized = dim >= rank - normalized;
    for (int64_t operand = 1; operand < out && isNormalized; ++operand)
      places.push_back({operand, dim - (rank - normalized)});
    factors.addAt(places, sizeOf(in, dim), isNormalized ? kBlockedReplication : kPassThrough);
  }
  return factors.finish();
}

static std::optional<Factors> topK(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View in = factors.operand(0);
  auto first = static_cast<int64_t>(factors.numOperands());
  if (rankOf(in) != 2)
    return {};
  std::vector<Factors::Place> batch = {{0, 0}}, last;
  for (int64_t result = first; result < first + static_cast<int64_t>(factors.numResults()); ++result) {
    batch.push_back({result, 0});
    last.push_back({result, 1});
  }
  return factors.addAt(batch, sizeOf(in, 0))
      .addAt({{0, 1}}, sizeOf(in, 1), kBlockedReplication)
      .addAt(last, sizeOf(factors.result(0), 1), kBlockedReplication)
      .finish();
}

static std::optional<Factors> sampling(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View in = factors.operand(0);
  std::vector<Factors::Place> batch;
  for (size_t tensor = 0; tensor < factors.numTensors(); ++tensor) {
    const View shape = factors.tensor(tensor);
    if (!shape.empty() && !in.empty() && shape[0] == sizeOf(in, 0))
      batch.push_back({static_cast<int64_t>(tensor), 0});
  }
  if (!in.empty())
    factors.addAt(batch, sizeOf(in, 0));
  if (rankOf(in) > 1)
    factors.addAt({{0, 1}, {1, 1}}, sizeOf(in, 1), kBlockedReplication);
  return factors.finish();
}

/// An attribute that front ends state as text; empty if it is absent.
static StringRef stated(Operation *op, StringRef name) {
  auto attributes = op->getAttrOfType<DictionaryAttr>("mhlo.frontend_attributes");
  auto text = attributes ? attributes.getAs<StringAttr>(name) : StringAttr();
  return text ? text.getValue() : StringRef();
}

/// a [.., K] of groups of rows or of experts, b [1, experts, K, N], and a number for each product.
static std::optional<Factors> sparseMatmul(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  const View a = factors.operand(0), b = factors.operand(1), sparsity = factors.operand(2), result = factors.result(0);
  const auto out = static_cast<int64_t>(factors.numOperands());
  const int64_t rank = rankOf(result);
  const bool isSparseA = stated(op, "is_input_a_sparse").equals_insensitive("true");
  if (rankOf(a) != 4 || rankOf(b) != 4 || rank != (isSparseA ? 4 : 6))
    return {};
  // The hint is the number of products of the whole.
  const StringRef count = stated(op, "nnz");
  const bool isCounted = !count.empty() && count != "0";
  const int64_t experts = sizeOf(b, 1), last = rankOf(sparsity) - 1;
  if (!isCounted && sizeOf(sparsity, last) == experts)
    factors.addAt({{0, isSparseA ? 1 : kNone}, {1, 1}, {2, last}, {out, isSparseA ? 1 : 3}}, experts);
  if (!isCounted && last > 0 && sizeOf(sparsity, 0) == sizeOf(a, 0))
    factors.addAt({{0, 0}, {2, 0}, {out, 0}}, sizeOf(a, 0));
  return factors.addAt({{0, 2}, {out, rank - 2}}, sizeOf(a, 2))
      .addAt({{1, 3}, {out, rank - 1}}, sizeOf(b, 3))
      .addAt({{0, 3}, {1, 2}}, sizeOf(a, 3), kReduction)
      .finish();
}

/// Scores [batch, 1, rows, keys] are sums over the heads of the query. The position of a row decides which keys come
/// after it.
static std::optional<Factors> indexerScores(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  const View query = factors.operand(0);
  const auto out = static_cast<int64_t>(factors.numOperands());
  return factors.addAt({{0, 0}, {1, 0}, {2, 0}, {out, 0}}, sizeOf(query, 0))
      .addAt({{0, 1}, {2, 1}}, sizeOf(query, 1), kReduction)
      .addAt({{0, 2}, {2, 2}, {out, 2}}, sizeOf(query, 2), kBlockedReplication)
      .addAt({{0, 3}, {1, 3}}, sizeOf(query, 3), kBlockedReplication)
      .addAt({{1, 2}, {out, 3}}, sizeOf(factors.operand(1), 2), kBlockedReplication)
      .finish();
}

namespace {
/// The meaning of a call's factors: dimensions along which parts are computed independently, or how shardings
/// propagate.
enum class Says : uint8_t { Parts, Spread };

/// A rule, and the properties of the op that it needs: the number of operands and results, and the rank of the first
/// operand.
struct CustomCallRow {
  std::optional<Factors> (*rule)(Operation *op, FactorMode mode) = nullptr;
  unsigned operands = 0, results = 0, rank = 0;
  Says says = Says::Parts;
};
} // namespace

static CustomCallRow findRow(hlo::CustomCallOp call) {
  static const llvm::StringMap<CustomCallRow> table = {
      {"annotate_device_placement", {elementwiseFactors, 1, 1, 0}},
      {"Cholesky", {elementwiseFactors, 1, 1, 0, Says::Spread}},
      {"CompactWyHelper", {elementwiseFactors, 1, 1, 0, Says::Spread}},
      {"InspectSharding", {elementwiseFactors, 1, 1, 0}},
      {"InvertDiagBlocksLowerTriangular", {elementwiseFactors, 1, 1, 0, Says::Spread}},
      {"InvertDiagBlocksUpperTriangular", {elementwiseFactors, 1, 1, 0, Says::Spread}},
      {"LayoutConstraint", {elementwiseFactors, 1, 1, 0}},
      {"mhlo.erf", {elementwiseFactors, 1, 1, 0}},
      {"MoveToDevice", {elementwiseFactors, 1, 1, 0}},
      {"MoveToHost", {elementwiseFactors, 1, 1, 0}},
      {"X64Combine", {elementwiseFactors, 1, 1, 0}},
      {"X64SplitHigh", {elementwiseFactors, 1, 1, 0}},
      {"X64SplitLow", {elementwiseFactors, 1, 1, 0}},
      {"xla.megascale.provide_metadata", {elementwiseFactors, 1, 1, 0}},
      {"_SPMDInternalOp_MultiPad", {elementwiseFactors, 1, 1, 0}},
      {"_SPMDInternalOp_RotateRight", {elementwiseFactors, 1, 1, 0}},
      {"_SPMDInternalOp_MultiRotate", {elementwiseFactors, 1, 1, 0}},
      {"_SPMDInternalOp_MultiSlice", {elementwiseFactors, 1, 1, 0}},
      {"_SPMDInternalOp_Wrap", {elementwiseFactors, 1, 1, 0}},
      {"tt.mark_argument", {elementwiseFactors, 1, 1, 0}},
      {"Eigh", {eigenvalues, 1, 2, 2, Says::Spread}},
      {"Qr", {qrDecomposition, 1, 2, 2}},
      {"QrDecompositionBlock", {qrDecomposition, 1, 2, 2}},
      {"ProductOfElementaryHouseholderReflectors", {householder, 2, 1, 2}},
      {"mhlo.topk", {sameSizes, 1, 1, 0}},
      {"ApproxTopK", {approximateTopK, 2, 2, 0, Says::Spread}},
      {"PartialReduce", {approximateTopK, 2, 2, 0, Says::Spread}},
      {"tt.scaled_dot_product_attention", {scaledDotProductAttention, 3, 1, 3}},
      {"tenstorrent.scaled_dot_product_attention", {scaledDotProductAttention, 3, 1, 3}},
      {"tt.paged_scaled_dot_product_attention_decode", {pagedDecode, 5, 1, 4}},
      {"tt.chunked_scaled_dot_product_attention", {chunkedAttention, 4, 1, 4}},
      {"tt.paged_update_cache", {pagedUpdateCache, 4, 1, 4}},
      {"tt.paged_fill_cache", {pagedFillCache, 4, 1, 4}},
      {"tt.sampling", {sampling, 1, 1, 0}},
      {"tt.sparse_matmul", {sparseMatmul, 3, 1, 4}},
      {"tt.indexer_score_dsa", {indexerScores, 3, 1, 4}},
      {"tenstorrent.rms_norm", {rmsNorm, 1, 1, 1}},
      {"tenstorrent.topk", {topK, 1, 1, 2}},
      {"tenstorrent.topk_values", {topK, 1, 1, 2}},
      {"tenstorrent.topk_indices", {topK, 1, 1, 2}},
  };
  return table.lookup(call.getCallTargetName());
}

bool stablehlo::isComputedInParts(hlo::CustomCallOp call) { return findRow(call).says == Says::Parts; }

std::optional<Factors> stablehlo::customCallFactors(Operation *op, FactorMode mode) {
  const CustomCallRow row = findRow(cast<hlo::CustomCallOp>(op));
  if (!row.rule || op->getNumOperands() < row.operands || op->getNumResults() < row.results)
    return {};
  if (row.rank > 0) {
    auto first = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!first || !first.hasStaticShape() || first.getRank() < row.rank)
      return {};
  }
  return row.rule(op, mode);
}
