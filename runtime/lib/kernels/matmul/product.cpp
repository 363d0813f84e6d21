//===- product.cpp - matrix products of tensors ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/matmul/product.h"

#include "tensor/strided.h"

#include <algorithm>
#include <unordered_map>

namespace tt::ttnn {

Product productOf(const OpCall &call) {
  Shape a = operand(call, 0).shape, b = operand(call, 1).shape;
  auto flag = [&](std::string_view name) { return call.attributes.get<bool>(name, false); };
  // As in torch, a vector on the left is a row and on the right a column, and its dimension is not in the result.
  const bool vectorA = a.size() == 1, vectorB = b.size() == 1;
  const bool transposeA = flag("transpose_a") && !vectorA, transposeB = flag("transpose_b") && !vectorB;
  if (a.empty() || b.empty())
    fail(call, "operands have shapes " + toString(a) + " and " + toString(b) + "; expected at least one dimension");
  if (vectorA)
    a.insert(a.begin(), 1);
  if (vectorB)
    b.push_back(1);
  const size_t ra = a.size(), rb = b.size();

  Product p;
  p.m = a[ra - (transposeA ? 1 : 2)];
  p.k = a[ra - (transposeA ? 2 : 1)];
  const int64_t inner = b[rb - (transposeB ? 1 : 2)];
  p.n = b[rb - (transposeB ? 2 : 1)];
  if (p.k != inner)
    fail(call, "inner dimensions " + std::to_string(p.k) + " and " + std::to_string(inner) + " differ (shapes " +
                   toString(operand(call, 0).shape) + " and " + toString(operand(call, 1).shape) + ")");
  p.aRow = transposeA ? 1 : p.k;
  p.aColumn = transposeA ? p.m : 1;
  p.bRow = transposeB ? 1 : p.n;
  p.bColumn = transposeB ? p.k : 1;

  const size_t rank = std::max(ra, rb) - 2;
  const std::vector<int64_t> stridesA = rowMajorStrides(a), stridesB = rowMajorStrides(b);
  for (size_t d = 0; d < rank; ++d) {
    auto size = [&](const Shape &shape) {
      return d + shape.size() < rank + 2 ? 1 : shape[d + shape.size() - rank - 2];
    };
    auto stride = [&](const Shape &shape, const std::vector<int64_t> &strides) {
      return size(shape) == 1 ? 0 : strides[d + shape.size() - rank - 2];
    };
    const int64_t sizeA = size(a), sizeB = size(b);
    if (sizeA != sizeB && sizeA != 1 && sizeB != 1)
      fail(call, "batch dimensions of shapes " + toString(operand(call, 0).shape) + " and " +
                     toString(operand(call, 1).shape) + " do not broadcast");
    p.batch.push_back(sizeA == 1 ? sizeB : sizeA);
    p.batchA.push_back(stride(a, stridesA));
    p.batchB.push_back(stride(b, stridesB));
  }
  return p;
}

void simplify(Product &p) {
  Shape batch;
  std::vector<int64_t> batchA, batchB;
  for (size_t d = 0; d < p.batch.size(); ++d) {
    if (p.batch[d] == 1)
      continue;
    if (!batch.empty() && batchA.back() == p.batchA[d] * p.batch[d] && batchB.back() == p.batchB[d] * p.batch[d]) {
      batch.back() *= p.batch[d];
      batchA.back() = p.batchA[d];
      batchB.back() = p.batchB[d];
      continue;
    }
    batch.push_back(p.batch[d]);
    batchA.push_back(p.batchA[d]);
    batchB.push_back(p.batchB[d]);
  }
  if (batch.size() == 1 && batchB[0] == 0 && batchA[0] == p.m * p.aRow && p.aColumn == 1) {
    p.m *= batch[0];
    batch.clear();
    batchA.clear();
    batchB.clear();
  }
  p.batch = std::move(batch);
  p.batchA = std::move(batchA);
  p.batchB = std::move(batchB);
}

RightMatrices rightMatrices(const Product &p) {
  RightMatrices matrices;
  std::unordered_map<int64_t, size_t> known;
  for (int64_t batch = 0; batch < p.batches(); ++batch) {
    const int64_t offset = p.offsets(batch).second;
    const auto [found, isNew] = known.try_emplace(offset, matrices.offsets.size());
    if (isNew)
      matrices.offsets.push_back(offset);
    matrices.ofBatch.push_back(found->second);
  }
  return matrices;
}

} // namespace tt::ttnn
