//===- ttnn.hpp - the simulated TTNN library for C++ programs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//   #include <ttnn/ttnn.hpp>
//
//   int main() {
//     ttnn::Device device = ttnn::open_device();
//     ttnn::Tensor x = ttnn::full({32, 32}, 2, ttnn::DataType::BFLOAT16, ttnn::Layout::TILE, device);
//     ttnn::Tensor y = ttnn::softmax(ttnn::matmul(x, x) + 1.0, /*dim=*/-1);
//     std::vector<float> values = ttnn::to_vector(y);
//     ttnn::close_device(device);
//   }
//
// There is one function per op (ttnn/operations.hpp), with the names and the
// order of parameters that programs for TTNN use; `ttnn` is `tt::ttnn`. All
// throw the errors of tt/types.h, and all are safe for threads.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ttnn/device.hpp"
#include "ttnn/operations.hpp"

namespace tt::ttnn {

inline ShardSpec::ShardSpec(const CoreRangeSet &cores, std::array<int64_t, 2> shape) : shape(shape) {
  if (cores.core_ranges.size() != 1 || cores.core_ranges[0].start_coord.x != 0 ||
      cores.core_ranges[0].start_coord.y != 0)
    throw Error("a shard spec of " + std::to_string(cores.core_ranges.size()) +
                " core ranges; expected one that begins at core (0, 0)");
  grid = {cores.core_ranges[0].end_coord.y + 1, cores.core_ranges[0].end_coord.x + 1};
}

//===- Operators ------------------------------------------------------------===//

// clang-format off: it does not settle on a layout of this list
#define TTNN_OPERATORS(X)                                                                                              \
  X(+, add) X(-, subtract) X(*, multiply) X(/, divide) X(<, lt) X(>, gt) X(<=, le) X(>=, ge) X(==, eq) X(!=, ne)
// clang-format on
#define TTNN_OPERATOR(symbol, function)                                                                                \
  inline Tensor operator symbol(const Tensor &a, const Tensor &b) { return function(a, b); }                           \
  inline Tensor operator symbol(const Tensor &a, double b) { return function(a, scalar(b, a)); }                       \
  inline Tensor operator symbol(double a, const Tensor &b) { return function(scalar(a, b), b); }
TTNN_OPERATORS(TTNN_OPERATOR)
#undef TTNN_OPERATOR
#undef TTNN_OPERATORS
inline Tensor operator-(const Tensor &a) { return neg(a); }

} // namespace tt::ttnn

namespace ttnn = tt::ttnn;
