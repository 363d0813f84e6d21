// SPDX-License-Identifier: Apache-2.0
// Writes what comes through circular buffer 16 to tiles of an interleaved buffer.
#include "dataflow_api.h"

void kernel_main() {
  const uint32_t first = get_arg_val<uint32_t>(0);
  const uint32_t count = get_arg_val<uint32_t>(1);
  constexpr auto args = TensorAccessorArgs<0>();
  const auto out = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(16));
  for (uint32_t tile = first; tile < first + count; ++tile) {
    cb_wait_front(16, 1);
    noc_async_write_tile(tile, out, get_read_ptr(16));
    noc_async_write_barrier();
    cb_pop_front(16, 1);
  }
}
