//===- inputs.cpp - program inputs ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/inputs.h"
#include "tt/sim/formats.h"

namespace tt::runtime {

void bindInputs(const Program &program, const Device &device, const std::vector<bool> &written,
                std::span<const Tensor> inputs, std::vector<Tensor> &bound, std::vector<bool> &moved) {
  const std::string name = "program \"" + std::string(program.name) + "\"";
  if (inputs.size() != program.inputs.size())
    throw Error(name + " takes " + std::to_string(program.inputs.size()) + " inputs and was given " +
                std::to_string(inputs.size()));
  bound.assign(inputs.begin(), inputs.end());
  moved.assign(inputs.size(), false);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint32_t value = program.inputs[i];
    const TensorSpec &expected = program.spec(value);
    const std::string_view label = program.values[value].name;
    const auto fail = [&](const std::string &what) {
      throw Error(name + ": input " + std::to_string(i) + (label.empty() ? "" : " (" + std::string(label) + ")") + " " +
                  what);
    };
    if (!inputs[i])
      fail("is empty");
    inputs[i].requireAllocated("submit");
    const TensorSpec &given = inputs[i].spec();
    if (given.shape != expected.shape)
      fail("has shape " + toString(given.shape) + "; expected " + toString(expected.shape) +
           (expected.distributed && program.devices() > 1 ? " on each device" : ""));
    const uint32_t devices = expected.distributed ? program.devices() : 1;
    if (inputs[i].shards() != devices && inputs[i].shards() != 1) {
      // A single input of the program may be given for every chip.
      if (devices != 1 || inputs[i].shards() != program.devices())
        fail("has " + std::to_string(inputs[i].shards()) + " shards; expected " +
             (program.devices() == 1 ? "1" : std::to_string(program.devices()) + ", or 1 for all devices"));
      if (written[value])
        fail("has " + std::to_string(inputs[i].shards()) + " shards and is changed in place; expected 1");
      bound[i] = inputs[i].single((name + ": input " + std::to_string(i)).c_str());
    }
    if (inputs[i].isOnDevice() && inputs[i].device() != device)
      throw DeviceError(name + ": input " + std::to_string(i) + " lies on device " +
                        std::to_string(inputs[i].device()->id()) + ", but the program runs on device " +
                        std::to_string(device->id()));
    if (given.dtype != expected.dtype) {
      // A block format has no host tensors, and booleans are often passed as bytes: both are rounded here like by
      // to_layout.
      const bool blocks =
          sim::isBlockFormat(expected.dtype) && (given.dtype == DataType::Float32 || given.dtype == DataType::BFloat16);
      const bool booleans = expected.dtype == DataType::Bool && given.dtype == DataType::UInt8;
      if (!blocks && !booleans)
        fail("has type " + std::string(toString(given.dtype)) + "; expected " + std::string(toString(expected.dtype)));
      bound[i] = castTensor(bound[i], expected.dtype);
    }
    moved[i] = expected.memory.buffer != BufferType::SystemMemory &&
               !(inputs[i].isOnDevice() && given.memory == expected.memory && given.layout == expected.layout &&
                 given.dtype == expected.dtype);
  }
}

std::vector<Argument> argumentsOf(const Program &program, const Device &device, const std::vector<bool> &written,
                                  std::span<const Tensor> inputs) {
  std::vector<Tensor> bound;
  std::vector<bool> moved;
  bindInputs(program, device, written, inputs, bound, moved);
  std::vector<Argument> arguments(bound.size());
  for (size_t i = 0; i < bound.size(); ++i) {
    const uint32_t shards = program.spec(program.inputs[i]).distributed ? program.devices() : 1;
    for (uint32_t d = 0; d < shards; ++d) {
      if (shards > 1 && bound[i].shards() > 1 && !device->chips().has(d)) {
        arguments[i].shards.emplace_back(); // of another rank
        continue;
      }
      // Values that their owner may free or write after the run are not shared with kept ones.
      std::shared_ptr<const std::byte> values = bound[i].share(shardOf(bound[i], d));
      if (!bound[i].contents().tracked)
        values = {std::shared_ptr<void>(), values.get()};
      arguments[i].shards.push_back(std::move(values));
    }
  }
  return arguments;
}

} // namespace tt::runtime
