// SPDX-License-Identifier: Apache-2.0
// Reads tiles of one or two interleaved buffers, one after the other, into circular buffers 0 and 1.
#include "dataflow_api.h"

#include <cstdint>

void kernel_main() {
  const uint32_t first = get_arg_val<uint32_t>(0);
  const uint32_t count = get_arg_val<uint32_t>(1);
  constexpr uint32_t inputs = get_compile_time_arg_val(0);
  constexpr auto args0 = TensorAccessorArgs<1>();
  constexpr auto args1 = TensorAccessorArgs<args0.next_compile_time_args_offset()>();
  const auto in0 = TensorAccessor(args0, get_common_arg_val<uint32_t>(0), get_tile_size(0));
  const auto in1 = TensorAccessor(args1, get_common_arg_val<uint32_t>(1), get_tile_size(0));
  for (uint32_t tile = first; tile < first + count; ++tile) {
    cb_reserve_back(0, 1);
    noc_async_read_tile(tile, in0, get_write_ptr(0));
    if (inputs == 2) {
      cb_reserve_back(1, 1);
      noc_async_read_tile(tile, in1, get_write_ptr(1));
    }
    noc_async_read_barrier();
    cb_push_back(0, 1);
    if (inputs == 2)
      cb_push_back(1, 1);
  }
}
