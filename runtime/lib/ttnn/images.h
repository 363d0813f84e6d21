//===- images.h - images with a border -----------------------------*- C++ -*-===//
#pragma once

#include "window.h"

namespace tt::ttnn {

/// Copies images [N, ..., C] into larger ones, whose border is zero or has the values of the nearest elements.
class BorderedImages {
public:
  /// The padding of each axis becomes the border.
  BorderedImages(const Window &window, bool repeatsEdges, size_t elementBytes);
  Shape shape() const;
  /// With all threads.
  void run(const std::byte *from, std::byte *to) const;

private:
  void row(const std::byte *from, std::byte *to) const;
  std::vector<Axis> axes;
  int64_t batch, channels;
  bool repeatsEdges;
  size_t pixel;
};

} // namespace tt::ttnn
