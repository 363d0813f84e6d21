//===- Routing.cpp - choices of tokens and experts ------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Experts are on the chips of a mesh: a mapping states which chip has which, and a chip numbers its own in their order.
// Tokens are divided among the chips along an axis. Rows that are chosen at run time are read at computed positions.
//
//===----------------------------------------------------------------------===//

#include "TileExpressions.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AllGatherOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllToAllCombineOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllToAllDispatchMetadataOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllToAllDispatchOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CumSumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshPartitionOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MoeComputeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MoeExpertTokenRemapOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RandOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SamplingOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SortOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;
using namespace mlir::tt;

//===----------------------------------------------------------------------===//
// Values of several chips
//===----------------------------------------------------------------------===//

static Type i32(Expressions &e) { return e.builder.getI32Type(); }

/// The tensors of the chips along an axis, in the first dimension.
static Tensor gathered(Tensor x, uint32_t axis) {
  Expressions &e = *x.e;
  if (typesOf(e).options.chipsAlong(axis) == 1)
    return x;
  SmallVector<int64_t> shape(x.shape());
  shape[0] *= typesOf(e).options.chipsAlong(axis);
  return e(ttir::AllGatherOp::create(e.builder, e.loc, x.type().clone(shape), x.value, /*all_gather_dim=*/0, axis));
}

/// The part of the chip along an axis, or of all chips.
static Tensor ownPart(Tensor x, int64_t dim, std::optional<uint32_t> axis) {
  Expressions &e = *x.e;
  const int64_t chips = axis ? typesOf(e).options.chipsAlong(*axis) : typesOf(e).options.chips();
  if (chips == 1)
    return x;
  SmallVector<int64_t> shape(x.shape());
  shape[dim] /= chips;
  IntegerAttr along;
  if (axis)
    along = IntegerAttr::get(IntegerType::get(e.builder.getContext(), 32, IntegerType::Unsigned), *axis);
  return e(ttir::MeshPartitionOp::create(e.builder, e.loc, x.type().clone(shape), x.value, static_cast<int32_t>(dim),
                                         along));
}

static Tensor summedAlong(Tensor x, int64_t dim) {
  Expressions &e = *x.e;
  return e(ttir::CumSumOp::create(e.builder, e.loc, x.type(), x.value, dim));
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// [1, experts] is 1 where the chip has an expert. The mapping is [1, 1, experts, chips], or [rows, experts] with the
/// number of the chip of each expert in the first row.
static Tensor ownExperts(Tensor mapping) {
  Expressions &e = *mapping.e;
  mapping = mapping.as(i32(e));
  if (mapping.rank() == 2) {
    Tensor chip = ownPart(e.positions(i32(e), {typesOf(e).options.chips()}), 0, std::nullopt);
    return mapping.slice(0, 0, 1, 1).equal(chip.reshape({1, 1}));
  }
  return ownPart(mapping, 3, std::nullopt).reshape({1, mapping.shape()[2]}).notEqual(0);
}

/// The number of each expert among those of its chip, [1, experts].
static Tensor numbersOf(Tensor own) { return summedAlong(own, 1) + -1; }

/// [tokens, experts] is 1 where a token with these experts [tokens, k] has an expert that is the chip's own.
static Tensor presence(Tensor index, Tensor own, Operation *op) {
  Expressions &e = *index.e;
  const int64_t tokens = index.shape()[0], k = index.shape()[1], experts = own.shape()[1];
  Tensor each = e.checked(index.as(i32(e)), experts, op).reshape({tokens, k, 1});
  return each.equal(e.positions(i32(e), {1, 1, experts})).max({1}).reshape({tokens, experts}) * own;
}

/// The rows of `x` where the mask is 1, zeros elsewhere.
static Tensor kept(Tensor mask, Tensor x) { return mask.as(x.type().getElementType()).select(x, x.e->full(0, x)); }

/// Tokens of all chips along the axis where this one has one of their experts, the numbers of these experts, and others
/// of the same tokens.
template <class OpT> static SmallVector<Tensor> dispatched(OpT op, Expressions &e, ArrayRef<Value> others) {
  const auto axis = static_cast<uint32_t>(op.getClusterAxis());
  const auto tokensOf = [&](Value value) {
    Tensor x = e(value);
    x = gathered(x.reshape({x.shape()[0], x.shape()[1] * x.shape()[2], x.shape()[3]}), axis);
    return x.reshape({x.shape()[0] * x.shape()[1], x.shape()[2]});
  };
  Tensor x = tokensOf(op.getInputTensor()), index = tokensOf(op.getExpertIndices());
  Tensor isForOwn = presence(index, ownExperts(e(op.getExpertMapping())), op).max({1});
  SmallVector<Tensor> results = {kept(isForOwn, x), index};
  for (Value other : others)
    results.push_back(tokensOf(other));
  return results;
}
static SmallVector<Tensor> resultsOf(ttir::AllToAllDispatchOp op, Expressions &e, std::string &) {
  return dispatched(op, e, {});
}
static SmallVector<Tensor> resultsOf(ttir::AllToAllDispatchMetadataOp op, Expressions &e, std::string &) {
  return dispatched(op, e, {op.getExpertScores()});
}

static SmallVector<Tensor> resultsOf(ttir::MoeExpertTokenRemapOp op, Expressions &e, std::string &) {
  Tensor scores = e(op.getTopkTensor()), index = e(op.getExpertMetadata());
  Tensor own = ownExperts(e(op.getExpertMapping()));
  const int64_t experts = scores.shape()[3], k = index.shape()[3], tokens = index.shape()[1] * index.shape()[2];
  const int64_t count = op.getMapping().getType().getDimSize(3), size = op.getReductionSize();
  const int64_t chunks = llvm::divideCeil(tokens, size);
  Tensor present = presence(index.reshape({tokens, k}), own, op).reshape({tokens, experts, 1});
  // The expert of each number of the chip.
  Tensor numbered = numbersOf(own).reshape({1, experts, 1}).equal(e.positions(i32(e), {1, 1, count}));
  Tensor mask = present * numbered;
  Tensor isThere = mask.max({1}).reshape({tokens, count});
  Tensor score = mask.as(scores.type().getElementType()).chosen(scores.reshape({tokens, experts, 1}), 1);
  Tensor reduced = isThere.pad({0, 0}, {chunks * size - tokens, 0}, 0).reshape({chunks, size, count}).max({1});
  return {kept(isThere, score.reshape({tokens, count})), reduced};
}

/// The rows [k, tokens, size] that tokens get of rows [experts of a chip, tokens, size], by the tokens' experts
/// [tokens, k]: those of the first chip along the axis that has the expert, or zeros.
static Tensor combined(Tensor rows, Tensor index, Tensor own, uint32_t axis, Operation *op) {
  Expressions &e = *rows.e;
  const int64_t local = rows.shape()[0], tokens = rows.shape()[1], size = rows.shape()[2];
  const int64_t chips = typesOf(e).options.chipsAlong(axis), experts = own.shape()[1], all = chips * local,
                k = index.shape()[1];
  // Of each expert, its number among those of all chips; `all` if none has it.
  Tensor number = own * numbersOf(own);
  if (experts > local)
    number = e.checked(number, local, op); // a chip has no more experts than rows
  Tensor place = gathered(own.select(number, e.full(-1, number)), axis);
  place = place.less(0).select(e.full(static_cast<double>(all), place),
                               place + e.positions(i32(e), {chips, 1}) * static_cast<double>(local));
  Tensor places =
      e.rowsAt(place.min({0}).reshape({experts, 1}), index.as(i32(e)).permute({1, 0}).reshape({k * tokens}), op);
  Tensor at = places.minimum(e.full(static_cast<double>(all - 1), places)).reshape({k, tokens});
  at = at * static_cast<double>(tokens) + e.positions(i32(e), {1, tokens});
  Tensor found = e.rowsAt(gathered(rows, axis).reshape({all * tokens, size}), at.reshape({k * tokens}), op);
  return kept(places.less(static_cast<double>(all)), found).reshape({k, tokens, size});
}

static SmallVector<Tensor> resultsOf(ttir::AllToAllCombineOp op, Expressions &e, std::string &) {
  const auto axis = static_cast<uint32_t>(op.getClusterAxis());
  Tensor x = e(op.getInputTensor()), index = e(op.getExpertMetadata());
  const SmallVector<int64_t> shape(x.shape());
  const int64_t tokens = shape[1] * shape[2], k = index.shape()[3];
  Tensor rows = combined(x.reshape({shape[0], tokens, shape[3]}), index.reshape({tokens, k}),
                         ownExperts(e(op.getExpertMapping())), axis, op);
  return {ownPart(rows.reshape({k, shape[1], shape[2], shape[3]}), op.getOutputShardDim(), axis)};
}

/// Every chip computes all tokens with each of its experts.
static SmallVector<Tensor> resultsOf(ttir::MoeComputeOp op, Expressions &e, std::string &) {
  const uint32_t axis = op.getClusterAxis();
  const auto layer = static_cast<int64_t>(op.getLayerId());
  Tensor x = e(op.getTilizeInputTensor()).wide(), index = e(op.getTilizeExpertIndicesTensor());
  const int64_t size = x.shape().back(), k = index.shape().back(), tokens = x.type().getNumElements() / size;
  const auto ofLayer = [&](Value weight) {
    Tensor all = e(weight).wide();
    return all.slice(0, layer, layer + 1, 1).reshape(all.shape().drop_front());
  };
  const auto product = [&](Tensor a, Value weight, Value bias) {
    Tensor made = a.matmul(ofLayer(weight), false, /*wide=*/true);
    return bias ? made + ofLayer(bias).reshape({made.shape()[0], 1, made.shape()[2]}) : made;
  };
  const auto limited = [&](Tensor value, double most) { return value.minimum(e.full(most, value)); };
  x = x.reshape({1, tokens, size});
  Tensor gate = product(x, op.getW0(), op.getBias_0()), value = product(x, op.getW1(), op.getBias_1());
  constexpr double limit = 7, slope = 1.702; // of the SwiGLU of GPT-OSS
  const bool isSilu = op.getActivationFunction() == ttcore::MoEActivationFunction::Silu;
  if (!isSilu) {
    gate = limited(gate, limit);
    value = limited(value, limit).maximum(e.full(-limit, value)) + 1;
  }
  Tensor hidden = gate / ((gate * (isSilu ? -1 : -slope)).exp() + 1) * value;
  Tensor rows = combined(product(hidden, op.getW2(), op.getBias_2()), index.reshape({tokens, k}),
                         ownExperts(e(op.getTilizeExpertMappingTensor())), axis, op);
  return {ownPart(rows, 1, axis)};
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// The candidate at which the sum of probabilities, from the likeliest on, exceeds the user's random number.
static SmallVector<Tensor> resultsOf(ttir::SamplingOp op, Expressions &e, std::string &refusal) {
  Tensor x = e(op.getInputValues()).wide();
  const int64_t count = x.shape().back(), users = x.type().getNumElements() / count;
  const uint32_t seed = op.getSeed().value_or(0);
  if (seed == 0 && count > 1) {
    refusal = "its seed is 0, which draws other numbers in every run; cores draw those of a seed above 0";
    return {};
  }
  const auto perUser = [&](Value value) { return e(value).reshape({users, 1}); };
  x = x.reshape({users, count}) * perUser(op.getTemp()).wide();
  OperationState state(e.loc, ttir::SortOp::getOperationName(), x.value,
                       {x.type(), RankedTensorType::get(x.shape(), i32(e))});
  state.addAttribute("descending", e.builder.getBoolAttr(true));
  Operation *sorted = e.builder.create(state);
  Tensor ranked = e(sorted->getResult(0));
  Tensor powers = (ranked - ranked.max({1})).exp();
  Tensor place = e.positions(e.builder.getF32Type(), {1, count});
  // NaN, which has no place in an order, is an error as a wrong k is.
  Tensor last = perUser(op.getK()).as(i32(e)) + -1;
  last = x.notEqual(x).max({1}).as(i32(e)).select(e.full(static_cast<double>(count), last), last);
  const std::string isNaN = "'k' - 1 (" + std::to_string(count) + " where 'input_values' or 'temp' has NaN)";
  last = e.checked(last, count, op, isNaN).as(e.builder.getF32Type());
  Tensor isBelow = (summedAlong(powers, 1) - powers).less(perUser(op.getP()).wide() * powers.sum({1}));
  Tensor isKept = isBelow.maximum(place.equal(0)) * last.less(place).equal(0);
  powers = powers * isKept;
  Tensor random = e.full(0, last);
  if (count > 1) {
    OperationState draw(e.loc, ttir::RandOp::getOperationName(), {},
                        {RankedTensorType::get({users}, e.builder.getF32Type())});
    draw.addAttribute("size", e.builder.getI32ArrayAttr({static_cast<int32_t>(users)}));
    draw.addAttribute("seed",
                      IntegerAttr::get(IntegerType::get(e.builder.getContext(), 32, IntegerType::Unsigned), seed));
    random = e(e.builder.create(draw)->getResult(0)).reshape({users, 1});
  }
  Tensor isBehind = (random * powers.sum({1})).less(summedAlong(powers, 1));
  Tensor which = isBehind.equal(0).sum({1}).minimum(isKept.sum({1}) + -1);
  Tensor position = place.equal(which).as(i32(e)).chosen(e(sorted->getResult(1)), 1);
  Tensor candidates = e(op.getInputIndices()).reshape({users, count});
  Tensor mask = e.positions(i32(e), {1, count}).equal(position).as(candidates.type().getElementType());
  return {mask.chosen(candidates, 1)};
}

void tt::addRoutingComposites(CompositeTable &table) {
  addComposite<ttir::AllToAllCombineOp>(table, resultsOf);
  addComposite<ttir::AllToAllDispatchMetadataOp>(table, resultsOf);
  addComposite<ttir::AllToAllDispatchOp>(table, resultsOf);
  addComposite<ttir::MoeComputeOp>(table, resultsOf);
  addComposite<ttir::MoeExpertTokenRemapOp>(table, resultsOf);
  addComposite<ttir::SamplingOp>(table, resultsOf);
}
