//===- RulesDataMovement.cpp - sharding rules of reshape and concatenate --===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include <numeric>

using namespace mlir;
using namespace mlir::sdy;
namespace hlo = mlir::stablehlo;

/// The factor by which the side with fewer factors comes nearer to the other.
static int64_t catchUp(int64_t size, int64_t fewer, int64_t more, int64_t shared) {
  if (more % fewer == 0 && size % (more / fewer) == 0)
    return more / fewer;
  return size > shared ? size / shared : size;
}

/// Both shapes are read from the front, and split into factors that both have where their products agree.
OpShardingRuleAttr sdy::reshapeRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0), out = builder.result(0);
  if (llvm::is_contained(in, 0) || llvm::is_contained(out, 0))
    return {};
  // Dimensions at hand; the product of those that were begun; the product of the factors that these were given.
  size_t a = 0, b = 0;
  int64_t begunIn = 1, begunOut = 1, givenIn = 1, givenOut = 1;
  while (a < in.size() || b < out.size()) {
    auto dimIn = static_cast<int64_t>(a), dimOut = static_cast<int64_t>(b);
    if (a < in.size() && in[a] == 1) {
      builder.add({dimIn, kNone}, 1);
      ++a;
      continue;
    }
    if (b < out.size() && out[b] == 1) {
      builder.add({kNone, dimOut}, 1);
      ++b;
      continue;
    }
    if (a < in.size() && begunIn == givenIn)
      begunIn *= in[a];
    if (b < out.size() && begunOut == givenOut)
      begunOut *= out[b];
    int64_t leftIn = begunIn / givenIn, leftOut = begunOut / givenOut, shared = std::gcd(leftIn, leftOut);
    auto giveIn = [&](int64_t size) { builder.add({dimIn, kNone}, size), givenIn *= size; };
    auto giveOut = [&](int64_t size) { builder.add({kNone, dimOut}, size), givenOut *= size; };
    if (givenIn == givenOut && shared > 1) {
      builder.add({dimIn, dimOut}, shared);
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
  return builder.build();
}

OpShardingRuleAttr sdy::concatenateRule(Operation *op, RuleMode mode) {
  RuleBuilder builder(op);
  auto concatenate = cast<hlo::ConcatenateOp>(op);
  // Parts of one value keep their places near each other, so that neighbours have what a device lacks.
  bool areSlices = true, isOneValue = true, isAnySlice = false;
  Value whole;
  for (Value input : concatenate.getInputs()) {
    auto slice = input.getDefiningOp<hlo::SliceOp>();
    areSlices &= static_cast<bool>(slice);
    isAnySlice |= static_cast<bool>(slice);
    Value source = slice ? slice.getOperand() : input;
    isOneValue &= !whole || whole == source;
    whole = source;
  }
  FactorType joined = areSlices || (isOneValue && isAnySlice) ? kPermutation : kNeedReplication;
  auto dimension = static_cast<int64_t>(concatenate.getDimension());
  return builder
      .pointwise(builder.result(0),
                 [&](int64_t dim) {
                   if (dim != dimension)
                     return std::optional(kPassThrough);
                   return mode == RuleMode::Full ? std::optional(joined) : std::nullopt;
                 })
      .build();
}
