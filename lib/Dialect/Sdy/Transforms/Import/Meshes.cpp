//===- Meshes.cpp - passes over meshes and their axes ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Common/DataFlow.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"

namespace mlir::sdy {
#define GEN_PASS_DEF_SDYLIFTINLINEDMESHES
#define GEN_PASS_DEF_SDYREMOVESIZEONEAXES
#define GEN_PASS_DEF_SDYMANUALAXESCLEANUP
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"
} // namespace mlir::sdy

using namespace mlir;
using namespace mlir::sdy;

namespace {
TensorShardingAttr withMesh(TensorShardingAttr sharding, Attribute meshOrRef) {
  return TensorShardingAttr::get(sharding.getContext(), meshOrRef, sharding.getDimShardings(),
                                 sharding.getReplicatedAxes(), sharding.getUnreducedAxes(), sharding.getReductionOp());
}

struct LiftInlinedMeshes : sdy::impl::SdyLiftInlinedMeshesBase<LiftInlinedMeshes> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    DenseMap<MeshAttr, FlatSymbolRefAttr> names;
    DenseMap<Attribute, FlatSymbolRefAttr> renamed;
    Operation *last = nullptr;
    for (MeshOp op : llvm::make_early_inc_range(module.getOps<MeshOp>())) {
      auto name = FlatSymbolRefAttr::get(op.getSymNameAttr());
      auto [first, isNew] = names.try_emplace(op.getMesh(), name);
      if (isNew) {
        last = op;
        continue;
      }
      renamed[name] = first->second;
      symbols.erase(op);
    }
    OpBuilder builder(module.getBodyRegion());
    if (last)
      builder.setInsertionPointAfter(last);
    replaceShardings(module, [&](TensorShardingAttr sharding) {
      auto mesh = dyn_cast<MeshAttr>(sharding.getMeshOrRef());
      if (!mesh) {
        FlatSymbolRefAttr other = renamed.lookup(sharding.getMeshOrRef());
        return other ? withMesh(sharding, other) : sharding;
      }
      FlatSymbolRefAttr &name = names[mesh];
      if (!name) {
        auto op = MeshOp::create(builder, module.getLoc(), findName(mesh, symbols), mesh);
        builder.setInsertionPointAfter(op);
        symbols.insert(op);
        name = FlatSymbolRefAttr::get(op.getSymNameAttr());
      }
      return withMesh(sharding, name);
    });
  }

  static std::string findName(MeshAttr mesh, const SymbolTable &symbols) {
    std::string base = "mesh";
    if (mesh.getAxes().empty())
      base = mesh.getDeviceIds().empty() ? "empty_mesh" : "maximal_mesh_" + std::to_string(mesh.getDeviceIds().front());
    std::string name = base;
    for (unsigned number = 0; symbols.lookup(name); ++number)
      name = base + "_" + std::to_string(number);
    return name;
  }
};

struct RemoveSizeOneAxes : sdy::impl::SdyRemoveSizeOneAxesBase<RemoveSizeOneAxes> {
  using Base::Base;

  void runOnOperation() override {
    Meshes meshes(getOperation());
    // A manual axis is named on the op, so it stays in the shardings of its computations.
    DenseSet<Attribute> kept;
    getOperation().walk([&](ManualComputationOp op) {
      for (TensorShardingPerValueAttr list : {op.getInShardings(), op.getOutShardings()})
        for (TensorShardingAttr sharding : list.getShardings())
          if (!op.getManualAxes().getValue().empty())
            kept.insert(sharding);
    });
    replaceShardings(getOperation(), [&](TensorShardingAttr attribute) {
      if (kept.contains(attribute))
        return attribute;
      Sharding sharding = resolve(attribute, meshes);
      if (!sharding.mesh)
        return attribute;
      auto remove = [](Axes &axes) { llvm::erase_if(axes, [](Axis axis) { return axis.size == 1; }); };
      for (DimSharding &dim : sharding.dims) {
        remove(dim.axes);
        if (dim.axes.empty() && dim.isClosed)
          dim.priority.reset();
      }
      remove(sharding.replicated);
      remove(sharding.unreduced);
      return toAttribute(sharding);
    });
  }
};

struct ManualAxesCleanup : sdy::impl::SdyManualAxesCleanupBase<ManualAxesCleanup> {
  using Base::Base;

  void runOnOperation() override {
    Meshes meshes(getOperation());
    getOperation().walk([&](ManualComputationOp op) {
      if (op.getManualAxes().getValue().empty())
        return;
      SmallVector<TensorShardingAttr> all(op.getInShardings().getShardings());
      llvm::append_range(all, op.getOutShardings().getShardings());
      if (all.empty()) {
        op.emitOpError() << "has manual_axes " << op.getManualAxes()
                         << ", but no operands or results, whose shardings would name their mesh";
        return signalPassFailure();
      }
      MeshAttr mesh = meshes.find(all.front().getMeshOrRef());
      Axes manual = getManualAxes(op, mesh);
      llvm::sort(manual);
      op.setManualAxesAttr(ManualAxesAttr::get(op.getContext(), llvm::map_to_vector(manual, [&](Axis axis) {
                                                 return StringAttr::get(op.getContext(),
                                                                        mesh.getAxes()[axis.index].getName());
                                               })));
      auto clean = [&](TensorShardingPerValueAttr list) {
        return TensorShardingPerValueAttr::get(
            op.getContext(), llvm::map_to_vector(list.getShardings(), [&](TensorShardingAttr attribute) {
              Sharding sharding = resolve(attribute, meshes);
              Axes used = sharding.allAxes();
              llvm::append_range(used, sharding.replicated);
              llvm::append_range(used, sharding.unreduced);
              llvm::append_range(sharding.replicated, difference(manual, used));
              sortAndMerge(sharding.replicated);
              return toAttribute(sharding);
            }));
      };
      op.setInShardingsAttr(clean(op.getInShardings()));
      op.setOutShardingsAttr(clean(op.getOutShardings()));
    });
  }
};
} // namespace
