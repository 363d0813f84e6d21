//===- OpCost.cpp - estimated times of TTNN ops ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "OpCost.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Target/TTNN/AttributeVisitor.h"
#include "ttmlir/costs/Fabric.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

using ::ttmlir::cost::Memory;
using ::ttmlir::cost::PlacedTensor;
using ::ttmlir::cost::Rule;
using ::ttmlir::cost::Shards;
using ::ttmlir::cost::tilesAlong;
using ::ttmlir::cost::Traffic;
using ::ttmlir::cost::Work;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The rule of an op, or nullptr if it is not an op of TTNN that a chip runs.
static const Rule *ruleOf(Operation *op) {
  if (!isa_and_nonnull<TTNNDialect>(op->getDialect()))
    return nullptr;
  StringRef name = op->getName().getStringRef();
  if (const Rule *rule = ::ttmlir::cost::findRule({name.data(), name.size()}))
    return rule;
  return op->hasTrait<trait::Elementwise>() ? &::ttmlir::cost::elementwise : nullptr;
}

Family ttnn::familyOf(Operation *op) {
  const Rule *rule = op->getNumResults() ? ruleOf(op) : nullptr;
  return rule ? rule->family : Family::None;
}

static RankedTensorType tensorOf(ValueRange values, size_t index) {
  return index < values.size() ? dyn_cast<RankedTensorType>(values[index].getType()) : RankedTensorType();
}

bool ttnn::keepsOrder(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (name == "reshape")
    return true;
  RankedTensorType in = tensorOf(op->getOperands(), 0);
  if (!in || (name != "permute" && name != "transpose"))
    return false;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, in.getRank()));
  if (auto permutation = op->getAttrOfType<DenseI64ArrayAttr>("permutation")) {
    order = llvm::to_vector(permutation.asArrayRef());
  } else {
    auto dim = [&](StringRef which) {
      auto attr = op->getAttrOfType<IntegerAttr>(which);
      const int64_t value = attr ? attr.getValue().getSExtValue() : 0;
      return value < 0 ? value + in.getRank() : value;
    };
    std::swap(order[dim("dim0")], order[dim("dim1")]);
  }
  llvm::erase_if(order, [&](int64_t dim) { return in.getDimSize(dim) == 1; });
  return llvm::is_sorted(order);
}

bool ttnn::flag(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<BoolAttr>(name);
  return attr && attr.getValue();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static Shards shardsOf(TTNNLayoutAttr layout) {
  if (!layout.isSharded())
    return Shards::None;
  switch (layout.getMemLayout().getValue()) {
  case TensorMemoryLayout::HeightSharded:
    return Shards::Height;
  case TensorMemoryLayout::WidthSharded:
    return Shards::Width;
  case TensorMemoryLayout::BlockSharded:
    return Shards::Block;
  default:
    return Shards::Other;
  }
}

std::optional<PlacedTensor> ttnn::placedTensor(Type type, TTNNLayoutAttr layout) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !layout)
    return std::nullopt;
  PlacedTensor placed;
  placed.memory = !layout.isOnDevice()                         ? Memory::Host
                  : layout.getBufferType() == BufferType::DRAM ? Memory::DRAM
                                                               : Memory::L1;
  placed.shards = shardsOf(layout);
  placed.tiled = layout.isTiled();
  placed.isF32 = layout.getDataType() == ttcore::DataType::Float32;
  placed.shape = {tensor.getShape().data(), tensor.getShape().size()};
  placed.columns = placed.sizeFromEnd(0);
  placed.rows = placed.columns ? tensor.getNumElements() / placed.columns : 1;
  placed.tiles = tilesAlong(placed.sizeFromEnd(1)) * tilesAlong(placed.columns);
  for (int64_t size : tensor.getShape().drop_back(std::min<int64_t>(2, tensor.getRank())))
    placed.tiles *= size;
  placed.tileBytes = ttcore::tileBytes(layout.getDataType());
  placed.bytes = placed.tiled ? placed.tiles * placed.tileBytes : tensor.getNumElements() * (placed.tileBytes / 1024);
  if (placed.shards != Shards::None) {
    placed.gridRows = layout.getGridShape()[0];
    placed.gridColumns = layout.getGridShape()[1];
    SmallVector<int64_t> shard = layout.getShardShape();
    placed.shardRows = shard[0];
    placed.shardColumns = shard[1];
  }
  return placed;
}

OpTensors::OpTensors(Operation *op) {
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      ins.push_back(placedTensor(operand.getType()));
  for (Value result : op->getResults())
    if (std::optional<PlacedTensor> created = placedTensor(result.getType()))
      outs.push_back(*created);
}

//===----------------------------------------------------------------------===//
// Attributes, as the rules read them
//===----------------------------------------------------------------------===//

using RuleAttribute = ::tt::shapes::Attribute;

namespace {
template <class T> struct IsOptional : std::false_type {};
template <class T> struct IsOptional<std::optional<T>> : std::true_type {};
} // namespace

static RuleAttribute numbers(ArrayRef<int64_t> values) {
  return RuleAttribute::of(::tt::shapes::View(values.data(), values.size()));
}

static RuleAttribute textOf(StringRef text) { return RuleAttribute::of(std::string_view(text.data(), text.size())); }

static RuleAttribute read(Attribute attr, StringRef path);

/// A field of a config: an attribute, or a value of C++.
template <class T> static RuleAttribute readField(const T &value, StringRef path) {
  if constexpr (IsOptional<T>::value)
    return value ? readField(*value, path) : RuleAttribute();
  else if constexpr (std::is_base_of_v<Attribute, T>)
    return read(value, path);
  else if constexpr (std::is_same_v<T, bool>)
    return RuleAttribute::of(value);
  else if constexpr (std::is_enum_v<T>)
    return textOf(stringifyEnum(value));
  else if constexpr (std::is_integral_v<T>)
    return RuleAttribute::of(static_cast<int64_t>(value));
  else
    return RuleAttribute::other();
}

/// `path`: nested fields of configs, separated by dots; empty for the attribute itself.
static RuleAttribute read(Attribute attr, StringRef path) {
  if (!attr)
    return {};
  if (path.empty()) {
    if (auto boolean = dyn_cast<BoolAttr>(attr))
      return RuleAttribute::of(boolean.getValue());
    if (auto integer = dyn_cast<IntegerAttr>(attr))
      return RuleAttribute::of(integer.getValue().getSExtValue());
    if (auto text = dyn_cast<StringAttr>(attr))
      return textOf(text.getValue());
    if (auto values = dyn_cast<DenseI32ArrayAttr>(attr))
      return numbers(llvm::to_vector_of<int64_t>(values.asArrayRef()));
    if (auto values = dyn_cast<DenseI64ArrayAttr>(attr))
      return numbers(values);
    if (auto values = dyn_cast<ArrayAttr>(attr); values && llvm::all_of(values, llvm::IsaPred<IntegerAttr>)) {
      SmallVector<int64_t> integers;
      for (IntegerAttr each : values.getAsRange<IntegerAttr>())
        integers.push_back(each.getValue().getSExtValue());
      return numbers(integers);
    }
    return RuleAttribute::other();
  }
  auto [field, rest] = path.split('.');
  RuleAttribute found;
  visitFields(attr, [&, field = field, rest = rest](StringRef name, const auto &value) {
    if (name == field)
      found = readField(value, rest);
  });
  return found;
}

namespace {
/// An op with the placements of its operands and results, which may differ from those of its types.
class PlacedOp final : public ::ttmlir::cost::Op {
public:
  PlacedOp(Operation *op, const OpTensors &tensors) : op(op) {
    StringRef text = op->getName().getStringRef();
    name = {text.data(), text.size()};
    outs = {tensors.outs.data(), tensors.outs.size()};
    auto segments =
        dyn_cast_or_null<DenseI32ArrayAttr>(op->getInherentAttr("operandSegmentSizes").value_or(Attribute()));
    if (!segments) {
      ins = {tensors.ins.data(), tensors.ins.size()};
      return;
    }
    // An absent operand is an empty segment.
    unsigned value = 0, tensor = 0;
    for (int32_t size : segments.asArrayRef()) {
      if (size == 0)
        operands.push_back(std::nullopt);
      for (int32_t i = 0; i < size; ++i)
        if (isa<RankedTensorType>(op->getOperand(value++).getType()))
          operands.push_back(tensors.ins[tensor++]);
    }
    ins = {operands.data(), operands.size()};
  }
  PlacedOp(const PlacedOp &) = delete;

  RuleAttribute attribute(std::string_view path) const override {
    auto [base, field] = StringRef(path).split('.');
    return read(op->getAttr(base), field);
  }

private:
  Operation *op;
  SmallVector<std::optional<PlacedTensor>, 6> operands;
};

/// A change of layout that is not an op yet.
struct Move final : ::ttmlir::cost::Op {
  RuleAttribute attribute(std::string_view) const override { return {}; }
};
} // namespace

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

Work OpCost::work(Operation *op, const OpTensors &tensors) {
  const Rule *rule = ruleOf(op);
  const bool runs = llvm::any_of(tensors.outs, [](const PlacedTensor &out) { return out.onDevice(); }) ||
                    llvm::any_of(tensors.ins, [](const auto &in) { return in && in->onDevice(); });
  if (rule && runs) {
    PlacedOp placed(op, tensors);
    if (rule->sends)
      if (std::optional<SmallVector<int64_t>> mesh = ttcore::lookupMeshShape(op); mesh && mesh->size() == 2)
        placed.mesh = {(*mesh)[0], (*mesh)[1]};
    return workOf(*rule, placed);
  }
  Work nothing;
  nothing.launched = false;
  return nothing;
}

OpCost::OpCost(ttcore::ChipDescAttr chip)
    : speed(chip.getArch().getValue() == ttcore::Arch::Blackhole ? ::ttmlir::cost::blackhole
                                                                 : ::ttmlir::cost::wormhole),
      cores(static_cast<double>(chip.getGrid()[0] * chip.getGrid()[1])) {}

::ttmlir::cost::Times OpCost::times(Operation *op, const OpTensors &tensors) const {
  return ::ttmlir::cost::timesOf(speed, cores, work(op, tensors));
}

double OpCost::nsWith(Operation *op, const OpTensors &tensors, const Work &work,
                      ArrayRef<std::pair<unsigned, PlacedTensor>> changed) const {
  const Rule *rule = ruleOf(op);
  // For rules that send nothing and have no traffic of their own, an operand is the part of it that is read.
  if (!rule || rule->traffic == Traffic::Own || rule->sends || !work.launched) {
    OpTensors others = tensors;
    for (const auto &[index, placed] : changed)
      others.ins[index] = placed;
    return times(op, others).total();
  }
  Work changedWork = work;
  for (const auto &[index, placed] : changed) {
    const Work after = readOf(*rule, placed, tensors.outs[0]),
               before = tensors.ins[index] ? readOf(*rule, *tensors.ins[index], tensors.outs[0]) : Work();
    changedWork.dramBytes += after.dramBytes - before.dramBytes;
    changedWork.dramPages += after.dramPages - before.dramPages;
    changedWork.l1Bytes += after.l1Bytes - before.l1Bytes;
  }
  return ::ttmlir::cost::timesOf(speed, cores, changedWork).total();
}

double OpCost::moveNs(const PlacedTensor &from, const PlacedTensor &to) const {
  static const Rule *const rule = ::ttmlir::cost::findRule("ttnn.to_memory_config");
  const std::optional<PlacedTensor> in = from;
  Move move;
  move.ins = {&in, 1};
  move.outs = {&to, 1};
  return ::ttmlir::cost::timesOf(speed, cores, workOf(*rule, move)).total();
}

double OpCost::sendNs(Value value) const {
  std::optional<PlacedTensor> tensor = placedTensor(value.getType());
  if (!tensor)
    return 0;
  Work work;
  addWays(work, tensor->bytes, 1);
  return ::ttmlir::cost::timesOf(speed, cores, work).total();
}

int64_t OpCost::circularBytes(Operation *op, const OpTensors &tensors, const ::ttmlir::cost::Chip &chip) {
  const Rule *rule = ruleOf(op);
  return rule ? ::ttmlir::cost::circularBytes(*rule, PlacedOp(op, tensors), chip) : 0;
}
