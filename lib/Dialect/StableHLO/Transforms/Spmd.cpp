//===- Spmd.cpp - modules for many partitions, as JAX writes them ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/StringExtras.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_ANNOTATEXLASHARDINGS
#define GEN_PASS_DEF_PREPARESPMD
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

namespace {

//===----------------------------------------------------------------------===//
// prepare-spmd
//===----------------------------------------------------------------------===//

/// The axes of several meshes over the same devices, as axes of one mesh.
class OneMesh {
public:
  /// Errors are reported at the meshes.
  LogicalResult make(ModuleOp module, int64_t devices) {
    SmallVector<sdy::MeshOp> all, real;
    llvm::append_range(all, module.getOps<sdy::MeshOp>());
    llvm::copy_if(all, std::back_inserter(real), [](sdy::MeshOp op) { return !op.getMesh().getAxes().empty(); });
    for (sdy::MeshOp op : real)
      if (op.getMesh().getTotalSize() != devices)
        return op.emitOpError() << "has " << op.getMesh().getTotalSize() << " devices, and the program has " << devices
                                << " partitions; expected a mesh of all of them";
    SymbolTable symbols(module);
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    if (real.size() == 1) {
      name = FlatSymbolRefAttr::get(real.front().getSymNameAttr());
    } else {
      FailureOr<sdy::MeshAttr> mesh = common(real, devices, module.getContext());
      if (failed(mesh))
        return failure();
      auto op = sdy::MeshOp::create(builder, module.getLoc(), "devices", *mesh);
      symbols.insert(op);
      name = FlatSymbolRefAttr::get(op.getSymNameAttr());
      for (sdy::MeshOp old : real)
        splitAxes(old, *mesh);
    }
    replace(module);
    for (sdy::MeshOp op : all)
      if (op.getSymNameAttr() != name.getAttr())
        op.erase();
    return success();
  }

  FlatSymbolRefAttr name;

private:
  /// Sizes such that every axis of every mesh is a product of consecutive ones.
  static FailureOr<sdy::MeshAttr> common(ArrayRef<sdy::MeshOp> meshes, int64_t devices, MLIRContext *context) {
    SmallVector<int64_t> strides = {1, devices};
    sdy::MeshOp first = meshes.empty() ? sdy::MeshOp() : meshes.front();
    for (sdy::MeshOp op : meshes) {
      if (op.getMesh().getDeviceIds() != first.getMesh().getDeviceIds())
        return op.emitOpError() << "has the devices in another order than @" << first.getSymName()
                                << "; expected one order in a program";
      int64_t stride = devices;
      for (sdy::MeshAxisAttr axis : op.getMesh().getAxes())
        strides.push_back(stride /= axis.getSize());
    }
    llvm::sort(strides);
    strides.erase(llvm::unique(strides), strides.end());
    SmallVector<sdy::MeshAxisAttr> axes;
    for (size_t i = strides.size(); i-- > 1;) {
      if (strides[i] % strides[i - 1] != 0)
        return first.emitOpError() << "has axes that overlap with those of other meshes of the program in "
                                   << strides[i] << " and " << strides[i - 1]
                                   << " devices; expected sizes that divide each other";
      axes.push_back(
          sdy::MeshAxisAttr::get(context, "axis_" + std::to_string(axes.size()), strides[i] / strides[i - 1]));
    }
    return sdy::MeshAttr::get(context, axes, first ? first.getMesh().getDeviceIds() : ArrayRef<int64_t>());
  }

  void splitAxes(sdy::MeshOp old, sdy::MeshAttr mesh) {
    int64_t high = mesh.getTotalSize();
    for (sdy::MeshAxisAttr axis : old.getMesh().getAxes()) {
      const int64_t low = high / axis.getSize();
      int64_t stride = mesh.getTotalSize();
      SmallVector<StringAttr> &names = parts[{old.getSymNameAttr(), StringAttr::get(old.getContext(), axis.getName())}];
      for (sdy::MeshAxisAttr part : mesh.getAxes()) {
        stride /= part.getSize();
        if (stride >= low && stride < high)
          names.push_back(StringAttr::get(old.getContext(), part.getName()));
      }
      high = low;
    }
  }

  SmallVector<sdy::AxisRefAttr> split(StringAttr mesh, ArrayRef<sdy::AxisRefAttr> axes) const {
    SmallVector<sdy::AxisRefAttr> result;
    for (sdy::AxisRefAttr axis : axes)
      for (StringAttr part : parts.lookup({mesh, StringAttr::get(axis.getContext(), axis.getName())}))
        result.push_back(sdy::AxisRefAttr::get(axis.getContext(), part.getValue(), {}));
    return result;
  }

  sdy::TensorShardingAttr converted(sdy::TensorShardingAttr sharding) const {
    auto mesh = dyn_cast<FlatSymbolRefAttr>(sharding.getMeshOrRef());
    if (!mesh || mesh == name)
      return sharding;
    SmallVector<sdy::DimensionShardingAttr> dims;
    for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
      dims.push_back(sdy::DimensionShardingAttr::get(sharding.getContext(), split(mesh.getAttr(), dim.getAxes()),
                                                     dim.getIsClosed(), dim.getPriority()));
    return sdy::TensorShardingAttr::get(sharding.getContext(), name, dims,
                                        split(mesh.getAttr(), sharding.getReplicatedAxes()),
                                        split(mesh.getAttr(), sharding.getUnreducedAxes()), sharding.getReductionOp());
  }

  void replace(ModuleOp module) const {
    module.walk([&](sdy::ManualComputationOp op) {
      SmallVector<sdy::TensorShardingAttr> all(op.getInShardings().getShardings());
      llvm::append_range(all, op.getOutShardings().getShardings());
      SmallVector<StringAttr> axes;
      for (StringAttr axis : op.getManualAxes().getValue()) {
        // An axis belongs to the first mesh that has it.
        SmallVector<StringAttr> found = {axis};
        for (sdy::TensorShardingAttr sharding : all)
          if (auto mesh = dyn_cast<FlatSymbolRefAttr>(sharding.getMeshOrRef()))
            if (auto it = parts.find({mesh.getAttr(), axis}); it != parts.end()) {
              found = it->second;
              break;
            }
        llvm::append_range(axes, found);
      }
      op.setManualAxesAttr(sdy::ManualAxesAttr::get(op.getContext(), axes));
    });
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](sdy::TensorShardingAttr sharding) { return converted(sharding); });
    replacer.recursivelyReplaceElementsIn(module);
  }

  DenseMap<std::pair<StringAttr, StringAttr>, SmallVector<StringAttr>> parts; // of an axis of a mesh
};

struct PrepareSpmd : shlo::impl::PrepareSpmdBase<PrepareSpmd> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<int64_t> count = partitionsOf(module);
    OneMesh mesh;
    if (failed(count) || failed(mesh.make(module, *count)))
      return signalPassFailure();
    dropConstraints(module);
    auto presharded = ttcore::ShardStatusAttr::get(&getContext(), ttcore::ShardStatus::Presharded);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isExternal())
        continue;
      for (BlockArgument argument : function.getArguments()) {
        function.setArgAttr(argument.getArgNumber(), ttcore::shardStatusName, presharded);
        if (isa<RankedTensorType>(argument.getType()) && !shardingOf(argument))
          setSharding(argument, replicated(mesh.name, argument));
      }
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        function.setResultAttr(i, ttcore::shardStatusName, presharded);
    }
  }

private:
  static void dropConstraints(ModuleOp module) {
    module.walk([](sdy::ShardingConstraintOp op) {
      Operation *parent = op->getParentOp();
      auto manual = op->getParentOfType<sdy::ManualComputationOp>();
      if ((manual && isManual(manual)) || !(isa<func::FuncOp>(parent) || runsRegions(parent))) {
        op.getResult().replaceAllUsesWith(op.getInput());
        op.erase();
      }
    });
  }
};

//===----------------------------------------------------------------------===//
// annotate-xla-shardings
//===----------------------------------------------------------------------===//

/// Devices that hold one part have equal values or, along axes of partial values, different ones.
std::string xlaText(sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh) {
  ArrayRef<sdy::AxisRefAttr> partial = sharding ? sharding.getUnreducedAxes() : ArrayRef<sdy::AxisRefAttr>();
  int64_t summands = 1;
  for (sdy::AxisRefAttr axis : partial)
    summands *= sizeOf(axis, mesh);
  if (!isSplit(sharding, mesh) && summands == 1)
    return "{replicated}";
  if (summands == mesh.getTotalSize())
    return "{unreduced}";
  const auto rank = static_cast<int64_t>(sharding.getDimShardings().size());
  SmallVector<int64_t> tile;
  int64_t parts = 1;
  for (int64_t dim = 0; dim < rank; ++dim) {
    tile.push_back(partsOf(sharding, dim, mesh));
    parts *= tile.back();
  }
  const int64_t copies = mesh.getTotalSize() / parts;
  SmallVector<SmallVector<int64_t>> holders(parts * summands);
  for (int64_t position = 0; position < mesh.getTotalSize(); ++position) {
    const int64_t device = deviceAt(mesh, position);
    int64_t part = 0;
    for (int64_t dim = 0; dim < rank; ++dim)
      part = part * tile[dim] + indexAlong(mesh, sharding.getDimShardings()[dim].getAxes(), device);
    holders[part * summands + indexAlong(mesh, partial, device)].push_back(device);
  }
  std::string last;
  if (summands > 1) {
    tile.push_back(summands);
    last = " last_tile_dims={unreduced}";
    if (copies > summands) {
      tile.push_back(copies / summands);
      last = " last_tile_dims={unreduced, replicated}";
    }
  } else if (copies > 1) {
    tile.push_back(copies);
    last = " last_tile_dim_replicate";
  }
  auto list = [](ArrayRef<int64_t> numbers) {
    return llvm::join(llvm::map_range(numbers, [](int64_t number) { return std::to_string(number); }), ",");
  };
  std::string devices = llvm::join(llvm::map_range(holders, list), ",");
  return "{devices=[" + list(tile) + "]" + devices + last + "}";
}

struct AnnotateXlaShardings : shlo::impl::AnnotateXlaShardingsBase<AnnotateXlaShardings> {
  void runOnOperation() override {
    FailureOr<sdy::MeshOp> found = shlo::findMesh(getOperation());
    if (failed(found))
      return signalPassFailure();
    if (!*found)
      return markAllAnalysesPreserved();
    sdy::MeshAttr mesh = found->getMesh();
    auto text = [&](sdy::TensorShardingAttr sharding) {
      return StringAttr::get(&getContext(), xlaText(sharding, mesh));
    };
    getOperation().walk([&](stablehlo::CustomCallOp op) {
      if (auto sharding = op->getAttrOfType<sdy::TensorShardingAttr>(gspmdName))
        op->setDiscardableAttr(gspmdName, text(sharding));
    });
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isExternal())
        continue;
      for (BlockArgument argument : function.getArguments()) {
        sdy::TensorShardingAttr sharding = shardingOf(argument);
        for (OpOperand &use : argument.getUses())
          if (auto manual = dyn_cast<sdy::ManualComputationOp>(use.getOwner()))
            sharding = manual.getInShardings().getShardings()[use.getOperandNumber()];
        function.setArgAttr(argument.getArgNumber(), gspmdName, text(sharding));
      }
      for (OpOperand &result : function.getBody().front().getTerminator()->getOpOperands())
        function.setResultAttr(result.getOperandNumber(), gspmdName, text(shardingOf(result.get())));
    }
  }
};
} // namespace
