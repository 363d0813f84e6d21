// SPDX-License-Identifier: Apache-2.0
// A chain of cores: the first reads a tile from DRAM, each adds its number to the first element and passes the tile
// on, and the last writes it back.
#include "dataflow_api.h"

void kernel_main() {
  const uint32_t number = get_arg_val<uint32_t>(0), cores = get_arg_val<uint32_t>(1);
  constexpr auto in_args = TensorAccessorArgs<0>();
  constexpr auto out_args = TensorAccessorArgs<in_args.next_compile_time_args_offset()>();
  const auto in = TensorAccessor(in_args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
  const auto out = TensorAccessor(out_args, get_common_arg_val<uint32_t>(1), get_tile_size(0));
  const uint32_t arrived = get_semaphore(0);
  cb_reserve_back(0, 1);
  const uint32_t at = get_write_ptr(0);
  if (number == 0) {
    noc_async_read_tile(0, in, at);
    noc_async_read_barrier();
  } else {
    noc_semaphore_wait(reinterpret_cast<volatile tt_l1_ptr uint32_t *>(arrived), 1);
  }
  volatile tt_l1_ptr int32_t *values = reinterpret_cast<volatile tt_l1_ptr int32_t *>(at);
  DPRINT << "got " << int32_t(values[0]) << ENDL();
  values[0] = values[0] + int32_t(number);
  if (number + 1 < cores) {
    const uint32_t x = my_x[noc_index] + 1, y = my_y[noc_index];
    noc_async_write(at, get_noc_addr(x, y, at), get_tile_size(0));
    noc_async_write_barrier();
    noc_semaphore_inc(get_noc_addr(x, y, arrived), 1);
  } else {
    noc_async_write_tile(0, out, at);
    noc_async_write_barrier();
  }
}
