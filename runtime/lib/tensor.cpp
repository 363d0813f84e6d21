//===- tensor.cpp - a tensor on the host or on a mesh ---------------------===//

#include "tt/ttnn/tensor.h"
#include "tt/recycle.h"
#include "tt/sim/host.h"

#include <atomic>
#include <cstring>

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

std::vector<std::shared_ptr<std::byte>> allocateShards(const TensorSpec &spec, size_t count) {
  std::vector<std::shared_ptr<std::byte>> shards(count);
  for (auto &shard : shards)
    shard = sim::allocateHost(spec.bytes(), "a tensor");
  return shards;
}

std::shared_ptr<Contents> newContents(bool tracked) {
  auto contents = std::allocate_shared<Contents>(Recycling<Contents>(), nextId.fetch_add(1, std::memory_order_relaxed));
  contents->tracked.store(tracked, std::memory_order_relaxed);
  return contents;
}

} // namespace

Tensor Tensor::make(TensorSpec spec, std::vector<std::shared_ptr<std::byte>> shards, std::vector<uint32_t> meshShape,
                    std::shared_ptr<Contents> contents) {
  (void)spec.bytes(); // throws for a bad shape
  auto storage = std::allocate_shared<Storage>(Recycling<Storage>());
  spec.distributed = !meshShape.empty();
  storage->spec = std::move(spec);
  storage->shards = std::move(shards);
  storage->meshShape = std::move(meshShape);
  storage->id = nextId.fetch_add(1, std::memory_order_relaxed);
  storage->contents = std::move(contents);
  Tensor tensor;
  tensor.storage = std::move(storage);
  return tensor;
}

Tensor Tensor::onHost(TensorSpec spec, std::vector<uint32_t> meshShape) {
  spec.memory = {};
  auto shards = allocateShards(spec, shardCount(meshShape));
  return make(std::move(spec), std::move(shards), std::move(meshShape), newContents(true));
}

Tensor Tensor::borrow(TensorSpec spec, std::span<std::byte *const> shards, std::vector<uint32_t> meshShape) {
  std::vector<std::shared_ptr<std::byte>> owners;
  for (std::byte *data : shards) {
    if (!data && spec.bytes())
      throw Error("a borrowed tensor of shape " + toString(spec.shape) + " has a null data pointer");
    owners.emplace_back(std::shared_ptr<void>(), data);
  }
  return fromShards(std::move(spec), std::move(owners), std::move(meshShape));
}

Tensor Tensor::fromShards(TensorSpec spec, std::vector<std::shared_ptr<std::byte>> shards,
                          std::vector<uint32_t> meshShape) {
  const size_t expected = shardCount(meshShape);
  if (shards.size() != expected)
    throw Error("a tensor over a mesh of " + std::to_string(expected) + " devices was given " +
                std::to_string(shards.size()) + " shards");
  spec.memory = {};
  return make(std::move(spec), std::move(shards), std::move(meshShape), newContents(false));
}

Tensor Tensor::onDevice(TensorSpec spec, std::vector<std::shared_ptr<std::byte>> shards,
                        std::shared_ptr<sim::MeshDevice> device, sim::Allocation allocation) {
  std::vector<uint32_t> meshShape = spec.distributed ? device->meshShape() : std::vector<uint32_t>();
  Tensor tensor = make(std::move(spec), std::move(shards), std::move(meshShape), newContents(true));
  tensor.storage->device = std::move(device);
  tensor.storage->allocation = std::move(allocation);
  return tensor;
}

Tensor Tensor::onDevice(TensorSpec spec, std::shared_ptr<sim::MeshDevice> device, const std::string &label) {
  device->requireOpen("creating a tensor");
  sim::Allocation allocation = device->allocate(sim::footprint(device->chip(), spec), label);
  auto shards = allocateShards(spec, spec.distributed ? device->devices() : 1);
  return onDevice(std::move(spec), std::move(shards), std::move(device), std::move(allocation));
}

bool Tensor::isAllocated() const {
  return storage && !storage->gone && (!storage->device || storage->allocation.valid());
}

void Tensor::deallocate() {
  Storage &mine = get();
  mine.gone = true;
  mine.allocation.release();
  for (auto &shard : mine.shards)
    shard.reset();
  // Kernels made for these values hold on to them; a view may still want those.
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
  throw Error(std::string(action) + ": the tensor of shape " + toString(mine.spec.shape) + " was deallocated");
}

Tensor Tensor::shard(size_t index) const {
  const Storage &mine = get();
  if (index >= mine.shards.size())
    throw Error("shard " + std::to_string(index) + " of a tensor with " + std::to_string(mine.shards.size()));
  TensorSpec spec = mine.spec;
  spec.memory = {};
  return make(std::move(spec), {mine.shards[index]}, {}, mine.contents);
}

Tensor Tensor::withSpec(TensorSpec spec) const {
  const Storage &mine = get();
  if (storageType(spec.dtype) != storageType(mine.spec.dtype) || volume(spec.shape) != volume(mine.spec.shape))
    throw Error("a tensor of shape " + toString(mine.spec.shape) + " and type " +
                std::string(toString(mine.spec.dtype)) + " cannot be seen as " + toString(spec.shape) + " of " +
                std::string(toString(spec.dtype)));
  spec.memory = {};
  return make(std::move(spec), mine.shards, mine.meshShape, mine.contents);
}

Tensor Tensor::view(TensorSpec spec, size_t offset, std::shared_ptr<sim::MeshDevice> device,
                    sim::Allocation allocation) const {
  const Storage &mine = get();
  if (offset > mine.spec.bytes() || spec.bytes() > mine.spec.bytes() - offset)
    throw Error("a view of " + std::to_string(spec.bytes()) + " bytes from " + std::to_string(offset) +
                " on does not fit a tensor of shape " + toString(mine.spec.shape));
  auto shards = mine.shards;
  for (auto &shard : shards)
    shard = std::shared_ptr<std::byte>(shard, shard.get() + offset);
  Tensor result = make(std::move(spec), std::move(shards), mine.meshShape, mine.contents);
  result.storage->device = std::move(device);
  result.storage->allocation = std::move(allocation);
  return result;
}

Tensor Tensor::clone() const {
  const Storage &mine = get();
  Tensor copy = onHost(mine.spec, mine.meshShape);
  for (size_t i = 0; i < mine.shards.size() && bytes(); ++i)
    std::memcpy(copy.data(i), mine.shards[i].get(), bytes());
  return copy;
}

void Tensor::unshare() {
  Storage &mine = get();
  bool shared = false;
  for (auto &shard : mine.shards) {
    if (shard.use_count() == 1 || !bytes())
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

} // namespace tt::ttnn
