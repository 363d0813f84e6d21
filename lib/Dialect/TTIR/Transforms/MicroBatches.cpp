//===- MicroBatches.cpp - functions of a part of the batch ----------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A value is cut if an op's result for a micro-batch is the micro-batch's part of its result for the whole: rows [i *
// n, (i + 1) * n) of dimension 0. The op's factors (Families/FactorsInterface.h) state which operands must be cut for
// that; an op without factors is refused.
//
// In a program on a mesh, chips may have parts of the rows: then they have parts of the rows of each micro-batch. If
// the caller has split the rows, the micro-batches would differ, which is refused.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Dialect/Families/FactorsInterface.h"
#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/Transforms/ShardedArguments.h"
#include "ttmlir/Dialect/TTCore/Transforms/Stages.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"
#include "ttmlir/Dialect/TTIR/Transforms/SizeAttributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRMICROBATCHES
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

static RankedTensorType typeOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }
static int64_t rowsOf(Value value) {
  RankedTensorType type = typeOf(value);
  return type && type.getRank() ? type.getDimSize(0) : 0;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

namespace {
/// The operands of an op that must be cut, or why it cannot work on micro-batches.
struct Needs {
  SmallVector<bool> cut;
  SmallVector<StringRef> sizes; // attributes whose first value is the number of rows of tensors that are cut
  std::string reason;
};

/// The dimension of a factor in a tensor.
enum class Rows : uint8_t { Absent, Leading, Elsewhere };
} // namespace

static Needs refuse(const Twine &reason) { return {{}, {}, reason.str()}; }

/// Chips may have parts of the rows: each then has its part of the rows of a micro-batch.
static bool isAmongChips(Operation *op) { return op->hasTrait<trait::Collective>(); }

/// The factor of which micro-batches of a tensor are parts.
static int64_t rowsFactor(Operation *op, const Factors &factors, size_t tensor) {
  const Factors::Dimension &rows = factors.dimensions(tensor).front();
  return isAmongChips(op) ? rows.back() : rows[0];
}

static std::pair<Rows, size_t> findFactor(Operation *op, const Factors &factors, size_t tensor, int64_t factor) {
  for (auto [dim, indices] : llvm::enumerate(factors.dimensions(tensor)))
    if (llvm::is_contained(ArrayRef<int64_t>(indices.data(), indices.size()), factor))
      return {dim == 0 && rowsFactor(op, factors, tensor) == factor ? Rows::Leading : Rows::Elsewhere, dim};
  return {Rows::Absent, 0};
}

/// Chips cut whole tensors themselves, so each has its part of a micro-batch.
static bool areRowsOfCaller(Operation *op) {
  auto mesh = dyn_cast<ttir::MeshShardOp>(op);
  return mesh && mesh.getShardType() == ttcore::MeshShardType::Identity && llvm::is_contained(mesh.getShardDims(), 0);
}

static bool isQuantizedByRow(Value value) {
  auto type = dyn_cast<quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(value.getType()));
  return type && type.getQuantizedDimension() == 0;
}

/// `first` is an operand that is cut.
static Needs needsOf(Operation *op, unsigned first, int64_t count) {
  std::optional<Factors> factors = getFactors(op);
  if (!factors)
    return refuse("it is not known to work on each row by itself");
  if (areRowsOfCaller(op))
    return refuse("the caller has dimension 0 in shards; expected whole tensors");
  const int64_t factor = rowsFactor(op, *factors, first);
  const std::string subject = ("dimension 0 of operand " + Twine(first)).str();
  switch (factors->typeOf(factor).kind) {
  case FactorKind::PassThrough:
    break;
  case FactorKind::Reduction:
    return refuse("it combines " + subject);
  case FactorKind::NeedReplication:
    return refuse("it needs " + subject + " whole");
  case FactorKind::Permutation:
    return refuse("it moves rows along " + subject);
  }
  Needs needs;
  for (size_t tensor = 0; tensor < factors->numTensors(); ++tensor) {
    const bool isOperand = tensor < factors->numOperands();
    const size_t number = isOperand ? tensor : tensor - factors->numOperands();
    const std::string name = ((isOperand ? "operand " : "result ") + Twine(number)).str();
    const auto [rows, dim] = findFactor(op, *factors, tensor, factor);
    if (rows == Rows::Elsewhere)
      return refuse(subject + " is " + (dim ? "" : "a part of ") + "dimension " + Twine(dim) + " of " + name);
    if (!isOperand && rows == Rows::Absent)
      return refuse(name + " has nothing of " + subject);
    if (isOperand)
      needs.cut.push_back(rows == Rows::Leading);
  }
  if (factors->sizeOf(factor) % count != 0)
    return refuse("results have " + Twine(factors->sizeOf(factor)) + " parts of " + subject + " in order");
  if (llvm::any_of(op->getOperands(), isQuantizedByRow) || llvm::any_of(op->getResults(), isQuantizedByRow))
    return refuse("rows are quantized by scales of their own");
  for (const Factors::SizeAttribute &attribute : factors->sizeAttributes())
    if (findFactor(op, *factors, attribute.tensor, factor).first == Rows::Leading)
      needs.sizes.push_back(attribute.name);
  return needs;
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

namespace {
struct MicroBatches : ttir::impl::TTIRMicroBatchesBase<MicroBatches> {
  using Base::Base;

  void runOnOperation() override {
    if (count == 1)
      return markAllAnalysesPreserved();
    if (count < 1) {
      getOperation().emitError() << "micro-batches is " << count.getValue() << "; expected 1 or more";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function.isPrivate() && !function->hasAttr(ttcore::microBatchesName))
        if (failed(cut(function)))
          return signalPassFailure();
  }

private:
  DenseSet<Value> values; // that are cut

  RankedTensorType part(Value value) const {
    RankedTensorType type = typeOf(value);
    SmallVector<int64_t> shape(type.getShape());
    shape[0] /= count;
    return type.clone(shape);
  }
  bool divides(Value value) const { return rowsOf(value) > 0 && rowsOf(value) % count == 0; }

  /// Returns the arguments that are marked as inputs; the first if none is marked.
  static SmallVector<unsigned> batchArguments(func::FuncOp function) {
    SmallVector<unsigned> inputs;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto type = function.getArgAttrOfType<ttcore::ArgumentTypeAttr>(i, ttcore::argumentTypeName);
      if (type && type.getValue() == ttcore::ArgumentType::Input)
        inputs.push_back(i);
    }
    if (inputs.empty() && function.getNumArguments())
      inputs.push_back(0);
    return inputs;
  }

  /// Whether chips already hold the argument in shards, unless it is known to have all rows.
  static bool isInShards(BlockArgument argument, Attribute shardDims) {
    RankedTensorType type = typeOf(argument);
    if (!type || !isa_and_present<ttcore::TensorMeshAttr>(type.getEncoding()))
      return false;
    auto dims = dyn_cast_if_present<DenseI64ArrayAttr>(shardDims);
    return !dims || llvm::is_contained(dims.asArrayRef(), 0);
  }

  LogicalResult cut(func::FuncOp function) {
    for (unsigned i : batchArguments(function))
      if (isInShards(function.getArgument(i), function.getArgAttr(i, ttcore::shardDimsName)))
        return function.emitOpError()
               << "argument " << i
               << " is given in shards, which may be parts of the batch; expected a whole tensor "
                  "for micro-batches";
    if (!function.getBody().hasOneBlock())
      return function.emitOpError() << "has " << llvm::range_size(function.getBody())
                                    << " blocks; only a function of one block works on micro-batches";
    values.clear();
    // The rules read whole tensors: types change after all ops were visited.
    SmallVector<std::pair<Value, Type>> later;
    Builder builder(&getContext());
    for (unsigned i : batchArguments(function)) {
      BlockArgument argument = function.getArgument(i);
      if (!divides(argument))
        return function.emitOpError() << "argument " << i << " is " << argument.getType() << ", whose rows "
                                      << count.getValue() << " micro-batches do not divide";
      values.insert(argument);
      later.push_back({argument, part(argument)});
      function.setArgAttr(i, ttcore::microBatchName, builder.getUnitAttr());
    }
    Block &block = function.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (failed(cut(&op, later)))
        return failure();
    for (auto [value, type] : later)
      value.setType(type);
    for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
      if (values.contains(value))
        function.setResultAttr(i, ttcore::microBatchName, builder.getUnitAttr());
    function.setFunctionType(
        builder.getFunctionType(block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
    function->setAttr(ttcore::microBatchesName, builder.getI64IntegerAttr(count));
    return success();
  }

  LogicalResult cut(Operation *op, SmallVector<std::pair<Value, Type>> &later) {
    SmallVector<bool> isCut = llvm::map_to_vector(op->getOperands(), [&](Value v) { return values.contains(v); });
    if (llvm::none_of(isCut, [](bool is) { return is; }))
      return success();
    auto error = [&] { return op->emitOpError() << "cannot work on " << count.getValue() << " micro-batches: "; };
    Needs needs = needsOf(op, llvm::find(isCut, true) - isCut.begin(), count);
    if (!needs.reason.empty())
      return error() << needs.reason;
    for (auto [i, operand] : llvm::enumerate(op->getOpOperands())) {
      if (needs.cut[i] == isCut[i])
        continue;
      if (isCut[i])
        return error() << "operand " << i << " is a part of the batch; expected one tensor for all";
      Value created = partOf(operand.get(), op, later);
      if (!created)
        return error() << "operand " << i << " is " << operand.get().getType() << " for the whole batch";
      operand.set(created);
    }
    for (Value result : op->getResults()) {
      if (!divides(result))
        return error() << "a result is " << result.getType() << ", whose rows they do not divide";
      values.insert(result);
      later.push_back({result, part(result)});
    }
    for (StringRef attribute : needs.sizes)
      op->setAttr(attribute, ttir::withSize(op->getAttr(attribute), 0, rowsOf(op->getResult(0)) / count));
    return success();
  }

  /// Equal rows, of which a micro-batch has fewer: a creation of one value, or a broadcast of one row.
  Value partOf(Value value, Operation *user, SmallVector<std::pair<Value, Type>> &later) {
    Operation *producer = value.getDefiningOp();
    if (!producer || !divides(value))
      return {};
    OpBuilder builder(user);
    StringRef name = producer->getName().stripDialect();
    StringRef attribute = name == "broadcast" ? "broadcast_dimensions" : "shape";
    auto constant = dyn_cast<ttir::ConstantOp>(producer);
    auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
    const bool isBroadcast = isa<ttir::BroadcastOp>(producer) && rowsOf(producer->getOperand(0)) == 1;
    if (!splat && !isBroadcast && name != "zeros" && name != "ones" && name != "full")
      return {};
    Operation *created = builder.clone(*producer);
    if (splat)
      created->setAttr("value", splat.resizeSplat(part(value)));
    else
      created->setAttr(attribute, ttir::withSize(created->getAttr(attribute), 0, rowsOf(value) / count));
    values.insert(created->getResult(0));
    later.push_back({created->getResult(0), part(value)});
    return created->getResult(0);
  }
};
} // namespace
