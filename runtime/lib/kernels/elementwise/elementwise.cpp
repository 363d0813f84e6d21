//===- elementwise.cpp - the elementwise kernel ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/elementwise/kernel.h"
#include "tensor/strided.h"

#include <cmath>

namespace tt::ttnn {
namespace {

/// Result dimensions merged as far as every operand allows.
struct Broadcasting {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> strides; // [operand][dim]
};

Broadcasting broadcasting(const OpCall &call) {
  const Shape &shape = result(call).shape;
  const size_t rank = shape.size(), count = call.ins.size();
  Broadcasting merged;
  merged.strides.resize(count);
  std::vector<std::vector<int64_t>> strides(count, std::vector<int64_t>(rank, 0));
  for (size_t k = 0; k < count; ++k) {
    const Shape &from = operand(call, k).shape;
    int64_t stride = 1;
    for (size_t d = from.size(); d-- > 0; stride *= from[d])
      strides[k][d + rank - from.size()] = from[d] == 1 ? 0 : stride;
  }
  for (size_t d = 0; d < rank; ++d) {
    if (shape[d] == 1)
      continue;
    bool joins = !merged.dims.empty();
    for (size_t k = 0; k < count && joins; ++k)
      joins = merged.strides[k].back() == strides[k][d] * shape[d];
    if (!joins) {
      merged.dims.push_back(shape[d]);
      for (size_t k = 0; k < count; ++k)
        merged.strides[k].push_back(strides[k][d]);
      continue;
    }
    merged.dims.back() *= shape[d];
    for (size_t k = 0; k < count; ++k)
      merged.strides[k].back() = strides[k][d];
  }
  if (merged.dims.empty()) {
    merged.dims.push_back(1);
    for (auto &s : merged.strides)
      s.push_back(0);
  }
  return merged;
}

void expectBroadcast(const OpCall &call) {
  const Shape &shape = result(call).shape;
  Shape expected;
  for (size_t k = 0; k < call.ins.size(); ++k) {
    const Shape &from = operand(call, k).shape;
    if (from.size() > expected.size())
      expected.insert(expected.begin(), from.size() - expected.size(), 1);
    for (size_t d = 0; d < from.size(); ++d) {
      int64_t &size = expected[d + expected.size() - from.size()];
      if (size != 1 && from[d] != 1 && size != from[d])
        fail(call, "operand " + std::to_string(k) + " of shape " + toString(from) +
                       " does not broadcast with the operands before it, to " + toString(shape));
      size = size == 1 ? from[d] : size;
    }
  }
  expectResultShape(call, expected);
}

/// Stores f32 whose values bf16 has.
void storeKept(const float *from, std::byte *to, size_t n) {
  auto *values = reinterpret_cast<uint16_t *>(to);
  for (size_t i = 0; i < n; ++i)
    values[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(from[i]) >> 16);
}

/// Whether `fRounded` rounds all results of a stage: a NaN of arithmetic, or of a bf16 operand, has lower bits of 0.
bool roundsAtOnce(const Stage &stage) {
  for (size_t k = 0; k < stage.operands.size(); ++k)
    if (!stage.takesBf16AsF32(k))
      return false;
  return stage.spec.dtype == DataType::BFloat16 &&
         std::ranges::none_of(stage.scalars.f, [](float value) { return value != value; });
}

} // namespace

Stage::Stage(const OpCall &call, const ElementwiseRow &row, bool integer, const Scalars &scalars)
    : scalars(scalars), spec(result(call)), unit(storeGroup(spec)), outBytes(storageBytes(spec.dtype)),
      direct(!integer && spec.dtype == DataType::Float32) {
  Broadcasting merged = broadcasting(call);
  dims = std::move(merged.dims);
  if (integer) {
    i = row.i;
    storeI = storer<int64_t>(spec.dtype);
  } else {
    f = row.f;
    fRounded = row.rounded;
    storeF = storer<float>(spec.dtype);
  }
  for (size_t k = 0; k < call.ins.size(); ++k) {
    const TensorSpec &in = operand(call, k);
    const auto &strides = merged.strides[k];
    const bool scalar = std::ranges::all_of(strides, [](int64_t s) { return s == 0; });
    const bool same = strides == rowMajorStrides(dims);
    const bool condition = row.domain == Domain::Select && k == 0;
    if (integer)
      loadsI[k] = condition ? loadNonzero<int64_t>(in.dtype) : loader<int64_t>(in.dtype);
    else
      loadsF[k] = condition ? loadNonzero<float>(in.dtype) : loader<float>(in.dtype);
    operands.push_back({scalar ? Access::Scalar
                        : same ? Access::Same
                               : Access::Broadcast,
                        static_cast<uint32_t>(k), strides, storageBytes(in.dtype),
                        !integer && in.dtype == DataType::Float32});
    // Long rows are divided at their ends, so that a broadcast operand is read in place.
    if (operands.back().access == Access::Broadcast && dims.back() >= 256)
      rowAligned = true;
  }
  if (fRounded && roundsAtOnce(*this))
    storeF = storeKept;
  else
    fRounded = nullptr;
}

namespace {

/// The scalar attributes; `integral` states whether they are integers (or infinite bounds).
Scalars scalarsOf(const OpCall &call, const ElementwiseRow &row, bool &integral) {
  Scalars scalars;
  for (size_t i = 0; i < row.scalars.size() && !row.scalars[i].empty(); ++i) {
    const double value = number(call, row.scalars[i]);
    scalars.f[i] = static_cast<float>(value);
    integral &= std::trunc(value) == value; // NaN is not, Inf is
    scalars.i[i] = std::isnan(value)  ? 0
                   : value >= 0x1p62  ? int64_t(1) << 62
                   : value <= -0x1p62 ? -(int64_t(1) << 62)
                                      : static_cast<int64_t>(value);
  }
  return scalars;
}

/// Rows that are faster or differ for one value of an attribute.
const ElementwiseRow &specialised(const OpCall &call, const ElementwiseRow &row) {
  if (row.name == "ttnn.pow_scalar" && number(call, "rhs") == 2.0)
    return *findElementwise("square");
  if (row.name == "ttnn.gelu_bw") {
    const std::string approximate = call.attributes.get<std::string>("approximate", "none");
    if (approximate == "tanh")
      return *findElementwise("gelu_bw_tanh");
    if (approximate != "none")
      fail(call, "attribute 'approximate' is \"" + approximate + "\"; expected \"none\" or \"tanh\"");
  }
  return row;
}

/// Whether integers are cast in f32, which has the same values and more of them in a vector.
bool isCastInFloats(const OpCall &call) {
  if (call.name != "ttnn.typecast")
    return false;
  const DataType from = operand(call, 0).dtype, to = result(call).dtype;
  const bool isNarrow = storageBytes(from) < 4, isWide = to == DataType::Int32 || to == DataType::UInt32;
  return isFloat(to) || (isNarrow && isWide);
}

} // namespace

std::unique_ptr<Kernel> makeElementwise(const OpCall &call) {
  const ElementwiseRow &row = specialised(call, *findElementwise(call.name));
  expectBroadcast(call);
  bool integral = true;
  const Scalars scalars = scalarsOf(call, row, integral);
  bool integer = row.i != nullptr && integral;
  for (size_t k = row.domain == Domain::Select ? 1 : 0; k < call.ins.size(); ++k)
    integer &= isInteger(operand(call, k).dtype);
  if (row.domain == Domain::Quotient)
    integer &= isInteger(result(call).dtype);
  integer &= !isCastInFloats(call);
  if (integer || row.f)
    return std::make_unique<ElementwiseKernel>(std::vector<Stage>{Stage(call, row, integer, scalars)});
  for (size_t k = 0; k < call.ins.size(); ++k)
    if (isFloat(operand(call, k).dtype))
      fail(call, "operand " + std::to_string(k) + " is of type " + std::string(toString(operand(call, k).dtype)) +
                     "; expected integers");
  fail(call, "expected integer operands");
}

std::unique_ptr<Kernel> makeElementwise(const OpCall &call, const ElementwiseRow &row) {
  expectBroadcast(call);
  bool integral = true;
  const Scalars scalars = scalarsOf(call, row, integral);
  return std::make_unique<ElementwiseKernel>(std::vector<Stage>{Stage(call, row, false, scalars)});
}

std::vector<OpInfo> elementwiseOps() {
  std::vector<OpInfo> ops;
  for (const ElementwiseRow &row : elementwiseRows())
    if (row.name.starts_with("ttnn."))
      ops.push_back({row.name, makeElementwise});
  return ops;
}

} // namespace tt::ttnn
