//===- host.h - kernels written by hand, on simulated cores -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//   tt::metal::Machine machine(tt::sim::chip(tt::Arch::WormholeB0));
//   const auto in = machine.allocate(tt::BufferType::DRAM, 2048, 64);
//   machine.write(in, bytes);
//   tt::metal::HostProgram program;
//   program.buffers.push_back({.port = 0, .dtype = tt::DataType::BFloat16, .pageBytes = 2048, .pages = 2, …});
//   program.kernels.push_back({.name = "reader", .source = …, .cores = {{0, 0}}, …});
//   machine.run(program);
//
// Kernels are C++ text over the kernel API (tt/metal/kernel_api.h). They are
// compiled by the system's compiler and run as native code of the process: they
// are the caller's own code, and it vouches for them. docs/kernels.md.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/metal/activity.h"
#include "tt/sim/chip.h"
#include "tt/sim/clock.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tt::metal {

/// Returns all cores of a rectangle, row by row; both corners belong to it. Throws Error for numbers of 1024 and more.
std::vector<CoreCoord> coreRange(CoreCoord first, CoreCoord last);

/// Pages in the banks of a memory in turn, at the same address of each.
struct InterleavedBuffer {
  BufferType memory = BufferType::DRAM;
  uint64_t address = 0;
  uint32_t pageBytes = 0, pages = 0;
  /// Returns the compile-time arguments of a kernel's TensorAccessorArgs.
  std::vector<uint32_t> accessorArgs() const { return {memory == BufferType::DRAM ? 2u : 0u, pageBytes}; }
};

struct HostCircularBuffer {
  uint32_t port = 0;
  DataType dtype = DataType::BFloat16;
  uint32_t pageBytes = 0, pages = 0;
  std::vector<CoreCoord> cores;
  std::optional<uint32_t> address = {}; // in L1; by default behind the circular buffers before it
};

struct HostSemaphore {
  uint32_t id = 0, value = 0; // when the program begins
  std::vector<CoreCoord> cores;
};

struct HostKernel {
  std::string name;   // for messages
  std::string source; // C++ text
  std::vector<CoreCoord> cores;
  bool compute = false;
  uint32_t noc = 0;                          // of a data movement kernel
  bool fp32DestAcc = false, dstFull = false; // of a compute kernel
  uint32_t fidelityPhases = 4;               // 1 to 4: LoFi to HiFi4
  bool mathApprox = false;                   // functions of the vector unit
  bool bfp8PackPrecise = false;              // block formats are rounded once
  std::vector<uint32_t> unpackToDestFp32;    // circular buffers whose f32 goes to 32-bit registers as it is
  std::vector<uint32_t> compileTimeArgs;
  std::map<std::string, std::string> defines;
  std::vector<uint32_t> commonArgs;
  std::map<CoreCoord, std::vector<uint32_t>> args; // of cores that have some
};

struct HostProgram {
  std::string name = "program"; // for messages
  std::vector<HostCircularBuffer> buffers;
  std::vector<HostSemaphore> semaphores;
  std::vector<HostKernel> kernels;
  bool exact = false; // computes as the chip does (docs/numerics.md)
};

struct KernelReport {
  int64_t cycles = 0; // of the slowest core
  double deviceNs = 0;
  CoreActivity activity;
  sim::Bound bound = sim::Bound::None; // what the slowest kernel mostly does
  int64_t matmulTiles = 0, fpuTiles = 0, sfpuTiles = 0, movedBytes = 0, fabricBytes = 0, fabricHops = 0;
  std::vector<std::string> roundedOnly; // functions that exact arithmetic does not cover and that got floats
  std::string printed;                  // by DPRINT: lines that begin with core and kernel, in the order of cores
};

/// The kernels of a HostProgram that were compiled before it runs.
class ProgramKernels;

/// The DRAM and L1 of one simulated chip, and its cores. Not for several threads at a time.
class Machine {
public:
  /// Throws OutOfMemoryError.
  explicit Machine(const sim::ChipDesc &chip);
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;
  ~Machine();

  const sim::ChipDesc &chip() const;
  /// DRAM or L1. Throws OutOfMemoryError naming what is free.
  InterleavedBuffer allocate(BufferType memory, uint32_t pageBytes, uint32_t pages);
  /// Throws Error for what was not allocated.
  void deallocate(const InterleavedBuffer &buffer);
  /// All pages one behind the other. Throws Error where the size is another, or the buffer is not inside of its memory.
  void write(const InterleavedBuffer &buffer, std::span<const std::byte> bytes);
  void read(const InterleavedBuffer &buffer, std::span<std::byte> bytes) const;
  /// Bytes of a core's L1 and of a bank of DRAM. Throws Error for what is outside.
  std::span<std::byte> l1(CoreCoord core, uint64_t address, uint64_t bytes) const;
  std::span<std::byte> dram(uint32_t bank, uint64_t address, uint64_t bytes) const;

  /// Compiles the kernels, or takes them from the cache, and runs them until all have ended. Throws Error: a kernel
  /// that does not compile, cores and ports that are not there, circular buffers that do not fit below the buffers in
  /// L1, what a kernel does wrong, and a deadlock with what every kernel waits for. `printed` gets what was printed in
  /// any case.
  KernelReport run(const HostProgram &program, std::string *printed = nullptr);
  /// The same with kernels that are compiled.
  KernelReport run(const HostProgram &program, const ProgramKernels &kernels);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// A row-major matrix as tiles of 32x32, row by row of tiles; dimensions are multiples of 32. Values are rounded to the
/// type. Throws Error for other dimensions.
std::vector<std::byte> toTiles(std::span<const float> values, uint32_t rows, uint32_t columns, DataType dtype);
std::vector<std::byte> toTiles(std::span<const int32_t> values, uint32_t rows, uint32_t columns, DataType dtype);
/// The reverse, as floats or integers.
std::vector<float> floatsFromTiles(std::span<const std::byte> tiles, uint32_t rows, uint32_t columns, DataType dtype);
std::vector<int32_t> integersFromTiles(std::span<const std::byte> tiles, uint32_t rows, uint32_t columns,
                                       DataType dtype);

} // namespace tt::metal
