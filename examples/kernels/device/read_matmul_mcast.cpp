// SPDX-License-Identifier: Apache-2.0
// Core (x, y) of a grid multiplies row y of A's tiles with column x of B's. The first core of a row reads A from DRAM
// and sends it along the row; the first core of a column reads B and sends it down the column.
#include "dataflow_api.h"

/// One tile into a circular buffer: read and sent to the others by the sender, received by them.
template <class Accessor>
void share(uint32_t cb, const Accessor &from, uint32_t tile, bool sender, uint32_t others, uint32_t x0, uint32_t y0,
           uint32_t x1, uint32_t y1, uint32_t sender_x, uint32_t sender_y, uint32_t ready_id, uint32_t sent_id) {
  const uint32_t ready = get_semaphore(ready_id), sent = get_semaphore(sent_id);
  volatile tt_l1_ptr uint32_t *ready_ptr = reinterpret_cast<volatile tt_l1_ptr uint32_t *>(ready);
  volatile tt_l1_ptr uint32_t *sent_ptr = reinterpret_cast<volatile tt_l1_ptr uint32_t *>(sent);
  cb_reserve_back(cb, 1);
  const uint32_t at = get_write_ptr(cb);
  if (sender) {
    noc_async_read_tile(tile, from, at);
    noc_async_read_barrier();
    if (others) {
      noc_semaphore_wait(ready_ptr, others); // all have room
      noc_semaphore_set(ready_ptr, 0);
      noc_async_write_multicast(at, get_noc_multicast_addr(x0, y0, x1, y1, at), get_tile_size(cb), others);
      *sent_ptr = 1;
      noc_semaphore_set_multicast(sent, get_noc_multicast_addr(x0, y0, x1, y1, sent), others);
      noc_async_write_barrier();
    }
  } else {
    noc_semaphore_set(sent_ptr, 0);
    noc_semaphore_inc(get_noc_addr(sender_x, sender_y, ready), 1);
    noc_semaphore_wait(sent_ptr, 1);
  }
  cb_push_back(cb, 1);
}

void kernel_main() {
  const uint32_t x = get_arg_val<uint32_t>(0), y = get_arg_val<uint32_t>(1);
  constexpr uint32_t Mt = get_compile_time_arg_val(0), Kt = get_compile_time_arg_val(1),
                     Nt = get_compile_time_arg_val(2);
  constexpr auto a_args = TensorAccessorArgs<3>();
  constexpr auto b_args = TensorAccessorArgs<a_args.next_compile_time_args_offset()>();
  const auto a = TensorAccessor(a_args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
  const auto b = TensorAccessor(b_args, get_common_arg_val<uint32_t>(1), get_tile_size(1));
  for (uint32_t k = 0; k < Kt; ++k) {
    share(0, a, y * Kt + k, x == 0, Nt - 1, 0, y, Nt - 1, y, 0, y, 0, 1);
    share(1, b, k * Nt + x, y == 0, Mt - 1, x, 0, x, Mt - 1, x, 0, 2, 3);
  }
}
