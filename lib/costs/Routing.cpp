//===- Routing.cpp - cost rules of mixtures of experts and sampling -------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

namespace ttmlir::cost {
namespace {

/// Counts all products as computed: skipped ones are known only at run time. `operand`: the one whose tiles count, or
/// -1 for the result.
template <int operand> void sparseWork(const Op &op, Work &work) {
  const PlacedTensor *tensor = operand >= 0 ? op.in(operand) : op.outs.empty() ? nullptr : op.outs.data();
  if (tensor && op.in(0))
    work.fpuTiles += tensor->tiles * tilesAlong(op.in(0)->sizeFromEnd(0));
}

void indexerWork(const Op &op, Work &work) {
  vectorPasses(op, work);
  if (op.in(0) && op.in(1) && op.in(1)->shape.size() > 2)
    work.matmulTiles = op.in(0)->tiles * tilesAlong(op.in(1)->shape[2]);
}

/// Assumes equally many tokens for all experts: the choice is known at run time.
void expertsWork(const Op &op, Work &work) {
  const PlacedTensor *weights = op.in(4);
  if (!weights || weights->shape.size() < 4 || op.outs.empty() || op.outs[0].shape.size() < 3)
    return;
  const auto first = weights->shape, out = op.outs[0].shape;
  const int64_t experts = std::max<int64_t>(1, first[1]), each = divided(out[0] * out[1], experts);
  work.matmulTiles += productTiles(experts, each, out[2], first[3]) + productTiles(experts, each, first[3] / 2, out[2]);
}

} // namespace

std::span<const Rule> routingRules() {
  static constexpr Rule rows[] = {
      {"ttnn.sampling", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.topk_router_gpt", Family::Other, Traffic::Network, sparseWork<1>},
      {"ttnn.sparse_matmul", Family::Other, Traffic::Network, sparseWork<-1>},
      {"ttnn.indexer_score_dsa", Family::Other, Traffic::Shards, indexerWork},
      {"ttnn.all_to_all_combine", Family::Other, Traffic::Network, nullptr, nullptr, combineSends},
      {"ttnn.all_to_all_dispatch", Family::Other, Traffic::Network, nullptr, nullptr, dispatchSends},
      {"ttnn.all_to_all_dispatch_metadata", Family::Other, Traffic::Network, nullptr, nullptr, dispatchSends},
      {"ttnn.moe_expert_token_remap", Family::Other, Traffic::Network},
      {"ttnn.moe_compute", Family::Other, Traffic::Network, expertsWork, nullptr, combineSends},
      {"ttnn.allocate_moe_compute_semaphore", Family::None, Traffic::None},
      {"ttnn.moe_gpt", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.selective_reduce_combine", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.prepare_moe_compute_w0_w1_weights", Family::Other, Traffic::Network},
      {"ttnn.prepare_moe_compute_w2_weights", Family::Other, Traffic::Network},
  };
  return rows;
}

} // namespace ttmlir::cost
