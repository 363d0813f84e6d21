//===- Compute.cpp - factors of ops that compute --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace mlir::tt;
using namespace ::ttmlir::shapes;
namespace hlo = mlir::stablehlo;

static View view(ArrayRef<int64_t> values) { return {values.data(), values.size()}; }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::optional<Factors> stablehlo::dotGeneralFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  hlo::DotDimensionNumbersAttr numbers = cast<hlo::DotGeneralOp>(op).getDotDimensionNumbers();
  productFactors(factors, {view(numbers.getLhsBatchingDimensions()), view(numbers.getRhsBatchingDimensions()),
                           view(numbers.getLhsContractingDimensions()), view(numbers.getRhsContractingDimensions())});
  return factors.finish();
}

std::optional<Factors> stablehlo::dotFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  const int64_t last = static_cast<int64_t>(factors.operand(0).size()) - 1, first = 0;
  productFactors(factors, {{}, {}, {&last, 1}, {&first, 1}});
  return factors.finish();
}

/// One factor for each letter; a letter that the result lacks is summed over.
std::optional<Factors> stablehlo::einsumFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  StringRef config = op->getAttrOfType<StringAttr>("einsum_config").getValue();
  auto [inputs, output] = config.split("->");
  SmallVector<StringRef> tensors;
  inputs.split(tensors, ',');
  tensors.push_back(output);
  if (tensors.size() != factors.numOperands() + 1)
    return {};
  std::string letters = output.str();
  for (StringRef tensor : ArrayRef(tensors).drop_back())
    for (char letter : tensor)
      if (letters.find(letter) == std::string::npos)
        letters += letter;
  for (char letter : letters) {
    // An ellipsis stands for any number of dimensions, a repeated letter for a diagonal: these are not split.
    if (!isalpha(letter) || llvm::any_of(tensors, [&](StringRef tensor) { return tensor.count(letter) > 1; }))
      return {};
    SmallVector<int64_t> dims;
    int64_t size = 1;
    for (auto [index, tensor] : llvm::enumerate(tensors)) {
      size_t dim = tensor.find(letter);
      dims.push_back(dim == StringRef::npos ? kNone : static_cast<int64_t>(dim));
      if (dim != StringRef::npos)
        size = std::max(size, index < factors.numOperands() ? factors.operand(index)[dim] : factors.result(0)[dim]);
    }
    factors.add(dims, size, output.contains(letter) ? kPassThrough : kReduction);
  }
  return factors.finish();
}

//===----------------------------------------------------------------------===//
// Reductions and orderings
//===----------------------------------------------------------------------===//

std::optional<Factors> stablehlo::reduceFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  auto reduce = cast<hlo::ReduceOp>(op);
  reductionFactors(factors, reduce.getInputs().size(), view(reduce.getDimensions()), /*keepsDims=*/false);
  return factors.finish();
}

std::optional<Factors> stablehlo::sortFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  const View shape = factors.result(0);
  const auto rank = static_cast<int64_t>(shape.size());
  auto dimension = static_cast<int64_t>(cast<hlo::SortOp>(op).getDimension());
  dimension += dimension < 0 ? rank : 0;
  const bool isAlone =
      llvm::all_of(llvm::seq<int64_t>(0, rank), [&](int64_t dim) { return dim == dimension || shape[dim] == 1; });
  alongFactors(factors, {&dimension, 1}, {FactorKind::NeedReplication, isAlone});
  return factors.finish();
}

//===----------------------------------------------------------------------===//
// Linear algebra
//===----------------------------------------------------------------------===//

std::optional<Factors> stablehlo::choleskyFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  int64_t batch = static_cast<int64_t>(factors.result(0).size()) - 2;
  return factors
      .pointwise(factors.result(0), [&](int64_t dim) { return dim < batch ? kPassThrough : kNeedReplication; })
      .finish();
}

std::optional<Factors> stablehlo::triangularSolveFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  auto solve = cast<hlo::TriangularSolveOp>(op);
  View b = factors.operand(1);
  int64_t batch = static_cast<int64_t>(b.size()) - 2;
  for (int64_t dim = 0; dim < batch; ++dim)
    factors.add({dim, dim, dim}, b[dim]);
  // op(a) x = b: rows of op(a) follow those of b, columns follow those of x; on the right side, they follow the columns
  // of b.
  bool isLeft = solve.getLeftSide(), isTransposed = solve.getTransposeA() != hlo::Transpose::NO_TRANSPOSE;
  int64_t solved = batch + !isLeft, other = batch + isLeft;
  int64_t shared = batch + (isTransposed == isLeft), contracting = batch + (isTransposed != isLeft);
  return factors.add({shared, solved, kNone}, b[solved], kNeedReplication)
      .add({kNone, other, other}, b[other], kNeedReplication)
      .add({contracting, kNone, solved}, b[solved], kNeedReplication)
      .finish();
}

std::optional<Factors> stablehlo::fftFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View in = factors.operand(0), out = factors.result(0);
  int64_t rank = in.size(), first = rank - cast<hlo::FftOp>(op).getFftLength().size();
  return factors
      .pointwise(in,
                 [&](int64_t dim) {
                   return dim < first ? kPassThrough : FactorType{FactorKind::NeedReplication, in[dim] != out[dim]};
                 })
      .finish();
}

std::optional<Factors> stablehlo::rngBitGeneratorFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  for (auto [dim, size] : llvm::enumerate(factors.operand(0)))
    factors.add({static_cast<int64_t>(dim), static_cast<int64_t>(dim), kNone}, size, kBlockedReplication);
  for (auto [dim, size] : llvm::enumerate(factors.result(1)))
    factors.add({kNone, kNone, static_cast<int64_t>(dim)}, size);
  return factors.finish();
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

static Factors batchNorm(Operation *op, FactorType others) {
  Factors factors = tensorsOf(op);
  featureFactors(factors, op->getAttrOfType<IntegerAttr>("feature_index").getInt(), others);
  return factors.finish();
}
std::optional<Factors> stablehlo::featureFactors(Operation *op, FactorMode) { return batchNorm(op, kPassThrough); }
/// Statistics over other dimensions take them whole.
std::optional<Factors> stablehlo::statisticsFactors(Operation *op, FactorMode) {
  return batchNorm(op, kNeedReplication);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static Factors collective(Operation *op, ArrayRef<int64_t> whole) {
  Factors factors = tensorsOf(op);
  collectiveFactors(factors, view(whole));
  return factors.finish();
}
std::optional<Factors> stablehlo::allGatherFactors(Operation *op, FactorMode) {
  return collective(op, static_cast<int64_t>(cast<hlo::AllGatherOp>(op).getAllGatherDim()));
}
std::optional<Factors> stablehlo::reduceScatterFactors(Operation *op, FactorMode) {
  return collective(op, static_cast<int64_t>(cast<hlo::ReduceScatterOp>(op).getScatterDimension()));
}
std::optional<Factors> stablehlo::allToAllFactors(Operation *op, FactorMode) {
  auto allToAll = cast<hlo::AllToAllOp>(op);
  return collective(
      op, {static_cast<int64_t>(allToAll.getSplitDimension()), static_cast<int64_t>(allToAll.getConcatDimension())});
}
