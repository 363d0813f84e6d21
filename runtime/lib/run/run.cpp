//===- run.cpp - interface of the back ends -------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/runtime/run.h"
#include "tt/range_error.h"
#include "tt/sim/host.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

namespace tt::runtime {
namespace {

std::atomic<bool> recording{false};

/// The kernel that converts values on the host.
std::unique_ptr<ttnn::Kernel> castKernel(const TensorSpec &from, const TensorSpec &to) {
  const ttnn::OpInfo *info = ttnn::findOp("ttnn.to_dtype");
  if (!info || !info->make)
    throw Error("this build has no ttnn.to_dtype to convert " + std::string(toString(from.dtype)) + " to " +
                std::string(toString(to.dtype)));
  ttnn::OpCall call;
  call.name = "ttnn.to_dtype";
  call.ins.emplace_back(from);
  call.outs.push_back(to);
  call.attributes = ttnn::Attributes(
      call.name,
      {{"dtype",
        {ttnn::EnumAttribute{"ttcore.data_type", std::string(toString(to.dtype)), static_cast<int64_t>(to.dtype)}}}});
  return info->make(call);
}

/// Calls `body` with a value of the C++ type of a data type of integers; does nothing for other data types.
template <class Body> void withInteger(DataType dtype, Body body) {
  switch (dtype) {
  case DataType::UInt32:
    return body(uint32_t());
  case DataType::UInt16:
    return body(uint16_t());
  case DataType::UInt8:
    return body(uint8_t());
  case DataType::Int32:
    return body(int32_t());
  default:
    return;
  }
}

/// Throws RangeError for the first integer of a shard that another integer type cannot hold.
void requireFit(const std::byte *data, int64_t count, DataType from, DataType to) {
  withInteger(from, [&](auto source) {
    withInteger(to, [&](auto target) {
      using From = decltype(source);
      using To = std::numeric_limits<decltype(target)>;
      if (std::cmp_less_equal(To::min(), std::numeric_limits<From>::min()) &&
          std::cmp_greater_equal(To::max(), std::numeric_limits<From>::max()))
        return;
      const From *values = reinterpret_cast<const From *>(data);
      From low = 0, high = 0; // in one pass that the compiler vectorizes
      for (int64_t i = 0; i < count; ++i) {
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
      }
      if (std::cmp_greater_equal(low, To::min()) && std::cmp_less_equal(high, To::max()))
        return;
      const auto fits = [](From value) { return std::in_range<decltype(target)>(value); };
      const From *found = std::find_if_not(values, values + count, fits);
      throw RangeError("cast: element " + std::to_string(found - values) + " is " + std::to_string(*found) +
                       " of type " + std::string(toString(from)) + ", which " + std::string(toString(to)) +
                       " cannot hold; expected " + std::to_string(To::min()) + " to " + std::to_string(To::max()));
    });
  });
}

} // namespace

Tensor castTensor(const Tensor &tensor, DataType dtype) {
  tensor.requireAllocated("cast");
  if (tensor.dtype() == dtype)
    return tensor;
  TensorSpec from = tensor.spec(), to = tensor.spec();
  from.memory = to.memory = {};
  from.distributed = to.distributed = false;
  to.dtype = dtype;
  Tensor result = Tensor::onHost(to, tensor.meshShape(), tensor.description()->partition);
  const auto kernel = castKernel(from, to);
  const auto scratch = sim::allocateHost(kernel->scratchBytes(), "a kernel's scratch memory");
  for (size_t shard = 0; shard < tensor.shards(); ++shard) {
    if (!tensor.has(shard))
      continue;
    const std::byte *in = tensor.data(shard);
    std::byte *out = result.data(shard);
    requireFit(in, volume(from.shape), from.dtype, dtype);
    if (kernel->alias() == 0)
      std::memcpy(out, in, result.bytes());
    else
      kernel->run({{&in, 1}, {&out, 1}, scratch.get()});
  }
  return result;
}

void setPerfRecording(bool on) { recording.store(on, std::memory_order_relaxed); }
bool perfRecording() { return recording.load(std::memory_order_relaxed); }

} // namespace tt::runtime
