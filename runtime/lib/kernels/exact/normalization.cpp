//===- normalization.cpp - softmax and norms as the chip has them -----------===//
// SPDX-License-Identifier: Apache-2.0
//
// Steps of the fused kernels of tt-metal (softmax.cpp, layernorm.cpp), each packed
// to a circular buffer in bf16 or f32 and unpacked by the next.
//
//===----------------------------------------------------------------------===//

#include "kernels/exact/rows.h"
#include "tt/sim/formats.h"

#include <algorithm>

namespace tt::ttnn::exact {
namespace {

float inBf16(double value) { return sim::bf16ToF32(sim::f32ToBf16(static_cast<float>(value))); }

std::unique_ptr<Kernel> rowsOf(const OpCall &call, size_t dim, const Compute &compute, RowKernel::Body body) {
  TensorSpec values = result(call);
  values.dtype = DataType::Float32;
  return packedResult(result(call), compute.width,
                      std::make_unique<RowKernel>(operand(call, 0), values, dim, compute, std::move(body)));
}

std::unique_ptr<Kernel> makeSoftmax(const OpCall &call) {
  const TensorSpec &in = operand(call, 0);
  expectResultShape(call, in.shape);
  const auto dim = static_cast<size_t>(dimension(call, "dimension", in.shape.size()));
  if (!areKnown(call) || volume(in.shape) == 0)
    return nullptr;
  const Compute compute = reducing(call);
  const bool stable = call.attributes.get<bool>("numericStable", false);
  // Maxima and exponentials have the operand's format, sums the destination's.
  Compute kept = compute;
  if (in.dtype != DataType::Float32)
    kept.width = Destination::Bits16;
  const Steps steps(compute), keeping(kept);
  const Function exponential = vectorFunction("exp", compute), reciprocal = vectorFunction("reciprocal", compute);
  // Other dimensions than the last are transposed before and after.
  return rowsOf(call, dim, compute,
                [=, type = in.dtype](const Buffers &, std::vector<float> &row, std::vector<float> &created) {
                  const auto count = static_cast<int64_t>(row.size());
                  if (stable) { // differences stay in the destination
                    const float top = keeping.passed(maximumOf({row.data(), count, type}, Along::Row, compute));
                    steps.combine(Operation::Difference, row, {&top, 1});
                  }
                  exponential(row.data(), row.size());
                  keeping.pass(row);
                  float share = sumOf({row.data(), count, keeping.type()}, 1.0f, Along::Row, compute);
                  reciprocal(&share, 1);
                  share = steps.passed(share);
                  created = row;
                  steps.combine(Operation::Product, created, {&share, 1});
                });
}

/// A weight or bias of a norm, with as many values as a row.
struct Parameter {
  size_t index = 0;
  DataType type = DataType::Float32;
  bool present = false;

  Parameter(const OpCall &call, size_t index, int64_t count) : index(index) {
    const TensorSpec *spec = optionalOperand(call, index);
    if (!spec)
      return;
    if (volume(spec->shape) != count)
      fail(call, "operand " + std::to_string(index) + " has shape " + toString(spec->shape) + "; expected " +
                     std::to_string(count) + " elements");
    type = spec->dtype;
    present = true;
  }
  /// Destination values with it.
  void apply(const Buffers &buffers, const Compute &compute, Operation operation, std::vector<float> &values) const {
    if (!present)
      return;
    std::vector<float> own(values.size());
    loader<float>(type)(buffers.ins[index], own.data(), own.size());
    for (float &value : own)
      value = unpacked(value, type, compute.width);
    const Steps steps(compute);
    steps.pass(values);
    steps.combine(operation, values, own);
  }
};

std::unique_ptr<Kernel> makeNorm(const OpCall &call, bool centred) {
  const TensorSpec &in = operand(call, 0);
  expectResultShape(call, in.shape);
  if (!areKnown(call) || volume(in.shape) == 0 || in.shape.empty())
    return nullptr;
  const Compute compute = reducing(call);
  const int64_t count = in.shape.back();
  const Parameter weight(call, 1, count), bias(call, 2, count);
  const Steps steps(compute);
  const Function rsqrt = vectorFunction("rsqrt", compute);
  const float share = inBf16(1.0 / static_cast<double>(count));
  const float epsilon = inBf16(call.attributes.get<double>("epsilon", 1e-12));
  return rowsOf(call, in.shape.size() - 1, compute,
                [=, type = in.dtype](const Buffers &buffers, std::vector<float> &row, std::vector<float> &created) {
                  if (centred) {
                    const float mean = steps.passed(sumOf({row.data(), count, type}, share, Along::Row, compute));
                    steps.apply(Operation::Difference, row, {&mean, 1});
                  }
                  created = row;
                  steps.apply(Operation::Product, created, row);
                  float scale = sumOf({created.data(), count, steps.type()}, share, Along::Row, compute);
                  scale = steps.passed(scale);
                  steps.apply(Operation::Sum, {&scale, 1}, {&epsilon, 1});
                  rsqrt(&scale, 1);
                  scale = steps.passed(scale);
                  // The last step is packed as the result.
                  created = row;
                  steps.combine(Operation::Product, created, {&scale, 1});
                  weight.apply(buffers, compute, Operation::Product, created);
                  bias.apply(buffers, compute, Operation::Sum, created);
                });
}
std::unique_ptr<Kernel> makeLayerNorm(const OpCall &call) { return makeNorm(call, true); }
std::unique_ptr<Kernel> makeRmsNorm(const OpCall &call) { return makeNorm(call, false); }

constexpr Row rows[] = {
    {"ttnn.softmax", makeSoftmax},
    {"ttnn.layer_norm", makeLayerNorm},
    {"ttnn.rms_norm", makeRmsNorm},
};

} // namespace

std::span<const Row> normalizationRows() { return rows; }

} // namespace tt::ttnn::exact
