//===- images.h - padded images ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/window/window.h"
#include "tensor/storage.h"

namespace tt::ttnn {

/// Copies images [N, ..., C] into larger ones, whose border is zero or has the values of the nearest elements, and may
/// convert them to f32.
class BorderedImages {
public:
  /// The padding of each axis becomes the border. `to` is the type of the copies: `from`, or f32.
  BorderedImages(const Window &window, bool repeatsEdges, DataType from, DataType to);
  const Shape &shape() const { return whole; }
  /// Copies with all threads.
  void run(const std::byte *from, std::byte *to) const;

private:
  void row(const std::byte *from, std::byte *to) const;
  std::vector<Axis> axes;
  Shape whole;
  int64_t lines; // along the innermost axis
  bool repeatsEdges;
  size_t channels, fromPixel, toPixel; // bytes of a pixel
  Load<float> load = nullptr;          // where the types differ
};

} // namespace tt::ttnn
