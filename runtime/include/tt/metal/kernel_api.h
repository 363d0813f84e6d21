//===- kernel_api.h - the kernel API of tt-metal ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The kernel API of tt-metal as the simulated cores offer it; the headers that
// kernels include (dataflow_api.h, compute_kernel_api/*.h) all lead here.
// docs/runtime.md, "Metal programs", says what is there and what it checks.
//
// Template arguments that choose between precise and fast variants on the chip are
// taken and have no effect: results are those of the TTNN simulation.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/metal/kernel_banks.h"
#include "tt/metal/kernel_noc.h"
#include "tt/metal/kernel_print.h"
#include "tt/metal/kernel_tiles.h"

namespace tt {
/// Numbers of circular buffers by name.
enum CBIndex : uint8_t {
  c_0,
  c_1,
  c_2,
  c_3,
  c_4,
  c_5,
  c_6,
  c_7,
  c_8,
  c_9,
  c_10,
  c_11,
  c_12,
  c_13,
  c_14,
  c_15,
  c_16,
  c_17,
  c_18,
  c_19,
  c_20,
  c_21,
  c_22,
  c_23,
  c_24,
  c_25,
  c_26,
  c_27,
  c_28,
  c_29,
  c_30,
  c_31
};
} // namespace tt

/// Kernels may qualify names with this namespace, or not.
inline namespace ckernel {

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
inline void copy_tile(uint32_t cb, uint32_t tile, uint32_t dst, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->copyTile(cb, tile, dst);
}

/// Packs in order, after the tiles that were packed since the last cb_push_back, or out of order, to page `tile` of the
/// reserved ones.
template <bool out_of_order = false>
inline void pack_tile(uint32_t dst, uint32_t cb, uint32_t tile = 0, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
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
inline void untilize_block(uint32_t in, uint32_t tiles, uint32_t out) {
  tt::metal::api->untilizeBlock(in, 0, tiles, out);
}
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
  const uint32_t bounds[] = {min_bits, max_bits};
  tt::metal::api->rowOp("ttnn.clamp_scalar", dst, bounds, 2, "clamp_tile");
}
template <uint32_t in, uint32_t out> inline void typecast_tile_init() {
  tt::metal::api->computeCheck("typecast_tile_init");
}
/// Numbers of tt.target.DataType.
template <uint32_t in, uint32_t out> inline void typecast_tile(uint32_t dst) { tt::metal::api->typecastTile(dst, out); }
inline void check_positions_tile_init() { tt::metal::api->computeCheck("check_positions_tile_init"); }
/// Copies a register. An error unless the first elements of the other two are positions of a dimension of `size`
/// elements.
inline void check_positions_tile(uint32_t dst, uint32_t least, uint32_t greatest, uint32_t result, uint32_t size,
                                 const char *op) {
  tt::metal::api->checkPositions(least, greatest, size, op);
  if (result != dst)
    tt::metal::api->copyDst(dst, result);
}
inline void fill_tile_init() { tt::metal::api->computeCheck("fill_tile_init"); }
inline void fill_tile(uint32_t dst, float value) { tt::metal::api->fillTile(dst, value); }

#define TT_KERNEL_FPU_OP(name, op)                                                                                     \
  inline void name##_init(uint32_t cb0, uint32_t cb1, bool = false) {                                                  \
    tt::metal::checkBuffers(#name "_init", cb0, cb1);                                                                  \
  }                                                                                                                    \
  inline void name(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst,                           \
                   uint32_t line = __builtin_LINE()) {                                                                 \
    tt::metal::api->at(line);                                                                                          \
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
                         uint32_t transpose = 0, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->matmulTiles(in0, in1, tile0, tile1, dst, transpose != 0);
}

inline void mm_block_init(uint32_t in0, uint32_t in1, uint32_t out, uint32_t = 0, uint32_t = 1, uint32_t = 1,
                          uint32_t = 1) {
  tt::metal::checkBuffers("mm_block_init", in0, in1, out);
}
inline void mm_block_init_short(uint32_t in0, uint32_t in1, uint32_t = 0, uint32_t = 1, uint32_t = 1, uint32_t = 1) {
  tt::metal::checkBuffers("mm_block_init_short", in0, in1);
}
/// Multiplies tiles in0[tile0 + r * kt] and in1[tile1 + c] into rt * ct registers.
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

template <PoolType = SUM, ReduceDim = REDUCE_SCALAR, bool...>
inline void reduce_init(uint32_t in, uint32_t scaler, uint32_t out) {
  tt::metal::checkBuffers("reduce_init", in, scaler, out);
}
/// Joins the reduced tile, times the first element of the scaler's tile, with what is in dst: row r's value lies in
/// element (r, 0), column c's in (0, c), that of the tile in (0, 0).
template <PoolType pool = SUM, ReduceDim dim = REDUCE_SCALAR, bool...>
inline void reduce_tile(uint32_t in, uint32_t scaler, uint32_t tile, uint32_t scaler_tile, uint32_t dst,
                        uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
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
