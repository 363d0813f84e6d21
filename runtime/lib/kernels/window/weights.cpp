//===- weights.cpp - weight and bias preparation ops ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/window/weights.h"

#include <cstring>

namespace tt::ttnn {

PreparedVolumes::PreparedVolumes(const OpCall &call, const Shape &matrix, const Shape &weight, int64_t block)
    : out(weight[0]), in(weight[1]), places(volume({weight.begin() + 2, weight.end()})), block(block),
      rows(matrix.size() == 2 ? matrix[0] : 0) {
  const int64_t channels = places ? rows / places : 0;
  if (this->block == 0)
    this->block = channels;
  if (matrix.size() != 2 || matrix[1] != out || channels * places != rows || channels < in || this->block < 1 ||
      channels % this->block != 0)
    fail(call, "the prepared weight has shape " + toString(matrix) + "; expected [" + std::to_string(places) +
                   " * channels, " + std::to_string(out) + "] with at least " + std::to_string(in) + " channels" +
                   (block > 0 ? " in blocks of " + std::to_string(block) : ""));
}

template <class F> void PreparedVolumes::forEach(F f) const {
  for (int64_t o = 0, from = 0; o < out; ++o)
    for (int64_t c = 0; c < in; ++c)
      for (int64_t k = 0; k < places; ++k, ++from)
        f(static_cast<size_t>(from), static_cast<size_t>(((c / block * places + k) * block + c % block) * out + o));
}

void PreparedVolumes::pack(const std::byte *weight, std::byte *matrix, size_t elementBytes) const {
  if (rows * out != out * in * places)
    std::memset(matrix, 0, static_cast<size_t>(rows * out) * elementBytes);
  forEach([&](size_t from, size_t to) {
    std::memcpy(matrix + to * elementBytes, weight + from * elementBytes, elementBytes);
  });
}

void PreparedVolumes::unpack(const std::byte *matrix, std::byte *weight, size_t elementBytes) const {
  forEach([&](size_t to, size_t from) {
    std::memcpy(weight + to * elementBytes, matrix + from * elementBytes, elementBytes);
  });
}

namespace {

/// Weights and biases are prepared when a convolution's kernel is created, which knows the machine: these ops leave the
/// values in their order, in the type and shape that the result has.
std::unique_ptr<Kernel> makePrepare(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  TensorSpec given = in;
  given.shape = out.shape;
  return given.dtype == out.dtype ? aliasKernel(in.bytes()) : conversionKernel(given, out);
}

/// Rows of the matrix of a weight: the channels of a group, filled up to the alignment, at each place of the window.
std::unique_ptr<Kernel> makePrepareVolumes(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const Shape &s = in.shape;
  const auto block = call.attributes.get<int64_t>("c_in_block");
  if (volume(out.shape) == 0)
    return kernelOf([](const Buffers &) {});
  const PreparedVolumes matrix(call, out.shape, s, block);
  const size_t bytes = storageBytes(in.dtype);
  return roundedTo(out, in.dtype, kernelOf([=](const Buffers &b) { matrix.pack(b.ins[0], b.outs[0], bytes); }));
}

} // namespace

std::vector<OpInfo> convolutionWeightOps() {
  return {
      {"ttnn.prepare_conv2d_weights", makePrepare},           {"ttnn.prepare_conv2d_bias", makePrepare},
      {"ttnn.prepare_conv_transpose2d_weights", makePrepare}, {"ttnn.prepare_conv_transpose2d_bias", makePrepare},
      {"ttnn.prepare_conv3d_weights", makePrepareVolumes},
  };
}

} // namespace tt::ttnn
