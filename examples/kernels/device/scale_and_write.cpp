// SPDX-License-Identifier: Apache-2.0
// Fills a tile of circular buffer 2 with bf16 ones through a pointer to L1, then writes what comes through circular
// buffer 16 to tiles of an interleaved buffer.
#include "dataflow_api.h"

void kernel_main() {
  cb_reserve_back(2, 1);
  volatile tt_l1_ptr uint32_t *words = reinterpret_cast<volatile tt_l1_ptr uint32_t *>(get_write_ptr(2));
  for (uint32_t i = 0; i < get_tile_size(2) / 4; ++i)
    words[i] = 0x3f803f80;
  cb_push_back(2, 1);

  const uint32_t count = get_arg_val<uint32_t>(0);
  constexpr auto args = TensorAccessorArgs<0>();
  const auto out = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(16));
  for (uint32_t tile = 0; tile < count; ++tile) {
    cb_wait_front(16, 1);
    noc_async_write_tile(tile, out, get_read_ptr(16));
    noc_async_write_barrier();
    cb_pop_front(16, 1);
  }
}
