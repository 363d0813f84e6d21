//===- ControlFlow.cpp - regions of StableHLO to functions ----------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A program on the device has no regions: the body of a loop or a branch becomes a function, and the op becomes one of
// ttcore that names it. Values that a region captures become operands; small constants are cloned inside, where folders
// and fusions see them.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::tt {
#define GEN_PASS_DEF_OUTLINESTABLEHLOCONTROLFLOW
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

/// Constants of up to this many elements, or of one value, are cloned in each function that uses them.
static constexpr int64_t maxRepeated = 1024;

/// A loop or a branch.
static bool isControlFlow(Operation *op) {
  return isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()) && runsRegions(op);
}

namespace {
struct OutlineControlFlow : tt::impl::OutlineStableHLOControlFlowBase<OutlineControlFlow> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable table(module);
    symbols = &table;
    bool changed = false;
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      // Nested regions first, whose ops then have no regions.
      SmallVector<Operation *> found;
      function.walk([&](Operation *op) {
        if (isControlFlow(op))
          found.push_back(op);
      });
      for (Operation *op : found) {
        // The regions of reductions and sorts do not run as programs; their lowerings say which ones they accept.
        Operation *parent = op->getParentOp();
        while (!isa<func::FuncOp>(parent) && !isControlFlow(parent))
          parent = parent->getParentOp();
        if (parent != op->getParentOp())
          continue;
        changed = true;
        place = function;
        if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
          outline(loop);
        else
          outlineBranches(op);
      }
    }
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  //===- Loops ------------------------------------------------------------===//

  void outline(stablehlo::WhileOp loop) {
    loop = withoutInvariants(loop);
    SetVector<Value> captures = capturesOf({&loop.getCond(), &loop.getBody()});
    SmallVector<Value> inputs(loop.getOperands());
    llvm::append_range(inputs, captures);
    func::FuncOp cond = makeFunction(loop.getCond(), "while_cond", captures.getArrayRef());
    func::FuncOp body = makeFunction(loop.getBody(), "while_body", captures.getArrayRef());
    OpBuilder builder(loop);
    auto created = ttcore::WhileOp::create(builder, loop.getLoc(), loop.getResultTypes(), cond.getSymName(),
                                           body.getSymName(), inputs);
    created->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    loop->replaceAllUsesWith(created);
    loop->erase();
  }

  /// Turns values that a loop carries unchanged into captures, and drops unused values.
  static stablehlo::WhileOp withoutInvariants(stablehlo::WhileOp loop) {
    Block &cond = loop.getCond().front(), &body = loop.getBody().front();
    Operation *terminator = body.getTerminator();
    llvm::BitVector gone(loop.getNumOperands());
    for (unsigned i = 0; i < loop.getNumOperands(); ++i) {
      BlockArgument inside = body.getArgument(i);
      const bool same = terminator->getOperand(i) == inside;
      const bool unseen = loop.getResult(i).use_empty() && cond.getArgument(i).use_empty() && inside.use_empty();
      if (!same && !unseen)
        continue;
      Value start = loop->getOperand(i);
      loop.getResult(i).replaceAllUsesWith(start);
      cond.getArgument(i).replaceAllUsesWith(start);
      inside.replaceAllUsesWith(start);
      gone.set(i);
    }
    if (gone.none())
      return loop;
    terminator->eraseOperands(gone);
    cond.eraseArguments(gone);
    body.eraseArguments(gone);
    SmallVector<Value> operands, results;
    for (unsigned i = 0; i < loop.getNumOperands(); ++i)
      if (!gone[i]) {
        operands.push_back(loop->getOperand(i));
        results.push_back(loop.getResult(i));
      }
    OpBuilder builder(loop);
    auto smaller = stablehlo::WhileOp::create(builder, loop.getLoc(), TypeRange(ValueRange(operands)), operands);
    smaller->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    smaller.getCond().takeBody(loop.getCond());
    smaller.getBody().takeBody(loop.getBody());
    for (auto [before, after] : llvm::zip_equal(results, smaller.getResults()))
      before.replaceAllUsesWith(after);
    loop.erase();
    return smaller;
  }

  //===- Branches ---------------------------------------------------------===//

  void outlineBranches(Operation *op) {
    SmallVector<Region *> regions;
    for (Region &region : op->getRegions())
      regions.push_back(&region);
    // The first branch of a case runs for 0, that of an if for true.
    if (isa<stablehlo::IfOp>(op))
      std::reverse(regions.begin(), regions.end());
    SetVector<Value> captures = capturesOf(regions);
    SmallVector<Attribute> names;
    for (Region *region : regions)
      names.push_back(FlatSymbolRefAttr::get(makeFunction(*region, "branch", captures.getArrayRef())));
    OpBuilder builder(op);
    auto created = ttcore::CaseOp::create(builder, op->getLoc(), op->getResultTypes(), builder.getArrayAttr(names),
                                          op->getOperand(0), captures.getArrayRef());
    created->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->replaceAllUsesWith(created);
    op->erase();
  }

  //===- Regions ----------------------------------------------------------===//

  static bool isRepeated(Value value) {
    DenseElementsAttr elements;
    return matchPattern(value, m_Constant(&elements)) &&
           (elements.isSplat() || elements.getNumElements() <= maxRepeated);
  }

  /// Outside values that the regions use.
  static SetVector<Value> capturesOf(ArrayRef<Region *> regions) {
    SetVector<Value> captures;
    for (Region *region : regions) {
      SetVector<Value> used;
      getUsedValuesDefinedAbove(*region, used);
      OpBuilder builder = OpBuilder::atBlockBegin(&region->front());
      for (Value value : used) {
        if (!isRepeated(value)) {
          captures.insert(value);
          continue;
        }
        Value inside = builder.clone(*value.getDefiningOp())->getResult(0);
        replaceAllUsesInRegionWith(value, inside, *region);
      }
    }
    return captures;
  }

  /// A function of the region's arguments and the captures.
  func::FuncOp makeFunction(Region &region, StringRef what, ArrayRef<Value> captures) {
    Block &block = region.front();
    for (Value capture : captures)
      replaceAllUsesInRegionWith(capture, block.addArgument(capture.getType(), capture.getLoc()), region);
    Operation *terminator = block.getTerminator();
    OpBuilder builder(terminator);
    func::ReturnOp::create(builder, terminator->getLoc(), terminator->getOperands());
    auto type = builder.getFunctionType(block.getArgumentTypes(), terminator->getOperandTypes());
    terminator->erase();
    builder.clearInsertionPoint();
    auto function =
        func::FuncOp::create(builder, region.getParentOp()->getLoc(), (place.getSymName() + "_" + what).str(), type);
    function.setPrivate();
    function.getBody().takeBody(region);
    symbols->insert(function, getOperation().getBody()->end());
    return function;
  }

  SymbolTable *symbols = nullptr;
  func::FuncOp place;
};
} // namespace
