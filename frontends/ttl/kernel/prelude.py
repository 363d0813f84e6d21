# SPDX-License-Identifier: Apache-2.0
"""C++ in front of every kernel: Python's division, and checks whose errors have the numbers."""

_COMMON = """\
#include <cstdint>
#include <cstdio>
namespace ttl {
[[maybe_unused]] inline int64_t floordiv(int64_t a, int64_t b, uint32_t line = __builtin_LINE()) {
  if (b == 0)
    tt::metal::failAssert("integer division by zero", line);
  if (b == -1)
    return int64_t(-uint64_t(a));
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}
[[maybe_unused]] inline int64_t mod(int64_t a, int64_t b, uint32_t line = __builtin_LINE()) {
  return b == -1 ? 0 : a - floordiv(a, b, line) * b;
}
[[maybe_unused]] inline int64_t minimum(int64_t a, int64_t b) { return b < a ? b : a; }
[[maybe_unused]] inline int64_t maximum(int64_t a, int64_t b) { return b > a ? b : a; }
[[maybe_unused]] inline int64_t absolute(int64_t a) { return a < 0 ? int64_t(-uint64_t(a)) : a; }
[[maybe_unused]] inline int64_t step(int64_t a, uint32_t line = __builtin_LINE()) {
  if (a == 0)
    tt::metal::failAssert("range: the step is 0", line);
  return a;
}
[[maybe_unused]] inline void extent(const char *what, int dimension, int64_t begin, int64_t end, int64_t size,
                                    uint32_t line = __builtin_LINE()) {
  if (0 <= begin && begin <= end && end <= size)
    return;
  char text[256];
  std::snprintf(text, sizeof text, "%s %lld to %lld of dimension %d, which has %lld", what, (long long)begin,
                (long long)end, dimension, (long long)size);
  tt::metal::failAssert(text, line);
}
[[maybe_unused]] inline void count(const char *what, int64_t found, int64_t expected,
                                   uint32_t line = __builtin_LINE()) {
  if (found == expected)
    return;
  char text[256];
  std::snprintf(text, sizeof text, "a copy between %s: the part has %lld tiles or elements, and a block %lld", what,
                (long long)found, (long long)expected);
  tt::metal::failAssert(text, line);
}
} // namespace ttl
"""
MOVEMENT = f'#include "dataflow_api.h"\n{_COMMON}'
COMPUTE = f"""\
#include "compute_kernel_api.h"
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/matmul.h"
#include "compute_kernel_api/reduce.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "compute_kernel_api/transpose_wh.h"
{_COMMON}"""
