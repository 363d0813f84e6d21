//===- tiles.h - products of tiles on the matrix unit ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A few rows by 16 columns, one tile of K. The sum of eight products of one fidelity phase is eight fused multiply-adds
// in f32: it begins with a number whose last place is the unit to which the chip rounds products, so every step rounds
// as the chip does.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace tt::ttnn::exact::tiles {

constexpr int64_t rows = 4, columns = 16, tile = 32;
constexpr int64_t group = 8; // products that share an exponent

/// The exponent of a zero, in sums with any other.
constexpr int16_t zeroExponent = -4096;
// Sums of two exponent fields for which nothing underflows or overflows on the way: the rest of a sum of products when
// all but its last place cancels is a normal f32, and so is the unit of the least phase.
constexpr int32_t leastSum = 188, mostSum = 330;

/// Ties of a product are rounded away from zero and those of f32 to even: the left parts are larger by this, too little
/// to reach a tie from below (a product of parts has 12 bits).
constexpr float awayFromZero = 1.0f + 0x1p-13f;

/// An operand split into the parts of its digits that phases multiply: the upper ones of the value, and the lower ones
/// times 2^7 on the left and 2^5 on the right, so that the products of all phases begin at one exponent.
struct Left { // rows, a tile of K inside
  const float *high, *low;
  const int32_t *exponents; // field, twice in each half, or zeroExponent
};
struct Right { // a tile of K by 16 columns
  const float *high, *low;
  const int16_t *exponents;
  int64_t next = 0; // elements to the next block of columns
};
using Exponents = int16_t __attribute__((vector_size(columns * 2)));

/// Adds a tile of K to rows of the destination, `stride` apart.
using Function = void (*)(const Left &left, const Right &right, int32_t *dst, int64_t stride);

/// The functions of a vector unit, by the number of phases minus 1, and by the width of the destination.
struct Functions {
  Function many[4][2], one[4][2]; // of `rows` rows, and of one
  Function two[4][2];             // of `rows` rows and two blocks of columns, or nullptr
};
namespace vectors256 {
extern const Functions functions;
}
#if defined(__x86_64__)
namespace vectors512 {
extern const Functions functions;
}
#endif

} // namespace tt::ttnn::exact::tiles
