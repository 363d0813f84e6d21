//===- arithmetic.h - arithmetic of the chip, bit for bit ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What unpacker, matrix unit, vector unit and packer of Wormhole do with the
// bits of a value, for formats with an 8-bit exponent. Each rule stands once.
// Values travel as f32 bit patterns: those of a source register have at most 10
// mantissa bits, those of a 16-bit destination 7.
//
// Sources: tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor ([I]);
// ttsim, src/tensix.cpp and src/fma.cpp ([T]), which is followed where they
// differ.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace tt::sim::exact {

enum class Destination : uint8_t { Bits16, Bits32 };

//===----------------------------------------------------------------------===//
// Unpacker: memory to source registers ([I] UNPACR_Regular)
//===----------------------------------------------------------------------===//

/// f32 as TF32: 13 bits are dropped. Denormals keep their bits, the units read them as zero.
inline uint32_t unpackToTf32(uint32_t bits) { return bits & ~0x1fffu; }
/// f32 as bf16: 16 bits are dropped, denormals become zeros of their sign.
inline uint32_t unpackToBf16(uint32_t bits) { return bits & ((bits & 0x7f800000) ? 0xffff0000 : 0x80000000); }

//===----------------------------------------------------------------------===//
// Packer: destination to memory ([I] Packers/FormatConversion)
//===----------------------------------------------------------------------===//

/// To bf16: ties away from zero, NaN becomes Inf, zeros and denormals +0.
uint16_t packToBf16(uint32_t bits);
/// Rounds before packing to block formats: 6 mantissa bits, of the 7 that truncation to bf16 leaves, ties away from
/// zero.
uint16_t packToE8M6(uint32_t bits);

/// Partial sums that the packer adds in memory, in f32 (after a 32-bit destination) or bf16.
uint32_t addInL1(uint32_t old, uint32_t added, Destination width);

/// A group of values with one exponent.
struct Group {
  uint8_t exponent;
  uint8_t magnitude[16];
  bool negative[16];
};
/// `n` <= 16 intermediate values (packToBf16, packToE8M6) with magnitudes of 7, 3 or 1 bits: rounded to 7, ties away
/// from zero, and truncated from there.
Group packBlock(const uint16_t *values, size_t n, int magnitudeBits);
/// The bf16 pattern of one datum as the unpacker reads it.
uint16_t unpackBlock(bool negative, uint8_t magnitude, int magnitudeBits, uint8_t exponent);

//===----------------------------------------------------------------------===//
// Matrix unit ([T]; [I] MVMUL, ELWMUL, ELWADD)
//===----------------------------------------------------------------------===//

/// dst + the sum of 16 products of one fidelity phase (0 to 3). `a` is of SrcA, the right operand of a matmul, `b` of
/// SrcB, its left one.
uint32_t dotStep(const uint32_t *a, const uint32_t *b, uint32_t dst, int phase, Destination width);
/// The sum over k of b[k] * a[k], in the order of matmul_tiles: tiles of 32, in each the phases, in each two halves of
/// 16. `k` is a multiple of 32; `dst` is what the destination holds before.
uint32_t dot(const uint32_t *a, const uint32_t *b, size_t k, uint32_t dst, int phases, Destination width);
uint32_t multiply(uint32_t a, uint32_t b, int phases, Destination width);
/// The larger of two, as integers of sign and magnitude; zeros and denormals are +0 ([I] GMPOOL).
uint32_t poolMaximum(uint32_t a, uint32_t b);
uint32_t add(uint32_t a, uint32_t b, Destination width);
/// dst + (a + b), an ELWADD that accumulates.
uint32_t addTo(uint32_t dst, uint32_t a, uint32_t b, Destination width);
inline uint32_t subtract(uint32_t a, uint32_t b, Destination width) { return add(a, b ^ 0x80000000, width); }

//===----------------------------------------------------------------------===//
// Vector unit ([T] fma.cpp; [I] SFPMAD)
//===----------------------------------------------------------------------===//

/// x * y + z, with 28 bits of the product and a sticky bit.
uint32_t multiplyAdd(uint32_t x, uint32_t y, uint32_t z);
/// The larger and the smaller of two as integers of sign and magnitude: -NaN < -Inf < ... < NaN ([I] SFPSWAP).
bool isLess(uint32_t a, uint32_t b);
/// To bf16 in the vector unit: ties away from zero, NaN becomes Inf, zeros and denormals +0 ([I] SFPSTOCHRND).
inline uint32_t roundToBf16(uint32_t bits) { return uint32_t(packToBf16(bits)) << 16; }

} // namespace tt::sim::exact
