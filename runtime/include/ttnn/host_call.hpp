//===- host_call.hpp - functions of the host of emitted programs -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the chip lacks, a program computes by machine code of its own, in a
// library next to its constants. A flatbuffer with such code asks for permission
// first; this is called by a program that could do by itself what the library
// can.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ttnn/types.hpp"

#include <array>
#include <string>
#include <vector>

namespace tt::ttnn {

/// What a function of the host gives: on a device, or in the host's memory. On a mesh, of each chip.
struct HostResult {
  std::vector<int64_t> shape;
  DataType dtype = DataType::Float32;
  Layout layout = Layout::Tile;
  MemoryConfig memory_config = DRAM_MEMORY_CONFIG;
};

namespace detail {
std::vector<Tensor> hostCall(const std::string &library, const std::string &function,
                             const std::vector<Tensor> &tensors, const std::vector<HostResult> &results,
                             const Device &device);
/// Throws Error when there are not `count` results.
void checkHostResults(size_t count, size_t given);
} // namespace detail

/// Calls a function of a library that a compiled program brought along, once for each chip that has values of its own.
/// `device`: where results lie, if no tensor says it. Throws Error for a file that is no such library, and OpError for
/// a function that it does not have, or tensors of other sizes.
inline Tensor host_call(const std::string &library, const std::string &function, const std::vector<Tensor> &tensors,
                        const std::vector<HostResult> &results, const Device &device = {}) {
  detail::checkHostResults(1, results.size());
  return detail::hostCall(library, function, tensors, results, device).front();
}
template <size_t count>
std::array<Tensor, count> host_call(const std::string &library, const std::string &function,
                                    const std::vector<Tensor> &tensors, const std::vector<HostResult> &results,
                                    const Device &device = {}) {
  detail::checkHostResults(count, results.size());
  std::vector<Tensor> made = detail::hostCall(library, function, tensors, results, device);
  std::array<Tensor, count> all;
  std::move(made.begin(), made.end(), all.begin());
  return all;
}

} // namespace tt::ttnn
