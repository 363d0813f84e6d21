//===- Training.cpp - cost rules of training ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

#include <vector>

namespace ttmlir::cost {
namespace {

/// All operands are read, and all but the gradient are written.
void adamwWork(const Op &op, Work &work) {
  std::vector<PlacedTensor> written;
  for (size_t i = 0; i < op.ins.size(); ++i)
    if (op.in(i) && i != 1)
      written.push_back(*op.in(i));
  addTraffic(work, op.ins, written, /*moves=*/false);
  for (const PlacedTensor &each : written)
    addVectorPass(work, op.name, each);
}

/// `products` matrix products over the scores, in tiles through the matrix unit.
template <size_t query, int64_t products> void attentionWork(const Op &op, Work &work) {
  vectorPasses(op, work);
  const PlacedTensor *q = op.in(query), *key = op.in(query + 1);
  if (q && key && key->shape.size() > 2)
    work.fpuTiles += products * q->tiles * tilesAlong(key->shape[2]);
}

} // namespace

std::span<const Rule> trainingRules() {
  static constexpr Rule rows[] = {
      {"ttnn.adamw", Family::Other, Traffic::Own, adamwWork},
      {"ttnn.sdpa_fw", Family::Other, Traffic::Shards, attentionWork<0, 2>},
      {"ttnn.sdpa_bw", Family::Other, Traffic::Shards, attentionWork<2, 5>},
  };
  return rows;
}

} // namespace ttmlir::cost
