//===- Model.cpp - the time and memory of shardings -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Model.h"

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/costs/Fabric.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo::autosharding;

using ::ttmlir::cost::PlacedTensor;
using ::ttmlir::cost::tilesAlong;
using ::ttmlir::cost::tileSide;

/// The sizes of a chip's part of the tensor.
static SmallVector<int64_t> partOf(RankedTensorType type, const Dims &dims) {
  SmallVector<int64_t> sizes;
  for (auto [size, axes] : llvm::zip_equal(type.getShape(), dims))
    sizes.push_back(llvm::divideCeilSigned(size, sdy::product(axes)));
  return sizes;
}

static int64_t sizeFromEnd(ArrayRef<int64_t> sizes, size_t place) {
  return sizes.size() > place ? sizes[sizes.size() - 1 - place] : 1;
}

/// Chips have no 64-bit types, and a boolean takes one byte.
static int64_t elementBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * elementBytes(complex.getElementType());
  return type.isIntOrFloat() ? std::clamp<int64_t>(type.getIntOrFloatBitWidth() / 8, 1, 4) : 4;
}

/// The part of the tensor on a chip: in DRAM, in whole tiles.
static PlacedTensor placedTensor(RankedTensorType type, const Dims &dims) {
  const SmallVector<int64_t> sizes = partOf(type, dims);
  PlacedTensor created;
  created.memory = ::ttmlir::cost::Memory::DRAM;
  created.columns = sizeFromEnd(sizes, 0);
  created.rows = created.columns ? llvm::product_of(sizes) / created.columns : 1;
  created.tiles = tilesAlong(sizeFromEnd(sizes, 1)) * tilesAlong(created.columns);
  for (int64_t size : ArrayRef(sizes).drop_back(std::min<size_t>(2, sizes.size())))
    created.tiles *= size;
  created.tileBytes = tileSide * tileSide * elementBytes(type.getElementType());
  created.bytes = created.tiles * created.tileBytes;
  return created;
}

/// Adds the bytes of a tensor that are read or written, with one tile per page.
static void moveInDram(Work &work, RankedTensorType type, int64_t bytes) {
  work.dramBytes += bytes;
  work.dramPages += bytes / (tileSide * tileSide * elementBytes(type.getElementType()));
}

Model::Model(ttcore::ChipDescAttr chip, sdy::MeshAttr mesh)
    : speed(chip.getArch().getValue() == ttcore::Arch::Blackhole ? ::ttmlir::cost::blackhole
                                                                 : ::ttmlir::cost::wormhole),
      cores(static_cast<double>(chip.getGrid()[0] * chip.getGrid()[1])),
      dram(static_cast<int64_t>(chip.getNumDramChannels()) *
           (static_cast<int64_t>(chip.getDramUnreservedEnd()) - static_cast<int64_t>(chip.getDramUnreservedBase()))) {
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    sizes.push_back(axis.getSize());
}

int64_t Model::bytesOf(RankedTensorType type, const Dims &dims) const { return placedTensor(type, dims).bytes; }

Time Model::timeOf(const Work &work) const {
  ::ttmlir::cost::Times times = ::ttmlir::cost::timesOf(speed, cores, work);
  return {times.total(), times.computeNs, times.dramNs, times.fabricNs};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {
/// The TTNN op to which an op is lowered, on the parts of one chip. Sizes are those that the rules read.
class LoweredOp final : public ::ttmlir::cost::Op {
public:
  explicit LoweredOp(std::string_view op) { name = op; }

  void set(StringRef attribute, ArrayRef<int64_t> values) {
    attributes.emplace_back(attribute, ::tt::shapes::Attribute::of(::tt::shapes::View(values.data(), values.size())));
  }
  void set(StringRef attribute, int64_t value) {
    attributes.emplace_back(attribute, ::tt::shapes::Attribute::of(value));
  }
  ::tt::shapes::Attribute attribute(std::string_view name) const override {
    for (const auto &[attribute, value] : attributes)
      if (attribute == StringRef(name))
        return value;
    return {};
  }

private:
  SmallVector<std::pair<StringRef, ::tt::shapes::Attribute>, 6> attributes;
};
} // namespace

/// The product as matrices: [batches, m, k] times [batches, k, n].
static void readProduct(stablehlo::DotDimensionNumbersAttr numbers, ArrayRef<int64_t> left, ArrayRef<int64_t> right,
                        SmallVectorImpl<int64_t> &leftSizes, SmallVectorImpl<int64_t> &rightSizes) {
  auto along = [](ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims) {
    int64_t all = 1;
    for (int64_t dim : dims)
      all *= sizes[dim];
    return all;
  };
  auto outside = [](ArrayRef<int64_t> sizes, ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
    int64_t all = 1;
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (!llvm::is_contained(a, dim) && !llvm::is_contained(b, dim))
        all *= size;
    return all;
  };
  const int64_t batches = along(left, numbers.getLhsBatchingDimensions()),
                k = along(left, numbers.getLhsContractingDimensions());
  leftSizes.assign(
      {batches, outside(left, numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()), k});
  rightSizes.assign(
      {batches, k, outside(right, numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions())});
}

/// The dimensions of a product that is not a convolution; null for other ops.
static stablehlo::DotDimensionNumbersAttr dimensionsOfProduct(Operation *op) {
  if (auto product = dyn_cast<stablehlo::DotGeneralOp>(op))
    return product.getDotDimensionNumbers();
  if (auto product = dyn_cast<stablehlo::DotOp>(op))
    return stablehlo::DotDimensionNumbersAttr::get(op->getContext(), {}, {},
                                                   {cast<ShapedType>(product.getLhs().getType()).getRank() - 1}, {0});
  return {};
}

/// The window of the convolution of these parts.
static void readWindow(stablehlo::ConvolutionOp op, ArrayRef<int64_t> image, ArrayRef<int64_t> kernel,
                       ArrayRef<int64_t> result, LoweredOp &lowered) {
  auto numbers = op.getDimensionNumbers();
  SmallVector<int64_t> window, steps, padding;
  for (int64_t dim : numbers.getKernelSpatialDimensions())
    window.push_back(kernel[dim]);
  // Gaps between the elements of an image, as in a transposed convolution, also count as steps.
  llvm::append_range(steps, op.getWindowStrides().value_or(ArrayRef<int64_t>()));
  llvm::append_range(steps, op.getLhsDilation().value_or(ArrayRef<int64_t>()));
  if (op.getPadding())
    llvm::append_range(padding, op.getPadding()->getValues<int64_t>());
  lowered.set("kernel_size", window);
  lowered.set("stride", steps);
  lowered.set("padding", padding);
  lowered.set("dilation", op.getRhsDilation().value_or(ArrayRef<int64_t>()));
  lowered.set("in_channels", image[numbers.getInputFeatureDimension()] * static_cast<int64_t>(op.getBatchGroupCount()));
  lowered.set("out_channels", std::max<int64_t>(1, result[numbers.getOutputFeatureDimension()]));
}

/// Moves elements without the vector unit: it neither selects elements one by one nor orders them.
static bool isMovement(Operation *op) {
  return op->hasTrait<trait::MovesValues>() && !sdy::isElementwise(op) && op->getNumRegions() == 0;
}

/// The TTNN op whose cost rule is used for an op.
static std::string_view loweredName(Operation *op) {
  if (op->hasTrait<trait::KeepsOrder>())
    return "ttnn.reshape";
  if (op->hasTrait<trait::Product>())
    return op->hasTrait<trait::Convolves>() ? "ttnn.conv3d" : "ttnn.matmul";
  if (isa<stablehlo::ReduceOp>(op))
    return "ttnn.sum"; // and all other reductions
  return isMovement(op) ? "ttnn.permute" : "";
}

/// The op of TTNN that computes each element.
static std::string elementwiseName(Operation *op) {
  if (isa<stablehlo::ConvertOp>(op))
    return "ttnn.typecast";
  auto interface = dyn_cast<ScalarOpInterface>(op);
  return "ttnn." + (interface ? interface.getNames().function : op->getName().stripDialect()).str();
}

Time Model::timeOf(Operation *op, ArrayRef<Dims> tensors) const {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  // All devices compute ops without static shapes in whole, for any length of time: no choice depends on them.
  if (llvm::any_of(types, [](Type type) { return isa<TensorType>(type) && !sdy::getStaticTensor(type); }))
    return {};
  SmallVector<SmallVector<int64_t>, 4> parts(types.size());
  SmallVector<std::optional<PlacedTensor>, 4> ins(op->getNumOperands());
  SmallVector<PlacedTensor, 2> outs(op->getNumResults());
  int64_t mostTiles = 0;
  for (auto [index, type] : llvm::enumerate(types))
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      PlacedTensor placed = placedTensor(tensor, tensors[index]);
      parts[index] = partOf(tensor, tensors[index]);
      placed.shape = {parts[index].data(), parts[index].size()};
      mostTiles = std::max(mostTiles, placed.tiles);
      if (index >= ins.size())
        outs[index - ins.size()] = placed;
      else if (index == 0 || tensor.getRank() || !isMovement(op)) // TTNN's pad has its value as an attribute.
        ins[index] = placed;
    }
  std::string_view name = loweredName(op);
  const std::string elementwise = elementwiseName(op);
  LoweredOp lowered(name.empty() ? std::string_view(elementwise) : name);
  SmallVector<int64_t, 3> left, right;
  if (auto numbers = dimensionsOfProduct(op)) {
    readProduct(numbers, parts[0], parts[1], left, right);
    ins[0]->shape = {left.data(), left.size()};
    ins[1]->shape = {right.data(), right.size()};
  } else if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
    readWindow(convolution, parts[0], parts[1], parts[2], lowered);
    // Weights are prepared once, and then read in that form.
    ins[1]->memory = ::ttmlir::cost::Memory::Host;
  }
  lowered.ins = {ins.data(), ins.size()};
  lowered.outs = {outs.data(), outs.size()};
  const ::ttmlir::cost::Rule *rule = ::ttmlir::cost::findRule(lowered.name);
  if (!rule)
    rule = &::ttmlir::cost::elementwise;
  Work work = workOf(*rule, lowered);
  // Ops other than elementwise ones are passes over the largest tensor that they read or write.
  if (work.sfpuTiles && name.empty())
    work.sfpuTiles = mostTiles;
  return timeOf(work);
}

//===----------------------------------------------------------------------===//
// Collectives along one axis after the other, as they are lowered to TTNN
//===----------------------------------------------------------------------===//

Time Model::timeOfReduction(RankedTensorType type, const Dims &dims, sdy::AxesRef axes, bool isScattered) const {
  Time time;
  int64_t bytes = bytesOf(type, dims);
  for (sdy::Axis axis : axes) {
    Work work;
    addRing(work, isScattered ? ::ttmlir::cost::Ring::Scatter : ::ttmlir::cost::Ring::Reduce, bytes, axis.size);
    work.sfpuTiles = placedTensor(type, dims).tiles;
    moveInDram(work, type, 2 * bytes);
    time += timeOf(work);
    if (isScattered)
      bytes /= axis.size;
  }
  return time;
}

Time Model::timeOfExchange(RankedTensorType type, const Dims &dims, int64_t dim,
                           const stablehlo::Footprint &print) const {
  Time time;
  const int64_t parts = sdy::product(dims[dim]);
  auto edgesOf = [&](int64_t count) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = parts * count;
    return bytesOf(type.clone(shape), dims);
  };
  auto move = [&](int64_t bytes) {
    Work work;
    moveInDram(work, type, bytes);
    time += timeOf(work);
  };
  // The elements are cut off, and sent on.
  auto send = [&](int64_t count, int64_t hops) {
    move(2 * edgesOf(count));
    time += timeOfSending(type, edgesOf(count), /*bytesTimesHops=*/edgesOf(count) * hops, hops);
  };
  for (int64_t count : {print.before, print.after})
    if (count > 0)
      send(count, /*hops=*/1);
  for (const stablehlo::Segment &segment : print.segments)
    for (const stablehlo::Segment::Move &each : segment.moves) {
      int64_t hops = 0;
      for (auto [from, to] : each.parts)
        hops = std::max(hops, std::min(std::abs(from - to), parts - std::abs(from - to)));
      if (hops > 0)
        send(segment.size, hops);
    }
  if (print.before > 0 || print.after > 0 || !print.segments.empty())
    move(bytesOf(type, dims) + edgesOf(print.size));
  return time;
}

Time Model::timeOfMirroring(RankedTensorType type, const Dims &dims, int64_t dim) const {
  // Devices at the ends have the longest routes.
  int64_t hops = 0;
  for (sdy::Axis axis : dims[dim])
    hops += axis.size - 1;
  const int64_t bytes = bytesOf(type, dims);
  return timeOfSending(type, bytes, bytes * hops, hops);
}

/// All devices send `bytes` in total, to the farthest over this many links.
Time Model::timeOfSending(RankedTensorType type, int64_t bytes, int64_t bytesTimesHops, int64_t hops) const {
  Work work;
  moveInDram(work, type, 2 * bytes);
  addWays(work, bytesTimesHops, hops);
  return timeOf(work);
}

Time Model::timeOfReshard(RankedTensorType type, const Dims &from, const Dims &to) {
  if (from == to)
    return {};
  std::vector<int64_t> key;
  for (const Dims *dims : {&from, &to})
    for (const sdy::Axes &axes : *dims) {
      key.push_back(static_cast<int64_t>(axes.size()));
      for (sdy::Axis axis : axes)
        llvm::append_range(key, std::initializer_list<int64_t>{axis.index, axis.pre, axis.size});
    }
  auto [entry, isNew] = reshards.try_emplace({type.getAsOpaquePointer(), std::move(key)});
  if (!isNew)
    return entry->second;
  Time time;
  Dims current = from;
  for (const sdy::CollectiveStep &step : sdy::planReshard(type.getShape(), from, to, sizes)) {
    Dims next(step.dims.begin(), step.dims.end());
    int64_t before = bytesOf(type, current), after = bytesOf(type, next);
    switch (step.kind) {
    case sdy::CollectiveStep::Slice: {
      Work work;
      moveInDram(work, type, before + after);
      time += timeOf(work);
      break;
    }
    case sdy::CollectiveStep::Permute: {
      int64_t hops = 0;
      for (int64_t size : sizes)
        hops += (size + 1) / 3;
      hops = std::max<int64_t>(hops, 1);
      time += timeOfSending(type, before, before * hops, hops);
      break;
    }
    case sdy::CollectiveStep::AllToAll:
      // The device at an end of an axis has the longest routes.
      for (const auto &move : step.moves) {
        const int64_t parts = sdy::product(move.axes);
        int64_t hops = 0, sent = 0;
        for (sdy::Axis axis : move.axes) {
          hops += axis.size - 1;
          sent += ::ttmlir::cost::lineBytes(before / parts * (parts / axis.size), axis.size);
        }
        time += timeOfSending(type, before, sent, hops);
      }
      break;
    case sdy::CollectiveStep::Gather:
      for (const sdy::Axes &axes : step.axes)
        for (sdy::Axis axis : llvm::reverse(axes)) {
          Work work;
          addRing(work, ::ttmlir::cost::Ring::Gather, before, axis.size);
          before *= axis.size;
          moveInDram(work, type, before + before / axis.size);
          time += timeOf(work);
        }
      break;
    }
    current = std::move(next);
  }
  return entry->second = time;
}
