//===- Formats.cpp - floats of 4, 6 and 8 bits in f32 ---------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// f32 holds the values of all these formats. Its bits are rounded as integers, so that every device computes the same;
// numbers below the normal range of a format are rounded by adding a number whose last bit has the weight of the
// format's last bit.
//
//===----------------------------------------------------------------------===//

#include "Formats.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

static constexpr uint32_t signBit = 0x80000000, infinityBits = 0x7f800000, quietBits = 0x7fc00000;

namespace {
struct Format {
  explicit Format(FloatType type) : semantics(type.getFloatSemantics()) {
    mantissa = static_cast<int>(APFloat::semanticsPrecision(semantics)) - 1;
    leastExponent = APFloat::semanticsMinExponent(semantics);
    width = static_cast<int>(type.getWidth());
    hasInfinity = APFloat::semanticsHasInf(semantics);
    hasNaN = APFloat::semanticsHasNaN(semantics);
    onlyPowers = !APFloat::semanticsHasZero(semantics);
    hasMinusZero = !onlyPowers && APFloat::getZero(semantics, /*Negative=*/true).isNegative();
    nanCode = hasNaN ? code(APFloat::getQNaN(semantics)) : 0;
    infinityCode = hasInfinity ? code(APFloat::getInf(semantics)) : 0;
    APFloat most = APFloat::getLargest(semantics);
    bool lost = false;
    most.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    largest = code(most);
  }

  /// The number of additional mantissa bits of f32.
  int gone() const { return 23 - mantissa; }
  /// Added to the exponent bits of the format, in f32's position.
  uint32_t bias() const { return static_cast<uint32_t>(leastExponent + 126); }
  uint32_t leastNormal() const { return static_cast<uint32_t>(leastExponent + 127) << 23; }
  /// Its last bit has the weight of that of subnormal numbers.
  float magic() const { return std::ldexp(1.0F, leastExponent - mantissa + 23); }
  uint32_t codeSign() const { return uint32_t(1) << (width - 1); }
  /// The NaN is where others have -0.
  bool nanHasNoSign() const { return (nanCode & codeSign()) != 0; }

  const llvm::fltSemantics &semantics;
  int mantissa, leastExponent, width;
  bool hasInfinity, hasNaN, onlyPowers, hasMinusZero;
  uint32_t nanCode, infinityCode, largest;

private:
  static uint32_t code(const APFloat &value) { return static_cast<uint32_t>(value.bitcastToAPInt().getZExtValue()); }
};
} // namespace

FloatType hlo::smallFloatOf(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 16 ? element : FloatType();
}

static Type word(Expr x) { return x.build().getIntegerType(32, false); }
static Expr floats(Expr bits) { return bits.bitcast(Type(bits.build().getF32Type())); }

/// Powers of two, and NaN: half of a power or more rounds up to the next. The least, 2^-127, is subnormal in f32.
static Expr roundToPower(Expr bits) {
  Expr powers = (bits + 0x00400000) & 0xff800000;
  Expr rounded =
      (bits > 0x00bfffff).select(powers, (bits > 0x00400000).select(bits.number(0x00800000), bits.number(0x00400000)));
  // As integers, the bits of NaN and of negative numbers are larger than those of infinity.
  Expr invalid = (bits >= infinityBits) | (rounded >= infinityBits) | (bits == 0);
  return floats(invalid.select(bits.number(quietBits), rounded));
}

Expr hlo::roundTo(FloatType type, Expr x) {
  const Format format(type);
  Expr bits = x.bitcast(word(x));
  if (format.onlyPowers)
    return roundToPower(bits);
  Expr sign = bits & signBit, magnitude = bits & 0x7fffffff;
  const uint32_t below = (uint32_t(1) << format.gone()) - 1;
  Expr normal = (magnitude + ((magnitude.shr(format.gone()) & 1) + static_cast<double>(below >> 1))) & ~below;
  Expr tiny = (floats(magnitude) + format.magic() - format.magic()).bitcast(word(x));
  Expr rounded = (magnitude < format.leastNormal()).select(tiny, normal);
  const uint32_t above = format.hasInfinity ? infinityBits : format.hasNaN ? quietBits : format.largest;
  rounded = (rounded > format.largest).select(rounded.number(above), rounded);
  Expr invalid = magnitude > infinityBits;
  if (format.hasInfinity)
    rounded = invalid.select(rounded.number(quietBits), rounded);
  if (!format.hasMinusZero)
    sign = (rounded == 0).select(sign.number(0), sign);
  rounded = rounded | sign;
  // In a format without NaN, it becomes -0, as in XLA.
  if (!format.hasNaN)
    rounded = invalid.select(rounded.number(signBit), rounded);
  return floats(rounded);
}

Expr hlo::encode(FloatType type, Expr x) {
  const Format format(type);
  Type byte = x.build().getIntegerType(8, false);
  Expr bits = x.bitcast(word(x));
  Expr magnitude = bits & 0x7fffffff, invalid = magnitude > infinityBits;
  if (format.onlyPowers)
    return invalid.select(bits.number(format.nanCode), magnitude.shr(23)).convert(byte);
  Expr sign = bits.shr(32 - format.width) & format.codeSign();
  Expr normal = magnitude.shr(format.gone()) - (format.bias() << format.mantissa);
  const Expr magic = floats(magnitude).number(format.magic()).bitcast(word(x));
  Expr tiny = (floats(magnitude) + format.magic()).bitcast(word(x)) - magic;
  Expr codes = (magnitude < format.leastNormal()).select(tiny, normal);
  if (format.hasInfinity)
    codes = (magnitude == infinityBits).select(codes.number(format.infinityCode), codes);
  if (format.hasNaN && !format.nanHasNoSign())
    codes = invalid.select(codes.number(format.nanCode), codes);
  codes = codes | sign;
  if (format.nanHasNoSign())
    codes = invalid.select(codes.number(format.nanCode), codes);
  return codes.convert(byte);
}

Expr hlo::decode(FloatType type, Expr bytes) {
  const Format format(type);
  Expr codes = bytes.convert(bytes.build().getIntegerType(32, false)) & ((uint64_t(1) << format.width) - 1);
  if (format.onlyPowers) {
    Expr powers = (codes == 0).select(codes.number(0x00400000), codes.shl(23));
    return floats((codes == format.nanCode).select(codes.number(quietBits), powers));
  }
  Expr sign = (codes & format.codeSign()).shl(32 - format.width), magnitude = codes & (format.codeSign() - 1);
  Expr normal = magnitude.shl(format.gone()) + static_cast<double>(format.bias() << 23);
  const Expr magic = floats(magnitude).number(format.magic()).bitcast(word(codes));
  Expr tiny = (floats(magnitude | magic) - format.magic()).bitcast(word(codes));
  Expr bits = (magnitude >= static_cast<double>(uint32_t(1) << format.mantissa)).select(normal, tiny);
  if (format.hasInfinity) {
    bits = (magnitude > format.infinityCode).select(bits.number(quietBits), bits);
    bits = (magnitude == format.infinityCode).select(bits.number(infinityBits), bits);
  } else if (format.hasNaN && !format.nanHasNoSign()) {
    bits = (magnitude == format.nanCode).select(bits.number(quietBits), bits);
  }
  bits = bits | sign;
  if (format.nanHasNoSign())
    bits = (codes == format.nanCode).select(bits.number(quietBits), bits);
  return floats(bits);
}
