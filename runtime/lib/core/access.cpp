//===- access.cpp - index operands and contiguous runs --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/access.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tt::ttnn {

Positions::Positions(const OpCall &call, size_t index)
    : where(call.name + ": operand " + std::to_string(index)), total(volume(operand(call, index).shape)),
      bytes(storageBytes(operand(call, index).dtype)) {
  const DataType type = operand(call, index).dtype;
  if (isInteger(type))
    loadInt = loader<int64_t>(type);
  else
    loadFloat = loader<float>(type);
}

int64_t Positions::raw(const std::byte *values, int64_t i) const {
  const std::byte *from = values + static_cast<size_t>(i) * bytes;
  int64_t position = -1;
  if (loadInt) {
    loadInt(from, &position, 1);
  } else {
    float value;
    loadFloat(from, &value, 1);
    if (std::fabs(value) < 0x1p62f)
      position = static_cast<int64_t>(value);
  }
  return position;
}

int64_t Positions::at(const std::byte *values, int64_t i, int64_t limit) const {
  const int64_t position = raw(values, i);
  if (position < 0 || position >= limit)
    throw OpError(where + " has " + std::to_string(position) + " as element " + std::to_string(i) +
                  "; expected a position from 0 to " + std::to_string(limit - 1));
  return position;
}

RunCopy::RunCopy(DataType from, DataType to)
    : fromBytes(storageBytes(from)), toBytes(storageBytes(to)), same(from == to) {
  if (isInteger(from) && isInteger(to)) {
    loadInt = loader<int64_t>(from);
    storeInt = storer<int64_t>(to);
  } else {
    loadFloat = loader<float>(from);
    storeFloat = storer<float>(to);
  }
}

void RunCopy::operator()(const std::byte *from, std::byte *to, size_t n) const {
  if (same) {
    std::memcpy(to, from, n * fromBytes);
    return;
  }
  constexpr size_t chunk = 512;
  auto convert = [&](auto load, auto store, auto zero) {
    alignas(64) decltype(zero) values[chunk];
    for (size_t i = 0; i < n; i += chunk) {
      const size_t count = std::min(chunk, n - i);
      load(from + i * fromBytes, values, count);
      store(values, to + i * toBytes, count);
    }
  };
  if (loadInt)
    convert(loadInt, storeInt, int64_t(0));
  else
    convert(loadFloat, storeFloat, 0.0f);
}

} // namespace tt::ttnn
