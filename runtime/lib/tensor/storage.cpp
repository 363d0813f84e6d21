//===- storage.cpp - loads and stores of data types -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tensor/storage.h"

#include "tt/sim/formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tt::ttnn {
namespace {

/// How one stored value is read and written; Stored is its type in memory.
struct F32Format {
  using Stored = float;
  static float read(float v) { return v; }
  static float write(float v) { return v; }
};
struct F16Format {
  using Stored = uint16_t;
  static float read(uint16_t v) { return sim::f16ToF32(v); }
  static uint16_t write(float v) { return sim::f32ToF16(v); }
};
struct BF16Format {
  using Stored = uint16_t;
  static float read(uint16_t v) { return sim::bf16ToF32(v); }
  static uint16_t write(float v) { return sim::f32ToBf16(v); }
};
template <class I> struct IntFormat {
  using Stored = I;
  static I read(I v) { return v; }
  static I write(int64_t v) { return static_cast<I>(static_cast<uint64_t>(v)); }
  static I write(float v) {
    using Limits = std::numeric_limits<I>;
    constexpr double past = static_cast<double>(Limits::max()) + 1.0; // exact in f32 as well
    const float low = static_cast<float>(Limits::min());
    const bool inside = v >= low && v < static_cast<float>(past);
    const I edge = v >= static_cast<float>(past) ? Limits::max() : v < low ? Limits::min() : I(0);
    return inside ? static_cast<I>(v) : edge;
  }
};
struct BoolFormat {
  using Stored = uint8_t;
  static uint8_t read(uint8_t v) { return v; }
  template <class T> static uint8_t write(T v) { return v != T(0) ? 1 : 0; }
};

template <class Format, class T> void load(const std::byte *from, T *to, size_t n) {
  const auto *values = reinterpret_cast<const typename Format::Stored *>(from);
  for (size_t i = 0; i < n; ++i)
    to[i] = static_cast<T>(Format::read(values[i]));
}
template <class Format, class T> void nonzero(const std::byte *from, T *to, size_t n) {
  const auto *values = reinterpret_cast<const typename Format::Stored *>(from);
  for (size_t i = 0; i < n; ++i)
    to[i] = Format::read(values[i]) != 0 ? T(1) : T(0);
}
template <class Format, class T> void store(const T *from, std::byte *to, size_t n) {
  auto *values = reinterpret_cast<typename Format::Stored *>(to);
  for (size_t i = 0; i < n; ++i)
    if constexpr (std::same_as<T, int64_t> && std::same_as<decltype(Format::read({})), float>)
      values[i] = Format::write(static_cast<float>(from[i]));
    else
      values[i] = Format::write(from[i]);
}
template <DataType type, class T> void storeBlock(const T *from, std::byte *to, size_t n) {
  constexpr size_t piece = 512;
  float buffer[piece];
  for (size_t i = 0; i < n; i += piece) {
    const size_t count = std::min(piece, n - i);
    for (size_t j = 0; j < count; ++j)
      buffer[j] = static_cast<float>(from[i + j]);
    sim::quantise(type, buffer, count);
    sim::f32ToBf16(buffer, reinterpret_cast<uint16_t *>(to) + i, count);
  }
}

} // namespace

template <class T> Load<T> loader(DataType type) {
  switch (storageType(type)) {
  case StorageType::F32:
    return load<F32Format, T>;
  case StorageType::F16:
    return load<F16Format, T>;
  case StorageType::BF16:
    return load<BF16Format, T>;
  case StorageType::I32:
    return load<IntFormat<int32_t>, T>;
  case StorageType::U32:
    return load<IntFormat<uint32_t>, T>;
  case StorageType::U16:
    return load<IntFormat<uint16_t>, T>;
  case StorageType::U8:
    return load<IntFormat<uint8_t>, T>;
  }
  return nullptr;
}
template <> Load<int64_t> loader<int64_t>(DataType type) {
  switch (storageType(type)) {
  case StorageType::I32:
    return load<IntFormat<int32_t>, int64_t>;
  case StorageType::U32:
    return load<IntFormat<uint32_t>, int64_t>;
  case StorageType::U16:
    return load<IntFormat<uint16_t>, int64_t>;
  case StorageType::U8:
    return load<IntFormat<uint8_t>, int64_t>;
  default:
    throw Error("values of type " + std::string(toString(type)) + " do not load as integers");
  }
}
template Load<float> loader<float>(DataType);

template <class T> Load<T> loadNonzero(DataType type) {
  switch (storageType(type)) {
  case StorageType::F32:
    return nonzero<F32Format, T>;
  case StorageType::F16:
    return nonzero<F16Format, T>;
  case StorageType::BF16:
    return nonzero<BF16Format, T>;
  case StorageType::I32:
  case StorageType::U32:
    return nonzero<IntFormat<uint32_t>, T>;
  case StorageType::U16:
    return nonzero<IntFormat<uint16_t>, T>;
  case StorageType::U8:
    return nonzero<IntFormat<uint8_t>, T>;
  }
  return nullptr;
}
template Load<float> loadNonzero<float>(DataType);
template Load<int64_t> loadNonzero<int64_t>(DataType);

template <class T> Store<T> storer(DataType type) {
  switch (type) {
  case DataType::Float32:
    return store<F32Format, T>;
  case DataType::Float16:
    return store<F16Format, T>;
  case DataType::BFloat16:
    return store<BF16Format, T>;
  case DataType::BFP_Float8:
    return storeBlock<DataType::BFP_Float8, T>;
  case DataType::BFP_BFloat8:
    return storeBlock<DataType::BFP_BFloat8, T>;
  case DataType::BFP_Float4:
    return storeBlock<DataType::BFP_Float4, T>;
  case DataType::BFP_BFloat4:
    return storeBlock<DataType::BFP_BFloat4, T>;
  case DataType::BFP_Float2:
    return storeBlock<DataType::BFP_Float2, T>;
  case DataType::BFP_BFloat2:
    return storeBlock<DataType::BFP_BFloat2, T>;
  case DataType::UInt32:
    return store<IntFormat<uint32_t>, T>;
  case DataType::UInt16:
    return store<IntFormat<uint16_t>, T>;
  case DataType::UInt8:
    return store<IntFormat<uint8_t>, T>;
  case DataType::Int32:
    return store<IntFormat<int32_t>, T>;
  case DataType::Bool:
    return store<BoolFormat, T>;
  }
  throw Error("data type " + std::to_string(static_cast<int>(type)) + " is not known; expected 0 to 13");
}
template Store<float> storer<float>(DataType);
template Store<int64_t> storer<int64_t>(DataType);

size_t storeGroup(const TensorSpec &spec) {
  if (!sim::isBlockFormat(spec.dtype) || spec.shape.empty())
    return 1;
  const auto row = static_cast<size_t>(spec.shape.back());
  return row % sim::blockGroup == 0 ? sim::blockGroup : row;
}

bool isFloat(DataType type) { return type <= DataType::BFP_BFloat2; }

} // namespace tt::ttnn
