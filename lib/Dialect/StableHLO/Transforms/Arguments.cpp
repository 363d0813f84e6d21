//===- Arguments.cpp - arguments and results of programs on meshes --------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_APPLYARGUMENTSHARDSTATUS
#define GEN_PASS_DEF_ANNOTATELOCALSHAPES
#define GEN_PASS_DEF_WRAPUNDERMANUALCOMPUTATION
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

static ttcore::ShardStatusAttr status(MLIRContext *context, bool presharded) {
  return ttcore::ShardStatusAttr::get(context,
                                      presharded ? ttcore::ShardStatus::Presharded : ttcore::ShardStatus::Unsharded);
}

static bool isPresharded(Attribute attr) {
  auto status = dyn_cast_if_present<ttcore::ShardStatusAttr>(attr);
  return status && status.getValue() == ttcore::ShardStatus::Presharded;
}

namespace {
struct ApplyArgumentShardStatus : shlo::impl::ApplyArgumentShardStatusBase<ApplyArgumentShardStatus> {
  using ApplyArgumentShardStatusBase::ApplyArgumentShardStatusBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    const StringRef name = hasSdyAnnotations(getOperation()) ? shardingName : gspmdName;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i) {
        // An existing status states what the caller does.
        if (function.getArgAttr(i, ttcore::shardStatusName))
          continue;
        auto attr = status(context, !!function.getArgAttr(i, name));
        function.setArgAttr(i, ttcore::shardStatusName, attr);
        if (!function.isExternal())
          for (Operation *user : function.getArgument(i).getUsers())
            if (auto call = dyn_cast<stablehlo::CustomCallOp>(user); call && call.getCallTargetName() == "Sharding")
              call->setAttr(ttcore::shardStatusName, attr);
      }
      if (!function.isPublic())
        continue;
      if (!resultPresharded.empty() && resultPresharded.size() != function.getNumResults()) {
        function.emitOpError() << "has " << function.getNumResults() << " results but result-presharded has "
                               << resultPresharded.size() << " numbers; expected one for each";
        return signalPassFailure();
      }
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (!function.getResultAttr(i, ttcore::shardStatusName) || !resultPresharded.empty())
          function.setResultAttr(i, ttcore::shardStatusName,
                                 status(context, !resultPresharded.empty() && resultPresharded[i] != 0));
    }
  }
};

//===----------------------------------------------------------------------===//
// wrap-under-manual-computation
//===----------------------------------------------------------------------===//

struct WrapUnderManualComputation : shlo::impl::WrapUnderManualComputationBase<WrapUnderManualComputation> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (isSolved(module))
      return removeShardings(module);
    if (hasGspmdAnnotations(module)) {
      emitWarning(module.getLoc()) << "wrap-under-manual-computation: left as it is: it is annotated by " << gspmdName;
      return;
    }
    FailureOr<sdy::MeshOp> mesh = shlo::findMesh(module);
    if (failed(mesh))
      return signalPassFailure();
    if (!*mesh) {
      module.emitOpError() << "has no mesh; run analyze-mesh first";
      return signalPassFailure();
    }
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal() && failed(wrap(function, *mesh)))
        return signalPassFailure();
  }

private:
  static LogicalResult wrap(func::FuncOp function, sdy::MeshOp mesh) {
    if (!function.getBody().hasOneBlock())
      return function.emitOpError() << "has several blocks; expected one";
    MLIRContext *context = function.getContext();
    auto reference = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
    Block *body = &function.getBody().front();
    Operation *terminator = body->getTerminator();

    SmallVector<sdy::TensorShardingAttr> ins, outs;
    for (BlockArgument argument : body->getArguments()) {
      sdy::TensorShardingAttr sharding = shardingOf(argument);
      if (!sharding) {
        sharding = replicated(reference, argument);
        function.setArgAttr(argument.getArgNumber(), shardingName, sharding);
      }
      ins.push_back(sharding);
    }
    for (OpOperand &result : terminator->getOpOperands()) {
      auto sharding = function.getResultAttrOfType<sdy::TensorShardingAttr>(result.getOperandNumber(), shardingName);
      // Without one, the result has the status of its value.
      if (!sharding)
        sharding = shardingOf(result.get());
      outs.push_back(sharding ? sharding : replicated(reference, result.get()));
    }

    auto perValue = [&](ArrayRef<sdy::TensorShardingAttr> shardings) {
      return sdy::TensorShardingPerValueAttr::get(context, shardings);
    };
    OpBuilder builder(context);
    Block *outer = new Block;
    SmallVector<Location> locations = llvm::map_to_vector(body->getArguments(), [](Value v) { return v.getLoc(); });
    outer->addArguments(body->getArgumentTypes(), locations);
    builder.setInsertionPointToStart(outer);
    auto manual = sdy::ManualComputationOp::create(builder, function.getLoc(), terminator->getOperandTypes(),
                                                   outer->getArguments(), perValue(ins), perValue(outs),
                                                   sdy::ManualAxesAttr::get(context, ArrayRef<StringAttr>()));
    func::ReturnOp::create(builder, terminator->getLoc(), manual.getResults());
    while (!manual.getBody().empty())
      manual.getBody().front().erase();
    function.getBody().getBlocks().remove(body);
    manual.getBody().push_back(body);
    function.getBody().push_back(outer);
    builder.setInsertionPoint(terminator);
    sdy::ReturnOp::create(builder, terminator->getLoc(), terminator->getOperands());
    terminator->erase();
    return success();
  }
};

//===----------------------------------------------------------------------===//
// annotate-local-shapes
//===----------------------------------------------------------------------===//

struct AnnotateLocalShapes : shlo::impl::AnnotateLocalShapesBase<AnnotateLocalShapes> {
  void runOnOperation() override {
    FailureOr<sdy::MeshOp> mesh = shlo::findMesh(getOperation());
    if (failed(mesh))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.isPublic())
        continue;
      for (BlockArgument argument : function.getArguments()) {
        const unsigned i = argument.getArgNumber();
        if (!isPresharded(function.getArgAttr(i, ttcore::shardStatusName)))
          continue;
        if (function.getArgAttr(i, ttcore::localShapeName))
          return refuse(function, "argument", i);
        FailureOr<Attribute> local = localShape(argument.getType(), ofArgument(argument), *mesh, function);
        if (failed(local))
          return signalPassFailure();
        if (*local)
          function.setArgAttr(i, ttcore::localShapeName, *local);
      }
      for (OpOperand &result : function.getBody().front().getTerminator()->getOpOperands()) {
        const unsigned i = result.getOperandNumber();
        if (!isPresharded(function.getResultAttr(i, ttcore::shardStatusName)))
          continue;
        if (function.getResultAttr(i, ttcore::localShapeName))
          return refuse(function, "result", i);
        FailureOr<Attribute> local = localShape(result.get().getType(), shardingOf(result.get()), *mesh, function);
        if (failed(local))
          return signalPassFailure();
        if (*local)
          function.setResultAttr(i, ttcore::localShapeName, *local);
      }
    }
  }

private:
  void refuse(func::FuncOp function, StringRef what, unsigned index) {
    function.emitOpError() << what << ' ' << index << " already has " << ttcore::localShapeName;
    signalPassFailure();
  }

  /// Returns the sharding of an argument in the computation that uses it.
  static sdy::TensorShardingAttr ofArgument(BlockArgument argument) {
    for (OpOperand &use : argument.getUses())
      if (auto manual = dyn_cast<sdy::ManualComputationOp>(use.getOwner()))
        return manual.getInShardings().getShardings()[use.getOperandNumber()];
    return shardingOf(argument);
  }

  static FailureOr<Attribute> localShape(Type type, sdy::TensorShardingAttr sharding, sdy::MeshOp mesh, Operation *op) {
    FailureOr<Type> local = mesh ? localType(type, sharding, mesh.getMesh(), op) : FailureOr<Type>(type);
    if (failed(local))
      return failure();
    auto tensor = dyn_cast<RankedTensorType>(*local);
    return tensor ? Attribute(ttcore::LocalShapeAttr::get(op->getContext(), tensor)) : Attribute();
  }
};
} // namespace
