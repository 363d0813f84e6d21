//===- selector.cpp - what loops and branches go by -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/selector.h"

#include <bit>
#include <cstring>

namespace tt::ttnn {
namespace {

template <class T> T load(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// The one number of a tensor.
double numberOf(DataType dtype, const std::byte *at) {
  switch (dtype) {
  case DataType::Float32:
    return load<float>(at);
  case DataType::BFloat16:
    return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(at)) << 16);
  case DataType::Int32:
    return load<int32_t>(at);
  case DataType::UInt32:
    return load<uint32_t>(at);
  case DataType::UInt16:
    return load<uint16_t>(at);
  case DataType::UInt8:
  case DataType::Bool:
    return load<uint8_t>(at);
  default: // the reader of binaries lets no other pass; emitted programs may
    throw OpError("what selects a program is of type " + std::string(toString(dtype)));
  }
}

} // namespace

static void requireOne(const TensorSpec &spec, const char *what) {
  if (volume(spec.shape) != 1)
    throw OpError(std::string(what) + " is a tensor of shape " + toString(spec.shape) + "; expected one number");
}

std::vector<double> selectorsOf(const TensorSpec &spec, std::span<const std::byte *const> shards, const char *what) {
  requireOne(spec, what);
  std::vector<double> numbers;
  bool differ = false;
  for (const std::byte *shard : shards) {
    numbers.push_back(numberOf(spec.dtype, shard));
    differ = differ || std::memcmp(shard, shards[0], spec.bytes()) != 0;
  }
  if (!differ)
    numbers.resize(1);
  return numbers;
}

double selectorOf(const TensorSpec &spec, std::span<const std::byte *const> shards, const char *what) {
  requireOne(spec, what);
  for (const std::byte *shard : shards)
    if (std::memcmp(shard, shards[0], spec.bytes()) != 0)
      throw OpError(std::string(what) + " differs from chip to chip; expected one value on all");
  return numberOf(spec.dtype, shards[0]);
}

} // namespace tt::ttnn
