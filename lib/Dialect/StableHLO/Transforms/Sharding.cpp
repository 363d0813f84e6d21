//===- Sharding.cpp - what passes ask about shardings ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tt;

bool shlo::isManual(sdy::ManualComputationOp op) {
  if (op.getManualAxes().getValue().empty())
    return false;
  sdy::MeshAttr mesh;
  for (sdy::TensorShardingPerValueAttr list : {op.getInShardings(), op.getOutShardings()})
    for (sdy::TensorShardingAttr sharding : list.getShardings())
      mesh = mesh ? mesh : sharding.getMesh(op);
  return !mesh || llvm::all_of(mesh.getAxes(), [&](sdy::MeshAxisAttr axis) {
    return axis.getSize() == 1 || llvm::any_of(op.getManualAxes().getValue(),
                                               [&](StringAttr name) { return name.getValue() == axis.getName(); });
  });
}

/// The computation takes arguments unchanged, and results leave it unchanged.
static bool isAllOf(func::FuncOp function, sdy::ManualComputationOp op) {
  for (auto [operand, sharding] : llvm::zip_equal(op.getTensors(), op.getInShardings().getShardings()))
    if (auto argument = dyn_cast<BlockArgument>(operand))
      if (auto own = function.getArgAttrOfType<sdy::TensorShardingAttr>(argument.getArgNumber(), shlo::shardingName);
          own && own.getDimShardings() != sharding.getDimShardings())
        return false;
  for (OpResult result : op->getResults())
    for (OpOperand &use : result.getUses()) {
      // Only an operand of the return has the number of a result.
      if (!isa<func::ReturnOp>(use.getOwner()))
        continue;
      auto own = function.getResultAttrOfType<sdy::TensorShardingAttr>(use.getOperandNumber(), shlo::shardingName);
      if (own &&
          own.getDimShardings() != op.getOutShardings().getShardings()[result.getResultNumber()].getDimShardings())
        return false;
    }
  return true;
}

bool shlo::isSolved(ModuleOp module) {
  bool any = false;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (Operation &op : function.getBody().front()) {
      if (auto manual = dyn_cast<sdy::ManualComputationOp>(op)) {
        if (!isManual(manual) || !isAllOf(function, manual))
          return false;
        any = true;
      } else if (function.isPublic() && op.hasTrait<OpTrait::IsTerminator>()) {
        // A result in parts is that of a computation.
        for (OpOperand &result : op.getOpOperands()) {
          auto status = dyn_cast_if_present<ttcore::ShardStatusAttr>(
              function.getResultAttr(result.getOperandNumber(), ttcore::shardStatusName));
          if (status && status.getValue() == ttcore::ShardStatus::Presharded &&
              !result.get().getDefiningOp<sdy::ManualComputationOp>())
            return false;
        }
      } else if (function.isPublic() && !op.hasTrait<OpTrait::ConstantLike>()) {
        return false;
      }
    }
  }
  return any;
}

sdy::TensorShardingAttr shlo::insideOf(sdy::ManualComputationOp op, sdy::TensorShardingAttr sharding) {
  auto isFree = [&](sdy::AxisRefAttr axis) {
    return llvm::none_of(op.getManualAxes().getValue(),
                         [&](StringAttr name) { return name.getValue() == axis.getName(); });
  };
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
    SmallVector<sdy::AxisRefAttr> axes;
    llvm::copy_if(dim.getAxes(), std::back_inserter(axes), isFree);
    // Without axes, a closed dimension has no order.
    const bool isDone = dim.getIsClosed() && axes.empty();
    dims.push_back(sdy::DimensionShardingAttr::get(op.getContext(), axes, dim.getIsClosed(),
                                                   isDone ? std::nullopt : dim.getPriority()));
  }
  return sdy::TensorShardingAttr::get(op.getContext(), sharding.getMeshOrRef(), dims, {}, {}, sdy::ReductionOp::SUM);
}

static bool anyOf(ModuleOp module, function_ref<bool(Operation *)> ofOp, function_ref<bool(DictionaryAttr)> ofValue) {
  return module
      .walk([&](Operation *op) {
        bool is = ofOp(op);
        if (auto function = dyn_cast<FunctionOpInterface>(op)) {
          for (unsigned i = 0; i < function.getNumArguments(); ++i)
            is |= ofValue(DictionaryAttr::get(op->getContext(), function.getArgAttrs(i)));
          for (unsigned i = 0; i < function.getNumResults(); ++i)
            is |= ofValue(DictionaryAttr::get(op->getContext(), function.getResultAttrs(i)));
        }
        return is ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool shlo::hasSdyAnnotations(ModuleOp module) {
  return anyOf(
      module, [](Operation *op) { return isa<sdy::MeshOp, sdy::ManualComputationOp>(op) || op->hasAttr(shardingName); },
      [](DictionaryAttr attrs) { return attrs.contains(shardingName); });
}

bool shlo::hasGspmdAnnotations(ModuleOp module) {
  return anyOf(
      module,
      [](Operation *op) {
        auto call = dyn_cast<stablehlo::CustomCallOp>(op);
        return call && op->hasAttr(gspmdName) &&
               llvm::is_contained({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"},
                                  call.getCallTargetName());
      },
      [](DictionaryAttr attrs) { return attrs.contains(gspmdName); });
}

FailureOr<int64_t> shlo::partitionsOf(ModuleOp module) {
  auto count = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  if (!count)
    return module.emitOpError() << "has no mhlo.num_partitions; expected the number of devices";
  // Of any width; negative numbers are large unsigned ones.
  if (count.getValue().isZero() || count.getValue().ugt(ttcore::maxMeshSize))
    return module.emitOpError() << "has mhlo.num_partitions "
                                << llvm::toString(count.getValue(), 10, !count.getType().isUnsignedInteger())
                                << "; expected 1 to " << ttcore::maxMeshSize;
  return static_cast<int64_t>(count.getValue().getZExtValue());
}

FailureOr<sdy::MeshOp> shlo::findMesh(ModuleOp module) {
  sdy::MeshOp found;
  for (auto mesh : module.getOps<sdy::MeshOp>()) {
    // A value on one device has a mesh without axes.
    if (mesh.getMesh().getAxes().empty() && !mesh.getMesh().getDeviceIds().empty())
      continue;
    // A mesh without axes and devices is compatible with any other.
    if (found && mesh.getMesh().getAxes().empty())
      continue;
    if (found && found.getMesh().getAxes().empty())
      found = {};
    if (found)
      return mesh.emitOpError() << "is a second mesh of the module, after @" << found.getSymName()
                                << "; expected one mesh";
    found = mesh;
  }
  return found;
}

sdy::TensorShardingAttr shlo::replicated(Attribute mesh, int64_t rank, bool closed) {
  MLIRContext *context = mesh.getContext();
  SmallVector<sdy::DimensionShardingAttr> dims(
      rank, sdy::DimensionShardingAttr::get(context, ArrayRef<sdy::AxisRefAttr>(), closed, std::nullopt));
  return sdy::TensorShardingAttr::get(context, mesh, dims, {}, {}, sdy::ReductionOp::SUM);
}

sdy::TensorShardingAttr shlo::replicated(Attribute mesh, Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return replicated(mesh, type && type.hasRank() ? type.getRank() : 0);
}

sdy::TensorShardingAttr shlo::withAxes(sdy::TensorShardingAttr like, ArrayRef<SmallVector<sdy::AxisRefAttr>> axes) {
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (ArrayRef<sdy::AxisRefAttr> list : axes)
    dims.push_back(sdy::DimensionShardingAttr::get(like.getContext(), list, /*isClosed=*/true, std::nullopt));
  return sdy::TensorShardingAttr::get(like.getContext(), like.getMeshOrRef(), dims, {}, like.getUnreducedAxes(),
                                      like.getReductionOp());
}

sdy::TensorShardingAttr shlo::shardingOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast<FunctionOpInterface>(parent))
      return function.getArgAttrOfType<sdy::TensorShardingAttr>(argument.getArgNumber(), shardingName);
    if (auto manual = dyn_cast<sdy::ManualComputationOp>(parent))
      return insideOf(manual, manual.getInShardings().getShardings()[argument.getArgNumber()]);
    // A value that a loop carries is split like the loop's result.
    if (auto loop = dyn_cast<stablehlo::WhileOp>(parent))
      return shardingOf(loop->getResult(argument.getArgNumber()));
    return {};
  }
  Operation *op = value.getDefiningOp();
  if (auto out = op->getAttrOfType<sdy::TensorShardingAttr>("out_sharding");
      out && isa<sdy::SdyDialect>(op->getDialect()))
    return out;
  if (auto reshard = dyn_cast<sdy::ReshardOp>(op))
    return reshard.getSharding();
  if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op))
    return constraint.getSharding();
  unsigned index = cast<OpResult>(value).getResultNumber();
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
    return manual.getOutShardings().getShardings()[index];
  auto shardings = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(shardingName);
  return shardings && index < shardings.getShardings().size() ? shardings.getShardings()[index]
                                                              : sdy::TensorShardingAttr();
}

void shlo::setSharding(Value value, sdy::TensorShardingAttr sharding) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      function.setArgAttr(argument.getArgNumber(), shardingName, sharding);
    return;
  }
  Operation *op = value.getDefiningOp();
  SmallVector<sdy::TensorShardingAttr> all;
  for (Value result : op->getResults()) {
    sdy::TensorShardingAttr present = shardingOf(result);
    all.push_back(result == value ? sharding : present ? present : replicated(sharding.getMeshOrRef(), result));
  }
  op->setAttr(shardingName, sdy::TensorShardingPerValueAttr::get(op->getContext(), all));
}

void shlo::removeShardings(Operation *root) {
  root->walk([](Operation *op) {
    op->removeDiscardableAttr(shardingName);
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, shardingName);
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        function.removeResultAttr(i, StringAttr::get(op->getContext(), shardingName));
    }
  });
}

int64_t shlo::sizeOf(sdy::AxisRefAttr axis, sdy::MeshAttr mesh) {
  return axis.getSubAxisInfo() ? axis.getSubAxisInfo().getSize() : mesh.getAxisSize(axis.getName()).value_or(1);
}

int64_t shlo::partsOf(sdy::TensorShardingAttr sharding, int64_t dim, sdy::MeshAttr mesh) {
  int64_t parts = 1;
  if (sharding && dim < static_cast<int64_t>(sharding.getDimShardings().size()))
    for (sdy::AxisRefAttr axis : sharding.getDimShardings()[dim].getAxes())
      parts *= sizeOf(axis, mesh);
  return parts;
}

bool shlo::isSplit(sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh) {
  return sharding && llvm::any_of(llvm::seq<int64_t>(sharding.getDimShardings().size()),
                                  [&](int64_t dim) { return partsOf(sharding, dim, mesh) > 1; });
}

FailureOr<Type> shlo::localType(Type type, sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh, Operation *op) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !sharding)
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t parts = partsOf(sharding, static_cast<int64_t>(dim), mesh);
    if (parts == 1)
      continue;
    if (ShapedType::isDynamic(size))
      return op->emitOpError() << "splits dimension " << dim << " of " << type << ", whose size is not known";
    if (size % parts != 0)
      return op->emitOpError() << "splits dimension " << dim << " of " << type << " into " << parts << " parts by "
                               << sharding << "; expected a divisor of " << size;
    size /= parts;
  }
  return Type(tensor.clone(shape));
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

namespace {
/// A digit of the position of a device in its mesh.
struct Digit {
  int64_t stride, size;
};
} // namespace

static SmallVector<Digit> digitsOf(sdy::MeshAttr mesh, ArrayRef<sdy::AxisRefAttr> axes) {
  SmallVector<Digit> digits;
  for (sdy::AxisRefAttr ref : axes) {
    int64_t stride = mesh.getTotalSize();
    for (sdy::MeshAxisAttr axis : mesh.getAxes()) {
      stride /= axis.getSize();
      if (axis.getName() != ref.getName())
        continue;
      if (sdy::SubAxisInfoAttr part = ref.getSubAxisInfo())
        digits.push_back({stride * (axis.getSize() / (part.getPreSize() * part.getSize())), part.getSize()});
      else
        digits.push_back({stride, axis.getSize()});
    }
  }
  return digits;
}

int64_t shlo::deviceAt(sdy::MeshAttr mesh, int64_t position) {
  return mesh.getDeviceIds().empty() ? position : mesh.getDeviceIds()[position];
}

SmallVector<SmallVector<int64_t>> shlo::groupsAlong(sdy::MeshAttr mesh, ArrayRef<sdy::AxisRefAttr> axes) {
  SmallVector<Digit> digits = digitsOf(mesh, axes);
  SmallVector<int64_t> offsets = {0};
  for (Digit digit : digits) {
    SmallVector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < digit.size; ++i)
        next.push_back(offset + i * digit.stride);
    offsets = std::move(next);
  }
  SmallVector<SmallVector<int64_t>> groups;
  for (int64_t position = 0; position < mesh.getTotalSize(); ++position)
    if (llvm::all_of(digits, [&](Digit digit) { return position / digit.stride % digit.size == 0; }))
      groups.push_back(llvm::map_to_vector(offsets, [&](int64_t offset) { return deviceAt(mesh, position + offset); }));
  return groups;
}

int64_t shlo::indexAlong(sdy::MeshAttr mesh, ArrayRef<sdy::AxisRefAttr> axes, int64_t device) {
  int64_t position = device;
  if (!mesh.getDeviceIds().empty())
    position = llvm::find(mesh.getDeviceIds(), device) - mesh.getDeviceIds().begin();
  int64_t index = 0;
  for (Digit digit : digitsOf(mesh, axes))
    index = index * digit.size + position / digit.stride % digit.size;
  return index;
}
