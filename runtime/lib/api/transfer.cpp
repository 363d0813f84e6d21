//===- transfer.cpp - transfers and deallocation --------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Tensors that are sent to a device, fetched from it, or freed. A program's executor does this by itself (see
// lib/program).
//
//===----------------------------------------------------------------------===//

#include "api/callable.h"
#include "kernels/creation/tensor_file.h"
#include "tt/ttnn/shards.h"

#include <array>

namespace tt::ttnn {
namespace {

using Results = std::vector<Tensor>;

Output outputOf(const CallArguments &call) { return call.outputs.empty() ? Output() : call.outputs.front(); }

/// These keep the data type and the layout.
void expectNoConversion(const CallArguments &call, const Tensor &tensor) {
  const Output output = outputOf(call);
  if (output.dtype.value_or(tensor.dtype()) != tensor.dtype())
    failCall(call.callable,
             "dtype: the tensor stays " + std::string(toString(tensor.dtype())) + "; convert it with typecast");
  if (output.layout.value_or(tensor.spec().layout) != tensor.spec().layout)
    failCall(call.callable, "layout: the tensor stays as it is; convert it with to_layout");
}

Tensor placed(const CallArguments &call, const Tensor &host, const Device &device) {
  TensorSpec spec = host.spec();
  spec.memory = outputOf(call).memory.value_or(MemoryConfig{BufferType::DRAM, MemoryLayout::Interleaved, {}, {}});
  if (spec.memory.buffer == BufferType::SystemMemory)
    failCall(call.callable, "memory_config: system memory is not on the device");
  completeShards(device->chip(), spec);
  if (spec.distributed && host.shards() != device->devices())
    failCall(call.callable, "the tensor has " + std::to_string(host.shards()) + " shards and the mesh " +
                                std::to_string(device->devices()) + " devices");
  auto allocation = device->allocate(sim::footprint(device->chip(), spec),
                                     "result of ttnn." + std::string(call.callable.function->name));
  return host.view(std::move(spec), 0, device, std::move(allocation));
}

Results toDevice(const CallArguments &call) {
  const Tensor &tensor = call.operands[0];
  tensor.requireAllocated("ttnn.to_device");
  if (!call.device)
    throw DeviceError("ttnn.to_device: device: no device was given");
  call.device->requireOpen("ttnn.to_device");
  expectNoConversion(call, tensor);
  // Values that are already there stay.
  if (tensor.device() == call.device && outputOf(call).memory.value_or(tensor.spec().memory) == tensor.spec().memory)
    return {tensor};
  // The caller may write to a host tensor later; constants are never written.
  return {placed(call, tensor.constant() ? tensor : tensor.clone(), call.device)};
}

Results fromDevice(const CallArguments &call) {
  const Tensor &tensor = call.operands[0];
  tensor.requireAllocated("ttnn.from_device");
  expectNoConversion(call, tensor);
  Tensor host = tensor.description()->partition ? tensor.gathered("ttnn.from_device").clone() : tensor.clone();
  if (tensor.constant())
    host.setConstant();
  return {host};
}

Results deallocate(const CallArguments &call) {
  const bool *force = call.attributes.find<bool>("force");
  release(call.operands[0], force && *force);
  return {};
}

Results loadTensor(const CallArguments &call) {
  Tensor tensor = readTensorFile(call.attributes.get<std::string>("file_path"));
  expectNoConversion(call, tensor);
  tensor.setConstant();
  if (!call.device)
    return {tensor};
  call.device->requireOpen("ttnn.load_tensor");
  return {placed(call, tensor, call.device)};
}

Results dumpTensor(const CallArguments &call) {
  const Tensor &tensor = call.operands[0];
  tensor.requireAllocated("ttnn.dump_tensor");
  writeTensorFile(call.attributes.get<std::string>("file_path"), tensor);
  return {};
}

struct Performer {
  std::string_view op;
  Results (*perform)(const CallArguments &);
};
constexpr std::array performers = {
    Performer{"ttnn.to_device", toDevice},     Performer{"ttnn.from_device", fromDevice},
    Performer{"ttnn.deallocate", deallocate},  Performer{"ttnn.load_tensor", loadTensor},
    Performer{"ttnn.dump_tensor", dumpTensor},
};

} // namespace

void release(const Tensor &tensor, bool force) {
  if (!tensor)
    failCall(*findCallable("ttnn.deallocate"), "tensor: the tensor is missing");
  if (force || !tensor.retained())
    tensor.deallocate();
}

Results (*performerOf(std::string_view op))(const CallArguments &) {
  for (const Performer &row : performers)
    if (row.op == op)
      return row.perform;
  return nullptr;
}

} // namespace tt::ttnn
