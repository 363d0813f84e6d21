//===- device.h - a simulated mesh of chips ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A mesh device is a rectangle of equal chips that a program runs on as one.
// Memory is allocated in lockstep on all of them, as the hardware's library
// does, so there is one allocator per kind of memory. A sub-mesh is a rectangle
// of these chips as a device of its own: what lies on it takes the memory of
// its chips alone, and each of its runs is time of theirs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/fork.h"
#include "tt/sim/allocator.h"
#include "tt/sim/chip.h"
#include "tt/sim/ranks.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace tt::sim {

/// Chips one process may open at once.
inline constexpr uint32_t maxChips = 1024;

struct MeshOptions {
  Arch arch = Arch::WormholeB0;
  uint32_t rows = 1, columns = 1;
  int64_t l1SmallSize = 0;     // bytes per core kept for small buffers
  int64_t traceRegionSize = 0; // bytes of DRAM in total kept for traces
  bool programCache = true;
  bool exact = false;         // arithmetic of the chip, bit for bit (docs/numerics.md)
  bool strict = false;        // calls that Tenstorrent's library refuses are errors
  bool libraryMemory = false; // the memory that Tenstorrent's library leaves to tensors, see libraryChip()
};

/// Returns the options of a board or box by its name, see meshPresets(). Throws DeviceError for an unknown one.
MeshOptions meshOptions(std::string_view preset);

/// The memories that have an allocator.
enum class Memory : uint8_t { DRAM = 0, L1 = 1, L1Small = 2, Trace = 3 };
inline constexpr size_t memoryCount = 4;
std::string_view toString(Memory memory);
/// Throws Error for SystemMemory.
Memory memoryOf(BufferType type);

/// A snapshot of one memory; all figures but `banks` are per bank.
struct MemoryView {
  int64_t banks = 0;
  int64_t total = 0, allocated = 0, free = 0, largestFree = 0, peak = 0;
  std::vector<BankAllocator::Resident> blocks;
  std::vector<Block> freeBlocks;
};

/// The allocators of a mesh. Not safe for threads: MeshDevice::withMemories locks.
class Memories {
public:
  Memories(const ChipDesc &chip, const MeshOptions &options, uint32_t device);

  BankAllocator &operator[](Memory memory) { return banks[static_cast<size_t>(memory)]; }
  const BankAllocator &operator[](Memory memory) const { return banks[static_cast<size_t>(memory)]; }
  int64_t bankCount(Memory memory) const;
  /// Room for a tensor; `label` says what for ("result of ttnn.matmul"). Throws OutOfMemoryError that tells what was
  /// requested it, what is free and what is resident.
  Block allocate(const Footprint &footprint, const Label &label);
  /// Requires `bytes` free bytes above the base of L1, for the circular buffers of `label`, which a card does not
  /// allocate. Throws OutOfMemoryError that names the buffer they reach into.
  void requireCircular(int64_t bytes, const Label &label) const;
  void clear();
  /// Makes the memories of a sub-mesh a part of these, see BankAllocator.
  void attach(Memories &part);
  void detach(Memories &part);
  /// Hashes the state of all memories, see BankAllocator::fingerprint.
  uint64_t fingerprint() const;
  /// Changes when everything was deallocated: blocks from before are not ours any more.
  uint64_t generation() const { return generationNumber.load(std::memory_order_acquire); }

private:
  [[noreturn]] void outOfMemory(const Footprint &footprint, Memory memory, const Label &label) const;
  const ChipDesc &chip;
  uint32_t device;
  std::vector<BankAllocator> banks;
  std::atomic<uint64_t> generationNumber{0}; // written under the lock, read without it
};

class MeshDevice;

/// A buffer in device memory; gives its memory back when it goes.
class Allocation {
public:
  Allocation() = default;
  Allocation(std::weak_ptr<MeshDevice> device, Memory memory, Block block, uint64_t generation)
      : device(std::move(device)), memory(memory), block(block), generation(generation) {}
  Allocation(Allocation &&other) noexcept { *this = std::move(other); }
  Allocation &operator=(Allocation &&other) noexcept;
  ~Allocation() { release(); }

  /// False when released, or the device was closed or its buffers deallocated.
  bool valid() const;
  /// The same, of an allocation on `owner`.
  bool validOn(const MeshDevice &owner) const;
  int64_t address() const { return block.address; }
  int64_t bytesPerBank() const { return block.bytes; }
  void release() noexcept;

private:
  std::weak_ptr<MeshDevice> device;
  Memory memory = Memory::DRAM;
  Block block;
  uint64_t generation = 0;
};

/// The counters of a run, for reports.
struct RunTotals {
  int64_t programs = 0, ops = 0;
  int64_t cycles = 0; // of every chip: they run in step. Where sub-meshes ran, of the chip that ran longest
  double ns = 0;
};

/// Chips of a mesh.
struct Rectangle {
  uint32_t rows = 1, columns = 1;
  uint32_t firstRow = 0, firstColumn = 0;
  bool overlaps(const Rectangle &other) const {
    return firstRow < other.firstRow + other.rows && other.firstRow < firstRow + rows &&
           firstColumn < other.firstColumn + other.columns && other.firstColumn < firstColumn + columns;
  }
  bool operator==(const Rectangle &) const = default;
};
/// "1x2 chips at [0, 2]"
std::string toString(const Rectangle &rectangle);

class MeshDevice : public std::enable_shared_from_this<MeshDevice> {
public:
  /// Throws DeviceError for a mesh of no chips or more than maxChips, or regions larger than the memory. With `ranks`,
  /// which must all open it, the chips are shared out among them; throws DeviceError when they open different meshes.
  static std::shared_ptr<MeshDevice> open(const MeshOptions &options, std::shared_ptr<Ranks> ranks = nullptr);
  ~MeshDevice();
  /// The owner of a sub-mesh: one of a program makes way for a user's, and is closed when its mesh goes.
  enum class Holder : uint8_t { User, Program };
  /// A rectangle of the chips as a device, which keeps this one where it is a user's. Its memory is what is free on its
  /// chips; buffers of this mesh stay where they are, and new ones are placed where all of its sub-meshes have room.
  /// Throws DeviceError where the rectangle leaves the mesh or overlaps with an open sub-mesh, and for a mesh that is
  /// closed, a sub-mesh itself, or shared with other ranks.
  std::shared_ptr<MeshDevice> createSubMesh(const Rectangle &rectangle, Holder holder = Holder::User);
  /// The mesh that this is a part of, or null.
  std::shared_ptr<MeshDevice> parent() const { return whole ? whole->weak_from_this().lock() : nullptr; }
  /// Returns the rectangle of a sub-mesh in its mesh; for other meshes, all of their chips.
  Rectangle place() const { return whole ? placed : Rectangle{rows(), columns()}; }
  /// Returns the open ones, in the order of their making; those of one owner, where one is named.
  std::vector<std::shared_ptr<MeshDevice>> subMeshes(std::optional<Holder> owner = std::nullopt) const;

  MeshDevice(const MeshDevice &) = delete;
  MeshDevice &operator=(const MeshDevice &) = delete;

  /// Frees all memory; tensors that lie on it become unusable. Its sub-meshes are closed with it; of a sub-mesh, the
  /// chips are the mesh's again. Closing twice throws DeviceError.
  void close();
  bool isOpen() const { return opened.load(std::memory_order_acquire); }
  /// Throws DeviceError that says what was tried when the device is closed.
  void requireOpen(const char *action) const;

  uint32_t id() const { return number; }
  const ChipDesc &chip() const { return desc; }
  const MeshOptions &options() const { return settings; }
  uint32_t rows() const { return settings.rows; }
  uint32_t columns() const { return settings.columns; }
  uint32_t devices() const { return settings.rows * settings.columns; }
  std::vector<uint32_t> meshShape() const { return {settings.rows, settings.columns}; }
  /// Returns the chips of each rank; null when this process has all. A mesh of one chip is not divided: every rank has
  /// one of its own, and computes the same.
  const std::shared_ptr<const Partition> &partition() const { return shared; }
  /// Returns the chips that this process simulates.
  Chips chips() const { return shared ? shared->own() : Chips{0, devices()}; }
  /// Changes the shape, not the number of chips (throws DeviceError; also while there are sub-meshes).
  void reshape(uint32_t rows, uint32_t columns);

  /// Calls f(Memories &) with the memories locked. Nothing else may be called on the device meanwhile.
  template <class F> auto withMemories(F &&f) {
    std::lock_guard lock(memoryMutex());
    return f(memories);
  }
  template <class F> auto withMemories(F &&f) const {
    std::lock_guard lock(memoryMutex());
    return f(memories);
  }
  /// Room for a tensor, see Memories::allocate. An empty allocation for a host tensor.
  Allocation allocate(const Footprint &footprint, const Label &label);
  /// Makes an owner of a block taken by withMemories, of the generation it was taken in.
  Allocation adopt(Memory memory, Block block, uint64_t generation) {
    return {weak_from_this(), memory, block, generation};
  }
  void deallocateAll();

  MemoryView memoryView(Memory memory) const;
  /// A table of all memories and what is in them.
  std::string memoryReport() const;
  void resetPeaks();

  RunTotals totals() const;
  void addRun(const RunTotals &run);

  /// Held during a run. Recursive: a hook may use the device it is called from.
  /// Sub-meshes have that of their mesh: on the host, runs on parts of a mesh follow one another.
  ForkAware<std::recursive_mutex> &runMutex() { return whole ? whole->running : running; }
  /// Programs prepared for an older epoch are prepared again.
  uint64_t programCacheEpoch() const { return cacheEpoch.load(std::memory_order_acquire); }
  void clearProgramCache() { cacheEpoch.fetch_add(1, std::memory_order_acq_rel); }

  /// The state that the runtime keeps for the life of the device; its owner guards it.
  std::shared_ptr<void> kept;

private:
  friend class Allocation;
  MeshDevice(const MeshOptions &options, std::shared_ptr<Ranks> ranks, std::shared_ptr<MeshDevice> whole = nullptr,
             const Rectangle &placed = {}, Holder holder = Holder::User);
  /// Returns the mutex of the memories of a mesh and all of its parts.
  ForkAware<std::mutex> &memoryMutex() const { return whole ? whole->mutex : mutex; }
  const uint32_t number;
  const ChipDesc &desc;
  MeshOptions settings;
  MeshDevice *whole; // null when it has gone: it outlives parts of users
  const Rectangle placed;
  const Holder holder;
  const std::shared_ptr<MeshDevice> keepsWhole; // of a user's part
  const std::shared_ptr<const Partition> shared;
  std::atomic<bool> opened{true};
  std::atomic<uint64_t> cacheEpoch{0};
  mutable ForkAware<std::mutex> mutex; // of everything below, and of that of sub-meshes
  Memories memories;
  RunTotals total;
  std::vector<std::weak_ptr<MeshDevice>> parts;
  struct ChipTime {
    int64_t cycles = 0;
    double ns = 0;
  };
  std::vector<ChipTime> inParts; // per chip: what it ran in sub-meshes; empty where there never was one
  ForkAware<std::recursive_mutex> running;
};

} // namespace tt::sim
