//===- RegisterDevice.cpp - system descriptor and default device of a module -===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/SystemFile.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::tt::ttcore {
#define GEN_PASS_DEF_TTCOREREGISTERDEVICEPASS
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttcore

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttcore;

SmallVector<int64_t> ttcore::rowsAndColumns(ArrayRef<int64_t> meshShape) {
  SmallVector<int64_t> shape(meshShape);
  if (shape.size() < 2)
    shape.insert(shape.begin(), 2 - shape.size(), 1);
  return shape;
}

static std::string spell(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  return text;
}

namespace {
struct RegisterDevice : ttcore::impl::TTCoreRegisterDevicePassBase<RegisterDevice> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<SmallVector<int64_t>> mesh = findMesh(module);
    if (failed(mesh))
      return signalPassFailure();
    auto device = module.lookupSymbol<DeviceOp>(defaultDeviceName);
    if (device && !meshShape.empty() && *mesh != rowsAndColumns(device.getDeviceAttr().getMeshShape())) {
      module.emitError() << "mesh-shape is " << spell(*mesh) << " but the module has a device @" << defaultDeviceName
                         << " of " << spell(device.getDeviceAttr().getMeshShape());
      return signalPassFailure();
    }
    FailureOr<SystemDescAttr> system = findSystem(module, *mesh);
    if (failed(system))
      return signalPassFailure();
    module->setAttr(systemDescName, *system);
    FailureOr<SmallVector<Topology>> topology = findTopology(module);
    if (failed(topology))
      return signalPassFailure();
    if (device) {
      ArrayRef<Topology> present = device.getDeviceAttr().getMeshTopology();
      if (topology->empty() || present == ArrayRef<Topology>(*topology))
        return;
      auto spelled = [](ArrayRef<Topology> links) {
        return llvm::join(llvm::map_range(links, [](Topology each) { return stringifyTopology(each); }), ",");
      };
      module.emitError() << "mesh-topology is " << spelled(*topology) << " but the module has a device @"
                         << defaultDeviceName << " of " << (present.empty() ? "none" : spelled(present));
      return signalPassFailure();
    }

    if (!meshTopology.empty() && meshTopology.size() != mesh->size()) {
      module.emitError() << "mesh-topology names " << meshTopology.size() << " axes but the mesh " << spell(*mesh)
                         << " has " << mesh->size();
      return signalPassFailure();
    }
    size_t chips = system->getChipDescIndices().size(), requested = ShapedType::getNumElements(*mesh);
    if (requested > chips) {
      module.emitError() << "mesh " << spell(*mesh) << " needs " << requested << " chips but the system has " << chips;
      return signalPassFailure();
    }
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    DeviceOp::create(builder, module.getLoc(), builder.getStringAttr(defaultDeviceName),
                     DeviceAttr::get(*system, *mesh, *topology));
  }

  FailureOr<SmallVector<Topology>> findTopology(ModuleOp module) {
    SmallVector<Topology> topology;
    for (const std::string &name : meshTopology) {
      std::optional<Topology> links = symbolizeTopology(name);
      if (!links)
        return module.emitError() << "mesh-topology names '" << name << "'; expected ring, linear or disabled";
      topology.push_back(*links);
    }
    return topology;
  }

  /// Rows and columns; an error if no mesh can have them.
  FailureOr<SmallVector<int64_t>> findMesh(ModuleOp module) {
    const SmallVector<int64_t> own = rowsAndColumns(lookupMeshShape(module).value_or(SmallVector<int64_t>()));
    const SmallVector<int64_t> given = rowsAndColumns(SmallVector<int64_t>(meshShape.begin(), meshShape.end()));
    const bool isGiven = !meshShape.empty();
    SmallVector<int64_t> mesh = isGiven ? meshOfStage(given, own) : own;
    if (mesh.size() != 2)
      return module.emitError() << "mesh " << spell(mesh) << " has " << mesh.size()
                                << " dimensions; expected rows and columns";
    for (int64_t size : mesh)
      if (size <= 0 || size > maxMeshSize ||
          (mesh[0] <= maxMeshSize && mesh[1] <= maxMeshSize && mesh[0] * mesh[1] > maxMeshSize))
        return module.emitError() << "mesh " << spell(mesh) << " is not one of 1 to " << maxMeshSize << " chips";
    // Collectives run along the axes of the mesh for which the program was split.
    if (isGiven && own != mesh && ShapedType::getNumElements(own) > 1 && ShapedType::getNumElements(mesh) > 1 &&
        !module.lookupSymbol<DeviceOp>(defaultDeviceName)) {
      InFlightDiagnostic error = module.emitError() << "the module is for a mesh of " << spell(own) << ", but ";
      if (pipelineStages > 1)
        return error << "a stage of " << pipelineStages.getValue() << " has " << spell(mesh) << " of the mesh-shape "
                     << spell(given);
      return error << "mesh-shape is " << spell(mesh);
    }
    return mesh;
  }

  /// The part of a mesh for each stage: that of the program, or as many columns, or rows, as are available for it; all
  /// of it if it does not divide, which ttnn-pipeline-stages reports.
  SmallVector<int64_t> meshOfStage(SmallVector<int64_t> whole, ArrayRef<int64_t> own) const {
    if (pipelineStages <= 1)
      return whole;
    SmallVector<SmallVector<int64_t>> parts;
    for (size_t axis = whole.size(); axis-- > 0;)
      if (whole[axis] % pipelineStages == 0) {
        parts.push_back(whole);
        parts.back()[axis] /= pipelineStages;
      }
    auto *found = llvm::find_if(parts, [&](ArrayRef<int64_t> part) { return part == own; });
    return found != parts.end() ? *found : parts.empty() ? whole : parts.front();
  }

  FailureOr<SystemDescAttr> findSystem(ModuleOp module, ArrayRef<int64_t> mesh) {
    auto existing = module->getAttrOfType<SystemDescAttr>(systemDescName);
    if (existing && systemDescPath.empty()) {
      // The default is no wish.
      Arch arch =
          existing.getChipDescs().empty() ? mockSystemDescArch : existing.getChipDescs().front().getArch().getValue();
      if (mockSystemDescArch != Arch::WormholeB0 && mockSystemDescArch != arch)
        return module.emitError() << "mock-system-desc-arch is " << stringifyArch(mockSystemDescArch)
                                  << " but the module has a system of " << stringifyArch(arch) << " chips";
      return existing;
    }
    if (existing) {
      FailureOr<SystemDescAttr> given =
          readSystemFile(systemDescPath, module.getContext(), [&] { return module.emitError(); });
      if (succeeded(given) && *given != existing)
        return module.emitError() << "system-desc-path is '" << systemDescPath
                                  << "' but the module has another system in '" << systemDescName << "'";
      return given;
    }
    if (!systemDescPath.empty())
      return readSystemFile(systemDescPath, module.getContext(), [&] { return module.emitError(); });
    if (SystemDescAttr system = SystemDescAttr::getDefault(module.getContext(), mockSystemDescArch, mesh))
      return system;
    return module.emitError() << "there is no default system of " << stringifyArch(mockSystemDescArch)
                              << " chips; give one by system-desc-path";
  }
};
} // namespace
