//===- small_floats.cpp - floats of 4 and 8 bits on the host --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "small_floats.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

namespace tt::pjrt {
namespace {

/// The values of the codes with the largest exponent that are not numbers.
enum class Special : uint8_t {
  Ieee,      // infinities and NaNs
  LastIsNaN, // a NaN in the last one of each sign
  ZeroIsNaN, // one NaN, where -0 would be
  Powers,    // no sign, no mantissa, and no zero; a NaN in the last one
  None,
};

struct Format {
  PJRT_Buffer_Type type;
  int exponentBits, mantissaBits, bias;
  Special special;
};

#define T(name) PJRT_Buffer_Type_##name
constexpr std::array formats = {
    Format{T(F8E5M2), 5, 2, 15, Special::Ieee},
    Format{T(F8E4M3), 4, 3, 7, Special::Ieee},
    Format{T(F8E3M4), 3, 4, 3, Special::Ieee},
    Format{T(F8E4M3FN), 4, 3, 7, Special::LastIsNaN},
    Format{T(F8E4M3B11FNUZ), 4, 3, 11, Special::ZeroIsNaN},
    Format{T(F8E4M3FNUZ), 4, 3, 8, Special::ZeroIsNaN},
    Format{T(F8E5M2FNUZ), 5, 2, 16, Special::ZeroIsNaN},
    Format{T(F8E8M0FNU), 8, 0, 127, Special::Powers},
    Format{T(F4E2M1FN), 2, 1, 1, Special::None},
};
#undef T

float valueOf(const Format &format, unsigned code) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if (format.special == Special::Powers)
    return code == 255 ? nan : std::ldexp(1.0F, static_cast<int>(code) - format.bias);
  const unsigned bits = static_cast<unsigned>(format.exponentBits + format.mantissaBits), sign = code >> bits & 1,
                 magnitude = code & ((1U << bits) - 1), last = (1U << bits) - 1;
  const int exponent = static_cast<int>(magnitude >> format.mantissaBits), most = (1 << format.exponentBits) - 1;
  const auto fraction = static_cast<float>(magnitude & ((1U << format.mantissaBits) - 1));
  float value = exponent ? std::ldexp(fraction + std::ldexp(1.0F, format.mantissaBits),
                                      exponent - format.bias - format.mantissaBits)
                         : std::ldexp(fraction, 1 - format.bias - format.mantissaBits);
  if (format.special == Special::Ieee && exponent == most)
    value = fraction == 0.0F ? std::numeric_limits<float>::infinity() : nan;
  else if (format.special == Special::LastIsNaN && magnitude == last)
    value = nan;
  else if (format.special == Special::ZeroIsNaN && magnitude == 0 && sign)
    return nan;
  return std::copysign(value, sign ? -1.0F : 1.0F);
}

/// The value of each code, and the code of each value by the upper half of its bits: no mantissa has more than 7 bits.
struct Tables {
  std::array<float, 256> values;
  std::array<uint8_t, 65536> codes;

  explicit Tables(const Format &format) {
    const unsigned count = format.type == PJRT_Buffer_Type_F4E2M1FN ? 16 : 256;
    for (unsigned code = 0; code < 256; ++code)
      values[code] = valueOf(format, code % count);
    uint8_t nans[2] = {0, 0};
    // Among several, the quiet NaN is the last one with a single bit in its mantissa.
    for (unsigned code = 0; code < count; ++code)
      if (std::isnan(values[code]) && (format.special != Special::Ieee ||
                                       (code & ((1U << format.mantissaBits) - 1)) == 1U << (format.mantissaBits - 1)))
        nans[code >= 128 && format.special != Special::Powers] = static_cast<uint8_t>(code);
    if (format.special == Special::ZeroIsNaN)
      nans[0] = nans[1];
    if (format.special == Special::Powers)
      nans[1] = nans[0];
    for (unsigned half = 0; half < 65536; ++half)
      codes[half] = (half & 0x7fff) > 0x7f80 ? nans[half >> 15] : 0;
    for (unsigned code = 0; code < count; ++code)
      if (!std::isnan(values[code]))
        codes[std::bit_cast<uint32_t>(values[code]) >> 16] = static_cast<uint8_t>(code);
  }
};

const Tables &tablesOf(PJRT_Buffer_Type type) {
  static std::mutex mutex;
  static auto *made = new std::map<PJRT_Buffer_Type, std::unique_ptr<Tables>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<Tables> &tables = (*made)[type];
  if (!tables)
    for (const Format &format : formats)
      if (format.type == type)
        tables = std::make_unique<Tables>(format);
  if (!tables)
    unimplemented("element type " + std::to_string(type) + " of PJRT is no float of 4 or 8 bits");
  return *tables;
}

} // namespace

void expandSmallFloats(PJRT_Buffer_Type type, const std::byte *from, std::byte *to, size_t count) {
  const Tables &tables = tablesOf(type);
  for (size_t i = 0; i < count; ++i)
    std::memcpy(to + i * sizeof(float), &tables.values[static_cast<uint8_t>(from[i])], sizeof(float));
}

void packSmallFloats(PJRT_Buffer_Type type, const std::byte *from, std::byte *to, size_t count) {
  const Tables &tables = tablesOf(type);
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
    to[i] = static_cast<std::byte>(tables.codes[bits >> 16]);
  }
}

} // namespace tt::pjrt
