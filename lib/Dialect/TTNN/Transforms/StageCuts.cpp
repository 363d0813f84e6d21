//===- StageCuts.cpp - even cuts of a sequence of ops ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "StageCuts.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// Time of the slowest part of a cut into parts of equal work.
static double slowestOfEqualWork(ArrayRef<double> workBefore, ArrayRef<Crossing> crossing, size_t parts) {
  const size_t n = workBefore.size() - 1;
  std::vector<size_t> ends;
  for (size_t part = 1; part <= parts; ++part) {
    auto *found = std::lower_bound(workBefore.begin(), workBefore.end(), workBefore[n] / parts * part);
    // Each part has an op, and leaves one for each that follows.
    const size_t first = (ends.empty() ? 0 : ends.back()) + 1, last = n - (parts - part);
    ends.push_back(part == parts ? n : std::clamp<size_t>(found - workBefore.begin(), first, last));
  }
  std::vector<double> times;
  std::vector<size_t> partOf;
  for (size_t part = 0; part < parts; ++part) {
    const size_t begin = part ? ends[part - 1] : 0;
    times.push_back(workBefore[ends[part]] - workBefore[begin]);
    partOf.insert(partOf.end(), ends[part] - begin, part);
  }
  for (const Crossing &value : crossing)
    if (partOf[value.created] != partOf[value.used])
      times[partOf[value.created]] += value.ns;
  return *std::max_element(times.begin(), times.end());
}

std::vector<Part> ttnn::cutEvenly(ArrayRef<double> opNs, ArrayRef<Crossing> crossing, size_t parts) {
  const size_t n = opNs.size();
  // Values by their producers, and by their last users.
  std::vector<std::vector<const Crossing *>> created(n), used(n);
  for (const Crossing &value : crossing) {
    created[value.created].push_back(&value);
    used[value.used].push_back(&value);
  }
  std::vector<double> workBefore = {0};
  for (double ns : opNs)
    workBefore.push_back(workBefore.back() + ns);
  // No part of the best cut takes longer than the slowest part of another cut. This leaves few possible ends for a part
  // that begins with each op, and few positions between parts. Sums of many numbers are not exact.
  const double longest = slowestOfEqualWork(workBefore, crossing, parts) * (1 + 1e-9);
  const double total = workBefore[n];
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
    // The numbers of parts before, and from this one on, that suffice for their work.
    const auto isPlace = [&](size_t k) {
      return workBefore[begin] <= (k - 1) * longest && total - workBefore[begin] <= (parts - k + 1) * longest;
    };
    size_t first = 1, past = parts + 1;
    while (first < past && !isPlace(first))
      ++first;
    while (past > first && !isPlace(past - 1))
      --past;
    for (size_t end = begin + 1; end <= n && first < past; ++end) {
      const size_t last = end - 1;
      work += opNs[last];
      if (work > longest)
        break;
      for (const Crossing *value : created[last])
        sends += value->used > last ? value->ns : 0;
      for (const Crossing *value : used[last])
        sends -= value->created >= begin && value->created < last ? value->ns : 0;
      for (size_t k = first; k < std::min(past, end + 1); ++k) {
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
