//===- tiles.cpp - convolutions with the matrix unit ------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A convolution of bf16 is a product of matrices whose left rows are the windows. The rows of a block are copied into
// tiles, line by line of a window, with zeros outside of the image, and multiplied by all panels of the weights.
// Windows of one pixel are a matrix in place.
//
//===----------------------------------------------------------------------===//

#include "core/panels/panels.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/matmul/matmul.h"
#include "kernels/window/convolution.h"

#include <algorithm>

namespace tt::ttnn {
namespace {

using panels::Unit;

class WindowRows final : public LeftRows {
public:
  explicit WindowRows(const Window &window)
      : channels(window.channels), area(window.area()), outer(window.axes), across(window.axes.back()) {
    outer.pop_back();
    for (const Axis &axis : outer)
      lines *= axis.kernel;
  }

  int64_t taps() const override { return area; }

  void copy(const std::byte *from, int64_t first, int64_t count, std::byte *to) const override {
    constexpr int64_t rowsAtOnce = 16; // of a tile
    const int64_t k = area * channels;
    const panels::Rows where = panels::rowsCopied(Unit::BF16, k);
    // Parts that are no whole rows of tiles are joined in contiguous rows before.
    const bool direct = channels % 32 == 0 || !panels::wholeTiles(Unit::BF16);
    const panels::Rows joined = direct ? where : panels::rowsInPlace(panels::depth(Unit::BF16, k) * 2 + 64);
    std::vector<std::byte> rows(direct ? 0 : static_cast<size_t>(rowsAtOnce * joined.row));
    std::vector<const std::byte *> starts(static_cast<size_t>(lines));
    std::vector<panels::RowPart> parts;
    int64_t line = first / across.out, position = first % across.out;
    bool wasInside = false;
    locate(from, line, starts);
    for (int64_t row = 0; row < count; row += rowsAtOnce) {
      const int64_t height = std::min(rowsAtOnce, count - row);
      std::byte *const tile = to + (panels::wholeTiles(Unit::BF16) ? row / 16 * where.tile : row * where.row);
      std::byte *const base = direct ? tile : rows.data();
      for (int64_t i = 0; i < height; ++i) {
        const int64_t element = position * across.stride - across.low;
        const bool inside = element >= 0 && element + across.extent() <= across.size;
        if (inside && wasInside) { // the same parts, of the next pixels
          for (panels::RowPart &part : parts)
            if (part.from)
              part.from += across.stride * pixelBytes();
        } else {
          parts.clear();
          for (const std::byte *start : starts)
            addLine(start, element, parts);
        }
        wasInside = inside;
        panels::joinRow(parts.data(), static_cast<int64_t>(parts.size()), joined, base + i * joined.row);
        if (++position == across.out && row + i + 1 < count) {
          position = 0;
          wasInside = false;
          locate(from, ++line, starts);
        }
      }
      if (!direct) {
        panels::copyRows(Unit::BF16, rows.data(), {joined.row / 2, 1}, k, height, tile);
      } else if (panels::wholeTiles(Unit::BF16)) {
        const panels::RowPart zeros{nullptr, k};
        for (int64_t i = height; i < rowsAtOnce; ++i)
          panels::joinRow(&zeros, 1, where, tile + i * where.row);
      }
    }
  }

private:
  /// Finds the lines of the image under the windows of a line of results; nullptr: outside of it.
  void locate(const std::byte *from, int64_t line, std::vector<const std::byte *> &starts) const {
    for (int64_t tap = 0; tap < lines; ++tap) {
      int64_t at = line, rest = tap, place = 0, pitch = 1;
      bool inside = true;
      for (size_t d = outer.size(); d-- > 0; pitch *= outer[d].size, at /= outer[d].out, rest /= outer[d].kernel) {
        const Axis &axis = outer[d];
        const int64_t element = at % axis.out * axis.stride - axis.low + rest % axis.kernel * axis.dilation;
        inside &= element >= 0 && element < axis.size;
        place += element * pitch;
      }
      place += at * pitch; // the image
      starts[static_cast<size_t>(tap)] = inside ? from + place * across.size * pixelBytes() : nullptr;
    }
  }

  /// first: the first element of the window along the line.
  void addLine(const std::byte *start, int64_t first, std::vector<panels::RowPart> &parts) const {
    const auto zeros = [&](int64_t taps) {
      if (taps > 0)
        parts.push_back({nullptr, taps * channels});
    };
    if (!start)
      return zeros(across.kernel);
    if (across.dilation == 1) {
      const int64_t low = std::clamp<int64_t>(-first, 0, across.kernel);
      const int64_t high = std::clamp<int64_t>(across.size - first, low, across.kernel);
      zeros(low);
      if (high > low)
        parts.push_back({start + (first + low) * pixelBytes(), (high - low) * channels});
      return zeros(across.kernel - high);
    }
    for (int64_t tap = 0; tap < across.kernel; ++tap) {
      const int64_t element = first + tap * across.dilation;
      const bool inside = element >= 0 && element < across.size;
      parts.push_back({inside ? start + element * pixelBytes() : nullptr, channels});
    }
  }
  int64_t pixelBytes() const { return channels * panels::elementBytes(Unit::BF16); }

  int64_t channels, area;
  std::vector<Axis> outer; // all axes but the last
  Axis across;
  int64_t lines = 1; // of a window
};

} // namespace

std::unique_ptr<Kernel> makeTileConvolution(const OpCall &call, const Convolution &c) {
  const auto isBf16 = [&](size_t i) { return storageType(operand(call, i).dtype) == StorageType::BF16; };
  if (!panels::wholeTiles(Unit::BF16) || !isBf16(0) || !isBf16(1) || c.transposed || c.groups > 1 ||
      volume(operand(call, 0).shape) == 0)
    return nullptr;
  const Window &window = c.window;
  const bool onePixel = std::ranges::all_of(
      window.axes, [](const Axis &a) { return a.kernel == 1 && a.stride == 1 && a.low == 0 && a.high == 0; });
  if (!onePixel)
    if (auto kernel = makePlaneConvolution(call, c))
      return kernel;
  Product p{};
  p.m = window.positions();
  p.n = c.out;
  p.k = window.area() * window.channels;
  p.aRow = window.channels;
  p.aColumn = p.bRow = 1;
  p.bColumn = p.k;
  const DataType produced = result(call).dtype == DataType::BFloat16 ? DataType::BFloat16 : DataType::Float32;
  const int bias = optionalOperand(call, 2) ? 2 : -1;
  std::shared_ptr<const LeftRows> rows = onePixel ? nullptr : std::make_shared<WindowRows>(window);
  auto kernel = makePanelMatmul(call, p, DataType::BFloat16, produced, bias, activationOf(call), std::move(rows));
  return kernel ? withEpilogue(call, std::move(kernel), produced, {}) : nullptr;
}

} // namespace tt::ttnn
