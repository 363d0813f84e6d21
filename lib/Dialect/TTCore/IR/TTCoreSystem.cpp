//===- TTCoreSystem.cpp - default systems and their devices ---------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The figures are those of the chips' public system descriptors, as in the ecosystem's IR.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace mlir::tt::ttcore;

namespace {
struct ChipFigures {
  Arch arch;
  int64_t grid[2];
  unsigned l1Size, numDramChannels, dramChannelSize;
  unsigned pcieAlign, nocDramAlign;
  unsigned l1Base, eriscL1Base, dramBase, dramEnd;
  std::vector<std::pair<int64_t, int64_t>> dramWorkers; // (y, x) nearest to each DRAM bank
};

const ChipFigures chips[] = {
    {Arch::WormholeB0,
     {8, 8},
     1499136,
     12,
     1073741824,
     32,
     32,
     103712,
     1024,
     1024,
     1073741824,
     {{7, 3}, {0, 0}, {3, 0}, {4, 0}, {0, 4}, {7, 7}, {1, 4}, {6, 4}, {5, 4}, {2, 6}, {3, 4}, {4, 4}}},
    {Arch::Blackhole,
     {10, 13},
     1572864,
     8,
     4278190080,
     64,
     64,
     98304,
     100032,
     64,
     4276383744,
     {{9, 0}, {0, 0}, {7, 0}, {3, 0}, {9, 7}, {1, 7}, {6, 7}, {4, 7}}},
};

constexpr int64_t tileSizes[][2] = {{4, 16}, {16, 16}, {32, 16}, {4, 32}, {16, 32}, {32, 32}};
constexpr unsigned nocL1Align = 16, dstTiles = 16, circularBuffers = 32, computeThreads = 1, dataMovementThreads = 2;
constexpr int64_t coordTranslationOffset = 18;

ChipDescAttr describe(MLIRContext *context, const ChipFigures &chip) {
  SmallVector<DataTypeAttr> dataTypes;
  for (unsigned value = 0; value <= static_cast<unsigned>(DataType::Int32); ++value)
    dataTypes.push_back(DataTypeAttr::get(context, static_cast<DataType>(value)));
  SmallVector<TileSizeAttr> tiles;
  for (auto [y, x] : tileSizes)
    tiles.push_back(TileSizeAttr::get(context, y, x));
  SmallVector<CoreCoordAttr> workers;
  for (auto [y, x] : chip.dramWorkers)
    workers.push_back(CoreCoordAttr::get(context, y, x));
  return ChipDescAttr::get(
      context, ArchAttr::get(context, chip.arch), chip.grid, {coordTranslationOffset, coordTranslationOffset},
      chip.l1Size, chip.numDramChannels, chip.dramChannelSize, nocL1Align, chip.pcieAlign, chip.nocDramAlign,
      chip.l1Base, chip.eriscL1Base, chip.dramBase, chip.dramEnd, dataTypes, tiles, dstTiles, circularBuffers,
      computeThreads, dataMovementThreads, {1, static_cast<int64_t>(chip.numDramChannels)}, workers, workers);
}

/// (d0, d1, d2)[grid y, grid x, shard y, shard x, page, base, element] -> (0, 0, channel, address): pages of a buffer
/// are distributed round-robin over the channels.
AffineMap dramMap(MLIRContext *context, unsigned channels) {
  AffineExpr d0, d1, d2;
  bindDims(context, d0, d1, d2);
  SmallVector<AffineExpr> s;
  for (unsigned i = 0; i < 7; ++i)
    s.push_back(getAffineSymbolExpr(i, context));
  AffineExpr zero = getAffineConstantExpr(0, context);
  AffineExpr volume = s[2] * (s[3] * s[6]);
  AffineExpr address = d0 * s[1] * volume + d1 * volume + d2;
  AffineExpr page = address.floorDiv(s[4]);
  return AffineMap::get(3, 7, {zero, zero, page % channels, page.floorDiv(channels) * s[4] + address % s[4] + s[5]},
                        context);
}
} // namespace

SystemDescAttr SystemDescAttr::getDefault(MLIRContext *context, Arch arch, ArrayRef<int64_t> meshShape) {
  const ChipFigures *figures = llvm::find_if(chips, [&](const ChipFigures &chip) { return chip.arch == arch; });
  if (figures == std::end(chips))
    return {};
  int64_t count = 1;
  for (int64_t size : meshShape)
    count *= size;

  auto cpu = CPUDescAttr::get(context, CPURole::Host, StringAttr::get(context, "x86_64-pc-linux-gnu"));
  auto chip = describe(context, *figures);
  auto mmio = ChipCapabilityAttr::get(context, ChipCapability::HostMMIO);
  SmallVector<unsigned> indices;
  SmallVector<ChipChannelAttr> channels;
  for (int64_t i = 0; i < count; ++i) {
    indices.push_back(i);
    if (count > 1)
      channels.push_back(ChipChannelAttr::get(context, i, {0, 0}, (i + 1) % count, {0, 0}));
  }
  return SystemDescAttr::get(context, {cpu}, SmallVector<ChipDescAttr>(count, chip), indices,
                             SmallVector<ChipCapabilityAttr>(count, mmio), {ChipCoordAttr::get(context, 0, 0, 0, 0)},
                             channels);
}

DeviceAttr DeviceAttr::get(SystemDescAttr systemDesc, ArrayRef<int64_t> meshShape, ArrayRef<Topology> meshTopology) {
  MLIRContext *context = systemDesc.getContext();
  ChipDescAttr chip = systemDesc.getChipDescs().front();
  SmallVector<int64_t> grid(chip.getGrid());
  for (ChipDescAttr other : systemDesc.getChipDescs().drop_front())
    for (auto [size, otherSize] : llvm::zip(grid, other.getGrid()))
      size = std::min(size, otherSize);

  AffineExpr d0, d1, d2, s0;
  bindDims(context, d0, d1, d2);
  bindSymbols(context, s0);
  AffineExpr zero = getAffineConstantExpr(0, context);
  auto workerGrid = GridAttr::get(context, grid, AffineMap::get(2, 0, {zero, d0, d1}, context),
                                  AffineMap::get(3, 0, {d1, d2}, context));
  auto dramGrid = GridAttr::get(context, chip.getDramGrid(), AffineMap::get(context), AffineMap::get(context));
  auto l1Map = AffineMap::get(3, 1, {zero, d0, d1, d2 + s0}, context);

  int64_t count = 1;
  for (int64_t size : meshShape)
    count *= size;
  SmallVector<unsigned> chipIds(llvm::to_vector(llvm::seq<unsigned>(count)));
  return DeviceAttr::get(context, workerGrid, dramGrid, l1Map, dramMap(context, chip.getNumDramChannels()), meshShape,
                         chipIds, meshTopology);
}
