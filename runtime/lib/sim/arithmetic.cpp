//===- arithmetic.cpp - arithmetic of the chip, bit for bit ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace tt::sim::exact {

namespace {

constexpr uint32_t signBit = 0x80000000, infinity = 0x7f800000, hiddenBit = 1u << 23, mantissaMask = hiddenBit - 1;

int exponentOf(uint32_t bits) { return static_cast<int>(bits >> 23 & 255); }
bool isNaN(uint32_t bits) { return (bits & ~signBit) > infinity; }
uint32_t withoutNaN(uint32_t bits) { return isNaN(bits) ? (bits & signBit) | infinity : bits; }
uint16_t withoutDenormal(uint32_t bf16) { return static_cast<uint16_t>((bf16 & 0x7f80) ? bf16 : 0); }

} // namespace

uint16_t packToBf16(uint32_t bits) { return withoutDenormal((withoutNaN(bits) + 0x8000) >> 16); }
// The low half is dropped before the rounding: a value just above a tie becomes one.
uint16_t packToE8M6(uint32_t bits) { return withoutDenormal(((withoutNaN(bits) >> 16) + 1) & 0xfffe); }

Group packBlock(const uint16_t *values, size_t n, int magnitudeBits) {
  Group group{};
  int shared = 0; // 255 is an exponent like others here
  for (size_t i = 0; i < n; ++i)
    shared = std::max(shared, values[i] >> 7 & 255);
  group.exponent = static_cast<uint8_t>(shared);
  for (size_t i = 0; i < n; ++i) {
    const int exponent = values[i] >> 7 & 255, shift = shared - exponent;
    const int significand = exponent ? 128 | (values[i] & 127) : 0;
    const int rounded = shift >= 8 ? 0 : std::min((significand + (1 << shift)) >> (shift + 1), 127);
    group.magnitude[i] = static_cast<uint8_t>(rounded >> (7 - magnitudeBits));
    group.negative[i] = group.magnitude[i] && values[i] >> 15;
  }
  return group;
}

uint32_t addInL1(uint32_t old, uint32_t added, Destination width) {
  const auto flushed = [](uint32_t bits) { return exponentOf(bits) ? bits : bits & signBit; };
  old = flushed(old), added = flushed(added);
  if (width == Destination::Bits32) {
    const float sum = std::bit_cast<float>(old) + std::bit_cast<float>(added);
    return sum != sum ? infinity | 0x400000 : flushed(std::bit_cast<uint32_t>(sum));
  }
  if (exponentOf(old) == 255 || exponentOf(added) == 255) {
    // A NaN in memory is an infinite value, one of the packer a finite one of the largest exponent.
    const bool oldIsLarge = exponentOf(old) == 255, addedIsInfinite = (added & ~signBit) == infinity;
    if (oldIsLarge && addedIsInfinite)
      return (old ^ added) & signBit ? infinity | 0x400000 : (added & signBit) | infinity;
    return ((oldIsLarge ? old : added) & signBit) | infinity;
  }
  // The exact sum is a double, except if the smaller one is beyond the rounding of the other.
  const double sum = static_cast<double>(std::bit_cast<float>(old)) + static_cast<double>(std::bit_cast<float>(added));
  const auto wide = std::bit_cast<uint64_t>(sum);
  const auto sign = static_cast<uint32_t>(wide >> 32) & signBit;
  const uint64_t magnitude = wide & ~(uint64_t(1) << 63);
  const uint64_t rounded = (magnitude + (uint64_t(1) << 44) - 1 + (magnitude >> 45 & 1)) >> 45; // 7 mantissa bits
  const int exponent = static_cast<int>(rounded >> 7) - 1023 + 127;
  if (!magnitude || exponent <= 0)
    return sign;
  if (exponent >= 255)
    return sign | infinity;
  return sign | static_cast<uint32_t>(exponent) << 23 | static_cast<uint32_t>(rounded & 127) << 16;
}

uint16_t unpackBlock(bool negative, uint8_t magnitude, int magnitudeBits, uint8_t exponent) {
  const auto bits = static_cast<uint8_t>(magnitude << (8 - magnitudeBits)); // the top bit has the weight 1
  if (!bits)
    return negative ? 0xff80 : 0;
  const int zeros = std::countl_zero(bits);
  const int wrapped = (exponent - zeros) & 255;
  return static_cast<uint16_t>(negative << 15 | wrapped << 7 | ((bits << zeros) & 0x7e));
}

namespace {

/// (-1)^negative * significand * 2^exponent, up to a constant of the unit's stage.
struct Term {
  bool negative;
  int exponent;
  int64_t significand;
};
constexpr Term zeroTerm{false, 0, 0};

int significand11(uint32_t bits) { return static_cast<int>(1024 | (bits >> 13 & 1023)); }

/// The product of the mantissa parts of one phase. A zero still has an exponent, 0, in the comparison of terms.
Term product(uint32_t a, uint32_t b, int phase) {
  const bool lowA = phase & 1, lowB = phase & 2;
  if (!exponentOf(a) || !exponentOf(b))
    return zeroTerm;
  const int partA = lowA ? significand11(a) >> 1 & 31 : significand11(a) >> 6;
  const int partB = lowB ? (significand11(b) & 15) << 3 : significand11(b) >> 4;
  return {((a ^ b) & signBit) != 0, exponentOf(a) + exponentOf(b) - 127 - (lowA ? 5 : 0) - (lowB ? 7 : 0),
          int64_t{partA} * partB};
}

/// The sum of 8 products at their largest exponent, each rounded half up in magnitude.
Term sumOfHalf(const uint32_t *a, const uint32_t *b, int phase) {
  Term terms[8];
  for (int i = 0; i < 8; ++i)
    terms[i] = product(a[i], b[i], phase);
  int largest = terms[0].exponent;
  for (const Term &term : terms)
    largest = std::max(largest, term.exponent);
  if (largest <= 0)
    return zeroTerm;
  int64_t sum = 0;
  for (const Term &term : terms) {
    const int shift = std::min(largest - term.exponent, 30);
    const int64_t rounded = (2 * term.significand + (int64_t{1} << shift)) >> (shift + 1);
    sum += term.negative ? -rounded : rounded;
  }
  return {sum < 0, largest, std::abs(sum) << 13};
}

/// A term at the exponent of the largest, rounded half toward +Inf of its signed value.
int64_t alignTerm(const Term &term, int exponent, Destination width) {
  const int shift = exponent - term.exponent;
  int64_t value = term.significand;
  if (shift > 0)
    value = shift < 31 ? (value + (int64_t{1} << (shift - 1)) - term.negative) >> shift : 0;
  if (width == Destination::Bits16)
    value = (value + 4096 - term.negative) & ~int64_t{8191};
  return value;
}

/// The destination at that exponent, rounded half away from zero.
int64_t alignDestination(uint32_t dst, int exponent, Destination width) {
  const int shift = exponent - exponentOf(dst);
  int64_t value = exponentOf(dst) ? hiddenBit | (dst & mantissaMask) : 0;
  if (shift > 0)
    value = shift < 31 ? (value + (int64_t{1} << (shift - 1))) >> shift : 0;
  if (width == Destination::Bits16)
    value = (value + 4096) & ~int64_t{8191};
  return value;
}

/// dst + first + second, each rounded once to the common exponent, and the sum to the destination. The unit writes no
/// NaN, no denormal and no -0; values that are too large become Inf.
uint32_t accumulate(const Term &first, const Term &second, uint32_t dst, Destination width) {
  const bool narrow = width == Destination::Bits16, dstNegative = (dst & signBit) != 0;
  int exponent = std::max({first.exponent, second.exponent, exponentOf(dst)});
  if (exponent <= 0)
    return 0;
  int64_t sum = alignDestination(dst, exponent, width);
  for (const Term *term : {&first, &second})
    sum += (term->negative == dstNegative ? 1 : -1) * alignTerm(*term, exponent, width);
  const bool negative = dstNegative != (sum < 0);
  auto magnitude = static_cast<uint32_t>(std::abs(sum));
  if (!magnitude)
    return 0;
  int shift = std::countl_zero(magnitude) - 8;
  // A defect of Wormhole (tt-metal #38306): a negative sum of one unit is too large by 2^27.
  if (negative && magnitude == 1)
    shift -= 27;
  exponent -= shift;
  if (narrow)
    shift -= 16;
  magnitude = shift < 0 ? (magnitude + (1u << (-shift - 1))) >> -shift : magnitude << shift;
  if (narrow)
    magnitude <<= 16;
  if (magnitude & (hiddenBit << 1))
    ++exponent;
  if (exponent <= 0)
    return 0;
  const uint32_t sign = negative ? signBit : 0;
  if (exponent >= 255)
    return sign | infinity;
  return sign | static_cast<uint32_t>(exponent) << 23 | (magnitude & mantissaMask);
}

} // namespace

uint32_t dotStep(const uint32_t *a, const uint32_t *b, uint32_t dst, int phase, Destination width) {
  return accumulate(sumOfHalf(a, b, phase), sumOfHalf(a + 8, b + 8, phase), dst, width);
}

uint32_t dot(const uint32_t *a, const uint32_t *b, size_t k, uint32_t dst, int phases, Destination width) {
  for (size_t tile = 0; tile < k; tile += 32)
    for (int phase = 0; phase < phases; ++phase)
      for (size_t half = tile; half < tile + 32; half += 16)
        dst = dotStep(a + half, b + half, dst, phase, width);
  return dst;
}

uint32_t multiply(uint32_t a, uint32_t b, int phases, Destination width) {
  uint32_t dst = 0;
  for (int phase = 0; phase < phases; ++phase) {
    Term term = product(a, b, phase);
    term.significand <<= 13;
    dst = accumulate(term.exponent <= 0 ? zeroTerm : term, zeroTerm, dst, width);
  }
  return dst;
}

uint32_t poolMaximum(uint32_t a, uint32_t b) {
  const auto operand = [](uint32_t bits) { return exponentOf(bits) ? bits : 0; };
  return isLess(operand(a), operand(b)) ? operand(b) : operand(a);
}

uint32_t add(uint32_t a, uint32_t b, Destination width) { return addTo(0, a, b, width); }

uint32_t addTo(uint32_t dst, uint32_t a, uint32_t b, Destination width) {
  if ((a & ~signBit) < (b & ~signBit))
    std::swap(a, b);
  const int shift = exponentOf(a) - exponentOf(b);
  const int larger = exponentOf(a) ? significand11(a) : 0;
  int smaller = exponentOf(b) && shift < 12 ? significand11(b) : 0;
  if (shift > 0 && smaller)
    smaller = (smaller + (1 << (shift - 1))) >> shift;
  const int64_t sum = (a ^ b) & signBit ? larger - smaller : larger + smaller;
  return accumulate({(a & signBit) != 0, exponentOf(a), sum << 13}, zeroTerm, dst, width);
}

namespace {

/// Shifts right; a lost bit sets the last one, except if nothing is left.
uint64_t shiftSticky(uint64_t value, int shift, int width) {
  if (shift <= 0)
    return value;
  if (shift >= width)
    return 0;
  const uint64_t shifted = value >> shift;
  return shifted && (value & ((uint64_t{1} << shift) - 1)) ? shifted | 1 : shifted;
}

uint64_t significand24(uint32_t bits) { return exponentOf(bits) ? hiddenBit | (bits & mantissaMask) : 0; }
bool isInfinity(uint32_t bits) { return (bits & ~signBit) == infinity; }

} // namespace

bool isLess(uint32_t a, uint32_t b) {
  // Among negative ones the larger magnitude is less; -0 is less than +0.
  const auto ordered = [](uint32_t bits) { return bits & signBit ? ~bits : bits | signBit; };
  return ordered(a) < ordered(b);
}

uint32_t multiplyAdd(uint32_t x, uint32_t y, uint32_t z) {
  const uint32_t zSign = z & signBit, productSign = (x ^ y) & signBit;
  uint64_t productBits = (significand24(x) * significand24(y)) << 3;
  productBits = productBits >> 23 | ((productBits & mantissaMask) != 0);
  int productExponent = exponentOf(x) + exponentOf(y) - 127;
  const int zExponent = exponentOf(z);
  uint64_t zBits = significand24(z) << 3;
  uint32_t nan = 0;

  const bool endless = exponentOf(x) == 255 || exponentOf(y) == 255 || productExponent >= 255;
  if (endless || zExponent == 255) {
    const bool zeroTimesInfinity = (isInfinity(x) && !exponentOf(y)) || (isInfinity(y) && !exponentOf(x));
    if (isNaN(x) || isNaN(y) || zeroTimesInfinity || (isInfinity(z) && endless && zSign != productSign))
      nan = productSign | infinity | 1;
    else if (isNaN(z))
      nan = zSign | infinity | 1;
    else
      return isInfinity(z) ? z : productSign | infinity;
    productExponent = std::min(productExponent, 255);
  }
  if (!productBits || productExponent < 0) {
    if (!nan)
      return zBits ? z : 0;
    productBits = 0;
    productExponent = 0;
  }
  int exponent = std::max(productExponent, zExponent);
  productBits = shiftSticky(productBits, exponent - productExponent, 64);
  zBits = shiftSticky(zBits, exponent - zExponent, 32);
  const uint32_t sign = productBits >= zBits ? productSign : zSign;
  const auto difference = static_cast<int64_t>(productBits) - static_cast<int64_t>(zBits);
  auto sum =
      static_cast<uint32_t>(productSign == zSign ? productBits + zBits : static_cast<uint64_t>(std::abs(difference)));
  if (!sum)
    return nan;
  const int shift = 5 - std::countl_zero(sum);
  exponent += shift;
  if (exponent >= 255)
    return nan ? nan : sign | infinity;
  if (exponent < 0)
    return nan;
  sum = shift <= 0 ? sum << -shift : sum >> shift | (sum & 1);
  uint32_t result = (static_cast<uint32_t>(exponent) << 23) + (sum >> 3 & mantissaMask);
  if ((sum & 7) + (result & 1) > 4) // ties to even
    ++result;
  if (result < hiddenBit)
    return nan;
  return (nan ? nan : sign) | result; // bits of the sum remain in a NaN
}

} // namespace tt::sim::exact
