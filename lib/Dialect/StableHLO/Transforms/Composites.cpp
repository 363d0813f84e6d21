//===- Composites.cpp - composites while shardings are propagated ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_FLATTENORCONVERTCOMPOSITES
#define GEN_PASS_DEF_REOUTLINECOMPOSITE
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

static constexpr StringLiteral groupName = "reoutline.group", seedName = "reoutline.seed",
                               origName = "reoutline.orig_name", attrsName = "reoutline.comp_attrs",
                               operandsName = "reoutline.arg_operand_indices", resultName = "reoutline.result_pos";

/// Composites with a sharding rule of their own, as custom calls.
static bool becomesCall(stablehlo::CompositeOp op) {
  StringRef name = op.getName();
  if (!name.consume_front("tenstorrent.") || op->getNumOperands() == 0)
    return false;
  DictionaryAttr attributes = op.getCompositeAttributes().value_or(DictionaryAttr());
  if (llvm::is_contained({"topk", "topk_values", "topk_indices"}, name)) {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    auto largest = attributes ? attributes.getAs<BoolAttr>("largest") : BoolAttr();
    auto dim = attributes ? attributes.getAs<IntegerAttr>("dim") : IntegerAttr();
    return type && type.getRank() == 2 && (!largest || largest.getValue()) &&
           (!dim || dim.getValue().isAllOnes() || dim.getValue().isOne());
  }
  return llvm::is_contained({"rms_norm", "scaled_dot_product_attention"}, name);
}

static bool isSharded(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, shardingName))
        return true;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (function.getResultAttr(i, shardingName))
        return true;
  }
  return false;
}

namespace {
struct FlattenOrConvertComposites : shlo::impl::FlattenOrConvertCompositesBase<FlattenOrConvertComposites> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!isSharded(module))
      return markAllAnalysesPreserved();
    SymbolTable symbols(module);
    // A decomposition may contain composites, too, which are handled once it is inlined.
    for (unsigned depth = 0;; ++depth) {
      SmallVector<stablehlo::CompositeOp> found;
      for (auto function : module.getOps<func::FuncOp>())
        if (function.isPublic())
          function.walk([&](stablehlo::CompositeOp op) { found.push_back(op); });
      if (found.empty())
        break;
      for (stablehlo::CompositeOp op : found)
        if (failed(becomesCall(op) ? convert(op) : flatten(op, symbols, depth)))
          return signalPassFailure();
    }
    bool erased = true;
    while (erased) {
      erased = false;
      for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
        if (function.isPrivate() && SymbolTable::symbolKnownUseEmpty(function, module)) {
          symbols.erase(function);
          erased = true;
        }
    }
  }

private:
  static LogicalResult convert(stablehlo::CompositeOp op) {
    OpBuilder builder(op);
    OperationState state(op.getLoc(), stablehlo::CustomCallOp::getOperationName(), op->getOperands(),
                         op->getResultTypes());
    state.addAttribute("call_target_name", builder.getStringAttr(op.getName()));
    state.addAttribute("tt.composite_attributes", op.getCompositeAttributes().value_or(builder.getDictionaryAttr({})));
    state.addAttribute("tt.has_custom_sharding", builder.getUnitAttr());
    Operation *call = builder.create(state);
    for (NamedAttribute attr : op->getDiscardableAttrs())
      call->setDiscardableAttr(attr.getName(), attr.getValue());
    op->replaceAllUsesWith(call);
    op.erase();
    return success();
  }

  LogicalResult flatten(stablehlo::CompositeOp op, SymbolTable &symbols, unsigned depth) {
    auto function = symbols.lookup<func::FuncOp>(op.getDecomposition());
    if (!function || function.isExternal())
      return op.emitOpError() << "has the decomposition @" << op.getDecomposition() << ", which "
                              << (function ? "has no body" : "is no function of the module");
    if (depth > 64)
      return op.emitOpError() << "is part of its own decomposition";
    Block &body = function.getBody().front();
    if (!function.getBody().hasOneBlock() || body.getArgumentTypes() != op->getOperandTypes() ||
        body.getTerminator()->getOperandTypes() != op->getResultTypes())
      return op.emitOpError() << "has operands (" << op->getOperandTypes() << ") and results (" << op->getResultTypes()
                              << "); its decomposition @" << op.getDecomposition() << " is "
                              << function.getFunctionType();
    OpBuilder builder(op);
    IRMapping mapping;
    mapping.map(body.getArguments(), op->getOperands());
    // Each call is a group of its own.
    const std::string group = "composite_" + op.getDecomposition().str() + "_" + std::to_string(groups++);
    bool first = true;
    for (Operation &inner : body.without_terminator()) {
      Operation *copy = builder.clone(inner, mapping);
      SmallVector<int64_t> operands, results;
      for (Value operand : inner.getOperands()) {
        auto argument = dyn_cast<BlockArgument>(operand);
        operands.push_back(argument && argument.getOwner() == &body ? argument.getArgNumber() : -1);
      }
      for (Value result : inner.getResults()) {
        int64_t position = -1;
        for (auto [index, returned] : llvm::enumerate(body.getTerminator()->getOperands()))
          if (returned == result && position < 0)
            position = static_cast<int64_t>(index);
        results.push_back(position);
      }
      // Inner composites become groups when they are handled; the outer group is dropped.
      if (depth == 0) {
        copy->setAttr(groupName, builder.getStringAttr(group));
        if (first) {
          copy->setAttr(seedName, builder.getUnitAttr());
          copy->setAttr(origName, builder.getStringAttr(op.getName()));
          copy->setAttr(attrsName, op.getCompositeAttributes().value_or(builder.getDictionaryAttr({})));
        }
        if (llvm::any_of(operands, [](int64_t index) { return index >= 0; }))
          copy->setAttr(operandsName, builder.getI64ArrayAttr(operands));
        if (llvm::any_of(results, [](int64_t index) { return index >= 0; }))
          copy->setAttr(resultName, builder.getI64ArrayAttr(results));
      }
      first = false;
    }
    for (auto [result, value] : llvm::zip_equal(op->getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookup(value));
    op.erase();
    return success();
  }

  unsigned groups = 0;
};

struct ReoutlineComposite : shlo::impl::ReoutlineCompositeBase<ReoutlineComposite> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::MapVector<std::pair<Block *, Attribute>, SmallVector<Operation *>> groups;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (Attribute group = op->getAttr(groupName))
        groups[{op->getBlock(), group}].push_back(op);
    });
    SymbolTable symbols(module);
    for (auto &[place, ops] : groups)
      outline(ops, symbols);
    module.walk([](Operation *op) {
      for (StringRef name : {groupName, seedName, origName, attrsName, operandsName, resultName})
        op->removeDiscardableAttr(name);
    });
  }

private:
  /// An index in a list that the other pass or the user wrote; -1 if it is absent.
  static int64_t placeAt(ArrayAttr places, size_t index) {
    auto place = places && index < places.size() ? dyn_cast<IntegerAttr>(places[index]) : IntegerAttr();
    return place && place.getType().isSignlessInteger(64) ? place.getInt() : -1;
  }

  /// The ops of a group that are still adjacent, in a function that a composite of the original name calls.
  static void outline(ArrayRef<Operation *> ops, SymbolTable &symbols) {
    Operation *seed = ops.front();
    auto name = seed->getAttrOfType<StringAttr>(origName);
    if (!name || !seed->hasAttr(seedName))
      return;
    for (auto [op, next] : llvm::zip(ops, ops.drop_front()))
      if (op->getNextNode() != next)
        return;
    DenseSet<Operation *> members(ops.begin(), ops.end());
    // Operands in the order of the composite, others after them; (index, value).
    SmallVector<std::pair<int64_t, Value>> captures, escapes;
    for (Operation *op : ops) {
      auto places = op->getAttrOfType<ArrayAttr>(operandsName);
      for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
        if (operand.getDefiningOp() && members.contains(operand.getDefiningOp()))
          continue;
        int64_t at = placeAt(places, index);
        if (at < 0)
          at = std::numeric_limits<int64_t>::max();
        auto *known = llvm::find_if(captures, [&](auto &pair) { return pair.second == operand; });
        if (known == captures.end())
          captures.emplace_back(at, operand);
        else
          known->first = std::min(known->first, at);
      }
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &inner : block)
            for (Value operand : inner.getOperands())
              if (operand.getParentRegion()->isProperAncestor(&region))
                return; // a region that uses values from outside
      auto positions = op->getAttrOfType<ArrayAttr>(resultName);
      for (auto [index, result] : llvm::enumerate(op->getResults())) {
        if (llvm::all_of(result.getUsers(), [&](Operation *user) { return members.contains(user); }))
          continue;
        int64_t at = placeAt(positions, index);
        escapes.emplace_back(at < 0 ? std::numeric_limits<int64_t>::max() : at, result);
      }
    }
    if (escapes.empty())
      return;
    // Few values, and std::stable_sort allocates a buffer in a deprecated way.
    auto sort = [](SmallVectorImpl<std::pair<int64_t, Value>> &pairs) {
      for (size_t i = 1; i < pairs.size(); ++i)
        for (size_t j = i; j > 0 && pairs[j].first < pairs[j - 1].first; --j)
          std::swap(pairs[j], pairs[j - 1]);
    };
    sort(captures);
    sort(escapes);
    auto values = [](ArrayRef<std::pair<int64_t, Value>> pairs) {
      return llvm::map_to_vector(pairs, [](auto &pair) { return pair.second; });
    };
    SmallVector<Value> operands = values(captures), results = values(escapes);

    OpBuilder builder(ops.back()->getContext());
    auto function =
        func::FuncOp::create(builder, seed->getLoc(), "outlined_" + seed->getAttrOfType<StringAttr>(groupName).str(),
                             builder.getFunctionType(ValueRange(operands).getTypes(), ValueRange(results).getTypes()));
    function.setPrivate();
    symbols.insert(function);
    IRMapping mapping;
    builder.setInsertionPointToStart(function.addEntryBlock());
    mapping.map(operands, function.getArguments());
    for (Operation *op : ops)
      builder.clone(*op, mapping);
    func::ReturnOp::create(builder, seed->getLoc(),
                           llvm::map_to_vector(results, [&](Value value) { return mapping.lookup(value); }));

    builder.setInsertionPointAfter(ops.back());
    auto composite = stablehlo::CompositeOp::create(builder, seed->getLoc(), ValueRange(results).getTypes(), operands,
                                                    name.getValue(), seed->getAttrOfType<DictionaryAttr>(attrsName),
                                                    function.getSymName(), /*version=*/0u,
                                                    /*composite_regionsCount=*/0);
    for (auto [result, value] : llvm::zip_equal(results, composite->getResults()))
      result.replaceUsesWithIf(value, [&](OpOperand &use) { return !members.contains(use.getOwner()); });
    for (Operation *op : llvm::reverse(ops))
      op->erase();
  }
};
} // namespace
