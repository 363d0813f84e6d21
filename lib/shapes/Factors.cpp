//===- Factors.cpp - how dimensions follow one another --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/shapes/Factors.h"

#include <numeric>

namespace ttmlir::shapes {

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

Factors::Factors(std::span<const View> operandShapes, std::span<const View> resultShapes)
    : operands(operandShapes.size()) {
  for (const auto &list : {operandShapes, resultShapes})
    for (const View shape : list) {
      shapes.emplace_back(shape);
      places.emplace_back(shape.size());
    }
}

Factors &Factors::add(View dims, int64_t size, FactorType type) {
  // An empty dimension is not split.
  size = std::max<int64_t>(size, 1);
  const auto factor = static_cast<int64_t>(sizes.size());
  bool isUsed = false;
  for (size_t tensor = 0; tensor < dims.size(); ++tensor) {
    if (dims[tensor] == kNone)
      continue;
    Dimension &dimension = places[tensor][static_cast<size_t>(dims[tensor])];
    // A factor of size 1 adds nothing to another one, and represents only a dimension of size 1.
    if (size == 1 && !dimension.empty())
      continue;
    if (dimension.size() == 1 && sizeOf(dimension[0]) == 1)
      dimension.clear();
    dimension.push_back(factor);
    isUsed = true;
  }
  if (isUsed) {
    sizes.push_back(size);
    types.push_back(type);
  }
  return *this;
}

Factors &Factors::addAt(std::span<const Place> at, int64_t size, FactorType type) {
  Sizes dims(shapes.size(), kNone);
  for (const auto &[tensor, dim] : at)
    if (tensor >= 0 && static_cast<size_t>(tensor) < dims.size() && dim >= 0 &&
        static_cast<size_t>(dim) < shapes[static_cast<size_t>(tensor)].size())
      dims[static_cast<size_t>(tensor)] = dim;
  return add(View(dims), size, type);
}

void Factors::addEverywhere(View shape, size_t dim, FactorType type) {
  Sizes dims(shapes.size(), kNone);
  for (size_t tensor = 0; tensor < shapes.size(); ++tensor)
    if (shapes[tensor].size() == shape.size())
      dims[tensor] = static_cast<int64_t>(dim);
  add(View(dims), shape[dim], type);
}

Factors Factors::finish() {
  // Factors of size 1 may have lost all their positions.
  Sizes numbers(sizes.size(), kNone);
  for (const auto &tensor : places)
    for (const Dimension &dimension : tensor)
      for (const int64_t factor : dimension)
        numbers[static_cast<size_t>(factor)] = 0;
  size_t next = 0;
  for (size_t factor = 0; factor < numbers.size(); ++factor)
    if (numbers[factor] != kNone) {
      sizes[next] = sizes[factor];
      types[next] = types[factor];
      numbers[factor] = static_cast<int64_t>(next++);
    }
  if (next < numbers.size()) {
    sizes.resize(next);
    types.resize(next);
    for (auto &tensor : places)
      for (Dimension &dimension : tensor)
        for (int64_t &factor : dimension)
          factor = numbers[static_cast<size_t>(factor)];
  }
  for (auto &tensor : places)
    for (Dimension &dimension : tensor)
      if (dimension.empty()) {
        dimension.push_back(static_cast<int64_t>(sizes.size()));
        sizes.push_back(1);
        types.push_back(kPassThrough);
      }
  return std::move(*this);
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

static bool contains(View values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

void elementwiseFactors(Factors &factors) { factors.pointwise(factors.result(0)); }

void broadcastFactors(Factors &factors) {
  const View out = factors.result(0);
  for (size_t dim = 0; dim < out.size(); ++dim) {
    Sizes dims(factors.numTensors(), kNone);
    for (size_t tensor = 0; tensor < factors.numTensors(); ++tensor) {
      const View shape = factors.tensor(tensor);
      const size_t missing = out.size() - std::min(shape.size(), out.size());
      if (dim >= missing && shape[dim - missing] == out[dim])
        dims[tensor] = static_cast<int64_t>(dim - missing);
    }
    factors.add(View(dims), out[dim]);
  }
}

void broadcastFactors(Factors &factors, View dims) {
  const View in = factors.operand(0), out = factors.result(0);
  for (size_t to = 0; to < out.size(); ++to) {
    const auto *found = std::find(dims.data(), dims.data() + dims.size(), static_cast<int64_t>(to));
    int64_t from = found == dims.data() + dims.size() ? kNone : found - dims.data();
    if (from != kNone && in[static_cast<size_t>(from)] != out[to]) {
      factors.add({from, kNone}, 1);
      from = kNone;
    }
    factors.add({from, static_cast<int64_t>(to)}, out[to]);
  }
}

void transposeFactors(Factors &factors, View order) {
  for (size_t to = 0; to < order.size(); ++to)
    factors.add({order[to], static_cast<int64_t>(to)}, factors.result(0)[to]);
}

/// The factor that brings the side with fewer factors closer to the other.
static int64_t catchUp(int64_t size, int64_t fewer, int64_t more, int64_t shared) {
  if (more % fewer == 0 && size % (more / fewer) == 0)
    return more / fewer;
  return size > shared ? size / shared : size;
}

/// Both shapes are read from the front, and split into common factors where their products agree.
bool reshapeFactors(Factors &factors) {
  const View in = factors.operand(0), out = factors.result(0);
  if (contains(in, 0) || contains(out, 0))
    return false;
  // The current dimensions; the product of those that were begun; the product of the factors assigned to these.
  size_t a = 0, b = 0;
  int64_t begunIn = 1, begunOut = 1, givenIn = 1, givenOut = 1;
  while (a < in.size() || b < out.size()) {
    const auto dimIn = static_cast<int64_t>(a), dimOut = static_cast<int64_t>(b);
    if (a < in.size() && in[a] == 1) {
      factors.add({dimIn, kNone}, 1);
      ++a;
      continue;
    }
    if (b < out.size() && out[b] == 1) {
      factors.add({kNone, dimOut}, 1);
      ++b;
      continue;
    }
    if (a < in.size() && begunIn == givenIn)
      begunIn *= in[a];
    if (b < out.size() && begunOut == givenOut)
      begunOut *= out[b];
    const int64_t leftIn = begunIn / givenIn, leftOut = begunOut / givenOut, shared = std::gcd(leftIn, leftOut);
    const auto giveIn = [&](int64_t size) { factors.add({dimIn, kNone}, size), givenIn *= size; };
    const auto giveOut = [&](int64_t size) { factors.add({kNone, dimOut}, size), givenOut *= size; };
    if (givenIn == givenOut && shared > 1) {
      factors.add({dimIn, dimOut}, shared);
      givenIn *= shared, givenOut *= shared;
    } else if (givenIn == givenOut) {
      giveIn(leftIn);
      giveOut(leftOut);
    } else if (givenIn < givenOut) {
      giveIn(catchUp(leftIn, givenIn, givenOut, shared));
    } else {
      giveOut(catchUp(leftOut, givenOut, givenIn, shared));
    }
    a += begunIn == givenIn;
    b += begunOut == givenOut;
  }
  return true;
}

void alongFactors(Factors &factors, View dims, FactorType type) {
  factors.pointwise(factors.result(0),
                    [&](int64_t dim) { return std::optional(contains(dims, dim) ? type : kPassThrough); });
}

void resizeFactors(Factors &factors, FactorType type) {
  const View in = factors.operand(0), out = factors.result(0);
  factors.pointwise(in, [&](int64_t dim) {
    return std::optional(in[static_cast<size_t>(dim)] == out[static_cast<size_t>(dim)] ? kPassThrough : type);
  });
}

void productFactors(Factors &factors, const ProductDims &dims) {
  const View lhs = factors.operand(0), rhs = factors.operand(1);
  int64_t out = 0;
  for (size_t i = 0; i < dims.batchLhs.size(); ++i)
    factors.add({dims.batchLhs[i], dims.batchRhs[i], out++}, lhs[static_cast<size_t>(dims.batchLhs[i])]);
  const auto addFree = [&](View shape, View batch, View contract, bool isLeft) {
    for (size_t i = 0; i < shape.size(); ++i)
      if (const auto dim = static_cast<int64_t>(i); !contains(batch, dim) && !contains(contract, dim))
        factors.add({isLeft ? dim : kNone, isLeft ? kNone : dim, out++}, shape[i]);
  };
  addFree(lhs, dims.batchLhs, dims.contractLhs, true);
  addFree(rhs, dims.batchRhs, dims.contractRhs, false);
  for (size_t i = 0; i < dims.contractLhs.size(); ++i)
    factors.add({dims.contractLhs[i], dims.contractRhs[i], kNone}, lhs[static_cast<size_t>(dims.contractLhs[i])],
                kReduction);
}

void reductionFactors(Factors &factors, size_t inputs, View dims, bool keepsDims) {
  const View in = factors.operand(0);
  int64_t out = 0;
  for (size_t dim = 0; dim < in.size(); ++dim) {
    const bool isReduced = contains(dims, static_cast<int64_t>(dim));
    Sizes places(factors.numTensors(), kNone);
    for (size_t i = 0; i < inputs; ++i)
      places[i] = static_cast<int64_t>(dim);
    if (!isReduced)
      for (size_t i = factors.numOperands(); i < factors.numTensors(); ++i)
        places[i] = out;
    factors.add(View(places), in[dim], isReduced ? kReduction : kPassThrough);
    out += !isReduced || keepsDims;
  }
}

void collectiveFactors(Factors &factors, View whole) {
  const View in = factors.operand(0), out = factors.result(0);
  for (size_t dim = 0; dim < in.size(); ++dim) {
    Sizes operands(factors.numTensors(), kNone), results(factors.numTensors(), kNone);
    for (size_t i = 0; i < factors.numTensors(); ++i)
      (i < factors.numOperands() ? operands : results)[i] = static_cast<int64_t>(dim);
    if (contains(whole, static_cast<int64_t>(dim))) {
      factors.add(View(operands), in[dim], kNeedReplication).add(View(results), out[dim], kNeedReplication);
      continue;
    }
    for (size_t i = factors.numOperands(); i < factors.numTensors(); ++i)
      operands[i] = static_cast<int64_t>(dim);
    factors.add(View(operands), in[dim]);
  }
}

void featureFactors(Factors &factors, size_t feature, FactorType others) {
  const View in = factors.operand(0);
  for (size_t dim = 0; dim < in.size(); ++dim) {
    Sizes dims(factors.numTensors(), static_cast<int64_t>(dim));
    for (size_t i = 0; i < factors.numTensors(); ++i)
      if (i != 0 && i != factors.numOperands() && factors.tensor(i).size() == 1 && in.size() != 1)
        dims[i] = dim == feature ? 0 : kNone;
    factors.add(View(dims), in[dim], dim == feature ? kPassThrough : others);
  }
}

} // namespace ttmlir::shapes
