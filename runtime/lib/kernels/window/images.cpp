//===- images.cpp - padded images -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/window/images.h"

#include "tt/parallel.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {

BorderedImages::BorderedImages(const Window &window, bool repeatsEdges, DataType from, DataType to)
    : axes(window.axes), whole{window.batch}, repeatsEdges(repeatsEdges),
      channels(static_cast<size_t>(window.channels)), fromPixel(channels * storageBytes(from)),
      toPixel(channels * storageBytes(to)) {
  if (storageType(from) != storageType(to))
    load = loader<float>(from);
  for (const Axis &axis : axes)
    whole.push_back(axis.size + axis.low + axis.high);
  lines = volume(whole) / std::max<int64_t>(1, whole.back());
  whole.push_back(window.channels);
}

void BorderedImages::row(const std::byte *from, std::byte *to) const {
  const Axis &axis = axes.back();
  const auto size = static_cast<size_t>(axis.size);
  std::byte *inside = to + static_cast<size_t>(axis.low) * toPixel, *behind = inside + size * toPixel;
  if (load)
    load(from, reinterpret_cast<float *>(inside), size * channels);
  else
    std::memcpy(inside, from, size * toPixel);
  auto border = [&](int64_t count, std::byte *at, const std::byte *nearest) {
    for (int64_t i = 0; i < count; ++i, at += toPixel)
      if (repeatsEdges)
        std::memcpy(at, nearest, toPixel);
      else
        std::memset(at, 0, toPixel);
  };
  border(axis.low, to, inside);
  border(axis.high, behind, behind - toPixel);
}

void BorderedImages::run(const std::byte *from, std::byte *to) const {
  const size_t last = axes.size() - 1;
  const size_t fromRow = static_cast<size_t>(axes[last].size) * fromPixel,
               toRow = static_cast<size_t>(whole[last + 1]) * toPixel;
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
