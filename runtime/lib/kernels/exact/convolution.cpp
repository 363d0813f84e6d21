//===- convolution.cpp - convolutions as the chip has them ------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A product of window contents and weights: K is the window's positions, row by row, and the channels of each, in
// blocks as the library plans. Weights of groups are zero for the channels of others; without a plan, groups are
// separate products.
//
//===----------------------------------------------------------------------===//

#include "kernels/window/convolution.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/exact/finish.h"
#include "kernels/exact/matrix.h"
#include "kernels/window/weights.h"
#include "tt/sim/formats.h"

#include <algorithm>

namespace tt::ttnn::exact {
namespace {

/// Configs with blocks and sharded images have no known plan: then all of K stays in the destination.
ttmlir::plan::Blocks blocksOf(const OpCall &call) {
  for (const ttmlir::plan::Step &step : planOf(sim::chip(Arch::WormholeB0), call))
    if (step.blocks)
      return *step.blocks;
  return {.in0BlockW = 0};
}

/// The order of K: blocks of `size` elements, with `channels` of each of `places` positions of the window; zeros fill
/// the rest.
struct Order {
  int64_t places, channels, size;
  int64_t parts = 1; // among which all channels are divided

  Order(const Convolution &c, int64_t groups, const ttmlir::plan::Blocks &blocks)
      : places(c.window.area()), channels(c.window.channels / groups), size(places * channels) {
    if (blocks.channels <= 0)
      return;
    places = c.window.axes.back().kernel;
    parts = (channels + blocks.channels - 1) / blocks.channels;
    channels = blocks.channels;
    size = blocks.in0BlockW * MatrixProduct::tile;
  }
  int64_t elements(const Convolution &c) const { return c.window.area() / places * parts * size; }
};

class ExactConvolution final : public Kernel {
public:
  ExactConvolution(const OpCall &call, Convolution given, const ttmlir::plan::Blocks &blocks)
      : c(std::move(given)), groups(blocks.in0BlockW > 0 ? 1 : c.groups), compute(reducing(call)),
        finish(call, compute, activationOf(call)), order(c, groups, blocks),
        product(c.window.positions(), c.out / groups, order.elements(c), compute, blocks.in0BlockW, finish.fusesBias(),
                partialsPacker(blocks, result(call).dtype, compute)),
        in(operand(call, 0).dtype), weights(operand(call, 1).dtype) {}

  void run(const Buffers &buffers) const override {
    const int64_t outs = c.out / groups;
    for (int64_t group = 0; group < groups; ++group) {
      MatrixProduct::Io io;
      io.left = [&](int64_t row, float *to) { window(buffers.ins[0], row, group, to); };
      io.rightColumn = [&](int64_t column, float *to) { filter(buffers.ins[1], group * outs + column, to); };
      io.finish = [&](int64_t row, int64_t column, int64_t count, float *values) {
        finish.run(buffers, row, group * outs + column, count, values);
      };
      product.run(io, buffers.scratch);
    }
  }
  size_t scratchBytes() const override { return product.scratchBytes(); }

private:
  /// Copies the values under the window at a position of the result.
  void window(const std::byte *from, int64_t position, int64_t group, float *to) const {
    const auto &axes = c.window.axes;
    const int64_t channels = c.window.channels / groups;
    const auto load = loader<float>(in);
    const auto bytes = static_cast<int64_t>(storageBytes(in));
    int64_t start[3], rest = position;
    for (size_t d = axes.size(); d-- > 0; rest /= axes[d].out)
      start[d] = rest % axes[d].out * axes[d].stride - axes[d].low;
    for (int64_t first = 0; first < c.window.area(); first += order.places)
      for (int64_t part = 0; part < order.parts; ++part, to += order.size) {
        std::fill_n(to, order.size, 0.0f);
        const int64_t channel = part * order.channels, count = std::min(order.channels, channels - channel);
        for (int64_t place = 0; place < order.places; ++place) {
          const int64_t pixel = pixelOf(start, first + place, rest);
          if (pixel < 0)
            continue;
          float *const values = to + place * order.channels;
          load(from + (pixel * c.window.channels + group * channels + channel) * bytes, values,
               static_cast<size_t>(count));
          for (int64_t i = 0; i < count && in == DataType::Float32; ++i)
            values[i] = unpacked(values[i], in, compute.width);
        }
      }
  }

  /// The pixel of an image at a position of a window that begins at `start`; -1 in the padding.
  int64_t pixelOf(const int64_t (&start)[3], int64_t place, int64_t image) const {
    const auto &axes = c.window.axes;
    int64_t pixel = 0, step = 1;
    for (size_t d = axes.size(); d-- > 0; place /= axes[d].kernel, step *= axes[d].size) {
      const int64_t at = start[d] + place % axes[d].kernel * axes[d].dilation;
      if (at < 0 || at >= axes[d].size)
        return -1;
      pixel += at * step;
    }
    return pixel + image * step;
  }

  /// Copies the weights of an output channel, in the order of the window.
  void filter(const std::byte *from, int64_t out, float *to) const {
    const int64_t channels = c.window.channels / groups, area = c.window.area();
    const int64_t ofGroup = c.window.channels / c.groups, outsOfGroup = c.out / c.groups;
    std::vector<float> own(static_cast<size_t>(ofGroup * area));
    loader<float>(weights)(from + out * ofGroup * area * static_cast<int64_t>(storageBytes(weights)), own.data(),
                           own.size());
    for (float &value : own)
      value = unpacked(value, weights, compute.width);
    for (int64_t first = 0; first < area; first += order.places)
      for (int64_t part = 0; part < order.parts; ++part, to += order.size) {
        std::fill_n(to, order.size, 0.0f);
        for (int64_t i = 0; i < std::min(order.channels, channels - part * order.channels); ++i) {
          const int64_t channel = part * order.channels + i;
          if (groups < c.groups && channel / ofGroup != out / outsOfGroup)
            continue; // of another group
          for (int64_t place = 0; place < order.places; ++place)
            to[place * order.channels + i] = own[static_cast<size_t>(channel % ofGroup * area + first + place)];
        }
      }
  }

  Convolution c;
  int64_t groups; // that are products of their own
  Compute compute;
  Finish finish;
  Order order;
  MatrixProduct product;
  DataType in, weights;
};

template <size_t rank> std::unique_ptr<Kernel> make(const OpCall &call) {
  const Convolution c = convolutionOf(call, rank);
  const TensorSpec &out = result(call);
  // Groups of a block format cross those of channels.
  const bool cut = c.groups > 1 && sim::isBlockFormat(out.dtype) && c.out / c.groups % int64_t(sim::blockGroup) != 0;
  if (!areKnown(call) || cut || volume(out.shape) == 0 || volume(operand(call, 1).shape) != volume(c.filter()))
    return nullptr;
  return withTypedWeights(call, {c.window.channels, c.out, c.groups, c.transposed},
                          [&](const OpCall &typed) -> std::unique_ptr<Kernel> {
                            if (!areKnown(typed))
                              return makeConvolution(typed, c);
                            return std::make_unique<ExactConvolution>(typed, c, blocksOf(typed));
                          });
}

constexpr Row rows[] = {{"ttnn.conv1d", make<1>}, {"ttnn.conv2d", make<2>}};

} // namespace

std::span<const Row> convolutionRows() { return rows; }

} // namespace tt::ttnn::exact
