//===- tensors.h - kernels written by hand, on tensors of ttnn --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/metal/host.h"
#include "tt/ttnn/tensor.h"

namespace tt::metal {

/// How kernels find a tensor: as pages in the banks of its memory by turns, or those of shards in the L1 of cores.
struct Pages {
  uint32_t bytes = 0; // of a page
  // Of shards; sizes are in pages.
  std::vector<CoreCoord> cores = {};
  uint32_t columns = 1, shardRows = 1, shardColumns = 1;
};
/// A page is a tile, or a row of the tensor or of a shard. Throws Error for cores that no chip has.
Pages pagesOf(const TensorSpec &spec);

/// A tensor on a device with its pages.
struct PagedTensor {
  explicit PagedTensor(ttnn::Tensor tensor) : tensor(std::move(tensor)), pages(pagesOf(this->tensor.spec())) {}
  ttnn::Tensor tensor;
  Pages pages;
};

/// Values, row-major, that kernels find at an address; those of `written` are read back.
struct PagedValues {
  const TensorSpec *spec;
  Pages pages;
  uint64_t address;
  std::byte *values;
  bool written;
};

/// Circular buffers that lie in the same bytes, from `address` on: the first one's, or behind the groups before.
using CircularGroup = std::vector<HostCircularBuffer>;

/// Adds the circular buffers of groups to a program, one group behind the other from the start of L1. tensors: memories
/// and addresses. Returns the bytes that they take of each core. Throws Error where they reach a tensor, or the end.
int64_t addCircularBuffers(HostProgram &program, const std::vector<CircularGroup> &groups, const sim::ChipDesc &chip,
                           const std::vector<std::pair<BufferType, uint64_t>> &tensors);

/// Runs a program on each of some chips of the tensors' device: kernels find the tensors at their addresses, and what
/// they write is in the tensors afterwards. A tensor with one value for all chips gets one for each where kernels write
/// it on some of them, or together with tensors that differ between chips. The program's own buffers are those of the
/// groups. Throws Error: a tensor on the host or on another device, circular
/// buffers that reach one in L1, and what Machine::run throws.
KernelReport runOnTensors(const std::vector<PagedTensor> &tensors, HostProgram program,
                          const std::vector<CircularGroup> &groups, const std::vector<uint32_t> &chips);

/// Runs a program that has its circular buffers on values, on the chip of `machine`. Throws Error also where kernels
/// write what is not `written`.
KernelReport runOnValues(Machine &machine, const std::vector<PagedValues> &values, const HostProgram &program,
                         const ProgramKernels &kernels);

} // namespace tt::metal
