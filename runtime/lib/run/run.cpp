//===- run.cpp - interface of the back ends -------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/runtime/run.h"
#include "tt/sim/host.h"

#include <atomic>
#include <cstring>

namespace tt::runtime {
namespace {

std::atomic<bool> recording{false};

/// The kernel that rounds values of one type to another: the library's own typecast.
std::unique_ptr<ttnn::Kernel> castKernel(const TensorSpec &from, const TensorSpec &to) {
  const ttnn::OpInfo *info = ttnn::findOp("ttnn.typecast");
  if (!info || !info->make)
    throw Error("this build has no ttnn.typecast to convert " + std::string(toString(from.dtype)) + " to " +
                std::string(toString(to.dtype)));
  ttnn::OpCall call;
  call.name = "ttnn.typecast";
  call.ins.emplace_back(from);
  call.outs.push_back(to);
  call.attributes = ttnn::Attributes(
      call.name,
      {{"dtype",
        {ttnn::EnumAttribute{"ttcore.data_type", std::string(toString(to.dtype)), static_cast<int64_t>(to.dtype)}}}});
  return info->make(call);
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
