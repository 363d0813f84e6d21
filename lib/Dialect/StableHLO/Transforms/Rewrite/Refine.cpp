//===- Refine.cpp - shapes that follow from those of the arguments --------===//
// SPDX-License-Identifier: Apache-2.0

#include "Evaluate.h"
#include "Shapes.h"

#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Inline.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_STABLEHLOREFINEARGUMENTS
#define GEN_PASS_DEF_STABLEHLOREFINESHAPES
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

static constexpr StringLiteral wrapperName = "stablehlo.shape_refinement_operand_wrapper";

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
struct RefineArguments : shlo::impl::StablehloRefineArgumentsBase<RefineArguments> {
  using Base::Base;

  void runOnOperation() override {
    if (refinedTypes.empty())
      return markAllAnalysesPreserved();
    if (failed(refine()))
      signalPassFailure();
  }

private:
  /// `main`, or the one public function.
  func::FuncOp mainFunction() {
    if (auto main = getOperation().lookupSymbol<func::FuncOp>("main"))
      return main;
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic())
        functions.push_back(function);
    return functions.size() == 1 ? functions.front() : func::FuncOp();
  }

  /// Commas stand between types, and within them.
  FailureOr<SmallVector<Type>> parsedTypes() {
    std::string joined = llvm::join(refinedTypes, ",");
    StringRef text = joined;
    SmallVector<Type> types;
    while (!text.trim().empty()) {
      size_t read = 0;
      Type type = parseType(text, &getContext(), &read);
      if (!type)
        return getOperation().emitError() << "types: '" << text << "' is no type";
      types.push_back(type);
      text = text.drop_front(read).ltrim();
      if (!text.empty() && !text.consume_front(","))
        return getOperation().emitError() << "types: found '" << text << "'; expected ',' after a type";
    }
    return types;
  }

  /// Once shapes are known, padding that follows from them is constant, too.
  void markComputedPadding() {
    getOperation()->walk([](stablehlo::CustomCallOp call) {
      if (call.getCallTargetName() != "stablehlo.dynamic_reduce_window" || call.getNumOperands() == 0)
        return;
      llvm::SetVector<Operation *> producers;
      SmallVector<Value> pending = {call->getOperands().back()};
      while (!pending.empty()) {
        Operation *producer = pending.pop_back_val().getDefiningOp();
        if (!producer) {
          call->setAttr(computedPaddingAttr, UnitAttr::get(call.getContext()));
          return;
        }
        if (producers.insert(producer))
          llvm::append_range(pending, producer->getOperands());
      }
    });
  }

  static LogicalResult check(func::FuncOp function, unsigned number, Type refined) {
    Type given = function.getArgumentTypes()[number];
    if (given == refined)
      return success();
    auto from = dyn_cast<RankedTensorType>(given), to = dyn_cast<RankedTensorType>(refined);
    if (!from || !to || from.getElementType() != to.getElementType() ||
        failed(verifyCompatibleShape(from.getShape(), to.getShape())))
      return function.emitError() << "types: argument " << number << " is " << given << ", which cannot be refined to "
                                  << refined;
    return success();
  }

  LogicalResult refine() {
    func::FuncOp function = mainFunction();
    if (!function || function.isExternal())
      return getOperation().emitError("has no function @main with a body, nor a single public one");
    FailureOr<SmallVector<Type>> types = parsedTypes();
    if (failed(types))
      return failure();
    if (types->size() != function.getNumArguments())
      return function.emitError() << "types: has " << types->size() << "; expected one for each of "
                                  << function.getNumArguments() << " arguments";
    for (auto [number, type] : llvm::enumerate(*types))
      if (failed(check(function, number, type)))
        return failure();
    markComputedPadding();
    OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
    for (auto [argument, type] : llvm::zip_equal(function.getArguments(), *types)) {
      auto refined = dyn_cast<RankedTensorType>(type);
      if (!refined || argument.getType() == type)
        continue;
      Type given = argument.getType();
      argument.setType(type);
      if (argument.use_empty())
        continue;
      auto sizes = RankedTensorType::get({refined.getRank()}, builder.getI64Type());
      Value shape = stablehlo::ConstantOp::create(builder, argument.getLoc(),
                                                  DenseIntElementsAttr::get(sizes, refined.getShape()));
      auto second = DenseIntElementsAttr::get(RankedTensorType::get({1}, builder.getI64Type()), ArrayRef<int64_t>{1});
      const NamedAttribute attributes[] = {builder.getNamedAttr("call_target_name", builder.getStringAttr(wrapperName)),
                                           builder.getNamedAttr(shapeOperandsAttr, second)};
      auto wrapper = stablehlo::CustomCallOp::create(builder, argument.getLoc(), TypeRange(given),
                                                     ValueRange{argument, shape}, attributes);
      argument.replaceUsesWithIf(wrapper.getResult(0), [&](OpOperand &use) { return use.getOwner() != wrapper; });
    }
    function.setFunctionType(builder.getFunctionType(*types, function.getResultTypes()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

bool isDynamic(Type type) {
  auto tensor = dyn_cast<ShapedType>(type);
  return tensor && (!tensor.hasRank() || !tensor.hasStaticShape());
}

bool mentionsDynamic(Operation *root) {
  return root
      ->walk([](Operation *op) {
        if (auto function = dyn_cast<func::FuncOp>(op);
            function && (llvm::any_of(function.getArgumentTypes(), isDynamic) ||
                         llvm::any_of(function.getResultTypes(), isDynamic)))
          return WalkResult::interrupt();
        return llvm::any_of(op->getResultTypes(), isDynamic) || llvm::any_of(op->getOperandTypes(), isDynamic)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Assertions need their condition computed, also if no shape is left to infer.
bool assertsShapes(ModuleOp module) {
  return module
      .walk([](stablehlo::CustomCallOp call) {
        return call.getCallTargetName() == "shape_assertion" ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

struct RefineShapes : shlo::impl::StablehloRefineShapesBase<RefineShapes> {
  void runOnOperation() override {
    if (!mentionsDynamic(getOperation()) && !assertsShapes(getOperation()))
      return markAllAnalysesPreserved();
    SymbolTable table(getOperation());
    symbols = &table;
    SmallVector<func::FuncOp> roots, others;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        (function.isPublic() ? roots : others).push_back(function);
    for (func::FuncOp function : roots)
      if (failed(refine(function)))
        return signalPassFailure();
    // The ops that replaced its calls.
    for (bool changed = true; changed;) {
      changed = false;
      for (func::FuncOp &function : others)
        if (function && replaced.contains(function) && SymbolTable::symbolKnownUseEmpty(function, getOperation())) {
          table.erase(function);
          function = nullptr;
          changed = true;
        }
    }
  }

private:
  /// Sizes are few.
  static constexpr EvaluationLimits limits{/*elements=*/256, /*withFloats=*/false};

  LogicalResult refine(func::FuncOp function) {
    if (!active.insert(function).second)
      return function.emitError("calls itself, so that its shapes are not known");
    llvm::scope_exit done([&] { active.erase(function); });
    if (!function.getBody().hasOneBlock())
      return success();
    if (failed(refine(function.front())))
      return failure();
    function.setFunctionType(FunctionType::get(&getContext(), function.front().getArgumentTypes(),
                                               function.front().getTerminator()->getOperandTypes()));
    return success();
  }

  LogicalResult refine(Block &block) {
    for (auto it = block.begin(); it != block.end();) {
      Operation *op = &*it++;
      if (auto call = dyn_cast<func::CallOp>(op)) {
        FailureOr<Operation *> first = replace(call);
        if (failed(first))
          return failure();
        if (*first)
          it = Block::iterator(*first);
        continue;
      }
      if (failed(refine(op)))
        return failure();
    }
    return success();
  }

  LogicalResult refine(Operation *op) {
    if (auto custom = dyn_cast<stablehlo::CustomCallOp>(op); custom && custom.getCallTargetName() == wrapperName) {
      if (custom.getNumResults() != 1 || custom.getNumOperands() == 0)
        return custom.emitOpError() << "@" << wrapperName << " has " << custom.getNumOperands() << " operands and "
                                    << custom.getNumResults() << " results; expected operand and shape, and one result";
      custom.getResult(0).replaceAllUsesWith(custom->getOperand(0));
      custom.erase();
      return success();
    }
    if (op->hasTrait<OpTrait::ConstantLike>())
      return success();
    if (DenseElementsAttr value = evaluate(op, limits)) {
      OpBuilder builder(op);
      op->getResult(0).replaceAllUsesWith(stablehlo::ConstantOp::create(builder, op->getLoc(), value));
      op->erase();
      return success();
    }
    if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
      return refine(composite);
    // Arguments of the regions are the operands of the op.
    if (isa<stablehlo::WhileOp>(op))
      for (Region &region : op->getRegions())
        for (auto [argument, operand] : llvm::zip_equal(region.getArguments(), op->getOperands()))
          argument.setType(operand.getType());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(refine(block)))
          return failure();
    for (auto [result, type] : llvm::zip_equal(op->getResults(), refinedTypes(op)))
      result.setType(type);
    return success();
  }

  /// A separate function for the shapes that the composite has.
  LogicalResult refine(stablehlo::CompositeOp composite) {
    auto callee = symbols->lookup<func::FuncOp>(composite.getDecomposition());
    if (!callee || callee.isExternal() || !mentionsDynamic(callee))
      return success();
    if (callee.getNumArguments() != composite.getNumOperands() || callee.getNumResults() != composite.getNumResults())
      return composite.emitOpError() << "has " << composite.getNumOperands() << " operands and "
                                     << composite.getNumResults() << " results; expected those of @"
                                     << callee.getSymName();
    if (llvm::any_of(active, [&](Operation *function) { return function == callee; }))
      return callee.emitError("calls itself, so that its shapes are not known");
    replaced.insert(callee);
    func::FuncOp copy = callee.clone();
    symbols->insert(copy, std::next(callee->getIterator()));
    for (auto [argument, operand] : llvm::zip_equal(copy.getArguments(), composite->getOperands()))
      argument.setType(operand.getType());
    active.insert(callee);
    llvm::scope_exit done([&] { active.erase(callee); });
    if (failed(refine(copy)))
      return failure();
    composite.setDecomposition(copy.getSymName());
    for (auto [result, type] : llvm::zip_equal(composite.getResults(), copy.getResultTypes()))
      result.setType(type);
    return success();
  }

  /// Replaces a call by the body: its shapes, and the sizes that it computes, are those of this call. Returns its first
  /// op, or null for a call that stays.
  FailureOr<Operation *> replace(func::CallOp call) {
    auto callee = symbols->lookup<func::FuncOp>(call.getCallee());
    const bool computesSizes = llvm::all_of(call->getOperands(), [](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.getElementType().isIntOrIndex() && matchPattern(value, m_Constant());
    });
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock() || !(computesSizes || reachesDynamic(callee)))
      return nullptr;
    const unsigned depth = depths.lookup(call);
    if (++inlined > maxInlined || depth == ttcore::maxCallDepth)
      return call.emitError() << "is one of more than " << (inlined > maxInlined ? maxInlined : depth)
                              << " calls of functions of dynamic shape, " << depth << " within each other; does @"
                              << callee.getSymName() << " call itself?";
    replaced.insert(callee);
    Operation *next = call->getNextNode();
    depths.erase(call);
    SmallVector<Operation *> copies = ttcore::inlineCall(call, callee);
    for (Operation *copy : copies)
      copy->walk([&](func::CallOp inner) { depths[inner] = depth + 1; });
    return copies.empty() ? next : copies.front();
  }

  /// Whether the function, or one that it calls, has values of dynamic shape.
  bool reachesDynamic(func::FuncOp function) {
    auto [known, isNew] = reaches.try_emplace(function, false);
    if (!isNew)
      return known->second;
    bool result = mentionsDynamic(function);
    function.walk([&](func::CallOp call) {
      if (auto callee = symbols->lookup<func::FuncOp>(call.getCallee()); callee && !result)
        result = reachesDynamic(callee);
    });
    return reaches[function] = result;
  }

  static constexpr size_t maxInlined = 1 << 16;
  SymbolTable *symbols = nullptr;
  DenseSet<Operation *> active, replaced;
  size_t inlined = 0;
  DenseMap<Operation *, unsigned> depths; // of calls that were inlined: the number of calls around them
  DenseMap<Operation *, bool> reaches;
};
} // namespace
