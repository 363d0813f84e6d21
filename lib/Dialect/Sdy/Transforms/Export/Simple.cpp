//===- Simple.cpp - passes that change each sharding by itself ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Common/DataFlow.h"
#include "../Propagation/Graph.h"

namespace mlir::sdy {
#define GEN_PASS_DEF_SDYCLOSESHARDINGS
#define GEN_PASS_DEF_SDYSHARDINGCONSTRAINTTORESHARD
#define GEN_PASS_DEF_SDYDROPSHARDINGRULES
#define GEN_PASS_DEF_SDYREMOVESHARDINGGROUPS
#define GEN_PASS_DEF_SDYDROPSHARDINGANDMESH
#define GEN_PASS_DEF_SDYINLINEMESHES
#define GEN_PASS_DEF_SDYREMOVESUBAXESININPUTOUTPUTSHARDINGS
#define GEN_PASS_DEF_SDYUPDATENONDIVISIBLEINPUTOUTPUTSHARDINGS
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"
} // namespace mlir::sdy

#include <numeric>

using namespace mlir;
using namespace mlir::sdy;

namespace {
struct CloseShardings : sdy::impl::SdyCloseShardingsBase<CloseShardings> {
  using Base::Base;
  void runOnOperation() override {
    replaceShardings(getOperation(), [](TensorShardingAttr sharding) {
      MLIRContext *context = sharding.getContext();
      auto dims = llvm::map_to_vector(sharding.getDimShardings(), [&](DimensionShardingAttr dim) {
        return DimensionShardingAttr::get(context, dim.getAxes(), /*is_closed=*/true, std::nullopt);
      });
      return TensorShardingAttr::get(context, sharding.getMeshOrRef(), dims, {}, sharding.getUnreducedAxes(),
                                     sharding.getReductionOp());
    });
  }
};

struct ShardingConstraintToReshard : sdy::impl::SdyShardingConstraintToReshardBase<ShardingConstraintToReshard> {
  using Base::Base;
  void runOnOperation() override {
    getOperation().walk([](ShardingConstraintOp op) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(ReshardOp::create(builder, op.getLoc(), op.getInput(), op.getSharding()).getResult());
      op.erase();
    });
  }
};

struct DropShardingRules : sdy::impl::SdyDropShardingRulesBase<DropShardingRules> {
  using Base::Base;
  void runOnOperation() override { dropShardingRules(getOperation()); }
};

struct RemoveShardingGroups : sdy::impl::SdyRemoveShardingGroupsBase<RemoveShardingGroups> {
  using Base::Base;
  void runOnOperation() override {
    getOperation().walk([](ShardingGroupOp op) { op.erase(); });
  }
};

struct DropShardingAndMesh : sdy::impl::SdyDropShardingAndMeshBase<DropShardingAndMesh> {
  using Base::Base;
  void runOnOperation() override {
    auto name = StringAttr::get(&getContext(), kShardingAttr);
    getOperation().walk([&](Operation *op) {
      op->removeAttr(name);
      auto function = dyn_cast<FunctionOpInterface>(op);
      for (unsigned index = 0; function && index < function.getNumArguments(); ++index)
        function.removeArgAttr(index, name);
      for (unsigned index = 0; function && index < function.getNumResults(); ++index)
        function.removeResultAttr(index, name);
    });
    // Collectives and computations still name theirs.
    for (MeshOp op : llvm::make_early_inc_range(getOperation().getOps<MeshOp>()))
      if (SymbolTable::symbolKnownUseEmpty(op, getOperation()))
        op.erase();
  }
};

struct InlineMeshes : sdy::impl::SdyInlineMeshesBase<InlineMeshes> {
  using Base::Base;
  void runOnOperation() override {
    Meshes meshes(getOperation());
    replaceShardings(getOperation(), [&](TensorShardingAttr sharding) {
      MeshAttr mesh = meshes.find(sharding.getMeshOrRef());
      return TensorShardingAttr::get(sharding.getContext(), mesh ? Attribute(mesh) : sharding.getMeshOrRef(),
                                     sharding.getDimShardings(), sharding.getReplicatedAxes(),
                                     sharding.getUnreducedAxes(), sharding.getReductionOp());
    });
    for (MeshOp op : llvm::make_early_inc_range(getOperation().getOps<MeshOp>()))
      op.erase();
  }
};

/// Changes the shardings of arguments and results.
void changeBoundaries(FunctionOpInterface function, function_ref<TensorShardingAttr(TensorShardingAttr, Type)> change) {
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (auto sharding = function.getArgAttrOfType<TensorShardingAttr>(index, kShardingAttr))
      function.setArgAttr(index, kShardingAttr, change(sharding, function.getArgumentTypes()[index]));
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (auto sharding = getResultShardingAttr(function, index))
      setResultShardingAttr(function, index, change(sharding, function.getResultTypes()[index]));
}

struct RemoveSubAxes : sdy::impl::SdyRemoveSubAxesInInputOutputShardingsBase<RemoveSubAxes> {
  using Base::Base;
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    changeBoundaries(main, [](TensorShardingAttr sharding, Type) {
      MLIRContext *context = sharding.getContext();
      auto dims = llvm::map_to_vector(sharding.getDimShardings(), [&](DimensionShardingAttr dim) {
        ArrayRef<AxisRefAttr> axes = dim.getAxes();
        const auto *part = llvm::find_if(axes, [](AxisRefAttr axis) { return axis.getSubAxisInfo() != nullptr; });
        return dim.getIsClosed() ? dim
                                 : DimensionShardingAttr::get(context, axes.take_front(part - axes.begin()),
                                                              dim.getIsClosed(), dim.getPriority());
      });
      return TensorShardingAttr::get(context, sharding.getMeshOrRef(), dims, sharding.getReplicatedAxes(),
                                     sharding.getUnreducedAxes(), sharding.getReductionOp());
    });
  }
};

struct UpdateNonDivisible : sdy::impl::SdyUpdateNonDivisibleInputOutputShardingsBase<UpdateNonDivisible> {
  using Base::Base;

  void runOnOperation() override {
    Meshes meshes(getOperation());
    auto change = [&](TensorShardingAttr sharding, Type type) {
      RankedTensorType tensor = getStaticTensor(type);
      return tensor ? makeDivisible(sharding, tensor.getShape(), meshes) : sharding;
    };
    getOperation().walk([&](Operation *op) {
      if (auto function = dyn_cast<FunctionOpInterface>(op))
        changeBoundaries(function, change);
      auto changeAll = [&](StringRef name, TypeRange types) {
        auto list = op->getAttrOfType<TensorShardingPerValueAttr>(name);
        if (!list || list.getShardings().size() != types.size())
          return;
        SmallVector<TensorShardingAttr> changed;
        for (auto [sharding, type] : llvm::zip(list.getShardings(), types))
          changed.push_back(change(sharding, type));
        op->setAttr(name, TensorShardingPerValueAttr::get(op->getContext(), changed));
      };
      if (isa<func::CallOp>(op))
        changeAll(kShardingAttr, op->getResultTypes());
      if (isa<ManualComputationOp>(op)) {
        changeAll("in_shardings", op->getOperandTypes());
        changeAll("out_shardings", op->getResultTypes());
      }
    });
  }

  /// Keeps the axes, or the front of the last one, that divide each dimension.
  static TensorShardingAttr makeDivisible(TensorShardingAttr attribute, ArrayRef<int64_t> shape, const Meshes &meshes) {
    Sharding sharding = resolve(attribute, meshes);
    bool isChanged = false;
    for (auto [dim, size] : llvm::zip(sharding.dims, shape)) {
      int64_t rest = size;
      Axes kept;
      for (Axis axis : dim.axes) {
        int64_t shared = std::gcd(rest, axis.size);
        if (axis.size != 1 && shared == 1)
          break;
        kept.push_back({axis.index, axis.pre, shared});
        rest /= shared;
        if (shared != axis.size)
          break;
      }
      isChanged |= kept != dim.axes;
      dim.axes = kept;
    }
    return isChanged ? toAttribute(sharding) : attribute;
  }
};
} // namespace
