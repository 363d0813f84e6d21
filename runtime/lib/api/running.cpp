//===- running.cpp - runs prepared calls -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Results are separate tensors, views of operands, or tensors of the caller.
//
//===----------------------------------------------------------------------===//

#include "api/running.h"
#include "tt/recycle.h"
#include "tt/sim/host.h"
#include "tt/ttnn/trace.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

Tensor newResult(const PreparedCall &prepared, size_t index, const Device &device) {
  const auto &[description, footprint] = prepared.results[index];
  const TensorSpec &spec = description->spec;
  const bool onDevice = spec.memory.buffer != BufferType::SystemMemory;
  if (!onDevice)
    return Tensor::onHost(spec, description->meshShape, description->partition);
  sim::Allocation allocation = device->allocate(footprint, *prepared.label);
  Tensor::Shards shards(spec.distributed ? device->devices() : 1);
  const sim::Chips chips = device->chips();
  for (size_t i = 0; i < shards.size(); ++i)
    if (shards.size() == 1 || chips.has(i))
      shards[i] = sim::allocateHost(spec.bytes(), "a tensor");
  return Tensor::fromShards(description, std::move(shards), device, std::move(allocation));
}

Tensor newView(const PreparedCall &prepared, const Tensor &operand, const Device &device) {
  const auto &[description, footprint] = prepared.results[0];
  const TensorSpec &spec = description->spec;
  const size_t offset = prepared.kernel->aliasOffset();
  if (spec.memory.buffer == BufferType::SystemMemory)
    return operand.view(spec, offset);
  return operand.view(spec, offset, device, device->allocate(footprint, *prepared.label));
}

/// Scratch memory of the kernels that a thread runs; `owner` keeps it until the call ends if it is too large to be kept
/// for the next one. At a fixed address, its lines stay in the caches, unlike those of temporary values.
std::byte *scratchMemory(size_t bytes, std::shared_ptr<std::byte> &owner) {
  constexpr size_t kept = size_t(8) << 20;
  constexpr const char *purpose = "a kernel's scratch memory";
  if (bytes > kept)
    return (owner = sim::allocateHost(bytes, purpose)).get();
  thread_local std::shared_ptr<std::byte> scratch;
  thread_local size_t size = 0;
  if (bytes > size) {
    scratch.reset();
    size = 0;
    scratch = sim::allocateHost(bytes, purpose);
    size = bytes;
  }
  poison(scratch.get(), bytes);
  return scratch.get();
}

bool isSpread(const PreparedCall &prepared, size_t result) {
  return prepared.results[result].description->spec.distributed;
}

/// The values that stand for all chips, of a tensor that may have a value for each: those of the first chip that this
/// process has. Null where it has none.
std::byte *anyValues(const Tensor &tensor) {
  for (size_t shard = 0; shard < tensor.shards(); ++shard)
    if (tensor.has(shard))
      return tensor.data(shard);
  return nullptr;
}

/// Writes a result that is equal on all chips to each chip of a tensor that has a value for each.
void repeatOnChips(const PreparedCall &prepared, std::span<const Tensor> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor &result = results[i];
    if (result.shards() == 1 || isSpread(prepared, i) || !result.bytes())
      continue;
    const std::byte *const from = anyValues(result);
    for (size_t shard = 0; shard < result.shards(); ++shard)
      if (result.has(shard) && result.data(shard) != from)
        std::memcpy(result.data(shard), from, result.bytes());
  }
}

void runOnDevices(const PreparedCall &prepared, std::span<const Tensor> operands, std::span<const Tensor> results) {
  constexpr size_t few = 8;
  const std::byte *inBuffer[few];
  std::byte *outBuffer[few];
  std::vector<const std::byte *> inList;
  std::vector<std::byte *> outList;
  const std::byte **ins = inBuffer;
  std::byte **outs = outBuffer;
  if (operands.size() > few) {
    inList.resize(operands.size());
    ins = inList.data();
  }
  if (results.size() > few) {
    outList.resize(results.size());
    outs = outList.data();
  }
  size_t shards = 1;
  for (size_t i = 0; i < results.size(); ++i)
    if (isSpread(prepared, i))
      shards = std::max(shards, results[i].shards());
  if (results.empty())
    for (const Tensor &operand : operands)
      shards = std::max(shards, operand ? operand.shards() : 1);
  std::shared_ptr<std::byte> large;
  std::byte *const scratch = scratchMemory(prepared.kernel->scratchBytes(), large);
  const sim::Chips chips = prepared.partition ? prepared.partition->own() : sim::Chips();
  for (size_t shard = 0; shard < shards; ++shard) {
    if (shards > 1 && !chips.has(shard))
      continue;
    for (size_t i = 0; i < operands.size(); ++i)
      ins[i] = operands[i] ? operands[i].data(operands[i].shards() == 1 ? 0 : shard) : nullptr;
    for (size_t i = 0; i < results.size(); ++i)
      outs[i] = isSpread(prepared, i) ? results[i].data(shard) : anyValues(results[i]);
    prepared.kernel->run({{ins, operands.size()}, {outs, results.size()}, scratch});
  }
}

void runOnMesh(const PreparedCall &prepared, std::span<const Tensor> operands, std::span<const Tensor> results) {
  std::vector<std::vector<const std::byte *>> ins(operands.size());
  std::vector<std::vector<std::byte *>> outs(results.size());
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i] && !prepared.ins[i]->spec.distributed) // also as a target that has got a value for each chip
      ins[i].push_back(anyValues(operands[i]));
    else
      for (size_t shard = 0; operands[i] && shard < operands[i].shards(); ++shard)
        ins[i].push_back(operands[i].data(shard));
  for (size_t i = 0; i < results.size(); ++i)
    if (!isSpread(prepared, i))
      outs[i].push_back(anyValues(results[i]));
    else
      for (size_t shard = 0; shard < results[i].shards(); ++shard)
        outs[i].push_back(results[i].data(shard));
  std::vector<std::shared_ptr<std::byte>> received;
  if (prepared.partition) {
    std::vector<sim::Ranks::Send> sends;
    std::vector<sim::Ranks::Receive> receives;
    for (const auto &[operand, chip, rank] : prepared.exchange.sends)
      sends.push_back({rank, {ins[operand][chip], operands[operand].bytes()}});
    for (const auto &[operand, chip, rank] : prepared.exchange.receives) {
      const size_t bytes = operands[operand].bytes();
      received.push_back(sim::allocateHost(bytes, "a tensor of another rank"));
      receives.push_back({rank, {received.back().get(), bytes}});
      ins[operand][chip] = received.back().get();
    }
    prepared.partition->ranks().exchange(sends, receives, prepared.label->text());
  }
  const std::vector<std::span<const std::byte *const>> inSpans(ins.begin(), ins.end());
  const std::vector<std::span<std::byte *const>> outSpans(outs.begin(), outs.end());
  prepared.mesh->run(inSpans, outSpans, prepared.partition ? prepared.partition->own() : sim::Chips());
}

bool overlap(const Tensor &a, const Tensor &b) {
  for (size_t i = 0; i < a.shards(); ++i)
    for (size_t j = 0; j < b.shards(); ++j)
      if (const std::byte *x = a.data(i), *y = b.data(j); x && y && x < y + b.bytes() && y < x + a.bytes())
        return true;
  return false;
}

/// The values of a view, as separate values.
void copyViewed(const PreparedCall &prepared, const Tensor &operand, const Tensor &to) {
  const size_t offset = prepared.kernel->aliasOffset();
  for (size_t shard = 0; shard < to.shards(); ++shard)
    if (to.data(shard) && to.bytes())
      std::memmove(to.data(shard), operand.data(operand.shards() == 1 ? 0 : shard) + offset, to.bytes());
}

} // namespace

Device deviceOf(const Callable &callable, std::span<const Tensor> operands, const Device &given) {
  Device device = given;
  for (const Tensor &operand : operands) {
    if (!operand)
      continue;
    if (!operand.isAllocated())
      operand.requireAllocated(("ttnn." + std::string(callable.function->name)).c_str());
    if (!operand.isOnDevice())
      continue;
    if (device && operand.device() != device)
      throw DeviceError("ttnn." + std::string(callable.function->name) + ": operands lie on devices " +
                        std::to_string(device->id()) + " and " + std::to_string(operand.device()->id()));
    device = operand.device();
  }
  return device;
}

void checkDistribution(const Callable &callable, const PreparedCall &prepared, std::span<const Tensor> operands,
                       const Device &device) {
  size_t shards = 1;
  for (const Tensor &operand : operands)
    if (operand && operand.shards() > 1) {
      if (shards > 1 && operand.shards() != shards)
        failCall(callable,
                 "tensors of " + std::to_string(shards) + " and " + std::to_string(operand.shards()) + " shards");
      shards = operand.shards();
    }
  if (device && shards > 1 && shards != device->devices())
    failCall(callable, "tensors of " + std::to_string(shards) + " shards, for a device of " +
                           std::to_string(device->devices()) + " chips");
  for (const int written : callable.info->writes) {
    const auto index = static_cast<size_t>(written);
    if (shards > 1 && index < operands.size() && operands[index] && operands[index].shards() == 1) {
      const bool isNamed = index < callable.operands.size();
      failCall(callable, (isNamed ? std::string(callable.operands[index]->name) : "operand " + std::to_string(index)) +
                             " lies on the host with one value for all chips, and the call writes one for each of " +
                             std::to_string(shards) +
                             "; expected a tensor on the device, or one that a mapper such as "
                             "ttnn.ReplicateTensorToMesh(device) made");
    }
  }
  for (const auto &result : prepared.results)
    if (!prepared.mesh && shards > 1 && !result.description->spec.distributed)
      failCall(callable, "the tensors have " + std::to_string(shards) + " shards and the mesh is of one device");
}

void checkInto(const Callable &callable, const PreparedCall &prepared, const Into &into, const Device &device) {
  const std::string parameter(into.parameter);
  if (into.tensors.size() != prepared.results.size())
    failCall(callable, parameter + ": " + std::to_string(into.tensors.size()) + " tensors; expected " +
                           std::to_string(prepared.results.size()));
  for (size_t i = 0; i < into.tensors.size(); ++i) {
    const std::string name = parameter + (into.tensors.size() > 1 ? "[" + std::to_string(i) + "]" : "");
    if (!into.tensors[i])
      failCall(callable, name + ": the tensor is missing");
    const Tensor &tensor = into.tensors[i];
    tensor.requireAllocated(("ttnn." + std::string(callable.function->name)).c_str());
    const TensorSpec &found = tensor.spec(), &expected = prepared.results[i].description->spec;
    const auto fail = [&](const std::string &has, const std::string &requested) {
      failCall(callable, name + " has " + has + "; expected " + requested + ", as the result has");
    };
    if (found.shape != expected.shape)
      fail("shape " + toString(found.shape), toString(expected.shape));
    if (found.dtype != expected.dtype)
      fail("data type " + std::string(toString(found.dtype)), std::string(toString(expected.dtype)));
    if (found.layout != expected.layout)
      fail("layout " + std::string(toString(found.layout)), std::string(toString(expected.layout)));
    if (found.memory != expected.memory)
      fail("another memory configuration", "the one of memory_config");
    if (tensor.device() != device)
      fail("its values on another device", "those of the operands' device");
    // On a device, what has one value for all chips gets one for each.
    if (expected.distributed && !found.distributed && !tensor.isOnDevice())
      fail("one value for all chips", "a value for each chip");
    if (expected.distributed && found.distributed && tensor.meshShape() != prepared.results[i].description->meshShape)
      fail("values of another mesh", "those of the operands' mesh");
  }
}

std::vector<Tensor> runPrepared(PreparedCall &prepared, std::span<const Tensor> operands, const Device &device,
                                const Into *into, bool recorded) {
  std::vector<Tensor> results;
  results.reserve(prepared.results.size());
  if (prepared.alias >= 0 && !into && !recorded) {
    results.push_back(newView(prepared, operands[static_cast<size_t>(prepared.alias)], device));
    return results;
  }
  const auto isRead = [&](const Tensor &tensor) {
    return std::ranges::any_of(operands, [&](const Tensor &operand) { return operand && overlap(operand, tensor); });
  };
  bool apart = false; // kernels may read operands after they have written results
  for (size_t i = 0; into && i < into->tensors.size(); ++i) {
    Tensor target = into->tensors[i];
    if (isSpread(prepared, i))
      target.spread();
    target.unshare();
    apart |= isRead(target) || (target.bytes() && !isSpread(prepared, i) && !anyValues(target));
  }
  for (size_t i = 0; i < prepared.results.size(); ++i)
    results.push_back(into && !apart ? into->tensors[i] : newResult(prepared, i, device));
  if (prepared.alias >= 0) {
    copyViewed(prepared, operands[static_cast<size_t>(prepared.alias)], results[0]);
  } else {
    std::lock_guard lock(prepared.running);
    prepared.mesh ? runOnMesh(prepared, operands, results) : runOnDevices(prepared, operands, results);
    repeatOnChips(prepared, results);
  }
  if (into) {
    for (size_t i = 0; i < results.size(); ++i)
      apart ? copyValues(results[i], into->tensors[i], into->parameter) : into->tensors[i].markWritten();
    return {into->tensors.begin(), into->tensors.end()};
  }
  if (prepared.reproducible &&
      std::ranges::all_of(operands, [](const Tensor &operand) { return !operand || operand.constant(); }))
    for (const Tensor &result : results)
      result.setConstant();
  return results;
}

} // namespace tt::ttnn
