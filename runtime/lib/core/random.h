//===- random.h - pseudo-random bits by element number ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TT_LIB_TTNN_RANDOM_H
#define TT_LIB_TTNN_RANDOM_H

#include <atomic>
#include <cstdint>

namespace tt::ttnn {

/// 64 bits for one element: SplitMix64 (Steele, Lea, Flood 2014) at a position in its sequence. Any element can be
/// computed separately, so values do not depend on threads. `golden/creation.py` computes the same.
inline uint64_t randomBits(uint64_t seed, uint64_t element) {
  uint64_t z = (seed + 1) * 0xd1342543de82ef95ULL + (element + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// A seed of 0 selects one that no other run has.
inline uint64_t seedOf(int64_t seed) {
  static std::atomic<uint64_t> runs{0};
  return seed != 0 ? static_cast<uint64_t>(seed) : randomBits(0x5eedULL, ++runs);
}

} // namespace tt::ttnn

#endif // TT_LIB_TTNN_RANDOM_H
