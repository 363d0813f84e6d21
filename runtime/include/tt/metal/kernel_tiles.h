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

#define TT_KERNEL_INIT(name)                                                                                           \
  template <auto...> inline void name() { tt::metal::api->computeCheck(#name); }
TT_KERNEL_INIT(binop_with_scalar_tile_init)
TT_KERNEL_INIT(rounding_op_tile_init)
TT_KERNEL_INIT(rsub_binary_tile_init)
TT_KERNEL_INIT(power_tile_init)
TT_KERNEL_INIT(square_tile_init)
TT_KERNEL_INIT(hardtanh_tile_init)
TT_KERNEL_INIT(relu_max_tile_init)

/// The number is the bits of a float.
#define TT_KERNEL_SCALAR_OP(name, row, first)                                                                          \
  inline void name(uint32_t dst, uint32_t bits) { tt::metal::api->scalarOp(row, first, dst, bits, false, #name); }
TT_KERNEL_SCALAR_OP(add_unary_tile, "ttnn.add", false)
TT_KERNEL_SCALAR_OP(sub_unary_tile, "ttnn.subtract", false)
TT_KERNEL_SCALAR_OP(rsub_unary_tile, "ttnn.subtract", true)
TT_KERNEL_SCALAR_OP(mul_unary_tile, "ttnn.multiply", false)
TT_KERNEL_SCALAR_OP(div_unary_tile, "ttnn.divide", false)
#define TT_KERNEL_SCALAR_OP_INIT(name, row, first)                                                                     \
  TT_KERNEL_SCALAR_OP(name, row, first)                                                                                \
  TT_KERNEL_INIT(name##_init)
TT_KERNEL_SCALAR_OP_INIT(unary_max_tile, "ttnn.maximum", false)
TT_KERNEL_SCALAR_OP_INIT(unary_min_tile, "ttnn.minimum", false)
TT_KERNEL_SCALAR_OP_INIT(unary_eq_tile, "ttnn.eq", false)
TT_KERNEL_SCALAR_OP_INIT(unary_ne_tile, "ttnn.ne", false)
TT_KERNEL_SCALAR_OP_INIT(unary_gt_tile, "ttnn.gt", false)
TT_KERNEL_SCALAR_OP_INIT(unary_ge_tile, "ttnn.ge", false)
TT_KERNEL_SCALAR_OP_INIT(unary_lt_tile, "ttnn.lt", false)
TT_KERNEL_SCALAR_OP_INIT(unary_le_tile, "ttnn.le", false)
TT_KERNEL_SCALAR_OP_INIT(rdiv_tile, "ttnn.divide", true)
TT_KERNEL_SCALAR_OP_INIT(rpow_tile, "ttnn.pow_tensor", true)
TT_KERNEL_SCALAR_OP_INIT(relu_min_tile, "ttnn.maximum", false)
#undef TT_KERNEL_SCALAR_OP_INIT
#undef TT_KERNEL_SCALAR_OP

/// By a number whose reciprocal is not needed.
#define TT_KERNEL_QUOTIENT_OP(name, row)                                                                               \
  inline void name##_init(uint32_t = 0, uint32_t = 0) { tt::metal::api->computeCheck(#name "_init"); }                 \
  inline void name(uint32_t dst, uint32_t bits, uint32_t /*reciprocal*/ = 0) {                                         \
    tt::metal::api->scalarOp(row, false, dst, bits, false, #name);                                                     \
  }
TT_KERNEL_QUOTIENT_OP(fmod_tile, "truncated_remainder")
TT_KERNEL_QUOTIENT_OP(remainder_tile, "ttnn.remainder")
#undef TT_KERNEL_QUOTIENT_OP

/// The number is an integer, as are the elements.
#define TT_KERNEL_INTEGER_OP(name, row)                                                                                \
  TT_KERNEL_INIT(name##_init)                                                                                          \
  template <auto...> inline void name(uint32_t dst, uint32_t number) {                                                 \
    tt::metal::api->scalarOp(row, false, dst, number, true, #name);                                                    \
  }
TT_KERNEL_INTEGER_OP(bitwise_and_tile, "ttnn.bitwise_and")
TT_KERNEL_INTEGER_OP(bitwise_or_tile, "ttnn.bitwise_or")
TT_KERNEL_INTEGER_OP(bitwise_xor_tile, "ttnn.bitwise_xor")
TT_KERNEL_INTEGER_OP(left_shift_tile, "ttnn.logical_left_shift")
TT_KERNEL_INTEGER_OP(right_shift_tile, "right_shift")
#undef TT_KERNEL_INTEGER_OP

#define TT_KERNEL_FIXED_OP(name, row, first, bits)                                                                     \
  TT_KERNEL_INIT(name##_init)                                                                                          \
  inline void name(uint32_t dst) { tt::metal::api->scalarOp(row, first, dst, bits, false, #name); }
TT_KERNEL_FIXED_OP(eqz_tile, "ttnn.eq", false, 0)
TT_KERNEL_FIXED_OP(nez_tile, "ttnn.ne", false, 0)
TT_KERNEL_FIXED_OP(gtz_tile, "ttnn.gt", false, 0)
TT_KERNEL_FIXED_OP(gez_tile, "ttnn.ge", false, 0)
TT_KERNEL_FIXED_OP(ltz_tile, "ttnn.lt", false, 0)
TT_KERNEL_FIXED_OP(lez_tile, "ttnn.le", false, 0)
TT_KERNEL_FIXED_OP(exp2_tile, "ttnn.pow_tensor", true, 0x40000000)
#undef TT_KERNEL_FIXED_OP

/// The exponent is a small integer, or the bits of a float, as in the library's newer versions: the least normal float
/// has larger ones.
inline void power_tile(uint32_t dst, uint32_t exponent) {
  const uint32_t bits = exponent < 0x800000 ? __builtin_bit_cast(uint32_t, static_cast<float>(exponent)) : exponent;
  tt::metal::api->scalarOp("ttnn.pow_tensor", false, dst, bits, false, "power_tile");
}
inline void power_iterative_tile_init() { tt::metal::api->computeCheck("power_iterative_tile_init"); }
inline void power_iterative_tile(uint32_t dst, uint32_t exponent) { power_tile(dst, exponent); }
inline void square_tile(uint32_t dst) {
  const uint32_t dsts[] = {dst, dst, dst};
  tt::metal::api->tileOp(tt::metal::TileOp::mul_binary_tile, dsts);
}
/// result = dst1 - dst0
inline void rsub_binary_tile(uint32_t dst0, uint32_t dst1, uint32_t result) {
  const uint32_t dsts[] = {dst1, dst0, result};
  tt::metal::api->tileOp(tt::metal::TileOp::sub_binary_tile, dsts);
}

/// Names for integers: what is computed depends on what the registers hold.
#define TT_KERNEL_INTEGERS_OP(name, op, a, b)                                                                          \
  TT_KERNEL_INIT(name##_init)                                                                                          \
  template <auto...> inline void name(uint32_t dst0, uint32_t dst1, uint32_t result) {                                 \
    const uint32_t dsts[] = {a, b, result};                                                                            \
    tt::metal::api->tileOp(tt::metal::TileOp::op, dsts);                                                               \
  }
TT_KERNEL_INTEGERS_OP(add_int_tile, add_binary_tile, dst0, dst1)
TT_KERNEL_INTEGERS_OP(sub_int_tile, sub_binary_tile, dst0, dst1)
TT_KERNEL_INTEGERS_OP(rsub_int_tile, sub_binary_tile, dst1, dst0)
TT_KERNEL_INTEGERS_OP(mul_int_tile, mul_binary_tile, dst0, dst1)
TT_KERNEL_INTEGERS_OP(gt_int_tile, gt_binary_tile, dst0, dst1)
TT_KERNEL_INTEGERS_OP(ge_int_tile, ge_binary_tile, dst0, dst1)
TT_KERNEL_INTEGERS_OP(lt_int_tile, lt_binary_tile, dst0, dst1)
TT_KERNEL_INTEGERS_OP(le_int_tile, le_binary_tile, dst0, dst1)
TT_KERNEL_INTEGERS_OP(binary_max_int32_tile, binary_max_tile, dst0, dst1)
TT_KERNEL_INTEGERS_OP(binary_min_int32_tile, binary_min_tile, dst0, dst1)
#undef TT_KERNEL_INTEGERS_OP

//===- Functions with parameters ------------------------------------------===//

/// Parameters: the bits of floats.
#define TT_KERNEL_ROW_OP(name, row, parameters, ...)                                                                   \
  template <auto...> inline void name parameters {                                                                     \
    const uint32_t numbers[] = {__VA_ARGS__};                                                                          \
    tt::metal::api->rowOp(row, dst, numbers, sizeof numbers / sizeof *numbers, #name);                                 \
  }
#define TT_KERNEL_ROW_OP_INIT(name, row, parameters, ...)                                                              \
  TT_KERNEL_INIT(name##_init)                                                                                          \
  TT_KERNEL_ROW_OP(name, row, parameters, __VA_ARGS__)
TT_KERNEL_ROW_OP(hardtanh_tile, "ttnn.clamp_scalar", (uint32_t dst, uint32_t least, uint32_t most), least, most)
TT_KERNEL_ROW_OP(relu_max_tile, "ttnn.clamp_scalar", (uint32_t dst, uint32_t most), 0, most)
TT_KERNEL_ROW_OP_INIT(celu_tile, "celu", (uint32_t dst, uint32_t alpha, uint32_t reciprocal), alpha, reciprocal)
TT_KERNEL_ROW_OP_INIT(elu_tile, "elu", (uint32_t dst, uint32_t alpha), alpha)
TT_KERNEL_ROW_OP_INIT(hardshrink_tile, "hardshrink", (uint32_t dst, uint32_t lambda), lambda)
TT_KERNEL_ROW_OP_INIT(heaviside_tile, "heaviside", (uint32_t dst, uint32_t at_zero), at_zero)
TT_KERNEL_ROW_OP_INIT(leaky_relu_tile, "ttnn.leaky_relu", (uint32_t dst, uint32_t slope = 0), slope)
TT_KERNEL_ROW_OP_INIT(log_with_base_tile, "log_with_base", (uint32_t dst, uint32_t factor), factor)
TT_KERNEL_ROW_OP_INIT(prelu_tile, "ttnn.leaky_relu", (uint32_t dst, uint32_t weight), weight)
TT_KERNEL_ROW_OP_INIT(selu_tile, "selu", (uint32_t dst, uint32_t scale, uint32_t alpha), scale, alpha)
TT_KERNEL_ROW_OP_INIT(softplus_tile, "softplus", (uint32_t dst, uint32_t beta, uint32_t reciprocal, uint32_t threshold),
                      beta, reciprocal, threshold)
TT_KERNEL_ROW_OP_INIT(softshrink_tile, "softshrink", (uint32_t dst, uint32_t lambda), lambda)
TT_KERNEL_ROW_OP_INIT(threshold_tile, "threshold", (uint32_t dst, uint32_t threshold, uint32_t value), threshold, value)
#undef TT_KERNEL_ROW_OP_INIT
#undef TT_KERNEL_ROW_OP

#define TT_KERNEL_PLAIN_OP(name, row)                                                                                  \
  template <auto...> inline void name(uint32_t dst) { tt::metal::api->rowOp(row, dst, nullptr, 0, #name); }
#define TT_KERNEL_PLAIN_OP_INIT(name, row)                                                                             \
  TT_KERNEL_INIT(name##_init)                                                                                          \
  TT_KERNEL_PLAIN_OP(name, row)
TT_KERNEL_PLAIN_OP(frac_tile, "frac")
TT_KERNEL_PLAIN_OP(trunc_tile, "trunc")
TT_KERNEL_PLAIN_OP_INIT(identity_tile, "ttnn.assign")
TT_KERNEL_PLAIN_OP_INIT(isinf_tile, "isinf")
TT_KERNEL_PLAIN_OP_INIT(isnan_tile, "isnan")
TT_KERNEL_PLAIN_OP_INIT(isneginf_tile, "isneginf")
TT_KERNEL_PLAIN_OP_INIT(isposinf_tile, "isposinf")
TT_KERNEL_PLAIN_OP_INIT(signbit_tile, "signbit")
TT_KERNEL_PLAIN_OP_INIT(softsign_tile, "softsign")
#undef TT_KERNEL_PLAIN_OP_INIT
#undef TT_KERNEL_PLAIN_OP
#undef TT_KERNEL_INIT

/// To so many decimal places, from -38 to 38; ties to even.
inline void round_tile(uint32_t dst, int32_t decimals) {
  float scale = 1;
  for (int32_t i = 0; i < decimals && i < 38; ++i)
    scale *= 10;
  for (int32_t i = 0; i > decimals && i > -38; --i)
    scale /= 10;
  const auto bits = __builtin_bit_cast(uint32_t, scale);
  tt::metal::api->rowOp("round_to", dst, &bits, 1, "round_tile");
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
