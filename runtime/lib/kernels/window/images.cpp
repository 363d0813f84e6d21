//===- images.cpp - padded images -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/window/images.h"

#include "tt/parallel.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {

BorderedImages::BorderedImages(const Window &window, bool repeatsEdges, size_t elementBytes)
    : axes(window.axes), whole{window.batch}, repeatsEdges(repeatsEdges),
      pixel(static_cast<size_t>(window.channels) * elementBytes) {
  for (const Axis &axis : axes)
    whole.push_back(axis.size + axis.low + axis.high);
  lines = volume(whole) / std::max<int64_t>(1, whole.back());
  whole.push_back(window.channels);
}

void BorderedImages::row(const std::byte *from, std::byte *to) const {
  const Axis &axis = axes.back();
  auto border = [&](int64_t count, const std::byte *nearest) {
    for (int64_t i = 0; i < count; ++i, to += pixel)
      if (repeatsEdges)
        std::memcpy(to, nearest, pixel);
      else
        std::memset(to, 0, pixel);
  };
  const size_t inside = static_cast<size_t>(axis.size) * pixel;
  border(axis.low, from);
  std::memcpy(to, from, inside);
  to += inside;
  border(axis.high, from + inside - pixel);
}

void BorderedImages::run(const std::byte *from, std::byte *to) const {
  const size_t last = axes.size() - 1;
  const size_t fromRow = static_cast<size_t>(axes[last].size) * pixel,
               toRow = static_cast<size_t>(whole[last + 1]) * pixel;
  parallelFor(lines, static_cast<int64_t>(1 + 65536 / toRow), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i, source = 0, step = 1;
      bool inside = true;
      for (size_t d = last; d-- > 0; step *= axes[d].size) {
        const int64_t at = rest % whole[d + 1] - axes[d].low;
        rest /= whole[d + 1];
        inside &= at >= 0 && at < axes[d].size;
        source += std::clamp<int64_t>(at, 0, axes[d].size - 1) * step;
      }
      source += rest * step;
      if (inside || repeatsEdges)
        row(from + static_cast<size_t>(source) * fromRow, to + static_cast<size_t>(i) * toRow);
      else
        std::memset(to + static_cast<size_t>(i) * toRow, 0, toRow);
    }
  });
}

} // namespace tt::ttnn
