//===- MicroBatches.cpp - functions of a part of the batch ----------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A value is cut when what an op gives for a micro-batch is the micro-batch's part of what it gives for the whole: rows
// [i * n, (i + 1) * n) of dimension 0. Rules say of each op which operands must be cut for that, and what else must
// hold; an op without a rule is refused.
//
// Of a program on a mesh, chips may have parts of the rows: then they have parts of the rows of each micro-batch. Where
// the caller has split the rows himself, the micro-batches would be others, which is refused.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/Transforms/ShardedArguments.h"
#include "ttmlir/Dialect/TTCore/Transforms/Stages.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DotGeneralOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DropoutOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

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
static int64_t rankOf(Value value) { return typeOf(value) ? typeOf(value).getRank() : 0; }

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The integers of an attribute, or none.
static SmallVector<int64_t> integersOf(Operation *op, StringRef name) {
  Attribute attr = op->getAttr(name);
  if (auto one = dyn_cast_or_null<IntegerAttr>(attr))
    return {one.getValue().getSExtValue()};
  if (auto array = dyn_cast_or_null<DenseI32ArrayAttr>(attr))
    return {array.asArrayRef().begin(), array.asArrayRef().end()};
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attr))
    return llvm::to_vector(array.asArrayRef());
  SmallVector<int64_t> values;
  if (auto array = dyn_cast_or_null<ArrayAttr>(attr))
    for (Attribute item : array)
      if (auto number = dyn_cast<IntegerAttr>(item))
        values.push_back(number.getValue().getSExtValue());
  return values;
}

/// The attribute with another first value, in the form that it has.
static Attribute withFirst(Attribute attr, int64_t first) {
  Builder builder(attr.getContext());
  auto replaced = [&](auto array) {
    auto values = llvm::to_vector(array.asArrayRef());
    values[0] = first;
    return values;
  };
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attr))
    return builder.getDenseI32ArrayAttr(replaced(array));
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attr))
    return builder.getDenseI64ArrayAttr(replaced(array));
  auto items = llvm::to_vector(cast<ArrayAttr>(attr).getValue());
  items[0] = IntegerAttr::get(cast<IntegerAttr>(items[0]).getType(), first);
  return builder.getArrayAttr(items);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Why dimension 0 of an op is not that of its operands, row by row; empty if it is.
using Check = std::string (*)(Operation *op, StringRef attribute);

static std::string always(Operation *, StringRef) { return {}; }

static bool namesRows(Operation *op, StringRef attribute) {
  const int64_t rank = rankOf(op->getOperand(0)) + (op->getName().stripDialect() == "unsqueeze");
  return llvm::any_of(integersOf(op, attribute), [&](int64_t dim) { return dim == 0 || dim == -rank; });
}
static std::string elsewhere(Operation *op, StringRef attribute) {
  return namesRows(op, attribute) ? ("'" + attribute + "' names dimension 0").str() : std::string();
}
static std::string reduces(Operation *op, StringRef attribute) {
  return integersOf(op, attribute).empty() ? "it combines all dimensions" : elsewhere(op, attribute);
}
/// The first value of the attribute is the one that leaves dimension 0 alone.
template <int64_t value> static std::string begins(Operation *op, StringRef attribute) {
  SmallVector<int64_t> values = integersOf(op, attribute);
  return values.empty() || values[0] == value
             ? std::string()
             : ("'" + attribute + "' is " + Twine(values[0]) + " for dimension 0; expected " + Twine(value)).str();
}
static std::string transposes(Operation *op, StringRef) {
  return namesRows(op, "dim0") || namesRows(op, "dim1") ? "it moves dimension 0" : std::string();
}
static std::string slices(Operation *op, StringRef) {
  SmallVector<int64_t> begin = integersOf(op, "begins"), end = integersOf(op, "ends"), step = integersOf(op, "step");
  const bool isWhole = !begin.empty() && begin[0] == 0 && step[0] == 1 && end[0] == rowsOf(op->getOperand(0));
  return isWhole ? std::string() : "it takes a part of dimension 0";
}
static std::string pads(Operation *op, StringRef attribute) {
  SmallVector<int64_t> padding = integersOf(op, attribute);
  return padding.size() >= 2 && padding[0] == 0 && padding[1] == 0 ? std::string() : "it pads dimension 0";
}
static std::string normalizes(Operation *op, StringRef attribute) {
  return static_cast<int64_t>(integersOf(op, attribute).size()) < rankOf(op->getOperand(0))
             ? std::string()
             : "it normalizes over dimension 0";
}
static std::string windows(Operation *op, StringRef) {
  return op->hasAttr("flattened_compat_info") ? "its images are flattened" : begins<0>(op, "batch_dim");
}

/// Chips cut whole tensors themselves, so that each has its part of a micro-batch.
static std::string shards(Operation *op, StringRef) {
  auto mesh = cast<ttir::MeshShardOp>(op);
  const bool isGiven =
      mesh.getShardType() == ttcore::MeshShardType::Identity && llvm::is_contained(mesh.getShardDims(), 0);
  return isGiven ? "the caller has dimension 0 in shards; expected whole tensors" : std::string();
}

namespace {
struct Rule {
  StringLiteral op;
  int operands; // how many of the first must be cut; those behind them must not. all: every one
  Check check;
  StringLiteral attribute = "";
};
} // namespace

static constexpr int all = -1;
static constexpr Rule rules[] = {
    {"reshape", 1, always},
    {"permute", 1, begins<0>, "permutation"},
    {"transpose", 1, transposes},
    {"concat", all, elsewhere, "dim"},
    {"slice_static", 1, slices},
    {"squeeze", 1, elsewhere, "dim"},
    {"unsqueeze", 1, elsewhere, "dim"},
    {"broadcast", 1, begins<1>, "broadcast_dimensions"},
    {"repeat", 1, begins<1>, "repeat_dimensions"},
    {"repeat_interleave", 1, elsewhere, "dim"},
    {"reverse", 1, elsewhere, "dimensions"},
    {"pad", 1, pads, "padding"},
    {"index", 1, elsewhere, "dim"},
    {"index_select", 1, elsewhere, "dim"},
    {"embedding", 1, always},
    {"softmax", 1, elsewhere, "dimension"},
    {"cumsum", 1, elsewhere, "dim"},
    {"cumprod", 1, elsewhere, "dim"},
    {"sort", 1, elsewhere, "dim"},
    {"topk", 1, elsewhere, "dim"},
    {"layer_norm", 1, normalizes, "normalized_shape"},
    {"rms_norm", 1, normalizes, "normalized_shape"},
    {"group_norm", 1, elsewhere, "channel_dim"},
    {"batch_norm_inference", 1, elsewhere, "dimension"},
    {"conv1d", 1, windows},
    {"conv2d", 1, windows},
    {"conv3d", 1, windows},
    {"conv_transpose2d", 1, windows},
    {"conv_transpose3d", 1, windows},
    {"max_pool2d", 1, windows},
    {"avg_pool2d", 1, windows},
    {"global_avg_pool2d", 1, always},
    {"upsample2d", 1, always},
    {"concatenate_heads", all, always},
    {"mesh_shard", 1, shards},
    {"mesh_partition", 1, always},
    {"all_gather", 1, always},
    {"all_reduce", 1, always},
    {"reduce_scatter", 1, always},
    {"all_to_all", 1, always},
    {"collective_permute", 1, always},
    {"split_query_key_value_and_split_heads", all, always},
};

namespace {
/// Which operands of an op must be cut, or why it cannot work on micro-batches.
struct Needs {
  SmallVector<bool> cut;
  std::string reason;
};
} // namespace

static Needs refuse(const Twine &reason) { return {{}, reason.str()}; }

/// Operands that have the rows of the result; others are broadcast to it.
static Needs alignedOperands(Operation *op) {
  Needs needs;
  Value result = op->getResult(0);
  for (Value operand : op->getOperands())
    needs.cut.push_back(rankOf(operand) == rankOf(result) && rowsOf(operand) == rowsOf(result));
  return needs;
}

/// A product works row by row on the rows of `a`, or on each of a batch of matrices.
static Needs productNeeds(Operation *op, ArrayRef<bool> cut) {
  const int64_t rank = rankOf(op->getResult(0));
  auto isTransposed = [&](StringRef name) {
    auto flag = op->getAttrOfType<BoolAttr>(name);
    return flag && flag.getValue();
  };
  Needs needs;
  needs.cut.assign(cut.size(), false);
  for (unsigned side : {0, 1}) {
    Value operand = op->getOperand(side);
    if (!cut[side])
      continue;
    const bool isRows = side == 0 && rankOf(operand) == 2 && !isTransposed("transpose_a");
    if (!isRows && rankOf(operand) < 3)
      return refuse("dimension 0 of operand " + Twine(side) + " is summed over or a column of the result");
    if (rankOf(operand) != rank)
      return refuse("dimension 0 of operand " + Twine(side) + " is not that of the result");
    needs.cut[side] = true;
  }
  for (unsigned i = 0; i < cut.size(); ++i)
    if (rank >= 3 || i == 2)
      needs.cut[i] =
          needs.cut[i] || (rankOf(op->getOperand(i)) == rank && rowsOf(op->getOperand(i)) == rowsOf(op->getResult(0)) &&
                           rowsOf(op->getOperand(i)) > 1);
  return needs;
}

static Needs productNeeds(ttir::DotGeneralOp op, ArrayRef<bool> cut) {
  ArrayRef<int64_t> left = op.getBatchDimsLhs(), right = op.getBatchDimsRhs();
  if (!left.empty() && left.front() == 0 && right.front() == 0)
    return {{true, true}, ""};
  if (left.empty() && cut[0] && !llvm::is_contained(op.getContractDimsLhs(), 0))
    return {{true, false}, ""};
  return refuse("dimension 0 is contracted, or not that of the result");
}

static Needs needsOf(Operation *op, ArrayRef<bool> cut) {
  if (op->getName().getDialectNamespace() != "ttir" || isa<ttir::DropoutOp>(op))
    return refuse("it is not known to work on each row by itself");
  if (op->hasTrait<trait::Elementwise>())
    return alignedOperands(op);
  if (auto product = dyn_cast<ttir::DotGeneralOp>(op))
    return productNeeds(product, cut);
  StringRef name = op->getName().stripDialect();
  if (name == "matmul" || name == "linear")
    return productNeeds(op, cut);
  if (name == "scaled_dot_product_attention") {
    Needs needs = alignedOperands(op); // the mask may be one for all
    needs.cut[0] = needs.cut[1] = needs.cut[2] = true;
    return op->getNumOperands() > 4 ? refuse("it has an attention sink") : needs;
  }
  Rule rule{"", 1, reduces, "dim_arg"};
  if (!op->hasTrait<trait::Reduction>()) {
    const auto *found = llvm::find_if(rules, [&](const Rule &row) { return row.op == name; });
    if (found == std::end(rules))
      return refuse("it is not known to work on each row by itself");
    rule = *found;
  }
  if (std::string reason = rule.check(op, rule.attribute); !reason.empty())
    return refuse(reason);
  Needs needs;
  for (int i = 0; i < static_cast<int>(op->getNumOperands()); ++i)
    needs.cut.push_back(rule.operands == all || i < rule.operands);
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

  /// Those that are called inputs; where nothing is said, the first.
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

  /// What chips hold already, unless it is known to have all rows.
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
    // The rules look at whole tensors: types change when all ops were looked at.
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
    Needs needs = needsOf(op, isCut);
    if (!needs.reason.empty())
      return error() << needs.reason;
    for (auto [i, operand] : llvm::enumerate(op->getOpOperands())) {
      if (needs.cut[i] == isCut[i])
        continue;
      if (isCut[i])
        return error() << "operand " << i << " is a part of the batch; expected one tensor for all";
      Value made = partOf(operand.get(), op, later);
      if (!made)
        return error() << "operand " << i << " is " << operand.get().getType() << " for the whole batch";
      operand.set(made);
    }
    for (Value result : op->getResults()) {
      if (!divides(result))
        return error() << "a result is " << result.getType() << ", whose rows they do not divide";
      values.insert(result);
      later.push_back({result, part(result)});
    }
    const int64_t rows = rowsOf(op->getResult(0)) / count;
    for (auto [name, attribute] : {std::pair("reshape", "shape"), std::pair("slice_static", "ends")})
      if (op->getName().stripDialect() == name)
        op->setAttr(attribute, withFirst(op->getAttr(attribute), rows));
    return success();
  }

  /// Rows that are all alike, of which a micro-batch has fewer: a creation of one value, or a broadcast of one row.
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
    Operation *made = builder.clone(*producer);
    if (splat)
      made->setAttr("value", splat.resizeSplat(part(value)));
    else
      made->setAttr(attribute, withFirst(made->getAttr(attribute), rowsOf(value) / count));
    values.insert(made->getResult(0));
    later.push_back({made->getResult(0), part(value)});
    return made->getResult(0);
  }
};
} // namespace
