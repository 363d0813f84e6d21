//===- reduction.cpp - sums and extremes as the chip has them ---------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Dimensions are reduced one after the other, the last one first (generic_reductions.cpp of tt-metal). One that is none
// of the last two is moved there, or in sums of 16-bit and block formats added tile by tile (fast_reduce_nc). Sums and
// means over just the last two reduce rows and then columns, with the factor in the second step; those of a single tile
// are one kernel (reduce_op.cpp).
//
//===----------------------------------------------------------------------===//

#include "core/access.h"
#include "kernels/exact/rows.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace tt::ttnn::exact {
namespace {

enum class Kind : uint8_t { Sum, Mean, Maximum, Minimum };
constexpr bool isExtreme(Kind kind) { return kind == Kind::Maximum || kind == Kind::Minimum; }

/// The reduction of one dimension.
struct Stage {
  size_t dim;
  DataType from, to;
  float scale = 1.0f;
  bool adds = false; // tile by tile, in the matrix unit
};

/// The reduced dimensions in order; all of them if none is named.
std::vector<size_t> reducedDims(const OpCall &call) {
  const size_t rank = operand(call, 0).shape.size();
  std::vector<size_t> dims;
  for (int64_t dim : integersOf(call, "dim_arg"))
    dims.push_back(static_cast<size_t>(wrapDimension(call, "dim_arg", dim, rank)));
  if (dims.empty())
    for (size_t dim = 0; dim < rank; ++dim)
      dims.push_back(dim);
  std::ranges::sort(dims);
  return dims;
}

/// Whether they are just the last two.
bool isOfPlane(std::span<const size_t> dims, size_t rank) { return dims.size() == 2 && dims.front() + 2 == rank; }

/// A factor as the host passes it to the matrix unit, for values of a type.
float given(float factor, DataType type) {
  return type == DataType::Float32 ? factor : sim::bf16ToF32(sim::f32ToBf16(factor));
}

/// Empty if the rules do not cover it.
std::vector<Stage> stagesOf(const OpCall &call, Kind kind, std::vector<size_t> dims) {
  const TensorSpec &in = operand(call, 0);
  const size_t rank = in.shape.size();
  const auto isLast = [&](size_t dim) { return dim + 2 >= rank; };
  const auto lasts = std::ranges::count_if(dims, isLast);
  if (dims.empty())
    return {};
  if (dims.size() > 1 && sim::isBlockFormat(in.dtype))
    return {}; // is packed between, which crosses groups
  const bool adds = kind == Kind::Sum && (in.dtype == DataType::BFloat16 || in.dtype == DataType::BFP_BFloat8);
  // Sums of bf16 stay f32 until the last step, unless only one number is left.
  bool staysWide = adds && in.dtype == DataType::BFloat16 && dims.size() > 1 && dims.size() < rank;
  const bool plane = !isExtreme(kind) && isOfPlane(dims, rank);
  if (plane) // along rows first, which are kept as f32 where they were summed as f32
    staysWide = adds && reducing(call).wide();
  else if (adds && lasts == 2)
    return {};
  std::ranges::reverse(dims);
  if (adds && lasts == 1) // the others go first
    std::ranges::rotate(dims, dims.begin() + 1);
  float scale = 1.0f;
  if (kind == Kind::Mean) {
    int64_t count = 1;
    for (size_t dim : dims)
      count *= in.shape[dim];
    scale = given(1.0f / static_cast<float>(count), in.dtype);
  }
  std::vector<Stage> stages;
  DataType from = in.dtype;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool isEnd = i + 1 == dims.size();
    const DataType to = isEnd || staysWide ? DataType::Float32 : in.dtype;
    const bool scales = plane ? isEnd : i == 0;
    stages.push_back({dims[i], from, to, scales ? scale : 1.0f, adds && !isLast(dims[i])});
    from = to;
  }
  return stages;
}

float negated(float x) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) ^ 0x80000000); }

/// One of the stages, from a tensor to one with size 1 there.
RowKernel kernelOf(const Stage &stage, Kind kind, const TensorSpec &in, const TensorSpec &out, const Compute &compute) {
  const Along along = stage.dim + 1 == in.shape.size() ? Along::Row : Along::Column;
  const float scale = unpacked(stage.scale, stage.from, compute.width);
  return RowKernel(
      in, out, stage.dim, compute, [=](const Buffers &, std::vector<float> &row, std::vector<float> &created) {
        if (stage.adds) {
          uint32_t sum = 0;
          for (float value : row)
            sum = sim::exact::addTo(sum, std::bit_cast<uint32_t>(value), 0, compute.width);
          created.push_back(std::bit_cast<float>(sum));
          return;
        }
        if (kind == Kind::Minimum)
          std::ranges::transform(row, row.begin(), negated);
        const Line line{row.data(), static_cast<int64_t>(row.size()), stage.from};
        const float value = isExtreme(kind) ? maximumOf(line, along, compute) : sumOf(line, scale, along, compute);
        created.push_back(kind == Kind::Minimum ? negated(value) : value);
      });
}

/// Stages; the results of all but the last are in scratch memory. The last one produces destination values.
class Stages final : public Kernel {
public:
  Stages(const OpCall &call, Kind kind, std::span<const Stage> stages) {
    TensorSpec in = operand(call, 0);
    for (const Stage &stage : stages) {
      TensorSpec out = in;
      out.dtype = stage.to;
      out.shape[stage.dim] = 1;
      in.dtype = stage.from;
      const Compute compute = reducing(call);
      kernels.push_back(kernelOf(stage, kind, in, out, compute));
      places.push_back(layout.take(out.bytes()));
      width = compute.width;
      in = out;
    }
  }
  void run(const Buffers &buffers) const override {
    const std::byte *in = buffers.ins[0];
    for (size_t i = 0; i < kernels.size(); ++i) {
      std::byte *out = i + 1 == kernels.size() ? buffers.outs[0] : buffers.scratch + places[i];
      kernels[i].run({{&in, 1}, {&out, 1}, nullptr});
      in = out;
    }
  }
  size_t scratchBytes() const override { return layout.bytes(); }
  Destination lastWidth() const { return width; }

private:
  std::vector<RowKernel> kernels;
  std::vector<size_t> places;
  ScratchLayout layout;
  Destination width = Destination::Bits16;
};

/// The sum of a tensor that is a single tile.
class TileSum final : public Kernel {
public:
  TileSum(const OpCall &call, Kind kind) : in(operand(call, 0)), compute(reducing(call)) {
    const float factor = kind == Kind::Mean ? std::sqrt(1.0f / static_cast<float>(volume(in.shape))) : 1.0f;
    scale = unpacked(given(factor, in.dtype), in.dtype, compute.width);
  }

  void run(const Buffers &buffers) const override {
    const auto columns = static_cast<size_t>(in.shape.back());
    const size_t rows = static_cast<size_t>(volume(in.shape)) / columns;
    std::array<float, tile * tile> values{};
    for (size_t row = 0; row < rows; ++row) {
      float *const to = values.data() + row * tile;
      loader<float>(in.dtype)(buffers.ins[0] + row * columns * storageBytes(in.dtype), to, columns);
      for (size_t column = 0; column < columns; ++column)
        to[column] = unpacked(to[column], in.dtype, compute.width);
    }
    const uint32_t total = addWholeTile(values.data(), scale, 0, in.dtype, compute);
    std::memcpy(buffers.outs[0], &total, sizeof total);
  }

private:
  static constexpr size_t tile = 32;
  TensorSpec in;
  Compute compute;
  float scale;
};

bool isTile(const Shape &shape) {
  const size_t rank = shape.size();
  return rank >= 2 && shape[rank - 1] <= 32 && shape[rank - 2] <= 32 &&
         volume(shape) == shape[rank - 1] * shape[rank - 2];
}

template <Kind kind> std::unique_ptr<Kernel> make(const OpCall &call) {
  const TensorSpec &in = operand(call, 0);
  if (!areKnown(call) || volume(in.shape) == 0)
    return nullptr;
  const std::vector<size_t> dims = reducedDims(call);
  if (!isExtreme(kind) && isOfPlane(dims, in.shape.size()) && isTile(in.shape))
    return packedResult(result(call), reducing(call).width, std::make_unique<TileSum>(call, kind));
  const std::vector<Stage> stages = stagesOf(call, kind, dims);
  if (stages.empty())
    return nullptr;
  auto kernel = std::make_unique<Stages>(call, kind, stages);
  const Destination width = kernel->lastWidth();
  return packedResult(result(call), width, std::move(kernel));
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
