//===- print.cpp - what kernels print -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/tile.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cstdio>

namespace tt::metal {

constexpr size_t mostPrinted = size_t(1) << 20; // bytes of a kernel on a core

void KernelRun::print(std::string_view text) {
  while (!text.empty()) {
    if (printed.size() > mostPrinted)
      fail("DPRINT", "has printed more than " + std::to_string(mostPrinted) + " bytes");
    if (printed.empty() || printed.back() == '\n')
      printed += core.name() + " " + std::string(kernel.symbol) + ": ";
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    printed += text.substr(0, end);
    text.remove_prefix(end);
  }
}

void KernelRun::printTile(uint32_t cb, uint32_t tile, TileSlice slice) {
  constexpr std::string_view function = "TileSlice";
  const Ring &ring = this->ring(cb, function);
  const auto side = static_cast<uint32_t>(tileSide);
  if (!slice.rowStep || !slice.columnStep || slice.rowEnd > side || slice.columnEnd > side)
    fail(function, "takes rows and columns up to 32, with steps of 1 or more");
  // The producer prints its reserved pages, the consumer the available ones.
  const std::byte *from =
      tile < ring.waited ? frontTile(cb, tile, function) : backTile(cb, tile, function, /*written=*/false);
  Dst::Tile values;
  const bool isFloat = ttnn::isFloat(ring.dtype);
  if (isFloat)
    ttnn::loader<float>(ring.dtype)(from, values.f, tileElements);
  else
    loadIntegers(from, ring.dtype, values.i, tileElements);
  for (uint32_t r = slice.rowBegin; r < slice.rowEnd; r += slice.rowStep) {
    std::string row;
    for (uint32_t c = slice.columnBegin; c < slice.columnEnd; c += slice.columnStep) {
      const size_t at = placeOf(r, c);
      char text[32];
      int64_t whole = 0;
      if (!isFloat)
        widen(ring.dtype, values.i + at, &whole, 1);
      if (isFloat)
        std::snprintf(text, sizeof text, "%g", static_cast<double>(values.f[at]));
      else
        std::snprintf(text, sizeof text, "%lld", static_cast<long long>(whole));
      row += (row.empty() ? "" : " ") + std::string(text);
    }
    print(row + "\n");
  }
}

} // namespace tt::metal
