//===- ConstEvalHoist.cpp - hoisting of constant subgraphs ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tt::ttcore {
#define GEN_PASS_DEF_CONSTEVALHOISTTRANSFORM
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttcore

using namespace mlir;
using namespace mlir::tt;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

namespace {
/// Ops that belong together, in program order, and their connections to the rest of their function.
struct Subgraph {
  SmallVector<Operation *> ops;
  SetVector<Value> inputs, outputs;
};

struct ConstEvalHoist : ttcore::impl::ConstEvalHoistTransformBase<ConstEvalHoist> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    ttcore::ObservedSources observed(getOperation());
    bool changed = false;
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      auto type = function->getAttrOfType<StringAttr>(ttcore::functionTypeName);
      if (function.isExternal() || !function.getBody().hasOneBlock() || (type && type == ttcore::constEvalType))
        continue;
      for (auto [index, subgraph] : llvm::enumerate(findSubgraphs(function, observed))) {
        changed = true;
        hoist(function, subgraph, index, symbols);
      }
    }
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  /// Needs no tensor that differs from run to run, and produces one.
  static bool isEvaluable(Operation *op, const DenseSet<Value> &constants, const ttcore::ObservedSources &observed) {
    // Calls of functions that were hoisted before stay, and so do observed values.
    if (op->getNumResults() == 0 || op->getNumRegions() != 0 || !isPure(op) || isa<SymbolUserOpInterface>(op) ||
        op->getName().getDialectNamespace() == "debug" || observed.contains(op))
      return false;
    auto isOnce = [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return constants.contains(operand) || (!isTensor(operand) && producer && producer->getNumOperands() == 0);
    };
    auto isKept = [](Value result) { return isTensor(result) && !ttcore::mayBeWritten(result); };
    return llvm::any_of(op->getOperands(), isTensor) && llvm::all_of(op->getOperands(), isOnce) &&
           llvm::all_of(op->getResults(), isKept);
  }

  static SmallVector<Subgraph> findSubgraphs(func::FuncOp function, const ttcore::ObservedSources &observed) {
    Block &body = function.getBody().front();
    DenseSet<Value> constants;
    for (BlockArgument argument : body.getArguments())
      if (ttcore::isConstantArgument(argument) && !ttcore::mayBeWritten(argument))
        constants.insert(argument);

    // Ops that use each other's results are evaluated together.
    llvm::EquivalenceClasses<Operation *> classes;
    SmallVector<Operation *> evaluable;
    for (Operation &op : body) {
      if (ttcore::isConstantCreation(&op) && !observed.contains(&op) && !ttcore::mayBeWritten(op.getResult(0))) {
        constants.insert(op.getResult(0));
        continue;
      }
      if (!isEvaluable(&op, constants, observed))
        continue;
      constants.insert_range(op.getResults());
      evaluable.push_back(&op);
      classes.insert(&op);
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp(); producer && classes.contains(producer))
          classes.unionSets(producer, &op);
    }

    llvm::MapVector<Operation *, Subgraph> subgraphs;
    for (Operation *op : evaluable) {
      Operation *leader = classes.getLeaderValue(op);
      Subgraph &subgraph = subgraphs[leader];
      subgraph.ops.push_back(op);
      for (Value operand : op->getOperands())
        if (isa<BlockArgument>(operand))
          subgraph.inputs.insert(operand);
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !classes.contains(user); }))
          subgraph.outputs.insert(result);
    }
    SmallVector<Subgraph> found;
    for (auto &[leader, subgraph] : subgraphs)
      if (!subgraph.outputs.empty())
        found.push_back(std::move(subgraph));
    return found;
  }

  void hoist(func::FuncOp function, Subgraph &subgraph, size_t index, SymbolTable &symbols) {
    auto typesOf = [](ArrayRef<Value> values) {
      return llvm::map_to_vector(values, [](Value v) { return v.getType(); });
    };
    ArrayRef<Value> inputs = subgraph.inputs.getArrayRef(), outputs = subgraph.outputs.getArrayRef();
    OpBuilder builder(&getContext());
    auto evaluation =
        func::FuncOp::create(builder, function.getLoc(), (function.getSymName() + "_const_eval_" + Twine(index)).str(),
                             builder.getFunctionType(typesOf(inputs), typesOf(outputs)));
    evaluation.setPrivate();
    evaluation->setAttr(ttcore::functionTypeName, builder.getStringAttr(ttcore::constEvalType));
    // After all others, whose places in the binary do not change. The symbol table finds another name if this one is
    // taken.
    symbols.insert(evaluation, getOperation().getBody()->end());

    Location where = ttcore::withoutSourceNumber(subgraph.ops.front()->getLoc());
    builder.setInsertionPoint(subgraph.ops.front());
    auto cached = ttcore::LoadCachedOp::create(builder, where, typesOf(outputs), evaluation.getSymName(), inputs);

    Block *body = builder.createBlock(&evaluation.getBody());
    IRMapping inside;
    for (Value input : inputs)
      inside.map(input, body->addArgument(input.getType(), input.getLoc()));
    SetVector<Operation *> copied;
    for (Operation *op : subgraph.ops) {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(bringIn(operand.get(), inside, builder, copied));
      op->moveBefore(body, body->end());
      for (Value result : op->getResults())
        inside.map(result, result);
    }
    builder.setInsertionPointToEnd(body);
    func::ReturnOp::create(builder, function.getLoc(), outputs);
    for (auto [value, result] : llvm::zip_equal(outputs, cached.getResults())) {
      Value output = value;
      output.replaceUsesWithIf(result, [&](OpOperand &use) { return use.getOwner()->getBlock() != body; });
    }
    for (Operation *producer : llvm::reverse(copied))
      if (isTensor(producer->getResult(0)) && producer->use_empty())
        producer->erase();
  }

  /// `value` inside the new function: constants and devices are cloned there.
  static Value bringIn(Value value, IRMapping &inside, OpBuilder &builder, SetVector<Operation *> &copied) {
    if (Value known = inside.lookupOrNull(value))
      return known;
    Operation *producer = value.getDefiningOp();
    for (Value operand : producer->getOperands())
      bringIn(operand, inside, builder, copied);
    builder.setInsertionPointToEnd(builder.getBlock());
    builder.clone(*producer, inside);
    copied.insert(producer);
    return inside.lookup(value);
  }
};
} // namespace
