//===- Compute.cpp - cost rules of elementwise ops, products, reductions --===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

namespace ttmlir::cost {
namespace {

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// The matrix unit adds, subtracts and multiplies; the vector unit computes everything else.
void elementwiseWork(const Op &op, Work &work) {
  vectorPasses(op, work);
  if (op.name == "ttnn.add" || op.name == "ttnn.subtract" || op.name == "ttnn.multiply")
    std::swap(work.sfpuTiles, work.fpuTiles);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Cores that share the right operand, if it is one matrix, pass it on in blocks of two tiles of K. Without a program
/// config, kernels do not fetch the next block while they compute.
void productWork(const Op &op, Work &work) {
  addTraffic(work, op, /*moves=*/false);
  const PlacedTensor *a = op.in(0), *b = op.in(1);
  if (!a || !b || op.outs.empty())
    return;
  const PlacedTensor &out = op.outs[0];
  const bool isRow = a->shape.size() == 1, isColumn = b->shape.size() == 1;
  const bool transposesA = !isRow && flag(op, "transpose_a"), transposesB = !isColumn && flag(op, "transpose_b");
  const int64_t m = isRow ? 1 : a->sizeFromEnd(transposesA ? 0 : 1), k = a->sizeFromEnd(transposesA ? 1 : 0),
                n = isColumn ? 1 : b->sizeFromEnd(transposesB ? 1 : 0);
  const int64_t batches = m && n ? out.elements() / m / n : 0;
  work.kind = Kind::Product;
  work.matmulTiles = productTiles(batches, m, k, n);
  work.fetchesByTurns =
      op.attribute("matmul_program_config").kind == tt::shapes::Attribute::Kind::Absent &&
      std::any_of(op.ins.begin(), op.ins.end(), [](const auto &in) { return in && in->isInterleavedInDram(); });
  if (work.fetchesByTurns && b->elements() == k * n)
    work.blocks = (tilesAlong(k) + 1) / 2;
  // The cores that the program config keeps as busy as the busiest one.
  const int64_t each = number(op, "matmul_program_config.per_core_m") * number(op, "matmul_program_config.per_core_n");
  work.cores = each > 0 ? std::max<int64_t>(1, out.tiles / each) : 0;
  if (op.in(2))
    work.fpuTiles += out.tiles;
  addActivation(op, work);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Kernels that the program brings, whose work is not known: they read all operands but the last one, which they write.
void genericWork(const Op &op, Work &work) {
  std::vector<PlacedTensor> outs;
  for (const auto &in : op.ins)
    if (in)
      outs.assign(1, *in);
  addTraffic(work, op.ins.first(op.ins.empty() ? 0 : op.ins.size() - 1), outs, /*moves=*/false);
  for (const PlacedTensor &out : outs)
    addVectorPass(work, op.name, out);
  work.cores = outs.empty() ? 0 : busyCores(outs[0]);
}

/// The matrix unit reduces.
void reductionWork(const Op &op, Work &work) { work.fpuTiles = op.in(0) ? op.in(0)->tiles : 0; }

} // namespace

constinit const Rule elementwise = {"", Family::Elementwise, Traffic::Shards, elementwiseWork};

std::span<const Rule> computeRules() {
  static constexpr Rule rows[] = {
      {"ttnn.matmul", Family::Product, Traffic::Own, productWork},
      {"ttnn.linear", Family::Product, Traffic::Own, productWork},
      {"ttnn.assign", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.sum", Family::Reduction, Traffic::Shards, reductionWork},
      {"ttnn.mean", Family::Reduction, Traffic::Shards, reductionWork},
      {"ttnn.max", Family::Reduction, Traffic::Shards, reductionWork},
      {"ttnn.min", Family::Reduction, Traffic::Shards, reductionWork},
      {"ttnn.prod", Family::Reduction, Traffic::Shards, reductionWork},
      {"ttnn.argmax", Family::Reduction, Traffic::Shards, reductionWork},
      {"ttnn.cumsum", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.cumprod", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.sort", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.topk", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.quantize", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.dequantize", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.requantize", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.generic", Family::Other, Traffic::Own, genericWork},
      {"ttnn.d2m_subgraph", Family::Other, Traffic::Shards, vectorPasses},
      // Kernels elsewhere.
      {"ttnn.tt_lang_op", Family::Other, Traffic::Shards, vectorPasses},
  };
  return rows;
}

} // namespace ttmlir::cost
