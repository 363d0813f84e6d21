//===- core.h - a simulated core --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The view of a core that the kernels of one program have: its L1, its circular buffers, its registers. All addresses
// and numbers from kernels are checked; an invalid one is an Error that names kernel, core and function.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "binary/metal/program.h"
#include "kernels/exact/exact.h"
#include "metal/fiber.h"
#include "metal/kernel_clock.h"
#include "tt/interrupt.h"
#include "tt/metal/host.h"
#include "tt/metal/kernel_abi.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <set>

namespace tt::metal {

/// The L1 of all cores of a chip, in order. Untouched pages take no memory.
class L1 {
public:
  /// Throws OutOfMemoryError.
  explicit L1(const sim::ChipDesc &chip) : L1(chip, false) {}
  /// Allocates the memory. With `pointers`, it is below 2^31: the addresses that kernels get are pointers, as on the
  /// chip, through which they may read and write.
  L1(const sim::ChipDesc &chip, bool pointers);
  /// Memory of one core, which takes the place of that of every core, one after the other.
  static std::unique_ptr<L1> ofOneCore(const sim::ChipDesc &chip);
  L1(const L1 &) = delete;
  L1 &operator=(const L1 &) = delete;
  ~L1();
  std::byte *at(CoreIndex core, uint32_t address) const { return memory + core * stride + address; }
  const sim::ChipDesc &chip;
  bool hasPointers() const { return window != 0; }
  /// Returns the pointer that a kernel of the core gets for an address.
  uint32_t pointer(CoreIndex core, uint32_t address) const {
    return window ? window + static_cast<uint32_t>(core * size) + address : address;
  }
  /// The address that a kernel means: for a pointer, that in its core's L1.
  uint64_t plain(uint64_t address) const {
    return window && address >= window && address - window < size * static_cast<size_t>(chip.cores())
               ? (address - window) % size
               : address;
  }

private:
  L1(const sim::ChipDesc &chip, bool pointers, bool oneCore);
  const size_t size;           // of one core
  const size_t stride, mapped; // from one core to the next; of all
  std::byte *memory;
  uint32_t window = 0; // where it begins, below 2^31
};

/// The banks of a chip's DRAM. Untouched pages take no memory.
class Dram {
public:
  /// Throws OutOfMemoryError.
  explicit Dram(const sim::ChipDesc &chip);
  Dram(const Dram &) = delete;
  Dram &operator=(const Dram &) = delete;
  ~Dram();
  std::byte *at(uint32_t bank, uint64_t address) const { return memory + bank * size + address; }
  /// Sets the bytes to zero, and frees their pages.
  void clear(uint32_t bank, uint64_t address, uint64_t bytes) const;

private:
  const size_t size, banks;
  std::byte *memory;
};

/// The memories of a chip.
struct ChipMemory {
  const L1 *l1 = nullptr;
  const Dram *dram = nullptr; // or null, of a program without buffers there
};

/// The chips of a mesh, row by row, as one of them sees them.
struct Mesh {
  std::span<const ChipMemory> chips; // none: this one alone
  uint32_t columns = 1, own = 0;
  bool exact = false; // they compute as those of hardware do (docs/numerics.md)
};

class KernelRun;

/// The part of a host buffer's rows that a shard holds.
struct HostRows {
  std::byte *at = nullptr; // the first row of the part
  size_t stride = 0;       // bytes from a row to the next one
  size_t bytes = 0;        // of a row of the shard that the host has; the others are 0
  size_t shardBytes = 0;   // of a row of the shard
  uint64_t rows = 0;       // of the shard that the host has; the others are 0

  std::byte *row(uint64_t number) const { return at + number * stride; }
  /// Whether the host has all of these rows.
  bool hasAll(uint64_t first, uint64_t count) const { return bytes == shardBytes && first + count <= rows; }
  /// Copies rows to consecutive rows of a shard, or from there.
  void read(uint64_t first, uint64_t count, std::byte *to) const;
  void write(uint64_t first, uint64_t count, const std::byte *from) const;
};

/// When the pages of a ring were pushed, or popped: an entry for each call, so many small pages take no memory.
class PageTimes {
public:
  /// Notes that the pages up to count `end` were there at cycle `now`. Pages before count `past` are not read
  /// again.
  void note(uint64_t end, double now, uint64_t past);
  /// The cycle of a page, by its count; it was noted.
  double of(uint64_t page) const;

private:
  struct Call {
    uint64_t end;
    double now;
  };
  std::vector<Call> calls;
  size_t first = 0; // of the calls that are still needed
};

/// A circular buffer of a core. Counts of pages only increase.
struct Ring {
  uint32_t port = 0;
  DataType dtype = DataType::Float32;
  uint32_t address = 0, pageBytes = 0, pages = 0;
  uint64_t pushed = 0, popped = 0;
  uint32_t reserved = 0;               // behind those that were pushed
  uint32_t waited = 0;                 // of those at the front
  uint32_t packed = 0;                 // tiles, since the last push
  const KernelRun *producer = nullptr; // the kernel that pushes
  PageTimes pushedAt = {}, poppedAt = {};

  /// Where the contents of a page are: in L1, nowhere as they are 0, or in the rows of the host.
  enum class Place : uint8_t { L1, Zero, Host };
  std::vector<Place> places = {};        // by page; none: all are in L1
  std::optional<HostRows> hostRows = {}; // pages consist of rows of the shard
  bool isResult = false;                 // kernels may write to the rows of the host

  // Cores on other threads check whether pages that they write are being read.
  uint64_t pushedNow() const { return std::atomic_ref(const_cast<uint64_t &>(pushed)).load(); }
  uint64_t poppedNow() const { return std::atomic_ref(const_cast<uint64_t &>(popped)).load(); }

  /// Puts the contents of a page in L1.
  void fill(uint64_t page, std::byte *at);
  /// The rows of the host that can stand for these bytes: whole pages, of rows of `rowBytes` bytes. Null: there are
  /// none. `written`: the kernel writes all of them, and else they are there.
  std::byte *hostBytes(uint32_t offset, uint64_t bytes, size_t rowBytes, bool written);
  /// Ends the use of places other than L1: results go to the host, and pages that are 0 to L1.
  void settle(const L1 &l1, CoreIndex index);

  uint32_t front() const { return static_cast<uint32_t>(pushed - popped); }
  uint32_t back() const { return pages - front(); }
};

/// Tiles of the registers that are computed on; elements are in the order of L1, face by face.
class Dst {
public:
  struct Tile {
    DataType dtype = DataType::Float32; // an integer type, or f32 for all floats
    bool written = false;
    union {
      float f[tileElements];
      int32_t i[tileElements]; // bits of a 32-bit integer
    };
    Tile() {} // elements are there once they are written
    /// The elements as floats in a circular buffer, until they are copied or written; or null.
    const float *view = nullptr;
    const float *floats() const { return view ? view : f; }
  };
  enum class Phase : uint8_t { Free, Math, Committed, Pack };

  Dst(bool f32, bool full);
  Dst(const Dst &) = delete;
  Dst &operator=(const Dst &) = delete;
  ~Dst();
  void clear();
  /// Copies what registers have left in circular buffers.
  void copyViews();
  const bool isF32;
  Phase phase = Phase::Free;

private:
  static constexpr size_t most = 16;
  std::unique_ptr<Tile[]> memory; // of `most` tiles, which the thread keeps for its next kernel

public:
  const std::span<Tile> tiles;
};

/// Words that cores on other threads write: all accesses are atomic, and a change becomes visible after earlier writes.
uint32_t loadSemaphore(const std::byte *at);

/// Semaphores are below the buffers; `maxSemaphores` of `semaphoreBytes` each.
inline constexpr uint32_t maxSemaphores = 16, semaphoreBytes = 16;

class Core;

enum class TransferKind : uint8_t { Read, Write, Multicast };

/// Records the steps of a kernel, for CoreActivity.
struct Recording {
  static constexpr size_t mostZones = 1024;
  StepLog log;
  std::map<std::pair<uint64_t, TransferKind>, int64_t> flows; // bytes, by the place in a NOC address
  std::vector<KernelZone> zones;
  std::vector<size_t> open; // of these, or what is behind the last one
};

/// A kernel on a core. Functions are those of the kernel API; see kernel_api.h.
class KernelRun {
public:
  KernelRun(Core &core, const Kernel &kernel, std::span<const uint32_t> arguments, void (*entry)(), bool recorded);

  [[noreturn]] void fail(std::string_view function, const std::string &what) const;
  uint32_t argument(uint32_t index) const;
  uint32_t commonArgument(uint32_t index) const;

  // ring.cpp
  void waitFront(uint32_t cb, uint32_t pages);
  void popFront(uint32_t cb, uint32_t pages);
  void reserveBack(uint32_t cb, uint32_t pages);
  void pushBack(uint32_t cb, uint32_t pages);
  Ring &ring(uint32_t cb, std::string_view function) const;
  /// Checks the arguments of functions of compute kernels that only prepare.
  void checkRing(uint32_t cb, std::string_view function) const {
    requireCompute(function);
    ring(cb, function);
  }
  void nocRead(uint64_t from, uint32_t to, uint32_t bytes);
  void nocWrite(uint32_t from, uint64_t to, uint32_t bytes);

  // noc.cpp
  void nocMulticast(uint32_t from, uint64_t to, uint32_t bytes, uint32_t receivers, bool own);
  void nocWriteWord(uint64_t to, uint32_t value);
  uint32_t loadWord(uint32_t address) const;
  void fabricWrite(uint32_t device, uint64_t to, uint32_t from, uint32_t bytes);
  /// Banks of DRAM, or of the cores' L1.
  uint32_t bankCount(bool dram) const;
  uint32_t bankAlignment(bool dram) const;
  uint64_t bankAddress(bool dram, uint32_t bank, uint64_t address) const;
  uint32_t semaphoreAddress(uint32_t id) const;
  void semaphoreIncrease(uint64_t to, uint32_t value);
  void semaphoreSet(uint32_t address, uint32_t value);
  void semaphoreMulticast(uint32_t from, uint64_t to, uint32_t receivers, bool own);
  void semaphoreWait(uint32_t address, uint32_t value, bool orMore);

  // registers.cpp
  void requireCompute(std::string_view function) const;
  void acquire();
  void commit();
  void wait();
  void release();
  void copyTile(uint32_t cb, uint32_t tile, uint32_t dst);
  void packTile(uint32_t dst, uint32_t cb, bool outOfOrder, uint32_t tile);
  void tilizeBlock(uint32_t in, uint32_t tiles, uint32_t out);
  void untilizeBlock(uint32_t in, uint32_t first, uint32_t tiles, uint32_t out);

  // compute.cpp
  void tileOp(TileOp op, const uint32_t *dsts);
  void rowOp(std::string_view row, uint32_t dst, std::span<const uint32_t> numbers, std::string_view function);
  void typecastTile(uint32_t dst, uint32_t dataType);
  void checkPositions(uint32_t least, uint32_t greatest, uint32_t size, std::string_view op);
  void fillTile(uint32_t dst, float value);
  void fpuTiles(FpuOp op, uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst) {
    fpuBroadcast(op, Along::None, cb0, cb1, tile0, tile1, dst);
  }
  void fpuBroadcast(FpuOp op, Along along, uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst);
  void fpuReuse(FpuOp op, bool first, uint32_t cb, uint32_t tile, uint32_t dst);
  void scalarOp(std::string_view row, bool first, uint32_t dst, uint32_t bits, bool integer, std::string_view function);
  void copyDst(uint32_t from, uint32_t to);

  // matrix.cpp
  void matmulTiles(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst, bool transpose);
  struct Block {
    uint32_t cb0, cb1, tile0, tile1, dst;
    bool transpose;
    uint32_t ct, rt, rowStride, stepStride, steps;
    std::string_view function = "matmul_block"; // for messages
  };
  void matmulBlock(const Block &block);
  /// Multiplies on the matrix unit of the host, unless it lacks one or the operands are of other types.
  bool multiplyOnHost(const Block &block);
  void packAccumulate(bool enable);
  void reduceTile(ReducePool pool, Along along, uint32_t cb, uint32_t scaler, uint32_t tile, uint32_t scalerTile,
                  uint32_t dst);
  void transposeTile(uint32_t cb, uint32_t tile, uint32_t dst);
  void broadcastTile(Along along, uint32_t cb, uint32_t tile, uint32_t dst);

  // activity.cpp
  void beginZone(std::string_view name);
  void endZone();

  // print.cpp
  void print(std::string_view text);
  void printTile(uint32_t cb, uint32_t tile, TileSlice slice);

  Core &core;
  const Kernel &kernel;
  const std::span<const uint32_t> arguments; // of this core
  Fiber fiber;
  Work work;
  KernelClock clock;
  std::unique_ptr<Recording> recording;   // or null
  uint32_t line = 0;                      // of the kernel's source, in a function of the API that knows it
  std::string printed;                    // lines of DPRINT
  std::set<std::string_view> roundedOnly; // see ProgramWork

  /// The condition that a suspended kernel waits for.
  struct Wait {
    const Ring *ring = nullptr;
    bool front = false;
    uint32_t pages = 0;
    const std::byte *semaphore = nullptr; // or this one, for a value
    uint32_t id = 0, value = 0;
    bool orMore = false;
    uint32_t address = 0; // of a semaphore that is no one of the program's

    bool isThere() const { return ring || semaphore; }
    bool over() const {
      if (ring)
        return (front ? ring->front() : ring->back()) >= pages;
      const uint32_t found = loadSemaphore(semaphore);
      return orMore ? found >= value : found == value;
    }
  } waiting;
  bool cancelled = false; // it is resumed only to end
  bool paused = false;    // it can go on when all others have
  uint32_t pauses = 0;    // since it has last changed what others see

  void pause();
  bool canRun() const { return !fiber.ended() && !paused && (!waiting.isThere() || waiting.over()); }

private:
  void waitFor(Wait what);
  /// Counts the work of math, before another kernel is notified.
  void settleClock();
  /// Counts a transfer to or from a core, or a bank of DRAM.
  void countTransfer(uint64_t address, uint32_t bytes, TransferKind kind = TransferKind::Write);
  /// A semaphore of a core is changed now.
  void stampSemaphore(CoreIndex index, uint64_t address);
  void reorder(uint32_t in, uint32_t first, uint32_t tiles, uint32_t out, bool tilize, std::string_view function);
  void reorderBlocks(uint32_t in, uint32_t first, uint32_t tiles, uint32_t out, bool tilize, std::string_view function);
  Dst::Tile &mathTile(uint32_t dst, std::string_view function);
  /// Likewise, to be read by floats() or written as a whole: nothing is copied or set to zero.
  Dst::Tile &rawTile(uint32_t dst, std::string_view function) const;
  /// `bytes` bytes of a ring from this offset on. Fills the pages, but for what is to be written.
  std::byte *ringBytes(Ring &ring, uint32_t offset, uint64_t bytes, bool written) const;
  const std::byte *frontTile(uint32_t cb, uint32_t tile, std::string_view function) const;
  /// written: all of the tile is, and nothing of it is read before.
  std::byte *backTile(uint32_t cb, uint32_t page, std::string_view function, bool written) const;
  /// Rows of elements in L1 or in a host buffer.
  struct ElementRows {
    std::byte *at;
    size_t stride; // bytes
    std::byte *row(size_t number) const { return at + number * stride; }
  };
  /// Contiguous bytes, at the front or after the packed tiles: of all these rows, or with rowBytes 0 of tiles.
  ElementRows frontRows(uint32_t cb, uint64_t bytes, size_t rowBytes, std::string_view function) const;
  ElementRows backRows(uint32_t cb, uint64_t bytes, size_t rowBytes, std::string_view function);
  std::byte *coreBytes(CoreIndex index, uint64_t address, uint32_t bytes, std::string_view function) const;
  std::byte *coreBytes(const L1 &l1, CoreIndex index, uint64_t address, uint32_t bytes,
                       std::string_view function) const;
  /// Bytes at a NOC address of a chip.
  std::byte *nocBytes(const ChipMemory &chip, uint64_t address, uint32_t bytes, std::string_view function) const;
  std::byte *nocBytes(uint64_t address, uint32_t bytes, std::string_view function) const;
  /// The cores of a rectangle, whose number must be the kernel's, with or without this one.
  std::vector<CoreIndex> receivers(uint64_t address, uint32_t count, bool own, std::string_view function) const;
  std::byte *semaphoreAt(CoreIndex index, uint64_t address, std::string_view function) const;
  std::byte *dramBytes(const Dram *dram, uint64_t address, uint32_t bytes, std::string_view function) const;
  /// Checks that the kernel may reach memory outside of its core.
  void requireOthers(std::string_view function) const;
  CoreIndex coreAt(uint64_t x, uint64_t y, std::string_view function) const;
  /// Checks that data for which other kernels wait, or which they read, is not overwritten.
  void checkUnread(CoreIndex index, uint64_t address, uint32_t bytes, std::string_view function) const;
  void checkUnread(uint64_t to, uint32_t bytes, std::string_view function) const;
  /// A tile as the matrix unit receives it, before registers round.
  void loadOperand(uint32_t cb, uint32_t tile, Along along, Dst::Tile &to, std::string_view function) const;
  void compute(FpuOp op, const Dst::Tile &a, const Dst::Tile &b, Dst::Tile &out);
  /// A tile of a circular buffer as it is unpacked to a register.
  void load(uint32_t cb, uint32_t tile, Dst::Tile &to, std::string_view function) const;
  /// A tile of floats as the matrix unit gets it, row by row.
  void loadRows(uint32_t cb, uint32_t tile, float *to, std::string_view function) const;
  /// Floats of a circular buffer, in a register before anything is computed.
  void unpackToDst(const Ring &from, float *values, size_t n) const;
  /// Rounds written floats to the registers' precision.
  void settle(Dst::Tile &tile) const;
  void storeTile(const Dst::Tile &tile, DataType dtype, std::byte *to) const;
  /// Adds a tile to floats of L1.
  void accumulate(const Dst::Tile &tile, Ring &to, std::byte *at, uint32_t cb) const;

  // Exact arithmetic. The first two return whether it covers the operands.
  bool computeExactly(std::string_view row, std::span<const Dst::Tile *const> ins, Dst::Tile &out) const;
  bool typecastExactly(Dst::Tile &tile, DataType to) const;
  void noteRounded(std::string_view function, std::span<const Dst::Tile *const> ins);
  void reduceExactly(ReducePool pool, Along along, const float *in, DataType source, float scale, Dst::Tile &out) const;
  /// Adds to row-major tiles of the destination: rt rows of ct of them.
  void multiplyExactly(const Block &block, float *sums) const;

  std::unique_ptr<Dst> dst;
  const bool exact;
  const ttnn::exact::Compute config;
  bool accumulates = false; // the packer, to what L1 holds
};

struct CoreWork;

/// A core with the kernels of a program.
class Core {
public:
  Core(const L1 &l1, CoreIndex index, std::string_view program, bool exact)
      : l1(l1), index(index), program(program), exact(exact) {}

  void add(const CircularBuffer &ring);
  /// A kernel of the core at this place among the kernel's cores.
  void add(const Kernel &kernel, size_t place, void (*entry)(), bool recorded);
  /// Runs its kernels until none can continue.
  void run();
  bool canRun() const;
  bool ended() const;
  /// Whether all kernels are paused for so long that they will not end; they continue then.
  bool isPaused() const;
  bool isStuck() const;
  void endPauses();
  /// Ends the kernels that wait.
  void cancel();
  /// Returns the error of the first kernel, in order, that has thrown.
  std::exception_ptr error() const;
  /// Returns what its kernels wait for, a line each.
  std::string waiting() const;
  /// Returns what its kernels did, which have gone as far as they can.
  CoreWork work();
  std::string name() const { return coreText(l1.chip, index); }

  const L1 &l1;
  const CoreIndex index;
  const std::string_view program;
  const bool exact;
  bool alone = false;         // other cores may be in other programs
  const Dram *dram = nullptr; // where kernels may use it
  Mesh mesh;
  const Interruptible *interruptible = nullptr; // of the thread that runs the program
  std::span<Core *const> all;                   // of the chip, by index; null where no kernel runs
  std::array<std::unique_ptr<Ring>, maxPorts> rings;
  std::array<SemaphoreTime, maxSemaphores> semaphoreTimes;
  std::vector<std::unique_ptr<KernelRun>> kernels;
};

/// The place of a core among others, or nothing.
std::optional<size_t> placeIn(const Cores &cores, CoreIndex core);

/// The kernel that runs in the calling thread; called by every function of the kernel API. Throws Interrupted.
KernelRun &currentKernel();
/// Lets the other kernels run; does nothing outside of a kernel, or while one unwinds.
void pauseKernel();
/// Ends the innermost zone of the kernel that runs in the calling thread; never throws, as destructors call it.
void endKernelZone() noexcept;

/// The work of the kernels of a core.
struct CoreWork {
  Work total;
  double cycles = 0, computing = 0, moving = 0; // of the kernel with the most of each
  std::set<std::string_view> roundedOnly = {};  // functions that exact arithmetic does not cover and that got floats
  std::string printed = {}, waiting = {};       // lines; of kernels that have not ended
  bool ended = true;
  std::exception_ptr error = {}; // of the first kernel, in order, that has thrown
};

/// The work of a program on all cores, of which the busiest counts.
struct ProgramWork {
  Work total;
  int64_t cycles = 0;                                    // of the slowest kernel
  ttmlir::cost::Bound bound = ttmlir::cost::Bound::None; // what that one mostly does
  double waiting = 0; // share of the time in which no kernel is as busy as the busiest one
  CoreActivity activity;
  std::set<std::string> roundedOnly;
};
/// The work of the cores, in order. Throws Error: the error of a kernel or, if none can continue, what each one waits
/// for. `printed`: receives the lines that kernels print, in the order of cores, also if it throws.
ProgramWork joined(std::span<CoreWork> cores, const sim::ChipDesc &chip, std::string_view program,
                   std::string *printed);

/// A ring whose contents are not in L1 when kernels start.
struct StartingRing {
  uint32_t port = 0;
  std::optional<HostRows> rows = {}; // what it holds, in place of zeros; or, with isResult, what gets its contents
  bool isResult = false;             // it is 0; L1 may hold something else when the kernels have ended
};

/// Runs the kernels of one core, of a program whose kernels stay on their cores. Rings that are 0, and no result, are
/// in L1 when the kernels have ended.
CoreWork runAlone(const L1 &l1, CoreIndex index, const EnqueueProgram &program, std::string_view name,
                  const std::function<void (*(uint32_t))()> &entry, const Mesh &mesh,
                  const Interruptible *interruptible, std::span<const StartingRing> starting);

/// Runs a program's kernels on their cores until all have ended. `recorded`: keeps the steps, zones and transfers of
/// the kernels.
ProgramWork runKernels(const L1 &l1, const EnqueueProgram &program, std::string_view name,
                       const std::function<void (*(uint32_t))()> &entry, const Dram *dram = nullptr,
                       std::string *printed = nullptr, const Mesh &mesh = {}, bool recorded = false);
/// Returns what the kernels of the cores did, and takes their recordings.
CoreActivity activityOf(const sim::ChipDesc &chip, std::span<const std::unique_ptr<Core>> cores, bool recorded);

} // namespace tt::metal
