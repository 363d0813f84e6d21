//===- TTMetalToFlatbuffer.cpp - serialization of TTMetal programs --------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Target/TTMetal/TTMetalToFlatbuffer.h"

#include "ConstantWriter.h"
#include "ModuleText.h"
#include "SystemWriter.h"
#include "metal_generated.h"

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTKernel/IR/TTKernel.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"
#include "ttmlir/Target/TTMetal/KernelText.h"
#include "ttmlir/Target/TTNN/Lowered.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttmetal;
namespace fb = ::tt::target::metal;

template <class T> using OffsetTo = flatbuffers::Offset<T>;
template <class T> using Offsets = std::vector<flatbuffers::Offset<T>>;

/// A row or column of cores, or of elements of a shard.
static constexpr int64_t tileSize = 32;

static fb::Dim2dRange rangeOf(CoreRangeAttr range) {
  ArrayRef<int64_t> offset = range.getOffset(), size = range.getSize();
  return {fb::Dim2d(offset[0], offset[1]), fb::Dim2d(size[0], size[1])};
}

namespace {
class MetalWriter {
public:
  explicit MetalWriter(ModuleOp module) : module(module), text(module), locationNames(module.getContext()) {}
  LogicalResult write(llvm::raw_ostream &os);

private:
  FailureOr<OffsetTo<fb::Program>> writeProgram(func::FuncOp function);
  LogicalResult writeCommand(Operation *op);
  LogicalResult writeHostAlloc(Operation *op, Value value, ElementsAttr values);
  FailureOr<OffsetTo<fb::EnqueueProgramCommand>> writeEnqueueProgram(EnqueueProgramOp op);
  FailureOr<OffsetTo<fb::KernelConfig>> writeKernel(EnqueueProgramOp op, Attribute config);

  /// Buffers of the device, by the op that creates them; arguments and memory of the host.
  FailureOr<OffsetTo<fb::BufferRef>> writeBuffer(Operation *user, Value value, bool asCircular = false);
  Offsets<fb::KernelArg> writeArgs(ArrayRef<KernelArgAttr> args);
  /// `distributed`: every chip has its own.
  FailureOr<OffsetTo<fb::TensorRef>> writeTensor(Operation *user, Type type, bool distributed);
  void addCommand(Operation *op, fb::CommandType type, OffsetTo<void> command);

  ModuleOp module;
  flatbuffers::FlatBufferBuilder builder;
  ttnn::ModuleText text;
  AsmState locationNames;
  std::vector<uint32_t> mesh;
  llvm::StringMap<std::string> sources; // of kernels
  // State of the program that is being written.
  DenseMap<Value, uint32_t> ids;
  Offsets<fb::Command> commands;
};
} // namespace

LogicalResult MetalWriter::write(llvm::raw_ostream &os) {
  auto system = writeSystem(module, builder, mesh);
  if (failed(system))
    return failure();
  Offsets<fb::Program> programs;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || function->hasAttr(ttkernel::threadName))
      continue;
    auto program = writeProgram(function);
    if (failed(program))
      return failure();
    programs.push_back(*program);
  }
  auto version = ::tt::target::CreateVersion(builder, TTMLIR_VERSION_MAJOR, TTMLIR_VERSION_MINOR, TTMLIR_VERSION_PATCH);
  builder.FinishSizePrefixed(fb::CreateTTMetalBinary(builder, version, ::tt::target::metalSchemaVersion, *system,
                                                     builder.CreateString(text.all().data(), text.all().size()),
                                                     builder.CreateVector(programs)),
                             fb::TTMetalBinaryIdentifier());
  os.write(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

FailureOr<OffsetTo<fb::TensorRef>> MetalWriter::writeTensor(Operation *user, Type type, bool distributed) {
  auto memref = dyn_cast<MemRefType>(type);
  auto dataType = memref ? ttcore::elementTypeToDataType(memref.getElementType()) : std::nullopt;
  if (!memref || memref.getMemorySpace() || !isCountable(memref) || !dataType)
    return user->emitError() << "'" << user->getName() << "' takes or returns " << type
                             << "; a program takes memrefs of the host (run ttir-to-ttmetal-pipeline first)";
  std::vector<int32_t> shape(memref.getShape().begin(), memref.getShape().end());
  std::vector<int32_t> meshShape = {1, 1};
  if (distributed)
    meshShape.assign(mesh.begin(), mesh.end());
  auto layout =
      fb::CreateLayoutDesc(builder, fb::CreateMemoryDesc(builder, static_cast<::tt::target::DataType>(*dataType)));
  auto desc = fb::CreateTensorDesc(builder, builder.CreateVector(shape), builder.CreateVector(meshShape), layout);
  constexpr uint64_t tileElements = tileSize * tileSize;
  return fb::CreateTensorRef(builder, memref.getNumElements() * (ttcore::tileBytes(*dataType) / tileElements), desc);
}

FailureOr<OffsetTo<fb::BufferRef>> MetalWriter::writeBuffer(Operation *user, Value value, bool asCircular) {
  auto id = ids.find(value);
  auto type = cast<MemRefType>(value.getType());
  if (id == ids.end())
    return user->emitError() << "'" << user->getName() << "' uses a buffer of " << type
                             << " that no command has created";
  uint64_t address = 0;
  if (auto create = value.getDefiningOp<CreateBufferOp>())
    address = create.getAddress();
  std::vector<int32_t> shape(type.getShape().begin(), type.getShape().end());
  std::optional<DeviceBuffer> buffer = DeviceBuffer::of(type);
  if (!buffer) {
    auto dataType = ttcore::elementTypeToDataType(type.getElementType());
    if (type.getMemorySpace() || !isCountable(type) || !dataType)
      return user->emitError() << "'" << user->getName() << "' uses a buffer of " << type
                               << "; expected one of the host, or of the device with a #ttcore.shard layout";
    std::vector<int32_t> stride(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;)
      stride[i - 1] = stride[i] * std::max(shape[i], 1);
    const fb::Dim2d scalar(1, 1);
    auto system = fb::CreateSystemBuffer(builder, builder.CreateVector(stride));
    auto desc =
        fb::CreateBufferDesc(builder, builder.CreateVector(shape), static_cast<::tt::target::DataType>(*dataType),
                             &scalar, fb::BufferDetail::SystemBuffer, system.Union());
    return fb::CreateBufferRef(builder, id->second, 0, desc);
  }

  const bool isTiled = isa<ttcore::TileType>(buffer->element);
  const auto elements = [&](size_t i) { return static_cast<int32_t>(buffer->shard[i] * (isTiled ? tileSize : 1)); };
  const auto cores = [&](size_t i) { return static_cast<int32_t>(buffer->grid[i]); };
  const std::vector<fb::Dim2dRange> ranges = {{fb::Dim2d(0, 0), fb::Dim2d(cores(0), cores(1))}};
  const fb::Dim2d shardShape(elements(0), elements(1)), page(tileSize, tileSize),
      pages(cores(0) * elements(0) / tileSize, cores(1) * elements(1) / tileSize),
      element(isTiled ? tileSize : 1, isTiled ? tileSize : 1);
  auto spec = fb::CreateShardSpecBuffer(
      builder, fb::CreateShardSpec(builder, builder.CreateVectorOfStructs(ranges), &shardShape), &page, &pages);
  auto config =
      fb::CreateShardedBufferConfig(builder, buffer->shardBytes() * cores(0) * cores(1), buffer->pageBytes(), spec);
  OffsetTo<fb::CircularBufferConfig> circular;
  if (asCircular)
    circular = fb::CreateCircularBufferConfig(builder, builder.CreateVectorOfStructs(ranges), buffer->shardBytes(),
                                              buffer->pageBytes(), buffer->shardBytes() / buffer->pageBytes());
  const bool isInDram = cast<ttcore::MemorySpaceAttr>(cast<MemRefType>(type).getMemorySpace()).getValue() ==
                        ttcore::MemorySpace::DeviceDRAM;
  auto metal = fb::CreateMetalBuffer(builder, isInDram ? ::tt::target::BufferType::DRAM : ::tt::target::BufferType::L1,
                                     config, circular);
  auto desc = fb::CreateBufferDesc(builder, builder.CreateVector(shape),
                                   static_cast<::tt::target::DataType>(buffer->dataType()), &element,
                                   fb::BufferDetail::MetalBuffer, metal.Union());
  return fb::CreateBufferRef(builder, id->second, address, desc);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Offsets<fb::KernelArg> MetalWriter::writeArgs(ArrayRef<KernelArgAttr> args) {
  Offsets<fb::KernelArg> written;
  for (KernelArgAttr arg : args) {
    const uint32_t operand = arg.getOperandIndex();
    const auto write = [&](fb::KernelArgType type, OffsetTo<void> value) {
      written.push_back(fb::CreateKernelArg(builder, type, value));
    };
    switch (arg.getType()) {
    case KernelArgType::CBPort:
      write(fb::KernelArgType::KernelArgCBPort, fb::CreateKernelArgCBPort(builder, operand).Union());
      break;
    case KernelArgType::BufferAddress:
      write(fb::KernelArgType::KernelArgBufferAddress, fb::CreateKernelArgBufferAddress(builder, operand).Union());
      break;
    case KernelArgType::TensorAccessorArgs:
      write(fb::KernelArgType::KernelArgTensorAccessorArgs,
            fb::CreateKernelArgTensorAccessorArgs(builder, operand).Union());
      break;
    }
  }
  return written;
}

FailureOr<OffsetTo<fb::KernelConfig>> MetalWriter::writeKernel(EnqueueProgramOp op, Attribute config) {
  auto noc = dyn_cast<NocConfigAttr>(config);
  auto compute = dyn_cast<ComputeConfigAttr>(config);
  FlatSymbolRefAttr symbol = noc ? noc.getKernelSymbol() : compute.getKernelSymbol();
  KernelArgsAttr args = noc ? noc.getKernelArgs() : compute.getKernelArgs();
  auto kernel = module.lookupSymbol<func::FuncOp>(symbol.getValue());
  if (!kernel)
    return op.emitOpError() << "runs " << symbol << ", which is no function of the module";
  std::string &source = sources[symbol.getValue()];
  if (source.empty()) {
    FailureOr<std::string> written = kernelText(kernel);
    if (failed(written))
      return failure();
    source = std::move(*written);
  }
  auto rt = builder.CreateVector(writeArgs(args.getRtArgs())), ct = builder.CreateVector(writeArgs(args.getCtArgs()));
  OffsetTo<void> type;
  if (noc) {
    const bool isSecond = noc.getNocIndex() == NocIndex::Noc1;
    type =
        fb::CreateNocConfig(builder, isSecond ? fb::DataMovementProcessor::RISCV_1 : fb::DataMovementProcessor::RISCV_0,
                            isSecond ? fb::NocIndex::Noc1 : fb::NocIndex::Noc0)
            .Union();
  } else {
    std::vector<fb::UnpackToDestMode> modes;
    for (UnpackToDestMode mode : compute.getUnpackToDestMode())
      modes.push_back(static_cast<fb::UnpackToDestMode>(mode)); // the same values
    type = fb::CreateComputeConfig(builder, static_cast<fb::MathFidelity>(compute.getMathFidelity()),
                                   compute.getFp32DestAccEn(), compute.getDstFullSyncEn(), compute.getMathApproxMode(),
                                   modes.empty() ? 0 : builder.CreateVector(modes))
               .Union();
  }
  const std::vector<fb::Dim2dRange> cores = {rangeOf(noc ? noc.getCoreRange() : compute.getCoreRange())};
  return fb::CreateKernelConfig(builder, fb::Kernel::KernelSource,
                                fb::CreateKernelSource(builder, builder.CreateString(source)).Union(),
                                builder.CreateVectorOfStructs(cores), fb::CreateKernelArgs(builder, rt, ct),
                                noc ? fb::KernelConfigType::NocConfig : fb::KernelConfigType::ComputeConfig, type, 0,
                                builder.CreateString(symbol.getValue().str()));
}

FailureOr<OffsetTo<fb::EnqueueProgramCommand>> MetalWriter::writeEnqueueProgram(EnqueueProgramOp op) {
  Offsets<fb::BufferRef> buffers;
  for (Value buffer : op.getBuffers()) {
    auto ref = writeBuffer(op, buffer);
    if (failed(ref))
      return failure();
    buffers.push_back(*ref);
  }
  Offsets<fb::CBRef> cbs;
  for (auto [port, buffer] : llvm::zip(op.getCbPorts(), op.getCbs())) {
    auto ref = writeBuffer(op, buffer, /*asCircular=*/true);
    if (failed(ref))
      return failure();
    cbs.push_back(fb::CreateCBRef(builder, static_cast<uint32_t>(port), *ref));
  }
  Offsets<fb::KernelConfig> kernels;
  for (Attribute config : op.getKernelConfigs()) {
    auto kernel = writeKernel(op, config);
    if (failed(kernel))
      return failure();
    kernels.push_back(*kernel);
  }
  auto program = fb::CreateProgramDesc(builder, builder.CreateVector(kernels));
  return fb::CreateEnqueueProgramCommand(builder, builder.CreateVector(buffers), builder.CreateVector(cbs), program);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

void MetalWriter::addCommand(Operation *op, fb::CommandType type, OffsetTo<void> command) {
  std::string location;
  llvm::raw_string_ostream stream(location);
  LocationAttr(ttcore::withoutSourceNumber(op->getLoc())).print(stream, locationNames);
  const std::string debug = op->hasTrait<OpTrait::IsTerminator>() ? "" : text.of(op);
  commands.push_back(
      fb::CreateCommand(builder, type, command, builder.CreateString(location), builder.CreateString(debug)));
}

LogicalResult MetalWriter::writeHostAlloc(Operation *op, Value value, ElementsAttr values) {
  ids.try_emplace(value, ids.size());
  auto ref = writeBuffer(op, value);
  if (failed(ref))
    return failure();
  OffsetTo<flatbuffers::Vector<uint8_t>> data;
  if (values) {
    auto dataType = *ttcore::elementTypeToDataType(values.getElementType());
    std::vector<uint8_t> bytes(ttnn::storedBytes(values, dataType));
    if (failed(ttnn::storeElements(values, dataType, bytes.data(), [&] { return op->emitError(); })))
      return failure();
    builder.ForceVectorAlignment(bytes.size(), 1, 64);
    data = builder.CreateVector(bytes);
  }
  addCommand(op, fb::CommandType::HostAllocCommand, fb::CreateHostAllocCommand(builder, *ref, data).Union());
  return success();
}

LogicalResult MetalWriter::writeCommand(Operation *op) {
  const auto withBuffer = [&](Value buffer, auto write) -> LogicalResult {
    auto ref = writeBuffer(op, buffer);
    if (succeeded(ref))
      write(*ref);
    return ref;
  };
  const auto transfer = [&](Value from, Value to, auto write) -> LogicalResult {
    auto source = writeBuffer(op, from), target = writeBuffer(op, to);
    if (failed(source) || failed(target))
      return failure();
    write(*source, *target);
    return success();
  };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](CreateBufferOp create) {
        ids.try_emplace(create.getResult(), ids.size());
        return withBuffer(create.getResult(), [&](auto ref) {
          addCommand(op, fb::CommandType::CreateBufferCommand, fb::CreateCreateBufferCommand(builder, ref).Union());
        });
      })
      .Case([&](DeallocateBufferOp deallocate) {
        return withBuffer(deallocate.getInput(), [&](auto ref) {
          addCommand(op, fb::CommandType::DeallocateBufferCommand,
                     fb::CreateDeallocateBufferCommand(builder, ref).Union());
        });
      })
      .Case([&](EnqueueWriteBufferOp write) {
        return transfer(write.getInput(), write.getOutput(), [&](auto from, auto to) {
          addCommand(op, fb::CommandType::EnqueueWriteBufferCommand,
                     fb::CreateEnqueueWriteBufferCommand(builder, from, to).Union());
        });
      })
      .Case([&](EnqueueReadBufferOp read) {
        return transfer(read.getInput(), read.getOutput(), [&](auto from, auto to) {
          addCommand(op, fb::CommandType::EnqueueReadBufferCommand,
                     fb::CreateEnqueueReadBufferCommand(builder, from, to).Union());
        });
      })
      .Case([&](EnqueueProgramOp program) -> LogicalResult {
        auto command = writeEnqueueProgram(program);
        if (succeeded(command))
          addCommand(op, fb::CommandType::EnqueueProgramCommand, command->Union());
        return command;
      })
      .Case([&](MeshShardOp shard) -> LogicalResult {
        auto source = writeBuffer(op, shard.getInput());
        ids.try_emplace(shard.getResult(), ids.size());
        auto target = writeBuffer(op, shard.getResult());
        if (failed(source) || failed(target))
          return failure();
        auto shape = builder.CreateVector(std::vector<int64_t>(shard.getShardShape()));
        auto dims = builder.CreateVector(std::vector<int64_t>(shard.getShardDims()));
        addCommand(
            op, fb::CommandType::MeshShardCommand,
            fb::CreateMeshShardCommand(builder, *source, *target, static_cast<fb::MeshShardType>(shard.getShardType()),
                                       static_cast<fb::MeshShardDirection>(shard.getShardDirection()), shape, dims)
                .Union());
        return success();
      })
      .Case([&](FinishOp) {
        addCommand(op, fb::CommandType::FinishCommand, fb::CreateFinishCommand(builder).Union());
        return success();
      })
      .Case([&](memref::AllocOp alloc) { return writeHostAlloc(op, alloc.getResult(), nullptr); })
      .Case([&](memref::GetGlobalOp get) -> LogicalResult {
        auto global = module.lookupSymbol<memref::GlobalOp>(get.getName());
        auto values = global ? dyn_cast_or_null<ElementsAttr>(global.getInitialValueAttr()) : ElementsAttr();
        if (!values)
          return op->emitOpError() << "gets @" << get.getName() << ", which has no values";
        return writeHostAlloc(op, get.getResult(), values);
      })
      .Case([&](func::ReturnOp returned) -> LogicalResult {
        Offsets<fb::BufferRef> results;
        for (Value value : returned.getOperands()) {
          auto ref = writeBuffer(op, value);
          if (failed(ref))
            return failure();
          results.push_back(*ref);
        }
        addCommand(op, fb::CommandType::ReturnCommand,
                   fb::CreateReturnCommand(builder, builder.CreateVector(results)).Union());
        return success();
      })
      .Default([&](Operation *) {
        return op->emitError() << "'" << op->getName()
                               << "' is no command of TTMetal; run ttir-to-ttmetal-pipeline first";
      });
}

FailureOr<OffsetTo<fb::Program>> MetalWriter::writeProgram(func::FuncOp function) {
  ids.clear();
  commands.clear();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "has " << llvm::range_size(function.getBody()) << " blocks; a program has one";
  Offsets<fb::TensorRef> inputs, outputs;
  const auto write = [&](TypeRange types, Offsets<fb::TensorRef> &refs, auto isDistributed) -> LogicalResult {
    for (auto [number, type] : llvm::enumerate(types)) {
      auto ref = writeTensor(function, type, isDistributed(static_cast<unsigned>(number)));
      if (failed(ref))
        return failure();
      refs.push_back(*ref);
    }
    return success();
  };
  if (failed(write(function.getArgumentTypes(), inputs,
                   [&](unsigned i) { return function.getArgAttr(i, distributedName) != nullptr; })) ||
      failed(write(function.getResultTypes(), outputs,
                   [&](unsigned i) { return function.getResultAttr(i, distributedName) != nullptr; })))
    return failure();
  Offsets<fb::BufferRef> inputBuffers, outputBuffers;
  for (BlockArgument argument : function.getArguments()) {
    ids.try_emplace(argument, ids.size());
    auto ref = writeBuffer(function, argument);
    if (failed(ref))
      return failure();
    inputBuffers.push_back(*ref);
  }
  Block &body = function.getBody().front();
  for (Operation &op : body)
    if (failed(writeCommand(&op)))
      return failure();
  for (Value value : body.getTerminator()->getOperands())
    outputBuffers.push_back(*writeBuffer(body.getTerminator(), value));

  const Offsets<fb::CommandQueue> queues = {
      fb::CreateCommandQueue(builder, builder.CreateString("cq0"), 0, builder.CreateVector(commands))};
  const Offsets<fb::DeviceProgram> devicePrograms = {fb::CreateDeviceProgram(
      builder, builder.CreateVector(inputBuffers), builder.CreateVector(outputBuffers), builder.CreateVector(queues))};
  const fb::Dim2d meshShape(static_cast<int32_t>(mesh[0]), static_cast<int32_t>(mesh[1]));
  return fb::CreateProgram(builder, builder.CreateString(function.getSymName().str()), builder.CreateVector(inputs),
                           builder.CreateVector(outputs), builder.CreateVector(devicePrograms), function.isPrivate(),
                           &meshShape);
}

//===----------------------------------------------------------------------===//
// Translations
//===----------------------------------------------------------------------===//

static FailureOr<ModuleOp> moduleOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError() << "expected a module of TTMetal programs, found '" << op->getName() << "'";
  if (auto wrapped = module.getOps<ttcore::DeviceModuleOp>(); !wrapped.empty())
    return cast<ModuleOp>((*wrapped.begin())->getRegion(0).front().front());
  return module;
}

LogicalResult ttmetal::translateTTMetalToFlatbuffer(Operation *op, llvm::raw_ostream &os) {
  FailureOr<ModuleOp> module = moduleOf(op);
  return failure(failed(module) || failed(MetalWriter(*module).write(os)));
}

LogicalResult ttmetal::translateKernelsToCpp(Operation *op, llvm::raw_ostream &os) {
  FailureOr<ModuleOp> module = moduleOf(op);
  if (failed(module))
    return failure();
  std::string all;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (!function->hasAttr(ttkernel::threadName))
      continue;
    FailureOr<std::string> text = kernelText(function);
    if (failed(text))
      return failure();
    all += (all.empty() ? "// " : "\n// ") + function.getSymName().str() + "\n" + *text;
  }
  os << all;
  return success();
}

void ttmetal::registerTTMetalTranslations(void (*dialects)(DialectRegistry &)) {
  static TranslateFromMLIRRegistration flatbuffer(
      "ttmetal-to-flatbuffer", "Write TTMetal programs as a flatbuffer",
      [](Operation *op, llvm::raw_ostream &os) {
        keepDiagnosticsShort(op);
        return translateTTMetalToFlatbuffer(op, os);
      },
      dialects);
  static TranslateFromMLIRRegistration kernels(
      "ttkernel-to-cpp", "Print the kernels of TTMetal programs as C++",
      [](Operation *op, llvm::raw_ostream &os) {
        keepDiagnosticsShort(op);
        return translateKernelsToCpp(op, os);
      },
      dialects);
}
