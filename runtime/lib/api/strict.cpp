//===- strict.cpp - what Tenstorrent's library refuses --------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The demands of a function are those of its row (tools/opgen/functions.py).
//
//===----------------------------------------------------------------------===//

#include "api/callable.h"
#include "tt/sim/device.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <array>

namespace tt::ttnn {
namespace {

using Operands = std::span<const std::optional<TensorSpec>>;

struct StrictCall {
  const Callable &callable;
  Operands operands;
  std::span<const Output> outputs;
  const sim::MeshDevice &device;

  [[noreturn]] void refuse(size_t operand, const std::string &found, const std::string &expected) const {
    const auto &parameters = callable.operands;
    const std::string_view name = parameters[std::min(operand, parameters.size() - 1)]->name;
    failCall(callable, std::string(name) + " " + found + "; a strict device expects " + expected);
  }
  [[noreturn]] void refuseType(size_t operand, const std::string &expected) const {
    refuse(operand, "is of " + std::string(toString(operands[operand]->dtype)), expected);
  }
};

void requireIntegers(const StrictCall &call, std::string_view taken) {
  const std::vector<std::string_view> types = api::split(taken, ',');
  for (size_t i = 0; i < call.operands.size(); ++i)
    if (const auto &operand = call.operands[i];
        operand && isInteger(operand->dtype) && std::ranges::find(types, toString(operand->dtype)) == types.end()) {
      std::string expected = "floats";
      for (const std::string_view type : types)
        expected += " or " + std::string(type);
      call.refuseType(i, expected);
    }
}

/// Requires one type. With `alsoFloats`, floats next to integers are refused, too.
void requireOneType(const StrictCall &call, bool alsoFloats) {
  const TensorSpec *first = nullptr;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const auto &operand = call.operands[i];
    if (!operand || (!alsoFloats && !isInteger(operand->dtype)))
      continue;
    if (first && operand->dtype != first->dtype && (isInteger(operand->dtype) || isInteger(first->dtype)))
      call.refuseType(i, std::string(toString(first->dtype)) + ", as of the other tensor");
    first = first ? first : &*operand;
  }
}

void requireTiles(const StrictCall &call, size_t most) {
  for (size_t i = 0; i < std::min(most, call.operands.size()); ++i)
    if (call.operands[i] && call.operands[i]->layout != Layout::Tile)
      call.refuse(i, "is in ROW_MAJOR layout", "TILE");
}

void requireBatches(const StrictCall &call) {
  if (call.operands.size() < 2 || !call.operands[0] || !call.operands[1])
    return;
  const auto batches = [&](size_t operand) {
    Shape shape = call.operands[operand]->shape;
    shape.resize(shape.size() - std::min<size_t>(shape.size(), 2));
    while (!shape.empty() && shape.front() == 1)
      shape.erase(shape.begin());
    return shape;
  };
  const Shape first = batches(0), second = batches(1);
  if (!second.empty() && second != first)
    call.refuse(1, "has the shape " + toString(call.operands[1]->shape),
                "the batches of the first tensor, which has the shape " + toString(call.operands[0]->shape) +
                    ", or one");
}

void requireIds(const StrictCall &call) {
  const DataType type = call.operands[0]->dtype;
  if (type != DataType::UInt32 && type != DataType::BFloat16)
    call.refuseType(0, "u32 or bf16");
}

void requireNoBlocks(const StrictCall &call) {
  if (sim::isBlockFormat(call.operands[0]->dtype))
    call.refuseType(0, "a data type without blocks");
}

void requireHost(const StrictCall &call) {
  if (call.operands[0]->memory.buffer != BufferType::SystemMemory)
    call.refuse(0, "is on the device", "a tensor on the host; typecast takes those of a device");
}

/// Numbers are tensors of one element on the host.
void requireDevice(const StrictCall &call) {
  for (size_t i = 0; i < call.operands.size(); ++i)
    if (const auto &operand = call.operands[i];
        operand && operand->memory.buffer == BufferType::SystemMemory && volume(operand->shape) != 1)
      call.refuse(i, "is on the host", "a tensor on the device");
}

/// The library writes to the operand, unless the call requests a memory.
void requireInPlace(const StrictCall &call) {
  if (call.operands[0]->memory.shardShape.empty() && (call.outputs.empty() || !call.outputs[0].memory))
    call.refuse(0, "is interleaved", "a sharded tensor, or inplace=False");
}

void requireSmallL1(const StrictCall &call) {
  if (call.device.options().l1SmallSize == 0)
    failCall(call.callable, "the device was opened with l1_small_size 0; a strict device expects room in L1_SMALL");
}

struct Demand {
  std::string_view name;
  void (*require)(const StrictCall &);
};
constexpr std::array demands = {
    Demand{"one_type", [](const StrictCall &call) { requireOneType(call, true); }},
    Demand{"one_integer_type", [](const StrictCall &call) { requireOneType(call, false); }},
    Demand{"tiles", [](const StrictCall &call) { requireTiles(call, call.operands.size()); }},
    Demand{"first_tiled", [](const StrictCall &call) { requireTiles(call, 1); }},
    Demand{"batches", requireBatches},
    Demand{"ids", requireIds},
    Demand{"no_blocks", requireNoBlocks},
    Demand{"host", requireHost},
    Demand{"on_device", requireDevice},
    Demand{"in_place", requireInPlace},
    Demand{"l1_small", requireSmallL1},
};

} // namespace

void requireStrict(const Callable &callable, Operands operands, std::span<const Output> outputs,
                   const sim::MeshDevice &device) {
  const StrictCall call{callable, operands, outputs, device};
  constexpr std::string_view integers = "integers:";
  for (const std::string_view demand : api::split(callable.function->demands, '|')) {
    if (demand.starts_with(integers)) {
      requireIntegers(call, demand.substr(integers.size()));
      continue;
    }
    const auto row = std::ranges::find(demands, demand, &Demand::name);
    if (row == demands.end())
      throw Error("functions.py names the demand \"" + std::string(demand) + "\", which there is not");
    row->require(call);
  }
}

} // namespace tt::ttnn
