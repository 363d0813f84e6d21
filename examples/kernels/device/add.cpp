// SPDX-License-Identifier: Apache-2.0
// Adds the tiles of circular buffers 0 and 1 on the matrix unit.
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/tile_move_copy.h"

namespace NAMESPACE {
void MAIN {
  const uint32_t count = get_arg_val<uint32_t>(0);
  binary_op_init_common(0, 1, 16);
  add_tiles_init(0, 1);
  for (uint32_t i = 0; i < count; ++i) {
    cb_wait_front(0, 1);
    cb_wait_front(1, 1);
    tile_regs_acquire();
    add_tiles(0, 1, 0, 0, 0);
    tile_regs_commit();
    cb_reserve_back(16, 1);
    tile_regs_wait();
    pack_tile(0, 16);
    tile_regs_release();
    cb_push_back(16, 1);
    cb_pop_front(0, 1);
    cb_pop_front(1, 1);
  }
}
} // namespace NAMESPACE
