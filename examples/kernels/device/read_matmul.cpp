// SPDX-License-Identifier: Apache-2.0
// Reads, for every output tile of this core, a row of tiles of A and a column of tiles of B.
#include "dataflow_api.h"

void kernel_main() {
  const uint32_t first = get_arg_val<uint32_t>(0);
  const uint32_t count = get_arg_val<uint32_t>(1);
  constexpr uint32_t Kt = get_compile_time_arg_val(0), Nt = get_compile_time_arg_val(1);
  constexpr auto a_args = TensorAccessorArgs<2>();
  constexpr auto b_args = TensorAccessorArgs<a_args.next_compile_time_args_offset()>();
  const auto a = TensorAccessor(a_args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
  const auto b = TensorAccessor(b_args, get_common_arg_val<uint32_t>(1), get_tile_size(1));
  for (uint32_t tile = first; tile < first + count; ++tile)
    for (uint32_t k = 0; k < Kt; ++k) {
      cb_reserve_back(0, 1);
      noc_async_read_tile(tile / Nt * Kt + k, a, get_write_ptr(0));
      cb_reserve_back(1, 1);
      noc_async_read_tile(k * Nt + tile % Nt, b, get_write_ptr(1));
      noc_async_read_barrier();
      cb_push_back(0, 1);
      cb_push_back(1, 1);
    }
}
