//===- kernel_api.h - the kernel API of tt-metal ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The kernel API of tt-metal as the simulated cores offer it; the headers that
// kernels include (dataflow_api.h, compute_kernel_api/*.h) all lead here.
// docs/runtime.md, "Metal programs", says what is there and what it checks.
//
// Coordinates of the NOC are those of the grid of worker cores. Template
// arguments that choose between precise and fast variants on the chip are
// taken and have no effect: results are those of the TTNN simulation.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/metal/kernel_abi.h"

namespace tt::metal {
/// Of the library that is being compiled.
inline const KernelApi *api = nullptr;

/// The kernel's core has these circular buffers.
template <class... Cb> inline void checkBuffers(const char *function, Cb... cbs) { (api->cbCheck(cbs, function), ...); }
} // namespace tt::metal

#define NAMESPACE kernel_namespace
#define MAIN kernel_entry()
#define FORCE_INLINE inline __attribute__((always_inline))
#define ALWI inline __attribute__((always_inline))
#define tt_l1_ptr

/// As names of kernels that qualify them; others find them without.
inline namespace ckernel {

//===- Arguments ----------------------------------------------------------===//

template <class T> inline T get_arg_val(uint32_t index) {
  static_assert(sizeof(T) == sizeof(uint32_t), "arguments have 32 bits");
  const uint32_t bits = tt::metal::api->argument(index);
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/// Alike on all cores.
template <class T> inline T get_common_arg_val(uint32_t index) { return get_arg_val<T>(index); }

//===- Circular buffers ---------------------------------------------------===//

inline void cb_wait_front(uint32_t cb, uint32_t pages) { tt::metal::api->cbWaitFront(cb, pages); }
inline void cb_pop_front(uint32_t cb, uint32_t pages) { tt::metal::api->cbPopFront(cb, pages); }
inline void cb_reserve_back(uint32_t cb, uint32_t pages) { tt::metal::api->cbReserveBack(cb, pages); }
inline void cb_push_back(uint32_t cb, uint32_t pages) { tt::metal::api->cbPushBack(cb, pages); }
inline bool cb_pages_available_at_front(uint32_t cb, uint32_t pages) {
  return tt::metal::api->cbAvailable(cb, true, "cb_pages_available_at_front") >= pages;
}
inline bool cb_pages_reservable_at_back(uint32_t cb, uint32_t pages) {
  return tt::metal::api->cbAvailable(cb, false, "cb_pages_reservable_at_back") >= pages;
}
inline uint32_t get_read_ptr(uint32_t cb) { return tt::metal::api->cbReadAddress(cb); }
inline uint32_t get_write_ptr(uint32_t cb) { return tt::metal::api->cbWriteAddress(cb); }
inline uint32_t get_tile_size(uint32_t cb) { return tt::metal::api->cbTileBytes(cb); }
/// Numbers of tt.target.DataType.
inline uint32_t get_dataformat(uint32_t cb) { return tt::metal::api->cbDataType(cb); }

//===- Data movement ------------------------------------------------------===//

inline uint32_t get_absolute_logical_x() { return tt::metal::api->coreX(); }
inline uint32_t get_absolute_logical_y() { return tt::metal::api->coreY(); }
/// my_x[noc] and my_y[noc]: the same on both NOCs.
inline constexpr struct CoreX {
  uint32_t operator[](uint32_t) const { return get_absolute_logical_x(); }
} my_x = {};
inline constexpr struct CoreY {
  uint32_t operator[](uint32_t) const { return get_absolute_logical_y(); }
} my_y = {};

inline constexpr uint32_t noc_address_bits = 36, noc_coordinate_bits = 6;
inline uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t address, uint8_t = 0) {
  return (uint64_t(y) << (noc_address_bits + noc_coordinate_bits)) | (uint64_t(x) << noc_address_bits) | address;
}
inline uint64_t get_noc_addr(uint32_t address, uint8_t = 0) {
  return get_noc_addr(get_absolute_logical_x(), get_absolute_logical_y(), address);
}
inline void noc_async_read(uint64_t from, uint32_t to, uint32_t bytes, uint8_t = 0) {
  tt::metal::api->nocRead(from, to, bytes);
}
inline void noc_async_write(uint32_t from, uint64_t to, uint32_t bytes, uint8_t = 0) {
  tt::metal::api->nocWrite(from, to, bytes);
}
/// All cores of a rectangle, its first and its last.
inline uint64_t get_noc_multicast_addr(uint32_t x_start, uint32_t y_start, uint32_t x_end, uint32_t y_end,
                                       uint32_t address, uint8_t = 0) {
  const uint64_t first = get_noc_addr(x_end, y_end, address), last = get_noc_addr(x_start, y_start, 0);
  return first | last << 2 * noc_coordinate_bits;
}
inline void noc_async_write_multicast(uint32_t from, uint64_t to, uint32_t bytes, uint32_t receivers, bool = false,
                                      uint8_t = 0) {
  tt::metal::api->nocMulticast(from, to, bytes, receivers, false);
}
inline void noc_async_write_multicast_loopback_src(uint32_t from, uint64_t to, uint32_t bytes, uint32_t receivers,
                                                   bool = false, uint8_t = 0) {
  tt::metal::api->nocMulticast(from, to, bytes, receivers, true);
}

/// The address of a semaphore of this program, which is 0 when it starts.
inline uint32_t get_semaphore(uint32_t id) { return tt::metal::api->semaphoreAddress(id); }
inline void noc_semaphore_inc(uint64_t to, uint32_t value, uint8_t = 0) {
  tt::metal::api->semaphoreIncrease(to, value);
}
inline void noc_semaphore_set(uint32_t address, uint32_t value) { tt::metal::api->semaphoreSet(address, value); }
inline void noc_semaphore_wait(uint32_t address, uint32_t value) {
  tt::metal::api->semaphoreWait(address, value, false);
}
inline void noc_semaphore_wait_min(uint32_t address, uint32_t value) {
  tt::metal::api->semaphoreWait(address, value, true);
}
// Pointers to L1 are addresses.
inline void noc_semaphore_set(volatile uint32_t *address, uint32_t value) {
  noc_semaphore_set(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)), value);
}
inline void noc_semaphore_wait(volatile uint32_t *address, uint32_t value) {
  noc_semaphore_wait(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)), value);
}
inline void noc_semaphore_wait_min(volatile uint32_t *address, uint32_t value) {
  noc_semaphore_wait_min(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)), value);
}
inline void noc_semaphore_set_multicast(uint32_t from, uint64_t to, uint32_t receivers, bool = false, uint8_t = 0) {
  tt::metal::api->semaphoreMulticast(from, to, receivers, false);
}
inline void noc_semaphore_set_multicast_loopback_src(uint32_t from, uint64_t to, uint32_t receivers, bool = false,
                                                     uint8_t = 0) {
  tt::metal::api->semaphoreMulticast(from, to, receivers, true);
}

// Transfers are done when they are requested.
inline void noc_async_atomic_barrier(uint8_t = 0) {}
inline void noc_async_read_barrier(uint8_t = 0) {}
inline void noc_async_write_barrier(uint8_t = 0) {}
inline void noc_async_writes_flushed(uint8_t = 0) {}
inline void noc_async_full_barrier(uint8_t = 0) {}

//===- Registers ----------------------------------------------------------===//

inline void tile_regs_acquire() { tt::metal::api->dstAcquire(); }
inline void tile_regs_commit() { tt::metal::api->dstCommit(); }
inline void tile_regs_wait() { tt::metal::api->dstWait(); }
inline void tile_regs_release() { tt::metal::api->dstRelease(); }

//===- Tiles in and out ---------------------------------------------------===//

inline void compute_kernel_hw_startup(uint32_t in, uint32_t out) {
  tt::metal::checkBuffers("compute_kernel_hw_startup", in, out);
}
inline void compute_kernel_hw_startup(uint32_t in0, uint32_t in1, uint32_t out) {
  tt::metal::checkBuffers("compute_kernel_hw_startup", in0, in1, out);
}
inline void init_sfpu(uint32_t in, uint32_t out) { tt::metal::checkBuffers("init_sfpu", in, out); }
inline void unary_op_init_common(uint32_t in, uint32_t out) {
  tt::metal::checkBuffers("unary_op_init_common", in, out);
}
inline void binary_op_init_common(uint32_t in0, uint32_t in1, uint32_t out) {
  tt::metal::checkBuffers("binary_op_init_common", in0, in1, out);
}
inline void copy_tile_to_dst_init_short(uint32_t cb, uint32_t = 0) {
  tt::metal::checkBuffers("copy_tile_to_dst_init_short", cb);
}
inline void copy_tile_to_dst_init_short_with_dt(uint32_t before, uint32_t cb, uint32_t = 0) {
  tt::metal::checkBuffers("copy_tile_to_dst_init_short_with_dt", before, cb);
}
inline void copy_tile_init(uint32_t cb) { tt::metal::checkBuffers("copy_tile_init", cb); }
inline void copy_tile(uint32_t cb, uint32_t tile, uint32_t dst) { tt::metal::api->copyTile(cb, tile, dst); }

/// In order: behind the tiles that were packed since the last cb_push_back. Out of order: to page `tile` of those that
/// are reserved.
template <bool out_of_order = false> inline void pack_tile(uint32_t dst, uint32_t cb, uint32_t tile = 0) {
  tt::metal::api->packTile(dst, cb, out_of_order, tile);
}
// Formats are those of the circular buffers.
template <class... T> inline void pack_reconfig_data_format(T...) {}
template <class... T> inline void reconfig_data_format(T...) {}
template <class... T> inline void reconfig_data_format_srca(T...) {}
template <class... T> inline void reconfig_data_format_srcb(T...) {}

inline void tilize_init(uint32_t in, uint32_t, uint32_t out) { tt::metal::checkBuffers("tilize_init", in, out); }
/// 32 rows of tiles * 32 elements at the front of `in` to `tiles` tiles behind those packed in `out`.
inline void tilize_block(uint32_t in, uint32_t tiles, uint32_t out) { tt::metal::api->tilizeBlock(in, tiles, out); }
inline void tilize_uninit(uint32_t in, uint32_t out) { tt::metal::checkBuffers("tilize_uninit", in, out); }
inline void untilize_init(uint32_t in) { tt::metal::checkBuffers("untilize_init", in); }
inline void untilize_init(uint32_t in, uint32_t out) {
  untilize_init(in);
  tt::metal::checkBuffers("untilize_init", out);
}
inline void untilize_block(uint32_t in, uint32_t tiles, uint32_t out) { tt::metal::api->untilizeBlock(in, tiles, out); }
inline void untilize_uninit(uint32_t in) { tt::metal::checkBuffers("untilize_uninit", in); }
inline void untilize_uninit(uint32_t in, uint32_t out) {
  untilize_uninit(in);
  tt::metal::checkBuffers("untilize_uninit", out);
}

//===- Elementwise --------------------------------------------------------===//

#define TT_KERNEL_TILE_OP_1(kernel)                                                                                    \
  template <auto...> inline void kernel(uint32_t dst, int = 0) {                                                       \
    const uint32_t dsts[] = {dst, dst};                                                                                \
    tt::metal::api->tileOp(tt::metal::TileOp::kernel, dsts);                                                           \
  }
#define TT_KERNEL_TILE_OP_2(kernel)                                                                                    \
  template <auto...> inline void kernel(uint32_t dst0, uint32_t dst1, uint32_t result) {                               \
    const uint32_t dsts[] = {dst0, dst1, result};                                                                      \
    tt::metal::api->tileOp(tt::metal::TileOp::kernel, dsts);                                                           \
  }
#define TT_KERNEL_TILE_OP_3(kernel)                                                                                    \
  template <auto...> inline void kernel(uint32_t dst0, uint32_t dst1, uint32_t dst2, uint32_t result) {                \
    const uint32_t dsts[] = {dst0, dst1, dst2, result};                                                                \
    tt::metal::api->tileOp(tt::metal::TileOp::kernel, dsts);                                                           \
  }
#define TT_TILE_OP(ttir, tile, kernel, row, ins)                                                                       \
  TT_KERNEL_TILE_OP_##ins(kernel) template <auto...> inline void kernel##_init() {                                     \
    tt::metal::api->computeCheck(#kernel "_init");                                                                     \
  }
#include "ttmlir/Target/TTMetal/TileOps.def"
#undef TT_KERNEL_TILE_OP_1
#undef TT_KERNEL_TILE_OP_2
#undef TT_KERNEL_TILE_OP_3

inline void clamp_tile_init() { tt::metal::api->computeCheck("clamp_tile_init"); }
/// The bounds are the bits of floats.
inline void clamp_tile(uint32_t dst, uint32_t min_bits, uint32_t max_bits) {
  tt::metal::api->clampTile(dst, min_bits, max_bits);
}
template <uint32_t in, uint32_t out> inline void typecast_tile_init() {
  tt::metal::api->computeCheck("typecast_tile_init");
}
/// Numbers of tt.target.DataType.
template <uint32_t in, uint32_t out> inline void typecast_tile(uint32_t dst) { tt::metal::api->typecastTile(dst, out); }
inline void fill_tile_init() { tt::metal::api->computeCheck("fill_tile_init"); }
inline void fill_tile(uint32_t dst, float value) { tt::metal::api->fillTile(dst, value); }

#define TT_KERNEL_FPU_OP(name, op)                                                                                     \
  inline void name##_init(uint32_t cb0, uint32_t cb1, bool = false) {                                                  \
    tt::metal::checkBuffers(#name "_init", cb0, cb1);                                                                  \
  }                                                                                                                    \
  inline void name(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst) {                         \
    tt::metal::api->fpuTiles(tt::metal::FpuOp::op, cb0, cb1, tile0, tile1, dst);                                       \
  }
TT_KERNEL_FPU_OP(add_tiles, Add)
TT_KERNEL_FPU_OP(sub_tiles, Subtract)
TT_KERNEL_FPU_OP(mul_tiles, Multiply)
#undef TT_KERNEL_FPU_OP

//===- Matrix unit --------------------------------------------------------===//

inline void mm_init(uint32_t in0, uint32_t in1, uint32_t out, uint32_t = 0) {
  tt::metal::checkBuffers("mm_init", in0, in1, out);
}
inline void mm_init_short(uint32_t in0, uint32_t in1, uint32_t = 0) {
  tt::metal::checkBuffers("mm_init_short", in0, in1);
}
/// dst += in0 x in1, or its transpose with `transpose`.
inline void matmul_tiles(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1, uint32_t dst,
                         uint32_t transpose = 0) {
  tt::metal::api->matmulTiles(in0, in1, tile0, tile1, dst, transpose != 0);
}

inline void mm_block_init(uint32_t in0, uint32_t in1, uint32_t out, uint32_t = 0, uint32_t = 1, uint32_t = 1,
                          uint32_t = 1) {
  tt::metal::checkBuffers("mm_block_init", in0, in1, out);
}
inline void mm_block_init_short(uint32_t in0, uint32_t in1, uint32_t = 0, uint32_t = 1, uint32_t = 1, uint32_t = 1) {
  tt::metal::checkBuffers("mm_block_init_short", in0, in1);
}
/// One step: tiles in0[tile0 + r * kt] and in1[tile1 + c] to rt * ct registers.
inline void matmul_block(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1, uint32_t dst, bool transpose,
                         uint32_t ct, uint32_t rt, uint32_t kt) {
  tt::metal::api->matmulBlock(in0, in1, tile0, tile1, dst, transpose, ct, rt, kt, 0, 1);
}
namespace experimental {
/// All kt steps; those of in1 are `stride` tiles apart.
inline void matmul_block(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1, uint32_t dst, bool transpose,
                         uint32_t ct, uint32_t rt, uint32_t kt, uint32_t stride) {
  tt::metal::api->matmulBlock(in0, in1, tile0, tile1, dst, transpose, ct, rt, kt, stride, kt);
}
} // namespace experimental
/// Whether pack_tile adds to the tile in L1.
inline void pack_reconfig_l1_acc(uint32_t enable) { tt::metal::api->packAccumulate(enable != 0); }

enum PoolType { SUM, AVG, MAX };
enum ReduceDim { REDUCE_ROW, REDUCE_COL, REDUCE_SCALAR };
enum class BroadcastType { NONE, COL, ROW, SCALAR };

template <PoolType = SUM, ReduceDim = REDUCE_SCALAR, bool...>
inline void reduce_init(uint32_t in, uint32_t scaler, uint32_t out) {
  tt::metal::checkBuffers("reduce_init", in, scaler, out);
}
/// Joins the reduced tile, times the first element of the scaler's tile, with what is in dst: row r's value lies in
/// element (r, 0), column c's in (0, c), that of the tile in (0, 0).
template <PoolType pool = SUM, ReduceDim dim = REDUCE_SCALAR, bool...>
inline void reduce_tile(uint32_t in, uint32_t scaler, uint32_t tile, uint32_t scaler_tile, uint32_t dst) {
  using tt::metal::Along;
  tt::metal::api->reduceTile(static_cast<tt::metal::ReducePool>(pool),
                             dim == REDUCE_ROW   ? Along::Row
                             : dim == REDUCE_COL ? Along::Column
                                                 : Along::Scalar,
                             in, scaler, tile, scaler_tile, dst);
}
template <bool...> inline void reduce_uninit() {}
template <PoolType, ReduceDim> inline void reduce_uninit(uint32_t = 0) {}

inline void transpose_wh_init(uint32_t in, uint32_t out) { tt::metal::checkBuffers("transpose_wh_init", in, out); }
inline void transpose_wh_init_short(uint32_t in) { tt::metal::checkBuffers("transpose_wh_init_short", in); }
inline void transpose_wh_tile(uint32_t in, uint32_t tile, uint32_t dst) {
  tt::metal::api->transposeTile(in, tile, dst);
}

template <BroadcastType> inline void unary_bcast_init(uint32_t in, uint32_t out) {
  tt::metal::checkBuffers("unary_bcast_init", in, out);
}
/// COL spreads the first column over all columns, ROW the first row over all rows.
template <BroadcastType type> inline void unary_bcast(uint32_t in, uint32_t tile, uint32_t dst) {
  using tt::metal::Along;
  tt::metal::api->broadcastTile(type == BroadcastType::NONE  ? Along::None
                                : type == BroadcastType::COL ? Along::Column
                                : type == BroadcastType::ROW ? Along::Row
                                                             : Along::Scalar,
                                in, tile, dst);
}

} // namespace ckernel
