//===- StageCost.cpp - estimated times of TTNN ops ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "StageCost.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

static constexpr int64_t tileSide = 32;

using ::ttmlir::cost::Work;

static int64_t tilesOf(RankedTensorType type) {
  int64_t tiles = 1;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    tiles *= static_cast<int64_t>(dim) >= type.getRank() - 2 ? llvm::divideCeil(size, tileSide) : size;
  return tiles;
}

static int64_t bytesOf(RankedTensorType type) {
  const int64_t bits = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 32;
  return tilesOf(type) * tileSide * tileSide * std::clamp<int64_t>(bits / 8, 1, 4);
}

static RankedTensorType typeOf(Operation *op, unsigned operand) {
  return operand < op->getNumOperands() ? dyn_cast<RankedTensorType>(op->getOperand(operand).getType())
                                        : RankedTensorType();
}

/// Tile products of the families that have some, by the names of their ops: rows and columns of the result, and what is
/// summed over for each of its elements.
static int64_t productTiles(Operation *op) {
  auto result = op->getNumResults() ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  RankedTensorType left = typeOf(op, 0), right = typeOf(op, 1);
  if (!result || !left || !right)
    return 0;
  StringRef name = op->getName().stripDialect();
  const int64_t results = result.getNumElements();
  if (name.contains("matmul") || name == "linear")
    // Left and right have result elements over columns and rows: the summed size follows whichever is transposed.
    return results ? tilesOf(result) *
                         llvm::divideCeil(
                             left.getNumElements() / std::max<int64_t>(1, results / result.getShape().back()), tileSide)
                   : 0;
  if (name.contains("conv")) {
    const int64_t channels = std::max<int64_t>(1, right.getRank() ? right.getDimSize(0) : 1);
    return llvm::divideCeil(results * (right.getNumElements() / channels), tileSide * tileSide * tileSide);
  }
  if (name.contains("dot_product_attention") && left.getRank() == 4 && right.getRank() == 4)
    return 2 * tilesOf(left) * llvm::divideCeil(right.getDimSize(2), tileSide);
  return 0;
}

static bool isLayoutChange(Operation *op) {
  StringRef name = op->getName().stripDialect();
  return name.starts_with("to_") || name == "from_device" || name == "reshape";
}

StageCost::StageCost(ttcore::ChipDescAttr chip)
    : speed(chip.getArch().getValue() == ttcore::Arch::Blackhole ? ::ttmlir::cost::blackhole
                                                                 : ::ttmlir::cost::wormhole),
      cores(static_cast<double>(chip.getGrid()[0] * chip.getGrid()[1])) {}

double StageCost::opNs(Operation *op) const {
  Work work;
  auto move = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    TTNNLayoutAttr layout = type ? TTNNLayoutAttr::of(type) : TTNNLayoutAttr();
    if (!layout || !layout.isOnDevice())
      return;
    if (layout.getBufferType() != BufferType::DRAM) {
      work.l1Bytes += bytesOf(type);
      return;
    }
    work.dramBytes += bytesOf(type);
    work.dramPages += tilesOf(type);
  };
  llvm::for_each(op->getOperands(), move);
  llvm::for_each(op->getResults(), move);
  work.matmulTiles = productTiles(op);
  work.fetchesByTurns = work.matmulTiles && !op->hasAttr("matmul_program_config");
  if (!work.matmulTiles && !isLayoutChange(op))
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        work.sfpuTiles += tilesOf(type);
  return ::ttmlir::cost::timesOf(speed, cores, work).total();
}

double StageCost::sendNs(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  Work work;
  work.fabricBytes = bytesOf(type);
  work.fabricHops = 1;
  return ::ttmlir::cost::timesOf(speed, cores, work).total();
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

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
