//===- kernel_tiles.h - more functions of tiles, for kernels ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Broadcasts within tiles, operands in registers, numbers as operands.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/metal/kernel_noc.h"

inline namespace ckernel {
enum class BroadcastType { NONE, COL, ROW, SCALAR };
} // namespace ckernel

namespace tt::metal {
template <ckernel::BroadcastType type> inline constexpr Along alongOf = Along::Scalar;
template <> inline constexpr Along alongOf<ckernel::BroadcastType::NONE> = Along::None;
template <> inline constexpr Along alongOf<ckernel::BroadcastType::COL> = Along::Column;
template <> inline constexpr Along alongOf<ckernel::BroadcastType::ROW> = Along::Row;
} // namespace tt::metal

inline namespace ckernel {

//===- Broadcasts ---------------------------------------------------------===//

/// The second tile has a column, row or element that is spread over it.
#define TT_KERNEL_BROADCAST(name, op)                                                                                  \
  template <BroadcastType type>                                                                                        \
  inline void name##_bcast(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst,                   \
                           uint32_t line = __builtin_LINE()) {                                                         \
    tt::metal::api->at(line);                                                                                          \
    tt::metal::api->fpuBroadcast(tt::metal::FpuOp::op, tt::metal::alongOf<type>, cb0, cb1, tile0, tile1, dst);         \
  }                                                                                                                    \
  inline void name##_bcast_rows(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst,              \
                                uint32_t line = __builtin_LINE()) {                                                    \
    name##_bcast<BroadcastType::ROW>(cb0, cb1, tile0, tile1, dst, line);                                               \
  }                                                                                                                    \
  inline void name##_bcast_cols(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst,              \
                                uint32_t line = __builtin_LINE()) {                                                    \
    name##_bcast<BroadcastType::COL>(cb0, cb1, tile0, tile1, dst, line);                                               \
  }                                                                                                                    \
  inline void name##_bcast_scalar(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst,            \
                                  uint32_t line = __builtin_LINE()) {                                                  \
    name##_bcast<BroadcastType::SCALAR>(cb0, cb1, tile0, tile1, dst, line);                                            \
  }
TT_KERNEL_BROADCAST(add_tiles, Add)
TT_KERNEL_BROADCAST(sub_tiles, Subtract)
TT_KERNEL_BROADCAST(mul_tiles, Multiply)
#undef TT_KERNEL_BROADCAST

#define TT_KERNEL_BROADCAST_INIT(name)                                                                                 \
  inline void name(uint32_t cb0, uint32_t cb1) { tt::metal::checkBuffers(#name, cb0, cb1); }
TT_KERNEL_BROADCAST_INIT(add_bcast_rows_init_short)
TT_KERNEL_BROADCAST_INIT(add_bcast_cols_init_short)
TT_KERNEL_BROADCAST_INIT(add_bcast_scalar_init_short)
TT_KERNEL_BROADCAST_INIT(sub_bcast_rows_init_short)
TT_KERNEL_BROADCAST_INIT(sub_bcast_cols_init_short)
TT_KERNEL_BROADCAST_INIT(sub_bcast_scalar_init_short)
TT_KERNEL_BROADCAST_INIT(mul_bcast_rows_init_short)
TT_KERNEL_BROADCAST_INIT(mul_bcast_cols_init_short)
TT_KERNEL_BROADCAST_INIT(mul_tiles_bcast_scalar_init_short)
#undef TT_KERNEL_BROADCAST_INIT

enum class EltwiseBinaryType : uint8_t { ELWMUL, ELWDIV, ELWADD, ELWSUB };
using enum EltwiseBinaryType;
template <EltwiseBinaryType, BroadcastType> inline void init_bcast(uint32_t cb0, uint32_t cb1, uint32_t out) {
  tt::metal::checkBuffers("init_bcast", cb0, cb1, out);
}

//===- Operands in registers ----------------------------------------------===//

/// The operand that dst is.
enum class EltwiseBinaryReuseDestType : uint8_t { NONE, DEST_TO_SRCA, DEST_TO_SRCB };

template <EltwiseBinaryType = ELWADD, EltwiseBinaryReuseDestType = EltwiseBinaryReuseDestType::DEST_TO_SRCA>
inline void binary_dest_reuse_tiles_init(uint32_t cb) {
  tt::metal::checkBuffers("binary_dest_reuse_tiles_init", cb);
}
/// dst = dst op tile, or tile op dst.
template <EltwiseBinaryType op = ELWADD, EltwiseBinaryReuseDestType reuse = EltwiseBinaryReuseDestType::DEST_TO_SRCA>
inline void binary_dest_reuse_tiles(uint32_t cb, uint32_t tile, uint32_t dst, uint32_t line = __builtin_LINE()) {
  static_assert(op != ELWDIV, "binary_dest_reuse_tiles: the matrix unit does not divide");
  static_assert(reuse != EltwiseBinaryReuseDestType::NONE, "binary_dest_reuse_tiles: dst is one of the operands");
  tt::metal::api->at(line);
  tt::metal::api->fpuReuse(op == ELWADD   ? tt::metal::FpuOp::Add
                           : op == ELWSUB ? tt::metal::FpuOp::Subtract
                                          : tt::metal::FpuOp::Multiply,
                           reuse == EltwiseBinaryReuseDestType::DEST_TO_SRCA, cb, tile, dst);
}

inline void copy_dest_values_init() { tt::metal::api->computeCheck("copy_dest_values_init"); }
template <auto...> inline void copy_dest_values(uint32_t from, uint32_t to) { tt::metal::api->copyDst(from, to); }

//===- Numbers as operands ------------------------------------------------===//

inline void binop_with_scalar_tile_init() { tt::metal::api->computeCheck("binop_with_scalar_tile_init"); }
/// The number is the bits of a float.
#define TT_KERNEL_SCALAR_OP(name, op, first)                                                                           \
  inline void name(uint32_t dst, uint32_t bits) {                                                                      \
    tt::metal::api->scalarOp(tt::metal::TileOp::op, first, dst, tt::metal::valueOf<float>(bits), #name);               \
  }
TT_KERNEL_SCALAR_OP(add_unary_tile, add_binary_tile, false)
TT_KERNEL_SCALAR_OP(sub_unary_tile, sub_binary_tile, false)
TT_KERNEL_SCALAR_OP(rsub_unary_tile, sub_binary_tile, true)
TT_KERNEL_SCALAR_OP(mul_unary_tile, mul_binary_tile, false)
TT_KERNEL_SCALAR_OP(div_unary_tile, div_binary_tile, false)
TT_KERNEL_SCALAR_OP(unary_max_tile, binary_max_tile, false)
TT_KERNEL_SCALAR_OP(unary_min_tile, binary_min_tile, false)
TT_KERNEL_SCALAR_OP(unary_eq_tile, eq_binary_tile, false)
TT_KERNEL_SCALAR_OP(unary_ne_tile, ne_binary_tile, false)
TT_KERNEL_SCALAR_OP(unary_gt_tile, gt_binary_tile, false)
TT_KERNEL_SCALAR_OP(unary_ge_tile, ge_binary_tile, false)
TT_KERNEL_SCALAR_OP(unary_lt_tile, lt_binary_tile, false)
TT_KERNEL_SCALAR_OP(unary_le_tile, le_binary_tile, false)
TT_KERNEL_SCALAR_OP(rdiv_tile, div_binary_tile, true)
#undef TT_KERNEL_SCALAR_OP

#define TT_KERNEL_INIT(name)                                                                                           \
  inline void name() { tt::metal::api->computeCheck(#name); }
TT_KERNEL_INIT(unary_max_tile_init)
TT_KERNEL_INIT(unary_min_tile_init)
TT_KERNEL_INIT(unary_eq_tile_init)
TT_KERNEL_INIT(unary_ne_tile_init)
TT_KERNEL_INIT(unary_gt_tile_init)
TT_KERNEL_INIT(unary_ge_tile_init)
TT_KERNEL_INIT(unary_lt_tile_init)
TT_KERNEL_INIT(unary_le_tile_init)
TT_KERNEL_INIT(rdiv_tile_init)
TT_KERNEL_INIT(rounding_op_tile_init)
TT_KERNEL_INIT(hardtanh_tile_init)
TT_KERNEL_INIT(relu_max_tile_init)
TT_KERNEL_INIT(rsub_binary_tile_init)
#undef TT_KERNEL_INIT

/// The bounds are the bits of floats.
inline void hardtanh_tile(uint32_t dst, uint32_t min_bits, uint32_t max_bits) {
  tt::metal::api->clampTile(dst, min_bits, max_bits);
}
inline void relu_max_tile(uint32_t dst, uint32_t max_bits) { tt::metal::api->clampTile(dst, 0, max_bits); }
/// result = dst1 - dst0
inline void rsub_binary_tile(uint32_t dst0, uint32_t dst1, uint32_t result) {
  const uint32_t dsts[] = {dst1, dst0, result};
  tt::metal::api->tileOp(tt::metal::TileOp::sub_binary_tile, dsts);
}

#define TT_KERNEL_FIXED_OP(name, op, first, number)                                                                    \
  inline void name##_init() { tt::metal::api->computeCheck(#name "_init"); }                                           \
  inline void name(uint32_t dst) { tt::metal::api->scalarOp(tt::metal::TileOp::op, first, dst, number, #name); }
TT_KERNEL_FIXED_OP(eqz_tile, eq_binary_tile, false, 0.0f)
TT_KERNEL_FIXED_OP(nez_tile, ne_binary_tile, false, 0.0f)
TT_KERNEL_FIXED_OP(gtz_tile, gt_binary_tile, false, 0.0f)
TT_KERNEL_FIXED_OP(gez_tile, ge_binary_tile, false, 0.0f)
TT_KERNEL_FIXED_OP(ltz_tile, lt_binary_tile, false, 0.0f)
TT_KERNEL_FIXED_OP(lez_tile, le_binary_tile, false, 0.0f)
TT_KERNEL_FIXED_OP(exp2_tile, power_binary_tile, true, 2.0f)
#undef TT_KERNEL_FIXED_OP

inline void power_tile_init() { tt::metal::api->computeCheck("power_tile_init"); }
inline void power_tile(uint32_t dst, uint32_t exponent) {
  tt::metal::api->scalarOp(tt::metal::TileOp::power_binary_tile, false, dst, static_cast<float>(exponent),
                           "power_tile");
}
inline void square_tile_init() { tt::metal::api->computeCheck("square_tile_init"); }
inline void square_tile(uint32_t dst) {
  const uint32_t dsts[] = {dst, dst, dst};
  tt::metal::api->tileOp(tt::metal::TileOp::mul_binary_tile, dsts);
}

//===- Rows of tiles ------------------------------------------------------===//

template <uint32_t = 1, uint32_t = 1> inline void pack_untilize_init(uint32_t in, uint32_t out) {
  tt::metal::checkBuffers("pack_untilize_init", in, out);
}
/// Rows of `block` tiles, each to 32 rows of their elements.
template <uint32_t block = 1, uint32_t = block>
inline void pack_untilize_block(uint32_t in, uint32_t rows, uint32_t out) {
  for (uint32_t row = 0; row < rows; ++row)
    tt::metal::api->untilizeBlock(in, row * block, block, out);
}
inline void pack_untilize_uninit(uint32_t out) { tt::metal::checkBuffers("pack_untilize_uninit", out); }

} // namespace ckernel
