//===- watch.h - changes of the buffers of TTMetal programs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/types.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tt::metal {

/// A command has changed values of a device buffer, on the first chip.
struct BufferChange {
  std::string program, command, loc;
  uint32_t number = 0; // of the command
  uint32_t buffer = 0; // its id
  DataType dtype = DataType::Float32;
  int64_t rows = 0, columns = 0; // with the padding of shards and tiles
  int64_t changed = 0;           // elements
  std::vector<double> values;    // row by row
};

/// Calls an observer after each command that changes one of these buffers from now on, in the thread that runs the
/// program. Exceptions of the observer end the run. An empty function ends it.
void watchBuffers(std::set<uint32_t> ids, std::function<void(const BufferChange &)> observer);

} // namespace tt::metal
