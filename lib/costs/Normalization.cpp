//===- Normalization.cpp - cost rules of softmax and norms ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

namespace ttmlir::cost {
namespace {

/// Maximum, difference, sum, product; and the exponentials.
void softmaxWork(const Op &op, Work &work) {
  const PlacedTensor *rows = op.in(0);
  if (!rows)
    return;
  addRows(work, *rows, 4);
  work.sfpuTiles += rows->tiles;
  work.sfpuCycles += rows->tiles * exponentialCycles;
}

/// Mean, difference, square, variance, product; without the mean, the first two are absent. One more for each operand.
template <int64_t passes> void normWork(const Op &op, Work &work) {
  if (const PlacedTensor *rows = op.in(0))
    addRows(work, *rows, passes + present(op) - 1);
}

/// Statistics of the operand by the matrix unit, in two passes; then the results.
void statisticsWork(const Op &op, Work &work) {
  vectorPasses(op, work);
  work.fpuTiles += op.in(0) ? 2 * op.in(0)->tiles : 0;
}

} // namespace

std::span<const Rule> normalizationRules() {
  static constexpr Rule rows[] = {
      {"ttnn.softmax", Family::Norm, Traffic::Shards, softmaxWork},
      {"ttnn.layer_norm", Family::Norm, Traffic::Shards, normWork<5>},
      {"ttnn.rms_norm", Family::Norm, Traffic::Shards, normWork<3>},
      {"ttnn.batch_norm_training", Family::Other, Traffic::Shards, statisticsWork},
      {"ttnn.batch_norm_inference", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.group_norm", Family::Other, Traffic::Shards, statisticsWork},
      {"ttnn.distributed_layer_norm", Family::Other, Traffic::Shards, statisticsWork, nullptr, statisticsSends},
      {"ttnn.distributed_rms_norm", Family::Other, Traffic::Shards, statisticsWork, nullptr, statisticsSends},
      {"ttnn.dit_rms_norm_unary_fused", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.rms_norm_pre_all_gather", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.layer_norm_pre_all_gather", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.layer_norm_post_all_gather", Family::Other, Traffic::Shards, vectorPasses},
  };
  return rows;
}

} // namespace ttmlir::cost
