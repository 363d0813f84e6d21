//===- SdyToTTCore.cpp - meshes and trivial shardings ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ManualComputations.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTSDYTOTTCORE
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

static bool isSdy(StringRef name) { return name.starts_with("sdy."); }

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

/// The axes along which the tensors of `op` are the part of one device.
static SmallVector<StringAttr> manualAxes(Operation *op) {
  SmallVector<StringAttr> axes;
  for (; op; op = op->getParentOp())
    if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
      llvm::append_range(axes, manual.getManualAxes().getValue());
  return axes;
}

/// Along an axis that is not one of `manual`.
static bool splits(ArrayRef<sdy::AxisRefAttr> axes, sdy::MeshAttr mesh, ArrayRef<StringAttr> manual) {
  return llvm::any_of(axes, [&](sdy::AxisRefAttr axis) {
    return llvm::none_of(manual, [&](StringAttr name) { return name.getValue() == axis.getName(); }) &&
           (axis.getSubAxisInfo() || mesh.getAxisSize(axis.getName()).value_or(1) > 1);
  });
}

/// Reports every attribute of `op`, including those of function arguments, by which a device would hold less than a
/// whole tensor, or partial values, or would exchange them with others.
static LogicalResult checkNothingIsSplit(Operation *op) {
  LogicalResult result = success();
  sdy::MeshAttr mesh;
  SmallVector<sdy::AxisRefAttr> listed;
  // Inside of a manual computation, a sharding describes the other axes only.
  const SmallVector<StringAttr> manual = manualAxes(op);
  AttrTypeWalker walker;
  walker.addWalk([&](sdy::TensorShardingAttr sharding) {
    // A mesh that does not exist is an error of verification.
    mesh = sharding.getMesh(op);
    bool isSplit = mesh && (splits(sharding.getUnreducedAxes(), mesh, manual) ||
                            llvm::any_of(sharding.getDimShardings(), [&](sdy::DimensionShardingAttr dimension) {
                              return splits(dimension.getAxes(), mesh, manual);
                            }));
    if (isSplit && succeeded(result))
      result = emitError(op->getLoc()) << op->getName() << ": not converted to TTIR: " << sharding
                                       << " splits a tensor over several devices of mesh " << mesh
                                       << "; run stablehlo-pipeline first";
    return WalkResult::skip();
  });
  walker.addWalk([&](sdy::AxisRefAttr axis) { listed.push_back(axis); });
  walker.walk<WalkOrder::PreOrder>(op->getAttrDictionary());
  if (succeeded(result) && mesh && splits(listed, mesh, manual))
    return emitError(op->getLoc()) << op->getName()
                                   << ": not converted to TTIR: it exchanges values between several devices "
                                   << "of mesh " << mesh << "; run stablehlo-pipeline first";
  return result;
}

/// Removes the rest of the dialect from ops, arguments and results.
static void removeAttributes(Operation *op) {
  for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
    if (isSdy(attribute.getName()))
      op->removeDiscardableAttr(attribute.getName());
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    for (NamedAttribute attribute : llvm::to_vector(function.getArgAttrs(index)))
      if (isSdy(attribute.getName()))
        function.removeArgAttr(index, attribute.getName());
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    for (NamedAttribute attribute : llvm::to_vector(function.getResultAttrs(index)))
      if (isSdy(attribute.getName()))
        function.removeResultAttr(index, attribute.getName());
}

/// Replaces an op by its equivalent on one device: its operands, its constant, or the ops of its region.
static LogicalResult lower(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
    return hlo::lowerManualComputation(rewriter, manual);
  if (auto constant = dyn_cast<sdy::ConstantOp>(op)) {
    rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, op->getResult(0).getType(), constant.getValue());
  } else if (isa<sdy::NamedComputationOp>(op)) {
    Block *body = &op->getRegion(0).front();
    Operation *terminator = body->getTerminator();
    rewriter.inlineBlockBefore(body, op, op->getOperands());
    rewriter.replaceOp(op, terminator->getOperands());
    rewriter.eraseOp(terminator);
  } else {
    rewriter.replaceOp(op, op->getOperands().take_front(op->getNumResults()));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

/// Rows and columns of a mesh. If `inParts` states that only the caller splits tensors, devices in another order or
/// along more axes are one row, and their collectives name them.
static FailureOr<SmallVector<int64_t>> meshShape(sdy::MeshOp op, bool inParts) {
  sdy::MeshAttr mesh = op.getMesh();
  if (!hlo::isGrid(mesh) && (inParts || mesh.getTotalSize() == 1))
    return SmallVector<int64_t>{1, mesh.getTotalSize()};
  if (mesh.getAxes().size() > 2)
    return emitError(op.getLoc()) << op->getName() << ": not converted: a mesh of " << mesh.getAxes().size()
                                  << " axes; expected 2 or fewer";
  if (!hlo::isGrid(mesh))
    return emitError(op.getLoc()) << op->getName() << ": not converted: devices in an order of their own: " << mesh;
  SmallVector<int64_t> shape(2 - mesh.getAxes().size(), 1);
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    shape.push_back(axis.getSize());
  return shape;
}

/// Adds a mesh to those of its module.
static LogicalResult addMesh(sdy::MeshOp op, bool inParts) {
  FailureOr<SmallVector<int64_t>> shape = meshShape(op, inParts);
  if (failed(shape))
    return failure();
  MLIRContext *context = op.getContext();
  auto mesh =
      ttcore::MeshAttr::getChecked([&] { return emitError(op.getLoc()) << op->getName() << ": not converted: "; },
                                   context, op.getSymNameAttr(), ArrayRef<int64_t>(*shape));
  if (!mesh)
    return failure();
  SmallVector<ttcore::MeshAttr> meshes;
  if (auto present = op->getParentOp()->getAttrOfType<ttcore::MeshesAttr>(ttcore::meshesName)) {
    if (ttcore::MeshAttr other = present.getMesh(op.getSymName()))
      return other == mesh
                 ? success()
                 : emitError(op.getLoc()) << op->getName() << ": the module has mesh " << other << " of that name";
    llvm::append_range(meshes, present.getMeshes());
  }
  meshes.push_back(mesh);
  op->getParentOp()->setAttr(ttcore::meshesName, ttcore::MeshesAttr::get(context, meshes));
  return success();
}

namespace {
struct SdyToTTCore : tt::impl::ConvertSdyToTTCoreBase<SdyToTTCore> {
  void runOnOperation() override {
    SmallVector<sdy::MeshOp> meshes;
    SmallVector<Operation *> ops; // inner before outer
    SmallVector<stablehlo::CompositeOp> slices;
    bool failed = false;
    const bool inParts = hlo::comesInParts(getOperation());
    getOperation()->walk([&](Operation *op) {
      failed |= mlir::failed(hlo::numberReplicaGroups(op));
      // The decomposition has numbers at the end: "sdy.all_slice1".
      if (auto composite = dyn_cast<stablehlo::CompositeOp>(op);
          composite && composite.getName().starts_with("sdy.all_slice")) {
        slices.push_back(composite);
        return;
      }
      if (auto mesh = dyn_cast<sdy::MeshOp>(op)) {
        meshes.push_back(mesh);
        failed |= mlir::failed(addMesh(mesh, inParts));
        return;
      }
      failed |= mlir::failed(checkNothingIsSplit(op));
      if (isa_and_present<sdy::SdyDialect>(op->getDialect()) && !isa<sdy::ReturnOp>(op))
        ops.push_back(op);
    });
    if (failed)
      return signalPassFailure();

    IRRewriter rewriter(&getContext());
    llvm::SetVector<StringAttr> decompositions;
    for (stablehlo::CompositeOp slice : slices) {
      StringAttr name = slice.getDecompositionAttr().getAttr();
      if (mlir::failed(hlo::lowerAllSlice(rewriter, slice)))
        return signalPassFailure();
      decompositions.insert(name);
    }
    for (Operation *op : ops)
      if (mlir::failed(lower(rewriter, op)))
        return signalPassFailure();
    for (StringAttr name : decompositions)
      if (auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(getOperation(), name);
          function && function.isPrivate() && SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        function.erase();
    getOperation()->walk(removeAttributes);
    for (sdy::MeshOp mesh : meshes)
      mesh.erase();
  }
};
} // namespace
