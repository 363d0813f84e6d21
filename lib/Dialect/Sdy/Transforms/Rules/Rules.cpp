//===- Rules.cpp - the table of sharding rules ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"
#include "../Common/Sharding.h"
#include "ttmlir/Dialect/Chlo/IR/Chlo.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace mlir::sdy;
namespace hlo = mlir::stablehlo;

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

static OpShardingRuleAttr pointwiseRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  return builder.pointwise(builder.result(0)).build();
}

static OpShardingRuleAttr bitcastConvertRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0), out = builder.result(0);
  for (size_t dim = 0, rank = std::min(in.size(), out.size()); dim < rank; ++dim)
    builder.add({static_cast<int64_t>(dim), static_cast<int64_t>(dim)}, in[dim]);
  if (in.size() > out.size())
    builder.add({static_cast<int64_t>(out.size()), kNone}, in.back(), kNeedReplication);
  if (out.size() > in.size())
    builder.add({kNone, static_cast<int64_t>(in.size())}, out.back(), kNeedReplication);
  return builder.build();
}

static OpShardingRuleAttr broadcastRule(Operation *op, ArrayRef<int64_t> dims) {
  RuleBuilder builder(op);
  for (auto [out, size] : llvm::enumerate(builder.result(0))) {
    const auto *in = llvm::find(dims, static_cast<int64_t>(out));
    int64_t from = in == dims.end() ? kNone : in - dims.begin();
    if (from != kNone && builder.operand(0)[from] != size) {
      builder.add({from, kNone}, 1);
      from = kNone;
    }
    builder.add({from, static_cast<int64_t>(out)}, size);
  }
  return builder.build();
}

static OpShardingRuleAttr broadcastInDimRule(Operation *op, RuleMode) {
  return broadcastRule(op, cast<hlo::BroadcastInDimOp>(op).getBroadcastDimensions());
}

static OpShardingRuleAttr leadingBroadcastRule(Operation *op, RuleMode) {
  int64_t added = cast<hlo::BroadcastOp>(op).getBroadcastSizes().size();
  int64_t rank = cast<ShapedType>(op->getOperand(0).getType()).getRank();
  return broadcastRule(op, llvm::to_vector(llvm::seq<int64_t>(added, added + rank)));
}

static OpShardingRuleAttr transposeRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  for (auto [out, in] : llvm::enumerate(cast<hlo::TransposeOp>(op).getPermutation()))
    builder.add({in, static_cast<int64_t>(out)}, builder.operand(0)[in]);
  return builder.build();
}

static OpShardingRuleAttr reverseRule(Operation *op, RuleMode mode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> reversed = cast<hlo::ReverseOp>(op).getDimensions();
  return builder
      .pointwise(builder.result(0),
                 [&](int64_t dim) { return llvm::is_contained(reversed, dim) ? kPermutation : kPassThrough; })
      .build();
}

/// Slices and pads: dimensions that stay whole pass.
static OpShardingRuleAttr resizeRule(Operation *op, RuleMode mode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0), out = builder.result(0);
  return builder
      .pointwise(in, [&](int64_t dim) { return in[dim] == out[dim] ? kPassThrough : windowFactor(op, dim, mode); })
      .build();
}

static OpShardingRuleAttr dotGeneralRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  hlo::DotDimensionNumbersAttr numbers = cast<hlo::DotGeneralOp>(op).getDotDimensionNumbers();
  ArrayRef<int64_t> lhs = builder.operand(0), rhs = builder.operand(1);
  int64_t out = 0;
  for (auto [l, r] : llvm::zip(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions()))
    builder.add({l, r, out++}, lhs[l]);
  auto isFree = [](int64_t dim, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) {
    return !llvm::is_contained(batching, dim) && !llvm::is_contained(contracting, dim);
  };
  for (auto [dim, size] : llvm::enumerate(lhs))
    if (isFree(dim, numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()))
      builder.add({static_cast<int64_t>(dim), kNone, out++}, size);
  for (auto [dim, size] : llvm::enumerate(rhs))
    if (isFree(dim, numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions()))
      builder.add({kNone, static_cast<int64_t>(dim), out++}, size);
  for (auto [l, r] : llvm::zip(numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()))
    builder.add({l, r, kNone}, lhs[l], kReduction);
  return builder.build();
}

static OpShardingRuleAttr dotRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> lhs = builder.operand(0), rhs = builder.operand(1);
  int64_t out = 0;
  if (lhs.size() == 2)
    builder.add({0, kNone, out++}, lhs[0]);
  if (rhs.size() == 2)
    builder.add({kNone, 1, out++}, rhs[1]);
  return builder.add({static_cast<int64_t>(lhs.size()) - 1, 0, kNone}, lhs.back(), kReduction).build();
}

/// A factor for each letter: one that the result lacks is summed over.
static OpShardingRuleAttr einsumRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  StringRef config = op->getAttrOfType<StringAttr>("einsum_config").getValue();
  auto [inputs, output] = config.split("->");
  SmallVector<StringRef> tensors;
  inputs.split(tensors, ',');
  tensors.push_back(output);
  if (tensors.size() != builder.numOperands() + 1)
    return {};
  std::string letters = output.str();
  for (StringRef tensor : ArrayRef(tensors).drop_back())
    for (char letter : tensor)
      if (letters.find(letter) == std::string::npos)
        letters += letter;
  for (char letter : letters) {
    // An ellipsis stands for any number of dimensions, a letter twice for a diagonal: these are not split.
    if (!isalpha(letter) || llvm::any_of(tensors, [&](StringRef tensor) { return tensor.count(letter) > 1; }))
      return {};
    SmallVector<int64_t> dims;
    int64_t size = 1;
    for (auto [index, tensor] : llvm::enumerate(tensors)) {
      size_t dim = tensor.find(letter);
      dims.push_back(dim == StringRef::npos ? kNone : static_cast<int64_t>(dim));
      if (dim != StringRef::npos)
        size = std::max(size, index < builder.numOperands() ? builder.operand(index)[dim] : builder.result(0)[dim]);
    }
    builder.add(dims, size, output.contains(letter) ? kPassThrough : kReduction);
  }
  return builder.build();
}

static OpShardingRuleAttr reduceRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  auto reduce = cast<hlo::ReduceOp>(op);
  int64_t inputs = reduce.getInputs().size(), out = 0;
  for (auto [dim, size] : llvm::enumerate(builder.operand(0))) {
    bool isReduced = llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(dim));
    SmallVector<int64_t> dims(inputs, dim);
    dims.append(inputs, kNone);
    dims.append(op->getNumResults(), isReduced ? kNone : out);
    builder.add(dims, size, isReduced ? kReduction : kPassThrough);
    out += !isReduced;
  }
  return builder.build();
}

static OpShardingRuleAttr sortRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> shape = builder.result(0);
  int64_t rank = shape.size(), dimension = cast<hlo::SortOp>(op).getDimension();
  dimension += dimension < 0 ? rank : 0;
  bool isAlone =
      llvm::all_of(llvm::seq<int64_t>(0, rank), [&](int64_t dim) { return dim == dimension || shape[dim] == 1; });
  return builder
      .pointwise(shape,
                 [&](int64_t dim) {
                   return dim == dimension ? FactorType{FactorKind::NeedReplication, isAlone} : kPassThrough;
                 })
      .build();
}

static OpShardingRuleAttr choleskyRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  int64_t batch = static_cast<int64_t>(builder.result(0).size()) - 2;
  return builder
      .pointwise(builder.result(0), [&](int64_t dim) { return dim < batch ? kPassThrough : kNeedReplication; })
      .build();
}

static OpShardingRuleAttr triangularSolveRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  auto solve = cast<hlo::TriangularSolveOp>(op);
  ArrayRef<int64_t> b = builder.operand(1);
  int64_t batch = static_cast<int64_t>(b.size()) - 2;
  for (int64_t dim = 0; dim < batch; ++dim)
    builder.add({dim, dim, dim}, b[dim]);
  // op(a) x = b: rows of op(a) go with those of b, columns with those of x; on the right side the columns of b.
  bool isLeft = solve.getLeftSide(), isTransposed = solve.getTransposeA() != hlo::Transpose::NO_TRANSPOSE;
  int64_t solved = batch + !isLeft, other = batch + isLeft;
  int64_t shared = batch + (isTransposed == isLeft), contracting = batch + (isTransposed != isLeft);
  return builder.add({shared, solved, kNone}, b[solved], kNeedReplication)
      .add({kNone, other, other}, b[other], kNeedReplication)
      .add({contracting, kNone, solved}, b[solved], kNeedReplication)
      .build();
}

static OpShardingRuleAttr fftRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0), out = builder.result(0);
  int64_t rank = in.size(), first = rank - cast<hlo::FftOp>(op).getFftLength().size();
  return builder
      .pointwise(in,
                 [&](int64_t dim) {
                   return dim < first ? kPassThrough : FactorType{FactorKind::NeedReplication, in[dim] != out[dim]};
                 })
      .build();
}

static OpShardingRuleAttr rngBitGeneratorRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  for (auto [dim, size] : llvm::enumerate(builder.operand(0)))
    builder.add({static_cast<int64_t>(dim), static_cast<int64_t>(dim), kNone}, size, kBlockedReplication);
  for (auto [dim, size] : llvm::enumerate(builder.result(1)))
    builder.add({kNone, kNone, static_cast<int64_t>(dim)}, size);
  return builder.build();
}

/// Dimensions of the operand; the feature dimension is also that of the vectors. Statistics over other dimensions
/// (`needsOthers`) take them whole.
static OpShardingRuleAttr batchNormRule(Operation *op, bool needsOthers) {
  RuleBuilder builder(op);
  int64_t feature = op->getAttrOfType<IntegerAttr>("feature_index").getInt(), rank = builder.operand(0).size();
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<int64_t> dims;
    auto append = [&](Type type, bool isFirst) {
      bool isVector = cast<ShapedType>(type).getRank() == 1 && !isFirst && rank != 1;
      dims.push_back(isVector ? (dim == feature ? 0 : kNone) : dim);
    };
    for (OpOperand &operand : op->getOpOperands())
      append(operand.get().getType(), operand.getOperandNumber() == 0);
    for (OpResult result : op->getResults())
      append(result.getType(), result.getResultNumber() == 0);
    builder.add(dims, builder.operand(0)[dim], needsOthers && dim != feature ? kNeedReplication : kPassThrough);
  }
  return builder.build();
}

static OpShardingRuleAttr batchNormInferenceRule(Operation *op, RuleMode) { return batchNormRule(op, false); }
static OpShardingRuleAttr batchNormStatisticsRule(Operation *op, RuleMode) { return batchNormRule(op, true); }

/// StableHLO collectives: some dimensions are whole in the operands, and whole in the results.
static OpShardingRuleAttr collectiveRule(Operation *op, ArrayRef<int64_t> whole) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0), out = builder.result(0);
  for (int64_t dim = 0; dim < static_cast<int64_t>(in.size()); ++dim) {
    SmallVector<int64_t> dims(builder.numOperands(), dim);
    if (!llvm::is_contained(whole, dim)) {
      dims.append(builder.numResults(), dim);
      builder.add(dims, in[dim]);
      continue;
    }
    dims.append(builder.numResults(), kNone);
    builder.add(dims, in[dim], kNeedReplication);
    SmallVector<int64_t> resultDims(builder.numOperands(), kNone);
    resultDims.append(builder.numResults(), dim);
    builder.add(resultDims, out[dim], kNeedReplication);
  }
  return builder.build();
}

static OpShardingRuleAttr allGatherRule(Operation *op, RuleMode) {
  return collectiveRule(op, static_cast<int64_t>(cast<hlo::AllGatherOp>(op).getAllGatherDim()));
}
static OpShardingRuleAttr reduceScatterRule(Operation *op, RuleMode) {
  return collectiveRule(op, static_cast<int64_t>(cast<hlo::ReduceScatterOp>(op).getScatterDimension()));
}
static OpShardingRuleAttr allToAllRule(Operation *op, RuleMode) {
  auto allToAll = cast<hlo::AllToAllOp>(op);
  return collectiveRule(
      op, {static_cast<int64_t>(allToAll.getSplitDimension()), static_cast<int64_t>(allToAll.getConcatDimension())});
}

/// A constant of its own for each use is split as the use wants it.
static OpShardingRuleAttr topKRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0), out = builder.result(0);
  return builder.pointwise(in, [&](int64_t dim) { return in[dim] == out[dim] ? kPassThrough : kBlockedReplication; })
      .build();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <typename... Ops> static void rows(DenseMap<TypeID, RuleFunction> &table, RuleFunction rule) {
  (table.try_emplace(TypeID::get<Ops>(), rule), ...);
}

static const DenseMap<TypeID, RuleFunction> &getTable() {
  static const DenseMap<TypeID, RuleFunction> table = [] {
    DenseMap<TypeID, RuleFunction> table;
    rows<hlo::ClampOp, hlo::SelectOp, hlo::CompareOp, hlo::ComplexOp, hlo::ConvertOp, hlo::ReducePrecisionOp,
         hlo::MapOp, hlo::AllReduceOp, hlo::CollectiveBroadcastOp, hlo::CollectivePermuteOp, hlo::CrossReplicaSumOp,
         ShardingConstraintOp, PropagationBarrierOp, FuncDataFlowEdgeOp>(table, pointwiseRule);
    rows<hlo::BitcastConvertOp>(table, bitcastConvertRule);
    rows<hlo::BroadcastInDimOp>(table, broadcastInDimRule);
    rows<hlo::BroadcastOp>(table, leadingBroadcastRule);
    rows<hlo::TransposeOp>(table, transposeRule);
    rows<hlo::ReshapeOp>(table, reshapeRule);
    rows<hlo::ReverseOp>(table, reverseRule);
    rows<hlo::ConcatenateOp>(table, concatenateRule);
    rows<hlo::SliceOp, hlo::PadOp>(table, resizeRule);
    rows<hlo::DynamicSliceOp>(table, dynamicSliceRule);
    rows<hlo::DynamicUpdateSliceOp>(table, dynamicUpdateSliceRule);
    rows<hlo::GatherOp>(table, gatherRule);
    rows<hlo::ScatterOp>(table, scatterRule);
    rows<hlo::DotGeneralOp>(table, dotGeneralRule);
    rows<hlo::DotOp>(table, dotRule);
    rows<hlo::EinsumOp, hlo::UnaryEinsumOp>(table, einsumRule);
    rows<hlo::ConvolutionOp>(table, convolutionRule);
    rows<hlo::ReduceOp>(table, reduceRule);
    rows<hlo::ReduceWindowOp>(table, reduceWindowRule);
    rows<hlo::SelectAndScatterOp>(table, selectAndScatterRule);
    rows<hlo::SortOp>(table, sortRule);
    rows<hlo::BatchNormInferenceOp>(table, batchNormInferenceRule);
    rows<hlo::BatchNormTrainingOp, hlo::BatchNormGradOp>(table, batchNormStatisticsRule);
    rows<hlo::CholeskyOp>(table, choleskyRule);
    rows<hlo::TriangularSolveOp>(table, triangularSolveRule);
    rows<hlo::FftOp>(table, fftRule);
    rows<hlo::RngBitGeneratorOp>(table, rngBitGeneratorRule);
    rows<hlo::AllGatherOp>(table, allGatherRule);
    rows<hlo::ReduceScatterOp>(table, reduceScatterRule);
    rows<hlo::AllToAllOp>(table, allToAllRule);
    rows<hlo::CustomCallOp>(table, customCallRule);
    rows<chlo::TopKOp>(table, topKRule);
    return table;
  }();
  return table;
}

bool sdy::isElementwise(Operation *op) {
  if (isa<ShardingConstraintOp, PropagationBarrierOp, FuncDataFlowEdgeOp, hlo::ClampOp, hlo::SelectOp, hlo::MapOp>(op))
    return true;
  if (auto bitcast = dyn_cast<hlo::BitcastConvertOp>(op))
    return cast<ShapedType>(bitcast.getOperand().getType()).getRank() ==
           cast<ShapedType>(bitcast->getResult(0).getType()).getRank();
  return op->hasTrait<OpTrait::Elementwise>() || isa<hlo::CompareOp, hlo::ComplexOp, hlo::ConvertOp>(op);
}

OpShardingRuleAttr sdy::getShardingRule(Operation *op, RuleMode mode) {
  if (auto rule = op->getAttrOfType<OpShardingRuleAttr>(kShardingRuleAttr))
    return rule;
  if (op->getNumResults() == 0)
    return {};
  // Dynamic sizes have no factors; tokens and tuples no dimensions.
  for (Type type : op->getResultTypes())
    if (!getStaticTensor(type))
      return {};
  for (Type type : op->getOperandTypes())
    if (auto shaped = dyn_cast<ShapedType>(type); shaped && (!shaped.hasRank() || !shaped.hasStaticShape()))
      return {};
  if (RuleFunction rule = getTable().lookup(op->getName().getTypeID()))
    return rule(op, mode);
  return isElementwise(op) && op->getDialect() != op->getContext()->getLoadedDialect("sdy") ? pointwiseRule(op, mode)
                                                                                            : OpShardingRuleAttr();
}
