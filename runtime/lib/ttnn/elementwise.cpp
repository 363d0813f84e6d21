//===- elementwise.cpp - the kernel around an elementwise row -------------===//

#include "elementwise.h"

#include "op.h"
#include "storage.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cmath>

namespace tt::ttnn {
namespace {

/// How an operand is read at result position `p`: dims and strides after
/// merging dimensions that all operands step through alike.
enum class Access : uint8_t { Same, Scalar, Broadcast };

struct Operand {
  Access access;
  std::vector<int64_t> strides; // elements, per merged dimension; the last is 1 or 0
  size_t bytes;                 // of one value
  bool direct;                  // stored as it is computed: no conversion
};

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

template <class T> class ElementwiseKernel final : public Kernel {
public:
  static constexpr size_t chunk = 8192 / sizeof(T);

  ElementwiseKernel(const OpCall &call, const ElementwiseRow &row, Run<T> function, const Scalars &scalars)
      : function(function), scalars(scalars), spec(result(call)), total(static_cast<size_t>(volume(spec.shape))),
        unit(storeGroup(spec)), store(storer<T>(spec.dtype)),
        directResult(std::same_as<T, float> && spec.dtype == DataType::Float32), outBytes(storageBytes(spec.dtype)) {
    Broadcasting merged = broadcasting(call);
    dims = std::move(merged.dims);
    for (size_t k = 0; k < call.ins.size(); ++k) {
      const TensorSpec &in = operand(call, k);
      const auto &strides = merged.strides[k];
      const bool scalar = std::ranges::all_of(strides, [](int64_t s) { return s == 0; });
      const bool same = dims.size() == 1 && strides[0] == 1;
      const bool condition = row.domain == Domain::Select && k == 0;
      loads.push_back(condition ? loadNonzero<T>(in.dtype) : loader<T>(in.dtype));
      operands.push_back({scalar ? Access::Scalar
                          : same ? Access::Same
                                 : Access::Broadcast,
                          strides, storageBytes(in.dtype), std::same_as<T, float> && in.dtype == DataType::Float32});
      // Long rows are cut at their ends, so that a broadcast operand is read where it lies.
      if (operands.back().access == Access::Broadcast && dims.back() >= 256)
        rowAligned = true;
    }
  }

  void run(const Buffers &buffers) const override {
    if (total == 0)
      return;
    const auto grain = static_cast<int64_t>(std::max<size_t>(1, 16384 / unit));
    parallelFor(static_cast<int64_t>(total / unit), grain, [&](int64_t begin, int64_t end) {
      part(buffers, static_cast<size_t>(begin) * unit, static_cast<size_t>(end) * unit);
    });
  }

private:
  void part(const Buffers &buffers, size_t begin, size_t end) const {
    alignas(64) T in[maxElementwiseIns][chunk];
    alignas(64) T out[chunk];
    const T *at[maxElementwiseIns] = {};
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].access == Access::Scalar) {
        loads[k](buffers.ins[k], in[k], 1);
        std::fill_n(in[k] + 1, std::min(chunk, end - begin) - 1, in[k][0]);
        at[k] = in[k];
      }
    const auto row = static_cast<size_t>(dims.back());
    forEachPiece(begin, end, unit, chunk, [&](size_t first, size_t count) {
      for (size_t i = first, n; i < first + count; i += n) {
        n = first + count - i;
        if (rowAligned)
          n = std::min(n, row - i % row);
        for (size_t k = 0; k < operands.size(); ++k)
          if (operands[k].access != Access::Scalar)
            at[k] = read(k, buffers.ins[k], i, n, in[k]);
        // A piece of a block format is stored whole: its groups begin where it does.
        T *to = directResult ? reinterpret_cast<T *>(buffers.outs[0]) + i : out + (i - first);
        function(at, to, n, scalars);
      }
      if (!directResult)
        storePiece(store, spec, unit, out, buffers.outs[0] + first * outBytes, count);
    });
  }

  /// Values [i, i + n) of an operand: where they lie when that is possible, else converted into `buffer`.
  const T *read(size_t k, const std::byte *base, size_t i, size_t n, T *buffer) const {
    const Operand &operand = operands[k];
    if (operand.access == Access::Same) {
      if (operand.direct)
        return reinterpret_cast<const T *>(base) + i;
      loads[k](base + i * operand.bytes, buffer, n);
      return buffer;
    }
    const auto row = static_cast<size_t>(dims.back());
    size_t column = i % row, outer = i / row, done = 0;
    while (done < n) {
      const size_t count = std::min(n - done, row - column);
      int64_t offset = static_cast<int64_t>(column) * operand.strides.back();
      for (size_t d = dims.size() - 1, rest = outer; d-- > 0; rest /= static_cast<size_t>(dims[d]))
        offset += static_cast<int64_t>(rest % static_cast<size_t>(dims[d])) * operand.strides[d];
      const std::byte *from = base + static_cast<size_t>(offset) * operand.bytes;
      if (operand.strides.back() == 0) {
        loads[k](from, buffer + done, 1);
        std::fill_n(buffer + done + 1, count - 1, buffer[done]);
      } else if (operand.direct && count == n) {
        return reinterpret_cast<const T *>(from);
      } else {
        loads[k](from, buffer + done, count);
      }
      done += count;
      column = 0;
      ++outer;
    }
    return buffer;
  }

  Run<T> function;
  Scalars scalars;
  TensorSpec spec;
  size_t total, unit;
  Store<T> store;
  bool directResult;
  size_t outBytes;
  std::vector<int64_t> dims;
  std::vector<Operand> operands;
  std::vector<Load<T>> loads;
  bool rowAligned = false;
};

/// The scalar attributes; `integral` tells whether they are integers (or infinite bounds).
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
  if (integer)
    return std::make_unique<ElementwiseKernel<int64_t>>(call, row, row.i, scalars);
  if (row.f)
    return std::make_unique<ElementwiseKernel<float>>(call, row, row.f, scalars);
  for (size_t k = 0; k < call.ins.size(); ++k)
    if (isFloat(operand(call, k).dtype))
      fail(call, "operand " + std::to_string(k) + " is of type " + std::string(toString(operand(call, k).dtype)) +
                     "; expected integers");
  fail(call, "expected integer operands");
}

Cost elementwiseCost(const OpCall &call) {
  Cost cost = vectorCost(call);
  // The matrix unit adds, subtracts and multiplies; all else is the vector unit's.
  if (call.name == "ttnn.add" || call.name == "ttnn.subtract" || call.name == "ttnn.multiply")
    std::swap(cost.sfpuTiles, cost.fpuTiles);
  return cost;
}

} // namespace

std::vector<OpInfo> elementwiseOps() {
  std::vector<OpInfo> ops;
  for (const ElementwiseRow &row : elementwiseRows()) {
    if (!row.name.starts_with("ttnn."))
      continue;
    OpInfo info{row.name, row.ins, row.ins, 1, {}, makeElementwise, nullptr, elementwiseCost};
    for (std::string_view scalar : row.scalars)
      if (!scalar.empty())
        info.attributes.push_back(required(scalar, AttributeKind::Number));
    if (row.name == "ttnn.gelu_bw")
      info.attributes.push_back(optional("approximate", AttributeKind::String));
    ops.push_back(std::move(info));
  }
  return ops;
}

} // namespace tt::ttnn
