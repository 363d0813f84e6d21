//===- Xla.cpp - shardings that XLA writes as strings ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Xla.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_CONVERTXLASDYTOSDY
#define GEN_PASS_DEF_PARTIALLYCONVERTSDYTOSTABLEHLO
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

Attribute shlo::parseText(Operation *op, StringRef what, StringRef text) {
  std::string reason;
  Attribute result;
  {
    // Positions in the string are not useful.
    ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
      reason = diagnostic.str();
      return success();
    });
    result = parseAttribute(text, op->getContext());
  }
  if (!result)
    op->emitOpError() << what << " \"" << text << "\" is not an attribute: " << reason;
  return result;
}

FailureOr<sdy::TensorShardingAttr> shlo::parseSharding(Operation *op, StringRef text, sdy::MeshOp mesh) {
  std::string written = text.str();
  for (auto [index, axis] : llvm::enumerate(mesh.getMesh().getAxes())) {
    const std::string placeholder = "mesh_idx_" + std::to_string(index);
    for (size_t at; (at = written.find(placeholder)) != std::string::npos;)
      written.replace(at, placeholder.size(), axis.getName().str());
  }
  Attribute attr = parseText(op, xlaShardingName, written);
  if (!attr)
    return failure();
  auto sharding = dyn_cast<sdy::TensorShardingAttr>(attr);
  if (!sharding)
    return op->emitOpError() << xlaShardingName << " is " << attr << "; expected #sdy.sharding";
  return sdy::TensorShardingAttr::get(op->getContext(), FlatSymbolRefAttr::get(mesh.getSymNameAttr()),
                                      sharding.getDimShardings(), sharding.getReplicatedAxes(),
                                      sharding.getUnreducedAxes(), sharding.getReductionOp());
}

namespace {
struct ConvertXlaSdyToSdy : shlo::impl::ConvertXlaSdyToSdyBase<ConvertXlaSdyToSdy> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool any = false;
    for (auto function : module.getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        any |= !!shardingText(function, i);
    if (!any)
      return markAllAnalysesPreserved();
    FailureOr<sdy::MeshOp> mesh = takeMesh(module);
    if (failed(mesh))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i) {
        StringAttr text = shardingText(function, i);
        function.removeArgAttr(i, gspmdName);
        if (!text)
          continue;
        FailureOr<sdy::TensorShardingAttr> sharding = parseSharding(function, text.getValue(), *mesh);
        if (failed(sharding))
          return signalPassFailure();
        function.removeArgAttr(i, frontendName);
        function.setArgAttr(i, shardingName, *sharding);
      }
    module->removeAttr(frontendName);
  }

private:
  static StringAttr shardingText(func::FuncOp function, unsigned index) {
    auto frontend = function.getArgAttrOfType<DictionaryAttr>(index, frontendName);
    return frontend ? frontend.getAs<StringAttr>(xlaShardingName) : StringAttr();
  }

  /// The mesh of the module's attribute, as an op.
  static FailureOr<sdy::MeshOp> takeMesh(ModuleOp module) {
    FailureOr<sdy::MeshOp> present = shlo::findMesh(module);
    if (failed(present) || *present)
      return present;
    auto frontend = module->getAttrOfType<DictionaryAttr>(frontendName);
    auto text = frontend ? frontend.getAs<StringAttr>(xlaMeshesName) : StringAttr();
    if (!text)
      return module.emitOpError() << "has arguments with " << xlaShardingName << " but no " << xlaMeshesName << " in "
                                  << frontendName;
    Attribute attr = parseText(module, xlaMeshesName, text.getValue());
    if (!attr)
      return failure();
    auto meshes = dyn_cast<DictionaryAttr>(attr);
    SmallVector<sdy::MeshAttr> found;
    if (meshes)
      for (NamedAttribute entry : meshes)
        if (auto mesh = dyn_cast<sdy::MeshAttr>(entry.getValue()); mesh && !mesh.getAxes().empty())
          found.push_back(mesh);
    if (found.size() != 1)
      return module.emitOpError() << xlaMeshesName << " is " << attr << "; expected a dictionary of one mesh";
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    return sdy::MeshOp::create(builder, module.getLoc(), "mesh", found.front());
  }
};

struct PartiallyConvertSdyToStableHLO : shlo::impl::PartiallyConvertSdyToStableHLOBase<PartiallyConvertSdyToStableHLO> {
  void runOnOperation() override {
    getOperation()->walk([](sdy::ConstantOp op) {
      OpBuilder builder(op);
      auto constant = stablehlo::ConstantOp::create(builder, op.getLoc(), op->getResult(0).getType(), op.getValue());
      constant->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      op->getResult(0).replaceAllUsesWith(constant);
      op.erase();
    });
  }
};
} // namespace
