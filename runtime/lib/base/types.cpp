//===- types.cpp - data types, shapes, tensor specs -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/types.h"

#include <array>

namespace tt {
namespace {

struct DataTypeRow {
  std::string_view name; // as ttcore.DataType prints it
  StorageType storage;
};

constexpr std::array<DataTypeRow, 14> dataTypes = {{
    {"f32", StorageType::F32},
    {"f16", StorageType::F16},
    {"bf16", StorageType::BF16},
    {"bfp_f8", StorageType::BF16},
    {"bfp_bf8", StorageType::BF16},
    {"bfp_f4", StorageType::BF16},
    {"bfp_bf4", StorageType::BF16},
    {"bfp_f2", StorageType::BF16},
    {"bfp_bf2", StorageType::BF16},
    {"u32", StorageType::U32},
    {"u16", StorageType::U16},
    {"u8", StorageType::U8},
    {"si32", StorageType::I32},
    {"bool", StorageType::U8},
}};

const DataTypeRow &row(DataType type) {
  const auto index = static_cast<size_t>(type);
  if (index >= dataTypes.size())
    throw Error("data type " + std::to_string(index) + " is not known; expected 0 to 13");
  return dataTypes[index];
}

} // namespace

StorageType storageType(DataType type) { return row(type).storage; }

size_t storageBytes(DataType type) {
  switch (storageType(type)) {
  case StorageType::F32:
  case StorageType::I32:
  case StorageType::U32:
    return 4;
  case StorageType::F16:
  case StorageType::BF16:
  case StorageType::U16:
    return 2;
  case StorageType::U8:
    return 1;
  }
  return 0;
}

std::string_view toString(DataType type) { return row(type).name; }

std::string_view toString(Layout layout) { return layout == Layout::Tile ? "tile" : "row_major"; }

std::string_view toString(BufferType type) {
  constexpr std::array<std::string_view, 5> names = {"dram", "l1", "system_memory", "l1_small", "trace"};
  const auto index = static_cast<size_t>(type);
  return index < names.size() ? names[index] : "unknown";
}

std::string_view toString(MemoryLayout layout) {
  switch (layout) {
  case MemoryLayout::Interleaved:
    return "interleaved";
  case MemoryLayout::HeightSharded:
    return "height_sharded";
  case MemoryLayout::WidthSharded:
    return "width_sharded";
  case MemoryLayout::BlockSharded:
    return "block_sharded";
  case MemoryLayout::NDSharded:
    return "nd_sharded";
  case MemoryLayout::Unset:
    return "none";
  }
  return "unknown";
}

std::string_view toString(Arch arch) {
  constexpr std::array<std::string_view, 4> names = {"none", "wormhole_b0", "blackhole", "quasar"};
  const auto index = static_cast<size_t>(arch);
  return index < names.size() ? names[index] : "unknown";
}

std::string toString(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

int64_t volume(const Shape &shape) {
  int64_t product = 1;
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0)
      throw Error("shape " + toString(shape) + " has a negative dimension");
    if (dim == 0)
      empty = true;
    else if (__builtin_mul_overflow(product, dim, &product))
      throw Error("shape " + toString(shape) + " has more than 2^63 elements");
  }
  // So that their bytes can be counted, too.
  if (!empty && product > int64_t{1} << 59)
    throw Error("shape " + toString(shape) + " has more than 2^59 elements");
  return empty ? 0 : product;
}

} // namespace tt
