//===- Collective.cpp - cost rules of ops over the mesh, and of calls -----===//
// SPDX-License-Identifier: Apache-2.0
//
// The work of one chip, and the transfers between chips (Fabric.cpp).
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

namespace ttmlir::cost {

std::span<const Rule> collectiveRules() {
  static constexpr Rule rows[] = {
      {"ttnn.distribute_tensor", Family::Other, Traffic::Network},
      {"ttnn.aggregate_tensor", Family::Other, Traffic::Network},
      {"ttnn.mesh_partition", Family::Other, Traffic::Network},
      {"ttnn.all_gather", Family::Other, Traffic::Network, nullptr, nullptr, gatherSends},
      {"ttnn.point_to_point", Family::Other, Traffic::Network, nullptr, nullptr, pointSends},
      {"ttnn.collective_permute", Family::Other, Traffic::Network, nullptr, nullptr, permuteSends},
      {"ttnn.all_to_all", Family::Other, Traffic::Network, nullptr, nullptr, exchangeSends},
      {"ttnn.all_reduce", Family::Other, Traffic::Shards, vectorPasses, nullptr, reduceSends},
      {"ttnn.all_reduce_async", Family::Other, Traffic::Shards, vectorPasses, nullptr, reduceSends},
      {"ttnn.reduce_scatter", Family::Other, Traffic::Shards, vectorPasses, nullptr, scatterSends},
      // The ops of called functions are counted separately.
      {"ttcore.load_cached", Family::None, Traffic::None},
      {"ttcore.while", Family::None, Traffic::None},
      {"ttcore.case", Family::None, Traffic::None},
      {"ttnn.capture_or_execute_trace", Family::Other, Traffic::None},
      {"ttnn.begin_trace_capture", Family::None, Traffic::None},
      {"ttnn.end_trace_capture", Family::None, Traffic::None},
      {"ttnn.execute_trace", Family::None, Traffic::None},
      {"ttnn.get_device", Family::None, Traffic::None},
      {"ttnn.create_global_semaphore", Family::None, Traffic::None},
      {"ttnn.reset_global_semaphore", Family::None, Traffic::None},
  };
  return rows;
}

std::span<const Rule> debugRules() {
  static constexpr Rule rows[] = {
      {"debug.annotate", Family::None, Traffic::None},     {"debug.begin_trace", Family::None, Traffic::None},
      {"debug.breakpoint", Family::None, Traffic::None},   {"debug.dump", Family::None, Traffic::None},
      {"debug.end_trace", Family::None, Traffic::None},    {"debug.hook", Family::None, Traffic::None},
      {"debug.host_call", Family::None, Traffic::None},    {"debug.memory_snapshot", Family::None, Traffic::None},
      {"debug.overwrite", Family::None, Traffic::None},    {"debug.print", Family::None, Traffic::None},
      {"debug.profiler_end", Family::None, Traffic::None}, {"debug.profiler_start", Family::None, Traffic::None},
      {"debug.region_end", Family::None, Traffic::None},   {"debug.region_start", Family::None, Traffic::None},
      {"debug.snapshot", Family::None, Traffic::None},     {"debug.timestamp", Family::None, Traffic::None},
  };
  return rows;
}

} // namespace ttmlir::cost
