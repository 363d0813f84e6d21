//===- types.h - data types, shapes, tensor specs ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What every layer of the runtime shares. Nothing here allocates device memory
// or knows an op.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tt {

// The names in capitals are those that programs for TTNN use.

/// Values as in the flatbuffer schema and ttcore.DataType.
enum class DataType : uint8_t {
  Float32 = 0,
  Float16 = 1,
  BFloat16 = 2,
  BFP_Float8 = 3,
  BFP_BFloat8 = 4,
  BFP_Float4 = 5,
  BFP_BFloat4 = 6,
  BFP_Float2 = 7,
  BFP_BFloat2 = 8,
  UInt32 = 9,
  UInt16 = 10,
  UInt8 = 11,
  Int32 = 12,
  Bool = 13,
  FLOAT32 = Float32,
  FLOAT16 = Float16,
  BFLOAT16 = BFloat16,
  FLOAT8_B = BFP_Float8,
  BFLOAT8_B = BFP_BFloat8,
  FLOAT4_B = BFP_Float4,
  BFLOAT4_B = BFP_BFloat4,
  FLOAT2_B = BFP_Float2,
  BFLOAT2_B = BFP_BFloat2,
  UINT32 = UInt32,
  UINT16 = UInt16,
  UINT8 = UInt8,
  INT32 = Int32,
  BOOL = Bool,
};

enum class Layout : uint8_t { RowMajor = 0, Tile = 1, ROW_MAJOR = RowMajor, TILE = Tile };
enum class BufferType : uint8_t {
  DRAM = 0,
  L1 = 1,
  SystemMemory = 2,
  L1Small = 3,
  Trace = 4,
  SYSTEM_MEMORY = SystemMemory,
  L1_SMALL = L1Small,
  TRACE = Trace,
};
enum class MemoryLayout : uint8_t {
  Interleaved = 0,
  HeightSharded = 2,
  WidthSharded = 3,
  BlockSharded = 4,
  NDSharded = 5,
  Unset = 255,
  INTERLEAVED = Interleaved,
  HEIGHT_SHARDED = HeightSharded,
  WIDTH_SHARDED = WidthSharded,
  BLOCK_SHARDED = BlockSharded,
  ND_SHARDED = NDSharded,
};
enum class Arch : uint8_t { None = 0, WormholeB0 = 1, Blackhole = 2, Quasar = 3 };

using Shape = std::vector<int64_t>;

/// The type in which the simulator holds the values of a data type in host memory, logical and row-major. Block formats
/// are held as bf16 values (at most 8 significant bits), so they run on the bf16 units of the CPU and are quantized
/// when written.
enum class StorageType : uint8_t { F32, F16, BF16, I32, U32, U16, U8 };

StorageType storageType(DataType type);
/// Bytes of one stored value.
size_t storageBytes(DataType type);
/// "f32", "bf16", "bfp_bf8", "u32", "si32", ... as ttcore.DataType prints them.
std::string_view toString(DataType type);
std::string_view toString(Layout layout);
std::string_view toString(BufferType type);
std::string_view toString(MemoryLayout layout);
std::string_view toString(Arch arch);
std::string toString(const Shape &shape);
/// Product of the dimensions; throws Error on overflow or a negative one.
int64_t volume(const Shape &shape);

/// The memory of a tensor.
struct MemoryConfig {
  BufferType buffer = BufferType::SystemMemory;
  MemoryLayout layout = MemoryLayout::Unset;
  std::vector<int64_t> grid;       // cores, [y, x]
  std::vector<int64_t> shardShape; // elements, [height, width]
  /// Rectangles of cores [first x, first y, last x, last y], unless they are the grid from the first core on.
  std::vector<std::array<int64_t, 4>> cores = {};
  bool byColumns = false; // the order of shards over the cores
  bool operator==(const MemoryConfig &) const = default;
};

/// All that is known of a tensor but its values; the shape is one device's.
struct TensorSpec {
  DataType dtype = DataType::Float32;
  Shape shape;
  Layout layout = Layout::RowMajor;
  MemoryConfig memory;
  bool distributed = false; // one shard per device of the mesh
  bool operator==(const TensorSpec &) const = default;
  /// Bytes of the stored values of one shard.
  size_t bytes() const { return static_cast<size_t>(volume(shape)) * storageBytes(dtype); }
};

/// Base of everything the runtime throws.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};
/// A flatbuffer that cannot be loaded; the message names file, op and field.
class BinaryError : public Error {
  using Error::Error;
};
/// An op with operands or attributes that it does not take.
class OpError : public Error {
  using Error::Error;
};
/// Reports that a simulated memory is full.
class OutOfMemoryError : public Error {
  using Error::Error;
};
/// A device that is closed, missing or of another shape than requested.
class DeviceError : public Error {
  using Error::Error;
};

} // namespace tt
