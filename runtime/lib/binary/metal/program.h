//===- program.h - a TTMetal program, checked ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The contents of a .ttm file after all checks: buffers are inside of the L1 of existing cores and do not overlap while
// they live, and kernels name circular buffers that their cores have.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/sim/chip.h"
#include "tt/types.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tt::metal {

inline constexpr uint32_t maxPorts = 32;
inline constexpr int64_t tileSide = 32, tileElements = tileSide * tileSide;

/// A core by its row-major number in the chip's grid of workers.
using CoreIndex = uint32_t;
using Cores = std::vector<CoreIndex>;

/// A ring of pages in the L1 of each of `cores`.
struct RingDesc {
  Cores cores;
  uint32_t pageBytes = 0, pages = 0;
};

struct Buffer {
  uint32_t id = 0;
  DataType dtype = DataType::Float32;
  Shape shape;
  bool onHost = true;
  std::span<const std::byte> constant; // of a host buffer with values

  // On the device: a grid of shards, one per core, in the order of `cores`. In DRAM, shard i is in channel i modulo the
  // channels, after the previous shards there.
  bool inDram = false;
  uint32_t address = 0;
  bool tiled = false;
  int64_t gridRows = 0, gridColumns = 0;
  int64_t shardRows = 0, shardColumns = 0; // elements
  Cores cores;
  uint32_t bytesPerCore = 0; // of the shard or of the ring, whichever is larger; in DRAM, of an aligned shard
  uint64_t bytesPerBank = 0; // of a core's L1, or of a channel of DRAM
  std::optional<RingDesc> ring;

  /// Returns the bytes of a host buffer.
  size_t hostBytes() const { return static_cast<size_t>(volume(shape)) * storageBytes(dtype); }
  /// The tensor as a matrix: all dimensions but the last are rows.
  int64_t rows() const { return shape.size() < 2 ? 1 : volume(Shape(shape.begin(), shape.end() - 1)); }
  int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
};

struct Kernel {
  std::string_view symbol, source;
  Cores cores;
  bool compute = false;
  bool f32Dst = false, fullDst = false; // of a compute kernel
  bool approximate = false;             // its functions of the vector unit
  bool packPrecise = false;             // block formats are rounded once
  uint32_t f32Ports = 0;                // bits: ports whose f32 the unpacker writes to 32-bit registers as it is
  uint32_t noc = 0;                     // of a data movement kernel
  int fidelityPhases = 4;               // passes of the matrix unit
  std::vector<uint32_t> compileTimeArgs, runtimeArgs; // alike on all cores
  std::vector<std::vector<uint32_t>> coreArgs;        // of each of `cores`, or none: as runtimeArgs
  uint32_t entry = 0; // in the library of the binary: kernels that are compiled alike share one
};

struct CircularBuffer {
  uint32_t port = 0;
  DataType dtype = DataType::Float32;
  uint32_t address = 0;
  RingDesc ring;
};

// Numbers are those of buffers of the program.
struct HostAlloc {
  uint32_t buffer;
};
struct CreateBuffer {
  uint32_t buffer;
};
struct DeallocateBuffer {
  uint32_t buffer;
};
struct WriteBuffer {
  uint32_t from, to;
};
struct ReadBuffer {
  uint32_t from, to;
};
/// The value of a semaphore when a program begins, if it is not 0.
struct SemaphoreValue {
  uint32_t id = 0, value = 0;
  Cores cores;
};
struct EnqueueProgram {
  std::vector<uint32_t> buffers;
  std::vector<SemaphoreValue> semaphores;
  std::vector<CircularBuffer> rings;
  std::vector<Kernel> kernels;
};
/// Values of the host that all chips have become those of each chip, or the other way round.
struct MeshShard {
  uint32_t from = 0, to = 0;
  bool joins = false;
  /// The dimension that each axis of the mesh divides, outer axes first; -1: every chip of the axis has the same.
  std::vector<int64_t> dims;
  std::vector<int64_t> mesh; // the sizes of these axes
};
struct Return {
  std::vector<uint32_t> results;
};
struct Finish {};

struct Command {
  std::variant<HostAlloc, CreateBuffer, DeallocateBuffer, WriteBuffer, ReadBuffer, EnqueueProgram, Return, Finish,
               MeshShard>
      what;
  std::string_view loc, debug;
  std::string_view name() const;
};

struct Program {
  std::string_view queueName;
  std::vector<Buffer> buffers;
  std::vector<Command> commands;
  std::vector<uint32_t> inputs, outputs; // buffers; outputs are those of the Return
};

/// "(y=1, x=0)".
std::string coreText(const sim::ChipDesc &chip, CoreIndex core);

} // namespace tt::metal
