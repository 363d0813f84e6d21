//===- kernel_print.h - DPRINT and zones of kernels -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//   DPRINT << "tile " << i << ENDL();
//   DPRINT << TSLICE(cb, 0, SliceRange::h0_w0_32()) << ENDL();
//
// What the kernels of a program print is collected by kernel, and written in the
// order of cores when the program ends or fails.
//
//   { DeviceZoneScopedN("read a"); … }
//
// A zone is a part of a kernel in the timeline of its core (docs/profiler.md).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/metal/kernel_noc.h"

namespace tt::metal {
struct DebugPrinter {};
struct EndLine {};
struct HexNext {};
struct DecNext {};
/// A part of a tile of a circular buffer.
struct PrintedTile {
  uint32_t cb, tile;
  TileSlice slice;
};

inline void printText(const char *text) { api->print(text, static_cast<uint32_t>(__builtin_strlen(text))); }
template <class... T> inline void printFormatted(const char *format, T... values) {
  char text[64];
  const int length = __builtin_snprintf(text, sizeof text, format, values...);
  api->print(text, static_cast<uint32_t>(length));
}
} // namespace tt::metal

inline namespace ckernel {

inline constexpr tt::metal::DebugPrinter DPRINT = {};
inline tt::metal::EndLine ENDL() { return {}; }

inline const tt::metal::DebugPrinter &operator<<(const tt::metal::DebugPrinter &to, const char *text) {
  tt::metal::printText(text);
  return to;
}
inline const tt::metal::DebugPrinter &operator<<(const tt::metal::DebugPrinter &to, char value) {
  tt::metal::api->print(&value, 1);
  return to;
}
inline const tt::metal::DebugPrinter &operator<<(const tt::metal::DebugPrinter &to, tt::metal::EndLine) {
  tt::metal::printText("\n");
  return to;
}
inline const tt::metal::DebugPrinter &operator<<(const tt::metal::DebugPrinter &to, bool value) {
  tt::metal::printText(value ? "1" : "0");
  return to;
}
#define TT_KERNEL_PRINT(type, format, as)                                                                              \
  inline const tt::metal::DebugPrinter &operator<<(const tt::metal::DebugPrinter &to, type value) {                    \
    tt::metal::printFormatted(format, static_cast<as>(value));                                                         \
    return to;                                                                                                         \
  }
TT_KERNEL_PRINT(unsigned char, "%u", unsigned)
TT_KERNEL_PRINT(short, "%d", int)
TT_KERNEL_PRINT(unsigned short, "%u", unsigned)
TT_KERNEL_PRINT(int, "%d", int)
TT_KERNEL_PRINT(unsigned, "%u", unsigned)
TT_KERNEL_PRINT(long, "%ld", long)
TT_KERNEL_PRINT(unsigned long, "%lu", unsigned long)
TT_KERNEL_PRINT(float, "%g", double)
TT_KERNEL_PRINT(double, "%g", double)
#undef TT_KERNEL_PRINT
inline const tt::metal::DebugPrinter &operator<<(const tt::metal::DebugPrinter &to,
                                                 const tt::metal::PrintedTile &value) {
  tt::metal::api->printTile(value.cb, value.tile, value.slice);
  return to;
}

/// Rows and columns of a tile to print.
struct SliceRange {
  uint8_t h0, h1, hs, w0, w1, ws;
  static constexpr SliceRange hw0_32_16() { return {0, 32, 16, 0, 32, 16}; }
  static constexpr SliceRange hw0_32_8() { return {0, 32, 8, 0, 32, 8}; }
  static constexpr SliceRange hw0_32_4() { return {0, 32, 4, 0, 32, 4}; }
  static constexpr SliceRange hw041() { return {0, 4, 1, 0, 4, 1}; }
  static constexpr SliceRange h0_w0_32() { return {0, 1, 1, 0, 32, 1}; }
  static constexpr SliceRange h0_32_w0() { return {0, 32, 1, 0, 1, 1}; }
};
inline tt::metal::PrintedTile TileSlice(uint32_t cb, uint32_t tile, const SliceRange &range) {
  return {cb, tile, {range.h0, range.h1, range.hs, range.w0, range.w1, range.ws}};
}
template <class... T> inline tt::metal::PrintedTile TSLICE(uint32_t cb, uint32_t tile, const SliceRange &range, T...) {
  return TileSlice(cb, tile, range);
}

} // namespace ckernel

namespace tt::metal {
inline void failAssert(const char *what, uint32_t line) {
  api->at(line);
  api->failAssert(what);
}
} // namespace tt::metal

namespace tt::metal {
class Zone {
public:
  explicit Zone(const char *name) { api->beginZone(name); }
  Zone(const Zone &) = delete;
  Zone &operator=(const Zone &) = delete;
  ~Zone() { api->endZone(); }
};
} // namespace tt::metal
#define TT_KERNEL_JOINED(a, b) a##b
#define TT_KERNEL_ZONE(name, number) const tt::metal::Zone TT_KERNEL_JOINED(zone_of_line_, number)(name)
#define DeviceZoneScopedN(name) TT_KERNEL_ZONE(name, __LINE__)

/// Ends the program with an error unless a condition holds: ASSERT(condition), or ASSERT(condition, "what is wrong").
#define TT_KERNEL_ASSERT_TEXT(condition, text, ...) text
#define ASSERT(condition, ...)                                                                                         \
  ((condition)                                                                                                         \
       ? void()                                                                                                        \
       : tt::metal::failAssert(TT_KERNEL_ASSERT_TEXT(condition __VA_OPT__(, ) __VA_ARGS__, #condition), __LINE__))

// What only one of the processors of a core prints on the chip: here, a kernel is one thread.
#define DPRINT_MATH(...) __VA_ARGS__
#define DPRINT_UNPACK(...)
#define DPRINT_PACK(...)
#define DPRINT_DATA0(...) __VA_ARGS__
#define DPRINT_DATA1(...) __VA_ARGS__
