//===- convolution.cpp - convolutions as the chip has them ------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A product of window contents and weights: K is the window's places, row by row,
// and the channels of each. Groups are products of their own.
//
//===----------------------------------------------------------------------===//

#include "kernels/window/convolution.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/exact/finish.h"
#include "kernels/exact/matrix.h"
#include "tt/sim/formats.h"

#include <algorithm>

namespace tt::ttnn::exact {
namespace {

/// Windows of a pixel are products, which the library cuts. Of others, all of K stays in the destination.
ttmlir::plan::Blocks blocksOf(const OpCall &call) {
  for (const ttmlir::plan::Step &step : planOf(sim::chip(Arch::WormholeB0), call))
    if (step.blocks)
      return *step.blocks;
  return {.in0BlockW = 0};
}

class ExactConvolution final : public Kernel {
public:
  ExactConvolution(const OpCall &call, Convolution given, const ttmlir::plan::Blocks &blocks)
      : c(std::move(given)), compute(reducing(call)), finish(call, compute, activationOf(call)),
        product(c.window.positions(), c.out / c.groups, c.window.channels / c.groups * c.window.area(), compute,
                blocks.in0BlockW, finish.fusesBias(), partialsPacker(blocks, result(call).dtype, compute)),
        in(operand(call, 0).dtype), weights(operand(call, 1).dtype) {}

  void run(const Buffers &buffers) const override {
    const int64_t outs = c.out / c.groups;
    for (int64_t group = 0; group < c.groups; ++group) {
      MatrixProduct::Io io;
      io.left = [&](int64_t row, float *to) { window(buffers.ins[0], row, group, to); };
      io.right = [&](int64_t k, int64_t column, int64_t count, float *to) {
        filter(buffers.ins[1], k, group * outs + column, count, to);
      };
      io.finish = [&](int64_t row, int64_t column, int64_t count, float *values) {
        finish.run(buffers, row, group * outs + column, count, values);
      };
      product.run(io, buffers.scratch);
    }
  }
  size_t scratchBytes() const override { return product.scratchBytes(); }

private:
  /// What lies under the window at a position of the result.
  void window(const std::byte *from, int64_t position, int64_t group, float *to) const {
    const auto &axes = c.window.axes;
    const int64_t channels = c.window.channels / c.groups;
    const auto load = loader<float>(in);
    const auto bytes = static_cast<int64_t>(storageBytes(in));
    int64_t start[3], rest = position;
    for (size_t d = axes.size(); d-- > 0; rest /= axes[d].out)
      start[d] = rest % axes[d].out * axes[d].stride - axes[d].low;
    for (int64_t place = 0; place < c.window.area(); ++place, to += channels) {
      int64_t pixel = 0, step = 1, within = place;
      bool inside = true;
      for (size_t d = axes.size(); d-- > 0; within /= axes[d].kernel, step *= axes[d].size) {
        const int64_t at = start[d] + within % axes[d].kernel * axes[d].dilation;
        inside = inside && at >= 0 && at < axes[d].size;
        pixel += at * step;
      }
      if (!inside) {
        std::fill_n(to, channels, 0.0f);
        continue;
      }
      pixel += rest * step;
      load(from + (pixel * c.window.channels + group * channels) * bytes, to, static_cast<size_t>(channels));
      for (int64_t i = 0; i < channels; ++i)
        to[i] = unpacked(to[i], in, compute.width);
    }
  }

  void filter(const std::byte *from, int64_t k, int64_t out, int64_t count, float *to) const {
    const int64_t channels = c.window.channels / c.groups, area = c.window.area();
    const auto load = loader<float>(weights);
    const auto bytes = static_cast<int64_t>(storageBytes(weights));
    for (int64_t i = 0; i < count; ++i) {
      load(from + (((out + i) * channels + k % channels) * area + k / channels) * bytes, to + i, 1);
      to[i] = unpacked(to[i], weights, compute.width);
    }
  }

  Convolution c;
  Compute compute;
  Finish finish;
  MatrixProduct product;
  DataType in, weights;
};

template <size_t rank> std::unique_ptr<Kernel> make(const OpCall &call) {
  Convolution c = convolutionOf(call, rank);
  const TensorSpec &out = result(call);
  // Groups of a block format cross those of channels.
  const bool cut = c.groups > 1 && sim::isBlockFormat(out.dtype) && c.out / c.groups % int64_t(sim::blockGroup) != 0;
  if (!areKnown(call) || cut || volume(out.shape) == 0 || volume(operand(call, 1).shape) != volume(c.filter()))
    return nullptr;
  return std::make_unique<ExactConvolution>(call, std::move(c), blocksOf(call));
}

constexpr Row rows[] = {{"ttnn.conv1d", make<1>}, {"ttnn.conv2d", make<2>}};

} // namespace

std::span<const Row> convolutionRows() { return rows; }

} // namespace tt::ttnn::exact
