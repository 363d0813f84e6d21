//===- adapted.cpp - convolutions with layout adaptation ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/window/convolution.h"
#include "kernels/window/images.h"
#include "kernels/window/weights.h"
#include "tensor/storage.h"

#include <algorithm>

namespace tt::ttnn {
namespace {

/// The window with pixels around the input that replace its padding: padding with values other than zero, and zeros
/// after the input of a transposed convolution that adds more to the result than the library does, its stride.
std::optional<Window> bordered(const Convolution &c, const Adaptation &adaptation) {
  Window window = c.window;
  if (adaptation.repeatsEdges)
    return window;
  if (!c.transposed || c.integers)
    return std::nullopt;
  bool any = false;
  for (Axis &a : window.axes) {
    const int64_t more = a.out - ((a.size - 1) * a.stride + a.extent() - a.low);
    a.low = 0;
    a.high = more >= a.stride ? more / a.stride : 0;
    any |= a.high > 0;
  }
  return any ? std::optional(window) : std::nullopt;
}

class AdaptedConvolution final : public Kernel {
public:
  AdaptedConvolution(const OpCall &call, Convolution c, const Adaptation &adaptation,
                     const std::optional<Window> &border) {
    OpCall inner = call;
    inner.constantIns.resize(call.ins.size(), nullptr);
    if (border) {
      TensorSpec &in = *inner.ins[0];
      images.emplace(*border, adaptation.repeatsEdges, in.dtype, in.dtype);
      in.shape = images->shape();
      inner.constantIns[0] = nullptr;
      imagesAt = layout.take(in.bytes());
      for (size_t d = 0; d < border->axes.size(); ++d) {
        Axis &a = c.window.axes[d];
        a.size = in.shape[d + 1];
        if (adaptation.repeatsEdges)
          a.low = a.high = 0;
      }
    }
    if (adaptation.preparedBlock) {
      TensorSpec &weights = *inner.ins[1];
      prepared.emplace(call, weights.shape, c.filter(), *adaptation.preparedBlock);
      weights.shape = c.filter();
      elementBytes = storageBytes(weights.dtype);
      if (const std::byte *constant = library::constantOperand(call, 1)) {
        created = library::AlignedBytes(weights.bytes());
        prepared->unpack(constant, created.data(), elementBytes);
        inner.constantIns[1] = created.data();
        inner.constants = nullptr; // the weights lie here
      } else {
        weightsAt = layout.take(weights.bytes());
      }
    }
    convolution = makePlainConvolution(inner, c);
    if (created && !convolution->reads(1))
      created = {};
    innerScratch = layout.take(convolution->scratchBytes());
    // Nothing can fail from here on.
    if (prepared && call.constants && library::constantOperand(call, 1))
      call.constants->release({library::constantOperand(call, 1), operand(call, 1).bytes()});
  }

  void run(const Buffers &buffers) const override {
    const std::byte *ins[3] = {};
    std::ranges::copy(buffers.ins, ins);
    if (images) {
      images->run(ins[0], buffers.scratch + imagesAt);
      ins[0] = buffers.scratch + imagesAt;
    }
    if (created) {
      ins[1] = created.data();
    } else if (prepared && convolution->reads(1)) {
      prepared->unpack(ins[1], buffers.scratch + weightsAt, elementBytes);
      ins[1] = buffers.scratch + weightsAt;
    }
    convolution->run({{ins, buffers.ins.size()}, buffers.outs, buffers.scratch + innerScratch});
  }
  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return (operand == 0 && images) || (!(operand == 1 && created) && convolution->reads(operand));
  }

private:
  std::unique_ptr<Kernel> convolution;
  std::optional<BorderedImages> images;
  std::optional<PreparedVolumes> prepared;
  library::AlignedBytes created;
  ScratchLayout layout;
  size_t elementBytes = 0, imagesAt = 0, weightsAt = 0, innerScratch = 0;
};

} // namespace

std::unique_ptr<Kernel> makeConvolution(const OpCall &call, const Convolution &c, const Adaptation &adaptation) {
  const std::optional<Window> border = bordered(c, adaptation);
  if (!border && !adaptation.preparedBlock)
    return makePlainConvolution(call, c);
  return std::make_unique<AdaptedConvolution>(call, c, adaptation, border);
}

} // namespace tt::ttnn
