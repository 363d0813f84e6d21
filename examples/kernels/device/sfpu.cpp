// SPDX-License-Identifier: Apache-2.0
// Applies a function of the vector unit, which the program defines, to the tiles of circular buffer 0.
#include "compute_kernel_api.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/tile_move_copy.h"

namespace NAMESPACE {
void MAIN {
  const uint32_t count = get_arg_val<uint32_t>(0);
  init_sfpu(0, 16);
  for (uint32_t i = 0; i < count; ++i) {
    cb_wait_front(0, 1);
    tile_regs_acquire();
    copy_tile(0, 0, 0);
    SFPU_FUNCTION(0);
    tile_regs_commit();
    cb_reserve_back(16, 1);
    tile_regs_wait();
    pack_tile(0, 16);
    tile_regs_release();
    cb_push_back(16, 1);
    cb_pop_front(0, 1);
  }
}
} // namespace NAMESPACE
