//===- AnalyzeMesh.cpp - the mesh of a module -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Gspmd.h"
#include "Xla.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_ANALYZEMESH
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

using Axes = SmallVector<std::pair<std::string, int64_t>>;

static sdy::MeshAttr meshAttr(MLIRContext *context, const Axes &axes) {
  SmallVector<sdy::MeshAxisAttr> attrs;
  for (const auto &[name, size] : axes)
    attrs.push_back(sdy::MeshAxisAttr::get(context, name, size));
  return sdy::MeshAttr::get(context, attrs, ArrayRef<int64_t>());
}

static sdy::MeshOp addMesh(ModuleOp module, const Axes &axes) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  return sdy::MeshOp::create(builder, module.getLoc(), "mesh", meshAttr(module.getContext(), axes));
}

/// A mesh of fewer than two axes gets another one in front.
static LogicalResult makeTwoAxes(sdy::MeshOp op) {
  sdy::MeshAttr mesh = op.getMesh();
  ArrayRef<sdy::MeshAxisAttr> axes = mesh.getAxes();
  if (axes.size() > 2)
    return op.emitOpError() << "has " << axes.size() << " axes; expected 2 or fewer";
  if (axes.size() == 2)
    return success();
  StringRef name = axes.empty() ? "default" : axes.front().getName();
  SmallVector<sdy::MeshAxisAttr> both = {
      sdy::MeshAxisAttr::get(op.getContext(), (name + "_aux").str(), 1),
      sdy::MeshAxisAttr::get(op.getContext(), name, axes.empty() ? 1 : axes.front().getSize())};
  op.setMeshAttr(sdy::MeshAttr::get(op.getContext(), both, mesh.getDeviceIds()));
  return success();
}

/// Moves references to a mesh without axes and devices, which is compatible with any mesh, to the mesh of the module.
static void replacePlaceholders(ModuleOp module, sdy::MeshOp mesh) {
  for (sdy::MeshOp other : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>())) {
    if (other == mesh || !other.getMesh().getAxes().empty() || !other.getMesh().getDeviceIds().empty())
      continue;
    auto old = FlatSymbolRefAttr::get(other.getSymNameAttr()), name = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](sdy::TensorShardingAttr sharding) {
      if (sharding.getMeshOrRef() != old)
        return sharding;
      return sdy::TensorShardingAttr::get(sharding.getContext(), name, sharding.getDimShardings(),
                                          sharding.getReplicatedAxes(), sharding.getUnreducedAxes(),
                                          sharding.getReductionOp());
    });
    replacer.recursivelyReplaceElementsIn(module);
    other.erase();
  }
}

/// Calls that request a sharding become `sdy.sharding_constraint`; those on results of functions become attributes
/// there.
static LogicalResult convertConstraints(ModuleOp module, sdy::MeshOp mesh) {
  SmallVector<stablehlo::CustomCallOp> calls;
  module.walk([&](stablehlo::CustomCallOp call) {
    if (llvm::is_contained({"Sharding", "tt.sharding_constraint", "xla.sdy.FuncResultSharding"},
                           call.getCallTargetName()))
      calls.push_back(call);
  });
  bool atResults = false;
  for (stablehlo::CustomCallOp call : calls) {
    auto frontend = call->getAttrOfType<DictionaryAttr>(frontendName);
    auto text = frontend ? frontend.getAs<StringAttr>(xlaShardingName) : StringAttr();
    if (!text)
      continue;
    if (call.getNumOperands() != 1 || call.getNumResults() != 1)
      return call.emitOpError() << "@" << call.getCallTargetName() << " has " << call.getNumOperands()
                                << " operands and " << call.getNumResults() << " results; expected 1 and 1";
    FailureOr<sdy::TensorShardingAttr> sharding = parseSharding(call, text.getValue(), mesh);
    if (failed(sharding))
      return failure();
    OpBuilder builder(call);
    Value value = call.getOperand(0);
    if (call.getCallTargetName() != "xla.sdy.FuncResultSharding") {
      value = sdy::ShardingConstraintOp::create(builder, call.getLoc(), value.getType(), value, *sharding);
    } else {
      atResults = true;
      for (OpOperand &use : call.getResult(0).getUses())
        if (auto function = dyn_cast<func::FuncOp>(use.getOwner()->getParentOp());
            function && isa<func::ReturnOp>(use.getOwner()))
          function.setResultAttr(use.getOperandNumber(), shardingName, *sharding);
    }
    call.getResult(0).replaceAllUsesWith(value);
    call.erase();
  }
  if (atResults)
    for (auto function : module.getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        function.removeResultAttr(i, StringAttr::get(module.getContext(), gspmdName));
  return success();
}

/// Splits the first dimension of inputs of the highest rank.
static LogicalResult splitBatches(ModuleOp module, sdy::MeshOp mesh) {
  MLIRContext *context = module.getContext();
  auto reference = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
  for (auto function : module.getOps<func::FuncOp>()) {
    bool typed = false;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      typed |= !!function.getArgAttr(i, ttcore::argumentTypeName);
    int64_t largest = typed ? 0 : 4;
    SmallVector<RankedTensorType> inputs(function.getNumArguments());
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto kind = function.getArgAttrOfType<ttcore::ArgumentTypeAttr>(i, ttcore::argumentTypeName);
      if (typed && !kind)
        return function.emitOpError() << "argument " << i << " has no " << ttcore::argumentTypeName
                                      << ", but others have; expected one on each";
      if (typed && kind.getValue() != ttcore::ArgumentType::Input)
        continue;
      inputs[i] = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
      if (inputs[i])
        largest = std::max(largest, inputs[i].getRank());
    }
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        continue;
      sdy::TensorShardingAttr sharding = replicated(reference, tensor.getRank(), /*closed=*/false);
      if (inputs[i] && tensor.getRank() == largest && largest > 0 && tensor.getDimSize(0) != 1) {
        SmallVector<sdy::DimensionShardingAttr> dims(sharding.getDimShardings());
        dims[0] = sdy::DimensionShardingAttr::get(context, sdy::AxisRefAttr::get(context, "batch", {}),
                                                  /*isClosed=*/false, std::nullopt);
        sharding = sdy::TensorShardingAttr::get(context, reference, dims, {}, {}, sdy::ReductionOp::SUM);
      }
      function.setArgAttr(i, shardingName, sharding);
    }
  }
  return success();
}

namespace {
struct AnalyzeMesh : shlo::impl::AnalyzeMeshBase<AnalyzeMesh> {
  using AnalyzeMeshBase::AnalyzeMeshBase;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module) {
    for (int64_t size : meshShape)
      if (size < 1)
        return emitError(module.getLoc()) << "analyze-mesh: mesh-shape has size " << size << "; expected 1 or more";
    if (!meshShape.empty() && meshShape.size() != 2)
      return emitError(module.getLoc()) << "analyze-mesh: mesh-shape has " << meshShape.size()
                                        << " sizes; expected rows and columns";
    if (meshShape.size() == 2 && (meshShape[0] > ttcore::maxMeshSize || meshShape[1] > ttcore::maxMeshSize ||
                                  meshShape[0] * meshShape[1] > ttcore::maxMeshSize))
      return emitError(module.getLoc()) << "analyze-mesh: mesh-shape " << meshShape[0] << "," << meshShape[1]
                                        << " is not that of 1 to " << ttcore::maxMeshSize << " chips";
    FailureOr<sdy::MeshOp> mesh = shlo::findMesh(module);
    if (failed(mesh))
      return failure();
    if (*mesh)
      replacePlaceholders(module, *mesh);
    if (*mesh && failed(makeTwoAxes(*mesh)))
      return failure();
    if (!*mesh) {
      FailureOr<sdy::MeshOp> created = meshOfGspmd(module);
      if (failed(created))
        return failure();
      mesh = created;
      if (!*mesh && !automaticArgAnalysis && !meshShape.empty())
        mesh = addMesh(module, {{"x", meshShape[0]}, {"y", meshShape[1]}});
    }
    if (*mesh && failed(convertConstraints(module, *mesh)))
      return failure();
    if (hasSdyAnnotations(module)) {
      if (isSolved(module))
        dropSolved(module);
      return success();
    }
    if (!automaticArgAnalysis) {
      addMesh(module, {{"x", 1}, {"y", 1}});
      return success();
    }
    if (meshShape.empty() || meshShape[0] != 1)
      return emitError(module.getLoc())
             << "analyze-mesh: automatic-arg-analysis needs a mesh-shape of one row, such as 1,8; found "
             << (meshShape.empty() ? "none" : std::to_string(meshShape[0]) + "," + std::to_string(meshShape[1]));
    return splitBatches(module, addMesh(module, {{"default", 1}, {"batch", meshShape[1]}}));
  }

  /// The mesh of annotations of GSPMD, if there are any.
  static FailureOr<sdy::MeshOp> meshOfGspmd(ModuleOp module) {
    if (!hasGspmdAnnotations(module))
      return sdy::MeshOp();
    FailureOr<SmallVector<int64_t>> shape = gspmdMesh(module);
    if (failed(shape))
      return failure();
    return addMesh(module, {{"x", (*shape)[0]}, {"y", (*shape)[1]}});
  }

  /// Outside of manual computations, these state what devices hold.
  static void dropSolved(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>()) {
      bool manual = function.walk([](sdy::ManualComputationOp) { return WalkResult::interrupt(); }).wasInterrupted();
      if (manual)
        removeShardings(function);
    }
  }
};
} // namespace
