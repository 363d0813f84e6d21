//===- places.cpp - which device has which expert -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/routing/places.h"
#include "tt/sim/formats.h"

namespace tt::ttnn {

static std::string nameOf(const OpCall &call, size_t index) {
  const OpInfo *info = findOp(call.name);
  return info && index < info->operands.size() ? std::string(info->operands[index].name) : std::to_string(index);
}

Places::Places(const OpCall &call, size_t operandIndex)
    : devices(int64_t(call.meshShape[0]) * call.meshShape[1]),
      where(call.name + ": operand '" + nameOf(call, operandIndex) + "'"), index(operandIndex),
      numbered(operand(call, operandIndex).shape.size() == 2), values(call, operandIndex) {
  const Shape &shape = operand(call, operandIndex).shape;
  experts = shape[numbered ? 1 : 2];
  if (!numbered && shape[3] != devices)
    throw OpError(where + " is for " + std::to_string(shape[3]) + " devices; expected " + std::to_string(devices) +
                  ", those of the mesh");
}

std::vector<int64_t> Places::onDevice(DeviceIns ins, size_t device) const {
  const std::byte *mapping = on(ins[index], device);
  const auto self = static_cast<int64_t>(device);
  std::vector<int64_t> local(static_cast<size_t>(experts), none);
  int64_t count = 0;
  for (int64_t expert = 0; expert < experts; ++expert)
    if (numbered ? values.at(mapping, expert, devices) == self : values.raw(mapping, expert * devices + self) != 0)
      local[static_cast<size_t>(expert)] = count++;
  if (count > experts / devices)
    throw OpError(where + " gives device " + std::to_string(device) + " " + std::to_string(count) +
                  " experts; expected at most " + std::to_string(experts / devices) + ", an equal part of " +
                  std::to_string(experts));
  return local;
}

void expectElements(const OpCall &call) {
  for (size_t i = 0; i < call.outs.size(); ++i)
    if (sim::isBlockFormat(result(call, i).dtype))
      fail(call, "result " + std::to_string(i) + " is of type " + std::string(toString(result(call, i).dtype)) +
                     ", whose elements cannot be written alone; expected f32, bf16 or an integer type");
}

} // namespace tt::ttnn
