//===- reduction.cpp - sums and extremes as the chip has them ---------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Over one of the last two dimensions. How tt-metal brings others there, and in
// which order it takes several, is not published.
//
//===----------------------------------------------------------------------===//

#include "core/access.h"
#include "kernels/exact/rows.h"
#include "tt/sim/formats.h"

#include <algorithm>

namespace tt::ttnn::exact {
namespace {

/// The one reduced dimension, or nothing.
std::optional<size_t> reducedDim(const OpCall &call) {
  const size_t rank = operand(call, 0).shape.size();
  std::vector<int64_t> dims = integersOf(call, "dim_arg");
  if (dims.empty() && rank == 1)
    dims = {0};
  if (dims.size() != 1)
    return std::nullopt;
  const auto dim = static_cast<size_t>(wrapDimension(call, "dim_arg", dims[0], rank));
  return dim + 2 >= rank ? std::optional(dim) : std::nullopt;
}

enum class Kind : uint8_t { Sum, Mean, Maximum, Minimum };

template <Kind kind> std::unique_ptr<Kernel> make(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  if (!areKnown(call) || volume(in.shape) == 0)
    return nullptr;
  const std::optional<size_t> dim = reducedDim(call);
  if (!dim)
    return nullptr;
  const Compute compute = reducing(call);
  const Along along = *dim + 1 == in.shape.size() ? Along::Row : Along::Column;
  float scale = 1.0f;
  if (kind == Kind::Mean) {
    scale = 1.0f / static_cast<float>(in.shape[*dim]);
    scale = in.dtype == DataType::Float32 ? unpacked(scale, in.dtype, compute.width)
                                          : sim::bf16ToF32(sim::f32ToBf16(scale));
  }
  const auto body = [=, type = in.dtype](const Buffers &, std::vector<float> &row, std::vector<float> &made) {
    const auto negate = [](float x) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) ^ 0x80000000); };
    if (kind == Kind::Minimum)
      std::ranges::transform(row, row.begin(), negate);
    const Line line{row.data(), static_cast<int64_t>(row.size()), type};
    float value =
        kind == Kind::Sum || kind == Kind::Mean ? sumOf(line, scale, along, compute) : maximumOf(line, along, compute);
    made.push_back(kind == Kind::Minimum ? negate(value) : value);
  };
  TensorSpec values = out;
  values.dtype = DataType::Float32;
  auto kernel = std::make_unique<RowKernel>(in, values, *dim, compute, body);
  return packedResult(out, compute.width, std::move(kernel));
}

constexpr Row rows[] = {
    {"ttnn.sum", make<Kind::Sum>},
    {"ttnn.mean", make<Kind::Mean>},
    {"ttnn.max", make<Kind::Maximum>},
    {"ttnn.min", make<Kind::Minimum>},
};

} // namespace

std::span<const Row> reductionRows() { return rows; }

} // namespace tt::ttnn::exact
