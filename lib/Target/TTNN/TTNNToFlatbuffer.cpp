//===- TTNNToFlatbuffer.cpp - serialization of TTNN programs --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Target/TTNN/TTNNToFlatbuffer.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/CaptureOrExecuteTraceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/D2MSubgraphOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GenericOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GetDeviceOp.h"
#include "ttmlir/Target/TTNN/Lowered.h"

#include "AttributeWriter.h"
#include "ModuleText.h"
#include "SystemWriter.h"

#include "ttmlir/Dialect/Debug/IR/Debug.h"
#include "ttmlir/Dialect/InherentAttributes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/MergedOps.h"
#include "ttmlir/Dialect/TTCore/Transforms/PlacedOps.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTCore/Transforms/Stages.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Dialect/TTNN/IR/Traces.h"
#include "ttmlir/Target/TTNN/NativeCode.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;
namespace fb = ::tt::target;

template <class T> using OffsetTo = flatbuffers::Offset<T>;

/// Offsets in a flatbuffer have 31 bits.
static constexpr uint64_t maxFileBytes = uint64_t(1) << 31;
/// The index of an operand that is absent.
static constexpr uint32_t absentOperand = 0xFFFFFFFF;

//===----------------------------------------------------------------------===//
// The binary
//===----------------------------------------------------------------------===//

namespace {
class BinaryWriter {
public:
  BinaryWriter(ModuleOp module, std::optional<NativeCode> native)
      : module(module), native(std::move(native)), builder(reserve(module)), constants(builder),
        attributes(builder, constants), text(module), locationNames(module.getContext()) {}

  LogicalResult write(llvm::raw_ostream &os);

private:
  /// Reserves space for the constants, so that the buffer does not grow by copying them.
  static size_t reserve(ModuleOp module);

  FailureOr<OffsetTo<fb::Program>> writeProgram(func::FuncOp function);
  FailureOr<OffsetTo<fb::Program>> writePipeline(func::FuncOp function);
  /// Writes the description of a tensor. For a pipeline, `rows` is the factor by which dimension 0 is longer than in
  /// the type; the host holds its values.
  FailureOr<uint32_t> writeDesc(Type type, function_ref<InFlightDiagnostic()> emitError, int64_t rows = 0);
  FailureOr<Attribute> numberPrograms(Operation *op, Attribute value) const;
  LogicalResult writeOperation(Operation *op);
  FailureOr<uint32_t> addValue(Value value, function_ref<InFlightDiagnostic()> emitError, int64_t rows = 0);
  std::string nameOf(Value value);
  std::vector<uint32_t> operandsOf(Operation *op);
  template <class T> OffsetTo<flatbuffers::Vector<T>> vector(ArrayRef<T> values) {
    return builder.CreateVector(values.data(), values.size());
  }

  ModuleOp module;
  std::optional<NativeCode> native; // of functions of the host
  flatbuffers::FlatBufferBuilder builder;
  ConstantWriter constants;
  AttributeWriter attributes;
  ModuleText text;
  AsmState locationNames;

  std::vector<uint32_t> mesh;
  llvm::StringMap<int64_t> programIndices;
  DenseMap<std::pair<Type, int64_t>, uint32_t> descIndices; // by type and rows
  std::vector<OffsetTo<fb::TensorDesc>> descs;

  // State of the program that is being written.
  DenseMap<Value, uint32_t> valueIndices;
  std::vector<OffsetTo<fb::Value>> values;
  std::vector<OffsetTo<fb::Operation>> operations;
};
} // namespace

/// The values of a constant op, and the format in which they are stored.
static std::optional<std::pair<ElementsAttr, ttcore::DataType>> constantOf(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  TTNNLayoutAttr layout = constant ? TTNNLayoutAttr::of(constant->getResult(0).getType()) : TTNNLayoutAttr();
  if (!layout)
    return std::nullopt;
  return std::pair(constant.getValue(), layout.getDataType());
}

size_t BinaryWriter::reserve(ModuleOp module) {
  // Reserves space for ops, which include their text; unused space costs nothing.
  uint64_t bytes = 1 << 20;
  module.walk([&](Operation *op) {
    bytes += 1 << 13;
    if (auto constant = constantOf(op))
      bytes += storedBytes(constant->first, constant->second);
  });
  return std::min(bytes, maxFileBytes - 1);
}

LogicalResult BinaryWriter::write(llvm::raw_ostream &os) {
  uint64_t constantBytes = 0;
  DenseSet<Attribute> counted;
  module.walk([&](Operation *op) {
    if (auto constant = constantOf(op); constant && counted.insert(constant->first).second)
      constantBytes += storedBytes(constant->first, constant->second);
  });
  // A sixteenth is left to everything else.
  if (constantBytes > maxFileBytes / 16 * 15)
    return module.emitError() << "constants take " << constantBytes << " bytes; a flatbuffer holds less than "
                              << maxFileBytes;
  std::vector<uint32_t> whole; // of programs whose stages are for the mesh of the device
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (auto stages = function->getAttrOfType<DenseI64ArrayAttr>(ttcore::stagesMeshName))
      whole.assign(stages.asArrayRef().begin(), stages.asArrayRef().end());
  FailureOr<OffsetTo<fb::SystemDesc>> system = writeSystem(module, builder, mesh, whole);
  if (failed(system))
    return failure();

  // The runtime gets the recorded function of a trace, which it prepares once in any case.
  SymbolTableCollection symbols;
  llvm::StringMap<StringRef> recordedBy;
  WalkResult traces = module.walk([&](CaptureOrExecuteTraceOp op) {
    FunctionOpInterface traced = op.lookupTraced(symbols);
    if (!traced)
      return WalkResult::interrupt();
    for (StringRef name : {op.getAllocateSlotsCallee(), op.getCaptureCallee(), op.getExecuteCallee()})
      recordedBy[name] = traced.getName();
    return WalkResult::advance();
  });
  if (traces.wasInterrupted())
    return failure();
  // Declarations are kernels of generic ops.
  auto functions = llvm::make_filter_range(module.getOps<func::FuncOp>(), [&](func::FuncOp function) {
    return !function.isExternal() && !recordedBy.contains(function.getSymName());
  });
  for (func::FuncOp function : functions)
    programIndices.try_emplace(function.getSymName(), programIndices.size());
  for (const auto &[name, traced] : recordedBy)
    if (auto found = programIndices.find(traced); found != programIndices.end())
      programIndices[name] = found->second;
  std::vector<OffsetTo<fb::Program>> programs;
  for (func::FuncOp function : functions) {
    FailureOr<OffsetTo<fb::Program>> program =
        function->hasAttr(ttcore::stagesMeshName) ? writePipeline(function) : writeProgram(function);
    if (failed(program))
      return failure();
    programs.push_back(*program);
  }

  OffsetTo<fb::NativeCode> nativeCode;
  if (native) {
    auto library =
        builder.CreateVector(reinterpret_cast<const uint8_t *>(native->library.data()), native->library.size());
    nativeCode = fb::CreateNativeCode(builder, builder.CreateString(native->triple), native->hash, library);
  }
  builder.FinishSizePrefixed(
      fb::CreateBinary(builder,
                       fb::CreateVersion(builder, TTMLIR_VERSION_MAJOR, TTMLIR_VERSION_MINOR, TTMLIR_VERSION_PATCH),
                       fb::schemaVersion, *system, builder.CreateVector(descs), builder.CreateVector(programs),
                       constants.finish(), builder.CreateString(text.all().data(), text.all().size()), nativeCode),
      fb::BinaryIdentifier());
  os.write(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  return success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

FailureOr<uint32_t> BinaryWriter::writeDesc(Type type, function_ref<InFlightDiagnostic()> emitError, int64_t rows) {
  if (auto found = descIndices.find({type, rows}); found != descIndices.end())
    return found->second;
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(type);
  if (!layout)
    return emitError() << " is " << type << "; expected a tensor with a #ttnn.ttnn_layout (run ttnn-layout first)";
  // The runtime reads the declared element type.
  Type element = cast<RankedTensorType>(type).getElementType();
  if (ttcore::elementTypeToDataType(element) != layout.getDataType() &&
      !(ttcore::isBlockFormat(layout.getDataType()) && isa<FloatType>(element)))
    return emitError() << " is " << type << ", whose elements are " << element << " where its layout holds "
                       << ttcore::stringifyDataType(layout.getDataType());
  auto memoryLayout = fb::TensorMemoryLayout::Unset;
  if (layout.getMemLayout() && !rows)
    memoryLayout = static_cast<fb::TensorMemoryLayout>(layout.getMemLayout().getValue());
  // A grid and a shard shape are meaningful for sharded tensors only.
  OffsetTo<flatbuffers::Vector<int64_t>> grid, shard;
  if (layout.isSharded() && !rows) {
    grid = vector(layout.getGridShape());
    shard = vector<int64_t>(layout.getShardShape());
  }
  SmallVector<int64_t> sizes(cast<RankedTensorType>(type).getShape());
  if (rows && !sizes.empty())
    sizes[0] *= rows;
  auto shape = vector<int64_t>(sizes);
  descs.push_back(fb::CreateTensorDesc(
      builder, shape, static_cast<fb::DataType>(layout.getDataType()), static_cast<fb::Layout>(layout.getLayout()),
      rows ? fb::BufferType::SystemMemory : static_cast<fb::BufferType>(layout.getBufferType()), memoryLayout, grid,
      shard, bool(layout.getTensorMesh())));
  return descIndices[{type, rows}] = descs.size() - 1;
}

/// Returns the name in the module's text, unless the source gave an argument a name.
std::string BinaryWriter::nameOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ttir.name"))
      return name.str();
    if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
      return name.getName().str();
  }
  return text.of(value);
}

FailureOr<uint32_t> BinaryWriter::addValue(Value value, function_ref<InFlightDiagnostic()> emitError, int64_t rows) {
  FailureOr<uint32_t> desc = writeDesc(value.getType(), emitError, rows);
  if (failed(desc))
    return failure();
  values.push_back(fb::CreateValue(builder, *desc, builder.CreateString(nameOf(value))));
  return valueIndices[value] = values.size() - 1;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

FailureOr<OffsetTo<fb::Program>> BinaryWriter::writeProgram(func::FuncOp function) {
  valueIndices.clear();
  values.clear();
  operations.clear();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "has " << llvm::range_size(function.getBody()) << " blocks; a program has one";

  std::vector<uint32_t> inputs, outputs;
  for (BlockArgument argument : function.getArguments()) {
    if (isa<DeviceType>(argument.getType()))
      continue;
    FailureOr<uint32_t> index =
        addValue(argument, [&] { return function.emitOpError() << "argument " << argument.getArgNumber(); });
    if (failed(index))
      return failure();
    inputs.push_back(*index);
  }
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator())
    if (failed(writeOperation(&op)))
      return failure();
  for (Value value : body.getTerminator()->getOperands()) {
    if (!valueIndices.contains(value))
      return body.getTerminator()->emitOpError() << "returns " << value.getType() << "; a program returns tensors";
    outputs.push_back(valueIndices.lookup(value));
  }
  return fb::CreateProgram(builder, builder.CreateString(function.getSymName().str()), builder.CreateVector(values),
                           builder.CreateVector(inputs), builder.CreateVector(outputs),
                           builder.CreateVector(operations), builder.CreateVector(mesh), function.isPrivate());
}

/// A function that calls its stages, as ttnn-pipeline-stages produces it.
FailureOr<OffsetTo<fb::Program>> BinaryWriter::writePipeline(func::FuncOp function) {
  valueIndices.clear();
  values.clear();
  auto whole = function->getAttrOfType<DenseI64ArrayAttr>(ttcore::stagesMeshName);
  auto parts = function->getAttrOfType<IntegerAttr>(ttcore::microBatchesName);
  if (!whole || whole.size() != 2 || !function.getBody().hasOneBlock())
    return function.emitOpError() << "has " << ttcore::stagesMeshName
                                  << "; expected two sizes, and a body of one block";
  const int64_t microBatches = parts ? parts.getInt() : 1;
  auto rowsOf = [&](DictionaryAttr attrs) {
    return attrs && attrs.contains(ttcore::microBatchName) ? microBatches : int64_t(1);
  };
  struct Place {
    uint32_t stage = 0xFFFFFFFF, index = 0; // of the pipeline's inputs, unless a stage gives it
  };
  DenseMap<Value, Place> places;
  std::vector<uint32_t> inputs, outputs;
  for (BlockArgument argument : function.getArguments()) {
    const unsigned number = argument.getArgNumber();
    FailureOr<uint32_t> index = addValue(
        argument, [&] { return function.emitOpError() << "argument " << number; },
        rowsOf(function.getArgAttrDict(number)));
    if (failed(index))
      return failure();
    places[argument].index = inputs.size();
    inputs.push_back(*index);
  }
  auto placesOf = [&](ValueRange values) {
    std::vector<OffsetTo<fb::StageValue>> entries;
    for (Value value : values)
      entries.push_back(fb::CreateStageValue(builder, places[value].stage, places[value].index));
    return builder.CreateVector(entries);
  };
  std::vector<OffsetTo<fb::Stage>> stages;
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator()) {
    auto call = dyn_cast<func::CallOp>(op);
    auto offset = op.getAttrOfType<DenseI64ArrayAttr>(ttcore::meshOffsetName);
    auto program = call ? programIndices.find(call.getCallee()) : programIndices.end();
    if (program == programIndices.end() || !offset)
      return op.emitOpError() << "is in a function of stages; expected calls with " << ttcore::meshOffsetName
                              << " of functions with a body";
    std::vector<uint32_t> first(offset.asArrayRef().begin(), offset.asArrayRef().end());
    stages.push_back(
        fb::CreateStage(builder, program->second, builder.CreateVector(first), placesOf(op.getOperands())));
    for (OpResult result : op.getResults()) {
      places[result].stage = stages.size() - 1;
      places[result].index = result.getResultNumber();
    }
  }
  ValueRange results = body.getTerminator()->getOperands();
  for (auto [number, value] : llvm::enumerate(results)) {
    FailureOr<uint32_t> index = addValue(
        value, [&] { return body.getTerminator()->emitOpError() << "operand " << number; },
        rowsOf(function.getResultAttrDict(number)));
    if (failed(index))
      return failure();
    outputs.push_back(*index);
  }
  auto pipeline = fb::CreatePipeline(builder, builder.CreateVector(stages), placesOf(results), microBatches);
  std::vector<uint32_t> chips(whole.asArrayRef().begin(), whole.asArrayRef().end());
  return fb::CreateProgram(builder, builder.CreateString(function.getSymName().str()), builder.CreateVector(values),
                           builder.CreateVector(inputs), builder.CreateVector(outputs), {}, builder.CreateVector(chips),
                           function.isPrivate(), pipeline);
}

/// Tensors in ODS order. An absent operand is an empty segment, which matters only if others follow.
std::vector<uint32_t> BinaryWriter::operandsOf(Operation *op) {
  std::vector<uint32_t> indices;
  auto add = [&](Value operand) {
    if (!isa<DeviceType>(operand.getType()))
      indices.push_back(valueIndices.lookup(operand));
  };
  auto segments = dyn_cast_or_null<DenseI32ArrayAttr>(op->getInherentAttr("operandSegmentSizes").value_or(Attribute()));
  if (!segments) {
    llvm::for_each(op->getOperands(), add);
    return indices;
  }
  unsigned next = 0;
  for (int32_t size : segments.asArrayRef()) {
    if (size == 0)
      indices.push_back(absentOperand);
    for (int32_t i = 0; i < size; ++i)
      add(op->getOperand(next++));
  }
  while (!indices.empty() && indices.back() == absentOperand)
    indices.pop_back();
  return indices;
}

/// `value` with the numbers of programs in place of their names.
FailureOr<Attribute> BinaryWriter::numberPrograms(Operation *op, Attribute value) const {
  if (auto name = dyn_cast<FlatSymbolRefAttr>(value)) {
    auto callee = programIndices.find(name.getValue());
    if (callee == programIndices.end())
      return op->emitOpError() << "calls '" << name.getValue() << "', which has no body";
    return Attribute(Builder(op->getContext()).getI64IntegerAttr(callee->second));
  }
  auto names = dyn_cast<ArrayAttr>(value);
  if (!names)
    return value;
  SmallVector<Attribute> numbers;
  for (Attribute name : names) {
    FailureOr<Attribute> number = numberPrograms(op, name);
    if (failed(number))
      return failure();
    numbers.push_back(*number);
  }
  return Attribute(ArrayAttr::get(op->getContext(), numbers));
}

LogicalResult BinaryWriter::writeOperation(Operation *op) {
  // The mesh of the program stands for its device.
  if (isa<GetDeviceOp>(op))
    return success();
  const bool calls = op->hasTrait<trait::RunsFunctions>();
  if (!calls && !isa_and_nonnull<TTNNDialect, debug::DebugDialect>(op->getDialect()))
    return op->emitError() << "'" << op->getName() << "' is no TTNN op; a program has no others";
  if (isa<D2MSubgraphOp>(op))
    return op->emitOpError() << "calls a function that is to be compiled to kernels; run ttnn-through-d2m-pipeline and "
                                "ttnn-collaspe-d2m first";
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (!isa<DeviceType>(operand.getType()) && !valueIndices.contains(operand))
      return op->emitOpError() << "operand " << index << " is " << operand.getType()
                               << "; a program passes tensors only";

  std::vector<uint32_t> results;
  for (OpResult result : op->getResults()) {
    FailureOr<uint32_t> value =
        addValue(result, [&] { return op->emitOpError() << "result " << result.getResultNumber(); });
    if (failed(value))
      return failure();
    results.push_back(*value);
  }

  std::optional<ttcore::DataType> dataType;
  if (auto constant = constantOf(op))
    dataType = constant->second;
  std::vector<OffsetTo<fb::Attribute>> entries;
  for (NamedAttribute attr : op->getAttrs()) {
    StringRef name = attr.getName();
    auto list = dyn_cast<ArrayAttr>(attr.getValue());
    const bool isMerged = name == ttcore::mergedName && list && !list.empty();
    // What is attached to the op is no argument of the call, but for how it computes, which elementwise ops do not
    // declare, and for its epochs, its part, its place and the ops that it computes, which reports show.
    if (name == "operandSegmentSizes" || name == "resultSegmentSizes" ||
        (!isInherent(op->getName(), attr.getName()) && name != ttcore::epochName && name != ttcore::partName &&
         !isMerged && !llvm::is_contained(ttcore::placeNames, name) &&
         !isa<DeviceComputeKernelConfigAttr>(attr.getValue())))
      continue;
    Attribute value = attr.getValue();
    // A called function is known by its index.
    if (calls && !isMerged) {
      FailureOr<Attribute> numbered = numberPrograms(op, value);
      if (failed(numbered))
        return failure();
      value = *numbered;
    }
    // Functions in the file's native code are called by the hash of their code.
    if (auto call = dyn_cast<debug::HostCallOp>(op);
        call && native && name == "function" && native->functions.contains(call.getFunction()))
      value = StringAttr::get(op->getContext(), native->nameOf(call.getFunction()));
    FailureOr<OffsetTo<fb::Attribute>> entry =
        attributes.write(name, value, dataType, [&] { return op->emitOpError(); });
    if (failed(entry))
      return failure();
    entries.push_back(*entry);
  }

  // Kernels run on the cores of one kind of chip.
  if (isa<GenericOp>(op)) {
    auto system = module->getAttrOfType<ttcore::SystemDescAttr>(ttcore::systemDescName);
    if (!system || system.getChipDescs().empty())
      return op->emitOpError() << "runs kernels, and the module has no " << ttcore::systemDescName
                               << "; run ttcore-register-device first";
    auto arch =
        StringAttr::get(op->getContext(), ttcore::stringifyArch(system.getChipDescs().front().getArch().getValue()));
    entries.push_back(*attributes.write("arch", arch, std::nullopt, [&] { return op->emitOpError(); }));
  }

  std::string location;
  llvm::raw_string_ostream locationStream(location);
  LocationAttr(ttcore::withoutSourceNumber(op->getLoc())).print(locationStream, locationNames);
  operations.push_back(fb::CreateOperation(
      builder, builder.CreateString(op->getName().getStringRef().str()), builder.CreateVector(operandsOf(op)),
      builder.CreateVector(results), builder.CreateVector(entries), builder.CreateString(location),
      builder.CreateString(ttcore::sourcePath(op->getLoc())), builder.CreateString(text.of(op))));
  return success();
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

LogicalResult ttnn::translateTTNNToFlatbuffer(Operation *op, llvm::raw_ostream &os) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError() << "expected a module of TTNN programs, found '" << op->getName() << "'";
  ModuleOp root = module;
  if (auto wrapped = module.getOps<ttcore::DeviceModuleOp>(); !wrapped.empty())
    module = cast<ModuleOp>((*wrapped.begin())->getRegion(0).front().front());
  if (failed(checkLowered(module, Written::Flatbuffer)))
    return failure();
  FailureOr<std::optional<NativeCode>> native = compileHostFunctions(root);
  if (failed(native))
    return failure();
  OwningOpRef<ModuleOp> replayed;
  if (hasTraces(module)) {
    replayed = module.clone();
    module = *replayed;
    if (failed(replayTraces(module)))
      return failure();
  }
  return BinaryWriter(module, std::move(*native)).write(os);
}

void ttnn::registerTTNNToFlatbuffer(void (*dialects)(DialectRegistry &)) {
  static TranslateFromMLIRRegistration registration(
      "ttnn-to-flatbuffer", "Write TTNN programs as a flatbuffer",
      [](Operation *op, llvm::raw_ostream &os) {
        keepDiagnosticsShort(op);
        return translateTTNNToFlatbuffer(op, os);
      },
      dialects);
}
