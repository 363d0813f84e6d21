//===- Collective.cpp - collectives of sdy by StableHLO's -----------------===//
// SPDX-License-Identifier: Apache-2.0
//
// One op for each axis: a dimension that several axes split is gathered by the last one first, because it is innermost,
// and scattered by the first one first. Only exchanges between dimensions take all axes at once, because the two orders
// differ there.
//
//===----------------------------------------------------------------------===//

#include "Collective.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

using AxisRefs = ArrayRef<sdy::AxisRefAttr>;

static RankedTensorType resized(Value value, int64_t dim, int64_t times, int64_t parts = 1) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[dim] = shape[dim] * times / parts;
  return typeOf(value).clone(shape);
}

stablehlo::ChannelHandleAttr CollectiveLowering::channel(Builder &builder) {
  return stablehlo::ChannelHandleAttr::get(builder.getContext(), /*handle=*/1, /*type=*/1);
}

int64_t CollectiveLowering::sizeAlong(AxisRefs axes) const {
  int64_t size = 1;
  for (sdy::AxisRefAttr axis : axes)
    size *= sizeOf(axis, mesh);
  return size;
}

DenseIntElementsAttr CollectiveLowering::groups(Builder &builder, AxisRefs axes) const {
  SmallVector<int64_t> numbers;
  for (ArrayRef<int64_t> group : groupsAlong(mesh, axes))
    llvm::append_range(numbers, group);
  const int64_t size = sizeAlong(axes);
  return DenseIntElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(numbers.size()) / size, size}, builder.getI64Type()), numbers);
}

Value CollectiveLowering::gather(ImplicitLocOpBuilder &builder, Value value, int64_t dim, AxisRefs axes) {
  for (sdy::AxisRefAttr axis : llvm::reverse(axes))
    value = stablehlo::AllGatherOp::create(builder, TypeRange(resized(value, dim, sizeOf(axis, mesh))),
                                           ValueRange(value), static_cast<uint64_t>(dim), groups(builder, axis),
                                           channel(builder), /*use_global_device_ids=*/false)
                ->getResult(0);
  return value;
}

Value CollectiveLowering::exchange(ImplicitLocOpBuilder &builder, Value value, sdy::AllToAllParamAttr param) {
  const int64_t parts = sizeAlong(param.getAxes());
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[param.getTgtDim()] /= parts;
  shape[param.getSrcDim()] *= parts;
  return stablehlo::AllToAllOp::create(builder, TypeRange(typeOf(value).clone(shape)), ValueRange(value),
                                       static_cast<uint64_t>(param.getTgtDim()),
                                       static_cast<uint64_t>(param.getSrcDim()), static_cast<uint64_t>(parts),
                                       groups(builder, param.getAxes()), channel(builder))
      ->getResult(0);
}

/// The computation of a reduction.
static void fill(ImplicitLocOpBuilder &builder, Region &computation, Type element, sdy::ReductionOp kind) {
  OpBuilder::InsertionGuard guard(builder);
  Type scalar = RankedTensorType::get({}, element);
  Block *body = builder.createBlock(&computation, {}, {scalar, scalar}, {builder.getLoc(), builder.getLoc()});
  Value a = body->getArgument(0), b = body->getArgument(1), result;
  switch (kind) {
  case sdy::ReductionOp::SUM:
    result = stablehlo::AddOp::create(builder, scalar, a, b);
    break;
  case sdy::ReductionOp::MAX:
    result = stablehlo::MaxOp::create(builder, scalar, a, b);
    break;
  case sdy::ReductionOp::MIN:
    result = stablehlo::MinOp::create(builder, scalar, a, b);
    break;
  }
  stablehlo::ReturnOp::create(builder, result);
}

Value CollectiveLowering::reduce(ImplicitLocOpBuilder &builder, Value value, AxisRefs axes, sdy::ReductionOp kind) {
  for (sdy::AxisRefAttr axis : axes) {
    auto op = stablehlo::AllReduceOp::create(builder, TypeRange(value.getType()), ValueRange(value),
                                             groups(builder, axis), channel(builder), /*use_global_device_ids=*/false);
    fill(builder, op.getComputation(), typeOf(value).getElementType(), kind);
    value = op->getResult(0);
  }
  return value;
}

Value CollectiveLowering::reduceScatter(ImplicitLocOpBuilder &builder, Value value, int64_t dim, AxisRefs axes,
                                        sdy::ReductionOp kind) {
  for (sdy::AxisRefAttr axis : axes) {
    auto op = stablehlo::ReduceScatterOp::create(builder, Type(resized(value, dim, 1, sizeOf(axis, mesh))), value,
                                                 static_cast<uint64_t>(dim), groups(builder, axis), channel(builder),
                                                 /*use_global_device_ids=*/false);
    fill(builder, op.getComputation(), typeOf(value).getElementType(), kind);
    value = op->getResult(0);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// By device number
//===----------------------------------------------------------------------===//

Value CollectiveLowering::perDevice(ImplicitLocOpBuilder &builder, function_ref<int64_t(int64_t)> number) {
  SmallVector<int32_t> numbers;
  for (int64_t device = 0; device < mesh.getTotalSize(); ++device)
    numbers.push_back(static_cast<int32_t>(number(device)));
  auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())}, builder.getI32Type());
  Value table = stablehlo::ConstantOp::create(builder, type, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value device = stablehlo::PartitionIdOp::create(
      builder, Type(RankedTensorType::get({}, builder.getIntegerType(32, /*isSigned=*/false))));
  Value own = stablehlo::DynamicSliceOp::create(builder, type.clone(ArrayRef<int64_t>{1}), table, ValueRange(device),
                                                ArrayRef<int64_t>{1});
  return stablehlo::ReshapeOp::create(builder, type.clone(ArrayRef<int64_t>{}), own);
}

Value CollectiveLowering::isTrue(ImplicitLocOpBuilder &builder, function_ref<bool(int64_t)> predicate) {
  Value number = perDevice(builder, [&](int64_t device) { return predicate(device); });
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  Value one =
      stablehlo::ConstantOp::create(builder, scalar, DenseElementsAttr::get(scalar, builder.getI32IntegerAttr(1)));
  return stablehlo::CompareOp::create(builder, scalar.clone(builder.getI1Type()), number, one,
                                      stablehlo::ComparisonDirection::EQ, stablehlo::ComparisonTypeAttr());
}

Value CollectiveLowering::isAt(ImplicitLocOpBuilder &builder, AxisRefs axes, int64_t place) {
  return isTrue(builder, [&](int64_t device) { return indexAlong(mesh, axes, device) == place; });
}

/// Zeros; null after an error for a type without one.
static Value zerosOf(ImplicitLocOpBuilder &builder, RankedTensorType type) {
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  Attribute zero = builder.getZeroAttr(complex ? complex.getElementType() : type.getElementType());
  if (!zero) {
    emitError(builder.getLoc()) << "partial values of " << type << " need a zero; expected numbers";
    return {};
  }
  if (complex)
    zero = builder.getArrayAttr({zero, zero});
  return stablehlo::ConstantOp::create(builder, type, DenseElementsAttr::get(type, zero));
}

/// Other devices have zeros, so that the sum is the value.
Value CollectiveLowering::keepFirst(ImplicitLocOpBuilder &builder, Value value, AxisRefs axes) {
  Value first = isAt(builder, axes, 0);
  Value zeros = zerosOf(builder, typeOf(value));
  if (!zeros)
    return {};
  return stablehlo::SelectOp::create(builder, typeOf(value), first, value, zeros);
}

/// The part of the device among zeros.
Value CollectiveLowering::place(ImplicitLocOpBuilder &builder, Value value, int64_t dim, AxisRefs axes) {
  const int64_t part = typeOf(value).getDimSize(dim);
  RankedTensorType whole = resized(value, dim, sizeAlong(axes));
  Value zeros = zerosOf(builder, whole);
  if (!zeros)
    return {};
  Value start = perDevice(builder, [&](int64_t device) { return indexAlong(mesh, axes, device) * part; });
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  Value zero =
      stablehlo::ConstantOp::create(builder, scalar, DenseElementsAttr::get(scalar, builder.getI32IntegerAttr(0)));
  SmallVector<Value> starts(whole.getRank(), zero);
  starts[dim] = start;
  return stablehlo::DynamicUpdateSliceOp::create(builder, whole, zeros, value, starts);
}

Value CollectiveLowering::slice(ImplicitLocOpBuilder &builder, Value value, ArrayRef<AxisRefs> axes,
                                sdy::TensorShardingAttr result) {
  SmallVector<sdy::AxisRefListAttr> lists;
  SmallVector<int64_t> shape(typeOf(value).getShape());
  bool any = false;
  for (auto [dim, list] : llvm::enumerate(axes)) {
    lists.push_back(sdy::AxisRefListAttr::get(builder.getContext(), list));
    shape[dim] /= sizeAlong(list);
    any |= !list.empty();
  }
  if (!any)
    return value;
  auto slicing = sdy::ListOfAxisRefListsAttr::get(builder.getContext(), lists);
  RankedTensorType type = typeOf(value).clone(shape);
  func::FuncOp &function = slices[{value.getType(), slicing}];
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    function =
        func::FuncOp::create(builder.getLoc(), "sdy.all_slice", builder.getFunctionType({value.getType()}, {type}));
    function.setPrivate();
    symbols.insert(function);
    builder.setInsertionPointToStart(function.addEntryBlock());
    auto scalar = RankedTensorType::get({}, builder.getI32Type());
    SmallVector<Value> starts;
    for (auto [dim, list] : llvm::enumerate(axes)) {
      const int64_t part = shape[dim];
      if (list.empty())
        starts.push_back(stablehlo::ConstantOp::create(builder, scalar,
                                                       DenseElementsAttr::get(scalar, builder.getI32IntegerAttr(0))));
      else
        starts.push_back(perDevice(builder, [&](int64_t device) { return indexAlong(mesh, list, device) * part; }));
    }
    Value own = stablehlo::DynamicSliceOp::create(builder, type, function.getArgument(0), starts, shape);
    func::ReturnOp::create(builder, own);
  }
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr("out_sharding", result), builder.getNamedAttr("slicing_axes", slicing)});
  return stablehlo::CompositeOp::create(builder, TypeRange(type), ValueRange(value), "sdy.all_slice", attributes,
                                        function.getSymName(), /*version=*/0u, /*composite_regionsCount=*/0)
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// collective_permute
//===----------------------------------------------------------------------===//

/// Devices grouped by the part of a tensor that they hold.
static std::map<std::vector<int64_t>, SmallVector<int64_t>> holders(sdy::MeshAttr mesh,
                                                                    sdy::TensorShardingAttr sharding) {
  std::map<std::vector<int64_t>, SmallVector<int64_t>> result;
  for (int64_t device = 0; device < mesh.getTotalSize(); ++device) {
    std::vector<int64_t> part;
    for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
      part.push_back(indexAlong(mesh, dim.getAxes(), device));
    result[part].push_back(device);
  }
  return result;
}

Value CollectiveLowering::permute(Operation *op, ImplicitLocOpBuilder &builder, Value value,
                                  sdy::TensorShardingAttr from, sdy::TensorShardingAttr to) {
  auto toMesh = to.getMesh(op), fromMesh = from.getMesh(op);
  if (!toMesh || !fromMesh || toMesh.getTotalSize() != fromMesh.getTotalSize()) {
    op->emitOpError() << "moves between meshes of different sizes";
    return {};
  }
  auto sources = holders(fromMesh, from), targets = holders(toMesh, to);
  SmallVector<int64_t> pairs;
  bool moves = false;
  for (auto &[part, requested] : targets) {
    SmallVector<int64_t> available = sources[part];
    if (available.size() != requested.size()) {
      op->emitOpError() << "changes " << from << " to " << to << ", by which a dimension has another number of parts";
      return {};
    }
    // A device that already has the part keeps it.
    SmallVector<int64_t> others;
    for (int64_t target : requested) {
      if (auto *it = llvm::find(available, target); it != available.end()) {
        llvm::append_values(pairs, target, target);
        available.erase(it);
      } else {
        others.push_back(target);
      }
    }
    for (auto [source, target] : llvm::zip_equal(available, others)) {
      llvm::append_values(pairs, source, target);
      moves = true;
    }
  }
  if (!moves)
    return value;
  auto type = RankedTensorType::get({static_cast<int64_t>(pairs.size()) / 2, 2}, builder.getI64Type());
  return stablehlo::CollectivePermuteOp::create(builder, value.getType(), value, DenseIntElementsAttr::get(type, pairs),
                                                channel(builder));
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

Value CollectiveLowering::lower(Operation *op, Value value, sdy::TensorShardingAttr operand) {
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  auto perDim = [](sdy::ListOfAxisRefListsAttr lists) {
    SmallVector<AxisRefs> result;
    for (sdy::AxisRefListAttr list : lists.getValue())
      result.push_back(list.getValue());
    return result;
  };
  auto divides = [&](int64_t dim, AxisRefs axes) {
    if (typeOf(value).getDimSize(dim) % sizeAlong(axes) == 0)
      return true;
    op->emitOpError() << "splits dimension " << dim << " of what one device holds, " << value.getType() << ", into "
                      << sizeAlong(axes) << " parts; expected a divisor of " << typeOf(value).getDimSize(dim);
    return false;
  };
  if (auto gathers = dyn_cast<sdy::AllGatherOp>(op)) {
    for (auto [dim, axes] : llvm::enumerate(perDim(gathers.getGatheringAxes())))
      value = gather(builder, value, static_cast<int64_t>(dim), axes);
    return value;
  }
  if (auto slices = dyn_cast<sdy::AllSliceOp>(op)) {
    SmallVector<AxisRefs> axes = perDim(slices.getSlicingAxes());
    for (auto [dim, list] : llvm::enumerate(axes))
      if (!divides(static_cast<int64_t>(dim), list))
        return {};
    return slice(builder, value, axes, slices.getOutSharding());
  }
  if (auto exchanges = dyn_cast<sdy::AllToAllOp>(op)) {
    for (sdy::AllToAllParamAttr param : exchanges.getParams().getValue()) {
      if (!divides(param.getTgtDim(), param.getAxes()))
        return {};
      value = exchange(builder, value, param);
    }
    return value;
  }
  if (auto reduces = dyn_cast<sdy::AllReduceOp>(op))
    return reduce(builder, value, reduces.getReductionAxes().getValue(), reduces.getReductionOp());
  if (auto scatters = dyn_cast<sdy::ReduceScatterOp>(op)) {
    for (auto [dim, axes] : llvm::enumerate(perDim(scatters.getReduceScatterAxes()))) {
      if (!divides(static_cast<int64_t>(dim), axes))
        return {};
      value = reduceScatter(builder, value, static_cast<int64_t>(dim), axes, scatters.getReductionOp());
    }
    return value;
  }
  if (auto permutes = dyn_cast<sdy::CollectivePermuteOp>(op)) {
    sdy::TensorShardingAttr from = operand ? operand : replicated(permutes.getOutSharding().getMeshOrRef(), value);
    return permute(op, builder, value, from, permutes.getOutSharding());
  }
  if (auto unreduced = dyn_cast<sdy::ReplicatedToUnreducedOp>(op))
    return keepFirst(builder, value, unreduced.getAxes().getValue());
  if (auto unreduced = dyn_cast<sdy::ShardedToUnreducedOp>(op)) {
    for (auto [dim, axes] : llvm::enumerate(perDim(unreduced.getAxes())))
      if (!axes.empty() && value)
        value = place(builder, value, static_cast<int64_t>(dim), axes);
    return value;
  }
  op->emitOpError() << "is not a collective; run sdy-reshard-to-collectives first";
  return {};
}
