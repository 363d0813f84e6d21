//===- fabric.cpp - routes of what chips send to each other ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/ttnn/fabric.h"
#include "ttmlir/costs/Fabric.h"

namespace tt::ttnn {

std::vector<uint32_t> routeBetween(uint32_t from, uint32_t to, uint32_t columns) {
  std::vector<uint32_t> route = {from};
  const auto go = [&](uint32_t step, uint32_t now, uint32_t requested) {
    for (; now != requested; now += now < requested ? 1 : -1)
      route.push_back(now < requested ? route.back() + step : route.back() - step);
  };
  go(1, from % columns, to % columns);
  go(columns, from / columns, to / columns);
  return route;
}

Cost costOf(std::span<const Send> sends) {
  ttmlir::cost::Sends all;
  for (const Send &send : sends)
    all.all.push_back({send.route.front(), send.route.back(), send.bytes, send.hops()});
  Cost cost;
  addSends(cost, all);
  return cost;
}

} // namespace tt::ttnn
