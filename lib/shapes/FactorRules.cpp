//===- FactorRules.cpp - factors of TTIR and TTNN ops by shape rule -------===//
// SPDX-License-Identifier: Apache-2.0
//
// An op has the factors of its shape rule. Ops whose attributes state sizes in TTNN's own form have none.
//
//===----------------------------------------------------------------------===//

#include "FactorRules.h"
#include "ttmlir/shapes/Rearrange.h"

namespace tt::shapes {
namespace {

//===----------------------------------------------------------------------===//
// Operands and dimensions
//===----------------------------------------------------------------------===//

int64_t dimensionNamed(const Op &op, std::string_view name, View shape) {
  return static_cast<int64_t>(dimension(op, name, shape.size()));
}

/// All tensors have one shape, except that their sizes along `dim` differ: each has a factor of its own there.
bool along(Factors &factors, int64_t dim, FactorType type = kNeedReplication) {
  const View shape = factors.operand(0);
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (at != dim) {
      factors.add(View(Sizes(factors.numTensors(), at)), shape[i]);
      continue;
    }
    for (size_t tensor = 0; tensor < factors.numTensors(); ++tensor)
      factors.addAt({{static_cast<int64_t>(tensor), at}}, factors.tensor(tensor)[i], type);
  }
  return true;
}

/// Builds the factors of operand 0 and of all results of its rank: dimensions for which `isWhole` holds must not be
/// split, others pass.
template <class Function> bool partly(Factors &factors, Function &&isWhole) {
  const View shape = factors.operand(0);
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
    std::vector<Factors::Place> places = {{0, dim}};
    if (isWhole(dim)) {
      factors.addAt(places, sizeAt(shape, dim), kNeedReplication);
      for (size_t i = 0; i < factors.numResults(); ++i)
        factors.addAt({{resultNumber(factors, i), dim}}, sizeAt(factors.result(i), dim), kNeedReplication);
      continue;
    }
    for (size_t i = 0; i < factors.numResults(); ++i)
      places.push_back({resultNumber(factors, i), dim});
    factors.addAt(places, sizeAt(shape, dim));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Elementwise ops, reductions, orderings
//===----------------------------------------------------------------------===//

bool elementwise(const Op &, Factors &factors) {
  broadcastFactors(factors);
  return true;
}

/// Passes all dimensions, but none of an op with a seed: a random element depends on its position.
bool same(const Op &op, Factors &factors) {
  return op.attribute("seed").kind == Attribute::Kind::Absent && elementwise(op, factors);
}

bool alongDim(const Op &op, Factors &factors) { return along(factors, dimensionNamed(op, "dim", factors.operand(0))); }
bool softmax(const Op &op, Factors &factors) {
  return along(factors, dimensionNamed(op, "dimension", factors.operand(0)));
}

Sizes reducedDims(const Op &op, View input) {
  std::string_view name = "dim_arg";
  Attribute found = op.attribute(name);
  if (found.kind == Attribute::Kind::Absent)
    found = op.attribute(name = "dim");
  if (found.kind == Attribute::Kind::Integer)
    found.integers = {found.integer};
  Sizes dims;
  for (const int64_t dim : found.integers)
    dims.push_back(static_cast<int64_t>(dimension(op, name, dim, input.size())));
  for (size_t dim = 0; dim < input.size() && found.integers.empty(); ++dim)
    dims.push_back(static_cast<int64_t>(dim));
  return dims;
}

bool reduction(const Op &op, Factors &factors) {
  reductionFactors(factors, 1, reducedDims(op, factors.operand(0)), boolean(op, "keep_dim"));
  return true;
}

/// A position in a whole dimension is not one of its parts.
bool argmax(const Op &op, Factors &factors) {
  const Sizes dims = reducedDims(op, factors.operand(0));
  const bool keepsDims = boolean(op, "keep_dim");
  int64_t out = 0;
  for (size_t i = 0; i < factors.operand(0).size(); ++i) {
    const auto dim = static_cast<int64_t>(i);
    const bool isReduced = std::find(dims.begin(), dims.end(), dim) != dims.end();
    factors.add({dim, isReduced ? kNone : out}, factors.operand(0)[i], isReduced ? kNeedReplication : kPassThrough);
    out += !isReduced || keepsDims;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool matmul(const Op &op, Factors &factors) {
  const View a = factors.operand(0), b = factors.operand(1), out = factors.result(0);
  const int64_t bias = numberOf(op, "bias"), result = resultNumber(factors);
  const auto rankA = static_cast<int64_t>(a.size()), rankB = static_cast<int64_t>(b.size()),
             rank = static_cast<int64_t>(out.size());
  const bool transposedA = boolean(op, "transpose_a"), transposedB = boolean(op, "transpose_b");
  const int64_t rows = rankA < 2 ? kNone : rankA - (transposedA ? 1 : 2),
                inA = rankA - (rankA > 1 && transposedA ? 2 : 1);
  const int64_t columns = rankB < 2 ? kNone : rankB - (transposedB ? 2 : 1),
                inB = rankB - (rankB > 1 && !transposedB ? 2 : 1);
  // Rows and columns are the last dimensions of the result; batches are aligned before them.
  int64_t next = rank - (rows != kNone) - (columns != kNone);
  for (int64_t dim = 0; dim < next; ++dim) {
    const auto batchPlace = [&](int64_t tensor, View shape) {
      const int64_t at = dim - next + static_cast<int64_t>(shape.size()) - 2;
      return at >= 0 && sizeAt(shape, at) == sizeAt(out, dim) ? Factors::Place{tensor, at}
                                                              : Factors::Place{kNone, kNone};
    };
    factors.addAt({batchPlace(0, a), batchPlace(1, b), alignedPlace(factors, bias, dim), {result, dim}},
                  sizeAt(out, dim));
  }
  const auto addFree = [&](int64_t tensor, View shape, int64_t dim) {
    if (dim == kNone)
      return;
    Factors::Place place = {tensor, dim};
    if (sizeAt(shape, dim) != sizeAt(out, next))
      place = {kNone, kNone};
    factors.addAt({place, alignedPlace(factors, bias, next), {result, next}}, sizeAt(out, next));
    ++next;
  };
  addFree(0, a, rows);
  addFree(1, b, columns);
  // Each partial product would add the bias.
  factors.addAt({{0, inA}, {1, inB}}, sizeAt(a, inA), bias == kNone ? kReduction : kNeedReplication);
  return true;
}

bool dotGeneral(const Op &op, Factors &factors) {
  const Sizes batchLhs = integers(op, "batch_dims_lhs"), batchRhs = integers(op, "batch_dims_rhs"),
              contractLhs = integers(op, "contract_dims_lhs"), contractRhs = integers(op, "contract_dims_rhs");
  productFactors(factors, {batchLhs, batchRhs, contractLhs, contractRhs});
  return true;
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

bool reshape(const Op &, Factors &factors) {
  factors.statesSizes("shape", factors.numOperands());
  return reshapeFactors(factors);
}
bool squeeze(const Op &, Factors &factors) { return reshapeFactors(factors); }

bool permute(const Op &op, Factors &factors) {
  Sizes order;
  const View shape = factors.operand(0);
  for (const int64_t dim : integers(op, "permutation"))
    order.push_back(static_cast<int64_t>(dimension(op, "permutation", dim, shape.size())));
  transposeFactors(factors, order);
  return true;
}
bool transpose(const Op &op, Factors &factors) {
  const View shape = factors.operand(0);
  Sizes order;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    order.push_back(static_cast<int64_t>(dim));
  std::swap(order[dimension(op, "dim0", shape.size())], order[dimension(op, "dim1", shape.size())]);
  transposeFactors(factors, order);
  return true;
}
bool rearrange(const Op &op, Factors &factors) {
  const View shape = factors.operand(0);
  const Rearrangement found = rearrangement(op.attribute("pattern").text, shape);
  if (!found.error.empty())
    return false;
  for (size_t to = 0; to < found.groups.size(); ++to)
    for (const int64_t from : found.groups[to])
      factors.add({from, static_cast<int64_t>(to)}, sizeAt(shape, from));
  return true;
}
bool reverse(const Op &op, Factors &factors) {
  Sizes dims;
  const View shape = factors.operand(0);
  for (const int64_t dim : integers(op, "dimensions"))
    dims.push_back(static_cast<int64_t>(dimension(op, "dimensions", dim, shape.size())));
  alongFactors(factors, dims, kPermutation);
  return true;
}

bool roll(const Op &op, Factors &factors) {
  const size_t rank = factors.operand(0).size();
  std::vector<bool> isRolled(rank);
  for (const int64_t dim : integers(op, "dims"))
    isRolled[dimension(op, "dims", dim, rank)] = true;
  return partly(factors, [&](int64_t dim) { return isRolled[static_cast<size_t>(dim)]; });
}

bool slice(const Op &op, Factors &factors) {
  const View in = factors.operand(0), out = factors.result(0);
  factors.statesSizes("ends", 0);
  // A slice backward has fewer elements: one of the dimension's size is all of it.
  return partly(factors, [&](int64_t dim) { return sizeAt(in, dim) != sizeAt(out, dim); });
}
/// Along one dimension, indices are positions.
bool index(const Op &op, Factors &factors) {
  const int64_t at = dimensionNamed(op, "dim", factors.operand(0));
  return partly(factors, [&](int64_t dim) { return dim == at; });
}

bool repeat(const Op &, Factors &factors) {
  const View in = factors.operand(0), out = factors.result(0);
  const auto missing = static_cast<int64_t>(out.size() - in.size());
  for (int64_t dim = 0; dim < static_cast<int64_t>(out.size()); ++dim) {
    const int64_t from = dim - missing, size = from < 0 ? 1 : sizeAt(in, from);
    if (size == 0)
      return false;
    factors.addAt({{1, dim}}, sizeAt(out, dim) / size).addAt({{0, from}, {1, dim}}, size);
  }
  return true;
}
bool repeatInterleave(const Op &op, Factors &factors) {
  const View in = factors.operand(0);
  const int64_t at = dimensionNamed(op, "dim", in);
  for (int64_t dim = 0; dim < static_cast<int64_t>(in.size()); ++dim) {
    factors.add({dim, dim}, sizeAt(in, dim));
    if (dim == at)
      factors.addAt({{1, dim}}, integer(op, "repeats"));
  }
  return true;
}
bool concat(const Op &op, Factors &factors) { return along(factors, dimensionNamed(op, "dim", factors.operand(0))); }
bool pad(const Op &op, Factors &factors) {
  const Sizes padding = integers(op, "padding");
  return partly(factors,
                [&](int64_t dim) { return sizeAt(padding, 2 * dim) != 0 || sizeAt(padding, 2 * dim + 1) != 0; });
}
/// Images of rank 4 whose height and width change.
bool upsample(const Op &, Factors &factors) {
  return partly(factors, [](int64_t dim) { return dim == 1 || dim == 2; });
}

bool gather(const Op &op, Factors &factors) {
  const View in = factors.operand(0), out = factors.result(0);
  const int64_t at = dimensionNamed(op, "dim", in);
  for (int64_t dim = 0; dim < static_cast<int64_t>(in.size()); ++dim) {
    if (dim != at && sizeAt(in, dim) == sizeAt(out, dim)) {
      factors.add({dim, dim, dim}, sizeAt(in, dim));
      continue;
    }
    factors.addAt({{0, dim}}, sizeAt(in, dim), kNeedReplication);
    // Positions of the index other than along `dim` are also those of the input.
    factors.addAt({{1, dim}, {2, dim}}, sizeAt(out, dim), dim == at ? kPassThrough : kNeedReplication);
  }
  return true;
}
bool scatter(const Op &op, Factors &factors) {
  const View in = factors.operand(0), places = factors.operand(1), source = factors.operand(2);
  const int64_t at = dimensionNamed(op, "dim", in);
  for (int64_t dim = 0; dim < static_cast<int64_t>(in.size()); ++dim) {
    if (dim != at && sizeAt(in, dim) == sizeAt(places, dim) && sizeAt(in, dim) == sizeAt(source, dim)) {
      factors.add({dim, dim, dim, dim}, sizeAt(in, dim));
      continue;
    }
    factors.addAt({{0, dim}, {3, dim}}, sizeAt(in, dim), kNeedReplication);
    factors.addAt({{1, dim}}, sizeAt(places, dim), kNeedReplication);
    factors.addAt({{2, dim}}, sizeAt(source, dim), kNeedReplication);
  }
  return true;
}
bool embedding(const Op &, Factors &factors) {
  const View in = factors.operand(0), table = factors.operand(1), out = factors.result(0);
  if (out.size() != in.size() + 1)
    return false;
  const auto rank = static_cast<int64_t>(table.size());
  for (int64_t dim = 0; dim < static_cast<int64_t>(in.size()); ++dim)
    factors.add({dim, kNone, dim}, sizeAt(in, dim));
  factors.add({kNone, rank - 2, kNone}, table[table.size() - 2], kNeedReplication)
      .add({kNone, rank - 1, static_cast<int64_t>(in.size())}, table.back());
  return true;
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

/// The last `count` dimensions are normalized; weights have them.
bool normalizeLast(Factors &factors, size_t count) {
  const View shape = factors.operand(0);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const auto at = static_cast<int64_t>(dim);
    const bool isNormalized = dim + count >= shape.size();
    std::vector<Factors::Place> places = {{0, at}, {resultNumber(factors), at}};
    for (int64_t i = 1; i < static_cast<int64_t>(factors.numOperands()) && isNormalized; ++i)
      places.push_back(alignedPlace(factors, i, at));
    factors.addAt(places, shape[dim], isNormalized ? kNeedReplication : kPassThrough);
  }
  return true;
}
bool layerNorm(const Op &op, Factors &factors) {
  return normalizeLast(factors, integers(op, "normalized_shape").size());
}
bool layerNormLastDim(const Op &, Factors &factors) { return normalizeLast(factors, 1); }

/// Needs all dimensions of each sample.
bool groupNorm(const Op &op, Factors &factors) {
  return dimensionNamed(op, "channel_dim", factors.operand(0)) != 0 && numberOf(op, "input_mask") == kNone &&
         partly(factors, [](int64_t dim) { return dim != 0; });
}
bool batchNorm(const Op &op, Factors &factors) {
  featureFactors(factors, dimension(op, "dimension", factors.operand(0).size()), kPassThrough);
  return true;
}
bool batchNormTraining(const Op &op, Factors &factors) {
  featureFactors(factors, dimension(op, "dimension", factors.operand(0).size()), kNeedReplication);
  return true;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Images are independent of each other. Channels are summed over or produced, except where groups tie them together.
bool convolve(const Op &op, Factors &factors, bool transposed) {
  if (op.attribute("flattened_compat_info").kind != Attribute::Kind::Absent)
    return false;
  const View in = factors.operand(0), out = factors.result(0);
  const int64_t batch = dimensionNamed(op, "batch_dim", in), channel = dimensionNamed(op, "channel_dim", in);
  const int64_t result = resultNumber(factors), bias = numberOf(op, "bias");
  const int64_t weightIn = transposed ? 0 : 1, weightOut = transposed ? 1 : 0;
  const bool isGrouped = integer(op, "groups") != 1;
  factors.addAt({{0, batch}, {result, batch}}, sizeAt(in, batch));
  if (!isGrouped) {
    factors.addAt({{0, channel}, {1, weightIn}}, sizeAt(in, channel), bias == kNone ? kReduction : kNeedReplication);
    Factors::Place biasPlace = {bias, kNone};
    for (size_t dim = 0; bias != kNone && dim < factors.operand(2).size(); ++dim)
      if (factors.operand(2)[dim] == sizeAt(out, channel))
        biasPlace.dim = static_cast<int64_t>(dim);
    factors.addAt({{1, weightOut}, biasPlace, {result, channel}}, sizeAt(out, channel));
  }
  return takeRestWhole(factors);
}
bool convolution(const Op &op, Factors &factors) { return convolve(op, factors, false); }
bool transposedConvolution(const Op &op, Factors &factors) { return convolve(op, factors, true); }

/// Windows read height and width of NHWC images, and depth, height and width of NDHWC volumes.
bool pooling(const Op &op, Factors &factors) {
  const auto channels = static_cast<int64_t>(factors.operand(0).size()) - 1;
  return op.attribute("flattened_compat_info").kind == Attribute::Kind::Absent && factors.numOperands() == 1 &&
         partly(factors, [channels](int64_t dim) { return dim != 0 && dim != channels; });
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

/// Where a dimension is gathered from chips or divided among them, the chips are a factor of the longer side, before
/// the part of a chip.
bool amongChips(const Op &, Factors &factors) {
  const View in = factors.operand(0), out = factors.result(0);
  for (size_t i = 0; i < in.size(); ++i) {
    const auto dim = static_cast<int64_t>(i);
    const int64_t part = std::min(in[i], out[i]), whole = std::max(in[i], out[i]);
    if (part != whole)
      factors.addAt({{in[i] < out[i] ? 1 : 0, dim}}, part ? whole / part : 1, kNeedReplication);
    factors.add({dim, dim}, part);
  }
  return true;
}

} // namespace

FactorRule findFactorRule(std::string_view name) {
  static constexpr FactorRow rows[] = {
      {"adamw", elementwise},
      {"allGather", amongChips},
      {"allReduce", elementwise},
      {"allToAll", amongChips},
      {"alongDim", alongDim},
      {"argmax", argmax},
      {"batchNorm", batchNorm},
      {"batchNormTraining", batchNormTraining},
      {"broadcastTo", elementwise},
      {"collectiveBroadcast", elementwise},
      {"collectivePermute", elementwise},
      {"concat", concat},
      {"convolution1d", convolution},
      {"convolution2d", convolution},
      {"convolution3d", convolution},
      {"dequantizeByType", same},
      {"dotGeneral", dotGeneral},
      {"elementwise", elementwise},
      {"embedding", embedding},
      {"gather", gather},
      {"geluBackward", elementwise},
      {"globalPool2d", pooling},
      {"groupNorm", groupNorm},
      {"index", index},
      {"indexSelect", index},
      {"integerElementwise", elementwise},
      {"layerNorm", layerNorm},
      {"layerNormLastDim", layerNormLastDim},
      {"linear", matmul},
      {"matmul", matmul},
      {"meshPartition", amongChips},
      {"meshShard", amongChips},
      {"pad", pad},
      {"padOrCrop", pad},
      {"permute", permute},
      {"pooling2d", pooling},
      {"pooling2dWithIndices", pooling},
      {"pooling3d", pooling},
      {"pooling3dWithIndices", pooling},
      {"quantizeByType", same},
      {"rearrange", rearrange},
      {"reduceScatter", amongChips},
      {"reduction", reduction},
      {"reductionOfOne", argmax},
      {"repeat", repeat},
      {"repeatDimensions", repeat},
      {"repeatInterleave", repeatInterleave},
      {"requantizeByType", same},
      {"reshape", reshape},
      {"reverse", reverse},
      {"roll", roll},
      {"same", same},
      {"scatter", scatter},
      {"slice", slice},
      {"softmax", softmax},
      {"sort", alongDim},
      {"squeeze", squeeze},
      {"topk", alongDim},
      {"transpose", transpose},
      {"transposedConvolution2d", transposedConvolution},
      {"transposedConvolution3d", transposedConvolution},
      {"unsqueeze", squeeze},
      {"upsample", upsample},
  };
  for (const std::span<const FactorRow> family :
       {std::span<const FactorRow>(rows), attentionFactorRules(), routingFactorRules()})
    for (const FactorRow &row : family)
      if (row.rule == name)
        return row.function;
  return nullptr;
}

} // namespace tt::shapes
