//===- creation.cpp - creation ops ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/op.h"
#include "core/random.h"
#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/range_error.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tt::ttnn {
namespace {

/// Fills the result with values(first, n, buffer), in f32 or int64 as the type of the result requires.
template <class T, class F> std::unique_ptr<Kernel> generated(const TensorSpec &spec, F values) {
  const auto total = static_cast<size_t>(volume(spec.shape));
  const size_t unit = storeGroup(spec);
  const Store<T> store = storer<T>(spec.dtype);
  return kernelOf([=](const Buffers &buffers) {
    if (total == 0)
      return;
    parallelFor(
        static_cast<int64_t>(total / unit), static_cast<int64_t>(1 + 32768 / unit), [&](int64_t begin, int64_t end) {
          constexpr size_t chunk = 2048;
          alignas(64) T buffer[chunk];
          forEachPiece(static_cast<size_t>(begin) * unit, static_cast<size_t>(end) * unit, unit, chunk,
                       [&](size_t i, size_t n) {
                         values(i, n, buffer);
                         storePiece(store, spec, unit, buffer, buffers.outs[0] + i * storageBytes(spec.dtype), n);
                       });
        });
  });
}

struct Bounds {
  double low, high;
};
/// Returns the bounds of an integer type. Attributes of the dialect have 32 bits, so those of u32 may be stored as the
/// i32 with the same bits.
Bounds boundsOf(DataType type) {
  switch (storageType(type)) {
  case StorageType::I32:
    return {-0x1p31, 0x1p31 - 1};
  case StorageType::U32:
    return {-0x1p31, 0x1p32 - 1};
  case StorageType::U16:
    return {0, 0x1p16 - 1};
  default:
    return {0, 0x1p8 - 1};
  }
}

/// A number that is written to the result unchanged.
void requireHeld(const OpCall &call, const char *attribute, double value) {
  const DataType type = result(call).dtype;
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  const std::string what = std::string(call.name) + ": " + attribute + " is " + text + ", which " +
                           std::string(toString(type)) + " cannot hold";
  if (isFloat(type)) {
    if (std::isfinite(value) && !std::isfinite(static_cast<float>(value)))
      throw RangeError(what);
    return;
  }
  const auto [low, high] = boundsOf(type);
  if (!(value >= low && value <= high))
    throw RangeError(what + "; expected " + std::to_string(static_cast<int64_t>(low)) + " to " +
                     std::to_string(static_cast<int64_t>(high)));
}

std::unique_ptr<Kernel> filled(const OpCall &call, double value) {
  const TensorSpec &out = result(call);
  if (isFloat(out.dtype) || std::trunc(value) != value || std::fabs(value) >= 0x1p62)
    return generated<float>(out,
                            [value](size_t, size_t n, float *to) { std::fill_n(to, n, static_cast<float>(value)); });
  return generated<int64_t>(
      out, [value](size_t, size_t n, int64_t *to) { std::fill_n(to, n, static_cast<int64_t>(value)); });
}

std::unique_ptr<Kernel> makeZeros(const OpCall &call) { return filled(call, 0); }
std::unique_ptr<Kernel> makeOnes(const OpCall &call) { return filled(call, 1); }
std::unique_ptr<Kernel> makeFull(const OpCall &call) {
  const double value = number(call, "fill_value");
  requireHeld(call, "fill_value", value);
  return filled(call, value);
}

std::unique_ptr<Kernel> makeConstant(const OpCall &call) {
  const TensorSpec &out = result(call);
  const auto bytes = call.attributes.get<ConstantAttribute>("value").bytes;
  if (bytes.size() != out.bytes())
    fail(call, "attribute 'value' has " + std::to_string(bytes.size()) + " bytes; expected " +
                   std::to_string(out.bytes()) + " for " + toString(out.shape) + " of type " +
                   std::string(toString(out.dtype)));
  auto copy = kernelOf([bytes](const Buffers &buffers) {
    if (!bytes.empty())
      std::memcpy(buffers.outs[0], bytes.data(), bytes.size());
  });
  // The writer of the file may not have rounded to the block format.
  return roundedTo(out, sim::isBlockFormat(out.dtype) ? DataType::BFloat16 : out.dtype, std::move(copy));
}

std::unique_ptr<Kernel> makeArange(const OpCall &call) {
  const auto start = call.attributes.get<int64_t>("start"), end = call.attributes.get<int64_t>("end"),
             step = call.attributes.get<int64_t>("step");
  constexpr int64_t limit = int64_t(1) << 53; // past it, the count below could overflow
  const auto within = [](int64_t value) { return value >= -limit && value <= limit; };
  if (step == 0 || !within(start) || !within(end) || !within(step))
    fail(call, "range from " + std::to_string(start) + " to " + std::to_string(end) + " in steps of " +
                   std::to_string(step) + "; expected a step other than 0 and bounds below 2^53");
  const int64_t span = step > 0 ? end - start : start - end, stride = std::abs(step);
  const int64_t count = std::max<int64_t>(0, (span + stride - 1) / stride);
  if (count) {
    requireHeld(call, "start", static_cast<double>(start));
    requireHeld(call, "the last number", static_cast<double>(start + (count - 1) * step));
  }
  auto values = [=](size_t first, size_t n, int64_t *to) {
    for (size_t i = 0; i < n; ++i)
      to[i] = start + static_cast<int64_t>(first + i) * step;
  };
  return generated<int64_t>(result(call), values);
}

std::unique_ptr<Kernel> makeRand(const OpCall &call) {
  const auto low = static_cast<float>(number(call, "low")), high = static_cast<float>(number(call, "high"));
  const auto seed = call.attributes.get<int64_t>("seed", 0);
  auto drawn = [low, high, spec = result(call)](uint64_t bits) {
    auto values = [=](size_t first, size_t n, float *to) {
      for (size_t i = 0; i < n; ++i) {
        const float unit = static_cast<float>(randomBits(bits, first + i) >> 40) * 0x1p-24f; // [0, 1)
        to[i] = low + (high - low) * unit;
      }
    };
    return generated<float>(spec, values);
  };
  if (seed != 0)
    return drawn(seedOf(seed));
  return kernelOf([drawn](const Buffers &buffers) { drawn(seedOf(0))->run(buffers); });
}

} // namespace

std::vector<OpInfo> creationOps() {
  return {
      {"ttnn.zeros", makeZeros},
      {"ttnn.ones", makeOnes},
      // Unwritten memory reads as zero, so no run depends on previous contents.
      {"ttnn.empty", makeZeros},
      {"ttnn.full", makeFull},
      {"ttnn.constant", makeConstant},
      {"ttnn.arange", makeArange},
      {"ttnn.rand", makeRand},
  };
}

} // namespace tt::ttnn
