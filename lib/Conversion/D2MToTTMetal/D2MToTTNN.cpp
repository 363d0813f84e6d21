//===- D2MToTTNN.cpp - lowering of buffers and generics to TTNN -----------===//
// SPDX-License-Identifier: Apache-2.0
//
// What convert-d2m-to-ttmetal says of a program, its kernels, ports and arguments, holds here as well. Buffers are
// tensors of TTNN, for which the executor finds addresses. One that kernels only work in, as gather and embedding do to
// read indices, is a circular buffer instead: kernels take its address from its port.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Conversion/D2MToTTMetal/Passes.h"

#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TTNNMetalLayoutCastOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/EmptyOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GenericOp.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Dialect/TTNN/Transforms/Device.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTD2MTOTTNN
#include "ttmlir/Conversion/D2MToTTMetal/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

static constexpr int64_t tileSize = 32;

static ttnn::CoreRangeSetAttr coresOf(ttmetal::CoreRangeAttr range) {
  MLIRContext *context = range.getContext();
  ArrayRef<int64_t> offset = range.getOffset(), size = range.getSize();
  const auto core = [&](int64_t y, int64_t x) {
    return ttnn::CoreCoordAttr::get(context, static_cast<uint64_t>(x), static_cast<uint64_t>(y));
  };
  return ttnn::CoreRangeSetAttr::get(
      context, {ttnn::CoreRangeAttr::get(context, core(offset[0], offset[1]),
                                         core(offset[0] + size[0] - 1, offset[1] + size[1] - 1))});
}

/// The type of a tensor that is a whole buffer, with the padding of its shards. Each chip of a mesh has its own.
static RankedTensorType tensorOf(const ttmetal::DeviceBuffer &buffer, ttcore::TensorMeshAttr mesh,
                                 MLIRContext *context) {
  const bool isTiled = isa<ttcore::TileType>(buffer.element);
  SmallVector<int64_t> shape;
  for (auto [cores, size] : llvm::zip_equal(buffer.grid, buffer.shard))
    shape.push_back(cores * size * (isTiled ? tileSize : 1));
  auto shard = MemRefType::get(buffer.shard, buffer.element, MemRefLayoutAttrInterface(),
                               ttnn::BufferTypeAttr::get(context, ttnn::BufferType::L1));
  auto layout = ttnn::TTNNLayoutAttr::get(
      context, AffineMap::getMultiDimIdentityMap(2, context), buffer.grid, shard,
      ttnn::TensorMemoryLayoutAttr::get(context, ttnn::TensorMemoryLayout::BlockSharded), mesh,
      /*ignorePhysicalLayout=*/false,
      coresOf(ttmetal::CoreRangeAttr::get(context, ArrayRef<int64_t>{0, 0}, buffer.grid)));
  return RankedTensorType::get(shape, ttcore::dataTypeToElementType(context, buffer.dataType()), layout);
}

/// The type of a tensor for a buffer in DRAM that kernels alone see: words, whose pages are the parts of cores.
static RankedTensorType wordsOf(const ttmetal::DeviceBuffer &buffer, ttcore::TensorMeshAttr mesh,
                                MLIRContext *context) {
  const int64_t shape[] = {buffer.grid[0] * buffer.grid[1],
                           static_cast<int64_t>(buffer.shardBytes() / sizeof(uint32_t))};
  auto layout = ttnn::TTNNLayoutAttr::get(context, shape, ttcore::DataType::UInt32, ttnn::Layout::RowMajor,
                                          ttnn::BufferType::DRAM, mesh);
  return RankedTensorType::get(shape, ttcore::dataTypeToElementType(context, ttcore::DataType::UInt32), layout);
}

namespace {
struct ConvertD2MToTTNN : tt::impl::ConvertD2MToTTNNBase<ConvertD2MToTTNN> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    versions.clear();
    // Addresses are the executor's.
    module.walk([&](memref::AllocOp alloc) {
      if (ttmetal::isDeviceBuffer(alloc.getType()))
        alloc->setAttr(d2m::addressName, Builder(&getContext()).getI64IntegerAttr(0));
    });
    OpPassManager commands(ModuleOp::getOperationName());
    commands.addPass(createConvertD2MToTTMetal({mathFidelity}));
    if (failed(runPipeline(commands, module)))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(ttkernel::threadName) && failed(convert(function)))
        return signalPassFailure();
  }

private:
  LogicalResult convert(func::FuncOp function) {
    tensors.clear();
    Block &body = function.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(body))
      if (failed(convert(&op)))
        return failure();
    // Users come after what they use.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isa<ttmetal::TTMetalDialect>(op.getDialect()) || (isa<ttir::TTNNMetalLayoutCastOp>(op) && op.use_empty()))
        op.erase();
    for (Operation &op : body)
      if (!isa<ttnn::TTNNDialect, func::FuncDialect>(op.getDialect()))
        return op.emitError() << "'" << op.getName() << "' is not lowered to TTNN: unexpected D2M op after conversion";
    return success();
  }

  LogicalResult convert(Operation *op) {
    if (auto cast = dyn_cast<ttir::TTNNMetalLayoutCastOp>(op)) {
      if (isa<RankedTensorType>(cast.getInput().getType())) {
        tensors[cast.getResult()] = cast.getInput();
        return success();
      }
      FailureOr<Value> tensor = tensorFor(op, cast.getInput());
      if (failed(tensor))
        return failure();
      if (tensor->getType() != cast.getType())
        return op->emitOpError() << "sees a tensor of " << tensor->getType() << " as another one, of "
                                 << cast.getType();
      cast.getResult().replaceAllUsesWith(*tensor);
      return success();
    }
    if (auto program = dyn_cast<ttmetal::EnqueueProgramOp>(op))
      return convert(program);
    if (isa<ttmetal::CreateBufferOp, ttmetal::DeallocateBufferOp, ttmetal::FinishOp>(op) ||
        !isa<ttmetal::TTMetalDialect>(op->getDialect()))
      return success();
    return op->emitError() << "'" << op->getName() << "' has no equivalent in TTNN programs (ttnn-mode)";
  }

  /// The tensor of a buffer. The first use of a created buffer creates it: the type is that of the function's value, if
  /// the buffer becomes one.
  FailureOr<Value> tensorFor(Operation *user, Value buffer) {
    if (Value known = tensors.lookup(buffer))
      return known;
    auto create = buffer.getDefiningOp<ttmetal::CreateBufferOp>();
    std::optional<ttmetal::DeviceBuffer> described = ttmetal::DeviceBuffer::of(buffer.getType());
    auto space = dyn_cast_or_null<ttcore::MemorySpaceAttr>(cast<MemRefType>(buffer.getType()).getMemorySpace());
    if (!create || !described || !space)
      return user->emitError() << "'" << user->getName() << "' uses " << buffer.getType()
                               << "; expected a buffer that the function creates, or a tensor";
    const bool inDram = space.getValue() == ttcore::MemorySpace::DeviceDRAM;
    RankedTensorType type = (inDram ? wordsOf : tensorOf)(*described, mesh, &getContext());
    for (Operation *other : buffer.getUsers())
      if (auto cast = dyn_cast<ttir::TTNNMetalLayoutCastOp>(other))
        type = llvm::cast<RankedTensorType>(cast.getType());
    OpBuilder builder(create);
    Value device = ttnn::getOrCreateDevice(builder, create, [&](const Twine &why) { create.emitOpError() << why; });
    if (!device)
      return failure();
    return tensors[buffer] = ttnn::EmptyOp::create(builder, create.getLoc(), type, device,
                                                   ttnn::ShapeAttr::get(&getContext(), type.getShape()),
                                                   /*dtype=*/nullptr);
  }

  /// Whether a buffer is a circular buffer of one program and nothing else.
  static bool isOwn(ttmetal::EnqueueProgramOp program, Value buffer) {
    if (!buffer.getDefiningOp<ttmetal::CreateBufferOp>() || !llvm::is_contained(program.getCbs(), buffer))
      return false;
    return llvm::all_of(buffer.getUsers(),
                        [&](Operation *user) { return user == program || isa<ttmetal::DeallocateBufferOp>(user); });
  }

  /// Whether a program alone uses a created buffer, and not as its result, which something reads.
  static bool worksIn(ttmetal::EnqueueProgramOp program, Value buffer) {
    return buffer.getDefiningOp<ttmetal::CreateBufferOp>() && llvm::all_of(buffer.getUsers(), [&](Operation *user) {
             return user == program || isa<ttmetal::DeallocateBufferOp>(user);
           });
  }

  /// Where a kernel finds the buffers that it works in.
  struct Rooms {
    SmallVector<int64_t> buffers; // of the program; each is the memory of a circular buffer
    int64_t first;                // compile-time argument that is the port of the first
    int64_t ports;                // of the program, which compiled-in operands count before its buffers
    bool operator==(const Rooms &) const = default;
  };

  /// Returns the kernel for a program with these rooms. Programs with other rooms that run the same kernel get a copy.
  FlatSymbolRefAttr kernelFor(FlatSymbolRefAttr symbol, const Rooms &rooms) {
    auto kernel = getOperation().lookupSymbol<func::FuncOp>(symbol.getAttr());
    if (!kernel)
      return symbol;
    auto &known = versions[kernel];
    const auto *found = llvm::find_if(known, [&](const Version &version) { return version.rooms == rooms; });
    if (found != known.end())
      return FlatSymbolRefAttr::get(found->kernel);
    if (!known.empty()) {
      kernel = kernel.clone();
      SymbolTable(getOperation()).insert(kernel, std::next(known.front().kernel->getIterator()));
    }
    known.push_back({rooms, kernel});
    Builder builder(&getContext());
    kernel.walk([&](d2m::GetArgOp get) {
      get->removeAttr(portArgumentName);
      const bool isCompiled = get.getResolutionStage() == d2m::ResolutionStage::Compile;
      const int64_t operand = static_cast<int64_t>(get.getOperandIndex()) - (isCompiled ? rooms.ports : 0);
      if (const auto *room = llvm::find(rooms.buffers, operand);
          room != rooms.buffers.end() && isa<MemRefType>(get.getType()))
        get->setAttr(portArgumentName,
                     builder.getI64IntegerAttr(rooms.first + std::distance(rooms.buffers.begin(), room)));
    });
    return FlatSymbolRefAttr::get(kernel);
  }

  /// Whether a kernel does something else on each chip of a mesh.
  static bool dependsOnChip(func::FuncOp kernel) {
    return kernel
        .walk([](Operation *op) {
          auto write = dyn_cast<d2m::DMAWriteOp>(op);
          return isa<d2m::MeshPositionOp>(op) || (write && !write.getStartDevice().empty()) ? WalkResult::interrupt()
                                                                                            : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Numbers of semaphores that kernels use, counted from 0.
  int64_t semaphoresOf(ttmetal::EnqueueProgramOp program, ArrayRef<func::FuncOp> kernels) {
    int64_t count = 0;
    for (func::FuncOp kernel : kernels)
      kernel.walk([&](d2m::GetArgOp get) {
        if (isa<d2m::LocalSemaphoreType>(get.getType()))
          count = std::max(count, static_cast<int64_t>(get.getOperandIndex()) + 1);
      });
    return count;
  }

  LogicalResult convert(ttmetal::EnqueueProgramOp program) {
    MLIRContext *context = &getContext();
    // The last buffer has the result: outputs come after inputs, and only what the generic works in comes after these.
    SmallVector<Value> operands;
    SmallVector<int64_t> numbers; // of the program's buffers, or -1
    SmallVector<int64_t> rooms;   // buffers that kernels work in, whose ports are behind those of the program
    mesh = {};
    for (Value buffer : program.getBuffers()) {
      if (isOwn(program, buffer)) {
        numbers.push_back(-1);
        continue;
      }
      if (worksIn(program, buffer)) {
        rooms.push_back(static_cast<int64_t>(numbers.size()));
        numbers.push_back(-1);
        continue;
      }
      FailureOr<Value> tensor = tensorFor(program, buffer);
      if (failed(tensor))
        return failure();
      // What is computed from values that differ between chips differs, too: results come after operands.
      if (auto of = ttnn::TTNNLayoutAttr::of(tensor->getType()).getTensorMesh())
        mesh = of;
      numbers.push_back(static_cast<int64_t>(operands.size()));
      operands.push_back(*tensor);
    }
    if (operands.empty())
      return program.emitOpError() << "has no buffer that something else uses; expected the result";
    const auto firstRoom = static_cast<int64_t>(program.getCbPorts().size());
    const auto numberOf = [&](Value buffer) {
      auto buffers = program.getBuffers();
      return numbers[static_cast<size_t>(std::distance(buffers.begin(), llvm::find(buffers, buffer)))];
    };
    const auto refuse = [&](StringRef option, const Twine &reason) {
      return program.emitOpError() << option << " has no effect with ttnn-mode: " << reason;
    };
    const auto argumentsOf = [&](ArrayRef<ttmetal::KernelArgAttr> args, bool isCompileTime,
                                 SmallVector<Attribute> &to) -> LogicalResult {
      for (ttmetal::KernelArgAttr arg : args) {
        if (arg.getType() == ttmetal::KernelArgType::CBPort) {
          const int64_t port = program.getCbPorts()[arg.getOperandIndex()];
          to.push_back(ttnn::KernelArgCBBufferIndexAttr::get(context, static_cast<size_t>(port)));
        } else if (arg.getType() == ttmetal::KernelArgType::TensorAccessorArgs) {
          return refuse("use-tensor-accessor-dma", "kernels address the pages of a tensor by its layout");
        } else if (isCompileTime && arg.getType() == ttmetal::KernelArgType::BufferAddress) {
          return refuse("force-compile-time-args", "addresses of tensors are known when the program runs");
        } else if (arg.getType() != ttmetal::KernelArgType::BufferAddress) {
          return program.emitOpError() << "has a kernel argument " << arg << ", which programs of TTNN do not have";
        } else if (int64_t number = numbers[arg.getOperandIndex()]; number >= 0) {
          to.push_back(ttnn::KernelArgAddressOfTensorAttr::get(context, static_cast<size_t>(number)));
        } else { // known by its port alone
          to.push_back(ttnn::KernelArgNamedArgAttr::get(
              context, StringAttr::get(context, "operand_" + std::to_string(arg.getOperandIndex())), 0));
        }
      }
      return success();
    };

    SmallVector<Attribute> kernels;
    SmallVector<func::FuncOp> functions;
    ttnn::CoreRangeSetAttr cores;
    for (Attribute config : program.getKernelConfigs()) {
      auto noc = dyn_cast<ttmetal::NocConfigAttr>(config);
      auto compute = dyn_cast<ttmetal::ComputeConfigAttr>(config);
      ttmetal::KernelArgsAttr args = noc ? noc.getKernelArgs() : compute.getKernelArgs();
      FlatSymbolRefAttr symbol = noc ? noc.getKernelSymbol() : compute.getKernelSymbol();
      if (auto function = getOperation().lookupSymbol<func::FuncOp>(symbol.getAttr())) {
        functions.push_back(function);
        if (dependsOnChip(function))
          return program.emitOpError("has kernels that exchange data between chips, or take the place of a chip in the "
                                     "mesh, which those of TTNN programs (ttnn-mode) do not");
      }
      SmallVector<Attribute> runTime, compileTime;
      if (failed(argumentsOf(args.getRtArgs(), /*isCompileTime=*/false, runTime)) ||
          failed(argumentsOf(args.getCtArgs(), /*isCompileTime=*/true, compileTime)))
        return failure();
      if (noc)
        symbol = kernelFor(symbol, {rooms, static_cast<int64_t>(compileTime.size()), firstRoom});
      for (size_t i = 0; noc && i < rooms.size(); ++i)
        compileTime.push_back(ttnn::KernelArgCBBufferIndexAttr::get(context, static_cast<size_t>(firstRoom) + i));
      cores = coresOf(noc ? noc.getCoreRange() : compute.getCoreRange());
      if (noc) {
        const bool isSecond = noc.getNocIndex() == ttmetal::NocIndex::Noc1;
        kernels.push_back(ttnn::DataMovementKernelAttr::get(
            context, symbol, cores,
            isSecond ? ttnn::DataMovementProcessor::RiscV1 : ttnn::DataMovementProcessor::RiscV0,
            isSecond ? ttcore::NocIndex::Noc1 : ttcore::NocIndex::Noc0, ttnn::NocMode::DedicatedNoc, runTime,
            ArrayRef<ttnn::CoreRuntimeArgsAttr>(), compileTime));
        continue;
      }
      static constexpr ttnn::ComputeKernelMathFidelity fidelities[] = {
          ttnn::ComputeKernelMathFidelity::LoFi, ttnn::ComputeKernelMathFidelity::HiFi2,
          ttnn::ComputeKernelMathFidelity::HiFi3, ttnn::ComputeKernelMathFidelity::HiFi4};
      SmallVector<ttnn::ComputeKernelUnpackToDestMode> modes;
      for (ttmetal::UnpackToDestMode mode : compute.getUnpackToDestMode())
        modes.push_back(mode == ttmetal::UnpackToDestMode::Fp32 ? ttnn::ComputeKernelUnpackToDestMode::Fp32
                                                                : ttnn::ComputeKernelUnpackToDestMode::Default);
      if (modes.empty())
        modes.push_back(ttnn::ComputeKernelUnpackToDestMode::Default);
      const StringRef fidelity = ttmetal::stringifyMathFidelity(compute.getMathFidelity());
      const auto *found = llvm::find_if(fidelities, [&](auto each) {
        return ttnn::stringifyComputeKernelMathFidelity(each).equals_insensitive(fidelity);
      });
      kernels.push_back(ttnn::ComputeKernelAttr::get(context, symbol, cores, *found, compute.getFp32DestAccEn(),
                                                     compute.getDstFullSyncEn(), modes, /*bfp8_pack_precise=*/false,
                                                     compute.getMathApproxMode(), runTime,
                                                     ArrayRef<ttnn::CoreRuntimeArgsAttr>(), compileTime));
    }

    SmallVector<ttnn::KernelCBAttr> cbs;
    for (auto [port, buffer] : llvm::zip_equal(program.getCbPorts(), program.getCbs())) {
      const ttmetal::DeviceBuffer described = *ttmetal::DeviceBuffer::of(buffer.getType());
      const int64_t number = numberOf(buffer);
      auto format = ttnn::KernelCBFormatAttr::get(context, static_cast<uint32_t>(port), described.dataType(),
                                                  static_cast<uint32_t>(described.pageBytes()));
      auto of = number < 0 ? ttnn::KernelCBGlobalBufferAddressOfTensorAttr()
                           : ttnn::KernelCBGlobalBufferAddressOfTensorAttr::get(context, static_cast<size_t>(number));
      cbs.push_back(ttnn::KernelCBAttr::get(context, static_cast<uint32_t>(described.shardBytes()), cores, format, of));
    }
    for (auto [i, room] : llvm::enumerate(rooms)) {
      const ttmetal::DeviceBuffer described =
          *ttmetal::DeviceBuffer::of(program.getBuffers()[static_cast<size_t>(room)].getType());
      auto format = ttnn::KernelCBFormatAttr::get(context, static_cast<uint32_t>(firstRoom) + static_cast<uint32_t>(i),
                                                  described.dataType(), static_cast<uint32_t>(described.pageBytes()));
      cbs.push_back(ttnn::KernelCBAttr::get(context, static_cast<uint32_t>(described.shardBytes()), cores, format,
                                            ttnn::KernelCBGlobalBufferAddressOfTensorAttr()));
    }
    SmallVector<ttnn::KernelSemaphoreAttr> semaphores;
    for (int64_t id = 0, count = semaphoresOf(program, functions); id < count; ++id)
      semaphores.push_back(ttnn::KernelSemaphoreAttr::get(context, static_cast<uint32_t>(id),
                                                          ttnn::KernelCoreType::Worker, cores, /*initial_value=*/0));
    OpBuilder builder(program);
    ttnn::GenericOp::create(builder, program.getLoc(), operands, ValueRange(),
                            ttnn::ProgramAttr::get(context, kernels, cbs, semaphores));
    return success();
  }

  ttcore::TensorMeshAttr mesh;    // over which operands of a program are distributed
  DenseMap<Value, Value> tensors; // of buffers
  struct Version {
    Rooms rooms;
    func::FuncOp kernel;
  };
  DenseMap<func::FuncOp, SmallVector<Version, 1>> versions; // of data movement kernels
};
} // namespace
