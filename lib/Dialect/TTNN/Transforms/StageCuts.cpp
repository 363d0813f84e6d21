//===- StageCuts.cpp - even cuts of a sequence of ops ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "StageCuts.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

std::vector<Part> ttnn::cutEvenly(ArrayRef<double> opNs, ArrayRef<Crossing> crossing, size_t parts) {
  const size_t n = opNs.size();
  // Values by who makes them, and by who uses them last.
  std::vector<std::vector<const Crossing *>> made(n), used(n);
  for (const Crossing &value : crossing) {
    made[value.made].push_back(&value);
    used[value.used].push_back(&value);
  }
  struct Best {
    double slowest = std::numeric_limits<double>::infinity(), together = 0;
    size_t begin = 0; // of the last part
    bool operator<(const Best &other) const {
      return std::pair(slowest, together) < std::pair(other.slowest, other.together);
    }
  };
  // best[k][i]: the first i ops in k parts.
  std::vector<std::vector<Best>> best(parts + 1, std::vector<Best>(n + 1));
  best[0][0] = {0, 0, 0};
  for (size_t begin = 0; begin < n; ++begin) {
    double work = 0, sends = 0;
    for (size_t end = begin + 1; end <= n; ++end) {
      const size_t last = end - 1;
      work += opNs[last];
      for (const Crossing *value : made[last])
        sends += value->used > last ? value->ns : 0;
      for (const Crossing *value : used[last])
        sends -= value->made >= begin && value->made < last ? value->ns : 0;
      for (size_t k = 1; k <= std::min(parts, end); ++k) {
        const Best &before = best[k - 1][begin];
        if (before.slowest == std::numeric_limits<double>::infinity())
          continue;
        const Best here{std::max(before.slowest, work + sends), before.together + work + sends, begin};
        if (here < best[k][end])
          best[k][end] = here;
      }
    }
  }
  std::vector<Part> cut;
  for (size_t k = parts, end = n; k > 0; --k) {
    const size_t begin = best[k][end].begin;
    cut.push_back({begin, end});
    end = begin;
  }
  std::reverse(cut.begin(), cut.end());
  return cut;
}
