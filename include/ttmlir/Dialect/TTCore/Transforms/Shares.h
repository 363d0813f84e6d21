//===- Shares.h - equal parts of a tensor for cores -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_SHARES_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_SHARES_H

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstdint>

namespace mlir::tt::ttcore {

/// The attribute of a function of kernels: the bytes of the L1 of each core that tensors of its callers take.
inline constexpr llvm::StringLiteral l1TakenName = "ttcore.l1_taken";

/// The cores along one dimension of a grid that have a part of a tensor, and the rows or columns of tiles of each part.
struct Share {
  int64_t cores, tiles;
};

/// Divides tiles, one at least, among at most `cores` cores: the most that divide them evenly or, if these are less
/// than half of the cores, parts of which the last one has padding tiles. A part is a multiple of `whole` tiles, or a
/// divisor: as a core has whole matrices of so many rows of tiles, or a part of one.
inline Share shareOf(int64_t tiles, int64_t cores, int64_t whole = 1) {
  const auto isWhole = [&](int64_t part) { return part % whole == 0 || whole % part == 0; };
  const int64_t most = std::min(tiles, cores);
  int64_t used = most, each = (tiles + most - 1) / most;
  while (tiles % used || !isWhole(tiles / used))
    --used;
  while (!isWhole(each))
    ++each;
  // Padded parts, if whole ones would leave more than half of the cores without work.
  if (2 * used < most && used * each < tiles)
    return {(tiles + each - 1) / each, each};
  return {used, tiles / used};
}

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_SHARES_H
