// SPDX-License-Identifier: Apache-2.0
// Multiplies: every output tile is a sum over Kt products.
#include "compute_kernel_api/matmul.h"

namespace NAMESPACE {
void MAIN {
  const uint32_t count = get_arg_val<uint32_t>(0);
  constexpr uint32_t Kt = get_compile_time_arg_val(0);
  mm_init(0, 1, 16);
  for (uint32_t i = 0; i < count; ++i) {
    tile_regs_acquire();
    for (uint32_t k = 0; k < Kt; ++k) {
      cb_wait_front(0, 1);
      cb_wait_front(1, 1);
      matmul_tiles(0, 1, 0, 0, 0);
      cb_pop_front(0, 1);
      cb_pop_front(1, 1);
    }
    tile_regs_commit();
    cb_reserve_back(16, 1);
    tile_regs_wait();
    pack_tile(0, 16);
    tile_regs_release();
    cb_push_back(16, 1);
  }
}
} // namespace NAMESPACE
