//===- tensors.h - kernels written by hand, on tensors of ttnn --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/metal/host.h"
#include "tt/ttnn/tensor.h"

namespace tt::metal {

/// A tensor as kernels find it: pages in the banks of its memory by turns, or those of shards in the L1 of cores.
struct PagedTensor {
  ttnn::Tensor tensor; // on a device
  uint32_t pageBytes = 0;
  // Of shards; sizes are in pages.
  std::vector<CoreCoord> cores = {};
  uint32_t columns = 1, shardRows = 1, shardColumns = 1;
};

/// Circular buffers that lie in the same bytes, from `address` on: the first one's, or behind the groups before.
using CircularGroup = std::vector<HostCircularBuffer>;

/// Runs a program on each of some chips of the tensors' device: kernels find the tensors at their addresses, and what
/// they write is in the tensors afterwards. A tensor with one value for all chips gets one for each where kernels write
/// it on some of them, or together with tensors that differ between chips. The program's own buffers are those of the
/// groups. Throws Error: a tensor on the host or on another device, a page that does not divide a tensor, circular
/// buffers that reach one in L1, and what Machine::run throws.
KernelReport runOnTensors(const std::vector<PagedTensor> &tensors, HostProgram program,
                          const std::vector<CircularGroup> &groups, const std::vector<uint32_t> &chips);

} // namespace tt::metal
