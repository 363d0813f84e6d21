//===- tensor.cpp - host and mesh tensors ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/ttnn/tensor.h"
#include "tt/recycle.h"
#include "tt/sim/host.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <unordered_map>

namespace tt::ttnn {
namespace {

std::atomic<uint64_t> nextId{1};

size_t shardCount(const std::vector<uint32_t> &meshShape) {
  uint64_t count = 1;
  for (uint32_t dim : meshShape) {
    count *= dim;
    if (count == 0 || count > sim::maxChips)
      throw DeviceError("a tensor cannot be distributed over a mesh of " +
                        toString(Shape(meshShape.begin(), meshShape.end())) + " chips");
  }
  return count;
}

Tensor::Shards allocateShards(const TensorSpec &spec, size_t count, const sim::Chips &chips = {}) {
  Tensor::Shards shards(count);
  for (size_t i = 0; i < count; ++i)
    if (count == 1 || chips.has(i))
      shards[i] = sim::allocateHost(spec.bytes(), "a tensor");
  return shards;
}

std::shared_ptr<Contents> newContents(bool tracked) {
  auto contents = std::allocate_shared<Contents>(Recycling<Contents>(), nextId.fetch_add(1, std::memory_order_relaxed));
  contents->tracked.store(tracked, std::memory_order_relaxed);
  return contents;
}

/// The descriptions that tensors have.
class Descriptions {
public:
  using Pointer = std::shared_ptr<const Tensor::Description>;
  Pointer get(Tensor::Description requested) {
    const size_t hash = hashOf(requested);
    std::lock_guard lock(mutex);
    const auto [begin, end] = known.equal_range(hash);
    auto gone = end;
    for (auto it = begin; it != end; ++it) {
      const Pointer found = it->second.lock();
      if (found && *found == requested)
        return found;
      if (!found)
        gone = it;
    }
    // Replaces one that no tensor uses any more, so that calls with temporary tensors search few.
    if (gone != end) {
      auto created = std::make_shared<const Tensor::Description>(std::move(requested));
      gone->second = created;
      return created;
    }
    if (known.size() >= limit) {
      std::erase_if(known, [](const auto &entry) { return entry.second.expired(); });
      limit = std::max(leastLimit, 2 * known.size());
    }
    auto created = std::make_shared<const Tensor::Description>(std::move(requested));
    known.emplace(hash, created);
    return created;
  }

private:
  static size_t hashOf(const Tensor::Description &description) {
    const auto &[spec, meshShape, partition] = description;
    size_t hash = static_cast<size_t>(spec.dtype) << 8 | static_cast<size_t>(spec.memory.buffer);
    const auto add = [&](auto value) {
      hash = (std::rotl(hash, 23) ^ static_cast<size_t>(value)) * 0x9e3779b97f4a7c15u;
    };
    std::ranges::for_each(spec.shape, add);
    std::ranges::for_each(spec.memory.shardShape, add);
    std::ranges::for_each(meshShape, add);
    add(reinterpret_cast<uintptr_t>(partition.get()));
    return hash;
  }
  static constexpr size_t leastLimit = 1024;
  ForkMutex mutex{2};
  std::unordered_multimap<size_t, std::weak_ptr<const Tensor::Description>> known;
  size_t limit = leastLimit;
};

/// Never destroyed: tensors of static duration may outlive it.
Descriptions &descriptions() {
  static Descriptions *instance = new Descriptions;
  return *instance;
}

} // namespace

std::vector<size_t> chipsThatDiffer(std::span<const std::byte *const> shards, size_t bytes, size_t reference) {
  std::vector<size_t> chips;
  for (size_t i = 0; i < shards.size() && bytes; ++i)
    if (shards[i] != shards[reference] && std::memcmp(shards[i], shards[reference], bytes) != 0)
      chips.push_back(i);
  return chips;
}

std::string chipsText(std::span<const size_t> chips) {
  std::string text = chips.size() == 1 ? "chip " : "chips ";
  for (size_t i = 0; i < chips.size(); ++i)
    text += (i == 0 ? "" : i + 1 == chips.size() ? " and " : ", ") + std::to_string(chips[i]);
  return text;
}

std::shared_ptr<const Tensor::Description> Tensor::describe(TensorSpec spec, std::vector<uint32_t> meshShape,
                                                            std::shared_ptr<const sim::Partition> partition) {
  (void)spec.bytes(); // throws for a bad shape
  spec.distributed = !meshShape.empty();
  if (!spec.distributed)
    partition = nullptr;
  return descriptions().get({std::move(spec), std::move(meshShape), std::move(partition)});
}

Tensor Tensor::gathered(const char *action) const {
  requireAllocated(action);
  const Storage &mine = get();
  const auto &partition = mine.description->partition;
  if (!partition)
    return *this;
  Shards shards = mine.shards;
  std::vector<std::byte *> values;
  for (auto &shard : shards) {
    if (!shard)
      shard = sim::allocateHost(bytes(), "a tensor of other ranks");
    values.push_back(shard.get());
  }
  partition->gather(values, bytes(), action);
  TensorSpec spec = mine.description->spec;
  spec.memory = {};
  return make(describe(std::move(spec), mine.description->meshShape), std::move(shards), mine.contents);
}

Tensor Tensor::make(std::shared_ptr<const Description> description, Shards shards, std::shared_ptr<Contents> contents) {
  auto storage = std::allocate_shared<Storage>(Recycling<Storage>());
  storage->description = std::move(description);
  storage->shards = std::move(shards);
  storage->id = nextId.fetch_add(1, std::memory_order_relaxed);
  storage->contents = std::move(contents);
  Tensor tensor;
  tensor.storage = std::move(storage);
  return tensor;
}

Tensor Tensor::onHost(TensorSpec spec, std::vector<uint32_t> meshShape,
                      std::shared_ptr<const sim::Partition> partition) {
  spec.memory = {};
  auto shards = allocateShards(spec, shardCount(meshShape), partition ? partition->own() : sim::Chips());
  return make(describe(std::move(spec), std::move(meshShape), std::move(partition)), std::move(shards),
              newContents(true));
}

Tensor Tensor::borrow(TensorSpec spec, std::span<std::byte *const> shards, std::vector<uint32_t> meshShape) {
  Shards owners;
  for (std::byte *data : shards) {
    if (!data && spec.bytes())
      throw Error("a borrowed tensor of shape " + toString(spec.shape) + " has a null data pointer");
    owners.emplace_back(std::shared_ptr<void>(), data);
  }
  return fromShards(std::move(spec), std::move(owners), std::move(meshShape));
}

Tensor Tensor::fromShards(TensorSpec spec, Shards shards, std::vector<uint32_t> meshShape) {
  const size_t expected = shardCount(meshShape);
  if (shards.size() != expected)
    throw Error("a tensor over a mesh of " + std::to_string(expected) + " devices was given " +
                std::to_string(shards.size()) + " shards");
  spec.memory = {};
  return fromShards(describe(std::move(spec), std::move(meshShape)), std::move(shards));
}

Tensor Tensor::onDevice(TensorSpec spec, Shards shards, std::shared_ptr<sim::MeshDevice> device,
                        sim::Allocation allocation) {
  std::vector<uint32_t> meshShape = spec.distributed ? device->meshShape() : std::vector<uint32_t>();
  const auto &partition = device->partition();
  for (size_t i = 0; partition && spec.distributed && i < shards.size(); ++i)
    if (!partition->own().has(i))
      shards[i].reset();
  return fromShards(describe(std::move(spec), std::move(meshShape), partition), std::move(shards), device,
                    std::move(allocation));
}

Tensor Tensor::fromShards(std::shared_ptr<const Description> description, Shards shards,
                          std::shared_ptr<sim::MeshDevice> device, sim::Allocation allocation) {
  // Every holder of the address can access values on the host.
  Tensor tensor = make(std::move(description), std::move(shards), newContents(device != nullptr));
  tensor.storage->device = std::move(device);
  tensor.storage->allocation = std::move(allocation);
  return tensor;
}

Tensor Tensor::onDevice(TensorSpec spec, std::shared_ptr<sim::MeshDevice> device, const std::string &label) {
  device->requireOpen("creating a tensor");
  sim::Allocation allocation = device->allocate(sim::footprint(device->chip(), spec), label);
  auto shards = allocateShards(spec, spec.distributed ? device->devices() : 1, device->chips());
  return onDevice(std::move(spec), std::move(shards), std::move(device), std::move(allocation));
}

bool Tensor::isAllocated() const {
  return storage && !storage->gone && (!storage->device || storage->allocation.validOn(*storage->device));
}

void Tensor::deallocate() const {
  Storage &mine = get();
  mine.gone = true;
  mine.allocation.release();
  for (auto &shard : mine.shards)
    shard.reset();
  // Kernels for these values keep them alive; a view may still need them.
  if (mine.contents.use_count() == 1) {
    std::lock_guard lock(mine.contents->keptMutex);
    mine.contents->kept.reset();
  }
}

void Tensor::requireAllocated(const char *action) const {
  if (isAllocated())
    return;
  const Storage &mine = get();
  if (mine.device)
    mine.device->requireOpen(action);
  throw Error(std::string(action) + ": the tensor of shape " + toString(spec().shape) + " was deallocated");
}

Tensor Tensor::shard(size_t index) const {
  const Storage &mine = get();
  if (index >= mine.shards.size())
    throw Error("shard " + std::to_string(index) + " of a tensor with " + std::to_string(mine.shards.size()));
  if (!has(index))
    throw Error("shard " + std::to_string(index) + " lies on a chip of rank " +
                std::to_string(mine.description->partition->owner(static_cast<uint32_t>(index))) + "; this is rank " +
                std::to_string(mine.description->partition->ranks().rank()));
  TensorSpec spec = mine.description->spec;
  spec.memory = {};
  return make(describe(std::move(spec)), {mine.shards[index]}, mine.contents);
}

Tensor Tensor::single(const char *action) const {
  requireAllocated(action);
  if (shards() == 1)
    return *this;
  if (description()->partition)
    return gathered(action).single(action);
  std::vector<const std::byte *> values;
  for (size_t i = 0; i < shards(); ++i)
    values.push_back(data(i));
  if (const std::vector<size_t> chips = chipsThatDiffer(values, bytes()); !chips.empty())
    throw Error(std::string(action) + ": expected the same values on all " + std::to_string(shards()) + " chips, but " +
                chipsText(chips) + (chips.size() == 1 ? " differs" : " differ") + " from chip 0");
  return shard(0);
}

Tensor Tensor::withSpec(TensorSpec spec) const {
  const Storage &mine = get();
  if (storageType(spec.dtype) != storageType(dtype()) || volume(spec.shape) != volume(shape()))
    throw Error("a tensor of shape " + toString(shape()) + " and type " + std::string(toString(dtype())) +
                " cannot be seen as " + toString(spec.shape) + " of " + std::string(toString(spec.dtype)));
  spec.memory = {};
  return make(describe(std::move(spec), mine.description->meshShape, mine.description->partition), mine.shards,
              mine.contents);
}

Tensor Tensor::view(TensorSpec spec, size_t offset, std::shared_ptr<sim::MeshDevice> device,
                    sim::Allocation allocation) const {
  const Storage &mine = get();
  if (offset > bytes() || spec.bytes() > bytes() - offset)
    throw Error("a view of " + std::to_string(spec.bytes()) + " bytes from " + std::to_string(offset) +
                " on does not fit a tensor of shape " + toString(shape()));
  auto partition = mine.description->partition;
  if (device && shards() > 1)
    partition = device->partition();
  auto shards = mine.shards;
  for (size_t i = 0; i < shards.size(); ++i)
    if (partition && !partition->own().has(i))
      shards[i].reset();
    else
      shards[i] = std::shared_ptr<std::byte>(shards[i], shards[i].get() + offset);
  Tensor result = make(describe(std::move(spec), mine.description->meshShape, std::move(partition)), std::move(shards),
                       mine.contents);
  result.storage->device = std::move(device);
  result.storage->allocation = std::move(allocation);
  return result;
}

Tensor Tensor::clone() const {
  const Storage &mine = get();
  Tensor copy = onHost(spec(), meshShape(), mine.description->partition);
  for (size_t i = 0; i < mine.shards.size() && bytes(); ++i)
    if (has(i))
      std::memcpy(copy.data(i), mine.shards[i].get(), bytes());
  return copy;
}

void Tensor::unshare() {
  Storage &mine = get();
  bool shared = false;
  for (auto &shard : mine.shards) {
    if (!shard || shard.use_count() == 1 || !bytes())
      continue;
    auto copy = sim::allocateHost(bytes(), "a tensor");
    std::memcpy(copy.get(), shard.get(), bytes());
    shard = std::move(copy);
    shared = true;
  }
  if (shared)
    mine.contents = newContents(true);
  else
    markWritten();
}

void Tensor::spread() {
  Storage &mine = get();
  if (!mine.device || mine.shards.size() != 1 || mine.device->devices() < 2)
    return;
  auto description = describe(spec(), mine.device->meshShape(), mine.device->partition());
  const sim::Chips chips = mine.device->chips();
  Shards shards(mine.device->devices());
  for (size_t i = 0; i < shards.size(); ++i)
    if (chips.has(i) && i != chips.first) {
      shards[i] = sim::allocateHost(bytes(), "a tensor");
      if (bytes())
        std::memcpy(shards[i].get(), mine.shards[0].get(), bytes());
    }
  if (chips.first < shards.size() && chips.has(chips.first)) // nothing fails from here on
    shards[chips.first] = std::move(mine.shards[0]);
  mine.shards = std::move(shards);
  mine.description = std::move(description);
}

} // namespace tt::ttnn
