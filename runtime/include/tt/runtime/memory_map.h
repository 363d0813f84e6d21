//===- memory_map.h - where the buffers of a program lie --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/runtime/binary.h"
#include "tt/sim/device.h"

namespace tt::runtime {

/// A buffer of a program, or the circular buffers of an op, in the memory of every chip of the mesh.
struct BufferLife {
  uint32_t begin = 0, end = 0; // it is allocated during ops [begin, end)
  sim::Memory memory = sim::Memory::DRAM;
  int64_t address = 0, bytesPerBank = 0; // in every bank that it touches
  bool circular = false;
  std::vector<uint32_t> values; // the value that it holds, and views of that value
  std::string label;
};

/// Returns the buffers of a program in order of allocation, as on an otherwise empty device, without running it. Throws
/// Error if the program does not exist, has stages, or belongs to a TTMetal file, and OutOfMemoryError if it does not
/// fit.
std::vector<BufferLife> memoryMap(const Binary &binary, size_t program, const sim::MeshOptions &options);

} // namespace tt::runtime
