//===- types.hpp - parameter types of TTNN functions ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/tensor.h"

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tt::ttnn {

using tt::Arch;
using tt::BufferType;
using tt::DataType;
using tt::Layout;
using tt::Shape;
using TensorMemoryLayout = tt::MemoryLayout;
using MeshDevice = sim::MeshDevice;
using Device = std::shared_ptr<MeshDevice>;

inline constexpr Layout ROW_MAJOR_LAYOUT = Layout::ROW_MAJOR;
inline constexpr Layout TILE_LAYOUT = Layout::TILE;

/// A list of integers, or one of them: {1, 2}, 1, or a std::vector<int64_t>.
class Integers {
public:
  Integers() = default;
  Integers(std::initializer_list<int64_t> values) : values(values) {}
  Integers(std::vector<int64_t> values) : values(std::move(values)) {}
  Integers(int64_t value) : values{value}, one(true) {}
  const std::vector<int64_t> &get() const { return values; }
  /// It was given without braces.
  bool isOne() const { return one; }

private:
  std::vector<int64_t> values;
  bool one = false;
};

/// The same, or nothing: {} or std::nullopt.
class OptionalIntegers {
public:
  OptionalIntegers() = default;
  OptionalIntegers(std::nullopt_t) {}
  OptionalIntegers(std::initializer_list<int64_t> values) : integers(std::in_place, values) {}
  OptionalIntegers(std::vector<int64_t> values) : integers(std::in_place, std::move(values)) {}
  OptionalIntegers(int64_t value) : integers(std::in_place, value) {}
  const std::optional<Integers> &get() const { return integers; }

private:
  std::optional<Integers> integers;
};

/// What several results shall have: one value for all of them, or one each, as {a, b}.
template <class T> class OneOrEach {
public:
  OneOrEach() = default;
  OneOrEach(std::nullopt_t) {}
  OneOrEach(T value) : values{std::move(value)} {}
  OneOrEach(std::initializer_list<std::optional<T>> values) : values(values) {}
  const std::vector<std::optional<T>> &get() const { return values; }

private:
  std::vector<std::optional<T>> values;
};

/// Results of which the last ones need not be there: the first one, or all of them, as in `auto [a, b] = f()`. Those
/// that are not there are tensors without values.
template <size_t count> struct OneOrAll : std::array<Tensor, count> {
  OneOrAll(std::array<Tensor, count> results) : std::array<Tensor, count>(std::move(results)) {}
  operator Tensor() const { return this->front(); }
};

//===- Memory -----------------------------------------------------------------===//

/// Cores from (0, 0) on.
struct CoreGrid {
  int64_t y = 1, x = 1;
};

enum class ShardOrientation : int64_t;
struct CoreRangeSet;

/// Shards of a tensor collapsed to two dimensions: the cores that they lie on, and the elements of one.
struct ShardSpec {
  ShardSpec(CoreGrid grid, std::array<int64_t, 2> shape) : grid(grid), shape(shape) {}
  ShardSpec(CoreGrid grid, std::array<int64_t, 2> shape, ShardOrientation) : ShardSpec(grid, shape) {}
  /// Throws Error for cores that are not a rectangle from (0, 0) on.
  ShardSpec(const CoreRangeSet &cores, std::array<int64_t, 2> shape);
  ShardSpec(const CoreRangeSet &cores, std::array<int64_t, 2> shape, ShardOrientation) : ShardSpec(cores, shape) {}
  CoreGrid grid;
  std::array<int64_t, 2> shape; // [height, width]
};

struct MemoryConfig : tt::MemoryConfig {
  MemoryConfig(const tt::MemoryConfig &config) : tt::MemoryConfig(config) {}
  MemoryConfig(TensorMemoryLayout memory_layout, BufferType buffer_type,
               const std::optional<ShardSpec> &shard_spec = std::nullopt)
      : tt::MemoryConfig{buffer_type, memory_layout, {}, {}} {
    if (shard_spec) {
      grid = {shard_spec->grid.y, shard_spec->grid.x};
      shardShape = {shard_spec->shape[0], shard_spec->shape[1]};
    }
  }
  MemoryConfig(BufferType buffer_type) : MemoryConfig(TensorMemoryLayout::INTERLEAVED, buffer_type) {}
};

inline const MemoryConfig DRAM_MEMORY_CONFIG(BufferType::DRAM);
inline const MemoryConfig L1_MEMORY_CONFIG(BufferType::L1);

} // namespace tt::ttnn

template <size_t count>
struct std::tuple_size<tt::ttnn::OneOrAll<count>> : std::tuple_size<std::array<tt::ttnn::Tensor, count>> {};
template <size_t index, size_t count> struct std::tuple_element<index, tt::ttnn::OneOrAll<count>> {
  using type = tt::ttnn::Tensor;
};
