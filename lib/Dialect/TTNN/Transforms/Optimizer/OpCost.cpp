//===- OpCost.cpp - estimated times of TTNN ops ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "OpCost.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToLayoutOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToMemoryConfigOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToTensorSpecOp.h"
#include "ttmlir/Target/CircularBuffers.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

using ::ttmlir::cost::KernelFacts;
using ::ttmlir::cost::Memory;
using ::ttmlir::cost::PlacedTensor;
using ::ttmlir::cost::Shards;
using ::ttmlir::cost::tilesAlong;
using ::ttmlir::cost::Work;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Family ttnn::familyOf(Operation *op) {
  if (!isa_and_nonnull<TTNNDialect>(op->getDialect()) || op->getNumResults() == 0)
    return Family::None;
  if (op->hasTrait<trait::Elementwise>())
    return Family::Elementwise;
  if (op->hasTrait<trait::Reduction>())
    return Family::Reduction;
  return llvm::StringSwitch<Family>(op->getName().stripDialect())
      .Cases({"get_device", "constant", "begin_trace_capture"}, Family::None)
      .Cases({"matmul", "linear"}, Family::Product)
      .Cases({"conv1d", "conv2d", "conv_transpose2d"}, Family::Convolution)
      .Cases({"max_pool2d", "max_pool2d_with_indices", "avg_pool2d"}, Family::Pool)
      .Cases({"softmax", "layer_norm", "rms_norm"}, Family::Norm)
      .Case("reshape", Family::Reshape)
      .Cases({"permute", "transpose", "slice_static", "repeat", "repeat_interleave", "concat", "pad"}, Family::Movement)
      .Cases({"to_layout", "to_memory_config", "to_tensor_spec", "to_device", "from_device", "to_dtype"},
             Family::Movement)
      .Cases({"concatenate_heads", "nlp_concat_heads", "nlp_concat_heads_decode", "nlp_create_qkv_heads_decode"},
             Family::Movement)
      .Cases({"split_query_key_value_and_split_heads", "embedding"}, Family::Movement)
      .Cases({"scaled_dot_product_attention", "scaled_dot_product_attention_decode"}, Family::Attention)
      .Default(Family::Other);
}

static RankedTensorType tensorOf(ValueRange values, size_t index) {
  return index < values.size() ? dyn_cast<RankedTensorType>(values[index].getType()) : RankedTensorType();
}

static int64_t sizeFromEnd(RankedTensorType type, int64_t place) {
  return type.getRank() > place ? type.getDimSize(type.getRank() - 1 - place) : 1;
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
  PlacedTensor made;
  made.memory = !layout.isOnDevice()                         ? Memory::Host
                : layout.getBufferType() == BufferType::DRAM ? Memory::DRAM
                                                             : Memory::L1;
  made.shards = shardsOf(layout);
  made.tiled = layout.isTiled();
  made.columns = sizeFromEnd(tensor, 0);
  made.rows = made.columns ? tensor.getNumElements() / made.columns : 1;
  made.tiles = tilesAlong(sizeFromEnd(tensor, 1)) * tilesAlong(made.columns);
  for (int64_t size : tensor.getShape().drop_back(std::min<int64_t>(2, tensor.getRank())))
    made.tiles *= size;
  made.tileBytes = ttcore::tileBytes(layout.getDataType());
  made.bytes = made.tiled ? made.tiles * made.tileBytes : tensor.getNumElements() * (made.tileBytes / 1024);
  if (made.shards != Shards::None) {
    made.gridRows = layout.getGridShape()[0];
    made.gridColumns = layout.getGridShape()[1];
    SmallVector<int64_t> shard = layout.getShardShape();
    made.shardRows = shard[0];
    made.shardColumns = shard[1];
  }
  return made;
}

OpTensors::OpTensors(Operation *op) {
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      ins.push_back(placedTensor(operand.getType()));
  for (Value result : op->getResults())
    if (std::optional<PlacedTensor> made = placedTensor(result.getType()))
      outs.push_back(*made);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static bool isF32(Type type) {
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(type);
  return layout && layout.getDataType() == ttcore::DataType::Float32;
}

/// "" where there is none.
static StringRef activationOf(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>("activation"))
    return name.getValue();
  auto config = op->getAttrOfType<Conv2dConfigAttr>("conv2d_config");
  if (!config || !config.getActivation())
    return "";
  return stringifyUnaryOpType(config.getActivation().getOpType());
}

bool ttnn::flag(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<BoolAttr>(name);
  return attr && attr.getValue();
}

static int64_t number(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getValue().getSExtValue() : 0;
}

static ArrayRef<int32_t> numbers(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<DenseI32ArrayAttr>(name);
  return attr ? attr.asArrayRef() : ArrayRef<int32_t>();
}

static int64_t product(ArrayRef<int32_t> sizes) {
  int64_t all = 1;
  for (int32_t size : sizes)
    all *= size;
  return all;
}

/// Tiles of the result that a core makes, by the program config; 0 where there is none.
static std::array<int64_t, 2> tilesOfCore(Operation *op) {
  Attribute config = op->getAttr("matmul_program_config");
  if (auto both = dyn_cast_or_null<MatmulMultiCoreReuseMultiCastProgramConfigAttr>(config))
    return {int64_t(both.getPerCoreM()), int64_t(both.getPerCoreN())};
  if (auto one = dyn_cast_or_null<MatmulMultiCoreReuseMultiCast1DProgramConfigAttr>(config))
    return {int64_t(one.getPerCoreM()), int64_t(one.getPerCoreN())};
  if (auto sharded = dyn_cast_or_null<MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfigAttr>(config))
    return {int64_t(sharded.getPerCoreM()), int64_t(sharded.getPerCoreN())};
  return {0, 0};
}

static void addActivation(Operation *op, const OpTensors &tensors, Work &work) {
  StringRef name = activationOf(op);
  ::ttmlir::cost::addActivation(work, {name.data(), name.size()}, tensors.outs[0]);
}

static void addProduct(Operation *op, const OpTensors &tensors, Work &work) {
  RankedTensorType left = tensorOf(op->getOperands(), 0), result = tensorOf(op->getResults(), 0);
  const int64_t m = sizeFromEnd(result, 1), n = sizeFromEnd(result, 0);
  const int64_t k = sizeFromEnd(left, flag(op, "transpose_a") ? 1 : 0);
  const int64_t batches = m && n ? result.getNumElements() / (m * n) : 0;
  const bool byTurns = !op->hasAttr("matmul_program_config") &&
                       llvm::any_of(tensors.ins, [](const auto &in) { return in && in->isInterleavedInDram(); });
  RankedTensorType right = tensorOf(op->getOperands(), 1);
  ::ttmlir::cost::addProduct(work, {batches, m, k, n, byTurns, right && right.getNumElements() == k * n});
  work.cores = ::ttmlir::cost::coresOfProduct(tensors.outs[0], tilesOfCore(op));
  if (tensors.ins.size() > 2)
    work.fpuTiles += tensors.outs[0].tiles;
  addActivation(op, tensors, work);
}

/// The window of a convolution or a pool, as its attributes say.
static ::ttmlir::cost::Slid slidOf(Operation *op, int64_t channels) {
  RankedTensorType result = tensorOf(op->getResults(), 0);
  // A sequence has one number where an image has two.
  auto size = [&](StringRef name) {
    return std::max<int64_t>(1, product(numbers(op, name)) * std::max<int64_t>(1, number(op, name)));
  };
  auto last = [&](StringRef name) {
    ArrayRef<int32_t> sizes = numbers(op, name);
    return std::max<int64_t>(1, sizes.empty() ? number(op, name) : sizes.back());
  };
  const int64_t area = size("kernel_size");
  const bool isPixel = area == 1 && op->getName().stripDialect() != "conv_transpose2d" && size("stride") == 1 &&
                       !number(op, "padding") &&
                       llvm::all_of(numbers(op, "padding"), [](int32_t size) { return size == 0; });
  // Elements of a row of the window lie side by side unless there are others between them.
  const int64_t run = last("dilation") == 1 ? last("kernel_size") : 1;
  const int64_t columns = sizeFromEnd(result, 0);
  return {columns ? result.getNumElements() / columns : 0, area, area / run, channels, isPixel};
}

static void addConvolution(Operation *op, const OpTensors &tensors, Work &work) {
  const int64_t results = number(op, "out_channels");
  if (results == 0 || tensors.ins.size() < 2 || !tensors.ins[0] || !tensors.ins[1])
    return;
  const bool hasBias = tensors.ins.size() > 2;
  ::ttmlir::cost::addConvolution(work, {slidOf(op, number(op, "in_channels")), results, hasBias}, *tensors.ins[0],
                                 *tensors.ins[1], tensors.outs[0]);
  addActivation(op, tensors, work);
}

static void addPool(Operation *op, const OpTensors &tensors, Work &work) {
  if (!tensors.ins.empty() && tensors.ins[0])
    ::ttmlir::cost::addPool(work, slidOf(op, number(op, "channels")), *tensors.ins[0], tensors.outs[0]);
}

static bool isDecoding(Operation *op) { return op->getName().stripDialect() == "scaled_dot_product_attention_decode"; }

/// Which of the operands the last of an op's groups has, if any.
static std::optional<size_t> groupPlace(Operation *op, size_t group) {
  auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  if (!segments || static_cast<size_t>(segments.size()) <= group || !segments[group])
    return std::nullopt;
  size_t place = 0;
  for (int32_t size : segments.asArrayRef().take_front(group))
    place += size;
  return place;
}

static std::optional<::ttmlir::cost::Attended> attendedOf(Operation *op) {
  RankedTensorType query = tensorOf(op->getOperands(), 0), key = tensorOf(op->getOperands(), 1),
                   value = tensorOf(op->getOperands(), 2);
  if (!query || !key || !value || query.getRank() != 4 || key.getRank() != 4)
    return std::nullopt;
  // A token of each user comes as [1, users, heads, size].
  const bool decodes = isDecoding(op);
  ::ttmlir::cost::Attended attended{query.getDimSize(decodes ? 1 : 0),
                                    query.getDimSize(decodes ? 2 : 1),
                                    decodes ? 1 : query.getDimSize(2),
                                    key.getDimSize(2),
                                    query.getDimSize(3),
                                    sizeFromEnd(value, 0)};
  attended.isCausal = flag(op, "is_causal");
  attended.isMasked = groupPlace(op, 3).has_value();
  if (decodes)
    attended = decoded(attended, std::max<int64_t>(1, key.getDimSize(1)));
  if (auto config = op->getAttrOfType<SDPAProgramConfigAttr>("program_config")) {
    if (config.getQChunkSize())
      attended.rowChunk = static_cast<int64_t>(config.getQChunkSize());
    if (config.getKChunkSize())
      attended.columnChunk = static_cast<int64_t>(config.getKChunkSize());
  }
  return attended;
}

static void addAttention(Operation *op, const OpTensors &tensors, Work &work) {
  std::optional<::ttmlir::cost::Attended> attended = attendedOf(op);
  if (!attended || !tensors.ins[1] || !tensors.ins[2])
    return;
  ::ttmlir::cost::addAttention(work, *attended, *tensors.ins[1], *tensors.ins[2]);
  if (isDecoding(op))
    work.isDividedByUnits = false; // cores share the keys of each user out
}

/// Steps of softmax and norms.
static void addNorm(Operation *op, const PlacedTensor &rows, Work &work) {
  StringRef name = op->getName().stripDialect();
  if (name != "softmax") {
    addRows(work, rows, ::ttmlir::cost::normPasses(name == "layer_norm", op->getNumOperands() - 1));
    return;
  }
  addRows(work, rows, ::ttmlir::cost::softmaxPasses);
  work.sfpuTiles += rows.tiles;
  work.sfpuCycles += rows.tiles * ::ttmlir::cost::exponentialCycles;
}

static void addVectorPass(Operation *op, const OpTensors &tensors, Work &work) {
  StringRef name = op->getName().getStringRef();
  for (const PlacedTensor &out : tensors.outs)
    ::ttmlir::cost::addVectorPass(work, {name.data(), name.size()}, out, isF32(op->getResult(0).getType()));
}

static bool isViewOf(Operation *op, const OpTensors &tensors) {
  RankedTensorType from = tensorOf(op->getOperands(), 0), to = tensorOf(op->getResults(), 0);
  return from && tensors.ins[0] && from.getElementType() == to.getElementType() &&
         haveSamePlacement(*tensors.ins[0], tensors.outs[0]) &&
         ::ttmlir::cost::keepsPlaces(sizeFromEnd(from, 1), sizeFromEnd(from, 0), sizeFromEnd(to, 1), sizeFromEnd(to, 0),
                                     tensors.outs[0].tiled);
}

static bool isLayoutChange(Operation *op) { return isa<ToLayoutOp, ToMemoryConfigOp, ToTensorSpecOp>(op); }

/// Ops that bring values to other places.
static bool readsOverNetwork(Family family) {
  return family == Family::Movement || family == Family::Reshape || family == Family::Attention;
}

Work OpCost::work(Operation *op, const OpTensors &tensors) {
  Work work;
  const Family family = familyOf(op);
  const bool runs = llvm::any_of(tensors.outs, [](const PlacedTensor &out) { return out.onDevice(); }) ||
                    llvm::any_of(tensors.ins, [](const auto &in) { return in && in->onDevice(); });
  if (family == Family::None || tensors.outs.empty() || !runs) {
    work.launched = false;
    return work;
  }
  if (family == Family::Reshape && isViewOf(op, tensors)) {
    work.launched = false;
    return work;
  }
  SmallVector<PlacedTensor, 4> operands;
  for (const auto &in : tensors.ins)
    if (in)
      operands.push_back(*in);
  ::ttmlir::cost::addTraffic(work, {operands.data(), operands.size()}, tensors.outs[0], readsOverNetwork(family));
  for (const PlacedTensor &out : llvm::drop_begin(tensors.outs))
    ::ttmlir::cost::addTransfer(work, out);
  switch (family) {
  case Family::Product:
    addProduct(op, tensors, work);
    break;
  case Family::Convolution:
    addConvolution(op, tensors, work);
    break;
  case Family::Attention:
    addAttention(op, tensors, work);
    break;
  case Family::Pool:
    addPool(op, tensors, work);
    break;
  case Family::Reduction:
    work.fpuTiles = operands.empty() ? 0 : operands[0].tiles;
    break;
  case Family::Norm:
    if (!operands.empty())
      addNorm(op, operands[0], work);
    break;
  case Family::Elementwise:
    addVectorPass(op, tensors, work);
    if (StringRef name = op->getName().getStringRef(); ::ttmlir::cost::isOfMatrixUnit({name.data(), name.size()}))
      std::swap(work.sfpuTiles, work.fpuTiles);
    break;
  case Family::Other:
    addVectorPass(op, tensors, work);
    break;
  case Family::Movement:
    if (isLayoutChange(op) && !operands.empty())
      addLayoutChange(work, operands[0], tensors.outs[0]);
    break;
  case Family::Reshape:
  case Family::None:
    break;
  }
  if (auto config = op->getAttrOfType<DeviceComputeKernelConfigAttr>("compute_config"))
    if (auto fidelity = config.getMathFidelity())
      work.phases = std::clamp(static_cast<int>(*fidelity), 1, 4); // LoFi is 0
  if (!work.cores)
    work.cores = ::ttmlir::cost::busyCores(tensors.outs[0]);
  return work;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

OpCost::OpCost(ttcore::ChipDescAttr chip)
    : speed(chip.getArch().getValue() == ttcore::Arch::Blackhole ? ::ttmlir::cost::blackhole
                                                                 : ::ttmlir::cost::wormhole),
      cores(static_cast<double>(chip.getGrid()[0] * chip.getGrid()[1])) {}

::ttmlir::cost::Times OpCost::times(Operation *op, const OpTensors &tensors) const {
  return ::ttmlir::cost::timesOf(speed, cores, work(op, tensors));
}

double OpCost::nsWith(Operation *op, const OpTensors &tensors, const Work &work,
                      ArrayRef<std::pair<unsigned, PlacedTensor>> changed) const {
  const Family family = familyOf(op);
  // These look at where their few operands lie. To all others an operand is what is read of it.
  const bool looks = family == Family::Product || family == Family::Convolution || family == Family::Pool ||
                     family == Family::Attention || family == Family::Reshape || isLayoutChange(op);
  if (looks || !work.launched) {
    OpTensors others = tensors;
    for (const auto &[index, lies] : changed)
      others.ins[index] = lies;
    return times(op, others).total();
  }
  auto traffic = [&](const PlacedTensor &operand) {
    Work read;
    if (readsOverNetwork(family) || !::ttmlir::cost::isOnSameCores(operand, tensors.outs[0]))
      ::ttmlir::cost::addTransfer(read, operand);
    return read;
  };
  Work made = work;
  for (const auto &[index, lies] : changed) {
    const Work after = traffic(lies), before = tensors.ins[index] ? traffic(*tensors.ins[index]) : Work();
    made.dramBytes += after.dramBytes - before.dramBytes;
    made.dramPages += after.dramPages - before.dramPages;
    made.l1Bytes += after.l1Bytes - before.l1Bytes;
  }
  return ::ttmlir::cost::timesOf(speed, cores, made).total();
}

double OpCost::moveNs(const PlacedTensor &from, const PlacedTensor &to) const {
  Work work;
  ::ttmlir::cost::addTraffic(work, {&from, 1}, to, /*moves=*/true);
  addLayoutChange(work, from, to);
  work.cores = ::ttmlir::cost::busyCores(to);
  return ::ttmlir::cost::timesOf(speed, cores, work).total();
}

double OpCost::sendNs(Value value) const {
  std::optional<PlacedTensor> tensor = placedTensor(value.getType());
  if (!tensor)
    return 0;
  Work work;
  work.fabricBytes = tensor->bytes;
  work.fabricHops = 1;
  return ::ttmlir::cost::timesOf(speed, cores, work).total();
}

/// What the rules of convolutions and pools ask; of pools, `results` is 0.
static ::ttmlir::cost::WindowFacts windowFacts(Operation *op) {
  auto kernel = numbers(op, "kernel_size");
  const int64_t results = number(op, "out_channels");
  ::ttmlir::cost::WindowFacts facts;
  facts.slid = slidOf(op, number(op, results ? "in_channels" : "channels"));
  facts.height = kernel.empty() ? 1 : kernel.front();
  facts.width = kernel.empty() ? 1 : kernel.back();
  facts.results = results;
  facts.hasBias = results && op->getNumOperands() > 2 && isa<RankedTensorType>(op->getOperand(2).getType());
  auto isSet = [](BoolAttr value) { return value && value.getValue(); };
  if (auto config = op->getAttrOfType<Conv2dConfigAttr>("conv2d_config")) {
    facts.buffersImageTwice = isSet(config.getEnableActDoubleBuffer());
    facts.buffersWeightsTwice = isSet(config.getEnableWeightsDoubleBuffer());
    facts.blockRows = config.getActBlockHOverride().value_or(0);
    facts.widthDivisor = std::max<int64_t>(1, config.getActBlockWDiv().value_or(1));
  }
  facts.isAverage = op->getName().stripDialect() == "avg_pool2d";
  if (facts.isAverage)
    facts.dividesUnevenly =
        flag(op, "ceil_mode") || (!flag(op, "count_include_pad") &&
                                  llvm::any_of(numbers(op, "padding"), [](int32_t size) { return size != 0; }));
  return facts;
}

int64_t OpCost::circularBytes(Operation *op, const OpTensors &tensors, int64_t usable, int64_t cores) {
  StringRef name = op->getName().getStringRef();
  KernelFacts facts;
  facts.op = {name.data(), name.size()};
  facts.ins = {tensors.ins.data(), tensors.ins.size()};
  facts.outs = {tensors.outs.data(), tensors.outs.size()};
  facts.elementwise = op->hasTrait<trait::Elementwise>();
  facts.accumulatesF32 = op->getNumResults() && isF32(op->getResult(0).getType());
  if (auto config = op->getAttrOfType<DeviceComputeKernelConfigAttr>("compute_config")) {
    if (BoolAttr wide = config.getFp32DestAccEn())
      facts.accumulatesF32 = wide.getValue();
    if (BoolAttr adds = config.getPackerL1Acc())
      facts.accumulatesInL1 = adds.getValue();
  }
  facts.cores = cores;
  const Family family = familyOf(op);
  if (family == Family::Pool || op->getName().stripDialect() == "conv2d")
    facts.window = windowFacts(op);
  if (family == Family::Attention)
    if (auto attended = attendedOf(op)) {
      facts.attended = *attended;
      auto given = [&](size_t group) -> const PlacedTensor * {
        std::optional<size_t> place = groupPlace(op, group);
        return place && *place < tensors.ins.size() && tensors.ins[*place] ? &*tensors.ins[*place] : nullptr;
      };
      facts.mask = given(3);
      facts.sink = given(isDecoding(op) ? 5 : 4);
    }
  facts.readsF32 = op->getNumOperands() && isF32(op->getOperand(0).getType());
  facts.numericStable = flag(op, "numericStable");
  auto take = [&](int64_t inner, int64_t rows, int64_t columns) {
    facts.inner = inner;
    facts.rows = rows;
    facts.columns = columns;
  };
  // A core works on a block of its part of the result at a time.
  auto block = [](int64_t size, int64_t whole) { return size > 0 ? std::min(size, whole) : whole; };
  auto takeBlocks = [&](auto config) {
    take(config.getIn0BlockW(), block(config.getOutBlockH(), config.getPerCoreM()),
         block(config.getOutBlockW(), config.getPerCoreN()));
  };
  Attribute config = op->getAttr("matmul_program_config");
  if (auto both = dyn_cast_or_null<MatmulMultiCoreReuseMultiCastProgramConfigAttr>(config))
    takeBlocks(both);
  else if (auto one = dyn_cast_or_null<MatmulMultiCoreReuseMultiCast1DProgramConfigAttr>(config))
    takeBlocks(one);
  else if (auto sharded = dyn_cast_or_null<MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfigAttr>(config))
    take(sharded.getIn0BlockW(), sharded.getPerCoreM(), sharded.getPerCoreN());
  return ::ttmlir::cost::circularBytes(facts, usable);
}
