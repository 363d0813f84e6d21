//===- Collective.h - collectives of sdy by StableHLO's --------*- C++ -*--===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_LOCAL_COLLECTIVE_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_LOCAL_COLLECTIVE_H

#include "ttmlir/Dialect/StableHLO/IR/Windows.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::tt::shlo {

/// Converts collectives of the sdy dialect to StableHLO, on the part of one device.
class CollectiveLowering {
public:
  CollectiveLowering(ModuleOp module, sdy::MeshAttr mesh) : mesh(mesh), symbols(module) {}

  /// The local result of a collective, or null and an error. `operand` is the sharding of its operand.
  Value lower(Operation *op, Value local, sdy::TensorShardingAttr operand);

  /// Returns the device's slice of a value that is replicated along these axes of each dimension.
  Value slice(ImplicitLocOpBuilder &builder, Value value, ArrayRef<ArrayRef<sdy::AxisRefAttr>> axes,
              sdy::TensorShardingAttr result);

  /// The elements of the footprint of a value that is split along `dim` by the axes: the device's own ones and edges of
  /// neighbors. Elements outside of the whole are `fill`, or 0.
  Value window(ImplicitLocOpBuilder &builder, Value value, int64_t dim, const stablehlo::Footprint &print, Value fill,
               ArrayRef<sdy::AxisRefAttr> axes);

  /// The segments of values that are split along `dim` by the axes, one after another: a part of a slice in steps of
  /// `stride`, or of a concatenation.
  Value assembled(ImplicitLocOpBuilder &builder, ValueRange values, int64_t dim, ArrayRef<stablehlo::Segment> segments,
                  int64_t stride, ArrayRef<sdy::AxisRefAttr> axes);

  /// Lets a gather of positions in whole dimensions, some of which are split, read the device's part. The result has
  /// zeros in place of what other devices hold, so that the sum over the devices is the whole. `slices` are the sizes
  /// of slices of the whole operand.
  Value gatherFromPart(stablehlo::GatherOp gather, ArrayRef<int64_t> slices, sdy::TensorShardingAttr operand);

  /// Returns the value of the device at the mirrored position along the axes.
  Value mirrored(ImplicitLocOpBuilder &builder, Value value, ArrayRef<sdy::AxisRefAttr> axes);

private:
  Value gather(ImplicitLocOpBuilder &builder, Value value, int64_t dim, ArrayRef<sdy::AxisRefAttr> axes);
  Value exchange(ImplicitLocOpBuilder &builder, Value value, sdy::AllToAllParamAttr param);
  Value reduce(ImplicitLocOpBuilder &builder, Value value, ArrayRef<sdy::AxisRefAttr> axes, sdy::ReductionOp kind);
  Value reduceScatter(ImplicitLocOpBuilder &builder, Value value, int64_t dim, ArrayRef<sdy::AxisRefAttr> axes,
                      sdy::ReductionOp kind);
  Value permute(Operation *op, ImplicitLocOpBuilder &builder, Value value, sdy::TensorShardingAttr from,
                sdy::TensorShardingAttr to);
  Value keepFirst(ImplicitLocOpBuilder &builder, Value value, ArrayRef<sdy::AxisRefAttr> axes);
  Value place(ImplicitLocOpBuilder &builder, Value value, int64_t dim, ArrayRef<sdy::AxisRefAttr> axes);

  Value fromParts(ImplicitLocOpBuilder &builder, Value value, ArrayRef<std::pair<int64_t, int64_t>> parts,
                  ArrayRef<sdy::AxisRefAttr> axes);
  Value fromNeighbour(ImplicitLocOpBuilder &builder, Value edge, ArrayRef<sdy::AxisRefAttr> axes, bool isBefore,
                      Value fill);

  static stablehlo::ChannelHandleAttr channel(Builder &builder);
  /// Whether the device has that position along the axes, as a scalar.
  Value isAt(ImplicitLocOpBuilder &builder, ArrayRef<sdy::AxisRefAttr> axes, int64_t place);
  /// Whether the device fulfills the predicate, as a scalar.
  Value isTrue(ImplicitLocOpBuilder &builder, function_ref<bool(int64_t device)> predicate);
  /// The number that each device has in a table, as a scalar.
  Value perDevice(ImplicitLocOpBuilder &builder, function_ref<int64_t(int64_t device)> number);
  DenseIntElementsAttr groups(Builder &builder, ArrayRef<sdy::AxisRefAttr> axes) const;
  int64_t sizeAlong(ArrayRef<sdy::AxisRefAttr> axes) const;

  sdy::MeshAttr mesh;
  SymbolTable symbols;
  /// Functions that slice, by type and axes.
  DenseMap<std::pair<Type, Attribute>, func::FuncOp> slices;
};

/// The op takes the elements of the footprint in place of the whole operand.
void setWindow(Operation *op, const stablehlo::WindowedDim &window, const stablehlo::Footprint &print);
/// Returns the value that an op reads outside of an operand; null for zeros, and for an op that never reads there.
Value getWindowFill(Operation *op, unsigned operand);

} // namespace mlir::tt::shlo

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_LOCAL_COLLECTIVE_H
