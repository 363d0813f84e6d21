//===- ConvolutionCase.h - convolutions and loops in double ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "OpTest.h"

namespace tt::ttnn::test {

/// A convolution of one to three spatial dimensions, outermost first. Padding: one number each, or two.
struct ConvolutionCase {
  std::vector<int64_t> sizes, kernel, stride, dilation, padding;
  int64_t batch = 1, in = 4, out = 8, groups = 1;
  std::vector<int64_t> extra = {}; // output_padding of a transposed one
  std::string mode = "zeros";

  size_t rank() const { return sizes.size(); }
  bool transposed() const { return !extra.empty(); }
  std::string name() const {
    return (transposed() ? "ttnn.conv_transpose" : "ttnn.conv") + std::to_string(rank()) + "d";
  }
  int64_t pad(size_t d, size_t after) const { return padding.size() == rank() ? padding[d] : padding[2 * d + after]; }
  int64_t result(size_t d) const {
    const int64_t extent = dilation[d] * (kernel[d] - 1) + 1, pads = pad(d, 0) + pad(d, 1);
    return transposed() ? (sizes[d] - 1) * stride[d] + extent + extra[d] - pads
                        : (sizes[d] + pads - extent) / stride[d] + 1;
  }
  Shape results() const {
    Shape shape;
    for (size_t d = 0; d < rank(); ++d)
      shape.push_back(result(d));
    return shape;
  }
  /// Images of that size as the op takes them.
  Shape images(const Shape &size, int64_t channels) const {
    if (rank() < 3)
      return {1, 1, batch * volume(size), channels};
    return {batch, size[0], size[1], size[2], channels};
  }
  Shape filter() const {
    Shape shape = transposed() ? Shape{in, out / groups} : Shape{out, in / groups};
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    return shape;
  }
  Named attributes() const {
    Named a = {{"batch_size", integer(batch)},
               {"in_channels", integer(in)},
               {"out_channels", integer(out)},
               {"groups", integer(groups)},
               {"padding", ints(padding)}};
    const char *names[] = {"input_depth", "input_height", "input_width"};
    for (size_t d = 0; d < rank(); ++d)
      a.push_back({rank() == 1 ? "input_length" : names[3 - rank() + d], integer(sizes[d])});
    auto each = [&](const char *key, const std::vector<int64_t> &values) {
      a.push_back({key, rank() == 1 ? integer(values[0]) : ints(values)});
    };
    each("kernel_size", kernel);
    each("stride", stride);
    // Volumes without dilation may leave it out.
    if (rank() < 3 || transposed() || dilation != std::vector<int64_t>(3, 1))
      each("dilation", dilation);
    if (rank() == 3 && !transposed())
      a.push_back({"padding_mode", text(mode)});
    if (transposed())
      a.push_back({"output_padding", ints(extra)});
    return a;
  }

  /// Calls f(place in an input image or -1, place under the window, place in a result image) for all that meet.
  void forEach(const std::function<void(int64_t, int64_t, int64_t)> &f) const {
    // The window lies over what it reads; a transposed one over what it writes.
    const Shape small = transposed() ? sizes : results(), large = transposed() ? results() : sizes;
    for (int64_t place = 0; place < volume(small); ++place)
      for (int64_t k = 0; k < volume(kernel); ++k) {
        int64_t at = 0, step = 1, restPlace = place, restKernel = k;
        bool inside = true;
        for (size_t d = rank(); d-- > 0; step *= large[d]) {
          int64_t x = restPlace % small[d] * stride[d] + restKernel % kernel[d] * dilation[d] - pad(d, 0);
          restPlace /= small[d];
          restKernel /= kernel[d];
          if (mode == "replicate")
            x = std::clamp<int64_t>(x, 0, large[d] - 1);
          inside &= x >= 0 && x < large[d];
          at += x * step;
        }
        if (inside)
          transposed() ? f(place, k, at) : f(at, k, place);
      }
  }
  std::vector<double> expected(const Value &x, const Value &w) const {
    const int64_t from = volume(sizes), to = volume(results()), window = volume(kernel);
    const int64_t inGroup = in / groups, outGroup = out / groups;
    std::vector<double> y(static_cast<size_t>(batch * to * out));
    const std::vector<double> images = x.values(), weights = w.values();
    forEach([&](int64_t source, int64_t k, int64_t target) {
      for (int64_t n = 0; n < batch; ++n)
        for (int64_t o = 0; o < out; ++o)
          for (int64_t c = 0; c < inGroup; ++c) {
            const int64_t channel = o / outGroup * inGroup + c;
            const int64_t row = transposed() ? channel * outGroup + o % outGroup : o * inGroup + c;
            y[static_cast<size_t>((n * to + target) * out + o)] +=
                images[static_cast<size_t>((n * from + source) * in + channel)] *
                weights[static_cast<size_t>(row * window + k)];
          }
    });
    return y;
  }
};

} // namespace tt::ttnn::test
