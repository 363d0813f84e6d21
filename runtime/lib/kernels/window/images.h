//===- images.h - padded images ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/window/window.h"

namespace tt::ttnn {

/// Copies images [N, ..., C] into larger ones, whose border is zero or has the values of the nearest elements.
class BorderedImages {
public:
  /// The padding of each axis becomes the border.
  BorderedImages(const Window &window, bool repeatsEdges, size_t elementBytes);
  const Shape &shape() const { return whole; }
  /// With all threads.
  void run(const std::byte *from, std::byte *to) const;

private:
  void row(const std::byte *from, std::byte *to) const;
  std::vector<Axis> axes;
  Shape whole;
  int64_t lines; // along the innermost axis
  bool repeatsEdges;
  size_t pixel;
};

} // namespace tt::ttnn
