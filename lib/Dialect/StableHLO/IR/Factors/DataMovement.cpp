//===- DataMovement.cpp - factors of ops that move values -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/Dialect/StableHLO/IR/Windows.h"

using namespace mlir;
using namespace mlir::tt;
using namespace ::ttmlir::shapes;
namespace hlo = mlir::stablehlo;

static View view(ArrayRef<int64_t> values) { return {values.data(), values.size()}; }

std::optional<Factors> stablehlo::bitcastConvertFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  const View in = factors.operand(0), out = factors.result(0);
  for (size_t dim = 0, rank = std::min(in.size(), out.size()); dim < rank; ++dim)
    factors.add({static_cast<int64_t>(dim), static_cast<int64_t>(dim)}, in[dim]);
  if (in.size() > out.size())
    factors.add({static_cast<int64_t>(out.size()), kNone}, in.back(), kNeedReplication);
  if (out.size() > in.size())
    factors.add({kNone, static_cast<int64_t>(in.size())}, out.back(), kNeedReplication);
  return factors.finish();
}

std::optional<Factors> stablehlo::broadcastInDimFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  broadcastFactors(factors, view(cast<hlo::BroadcastInDimOp>(op).getBroadcastDimensions()));
  return factors.finish();
}

std::optional<Factors> stablehlo::broadcastFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  const auto added = static_cast<int64_t>(cast<hlo::BroadcastOp>(op).getBroadcastSizes().size());
  const auto rank = static_cast<int64_t>(factors.operand(0).size());
  ::ttmlir::shapes::broadcastFactors(factors, view(llvm::to_vector(llvm::seq<int64_t>(added, added + rank))));
  return factors.finish();
}

std::optional<Factors> stablehlo::transposeFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  ::ttmlir::shapes::transposeFactors(factors, view(cast<hlo::TransposeOp>(op).getPermutation()));
  return factors.finish();
}

std::optional<Factors> stablehlo::reshapeFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  if (!::ttmlir::shapes::reshapeFactors(factors))
    return std::nullopt;
  return factors.finish();
}

std::optional<Factors> stablehlo::reverseFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  alongFactors(factors, view(cast<hlo::ReverseOp>(op).getDimensions()), kPermutation);
  return factors.finish();
}

/// Slices and pads: dimensions that stay whole pass. Padding of both signs may keep a size and still move elements.
std::optional<Factors> stablehlo::resizeFactors(Operation *op, FactorMode mode) {
  Factors factors = tensorsOf(op);
  const View in = factors.operand(0), out = factors.result(0);
  auto pad = dyn_cast<hlo::PadOp>(op);
  factors.pointwise(in, [&](int64_t dim) {
    const bool isWhole = in[dim] == out[dim] && (!pad || pad.getEdgePaddingLow()[dim] == 0);
    return std::optional(isWhole ? kPassThrough : windowFactor(op, dim, mode));
  });
  if (isa<hlo::SliceOp>(op))
    factors.statesSizes("limit_indices", 0);
  return factors.finish();
}

std::optional<Factors> stablehlo::concatenateFactors(Operation *op, FactorMode mode) {
  Factors factors = tensorsOf(op);
  auto concatenate = cast<hlo::ConcatenateOp>(op);
  // Parts of one value keep nearby positions, so neighbors have the data that a device lacks.
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
  const FactorType joined = areSlices || (isOneValue && isAnySlice) ? kPermutation : kNeedReplication;
  const auto dimension = static_cast<int64_t>(concatenate.getDimension());
  factors.pointwise(factors.result(0), [&](int64_t dim) {
    if (dim != dimension)
      return std::optional(kPassThrough);
    if (mode == FactorMode::Edges && mayExchangeEdges(op, dim))
      return std::optional(kPermutation);
    return mode == FactorMode::Full ? std::optional(joined) : std::nullopt;
  });
  return factors.finish();
}
