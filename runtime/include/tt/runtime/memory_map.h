//===- memory_map.h - where the buffers of a program lie --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/runtime/binary.h"
#include "tt/sim/device.h"

namespace tt::runtime {

/// A buffer of a program, or the circular buffers of an op, in the memory of each chip.
struct BufferLife {
  uint32_t begin = 0, end = 0; // ops during which it is allocated; `end` is excluded
  sim::Memory memory = sim::Memory::DRAM;
  int64_t address = 0, bytesPerBank = 0; // in every bank that it touches
  bool circular = false;
  std::vector<uint32_t> values; // that lie in it: one, and those that are views of it
  std::string label;
};

/// Returns the buffers of a program in order of allocation, in the memories of a device that holds nothing else.
/// Nothing is run. Throws Error for a program that is not there, that has stages, or of a TTMetal file,
/// OutOfMemoryError where it does not fit.
std::vector<BufferLife> memoryMap(const Binary &binary, size_t program, const sim::MeshOptions &options);

} // namespace tt::runtime
