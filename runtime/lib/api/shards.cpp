//===- shards.cpp - shards of tensors that name a layout alone ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/ttnn/shards.h"
#include "tt/range_error.h"
#include "tt/sim/formats.h"

#include <algorithm>

namespace tt::ttnn {
namespace {

/// The smallest size of equal parts, in units of a tile or an element.
int64_t partOf(int64_t size, int64_t parts, int64_t unit) {
  const int64_t units = std::max<int64_t>((size + unit - 1) / unit, 1);
  return (units + parts - 1) / parts * unit;
}

} // namespace

void completeShards(const sim::ChipDesc &chip, TensorSpec &spec) {
  MemoryConfig &memory = spec.memory;
  const bool height = memory.layout == MemoryLayout::HeightSharded, width = memory.layout == MemoryLayout::WidthSharded;
  if (!(height || width || memory.layout == MemoryLayout::BlockSharded))
    return;
  const bool tiled = spec.layout == Layout::Tile;
  const int64_t unitRows = tiled ? sim::tileHeight : 1, unitColumns = tiled ? sim::tileWidth : 1;
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < spec.shape.size(); ++i) {
    const bool padded = tiled && i + 2 == spec.shape.size();
    rows *= padded ? (spec.shape[i] + unitRows - 1) / unitRows * unitRows : spec.shape[i];
  }
  const int64_t columns = spec.shape.empty() ? 1 : spec.shape.back();
  if (!memory.shardShape.empty()) {
    const int64_t shardColumns = memory.shardShape.back();
    const int64_t physical = (columns + unitColumns - 1) / unitColumns * unitColumns;
    if (height && physical != 0 && shardColumns > physical)
      throw RangeError("memory_config: shards are " + std::to_string(shardColumns) + " wide; expected " +
                       std::to_string(physical) + ", the width of the tensor");
    return;
  }
  const int64_t shardRows = partOf(rows, height ? chip.cores() : width ? 1 : chip.gridRows, unitRows);
  const int64_t shardColumns = partOf(columns, width ? chip.cores() : height ? 1 : chip.gridColumns, unitColumns);
  const int64_t down = (std::max<int64_t>(rows, 1) + shardRows - 1) / shardRows;
  const int64_t across = (std::max<int64_t>(columns, 1) + shardColumns - 1) / shardColumns;
  const int64_t count = down * across; // of a line of cores that fills rows of the grid one after another
  memory.shardShape = {shardRows, shardColumns};
  memory.grid = !(height || width) ? std::vector<int64_t>{down, across}
                : count <= chip.gridColumns
                    ? std::vector<int64_t>{1, count}
                    : std::vector<int64_t>{(count + chip.gridColumns - 1) / chip.gridColumns, chip.gridColumns};
}

} // namespace tt::ttnn
