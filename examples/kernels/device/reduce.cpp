// SPDX-License-Identifier: Apache-2.0
// Sums a row of Wt tiles to the first column of a tile; circular buffer 2 holds a tile of ones, the scaler.
#define REDUCE_OP PoolType::SUM
#define REDUCE_DIM ReduceDim::REDUCE_ROW
#include "compute_kernel_api/reduce.h"

namespace NAMESPACE {
void MAIN {
  const uint32_t rows = get_arg_val<uint32_t>(0);
  constexpr uint32_t Wt = get_compile_time_arg_val(0);
  compute_kernel_hw_startup(0, 2, 16);
  reduce_init<REDUCE_OP, REDUCE_DIM>(0, 2, 16);
  cb_wait_front(2, 1);
  for (uint32_t row = 0; row < rows; ++row) {
    tile_regs_acquire();
    for (uint32_t i = 0; i < Wt; ++i) {
      cb_wait_front(0, 1);
      reduce_tile<REDUCE_OP, REDUCE_DIM>(0, 2, 0, 0, 0);
      cb_pop_front(0, 1);
    }
    tile_regs_commit();
    cb_reserve_back(16, 1);
    tile_regs_wait();
    pack_tile(0, 16);
    tile_regs_release();
    cb_push_back(16, 1);
  }
  reduce_uninit();
}
} // namespace NAMESPACE
