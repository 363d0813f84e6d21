//===- Collective.cpp - lowering of StableHLO's collectives ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Collective.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AllGatherOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllReduceOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllToAllOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CollectiveBroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CollectivePermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshPartitionOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceScatterOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// Groups of devices
//===----------------------------------------------------------------------===//

/// Returns the groups along `axes`; the first axis varies slowest within each group.
static SmallVector<SmallVector<int64_t>> groupsAlong(int64_t rows, int64_t columns, ArrayRef<uint32_t> axes) {
  const int64_t sizes[] = {rows, columns}, strides[] = {columns, 1};
  SmallVector<SmallVector<int64_t>> groups = {{0}};
  auto spread = [&](uint32_t axis, bool within) {
    SmallVector<SmallVector<int64_t>> next;
    if (within) {
      for (const auto &group : groups) {
        SmallVector<int64_t> &larger = next.emplace_back();
        for (int64_t device : group)
          for (int64_t i = 0; i < sizes[axis]; ++i)
            larger.push_back(device + i * strides[axis]);
      }
    } else {
      for (const auto &group : groups)
        for (int64_t i = 0; i < sizes[axis]; ++i) {
          next.push_back(group);
          for (int64_t &device : next.back())
            device += i * strides[axis];
        }
    }
    groups = std::move(next);
  };
  for (uint32_t axis : axes)
    spread(axis, /*within=*/true);
  for (uint32_t axis : {0u, 1u})
    if (!llvm::is_contained(axes, axis))
      spread(axis, /*within=*/false);
  return groups;
}

static SmallVector<SmallVector<int64_t>> sorted(SmallVector<SmallVector<int64_t>> groups, bool members) {
  if (members)
    for (SmallVector<int64_t> &group : groups)
      llvm::sort(group);
  llvm::sort(groups, [](const auto &a, const auto &b) { return a < b; });
  return groups;
}

static std::optional<SmallVector<uint32_t>> findAxes(const DeviceGroups &given, bool ordered) {
  static const SmallVector<uint32_t> all[] = {{}, {1}, {0}, {0, 1}, {1, 0}};
  SmallVector<SmallVector<int64_t>> requested = sorted(given.groups, !ordered);
  for (const SmallVector<uint32_t> &axes : all)
    if (sorted(groupsAlong(given.rows, given.columns, axes), !ordered) == requested)
      return axes;
  return std::nullopt;
}

std::optional<SmallVector<uint32_t>> DeviceGroups::axes() const { return findAxes(*this, /*ordered=*/true); }
std::optional<SmallVector<uint32_t>> DeviceGroups::unorderedAxes() const { return findAxes(*this, /*ordered=*/false); }

/// Rows and columns of the module's mesh; one device if there is none.
static std::pair<int64_t, int64_t> meshOf(Operation *op) {
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto meshes = parent->getAttrOfType<ttcore::MeshesAttr>(ttcore::meshesName);
        meshes && !meshes.getMeshes().empty())
      if (ArrayRef<int64_t> shape = meshes.getMeshes().front().getShape(); shape.size() == 2)
        return {shape[0], shape[1]};
  return {1, 1};
}

FailureOr<DeviceGroups> hlo::deviceGroups(Operation *op, Attribute attr, std::string &reason) {
  DeviceGroups result;
  std::tie(result.rows, result.columns) = meshOf(op);
  const std::string mesh = std::to_string(result.rows) + "x" + std::to_string(result.columns);
  auto numbers = dyn_cast<DenseIntElementsAttr>(attr);
  if (!numbers || numbers.getType().getRank() != 2) {
    reason = "its groups are along axes of a mesh that is not in the module";
    return failure();
  }
  // An empty list of groups is one group of all devices.
  if (numbers.empty())
    llvm::append_range(result.groups.emplace_back(), llvm::seq<int64_t>(0, result.devices()));
  else
    result.groups.resize(numbers.getType().getDimSize(0));
  SmallVector<bool> named(result.devices(), numbers.empty());
  for (auto [index, number] : llvm::enumerate(numbers.getValues<int64_t>())) {
    if (number < 0)
      continue;
    if (number >= result.devices()) {
      reason = "it names device " + std::to_string(number) + " but the mesh " + mesh + " has " +
               std::to_string(result.devices()) + "; set the mesh with the option mesh-shape of stablehlo-pipeline";
      return failure();
    }
    named[number] = true;
    result.groups[index / numbers.getType().getDimSize(1)].push_back(number);
  }
  llvm::erase_if(result.groups, [](const auto &group) { return group.empty(); });
  for (const auto &group : result.groups)
    if (group.size() != result.groups.front().size()) {
      reason = "it has groups of " + std::to_string(result.groups.front().size()) + " and of " +
               std::to_string(group.size()) + " devices; expected equally many in each";
      return failure();
    }
  for (auto [device, is] : llvm::enumerate(named))
    if (!is) {
      reason = "device " + std::to_string(device) + " of the mesh " + mesh + " is in no group; expected each in one";
      return failure();
    }
  return result;
}

std::string hlo::checkChannel(std::optional<stablehlo::ChannelHandleAttr> channel) {
  if (!channel || channel->getType() == 0 || channel->getType() == 1)
    return {};
  return "its channel is of type " + std::to_string(channel->getType()) + "; expected 0 or 1, between devices";
}

std::optional<ttcore::ReduceType> hlo::reduceTypeOf(Region &computation) {
  Operation *op = onlyOp(computation);
  if (!op || cast<RankedTensorType>(op->getResult(0).getType()).getElementType().isInteger(1))
    return std::nullopt;
  return reduceTypeOf(op);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
/// Performs the checks that all patterns of ops with groups share.
template <class OpT>
FailureOr<DeviceGroups> groupsFor(OpT op, ConversionPatternRewriter &rewriter,
                                  std::optional<stablehlo::ChannelHandleAttr> channel) {
  std::string reason = checkChannel(channel);
  FailureOr<DeviceGroups> groups = failure();
  if (reason.empty())
    groups = deviceGroups(op, op.getReplicaGroups(), reason);
  if (failed(groups))
    return notifyMatchFailure(rewriter, op, reason);
  return groups;
}

DenseIntElementsAttr matrixOf(Builder &builder, ArrayRef<SmallVector<int64_t>> rows, int64_t columns) {
  SmallVector<int64_t> numbers;
  for (const auto &row : rows)
    llvm::append_range(numbers, row);
  return DenseIntElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(rows.size()), columns}, builder.getI64Type()), numbers);
}

RankedTensorType scaled(RankedTensorType type, int64_t dimension, int64_t times, int64_t parts = 1) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] = shape[dimension] * times / parts;
  return type.clone(shape);
}

struct LowerAllGather : OpConversionPattern<stablehlo::AllGatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::AllGatherOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<DeviceGroups> groups = groupsFor(op, rewriter, op.getChannelHandle());
    if (failed(groups))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    const auto dimension = static_cast<int64_t>(op.getAllGatherDim());
    const std::optional<SmallVector<uint32_t>> axes = groups->axes();
    SmallVector<Value> results;
    for (Value operand : adaptor.getOperands()) {
      Value value = operand;
      if (axes) {
        // The axis that varies fastest lies innermost.
        const int64_t sizes[] = {groups->rows, groups->columns};
        for (uint32_t axis : llvm::reverse(*axes))
          value = ttir::AllGatherOp::create(builder, scaled(typeOf(value), dimension, sizes[axis]), value,
                                            si32(builder, dimension), ui32(builder, axis));
      } else {
        // Each member of the groups in turn sends its tensor to the others.
        SmallVector<Value> parts;
        for (int64_t member = 0; member < groups->size(); ++member) {
          SmallVector<SmallVector<int64_t>> senders = groups->groups;
          for (SmallVector<int64_t> &group : senders)
            std::rotate(group.begin(), group.begin() + member, group.end());
          parts.push_back(ttir::CollectiveBroadcastOp::create(builder, typeOf(operand), operand,
                                                              matrixOf(builder, senders, groups->size())));
        }
        value = ttir::ConcatOp::create(builder, scaled(typeOf(operand), dimension, groups->size()), parts,
                                       static_cast<int32_t>(dimension));
      }
      results.push_back(value);
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// The axes of ops that combine; expand-stablehlo has expressed all others by gathers.
template <class OpT>
FailureOr<std::pair<SmallVector<uint32_t>, ttcore::ReduceTypeAttr>>
combiningAxes(OpT op, ConversionPatternRewriter &rewriter, bool ordered) {
  FailureOr<DeviceGroups> groups = groupsFor(op, rewriter, op.getChannelHandle());
  if (failed(groups))
    return failure();
  std::optional<ttcore::ReduceType> type = reduceTypeOf(op.getComputation());
  std::optional<SmallVector<uint32_t>> axes = ordered ? groups->axes() : groups->unorderedAxes();
  if (!type || !axes)
    return notifyMatchFailure(rewriter, op, "its computation is not one of elements");
  return std::pair(*axes, ttcore::ReduceTypeAttr::get(op.getContext(), *type));
}

struct LowerAllReduce : OpConversionPattern<stablehlo::AllReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::AllReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto how = combiningAxes(op, rewriter, /*ordered=*/false);
    if (failed(how))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    SmallVector<Value> results;
    for (Value value : adaptor.getOperands()) {
      for (uint32_t axis : llvm::reverse(how->first))
        value = ttir::AllReduceOp::create(builder, value.getType(), value, how->second, ui32(builder, axis));
      results.push_back(value);
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerReduceScatter : OpConversionPattern<stablehlo::ReduceScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ReduceScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto how = combiningAxes(op, rewriter, /*ordered=*/true);
    if (failed(how))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::string ignored;
    const DeviceGroups groups = *deviceGroups(op, op.getReplicaGroups(), ignored);
    const int64_t sizes[] = {groups.rows, groups.columns}, dimension = static_cast<int64_t>(op.getScatterDimension());
    Value value = adaptor.getOperand();
    for (uint32_t axis : how->first)
      value = ttir::ReduceScatterOp::create(builder, scaled(typeOf(value), dimension, 1, sizes[axis]), value,
                                            how->second, si32(builder, dimension), ui32(builder, axis));
    return replace(rewriter, op, value);
  }
};

struct LowerAllToAll : OpConversionPattern<stablehlo::AllToAllOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::AllToAllOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<DeviceGroups> groups = groupsFor(op, rewriter, op.getChannelHandle());
    if (failed(groups))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    SmallVector<Value> results;
    for (auto [operand, result] : llvm::zip_equal(adaptor.getOperands(), op.getResults()))
      results.push_back(
          ttir::AllToAllOp::create(builder, result.getType(), operand, si32(builder, op.getSplitDimension()),
                                   si32(builder, op.getConcatDimension()), si32(builder, op.getSplitCount()),
                                   matrixOf(builder, groups->groups, groups->size())));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerCollectiveBroadcast : OpConversionPattern<stablehlo::CollectiveBroadcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::CollectiveBroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (std::string reason = checkChannel(op.getChannelHandle()); !reason.empty())
      return notifyMatchFailure(rewriter, op, reason);
    if (op.getHasDynamicRoot())
      return notifyMatchFailure(rewriter, op, "its sender is computed; expected the first device of each group");
    SmallVector<Value> results;
    for (Value operand : adaptor.getOperands())
      results.push_back(ttir::CollectiveBroadcastOp::create(rewriter, op.getLoc(), operand.getType(), operand,
                                                            op.getReplicaGroups()));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerCollectivePermute : OpConversionPattern<stablehlo::CollectivePermuteOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::CollectivePermuteOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (std::string reason = checkChannel(op.getChannelHandle()); !reason.empty())
      return notifyMatchFailure(rewriter, op, reason);
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    // Devices that receive nothing have zeros.
    if (op.getSourceTargetPairs().empty())
      return replace(rewriter, op, zeros(builder, typeOf(op.getResult())));
    return replace(
        rewriter, op,
        ttir::CollectivePermuteOp::create(builder, op.getType(), adaptor.getOperand(), op.getSourceTargetPairs()));
  }
};

/// A device's number is its part of a tensor of all numbers. Devices are partitions of one replica, unless the module
/// states that they are replicas.
template <class OpT> struct LowerDeviceNumber : OpConversionPattern<OpT> {
  using OpConversionPattern<OpT>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor, ConversionPatternRewriter &rewriter) const override {
    auto module = op->template getParentOfType<ModuleOp>();
    auto count = module ? module->template getAttrOfType<IntegerAttr>("mhlo.num_replicas") : IntegerAttr();
    const bool replicas = count && count.getValue().ugt(1);
    auto [rows, columns] = meshOf(op);
    RankedTensorType type = typeOf(op->getResult(0));
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (replicas != std::is_same_v<OpT, stablehlo::ReplicaIdOp> || rows * columns == 1)
      return replace(rewriter, op, zeros(builder, type));
    SmallVector<Attribute> numbers;
    for (int64_t device = 0; device < rows * columns; ++device)
      numbers.push_back(builder.getIntegerAttr(type.getElementType(), device));
    auto whole = type.clone({rows, columns});
    Value value = ttir::ConstantOp::create(builder, whole, DenseElementsAttr::get(whole, numbers));
    for (auto [axis, size] : llvm::enumerate(std::array{rows, columns}))
      if (size > 1)
        value = ttir::MeshPartitionOp::create(builder, scaled(typeOf(value), axis, 1, size), value, si32(builder, axis),
                                              ui32(builder, axis));
    return replace(rewriter, op, reshape(builder, value, type.getShape()));
  }
};

/// Tokens order effects, which programs do not have; an op that uses one is refused.
struct LowerAfterAll : OpConversionPattern<stablehlo::AfterAllOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::AfterAllOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op->use_empty())
      return notifyMatchFailure(rewriter, op, "its token is used, and programs have none");
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void hlo::addCollectivePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerAfterAll, LowerAllGather, LowerAllReduce, LowerAllToAll, LowerCollectiveBroadcast,
               LowerCollectivePermute, LowerDeviceNumber<stablehlo::PartitionIdOp>,
               LowerDeviceNumber<stablehlo::ReplicaIdOp>, LowerReduceScatter>(patterns.getContext());
}
