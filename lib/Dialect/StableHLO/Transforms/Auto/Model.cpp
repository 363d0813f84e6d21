//===- Model.cpp - the time and memory of shardings -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Model.h"

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo::autosharding;

static constexpr int64_t tileSide = 32;

static int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// What a chip has of the tensor, padded to whole tiles.
static int64_t tilesOf(RankedTensorType type, const Dims &dims) {
  int64_t tiles = 1, rank = type.getRank();
  for (auto [dim, axes] : llvm::enumerate(dims)) {
    int64_t size = ceilDiv(type.getDimSize(dim), sdy::product(axes));
    tiles *= static_cast<int64_t>(dim) >= rank - 2 ? ceilDiv(size, tileSide) : size;
  }
  return tiles;
}

/// Chips have no 64-bit types, and a boolean takes a byte of its own.
static int64_t elementBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * elementBytes(complex.getElementType());
  return type.isIntOrFloat() ? std::clamp<int64_t>(type.getIntOrFloatBitWidth() / 8, 1, 4) : 4;
}

/// What is read or written of a tensor: all lie in DRAM, a tile to a page.
static void moveInDram(Work &work, RankedTensorType type, int64_t bytes) {
  work.dramBytes += bytes;
  work.dramPages += bytes / (tileSide * tileSide * elementBytes(type.getElementType()));
}

Model::Model(ttcore::ChipDescAttr chip, sdy::MeshAttr mesh)
    : speed(chip.getArch().getValue() == ttcore::Arch::Blackhole ? ::ttmlir::cost::blackhole
                                                                 : ::ttmlir::cost::wormhole),
      cores(static_cast<double>(chip.getGrid()[0] * chip.getGrid()[1])),
      dram(static_cast<int64_t>(chip.getNumDramChannels()) *
           (static_cast<int64_t>(chip.getDramUnreservedEnd()) - static_cast<int64_t>(chip.getDramUnreservedBase()))) {
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    sizes.push_back(axis.getSize());
}

int64_t Model::bytesOf(RankedTensorType type, const Dims &dims) const {
  return tilesOf(type, dims) * tileSide * tileSide * elementBytes(type.getElementType());
}

Time Model::timeOf(const Work &work) const {
  ::ttmlir::cost::Times times = ::ttmlir::cost::timesOf(speed, cores, work);
  return {times.total(), times.computeNs, times.dramNs, times.fabricNs};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Tile products: a factor of both operands and the result is a batch, of one operand and the result a row or column,
/// and the others are summed over.
static int64_t productTiles(const sdy::Rule &rule, ArrayRef<Dims> tensors) {
  int64_t batch = 1, rows = 1, columns = 1, summed = 1;
  SmallVector<int64_t> parts(rule.numFactors(), 1);
  for (auto [factors, dims] : llvm::zip(rule.tensors, tensors))
    for (auto [indices, axes] : llvm::zip(factors, dims)) {
      int64_t rest = sdy::product(axes);
      for (int32_t factor : indices) {
        int64_t here = std::min(rest, rule.sizes[factor]);
        parts[factor] = std::max(parts[factor], here), rest /= std::max<int64_t>(here, 1);
      }
    }
  for (size_t factor = 0; factor < rule.numFactors(); ++factor) {
    int64_t size = ceilDiv(rule.sizes[factor], parts[factor]);
    bool left = rule.has[0][factor], right = rule.has[1][factor], result = rule.has[rule.operands][factor];
    (result ? left && right ? batch : left ? rows : columns : summed) *= size;
  }
  return batch * ceilDiv(rows, tileSide) * ceilDiv(columns, tileSide) * ceilDiv(summed, tileSide);
}

/// Places of a kernel that no factor of the rule counts: where a window lies at each position, the position has the
/// factor, and the place within the window none.
static int64_t uncountedTaps(Operation *op, const sdy::Rule &rule) {
  int64_t taps = 1;
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
    for (int64_t dim : convolution.getDimensionNumbers().getKernelSpatialDimensions()) {
      int64_t size = cast<RankedTensorType>(convolution.getRhs().getType()).getDimSize(dim);
      for (int32_t factor : rule.tensors[1][dim])
        size = ceilDiv(size, rule.sizes[factor]);
      taps *= size;
    }
  return taps;
}

/// Moves elements and computes none.
static bool isMovement(Operation *op) {
  return isa<stablehlo::ReshapeOp, stablehlo::TransposeOp, stablehlo::BroadcastInDimOp, stablehlo::SliceOp,
             stablehlo::ConcatenateOp, stablehlo::PadOp, stablehlo::GatherOp, stablehlo::DynamicSliceOp,
             stablehlo::DynamicUpdateSliceOp, stablehlo::ReverseOp>(op);
}

Time Model::timeOf(Operation *op, const sdy::Rule *rule, ArrayRef<Dims> tensors) const {
  Work work;
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  int64_t mostTiles = 0;
  for (auto [type, dims] : llvm::zip(types, tensors))
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      moveInDram(work, tensor, bytesOf(tensor, dims));
      mostTiles = std::max(mostTiles, tilesOf(tensor, dims));
    }
  bool isProduct = rule && isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op);
  work.fetchesByTurns = isProduct;
  if (isProduct)
    work.matmulTiles = productTiles(*rule, tensors) * uncountedTaps(op, *rule);
  else if (!isMovement(op))
    work.sfpuTiles = mostTiles;
  return timeOf(work);
}

//===----------------------------------------------------------------------===//
// Collectives along one axis after the other, as they are lowered to TTNN
//===----------------------------------------------------------------------===//

Time Model::timeOfReduction(RankedTensorType type, const Dims &dims, sdy::AxesRef axes, bool isScattered) const {
  Time time;
  int64_t bytes = bytesOf(type, dims);
  for (sdy::Axis axis : axes) {
    Work work;
    work.fabricBytes = bytes / axis.size * (axis.size - 1) * (isScattered ? 1 : 2);
    work.fabricSteps = axis.size / 2 * (isScattered ? 1 : 2);
    work.sfpuTiles = tilesOf(type, dims);
    moveInDram(work, type, 2 * bytes);
    time += timeOf(work);
    if (isScattered)
      bytes /= axis.size;
  }
  return time;
}

Time Model::timeOfExchange(RankedTensorType type, const Dims &dims, int64_t dim, const sdy::Footprint &print) const {
  Time time;
  const int64_t parts = sdy::product(dims[dim]);
  auto edgesOf = [&](int64_t count) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = parts * count;
    return bytesOf(type.clone(shape), dims);
  };
  auto move = [&](int64_t bytes) {
    Work work;
    moveInDram(work, type, bytes);
    time += timeOf(work);
  };
  for (int64_t count : {print.before, print.after}) {
    if (count <= 0)
      continue;
    // The edge is cut off, and sent on.
    move(2 * edgesOf(count));
    time += timeOfSending(type, edgesOf(count), /*bytesTimesHops=*/edgesOf(count), /*hops=*/1);
  }
  if (print.before > 0 || print.after > 0)
    move(bytesOf(type, dims) + edgesOf(print.size));
  return time;
}

/// All devices send `bytes` in all, what is farthest over so many links.
Time Model::timeOfSending(RankedTensorType type, int64_t bytes, int64_t bytesTimesHops, int64_t hops) const {
  Work work;
  moveInDram(work, type, 2 * bytes);
  work.fabricBytes = bytesTimesHops;
  work.fabricHops = hops;
  return timeOf(work);
}

Time Model::timeOfReshard(RankedTensorType type, const Dims &from, const Dims &to) {
  if (from == to)
    return {};
  std::vector<int64_t> key;
  for (const Dims *dims : {&from, &to})
    for (const sdy::Axes &axes : *dims) {
      key.push_back(static_cast<int64_t>(axes.size()));
      for (sdy::Axis axis : axes)
        llvm::append_range(key, std::initializer_list<int64_t>{axis.index, axis.pre, axis.size});
    }
  auto [entry, isNew] = reshards.try_emplace({type.getAsOpaquePointer(), std::move(key)});
  if (!isNew)
    return entry->second;
  Time time;
  Dims current = from;
  for (const sdy::CollectiveStep &step : sdy::planReshard(type.getShape(), from, to, sizes)) {
    Dims next(step.dims.begin(), step.dims.end());
    int64_t before = bytesOf(type, current), after = bytesOf(type, next);
    switch (step.kind) {
    case sdy::CollectiveStep::Slice: {
      Work work;
      moveInDram(work, type, before + after);
      time += timeOf(work);
      break;
    }
    case sdy::CollectiveStep::Permute: {
      int64_t hops = 0;
      for (int64_t size : sizes)
        hops += (size + 1) / 3;
      hops = std::max<int64_t>(hops, 1);
      time += timeOfSending(type, before, before * hops, hops);
      break;
    }
    case sdy::CollectiveStep::AllToAll:
      // The device at an end of an axis has the longest ways.
      for (const auto &move : step.moves) {
        const int64_t parts = sdy::product(move.axes);
        int64_t hops = 0, sent = 0;
        for (sdy::Axis axis : move.axes) {
          hops += axis.size - 1;
          sent += before / parts * (parts / axis.size) * (axis.size * (axis.size - 1) / 2);
        }
        time += timeOfSending(type, before, sent, hops);
      }
      break;
    case sdy::CollectiveStep::Gather:
      for (const sdy::Axes &axes : step.axes)
        for (sdy::Axis axis : llvm::reverse(axes)) {
          Work work;
          work.fabricBytes = before * (axis.size - 1);
          work.fabricSteps = axis.size / 2;
          before *= axis.size;
          moveInDram(work, type, before + before / axis.size);
          time += timeOf(work);
        }
      break;
    }
    current = std::move(next);
  }
  return entry->second = time;
}
