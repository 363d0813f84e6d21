//===- tensor.h - host and mesh tensors -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A tensor is a list of shards: one per device of the mesh when it is
// distributed, else one that stands for all of them. Its values are held in
// host memory, row-major, in the storage type of the data type (tt/types.h);
// a tensor on a device also owns a piece of the device's memory.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/fork.h"
#include "tt/recycle.h"
#include "tt/sim/device.h"
#include "tt/types.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>

namespace tt::ttnn {

/// Identifies values without reading them: the same id and version mean the same values. Tensors that share values
/// share this.
struct Contents {
  const uint64_t id;
  std::atomic<uint64_t> version{0};
  std::atomic<bool> tracked; // false: somebody else can write the values, who does not tell
  std::atomic<bool> constant{false};
  std::atomic<bool> parameter{false}; // of a model: programs are prepared for these values
  /// Calls keep kernels here that hold constant values in a form of their own.
  mutable ForkAware<std::mutex> keptMutex;
  mutable std::shared_ptr<void> kept;
};

/// The shards whose values are not those of `reference`, bit for bit.
std::vector<size_t> chipsThatDiffer(std::span<const std::byte *const> shards, size_t bytes, size_t reference = 0);
/// "chip 3", "chips 1, 3 and 5"
std::string chipsText(std::span<const size_t> chips);

/// A handle: copies share values and device memory, which go with the last of them.
class Tensor {
public:
  /// Values by shard.
  using Shards = std::vector<std::shared_ptr<std::byte>, Recycling<std::shared_ptr<std::byte>>>;
  /// The properties of a tensor without its values. Tensors of equal properties share one: it is compared by its
  /// address.
  struct Description {
    TensorSpec spec;
    std::vector<uint32_t> meshShape; // of the mesh that a distributed tensor is spread over, else empty
    /// The ranks of shards that this process does not have; null when it has all.
    std::shared_ptr<const sim::Partition> partition = nullptr;
    bool operator==(const Description &) const = default;
  };
  /// Distributed if there is a mesh. `partition` is left out where there is none. Throws Error for a bad shape.
  static std::shared_ptr<const Description> describe(TensorSpec spec, std::vector<uint32_t> meshShape = {},
                                                     std::shared_ptr<const sim::Partition> partition = nullptr);

  Tensor() = default;

  /// Creates a tensor on the host, uninitialized. More than one shard makes it distributed over a mesh of `meshShape`.
  /// With a partition it has only the shards of this rank.
  static Tensor onHost(TensorSpec spec, std::vector<uint32_t> meshShape = {},
                       std::shared_ptr<const sim::Partition> partition = nullptr);
  /// Creates a tensor on the host over memory of the caller that must outlive it (nullptr is refused).
  static Tensor borrow(TensorSpec spec, std::span<std::byte *const> shards, std::vector<uint32_t> meshShape = {});
  /// Creates a tensor on the host over shards with owners.
  static Tensor fromShards(TensorSpec spec, Shards shards, std::vector<uint32_t> meshShape = {});
  /// Creates a tensor on a device, with its memory. Shards of chips that belong to other ranks are released.
  static Tensor onDevice(TensorSpec spec, Shards shards, std::shared_ptr<sim::MeshDevice> device,
                         sim::Allocation allocation);
  /// The same by a description that is there: on `device` with its memory, or on the host. Takes recycled memory only.
  static Tensor fromShards(std::shared_ptr<const Description> description, Shards shards,
                           std::shared_ptr<sim::MeshDevice> device = nullptr, sim::Allocation allocation = {});
  /// Creates an uninitialized tensor on a device. Throws OutOfMemoryError.
  static Tensor onDevice(TensorSpec spec, std::shared_ptr<sim::MeshDevice> device, const std::string &label);

  explicit operator bool() const { return storage != nullptr; }
  const std::shared_ptr<const Description> &description() const { return get().description; }
  const TensorSpec &spec() const { return get().description->spec; }
  const Shape &shape() const { return spec().shape; }
  DataType dtype() const { return spec().dtype; }
  Layout layout() const { return spec().layout; }
  const MemoryConfig &memory_config() const { return spec().memory; }
  size_t shards() const { return get().shards.size(); }
  /// Returns the mesh that the shards belong to; empty for a tensor that is not distributed.
  const std::vector<uint32_t> &meshShape() const { return get().description->meshShape; }
  const std::shared_ptr<sim::MeshDevice> &device() const { return get().device; }
  bool isOnDevice() const { return get().device != nullptr; }
  /// Address in every bank; 0 on the host.
  int64_t address() const { return get().allocation.address(); }
  uint64_t id() const { return get().id; }
  const Contents &contents() const { return *get().contents; }
  Contents &contents() { return *get().contents; }
  /// Call this after writing through data().
  void markWritten() const {
    get().contents->version.fetch_add(1, std::memory_order_relaxed);
    get().contents->constant.store(false, std::memory_order_relaxed);
  }
  /// Call this before giving the address of the values away for writing.
  void markUntracked() const { get().contents->tracked.store(false, std::memory_order_relaxed); }

  /// Whether kernels may be created for exactly these values (weights) as long as they are not written: they are those
  /// of a file, of a creation function, or computed from such. Never so for a distributed tensor.
  bool constant() const {
    const Storage &mine = get();
    return mine.shards.size() == 1 && mine.contents->constant.load(std::memory_order_relaxed) &&
           mine.contents->tracked.load(std::memory_order_relaxed);
  }
  /// Whether its values stay, and come with every run of a program: a program that is given it is prepared for them,
  /// and prepared again for others. Of a distributed tensor as well, for each shard.
  bool parameter() const {
    const Contents &values = contents();
    return values.constant.load(std::memory_order_relaxed) && values.tracked.load(std::memory_order_relaxed) &&
           values.parameter.load(std::memory_order_relaxed);
  }
  void setParameter() const {
    setConstant();
    get().contents->parameter.store(true, std::memory_order_relaxed);
  }
  /// Declares that the values never change. Call this only if no other owner can write them.
  void setConstant() const {
    get().contents->tracked.store(true, std::memory_order_relaxed);
    get().contents->constant.store(true, std::memory_order_relaxed);
  }

  /// False after deallocate(), and when its device was closed or cleared.
  bool isAllocated() const;
  void deallocate() const;
  /// Throws Error or DeviceError that says what was tried when not allocated.
  void requireAllocated(const char *action) const;

  /// Whether this process has the values of a shard: another may simulate its chip.
  bool has(size_t shard) const {
    const Storage &mine = get();
    return !mine.description->partition || mine.description->partition->own().has(shard);
  }
  /// The tensor with all shards, on the host where some were elsewhere: these are fetched, and every rank must call it.
  Tensor gathered(const char *action) const;

  /// Values of a shard, row-major; null for one of another rank.
  std::byte *data(size_t shard = 0) const { return get().shards[shard].get(); }
  std::shared_ptr<std::byte> share(size_t shard = 0) const { return get().shards[shard]; }
  size_t bytes() const { return spec().bytes(); }

  /// Returns one shard as a tensor of its own on the host, which shares the values.
  Tensor shard(size_t index) const;
  /// Returns the value of a tensor that all chips may have, where one is needed: itself, or shard 0. Throws Error that
  /// says what was tried and names the chips whose values differ.
  Tensor single(const char *action) const;
  /// The same tensor described differently: same storage type and number of elements.
  Tensor withSpec(TensorSpec spec) const;
  /// The values from `offset` bytes on, as a tensor of their own that shares them: on a device, with its memory, or on
  /// the host.
  Tensor view(TensorSpec spec, size_t offset, std::shared_ptr<sim::MeshDevice> device = nullptr,
              sim::Allocation allocation = {}) const;

  /// A copy of the values on the host.
  Tensor clone() const;
  /// Before the values are written: gives the tensor values of its own where others (host copies, views) share them.
  void unshare();
  /// Before values that differ between chips are written: gives each chip of the device a value of its own, equal to
  /// the one that stood for all. The tensor keeps its address and id, and copies of the handle see it. Does nothing
  /// where chips have values of their own, or on the host.
  void spread();

  /// Programs that deallocate an input leave a retained one alone.
  bool retained() const { return get().retain; }
  void setRetained(bool retain) { get().retain = retain; }

private:
  struct Storage {
    std::shared_ptr<const Description> description;
    Shards shards;
    std::shared_ptr<sim::MeshDevice> device;
    sim::Allocation allocation;
    bool retain = false;
    bool gone = false;
    uint64_t id = 0;
    std::shared_ptr<Contents> contents;
  };
  static Tensor make(std::shared_ptr<const Description> description, Shards shards, std::shared_ptr<Contents> contents);
  Storage &get() const {
    if (!storage)
      throw Error("the tensor is empty");
    return *storage;
  }
  std::shared_ptr<Storage> storage;
};

/// A list of results.
using Tensors = std::vector<Tensor, Recycling<Tensor>>;

} // namespace tt::ttnn
