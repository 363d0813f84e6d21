//===- data_movement.cpp - reshape, permute, concat, slice, repeat, ... ---===//
// SPDX-License-Identifier: Apache-2.0

#include "core/op.h"
#include "tensor/strided.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>

namespace tt::ttnn {
namespace {

/// The bytes stay unchanged, unless the type changes or rows of a block format are divided differently.
std::unique_ptr<Kernel> reinterpreted(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  if (volume(in.shape) != volume(out.shape))
    fail(call, "operand of shape " + toString(in.shape) + " has " + std::to_string(volume(in.shape)) +
                   " elements and the result " + toString(out.shape) + " has " + std::to_string(volume(out.shape)));
  if (in.dtype != out.dtype)
    return conversionKernel(in, out);
  auto row = [](const Shape &shape) { return shape.empty() ? 1 : shape.back(); };
  const int64_t before = row(in.shape), after = row(out.shape), group = sim::blockGroup;
  if (sim::isBlockFormat(in.dtype) && before != after && (before % group != 0 || after % group != 0))
    return conversionKernel(in, out);
  return aliasKernel(out.bytes());
}

std::unique_ptr<Kernel> makeReshape(const OpCall &call) { return reinterpreted(call); }

/// Copies operand 0 through strides; a view if the strides lead from one element to the next.
class StridedKernel final : public Kernel {
public:
  StridedKernel(StridedCopy copy, bool isView) : copy(std::move(copy)), isView(isView) {}
  void run(const Buffers &b) const override { copy.run(b.ins[0], b.outs[0]); }
  int alias() const override { return isView ? 0 : -1; }
  size_t aliasOffset() const override { return isView ? copy.offsetBytes() : 0; }

private:
  StridedCopy copy;
  bool isView;
};

std::unique_ptr<Kernel> strided(const OpCall &call, Shape dims, std::vector<int64_t> strides, int64_t offset) {
  const DataType type = operand(call, 0).dtype;
  StridedCopy copy(std::move(dims), std::move(strides), offset, storageBytes(type));
  // Rows of a block format that begin elsewhere are rounded again.
  const bool isView = copy.isView() && result(call).dtype == type && !sim::isBlockFormat(type);
  return roundedTo(result(call), type, std::make_unique<StridedKernel>(std::move(copy), isView));
}

std::unique_ptr<Kernel> permuted(const OpCall &call, const std::vector<int64_t> &permutation) {
  const Shape &shape = operand(call, 0).shape;
  const std::vector<int64_t> from = rowMajorStrides(shape);
  Shape dims;
  std::vector<int64_t> strides;
  for (int64_t d : permutation) {
    dims.push_back(shape[static_cast<size_t>(d)]);
    strides.push_back(from[static_cast<size_t>(d)]);
  }
  return strided(call, dims, strides, 0);
}

std::unique_ptr<Kernel> makePermute(const OpCall &call) {
  const size_t rank = operand(call, 0).shape.size();
  auto permutation = call.attributes.get<std::vector<int64_t>>("permutation");
  std::vector<bool> seen(rank, false);
  for (int64_t &d : permutation) {
    d = wrapDimension(call, "permutation", d, rank);
    seen[static_cast<size_t>(d)] = true;
  }
  if (permutation.size() != rank || std::ranges::find(seen, false) != seen.end())
    fail(call, "attribute 'permutation' is " + quoted(permutation) + "; expected each of the " + std::to_string(rank) +
                   " dimensions once");
  return permuted(call, permutation);
}

std::unique_ptr<Kernel> makeTranspose(const OpCall &call) {
  const size_t rank = operand(call, 0).shape.size();
  std::vector<int64_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  const int64_t dim0 = dimension(call, "dim0", rank), dim1 = dimension(call, "dim1", rank);
  std::swap(permutation[static_cast<size_t>(dim0)], permutation[static_cast<size_t>(dim1)]);
  return permuted(call, permutation);
}

std::unique_ptr<Kernel> makeSlice(const OpCall &call) {
  const Shape &shape = operand(call, 0).shape;
  const size_t rank = shape.size();
  const auto begins = call.attributes.get<std::vector<int64_t>>("begins");
  const auto ends = call.attributes.get<std::vector<int64_t>>("ends");
  const auto steps = integers(call, "step", rank, -std::numeric_limits<int64_t>::max());
  if (std::find(steps.begin(), steps.end(), 0) != steps.end())
    fail(call, "attribute 'step' is " + quoted(steps) + "; expected numbers other than 0");
  if (begins.size() != rank || ends.size() != rank)
    fail(call, "attributes 'begins' " + quoted(begins) + " and 'ends' " + quoted(ends) + "; expected " +
                   std::to_string(rank) + " integers each");
  std::vector<int64_t> strides = rowMajorStrides(shape);
  Shape dims(rank);
  int64_t offset = 0;
  for (size_t d = 0; d < rank; ++d) {
    // Negative positions count from the end.
    const int64_t begin = begins[d] < 0 ? begins[d] + shape[d] : begins[d];
    const int64_t end = ends[d] < 0 ? ends[d] + shape[d] : ends[d];
    // Negative steps go backward.
    dims[d] = end == begin ? 0 : (std::abs(end - begin) - 1) / std::abs(steps[d]) + 1;
    offset += begin * strides[d];
    strides[d] *= dims[d] > 1 ? steps[d] : 1;
  }
  return strided(call, dims, strides, offset);
}

std::unique_ptr<Kernel> makeRepeat(const OpCall &call) {
  Shape shape = operand(call, 0).shape;
  const auto &repeats = call.attributes.get<std::vector<int64_t>>("repeat_dims");
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  const std::vector<int64_t> from = rowMajorStrides(shape);
  Shape dims;
  std::vector<int64_t> strides;
  for (size_t d = 0; d < shape.size(); ++d) {
    dims.insert(dims.end(), {repeats[d], shape[d]});
    strides.insert(strides.end(), {0, from[d]});
  }
  return strided(call, dims, strides, 0);
}

std::unique_ptr<Kernel> makeRepeatInterleave(const OpCall &call) {
  const Shape &shape = operand(call, 0).shape;
  const int64_t dim = dimension(call, "dim", shape.size()), repeats = call.attributes.get<int64_t>("repeats");
  const std::vector<int64_t> from = rowMajorStrides(shape);
  Shape dims;
  std::vector<int64_t> strides;
  for (size_t d = 0; d < shape.size(); ++d) {
    dims.push_back(shape[d]);
    strides.push_back(from[d]);
    if (static_cast<int64_t>(d) == dim) {
      dims.push_back(repeats);
      strides.push_back(0);
    }
  }
  return strided(call, dims, strides, 0);
}

/// Copies each row of the last moved dimension, including the dimensions after it, in two pieces.
std::unique_ptr<Kernel> makeRoll(const OpCall &call) {
  const TensorSpec &in = operand(call, 0);
  expectResultShape(call, in.shape);
  const size_t rank = in.shape.size();
  const auto &shifts = call.attributes.get<std::vector<int64_t>>("shifts");
  const auto &dims = call.attributes.get<std::vector<int64_t>>("dims");
  if (shifts.size() != dims.size())
    fail(call, "attributes 'shifts' " + quoted(shifts) + " and 'dims' " + quoted(dims) + "; expected as many of each");
  std::vector<int64_t> moves(rank, 0); // places from the source, 0 <= move < size
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = dims[i] < 0 ? dims[i] + static_cast<int64_t>(rank) : dims[i];
    if (dim < 0 || dim >= static_cast<int64_t>(rank))
      fail(call, "attribute 'dims' is " + quoted(dims) + " for an operand of rank " + std::to_string(rank));
    const auto at = static_cast<size_t>(dim);
    if (const int64_t size = in.shape[at])
      moves[at] = ((moves[at] + shifts[i] % size) % size + size) % size;
  }
  size_t last = rank;
  while (last > 0 && moves[last - 1] == 0)
    --last;
  if (last == 0)
    return reinterpreted(call);
  const auto outer = Shape(in.shape.begin(), in.shape.begin() + static_cast<int64_t>(last) - 1);
  const int64_t behind = volume(Shape(in.shape.begin() + static_cast<int64_t>(last), in.shape.end()));
  const auto bytes = static_cast<size_t>(behind) * storageBytes(in.dtype);
  const size_t row = static_cast<size_t>(in.shape[last - 1]) * bytes,
               front = static_cast<size_t>(moves[last - 1]) * bytes;
  auto copy = [=](const Buffers &buffers) {
    parallelFor(volume(outer), static_cast<int64_t>(1 + 262144 / std::max<size_t>(row, 64)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    int64_t from = 0;
                    for (int64_t d = static_cast<int64_t>(outer.size()) - 1, rest = i, step = 1; d >= 0; --d) {
                      const auto at = static_cast<size_t>(d);
                      from += (rest % outer[at] - moves[at] + outer[at]) % outer[at] * step;
                      step *= outer[at];
                      rest /= outer[at];
                    }
                    const std::byte *source = buffers.ins[0] + static_cast<size_t>(from) * row;
                    std::byte *target = buffers.outs[0] + static_cast<size_t>(i) * row;
                    std::memcpy(target + front, source, row - front);
                    std::memcpy(target, source + (row - front), front);
                  }
                });
  };
  return roundedTo(result(call), in.dtype, kernelOf(copy));
}

/// Copies rows of all operands next to one another.
std::unique_ptr<Kernel> makeConcat(const OpCall &call) {
  const Shape &first = operand(call, 0).shape;
  const auto dim = static_cast<size_t>(dimension(call, "dim", first.size()));
  const TensorSpec &out = result(call);
  Shape expected = first;
  expected[dim] = 0;
  for (size_t k = 0; k < call.ins.size(); ++k) {
    Shape shape = operand(call, k).shape;
    if (shape.size() != first.size())
      fail(call, "operand " + std::to_string(k) + " has shape " + toString(shape) + "; expected rank " +
                     std::to_string(first.size()));
    expected[dim] += shape[dim];
    shape[dim] = first[dim];
    if (shape != first)
      fail(call, "operand " + std::to_string(k) + " has shape " + toString(operand(call, k).shape) +
                     ", which differs from " + toString(first) + " outside of dimension " + std::to_string(dim));
    if (operand(call, k).dtype != operand(call, 0).dtype)
      fail(call, "operand " + std::to_string(k) + " is of type " + std::string(toString(operand(call, k).dtype)) +
                     " and operand 0 of type " + std::string(toString(operand(call, 0).dtype)));
  }
  expectResultShape(call, expected);

  const DataType type = operand(call, 0).dtype;
  const size_t inner = static_cast<size_t>(volume(Shape(first.begin() + static_cast<int64_t>(dim) + 1, first.end())));
  const int64_t outer = volume(Shape(first.begin(), first.begin() + static_cast<int64_t>(dim)));
  std::vector<size_t> rows; // bytes of one row of each operand
  for (size_t k = 0; k < call.ins.size(); ++k)
    rows.push_back(static_cast<size_t>(operand(call, k).shape[dim]) * inner * storageBytes(type));
  const size_t outRow = std::accumulate(rows.begin(), rows.end(), size_t(0));
  // A row may be the whole tensor: threads share rows in pieces.
  const size_t piece = 65536;
  auto copy = [=](const Buffers &buffers) {
    size_t place = 0;
    for (size_t k = 0; k < rows.size(); ++k) {
      const size_t row = rows[k];
      const auto pieces = static_cast<int64_t>((row + piece - 1) / piece);
      // A second thread pays off from some 20 us of copying on.
      const auto grain = static_cast<int64_t>(1 + 4 * piece / std::clamp<size_t>(row, 64, piece));
      parallelFor(outer * pieces, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const auto at = static_cast<size_t>(i / pieces), offset = static_cast<size_t>(i % pieces) * piece;
          std::memcpy(buffers.outs[0] + at * outRow + place + offset, buffers.ins[k] + at * row + offset,
                      std::min(piece, row - offset));
        }
      });
      place += row;
    }
  };
  return roundedTo(out, type, kernelOf(copy));
}

std::unique_ptr<Kernel> makePad(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const size_t rank = in.shape.size();
  const auto padding = integers(call, "padding", 2 * rank, 0); // low and high of each dimension
  TensorSpec value{in.dtype, {1}, Layout::RowMajor, {}, false},
      source{DataType::Float32, {1}, Layout::RowMajor, {}, false};
  const auto fill = static_cast<float>(number(call, "value"));
  std::array<std::byte, 4> pattern{};
  const std::byte *from = reinterpret_cast<const std::byte *>(&fill);
  std::byte *to = pattern.data();
  conversionKernel(source, value)->run({{&from, 1}, {&to, 1}});

  // The contiguous part of both: the dimensions after the last padded one, and that one.
  size_t last = rank;
  int64_t run = 1;
  while (last > 0) {
    --last;
    run *= in.shape[last];
    if (padding[2 * last] != 0 || padding[2 * last + 1] != 0)
      break;
  }
  const auto size = static_cast<int64_t>(storageBytes(in.dtype));
  const std::vector<int64_t> strides = rowMajorStrides(out.shape);
  const int64_t runs = run ? volume(in.shape) / run : 0, total = volume(out.shape);
  int64_t offset = 0;
  for (size_t d = 0; d < rank; ++d)
    offset += padding[2 * d] * strides[d];
  const Shape shape = in.shape;
  const auto fillUp = [pattern, size](std::byte *at, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(at + i * size, pattern.data(), static_cast<size_t>(size));
  };
  const auto placeOf = [=](int64_t index) {
    int64_t at = offset;
    for (size_t d = last; d-- > 0; index /= shape[d])
      at += index % shape[d] * strides[d];
    return at;
  };
  auto copy = [=](const Buffers &buffers) {
    std::byte *created = buffers.outs[0];
    parallelFor(runs, 1 + 32768 / std::max<int64_t>(1, run), [&](int64_t begin, int64_t end) {
      // Each run, with the gap between it and the previous one.
      int64_t done = begin == 0 ? 0 : placeOf(begin - 1) + run;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = placeOf(i);
        fillUp(created, done, at);
        std::memcpy(created + at * size, buffers.ins[0] + i * run * size, static_cast<size_t>(run * size));
        done = at + run;
      }
    });
    fillUp(created, runs ? placeOf(runs - 1) + run : 0, total);
  };
  return roundedTo(out, in.dtype, kernelOf(copy));
}

} // namespace

std::vector<OpInfo> dataMovementOps() {
  return {
      {"ttnn.reshape", makeReshape},
      {"ttnn.permute", makePermute},
      {"ttnn.transpose", makeTranspose},
      {"ttnn.slice_static", makeSlice},
      {"ttnn.repeat", makeRepeat},
      {"ttnn.repeat_interleave", makeRepeatInterleave},
      {"ttnn.roll", makeRoll},
      {.name = "ttnn.concat", .make = makeConcat, .minIns = 1},
      {"ttnn.pad", makePad},
  };
}

} // namespace tt::ttnn
